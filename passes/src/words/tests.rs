//! Every operation of 64 and of 16 bits in words against its definition, and against numbers worked out by hand.

use crate::ctx::{Ctx, Options, TargetInfo};
use crate::expand::tests::machines;
use gpucc_ir::ssa::numerics::{Perturbation, Rounding};
use gpucc_ir::ssa::random::Rng;
use gpucc_ir::ssa::{
    Builder, Builtin, Func, Imm, InputData, InputKind, Numerics, Op, OutputData, OutputKind,
    Scalar, Sig, Stage, Type, Value, eval, eval_inst, verify,
};

/// A machine of words.
struct Words;

impl TargetInfo for Words {
    fn holds_64_bits(&self) -> bool {
        false
    }
    fn holds_16_bits(&self) -> bool {
        false
    }
    fn native(&self, _: Op, ty: Type) -> bool {
        ty != Type::B64
    }
}

/// An operation, the widths of its operands and of its result.
#[derive(Clone, Debug)]
struct Shape {
    op: Op,
    args: Vec<Type>,
    result: Type,
}

fn shape(op: Op, args: &[Type], result: Type) -> Shape {
    let args = args.to_vec();
    Shape { op, args, result }
}

/// The shape of an integer operation of 64 bits.
fn of(op: Op) -> Shape {
    of_width(op, Type::B64)
}

fn of_width(op: Op, wide: Type) -> Shape {
    use Type::{B1, B32};
    match op.sig() {
        Sig::Unary | Sig::UnaryBits => shape(op, &[wide], wide),
        Sig::Binary | Sig::BinaryBits => shape(op, &[wide, wide], wide),
        Sig::Shift => shape(op, &[wide, B32], wide),
        Sig::Compare | Sig::CompareBits => shape(op, &[wide, wide], B1),
        Sig::Select => shape(op, &[B1, wide, wide], wide),
        Sig::ExtractBits => shape(op, &[wide, B32, B32], wide),
        Sig::InsertBits => shape(op, &[wide, wide, B32, B32], wide),
        _ => panic!("{} has no one shape", op.name()),
    }
}

/// A function of one operation in words.
struct Split {
    func: Func,
    inputs: Vec<Value>,
    /// The words of the result.
    results: Vec<Value>,
}

fn in_words(shape: &Shape, constants: &[Option<u64>], numerics: &Numerics) -> Split {
    let mut func = Func::new("one", Stage::Compute);
    let mut inputs = Vec::new();
    let mut word = |b: &mut Builder<'_>| {
        let input = b.func.inputs.push(InputData {
            kind: InputKind::Builtin(Builtin::GlobalInvocationId),
            components: 1,
            scalar: Scalar::U32,
            name: "operand".into(),
        });
        let value = b.input(input, 0);
        inputs.push(value);
        value
    };
    let sink = func.outputs.push(OutputData {
        kind: OutputKind::Builtin(Builtin::Position),
        components: 2,
        scalar: Scalar::U32,
        name: "result".into(),
    });
    let mut b = Builder::at_body(&mut func);
    let mut args = Vec::new();
    for (index, &ty) in shape.args.iter().enumerate() {
        // Words come in all the same, so that constants change nothing in who is who.
        let low = word(&mut b);
        let high = word(&mut b);
        args.push(match (constants.get(index).copied().flatten(), ty) {
            (Some(bits), ty) => b.constant(ty, bits),
            (None, Type::B64) => b.op2(Op::Join64, low, high),
            (None, Type::B32) => low,
            (None, ty) => b.convert(Op::UConvert, ty, low),
        });
    }
    let inst = b.inst(shape.op, Imm::None, &args, &[], &[shape.result]);
    let result = b.result(inst);
    let words = match shape.result {
        Type::B64 => vec![b.op1(Op::Lo64, result), b.op1(Op::Hi64, result)],
        Type::B32 => vec![result],
        _ => vec![b.convert(Op::UConvert, Type::B32, result)],
    };
    for (component, &word) in words.iter().enumerate() {
        b.output(sink, component as u8, word);
    }
    b.end(Op::Yield, &[]);
    let mut ctx = Ctx::new(Options::default(), *numerics, &Words);
    assert!(super::run(&mut func, &mut ctx), "{shape:?} has 64 bits");
    verify(&func).expect("sound");
    // Floats of 16 bits keep their seams of conversions.
    let floats = shape.args.iter().chain([&shape.result]);
    let floats = floats.into_iter().any(|&ty| ty == Type::B16);
    assert!(floats || !super::run(&mut func, &mut ctx), "{shape:?} is done");
    let mut results = Vec::new();
    for &inst in &func.regions[func.body].insts {
        let data = &func.insts[inst];
        let wide = |&value: &Value| func.ty(value) == Type::B64;
        let seam = data.op == Op::Join64;
        assert!(seam || !data.args.iter().chain(&data.results).any(wide));
        if data.op == Op::Output {
            results.push(data.args[0]);
        }
    }
    Split { func, inputs, results }
}

