//! What the shared passes ask of this machine.

use gpucc_ir::driver::Uniforms;
use gpucc_ir::ssa::{Op, Stage, Type};
use gpucc_machine::Request;
use gpucc_passes::{Neutral, TargetInfo};

/// Gen4 as the shared passes see it.
pub struct Gen4 {
    /// Uniforms are operands like any other.
    pushed: bool,
}

/// Where uniforms are read from memory.
pub static LOADED: Gen4 = Gen4 { pushed: false };
/// Where they are pushed.
static PUSHED: Gen4 = Gen4 { pushed: true };

impl TargetInfo for Gen4 {
    fn native(&self, op: Op, ty: Type) -> bool {
        crate::expand::is_native(op, ty)
    }
    /// Lanes leave blocks by masks alone (G45 vol. 4, 14.1.2).
    fn has_branches(&self) -> bool {
        false
    }
    /// CONT waits for WHILE and would skip `continuing`.
    fn has_continue(&self) -> bool {
        false
    }
    /// No type has 64 bits (G45 vol. 4, 13.2.3).
    fn holds_64_bits(&self) -> bool {
        false
    }
    /// Words of 16 bits lie two in a register's element, which the lowering does not use.
    fn holds_16_bits(&self) -> bool {
        false
    }
    /// IF, ELSE and ENDIF flush the instruction queue and switch threads (isa/gen4.md 6).
    fn flatten_limit(&self) -> u32 {
        16
    }
    /// An access of scratch is a shift, a sum and a message.
    fn select_chain_limit(&self) -> u32 {
        8
    }
    /// Vertices have index registers of their own: an address, the index and a move, or two moves and the second vertex's flag.
    fn indexed_registers(&self, stage: Stage) -> (u32, u32) {
        if crate::abi::of_vertices(stage) { (crate::lower::MOST_ELEMENTS, 5) } else { (0, 0) }
    }
    /// AND sets the flag, and all choices behind it read that (G45 vol. 4, 14.2.3).
    fn chooses_by_bits(&self) -> bool {
        true
    }
    /// An offset, an index register and a move a word, from registers that are filled with the constants.
    fn table_words(&self) -> Option<(u32, u32)> {
        Some((5, crate::abi::TABLED as u32))
    }
    /// Four words are twelve instructions, and a read waits for its reply.
    fn access_worth(&self) -> u32 {
        24
    }
    /// Uniforms at constant addresses alone, which their buffers have: other loads may be out of range.
    fn speculates_loads(&self) -> bool {
        self.pushed
    }
    fn cost(&self, op: Op, ty: Type) -> u32 {
        match op {
            Op::BufferLoad if self.pushed => u32::MAX,
            _ => Neutral.cost(op, ty),
        }
    }
    fn uniform_cost(&self) -> u32 {
        if self.pushed { 0 } else { Neutral.uniform_cost() }
    }
}

/// The machine's answers while [`crate::expand::plan`] runs.
pub fn expansion_target(request: &Request) -> &'static dyn TargetInfo {
    match request.pipeline.uniforms {
        Uniforms::Pushed => &PUSHED,
        Uniforms::Loaded => &LOADED,
    }
}

#[cfg(test)]
mod tests {
    use super::{LOADED, PUSHED};
    use gpucc_ir::ssa::parse;
    use gpucc_passes::{Ctx, Options, TargetInfo, if_convert};

    /// Whether an arm that reads a buffer becomes a choice.
    fn flattens(target: &dyn TargetInfo, buffer: &str) -> bool {
        let text = format!(
            "func \"one\" fragment {{
              res0 = \"u\" group 0 binding 0 {buffer} as u32
              in0 = \"v\" f32 x 4 location 0 flat center
              out0 = \"\" f32 x 4 location 0 perspective
            }} body {{
              %0: b32 = input in0.0
              %1: b32 = input in0.1
              %2: b1 = flt %0, %1
              %3: b32 = const 4
              %4: b32 = if %2 {{
                %5: b32 = buffer_load res0, %3
                yield %5
              }} else {{
                yield %0
              }}
              output out0.0, %4
              yield
            }}"
        );
        let module = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut func = module.funcs.into_iter().next().expect("one function");
        let numerics = crate::numerics::numerics("g45");
        if_convert::run(&mut func, &mut Ctx::new(Options::default(), numerics, target))
    }

    #[test]
    fn pushed_uniforms_are_read_in_either_arm() {
        assert!(flattens(&PUSHED, "uniform 16"));
        assert!(!flattens(&LOADED, "uniform 16"));
        assert!(!flattens(&PUSHED, "storage 16 load"));
    }
}
