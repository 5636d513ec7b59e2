//! What folding makes of every small expression: two operations over two inputs and the constants on which
//! identities hinge. Its value stays, to the bit where the fold is exact, and what became simpler once stays simpler.

use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::numerics::{Denormals, Rounding};
use gpucc_ir::ssa::random::Rng;
use gpucc_ir::ssa::{Builder, Func, Imm, Numerics, Op, Type, Value, eval_inst};
use gpucc_passes::{Ctx, Neutral, Options, Plan, Quiet, Runner, float_range};

/// What an expression is made of: values of one type.
struct Leaves {
    inputs: [Value; 2],
    constants: Vec<Value>,
}

/// The reference, one that flushes, and one that rounds toward zero.
const MODELS: [Numerics; 3] = [
    Numerics::REFERENCE,
    Numerics {
        name: "flushing",
        f32_denormals: Denormals::FLUSH,
        sign_ops_flush: true,
        ..Numerics::REFERENCE
    },
    Numerics { name: "toward zero", rounding: Rounding::TowardZero, ..Numerics::REFERENCE },
];

/// Bits, and whether a float that is not finite went into them.
type Word = (u64, bool);

type Fill<'a> = &'a dyn Fn(&mut Builder, &Leaves) -> Vec<Value>;

/// A function of two inputs of a type that outputs all that `fill` makes. Each input is two words, low and high, of which 16 and 32
/// bits use the low one.
fn function(ty: Type, constants: &[u64], fill: Fill) -> (Func, Vec<Value>) {
    let text = "func \"small\" fragment {\n  in0 = \"x\" f32 x 4 location 0 perspective center\n  \
        out0 = \"o\" u32 x 4 location 0 perspective\n} body {\n  yield\n}\n";
    let mut module = gpucc_ir::ssa::parse(text).expect("our own text");
    let mut func = module.funcs.remove(0);
    let input = func.inputs.keys().next().expect("in0");
    let output = func.outputs.keys().next().expect("out0");
    let body = func.body;
    let end = func.regions[body].insts.pop();
    let mut b = Builder::at_body(&mut func);
    let words = [0, 1, 2, 3].map(|n| b.input(input, n));
    let inputs = [0, 2].map(|n| match ty {
        Type::B64 => {
            let inst = b.inst(Op::Join64, Imm::None, &words[n..n + 2], &[], &[ty]);
            b.result(inst)
        }
        Type::B16 => b.convert(Op::Lo16, ty, words[n]),
        _ => words[n],
    });
    let constants = constants.iter().map(|&bits| b.constant(ty, bits)).collect();
    let roots = fill(&mut b, &Leaves { inputs, constants });
    let (zero, one) = (b.u32(0), b.u32(1));
    for &root in &roots {
        let words = match b.func.ty(root) {
            Type::B64 => {
                vec![b.convert(Op::Lo64, Type::B32, root), b.convert(Op::Hi64, Type::B32, root)]
            }
            Type::B16 => vec![b.convert(Op::UConvert, Type::B32, root)],
            Type::B1 => vec![b.select(root, one, zero)],
            Type::B32 => vec![root],
        };
        for word in words {
            b.output(output, 0, word);
        }
    }
    func.regions[body].insts.extend(end);
    (func, roots)
}

/// Every value of a function, and whether a float that is not finite went into it; then the values of the outputs.
fn values(
    func: &Func,
    words: [u32; 4],
    model: &Numerics,
) -> (SecondaryMap<Value, Word>, Vec<Word>) {
    let mut values: SecondaryMap<Value, Word> = SecondaryMap::new();
    let mut out = Vec::new();
    for &inst in &func.regions[func.body].insts {
        let data = &func.insts[inst];
        let args: Vec<u64> = data.args.iter().map(|&arg| values[arg].0).collect();
        let wild = data.args.iter().any(|&arg| values[arg].1);
        let value = match (data.op, &data.imm) {
            (Op::Output, _) => {
                out.push((args[0], wild));
                continue;
            }
            (Op::Yield, _) => continue,
            (Op::Const, Imm::Bits(bits)) => *bits,
            (Op::Input, Imm::Input(_, component)) => words[usize::from(*component)].into(),
            _ => eval_inst(func, data, &args, model)
                .unwrap_or_else(|| panic!("{} has no value", data.op.name())),
        };
        let finite = f32::from_bits(value as u32).is_finite();
        values[data.results[0]] = (value, wild || !finite);
    }
    (values, out)
}

/// One family of expressions under one model.
struct Family<'a> {
    ty: Type,
    constants: &'a [u64],
    samples: &'a [[u32; 4]],
    model: Numerics,
    /// Numbers count, not their bits, and nothing counts where one is not finite.
    relaxed: bool,
}

