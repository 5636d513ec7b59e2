//! What several tests share: a world made of numbers, runs, and phis turned into memory.

use gpucc_ir::ssa::interp::{self, Emitted, Lanes, Outcome, Stop};
use gpucc_ir::ssa::random::Rng;
use gpucc_ir::ssa::{
    Access, Builder, Builtin, Func, Imm, InputKind, Inst, Mem, MemData, MemSpace, Numerics, Op,
    Region, Resource, Sample, Stage, TexQuery, TexelAddress, Type, Value, World,
};
use std::collections::BTreeMap;

/// Buffers of 64 words (1 KiB for what is written), textures that are pure functions.
pub struct Numbers {
    seed: u64,
    pub written: BTreeMap<(u32, u32, u32), u32>,
    pub texels: BTreeMap<String, [u32; 4]>,
}

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Numbers { seed, written: BTreeMap::new(), texels: BTreeMap::new() }
    }

    fn word(&self, salt: u64, a: u32, b: u32) -> u32 {
        let mut rng = Rng::new(self.seed ^ salt << 40 ^ u64::from(a) << 20 ^ u64::from(b));
        let special =
            [0, 1, 2, 0x3f80_0000, 0xbf80_0000, 0x8000_0000, 0x40a0_0000, 0xffff_ffff, 31];
        match rng.below(4) {
            0 => rng.pick(&special),
            1 => rng.below(64) as u32,
            2 => (rng.below(2000) as f32 / 100.0 - 10.0).to_bits(),
            _ => rng.bits() as u32 & 0xbfff_ffff,
        }
    }
}

impl World for Numbers {
    fn buffer_size(&self, _: Resource, _: u32) -> u32 {
        4096
    }
    fn load_word(&mut self, buffer: Resource, element: u32, address: u32) -> u32 {
        if address >= 4096 {
            return 0;
        }
        let key = (buffer.as_u32(), element, address);
        let fresh = self.word(1, buffer.as_u32(), address);
        self.written.get(&key).copied().unwrap_or(fresh)
    }
    fn store_word(&mut self, buffer: Resource, element: u32, address: u32, word: u32, mask: u32) {
        if address < 4096 {
            let old = self.load_word(buffer, element, address);
            self.written.insert((buffer.as_u32(), element, address), old & !mask | word & mask);
        }
    }
    fn sample(&mut self, sample: &Sample) -> [u32; 4] {
        let bits = sample.coords[0].to_bits() ^ sample.coords[1].to_bits().rotate_left(7);
        std::array::from_fn(|i| {
            ((self.word(2, bits, i as u32) & 0xffff) as f32 / 65536.0).to_bits()
        })
    }
    fn load_texel(&mut self, at: &TexelAddress) -> [u32; 4] {
        let bits = at.coords[0] as u32 ^ (at.coords[1] as u32).rotate_left(7);
        std::array::from_fn(|i| {
            ((self.word(3, bits, i as u32) & 0xffff) as f32 / 65536.0).to_bits()
        })
    }
    fn store_texel(&mut self, at: &TexelAddress, texel: [u32; 4]) {
        self.texels.insert(format!("{at:?}"), texel);
    }
    fn query(&self, _: (Resource, u32), _: TexQuery, _: i32) -> [u32; 3] {
        [8, 8, 1]
    }
}

pub struct Ran {
    pub outcome: Outcome,
    pub world: Numbers,
}

/// Runs a function over one workgroup or one tile.
pub fn run(func: &Func, seed: u64, numerics: &Numerics) -> Result<Ran, Stop> {
    run_for(func, seed, numerics, 300_000)
}

/// The same, for so many steps at most.
pub fn run_for(func: &Func, seed: u64, numerics: &Numerics, steps: u64) -> Result<Ran, Stop> {
    let lanes = match func.stage {
        Stage::Compute => Lanes::compute(func, [1, 1, 1], 0, 1),
        Stage::Vertex | Stage::Geometry | Stage::Fragment => {
            let mut lanes = Lanes::new(func, 16);
            let mut rng = Rng::new(seed ^ 99);
            for (values, data) in lanes.inputs.iter_mut().zip(func.inputs.values()) {
                // No pixel stands below 0.
                let pixel = data.kind == InputKind::Builtin(Builtin::Position);
                let least = if pixel { 0.5 } else { -10.0 };
                for value in values {
                    *value =
                        std::array::from_fn(|_| (rng.below(2000) as f32 / 100.0 + least).to_bits());
                }
            }
            lanes
        }
    };
    let mut world = Numbers::new(seed);
    let options = interp::Options { steps, ..interp::Options::new(numerics) };
    let outcome = interp::run(func, &lanes, &mut world, options)?;
    Ok(Ran { outcome, world })
}

