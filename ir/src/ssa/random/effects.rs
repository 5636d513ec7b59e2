//! Statements that touch memory, textures, the workgroup or the quad.

use super::{ARRAY_WORDS, Generator, Kind};
use crate::ssa::{
    Access, AtomicOp, Builder, Imm, Mem, Op, Resource, Scan, Shuffle, Stage, TexKind, TexOp,
    TexQuery, Type, Value,
};

impl Generator {
    /// Loads and stores of the array, loads of the buffers, texels.
    pub(super) fn memory(&mut self, b: &mut Builder<'_>) {
        let four = b.u32(4);
        let index = self.any(b, Kind::Int);
        if (self.config.allow)(Op::Join64) && self.rng.one_in(6) {
            self.long_memory(b, index);
            return;
        }
        if (self.config.allow)(Op::Join16) && self.rng.one_in(8) {
            self.short_memory(b, index);
            return;
        }
        match self.rng.below(7) {
            6 => self.store_round(b),
            0 | 1 => {
                let length = b.u32(ARRAY_WORDS);
                let at = b.op2(Op::Index, index, length);
                let address = b.op2(Op::IMul, at, four);
                let access = Access { mem: self.setup.array, lo: 0, hi: ARRAY_WORDS * 4 };
                if self.rng.one_in(2) {
                    let value = self.any(b, Kind::Int);
                    b.mem_store(access, address, &[value]);
                } else {
                    let value = b.mem_load(access, address, &[Type::B32])[0];
                    self.add(Kind::Int, value);
                }
            }
            2 => {
                let length = b.u32(64);
                let at = b.op2(Op::Index, index, length);
                let address = b.op2(Op::IMul, at, four);
                let value = b.buffer_load(self.setup.uniform, None, address, &[Type::B32])[0];
                self.add(Kind::Int, value);
            }
            3 => self.texel(b, index),
            4 => self.shared_effect(b, index),
            _ => {
                let length = elements(b, self.setup.source, 12, 4);
                let at = b.op2(Op::Index, index, length);
                let address = b.op2(Op::IMul, at, four);
                let count = 1 + self.rng.below(4);
                let types = vec![Type::B32; count];
                for value in b.buffer_load(self.setup.source, None, address, &types) {
                    self.add(Kind::Int, value);
                }
            }
        }
    }

    /// Writes some components of the output, emits a vertex, or ends a strip.
    pub(super) fn emit(&mut self, b: &mut Builder<'_>) {
        let Some(target) = self.setup.target else {
            return;
        };
        for component in 0..self.rng.below(5) as u8 {
            let value = self.any(b, Kind::Int);
            b.output(target, component, value);
        }
        match self.rng.below(4) {
            0 => {}
            1 => {
                b.inst(Op::EndPrimitive, Imm::None, &[], &[], &[]);
            }
            _ => {
                b.inst(Op::EmitVertex, Imm::None, &[], &[], &[]);
            }
        }
    }

    /// Stores what a loop around this statement loads at the start of its next trip.
    fn store_round(&mut self, b: &mut Builder<'_>) {
        if self.rounds.is_empty() {
            return;
        }
        let mem = self.rounds[self.rng.below(self.rounds.len())];
        let value = self.any(b, Kind::Int);
        let zero = b.u32(0);
        b.mem_store(Access { mem, lo: 0, hi: 4 }, zero, &[value]);
    }

