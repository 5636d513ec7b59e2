//! Removes what nobody needs: instructions, results, loop parameters, variables, whole constructs.
//!
//! Liveness starts at effects and flows to operands, to the constructs around them and to the
//! branches that decide whether they run. A value that only travels round a loop into itself is
//! therefore dead, and so is a loop without effects or used results (WGSL lets an implementation
//! assume that it ends). A store lives only if some load of its variable does.

use crate::{
    ctx::Ctx,
    shape::{Carries, Shape, carried, carried_at},
};
use cranelift_entity::{EntityRef, EntitySet, PrimaryMap, SecondaryMap};
use gpucc_ir::ssa::{Flags, Func, Imm, Inst, Mem, Op, Region, Value, ValueDef};
use smallvec::SmallVec;

/// Removes dead code.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    if ctx.out_of_fuel() {
        return false;
    }
    let (mut changed, used) = sweep(func, ctx);
    changed |= drop_unused_mems(func, &used);
    if changed {
        ctx.draw();
    }
    changed
}

/// Removes dead instructions. Variables keep their numbers, for who knows them by these.
pub fn instructions(func: &mut Func, ctx: &mut Ctx) -> bool {
    sweep(func, ctx).0
}

/// Removes dead instructions. Says whether there were some, and which variables the others name.
fn sweep(func: &mut Func, ctx: &mut Ctx) -> (bool, EntitySet<Mem>) {
    if func.mems.is_empty() && func.is_straight() {
        return (sweep_body(func, ctx), EntitySet::new());
    }
    let shape = Shape::find(func);
    ctx.steps += shape.count;
    let mut live = Live {
        shape: &shape,
        insts: vec![false; func.insts.len()],
        values: vec![false; func.values.len()],
        work: Vec::with_capacity(64),
        stores: SecondaryMap::new(),
        loaded: EntitySet::new(),
    };
    live.find(func);
    let Live { insts, values, .. } = live;
    let mut sweep = Sweep { shape: &shape, insts, values, used: EntitySet::new(), changed: false };
    sweep.region(func, func.body);
    (sweep.changed, sweep.used)
}

/// [`sweep`] for a body without constructs and variables: backwards, all uses of a value are seen before what makes it.
fn sweep_body(func: &mut Func, ctx: &mut Ctx) -> bool {
    let mut values = vec![false; func.values.len()];
    let mut insts = std::mem::take(&mut func.regions[func.body].insts);
    ctx.steps += insts.len() as u64;
    let before = insts.len();
    // What stays moves to the end of the list.
    let mut first = before;
    for at in (0..before).rev() {
        let data = &func.insts[insts[at]];
        let lives = data.results.iter().any(|&result| values[result.index()]);
        if data.op.is_terminator() || lives || data.op.flags().has(Flags::EFFECT) {
            for &arg in &data.args {
                values[arg.index()] = true;
            }
            first -= 1;
            insts[first] = insts[at];
        }
    }
    insts.drain(..first);
    func.regions[func.body].insts = insts;
    first > 0
}

enum Work {
    Inst(Inst),
    Value(Value),
}

struct Live<'a> {
    shape: &'a Shape,
    /// By number.
    insts: Vec<bool>,
    values: Vec<bool>,
    work: Vec<Work>,
    /// Instructions that write each variable.
    stores: SecondaryMap<Mem, Vec<Inst>>,
    /// Variables that a live instruction reads.
    loaded: EntitySet<Mem>,
}

impl Live<'_> {
    fn inst(&mut self, inst: Inst) {
        if !std::mem::replace(&mut self.insts[inst.index()], true) {
            self.work.push(Work::Inst(inst));
        }
    }

    fn value(&mut self, func: &Func, value: Value) {
        if !std::mem::replace(&mut self.values[value.index()], true) {
            match func.values[value].def {
                // What no construct gives needs its instruction alone.
                ValueDef::Result(inst, _) if func.insts[inst].regions.is_empty() => self.inst(inst),
                _ => self.work.push(Work::Value(value)),
            }
        }
    }

    fn find(&mut self, func: &Func) {
        for &region in &self.shape.regions {
            for &inst in &func.regions[region].insts {
                let data = &func.insts[inst];
                if !data.op.flags().has(Flags::EFFECT) {
                    continue;
                }
                match data.imm {
                    Imm::Mem(access) | Imm::MemAtomic(access, _) => {
                        self.stores[access.mem].push(inst);
                    }
                    _ => self.inst(inst),
                }
            }
        }
        while let Some(work) = self.work.pop() {
            match work {
                Work::Inst(inst) => self.visit_inst(func, inst),
                Work::Value(value) => self.visit_value(func, value),
            }
        }
    }

    fn visit_inst(&mut self, func: &Func, inst: Inst) {
        if let Some(owner) = self.shape.owner[inst].expand() {
            self.inst(owner);
        }
        let data = &func.insts[inst];
        match data.op {
            Op::If => self.value(func, data.args[0]),
            Op::Loop | Op::Block => {}
            Op::BreakIf => self.value(func, data.args[0]),
            _ if data.op.is_terminator() => {}
            _ => {
                for &arg in &data.args {
                    self.value(func, arg);
                }
            }
        }
        if matches!(data.op, Op::Loop | Op::Block) {
            // Whatever leaves or repeats it decides what runs.
            for terminator in self.shape.terminators(inst) {
                self.inst(terminator);
            }
        }
        if let Imm::Mem(access) | Imm::MemAtomic(access, _) = data.imm
            && data.op.flags().has(Flags::READS)
            && self.loaded.insert(access.mem)
        {
            for store in std::mem::take(&mut self.stores[access.mem]) {
                self.inst(store);
            }
        }
    }

    fn visit_value(&mut self, func: &Func, value: Value) {
        let (construct, which, index) = match func.values[value].def {
            ValueDef::Result(inst, index) => {
                self.inst(inst);
                (inst, Carries::Results, index)
            }
            ValueDef::Param(region, index) => {
                let owner =
                    self.shape.region_owner[region].expand().expect("only loops have parameters");
                self.inst(owner);
                if func.insts[owner].regions[0] == region {
                    self.value(func, func.insts[owner].args[usize::from(index)]);
                    (owner, Carries::Params, index)
                } else {
                    (owner, Carries::Continuing, index)
                }
            }
        };
        for terminator in self.shape.terminators(construct) {
            if let Some(value) = carried_at(func, terminator, construct, which, usize::from(index))
            {
                self.value(func, value);
            }
        }
    }
}

