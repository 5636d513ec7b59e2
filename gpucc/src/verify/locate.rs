//! Which line of the source a word comes from: the last instruction that wrote it.

use super::{Case, WordId, lanes};
use gpucc_emu::world::Bindings;
use gpucc_ir::ssa::interp::{self, Trace, Word};
use gpucc_ir::ssa::{
    Func, Imm, Inst, Numerics, Op, Resource, Sample, Span, TexQuery, TexelAddress, World,
};
use std::cell::RefCell;

/// The span of the instruction that writes a word last, as far as it can be found.
pub fn span(func: &Func, numerics: &Numerics, case: &Case, word: &WordId) -> Span {
    match *word {
        WordId::None => Span::NONE,
        WordId::Discard => find(func, |data| data.op == Op::Demote),
        WordId::Output(output, component) => find(
            func,
            |data| matches!(data.imm, Imm::Output(o, c) if o.as_u32() as usize == output && c == component),
        ),
        WordId::Memory(Word::Buffer(resource, element, address)) => {
            writer(func, numerics, case, (resource, element, address))
        }
        WordId::Memory(_) => find(func, |data| data.op == Op::ImageStore),
    }
}

fn find(func: &Func, wanted: impl Fn(&gpucc_ir::ssa::InstData) -> bool) -> Span {
    func.insts
        .values()
        .filter(|data| wanted(data))
        .map(|data| data.span)
        .find(|span| !span.is_none())
        .unwrap_or(Span::NONE)
}

/// What the world and the trace tell each other: the word was written since the last instruction.
struct Shared {
    written: bool,
    last: Option<Inst>,
}

/// Forwards to the bindings and watches one word.
struct Watched<'a> {
    bindings: Bindings,
    word: (Resource, u32, u32),
    shared: &'a RefCell<Shared>,
}

impl World for Watched<'_> {
    fn buffer_size(&self, buffer: Resource, element: u32) -> u32 {
        self.bindings.buffer_size(buffer, element)
    }
    fn load_word(&mut self, buffer: Resource, element: u32, address: u32) -> u32 {
        self.bindings.load_word(buffer, element, address)
    }
    fn store_word(&mut self, buffer: Resource, element: u32, address: u32, word: u32, mask: u32) {
        if (buffer, element, address) == self.word {
            self.shared.borrow_mut().written = true;
        }
        self.bindings.store_word(buffer, element, address, word, mask);
    }
    fn sample(&mut self, sample: &Sample) -> [u32; 4] {
        self.bindings.sample(sample)
    }
    fn load_texel(&mut self, at: &TexelAddress) -> [u32; 4] {
        self.bindings.load_texel(at)
    }

    fn has_texel(&self, at: &TexelAddress) -> bool {
        self.bindings.has_texel(at)
    }
    fn store_texel(&mut self, at: &TexelAddress, texel: [u32; 4]) {
        self.bindings.store_texel(at, texel);
    }
    fn query(&self, texture: (Resource, u32), what: TexQuery, level: i32) -> [u32; 3] {
        self.bindings.query(texture, what, level)
    }
}

struct Watcher<'a>(&'a RefCell<Shared>);

impl Trace for Watcher<'_> {
    fn executed(
        &mut self,
        func: &Func,
        inst: Inst,
        _lanes: &[usize],
        _value: &dyn Fn(usize, usize) -> u64,
    ) {
        let mut shared = self.0.borrow_mut();
        let stores = matches!(func.insts[inst].op, Op::BufferStore | Op::BufferAtomic);
        if stores && std::mem::take(&mut shared.written) {
            shared.last = Some(inst);
        }
    }
}

fn writer(func: &Func, numerics: &Numerics, case: &Case, word: (Resource, u32, u32)) -> Span {
    gpucc_ir::stack::for_regions(func, || last_writer(func, numerics, case, word))
}

fn last_writer(func: &Func, numerics: &Numerics, case: &Case, word: (Resource, u32, u32)) -> Span {
    let shared = RefCell::new(Shared { written: false, last: None });
    let mut world = Watched { bindings: case.bindings.clone(), word, shared: &shared };
    let mut watcher = Watcher(&shared);
    let mut options = interp::Options::new(numerics);
    options.trace = Some(&mut watcher);
    let lanes = lanes(func, case);
    // However the run ends, the last writer so far is the best answer.
    let _ = interp::run(func, &lanes, &mut world, options);
    let last = shared.borrow().last;
    match last {
        Some(inst) => func.insts[inst].span,
        // The machine wrote what the program does not: name the first store to that buffer.
        None => find(func, |data| data.op == Op::BufferStore && data.imm == Imm::Resource(word.0)),
    }
}
