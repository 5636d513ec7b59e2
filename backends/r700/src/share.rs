//! Allocation of the local data share.
//!
//! Which workgroup variables live in the local data share, and where.
//!
//! The share's write port belongs to the writer: a thread writes within its own stride, at a place that the
//! instruction says; everybody reads everything (R700 ISA 2.6.2). So a variable lives there when every store goes to
//! the invocation's own slot, at a constant place in it, and every load finds the slot without a division.

use crate::lower::linear::{Linear, linear};
use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{Access, Builtin, Func, Imm, InputKind, Mem, MemSpace, Op, Stage, Type, Value};
use smallvec::SmallVec;

/// Dwords that a thread of a group of at most 64 owns. R700 ISA 2.6.2.
const OWNED: u32 = 64;

/// A variable in the share: a slot for each invocation, in the order of `local_invocation_index`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// Dwords of a slot.
    pub slot: u32,
    /// Where the slot starts within the thread's stride, in dwords: a multiple of 4.
    pub index: u32,
}

/// The variables of a function that live in the share.
#[derive(Clone, Debug, Default)]
pub struct Shares {
    variables: SecondaryMap<Mem, Option<Share>>,
    /// Dwords from one thread's part to the next: 0 without variables, else a power of two of at least 4.
    pub stride: u32,
}

impl Shares {
    /// Looks at every access; `wave` is the wavefront's size in lanes.
    pub fn of(func: &Func, wave: u32) -> Shares {
        let mut shares = Shares::default();
        let lanes: u32 = func.workgroup_size.iter().product();
        if func.stage != Stage::Compute || !(2..=wave).contains(&lanes) {
            return shares;
        }
        let slots = slots(func, lanes);
        let mut used = 0;
        for (mem, slot) in slots {
            let taken = slot.next_multiple_of(4);
            if used + taken <= OWNED {
                shares.variables[mem] = Some(Share { slot, index: used });
                used += taken;
            }
        }
        if used > 0 {
            shares.stride = used.next_power_of_two();
        }
        shares
    }

    /// The variable's place, when it lives in the share.
    pub fn get(&self, mem: Mem) -> Option<Share> {
        self.variables[mem]
    }
}

/// The variables that may live there, with the dwords of their slots.
fn slots(func: &Func, lanes: u32) -> Vec<(Mem, u32)> {
    // By variable: bytes of a slot, `None` before the first store; and whether something forbids the share.
    let mut found: SecondaryMap<Mem, (Option<u32>, bool)> = SecondaryMap::new();
    let mut loads: Vec<(Mem, Value, u32)> = Vec::new();
    for (region, ..) in func.regions_in_order() {
        for &inst in &func.regions[region].insts {
            let data = &func.insts[inst];
            let (Imm::Mem(Access { mem, .. }) | Imm::MemAtomic(Access { mem, .. }, _)) = data.imm
            else {
                continue;
            };
            let (slot, forbidden) = &mut found[mem];
            match data.op {
                Op::MemLoad => loads.push((mem, data.args[0], data.results.len() as u32)),
                Op::MemStore => {
                    let bytes = 4 * (data.args.len() as u32 - 1);
                    let wide = data.args[1..]
                        .iter()
                        .any(|&value| !matches!(func.ty(value), Type::B32 | Type::B1));
                    match own_slot(func, data.args[0]) {
                        Some((step, at))
                            if slot.is_none_or(|slot| slot == step)
                                && at.is_multiple_of(4)
                                && at.saturating_add(bytes) <= step
                                && !wide =>
                        {
                            *slot = Some(step);
                        }
                        _ => *forbidden = true,
                    }
                }
                _ => *forbidden = true,
            }
        }
    }
    for (mem, address, words) in loads {
        let (Some(bytes), forbidden) = &mut found[mem] else {
            continue;
        };
        *forbidden |=
            place(func, address, *bytes / 4).is_none_or(|(_, within)| within + words > *bytes / 4);
    }
    func.mems
        .iter()
        .filter(|(_, data)| data.space == MemSpace::Workgroup)
        .filter_map(|(mem, data)| match found[mem] {
            // Every word has an owner.
            (Some(bytes), false) if data.size <= bytes.saturating_mul(lanes) => {
                Some((mem, bytes / 4))
            }
            _ => None,
        })
        .collect()
}