impl Family<'_> {
    /// Folds what `fill` makes and compares; instructions that are left.
    fn check(&self, fill: Fill) -> usize {
        let (before, _) = function(self.ty, self.constants, fill);
        let mut after = before.clone();
        let mut ctx = Ctx::new(Options::default(), self.model, &Neutral);
        let fold = match self.relaxed {
            true => "relaxed_fold",
            false => "fold",
        };
        Runner::default()
            .run(&Plan::of(&[fold, "dce"]), &mut after, &mut ctx, &mut Quiet)
            .expect("valid code");
        for &words in self.samples {
            let (_, want) = values(&before, words, &self.model);
            let (_, got) = values(&after, words, &self.model);
            assert_eq!(want.len(), got.len());
            for (at, (&(want, wild), &(got, _))) in want.iter().zip(&got).enumerate() {
                let [x, y] = [want, got].map(|bits| f32::from_bits(bits as u32));
                let near = self.relaxed && (wild || (x - y).abs() <= 1e-4 * x.abs().max(1.0));
                assert!(
                    want == got || near,
                    "output {at} of {words:x?}: {want:#x} became {got:#x}\n{before}\n{after}"
                );
            }
        }
        after.regions[after.body].insts.len()
    }
}

fn samples(special: &[u64], any: bool) -> Vec<[u32; 4]> {
    let mut rng = Rng::new(9);
    let mut samples = Vec::new();
    for _ in 0..12 {
        let mut words = [0; 4];
        for pair in 0..2 {
            let whole = match rng.below(4) {
                0 if any => rng.bits(),
                1 if any => rng.below(40) as u64,
                _ => rng.pick(special),
            };
            words[2 * pair] = whole as u32;
            words[2 * pair + 1] = (whole >> 32) as u32;
        }
        samples.push(words);
    }
    samples
}

/// Every way in which two operations meet: with constants on either side of the first, and on the right of the second or an
/// input; then two of one input or two.
fn pairs(b: &mut Builder, leaves: &Leaves, inner: Op, outer: Op) -> Vec<Value> {
    let [x, y] = leaves.inputs;
    let mut roots = Vec::new();
    // The truth of a comparison goes on as a choice.
    let (no, yes) = (leaves.constants[0], leaves.constants[1]);
    let mut apply = |op: Op, args: &[Value]| {
        let unary = matches!(
            op,
            Op::INeg
                | Op::Not
                | Op::FNeg
                | Op::FAbs
                | Op::FSat
                | Op::FSqrt
                | Op::FFloor
                | Op::FCeil
                | Op::FTrunc
                | Op::FRound
                | Op::FFract
        );
        let value = match op {
            Op::FMa => b.op3(op, args[0], args[1], args[0]),
            _ if unary => b.op1(op, args[0]),
            _ => b.op2(op, args[0], args[1]),
        };
        match b.func.ty(value) {
            Type::B1 => {
                let opposite = b.op1(Op::Not, value);
                let opposite = b.select(opposite, no, yes);
                [b.select(value, yes, no), opposite]
            }
            _ => [value, value],
        }
    };
    for &c in &leaves.constants {
        for [first, other] in [apply(inner, &[x, c]), apply(inner, &[c, x])] {
            for &d in &leaves.constants {
                roots.push(apply(outer, &[first, d])[0]);
            }
            roots.push(apply(outer, &[other, x])[0]);
            roots.push(apply(outer, &[x, first])[1]);
        }
    }
    let [first, _] = apply(inner, &[x, y]);
    for last in [x, y] {
        roots.push(apply(outer, &[first, last])[0]);
        roots.push(apply(outer, &[last, first])[0]);
    }
    roots
}

#[test]
fn two_operations_on_integers_keep_their_value() {
    let ops = [
        Op::IAdd,
        Op::ISub,
        Op::IMul,
        Op::UDiv,
        Op::SDiv,
        Op::URem,
        Op::SRem,
        Op::And,
        Op::Or,
        Op::Xor,
        Op::Shl,
        Op::LShr,
        Op::AShr,
        Op::SMin,
        Op::SMax,
        Op::UMin,
        Op::UMax,
        Op::UMulHi,
        Op::SMulHi,
        Op::IEq,
        Op::INe,
        Op::ULt,
        Op::ULe,
        Op::SLt,
        Op::SLe,
        Op::INeg,
        Op::Not,
    ];
    let constants =
        [0, 1, 2, 5, 24, 31, 32, 33, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff];
    let family = Family {
        ty: Type::B32,
        constants: &constants,
        samples: &samples(&constants, true),
        model: Numerics::REFERENCE,
        relaxed: false,
    };
    let mut left = 0;
    for inner in ops {
        for outer in ops {
            left += family.check(&|b, leaves| pairs(b, leaves, inner, outer));
        }
    }
    // More would be an identity lost; fewer is a reason to write the new number here.
    assert!(left <= INTEGERS, "{left} instructions are left");
}

