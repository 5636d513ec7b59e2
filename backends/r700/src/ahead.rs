//! Global code motion into empty slots.
//!
//! A chain of operations fills one slot of each group. The pass moves operations from behind an `if` to before it, where they
//! take slots that a chain leaves empty. They need nothing that the `if` gives. Their results wait in registers through the
//! arms, so few results may wait.

use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{Func, Inst, Op, Value, ValueDef};

/// Slots of a group that a chain leaves empty, beside the transcendental one.
const SLOTS: usize = 4;
/// Groups that a move must save.
const GAIN: usize = 2;
/// Values more than before that may wait through the arms.
const WAITS: usize = 8;

/// Moves what fills empty slots; true when anything did.
pub fn run(func: &mut Func) -> bool {
    let mut uses: SecondaryMap<Value, u32> = func.by_value();
    func.each_inst(|data| data.args.iter().for_each(|&arg| uses[arg] += 1));
    let mut pass = Pass {
        uses,
        depth: func.by_value(),
        segment: 0,
        own: func.by_value(),
        turn: 0,
        moved: SecondaryMap::new(),
    };
    let mut changed = false;
    for (region, ..) in func.regions_in_order() {
        let is_if = |&inst: &Inst| func.insts[inst].op == Op::If;
        if !func.regions[region].insts.iter().any(is_if) {
            continue;
        }
        let list = std::mem::take(&mut func.regions[region].insts);
        let mut out = Vec::with_capacity(list.len());
        // Where the straight code begins that `out` ends with.
        let mut start = 0;
        for (index, &inst) in list.iter().enumerate() {
            let data = &func.insts[inst];
            if data.regions.is_empty() {
                if pass.moved[inst] == 0 {
                    out.push(inst);
                }
                continue;
            }
            if data.op == Op::If {
                let rest = &list[index + 1..];
                let straight = |inst: &&Inst| func.insts[**inst].regions.is_empty();
                let behind = &rest[..rest.iter().take_while(straight).count()];
                let taken = pass.taken(func, inst, &out[start..], behind);
                changed |= !taken.is_empty();
                out.extend(taken);
            }
            out.push(inst);
            start = out.len();
        }
        func.regions[region].insts = out;
    }
    changed
}

/// An operation of the ALU that gives the same wherever its operands are known.
fn moves(func: &Func, inst: Inst) -> bool {
    let op = func.insts[inst].op;
    // Queries are fetches.
    op.is_pure() && !matches!(op, Op::Const | Op::Input | Op::TexQuery | Op::BufferSize)
}

struct Pass {
    uses: SecondaryMap<Value, u32>,
    /// The straight code that a value was last looked at in, and how many operations of it lead to the value.
    depth: SecondaryMap<Value, (u32, usize)>,
    segment: u32,
    /// The `if` that a value was last looked at for, and how often what may move uses it; 0 for what stays behind.
    own: SecondaryMap<Value, (u32, u32)>,
    turn: u32,
    /// The `if` that an operation moves before; 0 for what stays.
    moved: SecondaryMap<Inst, u32>,
}

impl Pass {
    /// What of the code behind an `if` moves to the end of the code before it, in order.
    fn taken(&mut self, func: &Func, branch: Inst, before: &[Inst], behind: &[Inst]) -> Vec<Inst> {
        let (longest, count) = self.measure(func, before);
        let mut room = (SLOTS * longest).saturating_sub(count);
        if room < SLOTS * GAIN {
            return Vec::new();
        }
        let before = self.segment;
        self.turn += 1;
        let turn = self.turn;
        let mut taken: Vec<Inst> = Vec::new();
        func.insts[branch].results.iter().for_each(|&result| self.own[result] = (turn, 0));
        for &inst in behind {
            let stays = |arg: &Value| self.own[*arg] == (turn, 0);
            let data = &func.insts[inst];
            let depth = 1 + self.deepest(func, inst, before);
            if room == 0 || !moves(func, inst) || data.args.iter().any(stays) || depth > longest {
                data.results.iter().for_each(|&result| self.own[result] = (turn, 0));
                continue;
            }
            room -= 1;
            for &arg in &data.args {
                let (when, uses) = self.own[arg];
                self.own[arg] = (turn, if when == turn { uses + 1 } else { 1 });
            }
            data.results.iter().for_each(|&result| self.depth[result] = (before, depth));
            self.moved[inst] = turn;
            taken.push(inst);
        }
        let all = self.groups(func, behind, 0);
        let rest = self.groups(func, behind, turn);
        if all.saturating_sub(rest) < GAIN || self.waits(func, &taken) > WAITS as i64 {
            taken.drain(..).for_each(|inst| self.moved[inst] = 0);
        }
        taken
    }

    /// The most operations of a segment that lead to an operand.
    fn deepest(&self, func: &Func, inst: Inst, segment: u32) -> usize {
        let args = func.insts[inst].args.iter();
        let depths = args.map(|&arg| match self.depth[arg] {
            (own, depth) if own == segment => depth,
            _ => 0,
        });
        depths.max().unwrap_or(0)
    }

    /// The longest chain of straight code, and its operations.
    fn measure(&mut self, func: &Func, insts: &[Inst]) -> (usize, usize) {
        self.segment += 1;
        let (mut longest, mut count) = (0, 0);
        for &inst in insts {
            if !moves(func, inst) {
                continue;
            }
            let depth = 1 + self.deepest(func, inst, self.segment);
            for &result in &func.insts[inst].results {
                self.depth[result] = (self.segment, depth);
            }
            longest = longest.max(depth);
            count += 1;
        }
        (longest, count)
    }

    /// The least groups of straight code without what moves before an `if`.
    fn groups(&mut self, func: &Func, insts: &[Inst], without: u32) -> usize {
        let stays = |inst: &Inst| without == 0 || self.moved[*inst] != without;
        let own: Vec<Inst> = insts.iter().copied().filter(stays).collect();
        let (longest, count) = self.measure(func, &own);
        longest.max(count.div_ceil(SLOTS))
    }

    /// Values that wait through the arms when operations move, less those that wait no more.
    fn waits(&self, func: &Func, taken: &[Inst]) -> i64 {
        let turn = self.turn;
        let own = |value: Value| match self.own[value] {
            (when, uses) if when == turn => uses,
            _ => 0,
        };
        let made = |value: Value| match func.values[value].def {
            ValueDef::Result(inst, _) => self.moved[inst] == turn,
            ValueDef::Param(..) => false,
        };
        let mut waits = 0;
        for &inst in taken {
            let data = &func.insts[inst];
            let waiting = |value: &&Value| self.uses[**value] > own(**value);
            waits += data.results.iter().filter(waiting).count() as i64;
        }
        let mut freed: Vec<Value> = taken
            .iter()
            .flat_map(|&inst| func.insts[inst].args.iter().copied())
            .filter(|&value| !made(value) && func.as_const(value).is_none())
            .filter(|&value| self.uses[value] == own(value))
            .collect();
        freed.sort_unstable();
        freed.dedup();
        waits - freed.len() as i64
    }
}
