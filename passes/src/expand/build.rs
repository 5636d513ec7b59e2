//! What expansions are written with: a builder that computes constants at once.

use gpucc_ir::ssa::{Builder, Func, Inst, InstData, Numerics, Op, Type, Value, eval};

/// Appends 32-bit operations that stand for one instruction.
pub(super) struct Expander<'f, 'n> {
    b: Builder<'f>,
    pub(super) numerics: &'n Numerics,
}

impl<'f, 'n> Expander<'f, 'n> {
    pub(super) fn new(func: &'f mut Func, numerics: &'n Numerics, like: &InstData) -> Self {
        let region = func.new_region();
        let mut b = Builder::at(func, region);
        b.span = like.span;
        b.bundle = like.bundle;
        Expander { b, numerics }
    }

    /// What it appends with.
    pub(super) fn builder(&mut self) -> &mut Builder<'f> {
        &mut self.b
    }

    /// What was built.
    pub(super) fn finish(self) -> Vec<Inst> {
        std::mem::take(&mut self.b.func.regions[self.b.region].insts)
    }

    pub(super) fn u(&mut self, bits: u32) -> Value {
        self.b.u32(bits)
    }
    pub(super) fn f(&mut self, value: f32) -> Value {
        self.b.f32(value)
    }

    /// An op, or its value when all operands are constants.
    pub(super) fn op(&mut self, op: Op, args: &[Value]) -> Value {
        let (from, to) = match op {
            Op::IEq | Op::INe | Op::SLt | Op::SLe | Op::ULt | Op::ULe => (Type::B32, Type::B1),
            Op::FEq | Op::FNe | Op::FLt | Op::FLe => (Type::B32, Type::B1),
            _ => {
                let ty = self.b.func.ty(*args.last().expect("an op with operands"));
                (ty, ty)
            }
        };
        let constants: Option<Vec<u64>> =
            args.iter().map(|&arg| self.b.func.as_const(arg)).collect();
        if let Some(bits) = constants.and_then(|bits| eval(op, from, to, &bits, self.numerics)) {
            return self.b.constant(to, bits);
        }
        match op {
            Op::UToF | Op::SToF | Op::FToU | Op::FToS => self.b.convert(op, Type::B32, args[0]),
            _ => self.b.op(op, args),
        }
    }

    /// `yes` when `cond`, else `no`; decided at once when `cond` is a constant.
    pub(super) fn select(&mut self, cond: Value, yes: Value, no: Value) -> Value {
        match self.b.func.as_const(cond) {
            Some(0) => no,
            Some(_) => yes,
            None => self.b.select(cond, yes, no),
        }
    }
}

/// Short names for the operations that expansions are full of.
macro_rules! short {
    ($( $name:ident = $op:ident ( $($arg:ident),+ ); )+) => {
        impl Expander<'_, '_> {
            $( pub(super) fn $name(&mut self, $($arg: Value),+) -> Value {
                self.op(Op::$op, &[$($arg),+])
            } )+
        }
    };
}

short! {
    iadd = IAdd(a, b);
    isub = ISub(a, b);
    imul = IMul(a, b);
    umulhi = UMulHi(a, b);
    and = And(a, b);
    or = Or(a, b);
    xor = Xor(a, b);
    not = Not(a);
    shl = Shl(a, by);
    lshr = LShr(a, by);
    ashr = AShr(a, by);
    umin = UMin(a, b);
    smin = SMin(a, b);
    smax = SMax(a, b);
    ieq = IEq(a, b);
    slt = SLt(a, b);
    ult = ULt(a, b);
    ule = ULe(a, b);
    fadd = FAdd(a, b);
    fsub = FSub(a, b);
    fmul = FMul(a, b);
    fma = FMa(a, b, c);
    fneg = FNeg(a);
    fabs = FAbs(a);
    fmin = FMin(a, b);
    fmax = FMax(a, b);
    flt = FLt(a, b);
    frcp = FRcp(a);
    fexp2 = FExp2(a);
    flog2 = FLog2(a);
    utof = UToF(a);
    ftou = FToU(a);
}

impl Expander<'_, '_> {
    /// The sign bit of a float, alone.
    pub(super) fn sign_bit(&mut self, x: Value) -> Value {
        let mask = self.u(0x8000_0000);
        self.and(x, mask)
    }

    /// A number that is not negative, with the sign bit of `x`: a product with 1 or -1 costs no more than two
    /// operations on bits, goes into sums, and is no bit operation, which are slow on some machines.
    pub(super) fn with_sign(&mut self, size: Value, x: Value) -> Value {
        let (zero, one, minus) = (self.u(0), self.f(1.0), self.f(-1.0));
        let negative = self.slt(x, zero);
        let sign = self.select(negative, minus, one);
        self.fmul(size, sign)
    }

    /// c[0] + c[1] z + c[2] z^2 + ...
    pub(super) fn polynomial(&mut self, z: Value, coefficients: &[f32]) -> Value {
        let (&last, rest) = coefficients.split_last().expect("at least a constant");
        let mut sum = self.f(last);
        for &coefficient in rest.iter().rev() {
            let coefficient = self.f(coefficient);
            sum = self.fma(sum, z, coefficient);
        }
        sum
    }
}
