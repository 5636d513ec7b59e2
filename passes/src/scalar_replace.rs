//! Small private arrays indexed at run time become chains of selects, so that they need no memory.
//!
//! An access at a run-time address is taken apart into accesses at every constant address that it may
//! have; `mem2reg` then promotes the words. Only variables of at most
//! [`crate::TargetInfo::select_chain_limit`] words, all of whose accesses are of whole words, and only
//! after the robustness pass: an address is then in range, or the shader has promised so.

use crate::{ctx::Ctx, rename::Renames};
use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{Access, Builder, Func, Imm, Inst, Mem, MemSpace, Op, Type, Value};

/// Takes small arrays apart.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    let limit = ctx.target.select_chain_limit();
    let regions = func.regions_in_order();
    let mut fits: SecondaryMap<Mem, bool> = SecondaryMap::new();
    let mut dynamic: SecondaryMap<Mem, bool> = SecondaryMap::new();
    for (mem, data) in func.mems.iter() {
        fits[mem] = data.space == MemSpace::Private && data.size / 4 <= limit;
    }
    for &(region, ..) in &regions {
        for &inst in &func.regions[region].insts {
            ctx.steps += 1;
            let data = &func.insts[inst];
            match data.imm {
                Imm::Mem(access) => {
                    let moved = match data.op {
                        Op::MemLoad => &data.results[..],
                        _ => &data.args[1..],
                    };
                    let words = moved.iter().all(|&value| func.ty(value) == Type::B32);
                    fits[access.mem] &= words && access.lo % 4 == 0 && access.hi % 4 == 0;
                    dynamic[access.mem] |= func.as_const(data.args[0]).is_none();
                }
                Imm::MemAtomic(access, _) => fits[access.mem] = false,
                _ => {}
            }
        }
    }
    let chosen: Vec<Mem> = func
        .mems
        .keys()
        .filter(|&mem| fits[mem] && dynamic[mem])
        .collect();
    if chosen.is_empty() || !ctx.draw() {
        return false;
    }
    let mut renames = Renames::new();
    for &(region, ..) in &regions {
        let insts = std::mem::take(&mut func.regions[region].insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            renames.args(func, inst);
            match func.insts[inst].imm {
                Imm::Mem(access)
                    if fits[access.mem] && func.as_const(func.insts[inst].args[0]).is_none() =>
                {
                    let scratch = func.new_region();
                    apart(func, scratch, inst, access, &mut renames);
                    out.append(&mut func.regions[scratch].insts);
                }
                _ => out.push(inst),
            }
        }
        func.regions[region].insts = out;
    }
    renames.apply(func);
    true
}

fn apart(
    func: &mut Func,
    scratch: gpucc_ir::ssa::Region,
    inst: Inst,
    access: Access,
    renames: &mut Renames,
) {
    let data = func.insts[inst].clone();
    let mut b = Builder::at(func, scratch);
    b.span = data.span;
    let address = data.args[0];
    let word = |at: u32| Access {
        mem: access.mem,
        lo: at,
        hi: at + 4,
    };
    let stores = data.op == Op::MemStore;
    let count = if stores {
        data.args.len() - 1
    } else {
        data.results.len()
    } as u32;
    for index in 0..count {
        // Value `index` of the access stands 4 * index bytes after its address.
        let mut chain: Option<Value> = None;
        for at in (access.lo + 4 * index..access.hi).step_by(4) {
            let here = b.u32(at);
            let now = b.mem_load(word(at), here, &[Type::B32])[0];
            let base = b.u32(at - 4 * index);
            if stores {
                let hit = b.op2(Op::IEq, address, base);
                let new = b.select(hit, data.args[1 + index as usize], now);
                b.mem_store(word(at), here, &[new]);
            } else {
                chain = Some(match chain {
                    None => now,
                    Some(other) => {
                        let hit = b.op2(Op::IEq, address, base);
                        b.select(hit, now, other)
                    }
                });
            }
        }
        if !stores {
            let value = chain.unwrap_or_else(|| b.u32(0));
            renames.set(data.results[index as usize], value);
        }
    }
}
