//! Switches: a chain of `if` for few cases, a search tree for many, guards for fall-through.

use super::frame::{End, Flow, Frame, Target};
use super::{Lower, Result};
use crate::stop::Stop;
use gpucc_ir::ssa::{Imm, Inst, Op, Type, Value};
use naga::{Block, Expression, Handle, SwitchCase, SwitchValue};

/// Up to this many bodies are a chain of `if`; more are numbered and searched.
const CHAIN: usize = 4;

/// One body with the selector values that lead to it.
struct Arm<'a> {
    values: Vec<u32>,
    is_default: bool,
    body: &'a Block,
    falls_through: bool,
}

impl<'a> Lower<'a> {
    /// A switch statement.
    pub fn switch(
        &mut self,
        frame: &mut Frame<'a>,
        selector: Handle<Expression>,
        cases: &'a [SwitchCase],
        end: End,
    ) -> Result<Flow> {
        // naga lets GLSL switch on a vector.
        let [selector] = self.values(frame, selector)?[..] else {
            return Err(Stop::invalid("`switch` takes one integer"));
        };
        let arms = arms(cases);
        let falls = arms.iter().any(|arm| arm.falls_through);
        let open = self.labelled(|lower, label| {
            frame.breaks.push(Target::Switch(label));
            let mut flow = Flow::Open;
            if falls {
                lower.guarded(frame, selector, &arms, label)?;
            } else {
                let end = End { leaves_switch: true, ..end };
                // The default body is what is left, so it comes last.
                let mut order: Vec<&Arm<'a>> = arms.iter().filter(|arm| !arm.is_default).collect();
                order.extend(arms.iter().filter(|arm| arm.is_default));
                if order.len() <= CHAIN {
                    flow = lower.chain(frame, selector, &order, end)?;
                } else {
                    let number = match run(&mut order) {
                        Some(first) if lower.ty(selector) == Type::B32 => {
                            let first = lower.u32(first);
                            lower.op2(Op::ISub, selector, first)
                        }
                        _ => lower.number(selector, &order),
                    };
                    flow = lower.search(frame, number, &order, 0, end)?;
                }
            }
            frame.breaks.pop();
            Ok(flow == Flow::Open)
        })?;
        // A body that leaves the switch at its end falls out of it without a jump.
        let _ = open;
        Ok(Flow::Open)
    }

    /// True when the selector is one of the arm's values.
    fn matches(&mut self, selector: Value, arm: &Arm<'a>) -> Value {
        let mut any = None;
        for &value in &arm.values {
            let ty = self.ty(selector);
            let value = self.constant(ty, value.into());
            let equal = self.op2(Op::IEq, selector, value);
            any = Some(match any {
                Some(any) => self.op2(Op::Or, any, equal),
                None => equal,
            });
        }
        any.unwrap_or_else(|| self.bool(false))
    }

