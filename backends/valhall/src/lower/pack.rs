//! Packing: two scalar operations on f16 that were lanes of one vector operation in the source become
//! one instruction on a pair of halves.
//!
//! The first lane waits until its neighbour comes. What needs it earlier, or the end of the region, has
//! it computed alone.

use super::alu::round;
use super::operand::{Lane, Opnd};
use super::{Lower, Place};
use crate::inst::Src;
use crate::isa::{Opcode, f};
use gpucc_ir::ssa::{self, InstData, Op, Type, Value};
use gpucc_isa::FieldId;
use smallvec::SmallVec;

/// A row on pairs: which, with which fields, and which sources are negated beside their own signs.
struct Row {
    opcode: Opcode,
    fields: SmallVec<[(FieldId, u32); 2]>,
    negated: u8,
    /// A product's addend.
    neutral: bool,
}

fn row(op: Op) -> Option<Row> {
    let plain = |opcode| Row { opcode, fields: SmallVec::new(), negated: 0, neutral: false };
    let rounded = |mode| Row {
        fields: SmallVec::from_slice(&[(f::ROUND, mode)]),
        ..plain(Opcode::FroundV2f16)
    };
    Some(match op {
        Op::FAdd => plain(Opcode::FaddV2f16),
        Op::FSub => Row { negated: 2, ..plain(Opcode::FaddV2f16) },
        Op::FMul => Row { neutral: true, ..plain(Opcode::FmaV2f16) },
        Op::FMa => plain(Opcode::FmaV2f16),
        Op::FMin => plain(Opcode::FminV2f16),
        Op::FMax => plain(Opcode::FmaxV2f16),
        Op::FSat => Row {
            neutral: true,
            fields: SmallVec::from_slice(&[(f::CLAMP, 3)]),
            ..plain(Opcode::FaddV2f16)
        },
        Op::FFloor => rounded(round::DOWN),
        Op::FCeil => rounded(round::UP),
        Op::FTrunc => rounded(round::ZERO),
        Op::FRound => rounded(0),
        Op::FConvert => plain(Opcode::V2f32ToV2f16),
        _ => return None,
    })
}

/// Two halves as one source, if one register (or a constant) holds both and their signs agree; else how
/// they would have to be put together.
fn joined(low: Opnd, high: Opnd) -> Option<Opnd> {
    if (low.neg, low.abs) != (high.neg, high.abs) {
        return None;
    }
    match (low.src, high.src, low.lane, high.lane) {
        (Src::Bits(a), Src::Bits(b), ..) => {
            Some(Opnd { src: Src::Bits(a & 0xffff | b << 16), lane: Lane::All, ..low })
        }
        (a, b, Lane::Half(x), Lane::Half(y)) if a == b => Some(Opnd {
            lane: match (x, y) {
                (0, 1) => Lane::All,
                _ => Lane::Halves(x, y),
            },
            ..low
        }),
        _ => None,
    }
}

impl Lower<'_> {
    /// Takes an operation on f16 that may become half of an instruction; false when it is to be lowered
    /// alone at once.
    pub(super) fn packed(&mut self, inst: ssa::Inst) -> bool {
        let data = &self.ssa.insts[inst];
        let (Some(bundle), Some(&result)) = (data.bundle, data.results.first()) else {
            return false;
        };
        if self.ssa.ty(result) != Type::B16
            || row(data.op).is_none()
            || self.uses.clamped(result).is_some()
        {
            return false;
        }
        let partner = self.waiting.iter().position(|&(waiting, _)| {
            let other = &self.ssa.insts[waiting];
            other.op == data.op
                && other
                    .bundle
                    .is_some_and(|b| b.id() == bundle.id() && b.lane() ^ 1 == bundle.lane())
                && self.ssa.ty(other.args[0]) == self.ssa.ty(data.args[0])
                && self.clamp(other.results[0]) == self.clamp(result)
        });
        match partner {
            Some(at) => {
                let (first, _) = self.waiting.remove(at);
                let (low, high) =
                    if bundle.lane() & 1 == 1 { (first, inst) } else { (inst, first) };
                if !self.pair_of(low, high) {
                    self.compute(first);
                    self.compute(inst);
                }
                true
            }
            None => {
                self.waiting.push((inst, result));
                true
            }
        }
    }

    /// Lowers what waits for a neighbour that has not come.
    pub(super) fn flush_waiting(&mut self) {
        while !self.waiting.is_empty() {
            let (inst, _) = self.waiting.remove(0);
            self.compute(inst);
        }
    }

    /// Lowers a value that is needed before its neighbour came.
    pub(super) fn settle(&mut self, value: Value) -> bool {
        let Some(at) = self.waiting.iter().position(|&(_, v)| v == value) else {
            return false;
        };
        let (inst, _) = self.waiting.remove(at);
        self.compute(inst);
        true
    }

    /// One instruction for both; false when their operands do not go together.
    fn pair_of(&mut self, low: ssa::Inst, high: ssa::Inst) -> bool {
        let (a, b): (&InstData, &InstData) = (&self.ssa.insts[low], &self.ssa.insts[high]);
        // One must not be made of the other.
        if b.args.contains(&a.results[0]) || a.args.contains(&b.results[0]) {
            return false;
        }
        let Some(row) = row(a.op) else { return false };
        if a.op == Op::FConvert {
            let sources = [self.arg(row.opcode, 0, a.args[0]), self.arg(row.opcode, 1, b.args[0])];
            return self.make_pair(&row, &sources, a, b);
        }
        let mut sources: SmallVec<[Opnd; 4]> = SmallVec::new();
        let mut apart: SmallVec<[(usize, Opnd, Opnd); 3]> = SmallVec::new();
        for (index, (&x, &y)) in a.args.iter().zip(&b.args).enumerate() {
            let (x, y) = (self.arg(row.opcode, index, x), self.arg(row.opcode, index, y));
            match joined(x, y) {
                Some(source) => sources.push(source),
                None if (x.neg, x.abs) == (y.neg, y.abs) => {
                    apart.push((index, x, y));
                    sources.push(x);
                }
                None => return false,
            }
        }
        // Putting two operands together costs what the pair saves.
        if apart.len() > 1 {
            return false;
        }
        for (index, x, y) in apart {
            let plain = |operand: Opnd| Opnd { neg: false, abs: false, ..operand };
            let reg = self.mkvec(plain(x), plain(y));
            sources[index] = Opnd { neg: x.neg, abs: x.abs, ..Opnd::reg(reg) };
        }
        self.make_pair(&row, &sources, a, b)
    }

    fn make_pair(&mut self, row: &Row, sources: &[Opnd], a: &InstData, b: &InstData) -> bool {
        let mut sources: SmallVec<[Opnd; 4]> = SmallVec::from_slice(sources);
        for (index, source) in sources.iter_mut().enumerate() {
            if row.negated >> index & 1 == 1 {
                *source = source.negated();
            }
        }
        if row.neutral {
            sources.push(Opnd::minus_zero());
        }
        let mut fields = row.fields.clone();
        fields.extend(self.clamp(a.results[0]));
        let reg = self.emit_with(row.opcode, &sources, &fields);
        self.define(a.results[0], Place::Half(reg, 0));
        self.define(b.results[0], Place::Half(reg, 1));
        true
    }
}