fn same_word(a: u32, b: u32) -> bool {
    a == b || f32::from_bits(a).is_nan() && f32::from_bits(b).is_nan()
}

/// The first difference between two runs.
pub fn difference(a: &Ran, b: &Ran) -> Option<String> {
    if a.world.written.keys().ne(b.world.written.keys()) {
        return Some("different words were written".into());
    }
    for (key, &x) in &a.world.written {
        let y = b.world.written[key];
        if !same_word(x, y) {
            return Some(format!("word {key:?}: {x:#x} became {y:#x}"));
        }
    }
    if a.world.texels.keys().ne(b.world.texels.keys()) {
        return Some("different texels were written".into());
    }
    if a.outcome.helper != b.outcome.helper {
        return Some("different lanes are helpers".into());
    }
    for (lane, (x, y)) in a.outcome.emitted.iter().zip(&b.outcome.emitted).enumerate() {
        let same = |x: &Emitted, y: &Emitted| {
            let words = x.outputs.iter().flatten().zip(y.outputs.iter().flatten());
            x.begins == y.begins && words.into_iter().all(|(&x, &y)| same_word(x, y))
        };
        if x.len() != y.len() || !x.iter().zip(y).all(|(x, y)| same(x, y)) {
            return Some(format!("lane {lane} emits {x:x?} and then {y:x?}"));
        }
    }
    for (output, lanes) in a.outcome.outputs.iter().enumerate() {
        for (lane, x) in lanes.iter().enumerate() {
            let y = &b.outcome.outputs[output][lane];
            if !a.outcome.helper[lane] && !x.iter().zip(y).all(|(&x, &y)| same_word(x, y)) {
                return Some(format!("output {output} lane {lane}: {x:x?} became {y:x?}"));
            }
        }
    }
    None
}

/// Carries every result and parameter of every construct through private memory instead.
pub fn phis_to_memory(func: &mut Func) {
    let mut maker = Maker { func, loops: Vec::new(), owners: Vec::new() };
    let body = maker.func.body;
    maker.region(body);
}

struct Maker<'a> {
    func: &'a mut Func,
    loops: Vec<Plan>,
    owners: Vec<(Inst, Vec<Word>)>,
}

#[derive(Clone)]
struct Plan {
    results: Vec<Word>,
    params: Vec<Word>,
    continuing: Vec<Word>,
}

#[derive(Copy, Clone)]
struct Word {
    mem: Mem,
    offset: u32,
    ty: Type,
}