    fn chain(
        &mut self,
        frame: &mut Frame<'a>,
        selector: Value,
        arms: &[&Arm<'a>],
        end: End,
    ) -> Result<Flow> {
        let Some((&first, rest)) = arms.split_first() else {
            return Ok(Flow::Open);
        };
        if first.is_default {
            return self.block(frame, first.body, end);
        }
        let condition = self.matches(selector, first);
        self.fork(
            condition,
            frame,
            |lower, frame| lower.block(frame, first.body, end),
            |lower, frame| lower.chain(frame, selector, rest, end),
        )
    }

    /// The position of the body that a selector leads to.
    fn number(&mut self, selector: Value, arms: &[&Arm<'a>]) -> Value {
        let mut number = self.u32(arms.len() as u32 - 1);
        let ty = self.ty(selector);
        for (index, arm) in arms.iter().enumerate() {
            if arm.is_default {
                continue;
            }
            for &value in &arm.values {
                let value = self.constant(ty, value.into());
                let equal = self.op2(Op::IEq, selector, value);
                let index = self.u32(index as u32);
                number = self.select(equal, index, number);
            }
        }
        number
    }

    fn search(
        &mut self,
        frame: &mut Frame<'a>,
        number: Value,
        arms: &[&Arm<'a>],
        first: u32,
        end: End,
    ) -> Result<Flow> {
        if let [arm] = arms {
            return self.block(frame, arm.body, end);
        }
        let middle = arms.len() / 2;
        let (low, high) = arms.split_at(middle);
        let bound = first + middle as u32;
        let limit = self.u32(bound);
        let condition = self.op2(Op::ULt, number, limit);
        self.fork(
            condition,
            frame,
            |lower, frame| lower.search(frame, number, low, first, end),
            |lower, frame| lower.search(frame, number, high, bound, end),
        )
    }

    fn fork(
        &mut self,
        condition: Value,
        frame: &mut Frame<'a>,
        then: impl FnOnce(&mut Self, &mut Frame<'a>) -> Result<Flow>,
        otherwise: impl FnOnce(&mut Self, &mut Frame<'a>) -> Result<Flow>,
    ) -> Result<Flow> {
        let span = self.span;
        let mut flows = [Flow::Open; 2];
        let yes = self.nested(|lower| {
            flows[0] = then(lower, frame)?;
            lower.end_open(Op::Yield);
            Ok(())
        })?;
        let no = self.nested(|lower| {
            flows[1] = otherwise(lower, frame)?;
            lower.end_open(Op::Yield);
            Ok(())
        })?;
        self.span = span;
        self.b().inst(Op::If, Imm::None, &[condition], &[yes, no], &[]);
        Ok(match flows {
            [Flow::Dead, Flow::Dead] => Flow::Dead,
            _ => Flow::Open,
        })
    }

    /// Bodies in source order, each under "selected, or fallen into".
    fn guarded(
        &mut self,
        frame: &mut Frame<'a>,
        selector: Value,
        arms: &[Arm<'a>],
        label: Inst,
    ) -> Result<()> {
        let fallen = self.scalar_variable("fallen", Type::B1)?;
        let (no, yes) = (self.bool(false), self.bool(true));
        self.write_scalar(fallen, no);
        for (index, arm) in arms.iter().enumerate() {
            let selected = if arm.is_default {
                let mut other = self.bool(false);
                for arm in arms.iter().filter(|arm| !arm.is_default) {
                    let matches = self.matches(selector, arm);
                    other = self.op2(Op::Or, other, matches);
                }
                self.op1(Op::Not, other)
            } else {
                self.matches(selector, arm)
            };
            let before = self.read_scalar(fallen, Type::B1);
            let condition = self.op2(Op::Or, selected, before);
            let last = index + 1 == arms.len();
            let span = self.span;
            let then = self.nested(|lower| {
                let flow = lower.block(frame, arm.body, End::default())?;
                if flow == Flow::Open && !lower.ended() {
                    if arm.falls_through {
                        lower.write_scalar(fallen, yes);
                    } else if !last {
                        lower.exit(label);
                    }
                }
                lower.end_open(Op::Yield);
                Ok(())
            })?;
            let otherwise = self.nested(|lower| {
                lower.end_open(Op::Yield);
                Ok(())
            })?;
            self.span = span;
            self.b().inst(Op::If, Imm::None, &[condition], &[then, otherwise], &[]);
        }
        Ok(())
    }
}

/// Puts arms of one value each in the order of their values, where these follow one another and a
/// default body takes all others: the selector less the first value, which this gives, is then the
/// arm's position, or lies behind all.
fn run(arms: &mut [&Arm<'_>]) -> Option<u32> {
    let (default, arms) = arms.split_last_mut()?;
    if !default.is_default
        || !default.values.is_empty()
        || arms.iter().any(|arm| arm.values.len() != 1)
    {
        return None;
    }
    arms.sort_by_key(|arm| arm.values[0] as i32);
    let first = arms.first()?.values[0];
    let follows = |(n, arm): (u32, &&Arm<'_>)| arm.values[0] == first.wrapping_add(n);
    (0..).zip(arms.iter()).all(follows).then_some(first)
}

/// Merges empty cases that fall into the next one.
fn arms(cases: &[SwitchCase]) -> Vec<Arm<'_>> {
    let mut arms = Vec::new();
    let (mut values, mut is_default) = (Vec::new(), false);
    for case in cases {
        match case.value {
            SwitchValue::I32(value) => values.push(value as u32),
            SwitchValue::U32(value) => values.push(value),
            SwitchValue::Default => is_default = true,
        }
        if case.fall_through && case.body.is_empty() {
            continue;
        }
        arms.push(Arm {
            values: std::mem::take(&mut values),
            is_default: std::mem::take(&mut is_default),
            body: &case.body,
            falls_through: case.fall_through,
        });
    }
    arms
}
