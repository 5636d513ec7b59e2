//! Lists of instructions that are not in use: a pass that writes each region anew would otherwise ask for memory, and give some
//! back, once a region.

use gpucc_ir::ssa::Inst;

/// Empty lists that have room.
#[derive(Debug, Default)]
pub(crate) struct Spare(Vec<Vec<Inst>>);

impl Spare {
    /// A list with room for so many instructions, and not for many times as many: what regions hold stays in proportion to
    /// the program.
    pub(crate) fn take(&mut self, room: usize) -> Vec<Inst> {
        let fits = |list: &Vec<Inst>| list.capacity() <= 4 * room + 16;
        let mut list = self.0.pop().filter(fits).unwrap_or_default();
        list.reserve(room);
        list
    }

    /// Keeps a list that nobody reads any more.
    pub(crate) fn give(&mut self, mut list: Vec<Inst>) {
        list.clear();
        self.0.push(list);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cranelift_entity::EntityRef;

    #[test]
    fn lists_come_back_empty_and_long_ones_are_not_kept_for_short_regions() {
        let mut spare = Spare::default();
        let mut list = spare.take(100);
        list.push(Inst::new(7));
        let place = list.as_ptr();
        spare.give(list);
        let again = spare.take(90);
        assert!(again.is_empty());
        assert_eq!(again.as_ptr(), place);
        spare.give(again);
        assert!(spare.take(2).capacity() < 100);
    }
}
