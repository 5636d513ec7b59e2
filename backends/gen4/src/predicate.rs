//! Short arms without branches, behind allocation: their words are predicated by the flag that the branch would ask. `if`, `else`
//! and `endif` flush the instruction queue and switch threads, so that predication is faster for eight to ten instructions
//! an arm (isa/gen4.md 6).

use crate::inst::{Inst, Test, is_line};
use gpucc_ir::mach::{Block, Func, Node};

/// Words of an arm.
const MOST: usize = 8;

/// A step by the number of its block in the layout, and its number there.
type At = (usize, usize);

/// Takes short branches out.
pub fn predicate(func: &mut Func<Inst>) {
    let layout = func.layout.clone();
    let mut arms = Arms { func, layout: &layout, open: Vec::new(), depth: 0 };
    for block in 0..layout.len() {
        for number in 0..arms.nodes(block).len() {
            arms.step((block, number));
        }
    }
    for &block in &layout {
        func.blocks[block].nodes.retain(|node| !is_idle(&node.inst));
    }
    whiles(func);
}

/// It changes nothing: a comparison takes the place of the branch behind it.
fn is_idle(inst: &Inst) -> bool {
    matches!(inst, Inst::Copy { dst, .. } if dst.is_empty())
}

fn idle() -> Inst {
    Inst::Copy { dst: Default::default(), src: Default::default() }
}

/// A condition that is open.
struct Branch {
    start: At,
    inverse: bool,
    middle: Option<At>,
    /// What its arms hold: steps of each, words of the arm that is open, what keeps the branch, lanes that become helpers, lanes
    /// that leave.
    steps: [usize; 2],
    words: usize,
    kept: bool,
    demotes: Option<At>,
    leaves: Option<At>,
}

struct Arms<'a> {
    func: &'a mut Func<Inst>,
    layout: &'a [Block],
    open: Vec<Branch>,
    /// Marks that are open.
    depth: u32,
}

/// Words of a step that the flag's predicate serves, and that leave the flag alone.
fn words(inst: &Inst) -> Option<usize> {
    match inst {
        Inst::Alu { .. } | Inst::Vector { .. } | Inst::Center { .. } => Some(1),
        Inst::Plane { .. } => Some(2),
        Inst::Product { .. } => Some(3),
        Inst::Dot { sources, .. } => Some(sources.len() / 2 - usize::from(is_line(sources))),
        _ => None,
    }
}

