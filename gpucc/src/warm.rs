//! Taking a compiler into the caches before its first shader.
//!
//! A process pays for its first compilation two to three times: code is read from the file page by page, and no cache has
//! any of it. Compilations of something else pay that in advance.

use crate::{Compiler, Options};

/// What [`Compiler::warm_up`] compiles.
const TEXT: &str = include_str!("warm.ir");

impl Compiler {
    /// Compiles three small programs of its own and forgets them: about two milliseconds of work in a fresh process. The first
    /// compilation after it takes a fifth to a third longer than later ones, and not two to three times as long.
    ///
    /// A driver calls it where nobody waits, on any thread.
    pub fn warm_up(&self) {
        let Ok(module) = gpucc_ir::ssa::parse(TEXT) else { return };
        for func in &module.funcs {
            // What a machine refuses has been read all the same.
            let _ = self.compile(func, &Options::default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TEXT;
    use crate::{Compiler, Options, Target};

    #[test]
    fn what_is_compiled_in_advance_is_taken_by_every_machine_that_can() {
        let module = gpucc_ir::ssa::parse(TEXT).expect("it parses");
        assert_eq!(module.funcs.len(), 3);
        for func in &module.funcs {
            gpucc_ir::ssa::verify(func).expect("it is sound");
        }
        for target in Target::machines() {
            let compiler = Compiler::new(target, None).expect("it is built");
            for func in &module.funcs {
                // A machine may lack memory to write to.
                let code = compiler
                    .compile(func, &Options::default())
                    .map_or_else(|failure| failure.exit_code(), |_| 0);
                let may_lack = func.name == "compute" && code == 3;
                assert!(code == 0 || may_lack, "{} on {target:?}: exit {code}", func.name);
            }
        }
    }
}