    /// Integers of 64 bits in the array and in the buffers.
    fn long_memory(&mut self, b: &mut Builder<'_>, index: Value) {
        let eight = b.u32(8);
        let address = |b: &mut Builder<'_>, length: Value| {
            let at = b.op2(Op::Index, index, length);
            b.op2(Op::IMul, at, eight)
        };
        let own = b.u32(ARRAY_WORDS / 2);
        let access = Access { mem: self.setup.array, lo: 0, hi: ARRAY_WORDS * 4 };
        let loaded = match self.rng.below(4) {
            0 => {
                let address = address(b, own);
                let value = self.any(b, Kind::Long);
                b.mem_store(access, address, &[value]);
                return;
            }
            1 => {
                let address = address(b, own);
                b.mem_load(access, address, &[Type::B64])
            }
            2 => {
                let length = b.u32(32);
                let address = address(b, length);
                b.buffer_load(self.setup.uniform, None, address, &[Type::B64])
            }
            _ => {
                let length = elements(b, self.setup.source, 24, 8);
                let address = address(b, length);
                let types = vec![Type::B64; 1 + self.rng.below(4)];
                b.buffer_load(self.setup.source, None, address, &types)
            }
        };
        for value in loaded {
            self.add(Kind::Long, value);
        }
    }

    /// Integers of 16 bits out of the buffer, where they lie densely: pairs at any even byte too.
    fn short_memory(&mut self, b: &mut Builder<'_>, index: Value) {
        let length = elements(b, self.setup.source, 6, 2);
        let two = b.u32(2);
        let at = b.op2(Op::Index, index, length);
        let address = b.op2(Op::IMul, at, two);
        let types = vec![Type::B16; 1 + self.rng.below(4)];
        for value in b.buffer_load(self.setup.source, None, address, &types) {
            self.add(Kind::Short, value);
        }
    }

    /// A texture instruction that takes its level from nowhere but its operands.
    pub(super) fn texel(&mut self, b: &mut Builder<'_>, index: Value) {
        let Some(texture) = self.setup.texture else {
            return;
        };
        let mut tex = TexOp {
            kind: TexKind::Load,
            texture,
            sampler: None.into(),
            compare: false,
            component: 0,
            offset: [0; 3],
            projected: false,
            texel: false,
        };
        if self.rng.one_in(8) && (self.config.allow)(Op::TexQuery) {
            let zero = b.u32(0);
            let imm = Imm::Query(texture, TexQuery::Size);
            let inst = b.inst(Op::TexQuery, imm, &[zero], &[], &[Type::B32; 2]);
            let size = b.result(inst);
            self.add(Kind::Int, size);
            return;
        }
        let args = match self.rng.below(4) {
            0 | 1 => {
                let (seven, zero) = (b.u32(7), b.u32(0));
                let other = self.any(b, Kind::Int);
                let (x, y) = (b.op2(Op::And, index, seven), b.op2(Op::And, other, seven));
                vec![x, y, zero]
            }
            2 => {
                tex.sampler = self.setup.sampler;
                let mut args = self.place(b, 2);
                if self.rng.one_in(3) {
                    tex.kind = TexKind::Gather;
                    tex.component = self.rng.below(4) as u8;
                } else {
                    tex.kind = TexKind::SampleLevel;
                    args.push(b.f32([0.0, 1.0, 0.5][self.rng.below(3)]));
                }
                args
            }
            _ => {
                tex.kind = TexKind::SampleLevel;
                tex.texture = self.setup.cube.unwrap_or(texture);
                tex.sampler = self.setup.sampler;
                let mut args = self.place(b, 3);
                args.push(b.f32([0.0, 1.0, 0.5][self.rng.below(3)]));
                args
            }
        };
        let inst = b.inst(Op::Tex, Imm::Tex(tex), &args, &[], &[Type::B32; 4]);
        let texel = b.func.insts[inst].results.clone();
        for value in texel {
            self.add(Kind::Float, value);
        }
    }

    /// Coordinates: some in 0..=1, some beyond it on all axes, where the sampler wraps.
    fn place(&mut self, b: &mut Builder<'_>, axes: usize) -> Vec<Value> {
        let within = self.rng.one_in(2);
        (0..axes)
            .map(|_| {
                let any = self.any(b, Kind::Float);
                let place = b.op1(Op::FSat, any);
                if within {
                    return place;
                }
                let (six, two) = (b.f32(6.0), b.f32(-2.5));
                let wide = b.op2(Op::FMul, place, six);
                b.op2(Op::FAdd, wide, two)
            })
            .collect()
    }

    /// Atomics whose final value does not depend on order, and stores to the own texel.
    fn shared_effect(&mut self, b: &mut Builder<'_>, index: Value) {
        let (op, word) = self.rng.pick(&COMMUTING);
        if let Some(counters) = self.setup.counters
            && self.rng.one_in(2)
        {
            let address = b.u32(word * 4);
            let imm = Imm::BufferAtomic(counters, op);
            b.inst(Op::BufferAtomic, imm, &[address, index], &[], &[]);
        } else if let Some(tally) = self.setup.tally
            && self.rng.one_in(3)
        {
            // A texel for each operation, so that the order never shows.
            let (x, y) = (b.u32(word), b.u32(word / 2));
            let imm = Imm::ImageAtomic(tally, op);
            b.inst(Op::ImageAtomic, imm, &[x, y, index], &[], &[]);
        } else if let (Some(image), Some(id)) = (self.setup.image, self.id) {
            let (seven, three) = (b.u32(7), b.u32(3));
            let (x, y) = (b.op2(Op::And, id, seven), b.op2(Op::LShr, id, three));
            let mut args = vec![x, y];
            for _ in 0..4 {
                args.push(self.any(b, Kind::Int));
            }
            b.inst(Op::ImageStore, Imm::Resource(image), &args, &[], &[]);
        }
    }

    /// What needs all invocations (or all of a quad) at once.
    pub(super) fn together_only(&mut self, b: &mut Builder<'_>) {
        match (self.setup.shared, self.config.stage) {
            (_, Stage::Compute) if (self.config.allow)(Op::Reduce) && self.rng.one_in(3) => {
                self.cooperate(b);
            }
            (Some(shared), _) if (self.config.allow)(Op::MemAtomic) && self.rng.one_in(4) => {
                self.count(b, shared);
            }
            (Some(shared), _) => self.exchange(b, shared),
            (None, Stage::Fragment) => self.quad(b),
            (None, _) => {}
        }
    }

    /// Values go between the lanes of a subgroup.
    fn cooperate(&mut self, b: &mut Builder<'_>) {
        const COMBINING: [Op; 7] =
            [Op::IAdd, Op::SMin, Op::SMax, Op::UMin, Op::UMax, Op::Or, Op::Xor];
        match self.rng.below(4) {
            0 => {
                let truth = self.any(b, Kind::Truth);
                let inst = b.inst(Op::Ballot, Imm::None, &[truth], &[], &[Type::B32; 4]);
                let bits = b.result(inst);
                self.add(Kind::Int, bits);
            }
            1 => {
                let which = self.rng.pick(&[Shuffle::Xor, Shuffle::Quad, Shuffle::First]);
                let mut args = vec![self.any(b, Kind::Int)];
                if which != Shuffle::First {
                    args.push(b.u32(self.rng.below(4) as u32));
                }
                let inst = b.inst(Op::Shuffle, Imm::Shuffle(which), &args, &[], &[Type::B32]);
                let value = b.result(inst);
                self.add(Kind::Int, value);
            }
            2 => {
                b.inst(Op::SubgroupBarrier, Imm::None, &[], &[], &[]);
            }
            _ => {
                let scan = self.rng.pick(&[Scan::All, Scan::Inclusive, Scan::Exclusive]);
                let op = self.rng.pick(&COMBINING);
                let value = self.any(b, Kind::Int);
                let imm = Imm::Reduce(scan, op);
                let inst = b.inst(Op::Reduce, imm, &[value], &[], &[Type::B32]);
                let value = b.result(inst);
                self.add(Kind::Int, value);
            }
        }
    }

    /// Every lane writes its word, then reads another's.
    fn exchange(&mut self, b: &mut Builder<'_>, shared: Mem) {
        let Some(own) = self.own_word(b) else { return };
        let access = self.whole(shared);
        let value = self.any(b, Kind::Int);
        b.mem_store(access, own, &[value]);
        barrier(b);
        let other = self.some_word(b);
        let got = b.mem_load(access, other, &[Type::B32])[0];
        barrier(b);
        self.add(Kind::Int, got);
    }

    /// Every lane clears its word, changes another's atomically, then reads its own.
    fn count(&mut self, b: &mut Builder<'_>, shared: Mem) {
        let Some(own) = self.own_word(b) else { return };
        let access = self.whole(shared);
        let value = self.any(b, Kind::Int);
        b.mem_store(access, own, &[value]);
        barrier(b);
        let (op, _) = self.rng.pick(&COMMUTING);
        let (other, operand) = (self.some_word(b), self.any(b, Kind::Int));
        let imm = Imm::MemAtomic(access, op);
        b.inst(Op::MemAtomic, imm, &[other, operand], &[], &[]);
        barrier(b);
        let got = b.mem_load(access, own, &[Type::B32])[0];
        barrier(b);
        self.add(Kind::Int, got);
    }

    /// All words of the workgroup's array.
    fn whole(&self, shared: Mem) -> Access {
        Access { mem: shared, lo: 0, hi: self.config.workgroup_size * 4 }
    }

    /// Address of the invocation's own word in the workgroup's array.
    fn own_word(&mut self, b: &mut Builder<'_>) -> Option<Value> {
        let (four, length) = (b.u32(4), b.u32(self.config.workgroup_size));
        let own = b.op2(Op::URem, self.id?, length);
        Some(b.op2(Op::IMul, own, four))
    }

    /// Address of any word in the workgroup's array.
    fn some_word(&mut self, b: &mut Builder<'_>) -> Value {
        let (four, length) = (b.u32(4), b.u32(self.config.workgroup_size));
        let other = self.any(b, Kind::Int);
        let other = b.op2(Op::Index, other, length);
        b.op2(Op::IMul, other, four)
    }

    /// Derivatives and samples by them.
    fn quad(&mut self, b: &mut Builder<'_>) {
        const OPS: [Op; 6] =
            [Op::Ddx, Op::Ddy, Op::DdxFine, Op::DdyFine, Op::DdxCoarse, Op::DdyCoarse];
        let op = self.rng.pick(&OPS);
        let a = self.any(b, Kind::Float);
        if let (Some(texture), true) = (self.setup.texture, self.rng.one_in(3)) {
            let kind = self.rng.pick(&[TexKind::Sample, TexKind::SampleBias, TexKind::SampleGrad]);
            let (texture, axes) = match self.setup.cube {
                Some(cube) if self.rng.one_in(3) => (cube, 3),
                _ => (texture, 2),
            };
            let mut args = self.place(b, axes);
            let more = match kind {
                TexKind::SampleBias => 1,
                TexKind::SampleGrad => 2 * axes,
                _ => 0,
            };
            for _ in 0..more {
                args.push(b.f32([0.0, 0.125, 0.25, 1.0][self.rng.below(4)]));
            }
            let tex = TexOp {
                kind,
                texture,
                sampler: self.setup.sampler,
                compare: false,
                component: 0,
                offset: [0; 3],
                projected: false,
                texel: false,
            };
            let inst = b.inst(Op::Tex, Imm::Tex(tex), &args, &[], &[Type::B32; 4]);
            for value in b.func.insts[inst].results.clone() {
                self.add(Kind::Float, value);
            }
        } else if self.rng.one_in(8) && (self.config.allow)(Op::IsHelper) {
            let inst = b.inst(Op::IsHelper, Imm::None, &[], &[], &[Type::B1]);
            let value = b.result(inst);
            self.add(Kind::Truth, value);
        } else if self.rng.one_in(6) && (self.config.allow)(Op::Demote) {
            let c = self.any(b, Kind::Truth);
            b.if_else(
                c,
                &[],
                |b| {
                    b.inst(Op::Demote, Imm::None, &[], &[], &[]);
                    vec![]
                },
                |_| vec![],
            );
        } else if (self.config.allow)(op) {
            let value = b.op1(op, a);
            self.add(Kind::Float, value);
        }
    }
}

/// Atomics whose final value does not depend on order, each with a word of its own: two different
/// ones on one word would.
const COMMUTING: [(AtomicOp, u32); 8] = [
    (AtomicOp::Add, 0),
    (AtomicOp::UMax, 1),
    (AtomicOp::UMin, 2),
    (AtomicOp::SMax, 3),
    (AtomicOp::SMin, 4),
    (AtomicOp::And, 5),
    (AtomicOp::Or, 6),
    (AtomicOp::Xor, 7),
];

/// Elements of `stride` bytes behind the first `from` of a buffer.
fn elements(b: &mut Builder<'_>, buffer: Resource, from: u32, stride: u32) -> Value {
    let size = b.inst(Op::BufferSize, Imm::Resource(buffer), &[], &[], &[Type::B32]);
    let size = b.result(size);
    let (from, stride) = (b.u32(from), b.u32(stride));
    let enough = b.op2(Op::UMax, size, from);
    let behind = b.op2(Op::ISub, enough, from);
    b.op2(Op::UDiv, behind, stride)
}

fn barrier(b: &mut Builder<'_>) {
    let imm = Imm::Barrier { storage: false, workgroup: true, texture: false };
    b.inst(Op::Barrier, imm, &[], &[], &[]);
}
