//! What expansions are written with: a builder that computes constants at once.

use gpucc_ir::ssa::{Builder, Func, Inst, InstData, Numerics, Op, Type, Value, eval};

/// Appends operations that stand for one instruction.
pub(crate) struct Expander<'f, 'n> {
    b: Builder<'f>,
    pub(crate) numerics: &'n Numerics,
}

impl<'f, 'n> Expander<'f, 'n> {
    pub(crate) fn new(func: &'f mut Func, numerics: &'n Numerics, like: &InstData) -> Self {
        let region = func.new_region();
        let mut b = Builder::at(func, region);
        b.span = like.span;
        b.bundle = like.bundle;
        Expander { b, numerics }
    }

    /// What it appends with.
    pub(crate) fn builder(&mut self) -> &mut Builder<'f> {
        &mut self.b
    }

    /// What was built.
    pub(crate) fn finish(self) -> Vec<Inst> {
        std::mem::take(&mut self.b.func.regions[self.b.region].insts)
    }

    pub(crate) fn u(&mut self, bits: u32) -> Value {
        self.b.u32(bits)
    }
    pub(crate) fn f(&mut self, value: f32) -> Value {
        self.b.f32(value)
    }

    pub(crate) fn constant(&mut self, ty: Type, bits: u64) -> Value {
        self.b.constant(ty, bits)
    }
    pub(crate) fn as_const(&self, value: Value) -> Option<u64> {
        self.b.func.as_const(value)
    }
    pub(crate) fn ty(&self, value: Value) -> Type {
        self.b.func.ty(value)
    }

    /// An op, or its value when all operands are constants; a conversion gives 32 bits.
    pub(crate) fn op(&mut self, op: Op, args: &[Value]) -> Value {
        let from = self.b.func.ty(args[0]);
        let given = op.result(|index| self.b.func.ty(args[index]));
        let to = given.unwrap_or(Type::B32);
        if let Some(bits) = self.evaluated(op, from, to, args) {
            return self.b.constant(to, bits);
        }
        match given {
            Some(_) => self.b.op(op, args),
            None => self.b.convert(op, to, args[0]),
        }
    }

    /// A conversion to a type, or its value when the operand is a constant.
    pub(crate) fn convert(&mut self, op: Op, to: Type, value: Value) -> Value {
        let from = self.b.func.ty(value);
        match self.evaluated(op, from, to, &[value]) {
            Some(bits) => self.b.constant(to, bits),
            None => self.b.convert(op, to, value),
        }
    }

    /// The value of an op of constants.
    fn evaluated(&self, op: Op, from: Type, to: Type, args: &[Value]) -> Option<u64> {
        let bits: Option<Vec<u64>> = args.iter().map(|&arg| self.b.func.as_const(arg)).collect();
        eval(op, from, to, &bits?, self.numerics)
    }

    /// `yes` when `cond`, else `no`; decided at once when `cond` is a constant.
    pub(crate) fn select(&mut self, cond: Value, yes: Value, no: Value) -> Value {
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
            $( pub(crate) fn $name(&mut self, $($arg: Value),+) -> Value {
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
    pub(crate) fn sign_bit(&mut self, x: Value) -> Value {
        let mask = self.u(0x8000_0000);
        self.and(x, mask)
    }

    /// A number that is not negative, with the sign bit of `x`: a product with 1 or -1 costs no more than two
    /// operations on bits, goes into sums, and is no bit operation, which are slow on some machines.
    pub(crate) fn with_sign(&mut self, size: Value, x: Value) -> Value {
        let (zero, one, minus) = (self.u(0), self.f(1.0), self.f(-1.0));
        let negative = self.slt(x, zero);
        let sign = self.select(negative, minus, one);
        self.fmul(size, sign)
    }

    /// c[0] + c[1] z + c[2] z^2 + ...
    pub(crate) fn polynomial(&mut self, z: Value, coefficients: &[f32]) -> Value {
        let (&last, rest) = coefficients.split_last().expect("at least a constant");
        let mut sum = self.f(last);
        for &coefficient in rest.iter().rev() {
            let coefficient = self.f(coefficient);
            sum = self.fma(sum, z, coefficient);
        }
        sum
    }
}
