//! Loops among the guards, and blocks that become loops of one trip.

use super::write::{push_if, push_op, terminator};
use super::{Code, Ending, Guards, Outcome, Target};
use gpucc_ir::ssa::{Func, Imm, Inst, Op, Type, Value};
use smallvec::SmallVec;

impl Guards {
    /// A loop, or a block that becomes a loop of one trip.
    pub(super) fn repeat(&mut self, func: &mut Func, inst: Inst, out: &mut Vec<Inst>) -> Ending {
        let falls = self.shape.terminators(inst).any(|term| {
            matches!(func.insts[term].op, Op::Break | Op::BreakIf | Op::Exit | Op::Yield)
        });
        self.base[inst] = func.insts[inst].results.len();
        for index in 0..self.crossing[inst].len() {
            let target = self.crossing[inst][index];
            let types = self.payload_types(func, target);
            func.add_result(inst, Type::B1);
            for ty in types {
                func.add_result(inst, ty);
            }
        }
        if func.insts[inst].op == Op::Block {
            let continuing = func.new_region();
            let next = terminator(func, Op::Next, Imm::None, &[]);
            func.regions[continuing].insts.push(next);
            func.insts[inst].op = Op::Loop;
            func.insts[inst].regions.push(continuing);
        }
        let (body, continuing) = (func.insts[inst].regions[0], func.insts[inst].regions[1]);
        self.loops.push(inst);
        let insts = std::mem::take(&mut func.regions[body].insts);
        let mut trip = Vec::with_capacity(insts.len());
        let ending = self.seq(func, Code::of(&insts), &mut trip);
        let tail = std::mem::take(&mut func.regions[continuing].insts);
        match &ending[..] {
            [comes_round] => {
                let params = std::mem::take(&mut func.regions[continuing].params);
                for (&param, &value) in params.iter().zip(&comes_round.values) {
                    self.renames.set(param, value);
                }
                let ending = self.seq(func, Code::of(&tail), &mut trip);
                if let [end] = &ending[..] {
                    self.come_round(func, inst, end, &mut trip);
                } else {
                    // Nothing leaves a `continuing` but its end: this one runs for ever.
                    self.never_round(func, inst);
                }
            }
            _ if !self.keep_continue => {
                self.never_round(func, inst);
            }
            _ => {
                let mut piece = Vec::with_capacity(tail.len());
                let ending = self.seq(func, Code::of(&tail), &mut piece);
                if let [end] = &ending[..] {
                    let (op, args) = match end.target {
                        Target::BreakIf => (Op::BreakIf, self.break_if_args(func, inst, end)),
                        _ => (Op::Next, end.values.iter().copied().collect()),
                    };
                    let end = terminator(func, op, Imm::None, &args);
                    piece.push(end);
                }
                func.regions[continuing].insts = piece;
            }
        }
        func.regions[body].insts = trip;
        self.loops.pop();
        out.push(inst);
        self.left(func, inst, falls, out)
    }

    /// Ends a trip at whose end the next one follows, and makes `continuing` hand on what it is given.
    fn come_round(&mut self, func: &mut Func, inst: Inst, end: &Outcome, trip: &mut Vec<Inst>) {
        let continuing = func.insts[inst].regions[1];
        let next = self.finish_trip(func, inst, end, trip);
        let end = terminator(func, Op::Continue, Imm::None, &next);
        trip.push(end);
        let params: SmallVec<[Value; 4]> = next
            .iter()
            .map(|&value| {
                let ty = func.ty(value);
                func.add_param(continuing, ty)
            })
            .collect();
        let end = terminator(func, Op::Next, Imm::None, &params);
        func.regions[continuing].insts = vec![end];
    }

    /// Makes a `continuing` that is never reached: nothing of it is worth keeping.
    fn never_round(&mut self, func: &mut Func, inst: Inst) {
        let (body, continuing) = (func.insts[inst].regions[0], func.insts[inst].regions[1]);
        let params = func.regions[body].params.clone();
        let types: SmallVec<[Type; 4]> = params.iter().map(|&value| func.ty(value)).collect();
        let zeros: SmallVec<[Value; 4]> = types.into_iter().map(|ty| self.zero(func, ty)).collect();
        let end = terminator(func, Op::Next, Imm::None, &zeros);
        func.regions[continuing].insts = vec![end];
    }

    /// Ends one trip: what `break_if` decides becomes an `if`. Gives the next trip's parameters.
    fn finish_trip(
        &mut self,
        func: &mut Func,
        inst: Inst,
        end: &Outcome,
        trip: &mut Vec<Inst>,
    ) -> SmallVec<[Value; 8]> {
        if end.target != Target::BreakIf {
            return end.values.iter().copied().collect();
        }
        let base = self.base[inst];
        let args = self.break_args(func, inst, &end.values[1..1 + base], None);
        let stop = terminator(func, Op::Break, Imm::None, &args);
        let go_on = terminator(func, Op::Yield, Imm::None, &[]);
        push_if(func, end.values[0], vec![stop], vec![go_on], trip);
        end.values[1 + base..].iter().copied().collect()
    }

    fn break_if_args(
        &mut self,
        func: &mut Func,
        inst: Inst,
        end: &Outcome,
    ) -> SmallVec<[Value; 8]> {
        let base = self.base[inst];
        let mut args: SmallVec<[Value; 8]> = SmallVec::from_slice(&end.values[..1]);
        args.extend(self.break_args(func, inst, &end.values[1..1 + base], None));
        args.extend(end.values[1 + base..].iter().copied());
        args
    }

    /// Where control goes when a loop has ended: on, or to where somebody left for.
    fn left(&mut self, func: &mut Func, inst: Inst, falls: bool, out: &mut Vec<Inst>) -> Ending {
        let results: SmallVec<[Value; 8]> = func.insts[inst].results.iter().copied().collect();
        let span = func.insts[inst].span;
        let base = self.base[inst];
        let crossings = self.crossing[inst].clone();
        let mut ending = Ending::new();
        let mut at = base;
        for (index, &target) in crossings.iter().enumerate() {
            let flag = results[at];
            let len = self.payload_types(func, target).len();
            let values: SmallVec<[Value; 4]> =
                results[at + 1..at + 1 + len].iter().copied().collect();
            at += 1 + len;
            let only = !falls && ending.is_empty() && index + 1 == crossings.len();
            if only {
                return self.leave(func, target, values, span, out);
            }
            let mut arm = Vec::new();
            let mut way = self.leave(func, target, values, span, &mut arm);
            match way.pop() {
                None => {
                    let go_on = terminator(func, Op::Yield, Imm::None, &[]);
                    push_if(func, flag, arm, vec![go_on], out);
                }
                Some(outcome) => ending.push(Outcome { flag: Some(flag), ..outcome }),
            }
        }
        if falls {
            let mut own = Outcome {
                target: Target::Break(inst),
                flag: None,
                values: results[..base].iter().copied().collect(),
            };
            let mut any: Option<Value> = None;
            for flag in ending.iter().filter_map(|outcome| outcome.flag) {
                any = Some(match any {
                    None => flag,
                    Some(other) => push_op(func, Op::Or, &[other, flag], out),
                });
            }
            own.flag = any.map(|any| push_op(func, Op::Not, &[any], out));
            ending.push(own);
        } else if let [only] = &mut ending[..] {
            only.flag = None;
        }
        ending
    }
}