impl Split {
    fn run(&self, operands: &[u64], numerics: &Numerics) -> u64 {
        let mut values = vec![0u64; self.func.values.len()];
        let mut words = operands.iter().flat_map(|x| [x & 0xffff_ffff, x >> 32]);
        for &input in &self.inputs {
            values[input.as_u32() as usize] = words.next().expect("two for each operand");
        }
        for &inst in &self.func.regions[self.func.body].insts {
            let data = &self.func.insts[inst];
            let Some(&result) = data.results.first() else {
                continue;
            };
            if data.op != Op::Input {
                let args = data.args.iter().map(|arg| values[arg.as_u32() as usize]);
                let args: Vec<u64> = args.collect();
                let value = eval_inst(&self.func, data, &args, numerics);
                values[result.as_u32() as usize] = value.expect("computes");
            }
        }
        let word = |&value: &Value| values[value.as_u32() as usize];
        let low = self.results.first().map_or(0, word);
        low | (self.results.get(1).map_or(0, word) << 32)
    }
}

const EDGES: [u64; 26] = [
    0,
    1,
    2,
    3,
    7,
    10,
    31,
    32,
    33,
    63,
    64,
    65,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    0x1_0000_0001,
    1 << 53,
    (1 << 53) + 1,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0x8000_0000_0000_0001,
    0xffff_ffff_0000_0000,
    0xffff_ffff_8000_0000,
    0xffff_ffff_ffff_fffe,
    0xffff_ffff_ffff_ffff,
];

/// Every edge, then numbers of every length.
fn operand(rng: &mut Rng, edge: usize, ty: Type) -> u64 {
    let bits = match EDGES.get(edge) {
        Some(&bits) => bits,
        None => rng.bits() >> rng.below(64),
    };
    bits & ty.mask()
}

fn agrees(shape: &Shape, numerics: &Numerics, rng: &mut Rng, count: usize) {
    let code = in_words(shape, &[], numerics);
    for index in 0..count {
        let args: Vec<u64> = (0..shape.args.len())
            .map(|k| {
                let edge = match (k, index < EDGES.len() * EDGES.len()) {
                    (0, true) => index % EDGES.len(),
                    (_, true) => index / EDGES.len(),
                    _ => EDGES.len(),
                };
                operand(rng, edge, shape.args[k])
            })
            .collect();
        let from = match shape.op.sig() {
            Sig::Select => shape.result,
            _ => shape.args[0],
        };
        let expected = eval(shape.op, from, shape.result, &args, numerics);
        let actual = code.run(&args, numerics);
        assert_eq!(Some(actual), expected, "{shape:?} {args:x?}");
        // The same with the last operand constant.
        if index % 16 == 0 && shape.args.len() > 1 {
            let mut constants = vec![None; shape.args.len()];
            *constants.last_mut().expect("two at least") = args.last().copied();
            let code = in_words(shape, &constants, numerics);
            assert_eq!(Some(code.run(&args, numerics)), expected, "{shape:?} {args:x?}");
        }
    }
}