#[test]
fn two_operations_on_floats_of_every_width_keep_their_bits() {
    let ops = [
        Op::FAdd,
        Op::FSub,
        Op::FMul,
        Op::FDiv,
        Op::FMa,
        Op::FMin,
        Op::FMax,
        Op::FLt,
        Op::FLe,
        Op::FEq,
        Op::FNe,
        Op::FNeg,
        Op::FAbs,
        Op::FSat,
        Op::FSqrt,
        Op::FFloor,
        Op::FTrunc,
    ];
    let numbers = [0.0, 1.0, -0.0, -1.0, 2.0, 0.5, -4.0, 3.0, f64::INFINITY, f64::NAN];
    let widths: [(Type, Vec<u64>, usize); 3] = [
        (
            Type::B16,
            // The least and the greatest power of two, half the least, and the greatest number of all.
            [
                0, 0x3c00, 0x8000, 0xbc00, 0x4000, 0x3800, 0x0400, 0x7800, 0x0200, 0x7bff, 0x7c00,
                0x7e00, 0x7400,
            ]
            .to_vec(),
            8,
        ),
        (
            Type::B32,
            numbers
                .iter()
                .map(|&number| u64::from((number as f32).to_bits()))
                .chain([0x0080_0000, 0x7f00_0000, 0x7e80_0000, 0x0040_0000, 0x7f7f_ffff])
                .collect(),
            17,
        ),
        (
            Type::B64,
            numbers
                .iter()
                .map(|number| number.to_bits())
                .chain([1 << 52, 0x7fe << 52, 0x7fd << 52, 1 << 51, u64::MAX >> 12 | 0x7fe << 52])
                .collect(),
            5,
        ),
    ];
    let mut left = 0;
    for (ty, constants, count) in &widths {
        for model in MODELS {
            let family = Family {
                ty: *ty,
                constants,
                samples: &samples(constants, true),
                model,
                relaxed: false,
            };
            for &inner in &ops[..*count] {
                for &outer in &ops[..*count] {
                    left += family.check(&|b, leaves| pairs(b, leaves, inner, outer));
                }
            }
        }
    }
    assert!(left <= FLOATS, "{left} instructions are left");
}

#[test]
fn two_operations_on_what_is_taken_for_a_number_keep_that_number() {
    let ops = [
        Op::FAdd,
        Op::FSub,
        Op::FMul,
        Op::FDiv,
        Op::FMa,
        Op::FMin,
        Op::FMax,
        Op::FLt,
        Op::FLe,
        Op::FEq,
        Op::FNe,
        Op::FNeg,
        Op::FAbs,
        Op::FSat,
        Op::FSqrt,
        Op::FFloor,
        Op::FCeil,
        Op::FTrunc,
        Op::FRound,
        Op::FFract,
    ];
    // Sums and products of these are exact, so no comparison hinges on a rounding.
    let numbers = [0.0f32, 1.0, -1.0, 2.0, 0.5, -0.25, 4.0, 1.5];
    let constants: Vec<u64> = numbers.iter().map(|x| x.to_bits().into()).collect();
    let at: Vec<u64> = (1..40).map(|n| (n as f32 / 4.0 - 5.0625).to_bits().into()).collect();
    let mut left = 0;
    for model in MODELS {
        let family = Family {
            ty: Type::B32,
            constants: &constants,
            samples: &samples(&at, false),
            model,
            relaxed: true,
        };
        for inner in ops {
            for outer in ops {
                left += family.check(&|b, leaves| pairs(b, leaves, inner, outer));
            }
        }
        for terms in 2..=4usize {
            left += family.check(&|b, leaves| {
                let mut roots = Vec::new();
                let some = [&leaves.constants[..4], &leaves.inputs].concat();
                let mut rng = Rng::new(11);
                for _ in 0..400 {
                    let args: Vec<Value> = (0..2 * terms).map(|_| rng.pick(&some)).collect();
                    roots.push(b.op(Op::FDot, &args));
                }
                for &x in &leaves.inputs {
                    for &c in &leaves.constants {
                        roots.push(b.op2(Op::FPow, x, c));
                        roots.push(b.op2(Op::FPow, c, x));
                    }
                }
                roots
            });
        }
    }
    assert!(left <= NUMBERS, "{left} instructions are left");
}

