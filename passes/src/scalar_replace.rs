//! Small private arrays indexed at run time become trees of selects, so that they need no memory.
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
    let (address, scale) = scaled(b.func, data.args[0]);
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
        let mut choices: Vec<(u32, Value)> = Vec::new();
        for at in (access.lo + 4 * index..access.hi).step_by(4) {
            let base = at - 4 * index;
            if base % scale != 0 {
                continue;
            }
            let here = b.u32(at);
            let now = b.mem_load(word(at), here, &[Type::B32])[0];
            if stores {
                let key = b.u32(base / scale);
                let hit = b.op2(Op::IEq, address, key);
                let new = b.select(hit, data.args[1 + index as usize], now);
                b.mem_store(word(at), here, &[new]);
            } else {
                choices.push((base / scale, now));
            }
        }
        if !stores {
            let value = choose(&mut b, address, &choices);
            renames.set(data.results[index as usize], value);
        }
    }
}

/// What an address is a multiple of, and the rest: an address in range did not wrap.
fn scaled(func: &Func, address: Value) -> (Value, u32) {
    let constant = |value: Value| func.as_const(value).map(|bits| bits as u32);
    match func.def(address) {
        Some(data) if data.op == Op::Shl => match constant(data.args[1]) {
            Some(by @ 1..16) => (data.args[0], 1 << by),
            _ => (address, 1),
        },
        Some(data) if data.op == Op::IMul => match constant(data.args[1]) {
            Some(by @ 1..0x10000) => (data.args[0], by),
            _ => (address, 1),
        },
        _ => (address, 1),
    }
}

/// The value that belongs to a key, of values by ascending keys: a tree of choices.
fn choose(b: &mut Builder<'_>, key: Value, choices: &[(u32, Value)]) -> Value {
    match choices {
        [] => b.u32(0),
        &[(_, value)] => value,
        &[(first, yes), (_, no)] => {
            let first = b.u32(first);
            let hit = b.op2(Op::IEq, key, first);
            b.select(hit, yes, no)
        }
        _ => {
            let (low, high) = choices.split_at(choices.len() / 2);
            let (yes, no) = (choose(b, key, low), choose(b, key, high));
            let bound = b.u32(high[0].0);
            let less = b.op2(Op::ULt, key, bound);
            b.select(less, yes, no)
        }
    }
}