#[test]
fn orders_with_a_constant_agree_with_their_definition_at_the_edges() {
    let numerics = Numerics::REFERENCE;
    for op in [Op::SLt, Op::SLe, Op::ULt, Op::ULe] {
        let shape = of(op);
        for constant in EDGES {
            let right = in_words(&shape, &[None, Some(constant)], &numerics);
            let left = in_words(&shape, &[Some(constant), None], &numerics);
            for x in EDGES {
                for (code, args) in [(&right, [x, constant]), (&left, [constant, x])] {
                    let expected = eval(op, Type::B64, Type::B1, &args, &numerics);
                    assert_eq!(Some(code.run(&args, &numerics)), expected, "{op:?} {args:x?}");
                }
            }
        }
    }
}

/// Integer operations whose operands and results are of one width.
const OPS: [Op; 37] = [
    Op::IAdd,
    Op::ISub,
    Op::IMul,
    Op::UMulHi,
    Op::SMulHi,
    Op::INeg,
    Op::IAbs,
    Op::SMin,
    Op::SMax,
    Op::UMin,
    Op::UMax,
    Op::And,
    Op::Or,
    Op::Xor,
    Op::Not,
    Op::Shl,
    Op::LShr,
    Op::AShr,
    Op::PopCount,
    Op::BitReverse,
    Op::Clz,
    Op::Ctz,
    Op::UMsb,
    Op::SMsb,
    Op::Lsb,
    Op::UBfe,
    Op::SBfe,
    Op::Bfi,
    Op::IEq,
    Op::INe,
    Op::SLt,
    Op::SLe,
    Op::ULt,
    Op::ULe,
    Op::Select,
    Op::UDiv,
    Op::SRem,
];

#[test]
fn every_operation_in_words_is_what_it_is_at_64_bits() {
    let mut rng = Rng::new(64);
    for op in OPS {
        agrees(&of(op), &Numerics::REFERENCE, &mut rng, 3000);
    }
}

#[test]
fn every_operation_in_words_is_what_it_is_at_16_bits() {
    let mut rng = Rng::new(16);
    let more = [Op::URem, Op::SDiv];
    for op in OPS.into_iter().chain(more) {
        let shape = of_width(op, Type::B16);
        agrees(&shape, &Numerics::REFERENCE, &mut rng, 3000);
        let code = in_words(&shape, &[], &Numerics::REFERENCE);
        let short = |&value: &Value| code.func.ty(value) == Type::B16;
        for &inst in &code.func.regions[code.func.body].insts {
            let data = &code.func.insts[inst];
            assert!(!data.args.iter().chain(&data.results).any(short), "{op:?}");
        }
    }
}

#[test]
fn conversions_of_integers_of_16_bits_are_exact() {
    use Type::{B16, B32};
    let mut rng = Rng::new(17);
    for numerics in machines() {
        for op in [Op::UToF, Op::SToF, Op::UConvert, Op::SConvert] {
            agrees(&shape(op, &[B16], B32), &numerics, &mut rng, 3000);
        }
        for op in [Op::FToU, Op::FToS, Op::UConvert, Op::SConvert, Op::Lo16, Op::Hi16] {
            agrees(&shape(op, &[B32], B16), &numerics, &mut rng, 3000);
        }
        agrees(&shape(Op::Join16, &[B16, B16], B32), &numerics, &mut rng, 3000);
    }
}

#[test]
fn conversions_of_integers_of_64_bits_are_exact() {
    use Type::{B1, B16, B32, B64};
    let mut shapes = Vec::new();
    for op in [Op::UConvert, Op::SConvert] {
        for ty in [B1, B16, B32] {
            shapes.push(shape(op, &[ty], B64));
            shapes.push(shape(op, &[B64], ty));
        }
        shapes.push(shape(op, &[B64], B64));
    }
    for ty in [B16, B32] {
        shapes.extend([Op::UToF, Op::SToF].map(|op| shape(op, &[B64], ty)));
        shapes.extend([Op::FToU, Op::FToS].map(|op| shape(op, &[ty], B64)));
    }
    let mut rng = Rng::new(65);
    for numerics in machines() {
        for shape in &shapes {
            agrees(shape, &numerics, &mut rng, 4000);
        }
    }
}

