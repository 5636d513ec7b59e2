//! Lowering of functions of subgroups.

use super::lower::OfGlsl;
use super::tree::Expr;
use super::variables::Mask;
use crate::lower::{Result, Values};
use crate::stop::Stop;
use gpucc_ir::ssa::{Imm, Op, Scan, Shuffle, Type, Value};
use naga::{Scalar, ScalarKind};

/// Lanes of a subgroup that a ballot has bits for.
const MOST_LANES: u64 = 128;

/// What lanes of a subgroup make together.
fn reduction(name: &str, kind: ScalarKind) -> Option<(Scan, Op)> {
    let name = name.strip_prefix("subgroup")?;
    let (scan, rest) = if let Some(rest) = name.strip_prefix("Inclusive") {
        (Scan::Inclusive, rest)
    } else if let Some(rest) = name.strip_prefix("Exclusive") {
        (Scan::Exclusive, rest)
    } else {
        (Scan::All, name)
    };
    let (float, signed) = (kind == ScalarKind::Float, kind == ScalarKind::Sint);
    let op = match rest {
        "All" | "And" => Op::And,
        "Any" | "Or" => Op::Or,
        "Xor" => Op::Xor,
        "Add" if float => Op::FAdd,
        "Add" => Op::IAdd,
        "Mul" if float => Op::FMul,
        "Mul" => Op::IMul,
        "Min" if float => Op::FMin,
        "Min" if signed => Op::SMin,
        "Min" => Op::UMin,
        "Max" if float => Op::FMax,
        "Max" if signed => Op::SMax,
        "Max" => Op::UMax,
        _ => return None,
    };
    Some((scan, op))
}

/// Which lane's value a function gives, and the lane's number where it is a constant.
fn movement(name: &str) -> Option<(Shuffle, Option<u32>)> {
    Some(match name {
        "subgroupBroadcastFirst" | "readFirstInvocationARB" => (Shuffle::First, None),
        "subgroupBroadcast" | "subgroupShuffle" | "readInvocationARB" => (Shuffle::Lane, None),
        "subgroupShuffleXor" => (Shuffle::Xor, None),
        "subgroupShuffleUp" => (Shuffle::Up, None),
        "subgroupShuffleDown" => (Shuffle::Down, None),
        "subgroupQuadBroadcast" => (Shuffle::Quad, None),
        "subgroupQuadSwapHorizontal" => (Shuffle::Xor, Some(1)),
        "subgroupQuadSwapVertical" => (Shuffle::Xor, Some(2)),
        "subgroupQuadSwapDiagonal" => (Shuffle::Xor, Some(3)),
        _ => return None,
    })
}