/// The terms of a load's address, all whole slots, and the dword within the slot; `None` when that takes a division.
pub fn place(func: &Func, address: Value, slot: u32) -> Option<(Linear, u32)> {
    let linear = linear(func, address);
    let whole = linear.terms.iter().all(|&(_, factor)| factor.is_multiple_of(4 * slot));
    let within = linear.constant / 4 % slot;
    (whole && linear.constant.is_multiple_of(4)).then_some((linear, within))
}

/// Bytes from slot to slot and the constant place within the slot, for an address that is
/// `local_invocation_index * slot + place`, however the shader spells the index.
pub fn own_slot(func: &Func, address: Value) -> Option<(u32, u32)> {
    let [x, y, z] = func.workgroup_size;
    // What each component of the local id is multiplied with.
    let mut factors = [0u32; 3];
    let mut constant = 0u32;
    let mut work: SmallVec<[(Value, u32); 8]> = SmallVec::new();
    work.push((address, 1));
    for _ in 0..32 {
        let Some((value, factor)) = work.pop() else {
            return own(factors, constant, [x, y, z]);
        };
        if let Some(bits) = func.as_const(value) {
            constant = constant.wrapping_add((bits as u32).wrapping_mul(factor));
            continue;
        }
        let data = func.def(value)?;
        let number = |v: Value| func.as_const(v).map(|bits| bits as u32);
        match (data.op, data.imm) {
            (Op::Index, _) => work.push((data.args[0], factor)),
            (Op::IAdd, _) => work.extend(data.args.iter().map(|&arg| (arg, factor))),
            (Op::ISub, _) => {
                work.push((data.args[0], factor));
                work.push((data.args[1], factor.wrapping_neg()));
            }
            (Op::Shl, _) => {
                let by = number(data.args[1])?;
                work.push((data.args[0], factor.wrapping_mul(1 << (by & 31))));
            }
            // What is left of a global id is the local one.
            (Op::URem | Op::And, _) => {
                let component = local_part(func, data.op, &data.args)?;
                factors[component] = factors[component].wrapping_add(factor);
            }
            (Op::IMul, _) => {
                let (k, by) = (0..2).find_map(|k| Some((k, number(data.args[1 - k])?)))?;
                work.push((data.args[k], factor.wrapping_mul(by)));
            }
            (_, Imm::Input(input, component)) => match func.inputs[input].kind {
                InputKind::Builtin(Builtin::LocalInvocationIndex) => {
                    for (sum, by) in factors.iter_mut().zip([1, x, x * y]) {
                        *sum = sum.wrapping_add(factor.wrapping_mul(by));
                    }
                }
                InputKind::Builtin(Builtin::LocalInvocationId) => {
                    let sum = &mut factors[usize::from(component)];
                    *sum = sum.wrapping_add(factor);
                }
                _ => return None,
            },
            _ => return None,
        }
    }
    None
}

/// The component of `local_invocation_id` that the remainder or the low bits of the global id are.
fn local_part(func: &Func, op: Op, args: &[Value]) -> Option<usize> {
    let (k, by) = (0..2).find_map(|k| Some((k, func.as_const(args[1 - k])?)))?;
    let Imm::Input(input, component) = func.def(args[k])?.imm else {
        return None;
    };
    let global = InputKind::Builtin(Builtin::GlobalInvocationId);
    let size = u64::from(*func.workgroup_size.get(usize::from(component))?);
    let whole = match op {
        Op::URem => k == 0 && by == size,
        _ => size.is_power_of_two() && by == size - 1,
    };
    (func.inputs[input].kind == global && whole).then_some(usize::from(component))
}

fn own(factors: [u32; 3], constant: u32, [x, y, z]: [u32; 3]) -> Option<(u32, u32)> {
    // Components of one value are always 0.
    let wanted = [(x, 1), (y, x), (z, x * y)];
    let mut counted = factors.iter().zip(wanted).filter(|(_, (size, _))| *size > 1);
    let (&factor, (_, below)) = counted.next()?;
    let step = factor / below;
    let fits = step.is_multiple_of(4) && (4..=4 * OWNED).contains(&step) && factor == step * below;
    let same = counted.all(|(&factor, (_, below))| factor == step * below);
    (fits && same).then_some((step, constant))
}
