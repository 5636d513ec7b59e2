//! What a loop computes afresh each trip from the same operands is computed once before it.
//!
//! Pure instructions move before the outermost loop that defines none of their operands, out of any
//! `if` on the way: they may run at any time. Loads stay.

use crate::ctx::Ctx;
use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{Flags, Func, Inst, Op, Region, Value};

/// Hoists.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    if !func.any_inst(|data| data.op == Op::Loop) {
        return false;
    }
    let mut licm = Licm {
        ctx,
        levels: SecondaryMap::with_capacity(func.values.len()),
        before: Vec::new(),
        changed: false,
    };
    licm.region(func, func.body);
    licm.changed
}

struct Licm<'a, 'c> {
    ctx: &'a mut Ctx<'c>,
    /// How many of the loops around a value's uses are also around its definition.
    levels: SecondaryMap<Value, u32>,
    /// What goes before each loop around the current place, outermost first.
    before: Vec<Vec<Inst>>,
    changed: bool,
}

impl Licm<'_, '_> {
    fn region(&mut self, func: &mut Func, region: Region) {
        let level = self.before.len() as u32;
        for &param in &func.regions[region].params {
            self.levels[param] = level;
        }
        let insts = std::mem::take(&mut func.regions[region].insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            self.ctx.steps += 1;
            let data = &func.insts[inst];
            let mut at = level;
            if data.op.is_pure() && !data.flags().has(Flags::QUAD) && !data.results.is_empty() {
                at = data.args.iter().map(|&arg| self.levels[arg]).max().unwrap_or(0);
            }
            if at < level && self.ctx.draw() {
                self.changed = true;
                self.before[at as usize].push(inst);
            } else {
                at = level;
                let is_loop = data.op == Op::Loop;
                if is_loop {
                    self.before.push(Vec::new());
                }
                if !data.regions.is_empty() {
                    for inner in data.regions.clone() {
                        self.region(func, inner);
                    }
                }
                if is_loop {
                    out.append(&mut self.before.pop().expect("pushed above"));
                }
                out.push(inst);
            }
            for &result in &func.insts[inst].results {
                self.levels[result] = at;
            }
        }
        func.regions[region].insts = out;
    }
}