impl<'p> OfGlsl<'p> {
    /// Functions of subgroups.
    pub(super) fn group(
        &mut self,
        name: &str,
        arguments: &'p [Expr],
        args: Vec<Values>,
    ) -> Result<Values> {
        let one = |value| Values::from_elem(value, 1);
        let scalar = arguments.first().and_then(|first| first.ty.scalar()).unwrap_or(Scalar::U32);
        if let Some((which, constant)) = movement(name) {
            let lane = match (constant, args.get(1)) {
                (Some(constant), _) => Some(self.u32(constant)),
                (None, lane) => lane.map(|lane| lane[0]),
            };
            return self.moved(which, &args[0], lane);
        }
        let truth =
            |lower: &mut Self, op| one(lower.one(Op::Reduce, Imm::Reduce(Scan::All, op), &args[0]));
        match name {
            "subgroupAll" | "allInvocationsARB" | "allInvocations" => {
                return Ok(truth(self, Op::And));
            }
            "subgroupAny" | "anyInvocationARB" | "anyInvocation" => return Ok(truth(self, Op::Or)),
            _ => {}
        }
        if let Some((scan, op)) = reduction(name, scalar.kind) {
            let mut found = Values::new();
            for &value in &args[0] {
                found.push(self.one(Op::Reduce, Imm::Reduce(scan, op), &[value]));
            }
            return Ok(found);
        }
        Ok(match name {
            "subgroupBarrier" => {
                self.b().inst(Op::SubgroupBarrier, Imm::None, &[], &[], &[]);
                Values::new()
            }
            _ if name.starts_with("subgroupMemoryBarrier") => Values::new(),
            "subgroupElect" => {
                // The lowest active lane.
                let lane = self.lane_number();
                let first = self.one(Op::Shuffle, Imm::Shuffle(Shuffle::First), &[lane]);
                one(self.op2(Op::IEq, lane, first))
            }
            "subgroupAllEqual" | "allInvocationsEqualARB" | "allInvocationsEqual" => {
                let float = scalar.kind == ScalarKind::Float;
                let mut all = self.bool(true);
                for &value in &args[0] {
                    let first = self.one(Op::Shuffle, Imm::Shuffle(Shuffle::First), &[value]);
                    let equal = self.op2(if float { Op::FEq } else { Op::IEq }, value, first);
                    let equal = self.one(Op::Reduce, Imm::Reduce(Scan::All, Op::And), &[equal]);
                    all = self.op2(Op::And, all, equal);
                }
                one(all)
            }
            "subgroupBallot" => self.ballot_words(args[0][0]),
            "ballotARB" => {
                let words = self.ballot_words(args[0][0]);
                one(self.op2(Op::Join64, words[0], words[1]))
            }
            "subgroupQuadAll" | "subgroupQuadAny" => {
                let op = if name == "subgroupQuadAll" { Op::And } else { Op::Or };
                let mut value = args[0][0];
                for by in [1, 2] {
                    let lane = self.u32(by);
                    let other = self.one(Op::Shuffle, Imm::Shuffle(Shuffle::Xor), &[value, lane]);
                    value = self.op2(op, value, other);
                }
                one(value)
            }
            "subgroupRotate" | "subgroupClusteredRotate" => {
                let own = self.lane_number();
                let size = match args.get(2) {
                    Some(size) => size[0],
                    None => self.subgroup_size(),
                };
                let sum = self.op2(Op::IAdd, own, args[1][0]);
                let ones = self.u32(1);
                let mask = self.op2(Op::ISub, size, ones);
                let within = self.op2(Op::And, sum, mask);
                let others = self.op1(Op::Not, mask);
                let first = self.op2(Op::And, own, others);
                let lane = self.op2(Op::Or, first, within);
                return self.moved(Shuffle::Lane, &args[0], Some(lane));
            }
            _ if name.starts_with("subgroupClustered") => {
                return self.clustered(name, scalar, &args);
            }
            "subgroupInverseBallot" => {
                let lane = self.lane_number();
                one(self.bit(&args[0], lane)?)
            }
            "subgroupBallotBitExtract" => one(self.bit(&args[0], args[1][0])?),
            "subgroupBallotBitCount"
            | "subgroupBallotInclusiveBitCount"
            | "subgroupBallotExclusiveBitCount" => {
                let mut words = args[0].clone();
                let mask = match name {
                    "subgroupBallotInclusiveBitCount" => Some(Mask::LessEqual),
                    "subgroupBallotExclusiveBitCount" => Some(Mask::Less),
                    _ => None,
                };
                if let Some(mask) = mask {
                    let mask = self.mask(mask)?;
                    words = self.map(Op::And, &[&words, &mask])?;
                }
                let counts = self.map(Op::PopCount, &[&words])?;
                let mut sum = counts[0];
                for &count in &counts[1..] {
                    sum = self.op2(Op::IAdd, sum, count);
                }
                one(sum)
            }
            "subgroupBallotFindLSB" | "subgroupBallotFindMSB" => {
                let (op, order) = match name {
                    "subgroupBallotFindLSB" => (Op::Lsb, [3, 2, 1, 0]),
                    _ => (Op::UMsb, [0, 1, 2, 3]),
                };
                let zero = self.u32(0);
                let mut found = self.u32(u32::MAX);
                // The word that decides comes last.
                for word in order {
                    let own = self.op1(op, args[0][word]);
                    let first = self.u32(32 * word as u32);
                    let number = self.op2(Op::IAdd, own, first);
                    let some = self.op2(Op::INe, args[0][word], zero);
                    found = self.select(some, number, found);
                }
                one(found)
            }
            _ => return Err(Stop::internal(format!("the function {name} is not lowered"))),
        })
    }

    /// Values of other lanes.
    fn moved(&mut self, which: Shuffle, values: &Values, lane: Option<Value>) -> Result<Values> {
        let mut found = Values::new();
        for &value in values {
            let args: Values = [value].into_iter().chain(lane).collect();
            found.push(self.one(Op::Shuffle, Imm::Shuffle(which), &args));
        }
        Ok(found)
    }

