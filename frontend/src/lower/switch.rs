//! Switches: a chain of `if` for few cases, a search tree for many, guards for fall-through.

use super::frame::{End, Flow, Frame, Target};
use super::{Lower, OfNaga, Result};
use crate::stop::Stop;
use gpucc_ir::ssa::{Imm, Inst, Op, Type, Value};
use naga::{Block, Expression, Handle, SwitchCase, SwitchValue};

/// Up to this many bodies are a chain of `if`; more are numbered and searched.
const CHAIN: usize = 4;

/// One body with the selector values that lead to it.
pub struct Arm<B> {
    /// Bits of the values.
    pub values: Vec<u64>,
    pub is_default: bool,
    pub body: B,
    pub falls_through: bool,
}

/// Lowers a body, whose end leaves the switch where it says so.
type Each<'e, L, B> = &'e mut dyn FnMut(&mut L, &B, bool) -> Result<Flow>;

impl<'a> OfNaga<'a> {
    /// A switch statement.
    pub fn switch(
        &mut self,
        frame: &mut Frame<'a>,
        selector: Handle<Expression>,
        cases: &'a [SwitchCase],
        end: End,
    ) -> Result<Flow> {
        // A selector is one scalar.
        let [selector] = self.values(frame, selector)?[..] else {
            return Err(Stop::invalid("`switch` takes one integer"));
        };
        let arms = arms(cases);
        self.labelled(|lower, label| {
            frame.breaks.push(Target::Switch(label));
            let flow = lower.arms(selector, &arms, label, &mut |lower, body, leaves| {
                let end = match leaves {
                    true => End { leaves_switch: true, ..end },
                    false => End::default(),
                };
                lower.block(frame, body, end)
            })?;
            frame.breaks.pop();
            Ok(flow == Flow::Open)
        })?;
        // A body that leaves the switch at its end falls out of it without a jump.
        Ok(Flow::Open)
    }
}

impl<S> Lower<'_, S> {
    /// The body that a selector leads to. A body may exit `label`, the block around all.
    pub fn arms<B>(
        &mut self,
        selector: Value,
        arms: &[Arm<B>],
        label: Inst,
        each: Each<'_, Self, B>,
    ) -> Result<Flow> {
        if arms.iter().any(|arm| arm.falls_through) {
            self.guarded(selector, arms, label, each)?;
            return Ok(Flow::Open);
        }
        // The default body is what is left, so it comes last.
        let mut order: Vec<&Arm<B>> = arms.iter().filter(|arm| !arm.is_default).collect();
        order.extend(arms.iter().filter(|arm| arm.is_default));
        if order.len() <= CHAIN {
            return self.chain(selector, &order, each);
        }
        let number = match run(&mut order) {
            Some(first) if self.ty(selector) == Type::B32 => {
                let first = self.u32(first);
                self.op2(Op::ISub, selector, first)
            }
            _ => self.number(selector, &order),
        };
        self.search(number, &order, 0, each)
    }

    /// True when the selector is one of the arm's values.
    fn matches<B>(&mut self, selector: Value, arm: &Arm<B>) -> Value {
        let mut any = None;
        for &value in &arm.values {
            let ty = self.ty(selector);
            let value = self.constant(ty, value);
            let equal = self.op2(Op::IEq, selector, value);
            any = Some(match any {
                Some(any) => self.op2(Op::Or, any, equal),
                None => equal,
            });
        }
        any.unwrap_or_else(|| self.bool(false))
    }

    fn chain<B>(
        &mut self,
        selector: Value,
        arms: &[&Arm<B>],
        each: Each<'_, Self, B>,
    ) -> Result<Flow> {
        let Some((&first, rest)) = arms.split_first() else {
            return Ok(Flow::Open);
        };
        if first.is_default {
            return each(self, &first.body, true);
        }
        let condition = self.matches(selector, first);
        self.fork(condition, &mut |lower, is_first| match is_first {
            true => each(lower, &first.body, true),
            false => lower.chain(selector, rest, each),
        })
    }

    /// The position of the body that a selector leads to.
    fn number<B>(&mut self, selector: Value, arms: &[&Arm<B>]) -> Value {
        let mut number = self.u32(arms.len() as u32 - 1);
        let ty = self.ty(selector);
        for (index, arm) in arms.iter().enumerate() {
            if arm.is_default {
                continue;
            }
            for &value in &arm.values {
                let value = self.constant(ty, value);
                let equal = self.op2(Op::IEq, selector, value);
                let index = self.u32(index as u32);
                number = self.select(equal, index, number);
            }
        }
        number
    }

    fn search<B>(
        &mut self,
        number: Value,
        arms: &[&Arm<B>],
        first: u32,
        each: Each<'_, Self, B>,
    ) -> Result<Flow> {
        if let [arm] = arms {
            return each(self, &arm.body, true);
        }
        let middle = arms.len() / 2;
        let (low, high) = arms.split_at(middle);
        let bound = first + middle as u32;
        let limit = self.u32(bound);
        let condition = self.op2(Op::ULt, number, limit);
        self.fork(condition, &mut |lower, below| match below {
            true => lower.search(number, low, first, each),
            false => lower.search(number, high, bound, each),
        })
    }

    /// An `if` whose arms `arm` fills: first the one where the condition holds.
    pub fn fork(
        &mut self,
        condition: Value,
        arm: &mut dyn FnMut(&mut Self, bool) -> Result<Flow>,
    ) -> Result<Flow> {
        let span = self.span;
        let mut flow = Flow::Dead;
        let mut arm = |lower: &mut Self, holds| {
            lower.nested(|lower| {
                if arm(lower, holds)? == Flow::Open {
                    flow = Flow::Open;
                }
                lower.end_open(Op::Yield);
                Ok(())
            })
        };
        let (yes, no) = (arm(self, true)?, arm(self, false)?);
        self.span = span;
        self.b().inst(Op::If, Imm::None, &[condition], &[yes, no], &[]);
        Ok(flow)
    }

    /// Bodies in source order, each under "selected, or fallen into".
    fn guarded<B>(
        &mut self,
        selector: Value,
        arms: &[Arm<B>],
        label: Inst,
        each: Each<'_, Self, B>,
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
                let flow = each(lower, &arm.body, false)?;
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
fn run<B>(arms: &mut [&Arm<B>]) -> Option<u32> {
    let (default, arms) = arms.split_last_mut()?;
    if !default.is_default
        || !default.values.is_empty()
        || arms.iter().any(|arm| arm.values.len() != 1)
    {
        return None;
    }
    arms.sort_by_key(|arm| arm.values[0] as i32);
    let first = arms.first()?.values[0] as u32;
    let follows = |(n, arm): (u32, &&Arm<B>)| arm.values[0] as u32 == first.wrapping_add(n);
    (0..).zip(arms.iter()).all(follows).then_some(first)
}

/// Merges empty cases that fall into the next one.
fn arms(cases: &[SwitchCase]) -> Vec<Arm<&Block>> {
    let mut arms = Vec::new();
    let (mut values, mut is_default) = (Vec::new(), false);
    for case in cases {
        match case.value {
            SwitchValue::I32(value) => values.push(u64::from(value as u32)),
            SwitchValue::U32(value) => values.push(value.into()),
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