impl Maker<'_> {
    /// Memory for values: B16s share words so that halves are exercised.
    fn words(&mut self, types: &[Type]) -> Vec<Word> {
        if types.is_empty() {
            return Vec::new();
        }
        let mem = self.func.mems.push(MemData {
            name: "carried".into(),
            size: 0,
            space: MemSpace::Private,
            words: Vec::new(),
        });
        let mut at = 0u32;
        let words = types
            .iter()
            .map(|&ty| {
                let bytes = if ty == Type::B1 { 4 } else { ty.bytes() };
                at = at.next_multiple_of(bytes);
                let word = Word { mem, offset: at, ty };
                at += bytes;
                word
            })
            .collect();
        self.func.mems[mem].size = at.next_multiple_of(8);
        words
    }

    fn store(&mut self, out: &mut Vec<Inst>, word: Word, value: Value) {
        let region = self.func.new_region();
        let mut b = Builder::at(self.func, region);
        let bytes = if word.ty == Type::B1 { 4 } else { word.ty.bytes() };
        let access = Access { mem: word.mem, lo: word.offset, hi: word.offset + bytes };
        let address = b.u32(word.offset);
        let value = match word.ty {
            Type::B1 => b.convert(Op::UConvert, Type::B32, value),
            _ => value,
        };
        b.mem_store(access, address, &[value]);
        out.append(&mut self.func.regions[region].insts);
    }

    /// A load that defines `value`.
    fn load(&mut self, out: &mut Vec<Inst>, word: Word, value: Value) {
        let region = self.func.new_region();
        let mut b = Builder::at(self.func, region);
        let bytes = if word.ty == Type::B1 { 4 } else { word.ty.bytes() };
        let access = Access { mem: word.mem, lo: word.offset, hi: word.offset + bytes };
        let address = b.u32(word.offset);
        let loaded = match word.ty {
            Type::B1 => {
                let bits = b.mem_load(access, address, &[Type::B32])[0];
                let zero = b.u32(0);
                b.op2(Op::INe, bits, zero)
            }
            ty => b.mem_load(access, address, &[ty])[0],
        };
        let gpucc_ir::ssa::ValueDef::Result(inst, _) = self.func.values[loaded].def else {
            unreachable!()
        };
        self.func.insts[inst].results[0] = value;
        self.func.values[value].def = gpucc_ir::ssa::ValueDef::Result(inst, 0);
        out.append(&mut self.func.regions[region].insts);
    }

    fn types(&self, values: &[Value]) -> Vec<Type> {
        values.iter().map(|&value| self.func.ty(value)).collect()
    }

    fn region(&mut self, region: Region) {
        let insts = std::mem::take(&mut self.func.regions[region].insts);
        let mut out = std::mem::take(&mut self.func.regions[region].insts);
        for inst in insts {
            let op = self.func.insts[inst].op;
            let args: Vec<Value> = self.func.insts[inst].args.to_vec();
            let store_all =
                |maker: &mut Self, out: &mut Vec<Inst>, words: &[Word], values: &[Value]| {
                    for (&word, &value) in words.iter().zip(values) {
                        maker.store(out, word, value);
                    }
                };
            match op {
                Op::If | Op::Loop | Op::Block => {
                    let results = std::mem::take(&mut self.func.insts[inst].results);
                    let words = self.words(&self.types(&results));
                    self.owners.push((inst, words.clone()));
                    let regions = self.func.insts[inst].regions.clone();
                    if op == Op::Loop {
                        let params = std::mem::take(&mut self.func.regions[regions[0]].params);
                        let carried = std::mem::take(&mut self.func.regions[regions[1]].params);
                        let plan = Plan {
                            results: words.clone(),
                            params: self.words(&self.types(&params)),
                            continuing: self.words(&self.types(&carried)),
                        };
                        store_all(self, &mut out, &plan.params, &args);
                        self.func.insts[inst].args.clear();
                        for (region, words, values) in [
                            (regions[0], &plan.params, params),
                            (regions[1], &plan.continuing, carried),
                        ] {
                            let mut head = Vec::new();
                            for (&word, &value) in words.iter().zip(&values) {
                                self.load(&mut head, word, value);
                            }
                            self.func.regions[region].insts.splice(0..0, head);
                        }
                        self.loops.push(plan);
                    }
                    for region in regions {
                        self.region(region);
                    }
                    if op == Op::Loop {
                        self.loops.pop();
                    }
                    self.owners.pop();
                    out.push(inst);
                    for (&word, &value) in words.iter().zip(&results) {
                        self.load(&mut out, word, value);
                    }
                    continue;
                }
                Op::Yield => {
                    let words = self.owners.last().map_or(Vec::new(), |owner| owner.1.clone());
                    store_all(self, &mut out, &words, &args);
                    self.func.insts[inst].args.clear();
                }
                Op::Exit => {
                    let Imm::Label(block) = self.func.insts[inst].imm else { unreachable!() };
                    let owner = self.owners.iter().find(|owner| owner.0 == block);
                    let words = owner.expect("an enclosing block").1.clone();
                    store_all(self, &mut out, &words, &args);
                    self.func.insts[inst].args.clear();
                }
                Op::Break | Op::Continue | Op::Next => {
                    let plan = self.loops.last().expect("in a loop").clone();
                    let words = match op {
                        Op::Break => &plan.results,
                        Op::Continue => &plan.continuing,
                        _ => &plan.params,
                    };
                    store_all(self, &mut out, words, &args);
                    self.func.insts[inst].args.clear();
                }
                Op::BreakIf => {
                    let plan = self.loops.last().expect("in a loop").clone();
                    let both: Vec<Word> =
                        plan.results.iter().chain(&plan.params).copied().collect();
                    store_all(self, &mut out, &both, &args[1..]);
                    self.func.insts[inst].args.truncate(1);
                }
                _ => {
                    // Loads put at the head of a region above are passed over here unchanged.
                }
            }
            out.push(inst);
        }
        self.func.regions[region].insts = out;
    }
}