    /// What the active lanes of a cluster make together, lane after lane.
    fn clustered(&mut self, name: &str, scalar: Scalar, args: &[Values]) -> Result<Values> {
        let plain = name.replacen("Clustered", "", 1);
        let Some((_, op)) = reduction(&plain, scalar.kind) else {
            return Err(Stop::internal(format!("the function {name} is not lowered")));
        };
        let size = self.func.as_const(args[1][0]);
        let Some(size) = size.filter(|size| size.is_power_of_two()) else {
            return Err(Stop::invalid(
                "the size of a cluster is a constant power of two (GL_KHR_shader_subgroup)",
            ));
        };
        let size = size.min(MOST_LANES) as u32;
        let own = self.lane_number();
        let others = self.u32(!(size - 1));
        let first = self.op2(Op::And, own, others);
        let yes = self.bool(true);
        let active = self.ballot_words(yes);
        let mut found: Option<Values> = None;
        let mut any = self.bool(false);
        for number in 0..size {
            let by = self.u32(number);
            let lane = self.op2(Op::Or, first, by);
            let values = self.moved(Shuffle::Lane, &args[0], Some(lane))?;
            let here = self.bit(&active, lane)?;
            found = Some(match found {
                None => values,
                Some(before) => {
                    let both = self.map(op, &[&before, &values])?;
                    self.lanes(both.len(), |lower, at| {
                        let more = lower.select(any, both[at], values[at]);
                        Ok(lower.select(here, more, before[at]))
                    })?
                }
            });
            any = self.op2(Op::Or, any, here);
        }
        Ok(found.unwrap_or_default())
    }

    fn ballot_words(&mut self, truth: Value) -> Values {
        let inst = self.b().inst(Op::Ballot, Imm::None, &[truth], &[], &[Type::B32; 4]);
        Values::from_slice(&self.func.insts[inst].results)
    }

    /// Whether a bit of 128 is set.
    fn bit(&mut self, words: &Values, number: Value) -> Result<Value> {
        let (five, low) = (self.u32(5), self.u32(31));
        let word = self.op2(Op::LShr, number, five);
        let word = self.choose(words, word, 4)?[0];
        let by = self.op2(Op::And, number, low);
        let shifted = self.op2(Op::LShr, word, by);
        let one = self.u32(1);
        let bit = self.op2(Op::And, shifted, one);
        Ok(self.truth(bit))
    }

    /// A bit for each lane of the subgroup whose number compares so with the own one.
    pub(super) fn mask(&mut self, mask: Mask) -> Result<Values> {
        let lane = self.lane_number();
        let (five, low, zero, one, full) =
            (self.u32(5), self.u32(31), self.u32(0), self.u32(1), self.u32(u32::MAX));
        let own_word = self.op2(Op::LShr, lane, five);
        let by = self.op2(Op::And, lane, low);
        let own_bit = self.op2(Op::Shl, one, by);
        let below = self.op2(Op::ISub, own_bit, one);
        let mut words = Values::new();
        for number in 0..4 {
            let number = self.u32(number);
            let here = self.op2(Op::IEq, own_word, number);
            let equal = self.select(here, own_bit, zero);
            let under = self.select(here, below, zero);
            let earlier = self.op2(Op::ULt, number, own_word);
            let less = self.select(earlier, full, under);
            let up_to = self.op2(Op::Or, less, equal);
            let word = match mask {
                Mask::Equal => equal,
                Mask::Less => less,
                Mask::LessEqual => up_to,
                Mask::Greater | Mask::GreaterEqual => {
                    let lower = if mask == Mask::Greater { up_to } else { less };
                    let above = self.op1(Op::Not, lower);
                    let size = self.subgroup_size();
                    let size_word = self.op2(Op::LShr, size, five);
                    let rest = self.op2(Op::And, size, low);
                    let end = self.op2(Op::Shl, one, rest);
                    let part = self.op2(Op::ISub, end, one);
                    let last = self.op2(Op::IEq, size_word, number);
                    let partial = self.select(last, part, zero);
                    let whole = self.op2(Op::ULt, number, size_word);
                    let there = self.select(whole, full, partial);
                    self.op2(Op::And, above, there)
                }
            };
            words.push(word);
        }
        Ok(words)
    }
}