impl Arms<'_> {
    fn nodes(&self, block: usize) -> &[Node<Inst>] {
        &self.func.blocks[self.layout[block]].nodes
    }

    fn inst(&self, at: At) -> &Inst {
        &self.nodes(at.0)[at.1].inst
    }

    fn set(&mut self, at: At, inst: Inst) {
        self.func.blocks[self.layout[at.0]].nodes[at.1].inst = inst;
    }

    fn step(&mut self, at: At) {
        let ends = matches!(self.inst(at), Inst::Else | Inst::EndIf);
        if let Some(branch) = self.open.last_mut()
            && !ends
        {
            branch.steps[usize::from(branch.middle.is_some())] += 1;
        }
        let inst = self.inst(at);
        let count = words(inst);
        match inst {
            Inst::If { inverse, .. } => {
                let inverse = *inverse;
                // The outer branch stays.
                if let Some(outer) = self.open.last_mut() {
                    outer.kept = true;
                }
                self.depth += 1;
                self.open.push(Branch {
                    start: at,
                    inverse,
                    middle: None,
                    steps: [0; 2],
                    words: 0,
                    kept: false,
                    demotes: None,
                    leaves: None,
                });
            }
            Inst::Else => {
                if let Some(branch) = self.open.last_mut() {
                    branch.middle = Some(at);
                    branch.words = 0;
                    // Who leaves is gone before the other arm begins.
                    branch.kept |= branch.leaves.is_some();
                }
            }
            Inst::EndIf => {
                self.depth -= 1;
                if let Some(branch) = self.open.pop() {
                    self.close(&branch, at);
                }
            }
            Inst::Do => {
                self.depth += 1;
                // Branches around a loop stay.
                self.open.iter_mut().for_each(|branch| branch.kept = true);
            }
            Inst::While { .. } => self.depth -= 1,
            Inst::Break(_) => {
                if let Some(branch) = self.open.last_mut() {
                    branch.kept |= branch.leaves.is_some();
                    branch.leaves = Some(at);
                }
            }
            Inst::Demote => {
                if let Some(branch) = self.open.last_mut() {
                    branch.kept |= branch.demotes.is_some();
                    branch.demotes = Some(at);
                }
            }
            _ => {
                if let Some(branch) = self.open.last_mut() {
                    branch.words += count.unwrap_or(0);
                    // Nothing follows those that leave.
                    let follows = branch.leaves.is_some();
                    branch.kept |= count.is_none() || branch.words > MOST || follows;
                }
            }
        }
    }

    /// Takes a branch out that ends at a step.
    fn close(&mut self, branch: &Branch, end: At) {
        if branch.kept {
            self.drop_empty(branch);
            return;
        }
        if let Some(demotes) = branch.demotes {
            let alone = branch.words == 0 && branch.leaves.is_none() && branch.middle.is_none();
            if alone {
                self.demote(branch, demotes, end);
            }
            return;
        }
        self.set(branch.start, Inst::Guard(Some(branch.inverse)));
        if let Some(middle) = branch.middle {
            self.set(middle, Inst::Guard(Some(!branch.inverse)));
        }
        self.set(end, Inst::Guard(None));
        if let Some(leaves) = branch.leaves
            && let Inst::Break(conditions) = *self.inst(leaves)
        {
            self.set(leaves, Inst::Break(conditions.saturating_sub(1)));
        }
    }

    /// An arm that holds nothing is none.
    fn drop_empty(&mut self, branch: &Branch) {
        let Some(middle) = branch.middle else { return };
        let inverse = match branch.steps {
            [_, 0] => branch.inverse,
            [0, _] => !branch.inverse,
            _ => return,
        };
        self.set(branch.start, Inst::If { inverse, otherwise: false });
        self.set(middle, idle());
    }

    /// Lanes become helpers by the comparison itself, or by its flag where all lanes are there.
    fn demote(&mut self, branch: &Branch, demotes: At, end: At) {
        let before = branch.start.1.checked_sub(1).map(|number| (branch.start.0, number));
        let test = before.and_then(|at| match self.inst(at) {
            Inst::Compare(test) => demoted_by(test, branch.inverse),
            _ => None,
        });
        match (before, test) {
            (Some(before), Some(test)) => {
                self.set(before, Inst::DemoteWhere(test));
                self.set(branch.start, idle());
            }
            _ if self.depth == 0 => self.set(branch.start, Inst::DemoteBy(branch.inverse)),
            _ => return,
        }
        self.set(demotes, idle());
        self.set(end, idle());
    }
}

/// The test that holds for lanes that go, where those are of another's flag, or with `inverse` those that it has not.
fn demoted_by(test: &Test, inverse: bool) -> Option<Test> {
    if test.join.is_some() {
        return None;
    }
    match inverse {
        false => Some(*test),
        true => Some(Test { condition: test.condition.opposite(test.ty)?, ..*test }),
    }
}

/// What leaves a loop at its end does not go back: the loop's own end asks the flag.
fn whiles(func: &mut Func<Inst>) {
    let mut last: [Option<(Block, usize)>; 2] = [None; 2];
    let mut guard = None;
    for block in func.layout.clone() {
        for number in 0..func.blocks[block].nodes.len() {
            let nodes = &func.blocks[block].nodes;
            if let Inst::Guard(lanes) = nodes[number].inst
                && lanes.is_some()
            {
                guard = lanes;
            }
            if matches!(nodes[number].inst, Inst::While { flag: None })
                && let [Some((of, leaves)), Some((guards, ends))] = last
                && matches!(func.blocks[of].nodes[leaves].inst, Inst::Break(0))
                && matches!(func.blocks[guards].nodes[ends].inst, Inst::Guard(None))
            {
                func.blocks[of].nodes[leaves].inst = idle();
                let flag = guard.map(|inverse: bool| !inverse);
                func.blocks[block].nodes[number].inst = Inst::While { flag };
            }
            last = [last[1], Some((block, number))];
        }
    }
    for block in func.layout.clone() {
        func.blocks[block].nodes.retain(|node| !is_idle(&node.inst));
    }
}
