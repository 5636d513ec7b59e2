//! Ballots, and what is made of them: bits of lanes, counts, clusters, turns. GLSL's and SPIR-V's alike.

use super::{Lower, Result, Values};
use gpucc_ir::ssa::{Builtin, Imm, Op, Shuffle, Type, Value};

/// Lanes of a subgroup that a ballot has bits for.
const MOST_LANES: u64 = 128;

/// Lanes whose numbers compare so with the own one.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Mask {
    Equal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl<S> Lower<'_, S> {
    /// The number of the lane in its subgroup.
    pub fn lane_number(&mut self) -> Value {
        self.group_input(Builtin::SubgroupInvocationId, 0)
    }

    /// Lanes of the subgroup.
    pub fn subgroup_size(&mut self) -> Value {
        self.group_input(Builtin::SubgroupSize, 0)
    }

    /// Values of other lanes.
    pub fn moved(&mut self, which: Shuffle, values: &Values, lane: Option<Value>) -> Values {
        let mut found = Values::new();
        for &value in values {
            let args: Values = [value].into_iter().chain(lane).collect();
            found.push(self.one(Op::Shuffle, Imm::Shuffle(which), &args));
        }
        found
    }

    /// Values of the lane that is `by` further in the subgroup or in a part of it of `size` lanes.
    pub fn rotated(&mut self, values: &Values, by: Value, size: Option<Value>) -> Result<Values> {
        let own = self.lane_number();
        let size = match size {
            Some(size) => size,
            None => self.subgroup_size(),
        };
        let sum = self.op2(Op::IAdd, own, by);
        let ones = self.u32(1);
        let mask = self.op2(Op::ISub, size, ones);
        let within = self.op2(Op::And, sum, mask);
        let others = self.op1(Op::Not, mask);
        let first = self.op2(Op::And, own, others);
        let lane = self.op2(Op::Or, first, within);
        Ok(self.moved(Shuffle::Lane, values, Some(lane)))
    }

    /// Whether it holds in all lanes, or in any lane, of the quad.
    pub fn quad_truth(&mut self, op: Op, value: Value) -> Value {
        let mut value = value;
        for by in [1, 2] {
            let lane = self.u32(by);
            let other = self.one(Op::Shuffle, Imm::Shuffle(Shuffle::Xor), &[value, lane]);
            value = self.op2(op, value, other);
        }
        value
    }

    /// What the active lanes of a cluster of `size` lanes, a power of two, make together, lane after lane.
    pub fn clustered(&mut self, op: Op, values: &Values, size: u64) -> Result<Values> {
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
            let own = self.moved(Shuffle::Lane, values, Some(lane));
            let here = self.lane_bit(&active, lane)?;
            found = Some(match found {
                None => own,
                Some(before) => {
                    let both = self.map(op, &[&before, &own])?;
                    self.lanes(both.len(), |lower, at| {
                        let more = lower.select(any, both[at], own[at]);
                        Ok(lower.select(here, more, before[at]))
                    })?
                }
            });
            any = self.op2(Op::Or, any, here);
        }
        Ok(found.unwrap_or_default())
    }

    /// Bits of a ballot that are set, of all lanes or of those that a mask has.
    pub fn ballot_count(&mut self, words: &Values, mask: Option<Mask>) -> Result<Value> {
        let mut words = words.clone();
        if let Some(mask) = mask {
            let mask = self.lane_mask(mask)?;
            words = self.map(Op::And, &[&words, &mask])?;
        }
        let counts = self.map(Op::PopCount, &[&words])?;
        let mut sum = counts[0];
        for &count in &counts[1..] {
            sum = self.op2(Op::IAdd, sum, count);
        }
        Ok(sum)
    }

    /// The first or the last lane of a ballot.
    pub fn ballot_end(&mut self, words: &Values, last: bool) -> Value {
        let (op, order) = match last {
            false => (Op::Lsb, [3, 2, 1, 0]),
            true => (Op::UMsb, [0, 1, 2, 3]),
        };
        let zero = self.u32(0);
        let mut found = self.u32(u32::MAX);
        // The word that decides comes last.
        for word in order {
            let own = self.op1(op, words[word]);
            let first = self.u32(32 * word as u32);
            let number = self.op2(Op::IAdd, own, first);
            let some = self.op2(Op::INe, words[word], zero);
            found = self.select(some, number, found);
        }
        found
    }

    /// Whether a bit of 128 is set.
    pub fn lane_bit(&mut self, words: &Values, number: Value) -> Result<Value> {
        let (five, low) = (self.u32(5), self.u32(31));
        let word = self.op2(Op::LShr, number, five);
        let word = self.choose(words, word, 4)?[0];
        let by = self.op2(Op::And, number, low);
        let shifted = self.op2(Op::LShr, word, by);
        let one = self.u32(1);
        let bit = self.op2(Op::And, shifted, one);
        Ok(self.truth(bit))
    }

    /// A bit for each active lane where it holds.
    pub fn ballot_words(&mut self, truth: Value) -> Values {
        let inst = self.b().inst(Op::Ballot, Imm::None, &[truth], &[], &[Type::B32; 4]);
        Values::from_slice(&self.func.insts[inst].results)
    }

    /// A bit for each lane of the subgroup whose number compares so with the own one.
    pub fn lane_mask(&mut self, mask: Mask) -> Result<Values> {
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
