//! Operations of a subgroup.

use super::lanes::{Kind, mismatch};
use super::module::Inst;
use super::program::{Id, READING, op};
use super::{Frame, OfSpirv};
use crate::lower::ballot::Mask;
use crate::lower::{Result, Values};
use crate::stop::Stop;
use gpucc_ir::ssa::{Imm, Op, Scan, Shuffle, Type};
use naga::ScalarKind;
use rspirv::spirv::Op as Code;

/// The group operation of clusters (SPIR-V 3.29).
const CLUSTERED: u32 = 3;

impl<'p> OfSpirv<'p> {
    /// Operations of a subgroup.
    pub(super) fn group(&mut self, frame: &mut Frame<'p>, inst: &Inst) -> Result<Option<Values>> {
        let program = self.source.program;
        // SPV_KHR_shader_ballot and SPV_KHR_subgroup_vote name no scope.
        let (code, first) = match op(inst) {
            Code::SubgroupFirstInvocationKHR => (Code::GroupNonUniformBroadcastFirst, 2),
            Code::SubgroupReadInvocationKHR => (Code::GroupNonUniformBroadcast, 2),
            Code::SubgroupBallotKHR => (Code::GroupNonUniformBallot, 2),
            Code::SubgroupAllKHR => (Code::GroupNonUniformAll, 2),
            Code::SubgroupAnyKHR => (Code::GroupNonUniformAny, 2),
            Code::SubgroupAllEqualKHR => (Code::GroupNonUniformAllEqual, 2),
            code => (code, 3),
        };
        let values =
            |lower: &mut Self, frame: &mut Frame<'p>, at| lower.values(frame, inst.operand(at));
        let shuffle = match code {
            Code::GroupNonUniformBroadcastFirst => Some((Shuffle::First, None)),
            Code::GroupNonUniformBroadcast | Code::GroupNonUniformShuffle => {
                Some((Shuffle::Lane, Some(first + 1)))
            }
            Code::GroupNonUniformShuffleXor => Some((Shuffle::Xor, Some(4))),
            Code::GroupNonUniformShuffleUp => Some((Shuffle::Up, Some(4))),
            Code::GroupNonUniformShuffleDown => Some((Shuffle::Down, Some(4))),
            Code::GroupNonUniformQuadBroadcast => Some((Shuffle::Quad, Some(4))),
            Code::GroupNonUniformQuadSwap => Some((Shuffle::Xor, Some(4))),
            _ => None,
        };
        if let Some((which, lane)) = shuffle {
            let mut number = match lane {
                Some(at) => Some(self.index(frame, inst.operand(at))?),
                None => None,
            };
            if code == Code::GroupNonUniformQuadSwap {
                // Horizontal, vertical, diagonal: the bits of the lane's number that change.
                let direction = number.and_then(|value| self.func.as_const(value));
                let Some(direction @ 0..=2) = direction else {
                    return Err(Stop::invalid("a swap within a quad has one of three directions"));
                };
                number = Some(self.u32(direction as u32 + 1));
            }
            let mut found = Values::new();
            for value in values(self, frame, first)? {
                let args: Values = [value].into_iter().chain(number).collect();
                found.push(self.one(Op::Shuffle, Imm::Shuffle(which), &args));
            }
            return Ok(Some(found));
        }
        let combine = match code {
            Code::GroupNonUniformElect => {
                // The lowest active lane.
                let lane = self.lane_number();
                let first = self.one(Op::Shuffle, Imm::Shuffle(Shuffle::First), &[lane]);
                return Ok(Some(Values::from_elem(self.op2(Op::IEq, lane, first), 1)));
            }
            Code::GroupNonUniformAll | Code::GroupNonUniformAny => {
                let op = if code == Code::GroupNonUniformAll { Op::And } else { Op::Or };
                let value = self.scalar(frame, inst.operand(first))?;
                if self.ty(value) != Type::B1 {
                    return Err(mismatch());
                }
                let made = self.one(Op::Reduce, Imm::Reduce(Scan::All, op), &[value]);
                return Ok(Some(Values::from_elem(made, 1)));
            }
            Code::GroupNonUniformAllEqual => {
                let mut all = self.bool(true);
                let float = program.shape(program.type_of(inst.operand(first))?)?.0.kind
                    == ScalarKind::Float;
                for value in values(self, frame, first)? {
                    let other = self.one(Op::Shuffle, Imm::Shuffle(Shuffle::First), &[value]);
                    let equal = self.op2(if float { Op::FEq } else { Op::IEq }, value, other);
                    let equal = self.one(Op::Reduce, Imm::Reduce(Scan::All, Op::And), &[equal]);
                    all = self.op2(Op::And, all, equal);
                }
                return Ok(Some(Values::from_elem(all, 1)));
            }
            Code::GroupNonUniformBallot => {
                let truth = self.scalar(frame, inst.operand(first))?;
                if self.ty(truth) != Type::B1 {
                    return Err(mismatch());
                }
                let inst = self.b().inst(Op::Ballot, Imm::None, &[truth], &[], &[Type::B32; 4]);
                return Ok(Some(Values::from_slice(&self.func.insts[inst].results)));
            }
            Code::GroupNonUniformInverseBallot => {
                let lane = self.lane_number();
                let words = self.ballot(frame, inst.operand(3))?;
                return Ok(Some(Values::from_elem(self.lane_bit(&words, lane)?, 1)));
            }
            Code::GroupNonUniformBallotBitExtract => {
                let words = self.ballot(frame, inst.operand(3))?;
                let lane = self.index(frame, inst.operand(4))?;
                return Ok(Some(Values::from_elem(self.lane_bit(&words, lane)?, 1)));
            }
            Code::GroupNonUniformBallotBitCount => {
                let mask = match inst.operand(3) {
                    0 => None,
                    1 => Some(Mask::LessEqual),
                    2 => Some(Mask::Less),
                    _ => return Err(mismatch()),
                };
                let words = self.ballot(frame, inst.operand(4))?;
                return Ok(Some(Values::from_elem(self.ballot_count(&words, mask)?, 1)));
            }
            Code::GroupNonUniformBallotFindLSB | Code::GroupNonUniformBallotFindMSB => {
                let words = self.ballot(frame, inst.operand(3))?;
                let last = code == Code::GroupNonUniformBallotFindMSB;
                return Ok(Some(Values::from_elem(self.ballot_end(&words, last), 1)));
            }
            Code::GroupNonUniformRotateKHR => {
                let by = self.index(frame, inst.operand(4))?;
                let size = match inst.rest(5) {
                    [size] => Some(self.index(frame, *size)?),
                    _ => None,
                };
                let own = values(self, frame, 3)?;
                return Ok(Some(self.rotated(&own, by, size)?));
            }
            Code::GroupNonUniformQuadAllKHR | Code::GroupNonUniformQuadAnyKHR => {
                let op = match code {
                    Code::GroupNonUniformQuadAllKHR => Op::And,
                    _ => Op::Or,
                };
                let value = self.scalar(frame, inst.operand(2))?;
                if self.ty(value) != Type::B1 {
                    return Err(mismatch());
                }
                return Ok(Some(Values::from_elem(self.quad_truth(op, value), 1)));
            }
            Code::GroupNonUniformIAdd | Code::GroupIAddNonUniformAMD => Op::IAdd,
            Code::GroupNonUniformFAdd | Code::GroupFAddNonUniformAMD => Op::FAdd,
            Code::GroupNonUniformIMul => Op::IMul,
            Code::GroupNonUniformFMul => Op::FMul,
            Code::GroupNonUniformSMin | Code::GroupSMinNonUniformAMD => Op::SMin,
            Code::GroupNonUniformUMin | Code::GroupUMinNonUniformAMD => Op::UMin,
            Code::GroupNonUniformFMin | Code::GroupFMinNonUniformAMD => Op::FMin,
            Code::GroupNonUniformSMax | Code::GroupSMaxNonUniformAMD => Op::SMax,
            Code::GroupNonUniformUMax | Code::GroupUMaxNonUniformAMD => Op::UMax,
            Code::GroupNonUniformFMax | Code::GroupFMaxNonUniformAMD => Op::FMax,
            Code::GroupNonUniformBitwiseAnd | Code::GroupNonUniformLogicalAnd => Op::And,
            Code::GroupNonUniformBitwiseOr | Code::GroupNonUniformLogicalOr => Op::Or,
            Code::GroupNonUniformBitwiseXor | Code::GroupNonUniformLogicalXor => Op::Xor,
            _ => return Ok(None),
        };
        let scan = match inst.operand(3) {
            0 => Some(Scan::All),
            1 => Some(Scan::Inclusive),
            2 => Some(Scan::Exclusive),
            CLUSTERED => None,
            _ => return Err(Stop::unsupported("operations of parts of a subgroup", READING)),
        };
        let (scalar, count) = program.shape(program.type_of(inst.operand(4))?)?;
        let bits = matches!(combine, Op::And | Op::Or | Op::Xor);
        let fits = match combine {
            Op::FAdd | Op::FMul | Op::FMin | Op::FMax => Kind::Float.fits(scalar),
            _ if bits => Kind::Int.fits(scalar) || Kind::Bool.fits(scalar),
            _ => Kind::Int.fits(scalar),
        };
        if !fits {
            return Err(mismatch());
        }
        let mut found = Values::with_capacity(count);
        let own = values(self, frame, 4)?;
        let own = match combine {
            Op::SMin | Op::SMax => self.extended_by_sign(scalar, own),
            _ => own,
        };
        let Some(scan) = scan else {
            let size = self.scalar(frame, inst.operand(5))?;
            let size = self.func.as_const(size).filter(|size| size.is_power_of_two());
            let Some(size) = size else {
                let message = "the size of a cluster is a constant power of two (SPIR-V, OpGroupNonUniformIAdd)";
                return Err(Stop::invalid(message));
            };
            let found = self.clustered(combine, &own, size)?;
            return Ok(Some(self.cut(scalar, found)));
        };
        for value in own {
            found.push(self.one(Op::Reduce, Imm::Reduce(scan, combine), &[value]));
        }
        Ok(Some(self.cut(scalar, found)))
    }

    /// The four words of a ballot.
    fn ballot(&mut self, frame: &mut Frame<'p>, id: Id) -> Result<Values> {
        let words = self.values(frame, id)?;
        let whole = words.len() == 4 && words.iter().all(|&word| self.ty(word) == Type::B32);
        if whole { Ok(words) } else { Err(mismatch()) }
    }
}
