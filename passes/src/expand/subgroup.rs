//! Reductions and scans become reads of one lane after the other, in ascending order: the order in which
//! floats are combined is part of the result, and a lane in between may be absent, so that no butterfly
//! would do.

use gpucc_ir::ssa::{
    Builder, Builtin, Imm, InputData, InputKind, InstData, Op, Scalar, Scan, Shuffle, Stage, Type,
    Value, eval::identity, interp::SUBGROUP,
};

/// `reduce` by ballots and shuffles, on a machine whose minimum and maximum give the number beside a NaN.
pub fn reduce(b: &mut Builder, data: &InstData) -> Value {
    combined(b, data, true)
}

/// The same on a machine whose minimum and maximum do not: they skip absent lanes by a choice.
pub fn reduce_choosing(b: &mut Builder, data: &InstData) -> Value {
    combined(b, data, false)
}

/// `skips_nans`: a NaN is neutral to minimum and maximum.
fn combined(b: &mut Builder, data: &InstData, skips_nans: bool) -> Value {
    let Imm::Reduce(scan, op) = data.imm else {
        unreachable!("the verifier wants it said how lanes are combined");
    };
    match b.func.ty(data.args[0]) {
        Type::B1 => truth(b, scan, op, data.args[0]),
        ty if !skips_nans && matches!(op, Op::FMin | Op::FMax) => {
            extreme(b, scan, op, ty, data.args[0])
        }
        ty => number(b, scan, op, ty, data.args[0]),
    }
}

/// Truth values: the bits of one ballot.
fn truth(b: &mut Builder, scan: Scan, op: Op, value: Value) -> Value {
    // All are true where none is false.
    let asked = match op {
        Op::And => b.op1(Op::Not, value),
        _ => value,
    };
    let bits = ballot(b, asked);
    let bits = match scan {
        Scan::All => bits,
        Scan::Inclusive => lanes_below(b, bits, 2),
        Scan::Exclusive => lanes_below(b, bits, 1),
    };
    let zero = b.u32(0);
    match op {
        Op::And => b.op2(Op::IEq, bits, zero),
        Op::Xor => {
            let count = b.op1(Op::PopCount, bits);
            let one = b.u32(1);
            let odd = b.op2(Op::And, count, one);
            b.op2(Op::INe, odd, zero)
        }
        _ => b.op2(Op::INe, bits, zero),
    }
}

/// Numbers. Absent lanes are read as zeros; with the bits of the neutral element flipped before
/// and after, that becomes the neutral element, which leaves every sum as it is.
fn number(b: &mut Builder, scan: Scan, op: Op, ty: Type, value: Value) -> Value {
    let identity = identity(op, ty).expect("the verifier allows no other operation");
    let neutral = neutral(op, ty, identity);
    let flipped = flip(b, ty, neutral, value);
    let own = (scan != Scan::All).then(|| lane_number(b));
    let mut sum = None;
    let mut result = b.constant(ty, identity);
    for lane in 0..lanes(b) {
        let place = b.u32(lane);
        let here = own.map(|own| b.op2(Op::IEq, own, place));
        if let (Some(here), Some(sum), Scan::Exclusive) = (here, sum, scan) {
            result = b.select(here, sum, result);
        }
        let inst =
            b.inst(Op::Shuffle, Imm::Shuffle(Shuffle::OrZero), &[flipped, place], &[], &[ty]);
        let read = b.result(inst);
        let read = flip(b, ty, neutral, read);
        let next = match sum {
            None => read,
            Some(sum) => b.op2(op, sum, read),
        };
        sum = Some(next);
        match (scan, here) {
            (Scan::All, _) => result = next,
            (Scan::Inclusive, Some(here)) => result = b.select(here, next, result),
            _ => {}
        }
    }
    if scan != Scan::Exclusive || neutral == identity {
        return result;
    }
    // What the first lane gets is the identity that the language names.
    let yes = b.bool(true);
    let bits = ballot(b, yes);
    let before = lanes_below(b, bits, 1);
    let zero = b.u32(0);
    let first = b.op2(Op::IEq, before, zero);
    let identity = b.constant(ty, identity);
    b.select(first, identity, result)
}

/// Lanes that a subgroup may have.
fn lanes(b: &Builder) -> u32 {
    let invocations = match b.func.stage {
        Stage::Compute => b.func.workgroup_size.iter().product(),
        Stage::Vertex | Stage::Geometry | Stage::Fragment => SUBGROUP,
    };
    invocations.min(SUBGROUP)
}

/// Minimum or maximum of floats: what a lane makes of it counts where the lane is there.
fn extreme(b: &mut Builder, scan: Scan, op: Op, ty: Type, value: Value) -> Value {
    let identity = identity(op, ty).expect("both have one");
    let yes = b.bool(true);
    let present = ballot(b, yes);
    let own = (scan != Scan::All).then(|| lane_number(b));
    let mut sum = b.constant(ty, identity);
    let mut result = sum;
    for lane in 0..lanes(b) {
        let (place, bit) = (b.u32(lane), b.u32(1 << lane));
        let here = own.map(|own| b.op2(Op::IEq, own, place));
        if let (Some(here), Scan::Exclusive) = (here, scan) {
            result = b.select(here, sum, result);
        }
        let inst = b.inst(Op::Shuffle, Imm::Shuffle(Shuffle::OrZero), &[value, place], &[], &[ty]);
        let read = b.result(inst);
        let next = b.op2(op, sum, read);
        let (zero, bit) = (b.u32(0), b.op2(Op::And, present, bit));
        let counts = b.op2(Op::INe, bit, zero);
        sum = b.select(counts, next, sum);
        if let (Some(here), Scan::Inclusive) = (here, scan) {
            result = b.select(here, sum, result);
        }
    }
    if scan == Scan::All { sum } else { result }
}

/// What leaves every other operand as it is: -0.0 for sums of floats, a NaN for their minimum and
/// maximum, which give the number beside it; else the identity.
fn neutral(op: Op, ty: Type, identity: u64) -> u64 {
    match (op, ty) {
        (Op::FAdd, _) => 1 << (ty.bits() - 1),
        (Op::FMin | Op::FMax, Type::B16) => 0x7e00,
        (Op::FMin | Op::FMax, _) => 0x7fc0_0000,
        _ => identity,
    }
}

fn flip(b: &mut Builder, ty: Type, by: u64, value: Value) -> Value {
    if by == 0 {
        return value;
    }
    let by = b.constant(ty, by);
    b.op2(Op::Xor, value, by)
}

fn ballot(b: &mut Builder, truth: Value) -> Value {
    let inst = b.inst(Op::Ballot, Imm::None, &[truth], &[], &[Type::B32; 4]);
    b.result(inst)
}

/// The bits of the lanes before the own (`first` 1), or up to it (2).
fn lanes_below(b: &mut Builder, bits: Value, first: u32) -> Value {
    let own = lane_number(b);
    let first = b.u32(first);
    let end = b.op2(Op::Shl, first, own);
    let one = b.u32(1);
    let mask = b.op2(Op::ISub, end, one);
    b.op2(Op::And, bits, mask)
}

fn lane_number(b: &mut Builder) -> Value {
    let kind = InputKind::Builtin(Builtin::SubgroupInvocationId);
    let known = b.func.inputs.iter().find(|(_, data)| data.kind == kind);
    let input = match known {
        Some((input, _)) => input,
        None => b.func.inputs.push(InputData {
            kind,
            components: 1,
            scalar: Scalar::U32,
            name: "lane".into(),
        }),
    };
    b.input(input, 0)
}