struct Sweep<'a> {
    shape: &'a Shape,
    /// By number.
    insts: Vec<bool>,
    values: Vec<bool>,
    /// Variables that what stays names.
    used: EntitySet<Mem>,
    changed: bool,
}

impl Sweep<'_> {
    fn region(&mut self, func: &mut Func, region: Region) {
        let mut insts = std::mem::take(&mut func.regions[region].insts);
        let before = insts.len();
        insts.retain(|&inst| {
            let keep = self.insts[inst.index()] || func.insts[inst].op.is_terminator();
            if keep {
                let data = &func.insts[inst];
                if let Imm::Mem(access) | Imm::MemAtomic(access, _) = data.imm {
                    self.used.insert(access.mem);
                } else if data.op.flags().has(Flags::REGIONS) {
                    self.construct(func, inst);
                }
            }
            keep
        });
        self.changed |= insts.len() != before;
        func.regions[region].insts = insts;
    }

    fn construct(&mut self, func: &mut Func, construct: Inst) {
        let regions = func.insts[construct].regions.clone();
        let is_loop = func.insts[construct].op == Op::Loop;
        self.narrow(func, construct, Carries::Results);
        if is_loop {
            self.narrow(func, construct, Carries::Params);
            self.narrow(func, construct, Carries::Continuing);
        }
        for region in regions {
            self.region(func, region);
        }
    }

    /// Drops dead results or parameters and the operands that gave them.
    fn narrow(&mut self, func: &mut Func, construct: Inst, which: Carries) {
        let data = &func.insts[construct];
        let list: SmallVec<[Value; 8]> = match which {
            Carries::Results => data.results.iter().copied().collect(),
            Carries::Params => func.regions[data.regions[0]].params.iter().copied().collect(),
            Carries::Continuing => func.regions[data.regions[1]].params.iter().copied().collect(),
        };
        let keep: SmallVec<[bool; 8]> =
            list.iter().map(|&value| self.values[value.index()]).collect();
        if keep.iter().all(|&keep| keep) {
            return;
        }
        self.changed = true;
        // Terminators first: their operands are counted by the results that still stand.
        for terminator in self.shape.terminators(construct) {
            let range = carried(func, terminator, construct, which);
            if range.is_empty() {
                continue;
            }
            let mut index = 0;
            func.insts[terminator].args.retain(|_| {
                let at = index;
                index += 1;
                !range.contains(&at) || keep[at - range.start]
            });
        }
        let kept: SmallVec<[Value; 8]> =
            list.iter().zip(&keep).filter_map(|(&value, &keep)| keep.then_some(value)).collect();
        let region = match which {
            Carries::Results => None,
            Carries::Params => Some(func.insts[construct].regions[0]),
            Carries::Continuing => Some(func.insts[construct].regions[1]),
        };
        for (index, &value) in kept.iter().enumerate() {
            func.values[value].def = match region {
                None => ValueDef::Result(construct, index as u16),
                Some(region) => ValueDef::Param(region, index as u16),
            };
        }
        match region {
            None => func.insts[construct].results = kept.into_iter().collect(),
            Some(region) => func.regions[region].params = kept.into_iter().collect(),
        }
        if which == Carries::Params {
            let mut index = 0;
            func.insts[construct].args.retain(|_| {
                index += 1;
                keep[index - 1]
            });
        }
    }
}

/// Takes variables that are not `used`, for no instruction names them, out of the list, so that nobody gives them memory.
fn drop_unused_mems(func: &mut Func, used: &EntitySet<Mem>) -> bool {
    if func.mems.keys().all(|mem| used.contains(mem)) {
        return false;
    }
    let mut kept = PrimaryMap::new();
    let mut to: SecondaryMap<Mem, Mem> = SecondaryMap::with_default(Mem::from_u32(0));
    for (mem, data) in std::mem::take(&mut func.mems) {
        if used.contains(mem) {
            to[mem] = kept.push(data);
        }
    }
    func.mems = kept;
    for (region, ..) in func.regions_in_order() {
        for index in 0..func.regions[region].insts.len() {
            let inst = func.regions[region].insts[index];
            if let Imm::Mem(access) | Imm::MemAtomic(access, _) = &mut func.insts[inst].imm {
                access.mem = to[access.mem];
            }
        }
    }
    true
}