/// At the start of every arm stands a branch that nobody takes: it runs for ever, or says that it is never
/// reached.
pub fn add_endless(func: &mut Func) {
    for (place, (region, owner, depth)) in func.regions_in_order().into_iter().enumerate() {
        let in_if = owner.is_some_and(|owner| func.insts[owner].op == Op::If);
        if !in_if || depth > 12 {
            continue;
        }
        let scratch = func.new_region();
        let mut b = Builder::at(func, scratch);
        let never = b.bool(false);
        let five = b.u32(5);
        let found = b.if_else(
            never,
            &[Type::B32],
            |b| {
                if place % 2 == 0 {
                    b.end(Op::Unreachable, &[]);
                    return vec![];
                }
                b.loop_(
                    &[],
                    &[],
                    &[],
                    |b, _| {
                        b.end(Op::Continue, &[]);
                    },
                    |b, _| {
                        b.end(Op::Next, &[]);
                    },
                );
                vec![b.op2(Op::IAdd, five, five)]
            },
            |_| vec![five],
        );
        b.op2(Op::IAdd, found[0], five);
        let insts = std::mem::take(&mut func.regions[scratch].insts);
        func.regions[region].insts.splice(0..0, insts);
    }
}

/// Every second arm of an `if` demotes before it does anything else.
pub fn demote_arms(func: &mut Func) {
    let mut arms = 0;
    for (region, owner, _) in func.regions_in_order() {
        if owner.is_none_or(|owner| func.insts[owner].op != Op::If) {
            continue;
        }
        arms += 1;
        if arms % 2 == 0 {
            let scratch = func.new_region();
            Builder::at(func, scratch).inst(Op::Demote, Imm::None, &[], &[], &[]);
            let insts = std::mem::take(&mut func.regions[scratch].insts);
            func.regions[region].insts.splice(0..0, insts);
        }
    }
}

/// A private array of constants is filled at the start and read where an input says; what it gave is added to what
/// buffer stores store.
pub fn add_table(func: &mut Func) {
    let Some(input) = func.inputs.keys().next() else {
        return;
    };
    let words = 8;
    let mem = func.mems.push(MemData {
        name: "constants".into(),
        size: 4 * words,
        space: MemSpace::Private,
        words: Vec::new(),
    });
    let scratch = func.new_region();
    let mut b = Builder::at(func, scratch);
    for word in 0..words {
        let (address, value) = (b.u32(4 * word), b.u32(word * word + 7));
        let (lo, hi) = (4 * word, 4 * word + 4);
        b.mem_store(Access { mem, lo, hi }, address, &[value]);
    }
    let (index, mask, two) = (b.input(input, 0), b.u32(words - 1), b.u32(2));
    let index = b.op2(Op::And, index, mask);
    let address = b.op2(Op::Shl, index, two);
    let all = Access { mem, lo: 0, hi: 4 * words };
    let found = b.mem_load(all, address, &[Type::B32])[0];
    let insts = std::mem::take(&mut func.regions[scratch].insts);
    func.regions[func.body].insts.splice(0..0, insts);
    show(func, found);
}

/// Every stored word shows a value.
fn show(func: &mut Func, found: Value) {
    for (region, ..) in func.regions_in_order() {
        let insts = std::mem::take(&mut func.regions[region].insts);
        let mut out = Vec::new();
        for inst in insts {
            let data = &func.insts[inst];
            if data.op == Op::BufferStore
                && let Some(&stored) = data.args.last()
                && func.ty(stored) == Type::B32
            {
                let mut sum = data.clone();
                sum.op = Op::IAdd;
                sum.imm = Imm::None;
                sum.args = [stored, found].into_iter().collect();
                let sum = func.new_inst(sum, &[Type::B32]);
                out.push(sum);
                let sum = func.insts[sum].results[0];
                *func.insts[inst].args.last_mut().expect("it was there") = sum;
            }
            out.push(inst);
        }
        func.regions[region].insts = out;
    }
}

