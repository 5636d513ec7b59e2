//! Colours for which there is no output register: words of a tile buffer in memory. isa/rogue-pipeline.md 1.1, 3.1, 4.2.

use super::Lower;
use crate::abi::{FRAGMENT_SHARED, TILE_WORDS};
use crate::inst::{Message, Src, Step, WORDS, stores};
use crate::isa::fields::f;
use crate::isa::ops::Backend;
use crate::isa::register::Register;
use gpucc_ir::mach::{Reg, Role};
use gpucc_isa::Inst as Word;
use smallvec::SmallVec;

/// Where the hardware puts a word of the pixel: the first four words, the others. 3.1, tiled_st_comp.
const PLACES: [u16; 2] = [58, 123];

impl Lower<'_> {
    /// Stores words of tile buffers, those that follow each other together: their numbers behind the output registers, in order.
    pub(super) fn store_tiles(&mut self, words: &[(u16, Src)]) {
        let follows =
            |a: &(u16, Src), b: &(u16, Src)| b.0 == a.0 + 1 && a.0 / TILE_WORDS == b.0 / TILE_WORDS;
        if words.is_empty() {
            return;
        }
        let mask = self.fresh();
        // Of several samples the mask of the instance says where it covers. 4.2.
        let mode = u32::from(self.abi.samples > 1);
        let saved = Word::usual(Backend::Savmsk.op()).with(f::MASK_MODE, mode);
        self.push(Step::backend(saved).to(0, mask));
        for run in words.chunk_by(follows) {
            let (buffer, word) = (run[0].0 / TILE_WORDS, run[0].0 % TILE_WORDS);
            let address = self.tile_address(FRAGMENT_SHARED + 2 * buffer, word);
            let data: SmallVec<[Reg; 4]> =
                run.iter().map(|&(_, source)| self.own(source)).collect();
            let store = stores(Backend::StTiled, data.len(), WORDS).with(f::MASK_SRC, 4);
            let step = Step::backend(store).range(0, &data, Role::Use);
            let step = step.range(3, &address, Role::Use).from(4, Src::Reg(mask.into()));
            self.push(step.message(Message::Stores));
        }
    }

    /// The address of the pixel's word in a buffer whose address is a pair of shared registers.
    fn tile_address(&mut self, shared: u16, word: u16) -> [Reg; 2] {
        let (low, high) = (self.fresh(), self.fresh());
        let place = PLACES[usize::from(word / 4)] + word % 4;
        let place = Src::Fixed(Register::Special(place));
        let step = Step::behind(Src::ONE, place, Src::shared(shared));
        let mut step = step.to(0, low).to(1, high);
        step.group.olchk = true;
        self.push(step);
        [low.into(), high.into()]
    }
}