#[test]
fn division_in_words_bears_a_reciprocal_two_units_off() {
    let mut rng = Rng::new(66);
    for seed in 0..3 {
        for numerics in machines() {
            let numerics = numerics.perturbed(Perturbation {
                seed,
                rcp_ulps: 1 + u32::from(seed != 0),
                rsq_ulps: 0,
                sqrt_ulps: 0,
                exp2_ulps: 0,
                log2_ulps: 0,
                sin_cos_absolute: 0.0,
            });
            for op in [Op::UDiv, Op::URem, Op::SDiv, Op::SRem] {
                agrees(&of(op), &numerics, &mut rng, 3000);
            }
        }
    }
}

#[test]
fn quotients_next_to_multiples_of_the_divisor_are_exact() {
    let mut rng = Rng::new(67);
    let code = in_words(&of(Op::UDiv), &[], &Numerics::REFERENCE);
    for _ in 0..20_000 {
        let y = (rng.bits() >> rng.below(64)).max(1);
        let multiple = (u64::MAX / y).min(rng.bits() >> rng.below(64)) * y;
        for x in [multiple.wrapping_sub(1), multiple, multiple | 1] {
            assert_eq!(code.run(&[x, y], &Numerics::REFERENCE), x / y, "{x} / {y}");
        }
    }
}

