//! Byte addresses as sums.

use gpucc_ir::ssa::{Func, Op, Value};
use smallvec::SmallVec;

/// A byte address as a sum of values times factors, and a constant.
#[derive(Clone, Debug, Default)]
pub struct Linear {
    /// Values and what each is multiplied with.
    pub terms: SmallVec<[(Value, u32); 2]>,
    /// Added to them.
    pub constant: u32,
}

/// Takes an address apart. The address is in range, so nothing in it wraps.
pub fn linear(func: &Func, address: Value) -> Linear {
    let mut out = Linear::default();
    let mut work: SmallVec<[(Value, u32); 4]> = SmallVec::new();
    work.push((address, 1));
    for _ in 0..16 {
        let Some((value, factor)) = work.pop() else {
            return out;
        };
        if let Some(bits) = func.as_const(value) {
            out.constant = out.constant.wrapping_add((bits as u32).wrapping_mul(factor));
            continue;
        }
        let constant = |v: Value| func.as_const(v).map(|bits| bits as u32);
        let Some(data) = func.def(value) else {
            out.terms.push((value, factor));
            continue;
        };
        let scaled = |by: u32| factor.checked_mul(by).filter(|&f| f < 1 << 16);
        match data.op {
            Op::Index => work.push((data.args[0], factor)),
            // Only sums of bytes: sums of indices stay whole, they may turn negative on the way.
            Op::IAdd if factor == 1 => work.extend(data.args.iter().map(|&arg| (arg, 1))),
            Op::Shl => match constant(data.args[1]).and_then(|n| scaled(1 << n.min(31))) {
                Some(factor) => out.terms.push((data.args[0], factor)),
                None => out.terms.push((value, factor)),
            },
            Op::IMul => {
                let by = (0..2).find_map(|k| {
                    let factor = constant(data.args[1 - k]).and_then(scaled)?;
                    Some((data.args[k], factor))
                });
                out.terms.push(by.unwrap_or((value, factor)));
            }
            _ => out.terms.push((value, factor)),
        }
    }
    Linear { terms: SmallVec::from_slice(&[(address, 1)]), constant: 0 }
}