/// Two loops stand at the start: one computes nothing and leaves by an unchanging test or by its count, the other leaves with one value
/// by two exits near its end. What they gave is added to what buffer stores store.
pub fn add_exits(func: &mut Func) {
    let Some(input) = func.inputs.keys().next() else {
        return;
    };
    let scratch = func.new_region();
    let mut b = Builder::at(func, scratch);
    let value = b.input(input, 0);
    let (zero, one, five) = (b.u32(0), b.u32(1), b.u32(5));
    let exit = |b: &mut Builder<'_>, condition: Value, value: Value| {
        let leave = |b: &mut Builder<'_>| {
            b.end(Op::Break, &[value]);
            vec![]
        };
        b.if_else(condition, &[], leave, |_| vec![]);
    };
    let next = |b: &mut Builder<'_>, values: &[Value]| {
        b.end(Op::Next, values);
    };
    let word = [Type::B32];
    let empty = |b: &mut Builder<'_>, params: &[Value]| {
        let early = b.op2(Op::IAdd, value, five);
        let unchanging = b.op2(Op::ULt, early, value);
        exit(b, unchanging, early);
        let count = b.op2(Op::IAdd, params[0], one);
        let last = b.op2(Op::IEq, count, five);
        exit(b, last, one);
        b.end(Op::Continue, &[count]);
    };
    let settled = b.loop_(&[zero], &word, &word, empty, next)[0];
    let twice = |b: &mut Builder<'_>, params: &[Value]| {
        let sum = b.op2(Op::IAdd, params[0], value);
        let wraps = b.op2(Op::ULt, sum, value);
        exit(b, wraps, sum);
        let count = b.op2(Op::IAdd, params[1], one);
        let last = b.op2(Op::IEq, count, five);
        exit(b, last, sum);
        b.end(Op::Continue, &[sum, count]);
    };
    let both = [Type::B32; 2];
    let joined = b.loop_(&[value, zero], &both, &word, twice, next)[0];
    let found = b.op2(Op::Xor, settled, joined);
    let insts = std::mem::take(&mut func.regions[scratch].insts);
    func.regions[func.body].insts.splice(0..0, insts);
    show(func, found);
}

/// Private accesses that the body reaches.
pub fn private_accesses(func: &Func) -> usize {
    let insts = |region: Region| func.regions[region].insts.iter();
    func.regions_in_order()
        .iter()
        .flat_map(|&(region, ..)| insts(region))
        .filter(|&&inst| match func.insts[inst].imm {
            Imm::Mem(access) => func.mems[access.mem].space == MemSpace::Private,
            _ => false,
        })
        .count()
}

/// Around each store of whole words to a private variable at a constant address: something else is stored there
/// before it; behind it the words are loaded, and stored where they came from. Returns how many stores there were.
pub fn echo_stores(func: &mut Func) -> usize {
    let mut echoed = 0;
    for (region, ..) in func.regions_in_order() {
        let insts = std::mem::take(&mut func.regions[region].insts);
        let mut out = Vec::new();
        for inst in insts {
            let data = func.insts[inst].clone();
            let words = data.op == Op::MemStore
                && func.as_const(data.args[0]).is_some()
                && data.args[1..].iter().all(|&v| func.ty(v) == Type::B32)
                && matches!(data.imm, Imm::Mem(access) if func.mems[access.mem].space == MemSpace::Private);
            if !words {
                out.push(inst);
                continue;
            }
            echoed += 1;
            let (address, count) = (data.args[0], data.args.len() - 1);
            let mut other = data.clone();
            other.args[1..].fill(address);
            out.push(func.new_inst(other, &[]));
            out.push(inst);
            let mut load = data.clone();
            load.op = Op::MemLoad;
            load.args.truncate(1);
            let load = func.new_inst(load, &vec![Type::B32; count]);
            out.push(load);
            let mut back = data;
            back.args[1..].copy_from_slice(&func.insts[load].results.clone());
            out.push(func.new_inst(back, &[]));
        }
        func.regions[region].insts = out;
    }
    echoed
}

/// Gives both arms of each `if` with words as results the same work of their own. Returns how many there were.
pub fn echo_arms(func: &mut Func) -> usize {
    let mut echoed = 0;
    for (region, ..) in func.regions_in_order() {
        for inst in func.regions[region].insts.clone() {
            let data = func.insts[inst].clone();
            let word = |&value: &Value| func.ty(value) == Type::B32;
            let Some(index) = data.results.iter().position(word) else {
                continue;
            };
            if data.op != Op::If {
                continue;
            }
            echoed += 1;
            for arm in data.regions {
                let Some(end) = func.regions[arm].insts.pop() else {
                    continue;
                };
                let mut b = Builder::at(func, arm);
                if b.func.insts[end].op == Op::Yield {
                    let number = b.convert(Op::UConvert, Type::B32, data.args[0]);
                    let twice = b.op2(Op::IAdd, number, number);
                    let given = b.func.insts[end].args[index];
                    let mixed = b.op2(Op::Xor, given, twice);
                    b.func.insts[end].args[index] = mixed;
                }
                func.regions[arm].insts.push(end);
            }
        }
    }
    echoed
}

/// True when some private variable is still accessed.
pub fn has_private_memory(func: &Func) -> bool {
    func.regions_in_order().iter().any(|&(region, ..)| {
        func.regions[region].insts.iter().any(|&inst| match func.insts[inst].imm {
            Imm::Mem(access) => func.mems[access.mem].space == MemSpace::Private,
            _ => false,
        })
    })
}