/// An operation, its operands, and the result worked out by hand.
type Known = (Op, &'static [u64], u64);

const MIN: u64 = 1 << 63;
const ALL: u64 = u64::MAX;

const KNOWN: &[Known] = &[
    // Carries and borrows cross the words.
    (Op::IAdd, &[0xffff_ffff, 1], 0x1_0000_0000),
    (Op::IAdd, &[ALL, 1], 0),
    (Op::ISub, &[0x1_0000_0000, 1], 0xffff_ffff),
    (Op::ISub, &[0, 1], ALL),
    (Op::INeg, &[MIN], MIN),
    (Op::INeg, &[0x1_0000_0000], 0xffff_ffff_0000_0000),
    (Op::IAbs, &[MIN], MIN),
    (Op::IAbs, &[ALL], 1),
    (Op::IMul, &[0x1_0000_0001, 0x1_0000_0001], 0x2_0000_0001),
    (Op::IMul, &[MIN, ALL], MIN),
    (Op::UMulHi, &[ALL, ALL], ALL - 1),
    (Op::SMulHi, &[ALL, ALL], 0),
    (Op::SMulHi, &[MIN, MIN], 1 << 62),
    // x / 0 = x, x % 0 = 0, MIN / -1 = MIN.
    (Op::UDiv, &[12_345, 0], 12_345),
    (Op::URem, &[12_345, 0], 0),
    (Op::SDiv, &[MIN, 0], MIN),
    (Op::SDiv, &[MIN, ALL], MIN),
    (Op::SRem, &[MIN, ALL], 0),
    (Op::SRem, &[MIN, 0], 0),
    (Op::UDiv, &[ALL, 1], ALL),
    (Op::UDiv, &[ALL, 10], 1_844_674_407_370_955_161),
    (Op::URem, &[ALL, 10], 5),
    (Op::UDiv, &[ALL, 0xffff_ffff], 0x1_0000_0001),
    (Op::UDiv, &[ALL, MIN], 1),
    (Op::UDiv, &[ALL - 1, ALL], 0),
    (Op::UDiv, &[1_000_000_000_000_000_003, 1_000_000_007], 999_999_993),
    (Op::SDiv, &[-7i64 as u64, 2], -3i64 as u64),
    (Op::SRem, &[-7i64 as u64, 2], -1i64 as u64),
    (Op::SRem, &[7, -2i64 as u64], 1),
    // Amounts count modulo 64.
    (Op::Shl, &[0x8000_0001, 0], 0x8000_0001),
    (Op::Shl, &[0x8000_0001, 31], 0x4000_0000_8000_0000),
    (Op::Shl, &[0x8000_0001, 32], 0x8000_0001_0000_0000),
    (Op::Shl, &[3, 63], MIN),
    (Op::Shl, &[3, 64], 3),
    (Op::Shl, &[3, 65], 6),
    (Op::LShr, &[MIN, 31], 0x1_0000_0000),
    (Op::LShr, &[MIN, 32], 0x8000_0000),
    (Op::LShr, &[MIN, 63], 1),
    (Op::LShr, &[MIN, 64], MIN),
    (Op::AShr, &[MIN, 31], 0xffff_ffff_0000_0000),
    (Op::AShr, &[MIN, 32], 0xffff_ffff_8000_0000),
    (Op::AShr, &[MIN, 63], ALL),
    (Op::AShr, &[MIN, 64], MIN),
    // Order with and without signs, decided by either word.
    (Op::SLt, &[MIN, 0], 1),
    (Op::ULt, &[MIN, 0], 0),
    (Op::ULt, &[0x1_0000_0000, 0x1_0000_0001], 1),
    (Op::SLt, &[0xffff_ffff_0000_0000, 0xffff_ffff_8000_0000], 1),
    (Op::SLe, &[5, 5], 1),
    (Op::SMin, &[MIN, 1], MIN),
    (Op::UMin, &[MIN, 1], 1),
    (Op::IEq, &[0x1_0000_0000, 0], 0),
    (Op::INe, &[0x1_0000_0000, 0], 1),
    // Where bits stand.
    (Op::Clz, &[0], 64),
    (Op::Clz, &[0x8000_0000], 32),
    (Op::Clz, &[0x1_0000_0000], 31),
    (Op::Ctz, &[0], 64),
    (Op::Ctz, &[0x1_0000_0000], 32),
    (Op::UMsb, &[0], ALL),
    (Op::UMsb, &[MIN], 63),
    (Op::SMsb, &[ALL], ALL),
    (Op::SMsb, &[MIN], 62),
    (Op::Lsb, &[0], ALL),
    (Op::Lsb, &[MIN], 63),
    (Op::PopCount, &[ALL], 64),
    (Op::BitReverse, &[1], MIN),
    (Op::UBfe, &[0x1234_5678_9abc_def0, 28, 8], 0x89),
    (Op::SBfe, &[0x1234_5678_9abc_def0, 28, 8], 0xffff_ffff_ffff_ff89),
    (Op::UBfe, &[ALL, 64, 8], 0),
    (Op::Bfi, &[0, ALL, 28, 8], 0xf_f000_0000),
];

#[test]
fn operations_in_words_give_what_was_worked_out_by_hand() {
    for &(op, args, expected) in KNOWN {
        let code = in_words(&of(op), &[], &Numerics::REFERENCE);
        let actual = code.run(args, &Numerics::REFERENCE);
        assert_eq!(actual, expected, "{} {args:x?}", op.name());
    }
}

#[test]
fn operations_of_16_bits_in_words_give_what_was_worked_out_by_hand() {
    let known: &[Known] = &[
        (Op::IAdd, &[0xffff, 1], 0),
        (Op::ISub, &[0, 1], 0xffff),
        (Op::IMul, &[0x100, 0x100], 0),
        (Op::SDiv, &[0x8000, 0xffff], 0x8000),
        (Op::SDiv, &[0xfff9, 2], 0xfffd),
        (Op::SRem, &[0xfff9, 2], 0xffff),
        (Op::UDiv, &[0xfff9, 0], 0xfff9),
        (Op::AShr, &[0x8000, 15], 0xffff),
        (Op::Shl, &[1, 17], 2),
        (Op::SLt, &[0x8000, 0], 1),
        (Op::ULt, &[0x8000, 0], 0),
        (Op::Clz, &[0], 16),
        (Op::Ctz, &[0], 16),
        (Op::UMsb, &[0], 0xffff),
        (Op::SMulHi, &[0x8000, 0x8000], 0x4000),
        (Op::SBfe, &[0x0f80, 4, 4], 0xfff8),
    ];
    for &(op, args, expected) in known {
        let code = in_words(&of_width(op, Type::B16), &[], &Numerics::REFERENCE);
        let actual = code.run(args, &Numerics::REFERENCE);
        assert_eq!(actual, expected, "{} {args:x?}", op.name());
    }
}

#[test]
fn conversions_round_once_and_clamp_as_worked_out_by_hand() {
    use Type::{B32, B64};
    // Rounded to nearest, and what is other toward zero.
    let known: &[(Op, u64, u64, Option<u64>)] = &[
        // 2^24 + 1 lies between two floats and goes to the even one, 2^24 + 3 up.
        (Op::UToF, (1 << 24) + 1, 0x4b80_0000, None),
        (Op::UToF, (1 << 24) + 3, 0x4b80_0002, Some(0x4b80_0001)),
        (Op::UToF, 1 << 53, 0x5a00_0000, None),
        (Op::UToF, (1 << 53) + 1, 0x5a00_0000, None),
        (Op::UToF, 0xffff_ff7f_ffff_ffff, 0x5f7f_ffff, None),
        (Op::UToF, 0xffff_ff80_0000_0000, 0x5f80_0000, Some(0x5f7f_ffff)),
        // A half of the last place and a little more: the little decides.
        (Op::UToF, 0x8000_0080_0000_0000, 0x5f00_0000, None),
        (Op::UToF, 0x8000_0080_0000_0001, 0x5f00_0001, Some(0x5f00_0000)),
        (Op::UToF, 0x0000_0001_0000_0081, 0x4f80_0000, None),
        (Op::UToF, 0x0000_0001_0000_0101, 0x4f80_0001, Some(0x4f80_0000)),
        (Op::UToF, 0, 0, None),
        (Op::SToF, 1 << 63, 0xdf00_0000, None),
        (Op::SToF, (1 << 63) - 1, 0x5f00_0000, Some(0x5eff_ffff)),
        (Op::SToF, u64::MAX, 0xbf80_0000, None),
        (Op::SToF, 0, 0, None),
        // Toward zero, clamped to what both types hold; NaN gives 0.
        (Op::FToU, 0x5f80_0000, 0xffff_ff00_0000_0000, None),
        (Op::FToU, 0x7f80_0000, 0xffff_ff00_0000_0000, None),
        (Op::FToU, 0x5f00_0000, 1 << 63, None),
        (Op::FToU, 0x5a00_0000, 1 << 53, None),
        (Op::FToU, 0x4f80_0001, 0x1_0000_0200, None),
        (Op::FToU, 0x3f7f_ffff, 0, None),
        (Op::FToU, 0xbf80_0000, 0, None),
        (Op::FToU, 0x7fc0_0000, 0, None),
        (Op::FToS, 0x5f00_0000, 0x7fff_ff80_0000_0000, None),
        (Op::FToS, 0xdf00_0000, 1 << 63, None),
        (Op::FToS, 0xff80_0000, 1 << 63, None),
        (Op::FToS, 0xbff3_3333, u64::MAX, None),
        (Op::FToS, 0xd015_02f9, -10_000_000_000i64 as u64, None),
        (Op::FToS, 0x7fc0_0000, 0, None),
    ];
    for numerics in machines() {
        for &(op, x, nearest, cut) in known {
            let expected = match numerics.rounding {
                Rounding::NearestEven => nearest,
                Rounding::TowardZero | Rounding::TowardZeroOverflowing => cut.unwrap_or(nearest),
            };
            let shape = match op {
                Op::UToF | Op::SToF => shape(op, &[B64], B32),
                _ => shape(op, &[B32], B64),
            };
            let code = in_words(&shape, &[], &numerics);
            assert_eq!(code.run(&[x], &numerics), expected, "{} {x:x}", op.name());
        }
    }
}