/// Floats of which something is known, one on the other.
fn ranged(b: &mut Builder, leaves: &Leaves) -> Vec<Value> {
    let mut rng = Rng::new(12);
    let [x, y] = leaves.inputs;
    let mut known = leaves.constants.clone();
    known.extend([b.convert(Op::UToF, Type::B32, x), b.convert(Op::SToF, Type::B32, y)]);
    let (scale, away) = (b.f32(1.0 / 4_294_967_296.0), b.f32(2.0));
    for whole in [known[known.len() - 2], known[known.len() - 1]] {
        let small = b.op2(Op::FMul, whole, scale);
        known.extend([small, b.op2(Op::FSub, small, away), b.op2(Op::FMul, small, away)]);
    }
    known.extend([x, y]);
    let unary = [
        Op::FSat,
        Op::FFract,
        Op::FSinTurns,
        Op::FCosTurns,
        Op::FSin,
        Op::FCos,
        Op::FNeg,
        Op::FAbs,
        Op::FFloor,
        Op::FCeil,
        Op::FTrunc,
        Op::FRound,
        Op::FSqrt,
        Op::FExp2,
        Op::FRsq,
    ];
    let binary = [Op::FAdd, Op::FSub, Op::FMul, Op::FMin, Op::FMax];
    for _ in 0..1500 {
        let mut pick = || rng.pick(&known);
        let (p, q, r) = (pick(), pick(), pick());
        let value = match rng.below(8) {
            0..3 => b.op1(rng.pick(&unary), p),
            3..6 => b.op2(rng.pick(&binary), p, q),
            6 => b.op2(Op::FMul, p, p),
            _ if rng.below(2) == 0 => b.op3(Op::FMa, p, q, r),
            _ => {
                let less = b.op2(Op::FLt, p, q);
                b.select(less, q, r)
            }
        };
        known.push(value);
    }
    known
}

#[test]
fn bounds_of_a_float_hold_it() {
    let constants: Vec<u64> =
        [0.0f32, -1.5, 2.0, 0.25, -8.0].iter().map(|x| x.to_bits().into()).collect();
    let (func, roots) = function(Type::B32, &constants, &ranged);
    let mut bounded = 0;
    for words in samples(&[0, 1, 0x3f00_0000, 0xbfc0_0000, 0xffff_ffff, 0x7fc0_0000], true) {
        for model in MODELS {
            let (values, _) = values(&func, words, &model);
            for &root in &roots {
                let Some((least, most)) = float_range::bounds(&func, root, 6) else {
                    continue;
                };
                let number = f32::from_bits(values[root].0 as u32);
                assert!(
                    least <= number && number <= most,
                    "{} {number} is not between {least} and {most}: {root} of {func}",
                    model.name
                );
                bounded += 1;
            }
        }
    }
    // Fewer would be something known no more.
    assert!(bounded >= BOUNDED, "{bounded} were bounded");
}

#[test]
fn what_ranges_decide_of_numbers_is_what_comes_of_them() {
    let constants: Vec<u64> =
        [0.0f32, -1.5, 2.0, 0.25, -8.0, 1.0].iter().map(|x| x.to_bits().into()).collect();
    for certain in [false, true] {
        let fill = |b: &mut Builder, leaves: &Leaves| {
            let known = ranged(b, leaves);
            let mut rng = Rng::new(13);
            let ops = [Op::FLt, Op::FLe, Op::FEq, Op::FNe, Op::FMin, Op::FMax];
            (0..3000)
                .map(|_| {
                    let right = if rng.below(2) == 0 {
                        rng.pick(&leaves.constants)
                    } else {
                        rng.pick(&known)
                    };
                    b.op2(rng.pick(&ops), rng.pick(&known), right)
                })
                .collect()
        };
        let (before, roots) = function(Type::B32, &constants, &fill);
        let mut after = before.clone();
        let decided = if certain {
            float_range::decide_certain(&mut after)
        } else {
            float_range::decide(&mut after)
        };
        assert!(decided);
        for words in samples(&[0, 1, 0x3f00_0000, 0xbfc0_0000, 0x4120_0000], true) {
            for model in MODELS {
                let (before, _) = values(&before, words, &model);
                let (after, _) = values(&after, words, &model);
                for &root in &roots {
                    let ((want, wild), (got, _)) = (before[root], after[root]);
                    let zeros = (want | got) << 1 & 0xffff_ffff == 0;
                    assert!(
                        want == got || zeros || wild && !certain,
                        "{} {root}: {want:#x} {got:#x}",
                        model.name
                    );
                }
            }
        }
        let changed = roots.iter().filter(|&&root| {
            let old = before.def(root).map(|data| (data.op, data.args.clone()));
            old != after.def(root).map(|data| (data.op, data.args.clone()))
        });
        let (count, least) = (changed.count(), if certain { CERTAIN } else { DECIDED });
        assert!(count >= least, "{count} were decided");
    }
}

/// Instructions that folding leaves of the expressions above, and what ranges say of them.
const INTEGERS: usize = 615_757;
const FLOATS: usize = 1_591_900;
const NUMBERS: usize = 513_529;
const BOUNDED: usize = 17_604;
const DECIDED: usize = 374;
const CERTAIN: usize = 151;
