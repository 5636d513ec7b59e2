//! Tables of constants: those that fit stand in registers, filled as the other constants are; the program fills the rest.

use crate::abi::tabled;
use gpucc_ir::ssa::{Func, MemSpace};

/// Keeps tables while their words fit; true where one is filled by the program.
pub fn fit(func: &mut Func) -> bool {
    let tables =
        |func: &Func| func.mems.values().filter(|data| data.space == MemSpace::Constant).count();
    let before = tables(func);
    let (mut words, most) = (0, tabled(func.stage));
    gpucc_passes::tables::fill(func, |data| {
        let more = data.words.len().next_multiple_of(8);
        let full = words + more > most;
        words += if full { 0 } else { more };
        full
    });
    tables(func) != before
}

#[cfg(test)]
mod tests {
    use super::fit;
    use gpucc_ir::ssa::{Func, MemData, MemSpace, Stage};

    #[test]
    fn tables_fill_32_registers_and_no_more() {
        let mut func = Func::new("one", Stage::Fragment);
        for size in [200, 60, 32] {
            func.mems.push(MemData {
                name: String::new(),
                space: MemSpace::Constant,
                size: 4 * size,
                words: (0..size).collect(),
            });
        }
        assert!(fit(&mut func));
        let spaces: Vec<MemSpace> = func.mems.values().map(|data| data.space).collect();
        assert_eq!(spaces, [MemSpace::Constant, MemSpace::Private, MemSpace::Constant]);
        assert!(!fit(&mut func), "what fits stays");
    }
}
