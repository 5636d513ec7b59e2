//! The execution mask's counters, and branches. 2.7.

use super::inst::{Condition, Conditional, Control, Deciding, Group, When};
use super::machine::{Fetched, Machine};
use super::register::{Lanes, each};
use super::rule::{Refused, Rule};
use super::task::Task;

impl Machine<'_> {
    /// A mask operation: every instance's counter, and the execution bit that follows from it.
    pub(super) fn conditional(
        &mut self,
        task: &mut Task,
        fetched: &Fetched,
        (op, when): (Conditional, When),
        adjust: u32,
    ) -> Result<(), Refused> {
        let group = &fetched.group;
        let mut counters = [0u32; 32];
        let mut levels = [0u32; 32];
        for lane in each(task.valid) {
            let slot = self.slot(task, group.sources[0], lane, 0)?;
            counters[lane] = self.read(task, slot, lane)?;
        }
        let running = each(task.valid).filter(|lane| counters[*lane] == 0);
        let running = running.fold(0, |lanes, lane| lanes | 1 << lane);
        let asked = matches!(op, Conditional::Start | Conditional::Set | Conditional::Loop);
        // An else asks those whose counter it may clear.
        let waiting = each(task.valid).filter(|lane| counters[*lane] == adjust);
        let waiting = waiting.fold(0, |lanes, lane| lanes | 1 << lane);
        let asking = match op {
            Conditional::Else => waiting & !running,
            _ if asked => running,
            _ => 0,
        };
        let holds = match when {
            When::Always => asking,
            When::Never => 0,
            When::IfTrue => asking & self.predicate(task, asking)?,
            When::IfFalse => asking & !self.predicate(task, asking)?,
        };
        if op == Conditional::Set {
            for lane in each(holds) {
                let slot = self.slot(task, group.sources[2], lane, 0)?;
                levels[lane] = self.read(task, slot, lane)?;
            }
        }
        let again = op == Conditional::Loop && holds != 0;
        for lane in each(task.valid) {
            let counter = &mut counters[lane];
            let held = holds >> lane & 1 == 1;
            let runs = running >> lane & 1 == 1;
            match op {
                Conditional::Start if !runs => *counter = counter.wrapping_add(adjust),
                Conditional::Start => *counter = if held { 0 } else { adjust },
                Conditional::Else if runs => *counter = adjust,
                Conditional::Else if held => *counter = 0,
                Conditional::Else => {}
                Conditional::Set if held => *counter = levels[lane],
                Conditional::Set => {}
                Conditional::End => *counter = counter.saturating_sub(adjust),
                Conditional::Loop if again => {
                    if runs && !held {
                        *counter = adjust;
                    }
                }
                Conditional::Loop => *counter = counter.saturating_sub(adjust),
                Conditional::SetLinkA | Conditional::SetLinkB | Conditional::LoopLink => {
                    return Err((Rule::Undocumented, format!("{op:?}")));
                }
            }
        }
        for lane in each(task.valid) {
            if op == Conditional::Loop {
                self.set_predicate(task, lane, again)?;
            }
            let bit = 1 << lane;
            task.executing = task.executing & !bit | u32::from(counters[lane] == 0) << lane;
            if let Some(register) = group.writes[0] {
                let slot = self.slot(task, register, lane, 0)?;
                self.write(task, slot, lane, counters[lane])?;
            }
        }
        Ok(())
    }

    /// A branch. With `.allinst` it is taken when no instance executes it: that is what the documents' patterns need, who
    /// skip the arm of an `if` by it. What it means beside a condition, and `.anyinst`, no document says.
    pub(super) fn branch(
        &mut self,
        task: &mut Task,
        group: &Group,
        op: &Control,
        lanes: Lanes,
        pc: u32,
    ) -> Result<(), Refused> {
        let Control::Branch { link, deciding, absolute, offset } = *op else { return Ok(()) };
        let next = task.pc;
        let target = if absolute { offset as u32 } else { pc.wrapping_add_signed(offset) };
        let candidates = match group.condition {
            Condition::Always => task.valid,
            _ => task.valid & task.executing,
        };
        let taken = match deciding {
            Deciding::Condition => {
                if lanes != 0 && lanes != candidates && target != next {
                    let what = format!("{lanes:#x} of {candidates:#x} take it");
                    return Err((Rule::BranchDiffers, what));
                }
                lanes != 0
            }
            Deciding::All if group.condition == Condition::Executing => lanes == 0,
            Deciding::All | Deciding::Any => {
                let what = format!("{deciding:?} instances of {:?}", group.condition);
                return Err((Rule::Undocumented, what));
            }
        };
        if taken {
            if link {
                task.link = Some(next);
            }
            task.pc = target;
        }
        Ok(())
    }
}
