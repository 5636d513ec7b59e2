//! Ranges of floats from outside.

use gpucc_ir::ssa::{Builder, Func, Op, Stage};
use gpucc_passes::float_range::decide;

#[test]
fn magnitudes_and_squares_are_not_negative_and_as_large_as_what_they_are_of() {
    let mut func = Func::new("ranges", Stage::Compute);
    let mut b = Builder::at_body(&mut func);
    let word = b.u32(7);
    let x = b.op2(Op::IAdd, word, word);
    let y = b.op2(Op::IAdd, x, word);
    let saturated = b.op1(Op::FSat, x);
    let negative = b.op1(Op::FNeg, saturated);
    let magnitude = b.op1(Op::FAbs, negative);
    let square = b.op(Op::FDot, &[x, y, x, y]);
    let product = b.op(Op::FDot, &[x, y, y, saturated]);
    let (minus, half, two) = (b.f32(-1.0), b.f32(0.5), b.f32(2.0));
    let decided = [
        (b.op2(Op::FLt, half, magnitude), None),
        (b.op2(Op::FLt, two, magnitude), Some(0)),
        (b.op2(Op::FLt, magnitude, minus), Some(0)),
        (b.op2(Op::FLt, square, minus), Some(0)),
        (b.op2(Op::FLt, two, square), None),
        (b.op2(Op::FLt, product, minus), None),
    ];
    assert!(decide(&mut func));
    for (value, outcome) in decided {
        assert_eq!(func.as_const(value), outcome);
    }
}
