//! The builder: inserts at the end of a current region, keeps result types by the op's signature.

use super::func::{Access, Bundle, Func, Imm, Inst, InstData, Region, Span, Type, Value};
use super::op::Op;
use super::resource::{Input, Output, Resource};
use smallvec::SmallVec;

/// Appends instructions to a region of a function.
///
/// ```
/// use gpucc_ir::ssa::{Builder, Func, Op, Stage, Type};
/// let mut func = Func::new("main", Stage::Compute);
/// let mut b = Builder::at_body(&mut func);
/// let one = b.f32(1.0);
/// let two = b.op2(Op::FAdd, one, one);
/// let cond = b.op2(Op::FLt, one, two);
/// let results = b.if_else(cond, &[Type::B32], |b| vec![b.u32(1)], |b| vec![b.u32(2)]);
/// assert_eq!(results.len(), 1);
/// b.end(Op::Yield, &[]);
/// ```
pub struct Builder<'f> {
    /// The function.
    pub func: &'f mut Func,
    /// Where instructions go.
    pub region: Region,
    /// Position given to new instructions.
    pub span: Span,
    /// Source vector operation given to new instructions.
    pub bundle: Option<Bundle>,
}

impl<'f> Builder<'f> {
    /// Appends to the function's body.
    pub fn at_body(func: &'f mut Func) -> Self {
        let region = func.body;
        Builder::at(func, region)
    }

    /// Appends to a region.
    pub fn at(func: &'f mut Func, region: Region) -> Self {
        Builder { func, region, span: Span::NONE, bundle: None }
    }

    /// Appends an instruction with everything given; the general form behind all others.
    pub fn inst(
        &mut self,
        op: Op,
        imm: Imm,
        args: &[Value],
        regions: &[Region],
        results: &[Type],
    ) -> Inst {
        let data = InstData {
            op,
            args: SmallVec::from_slice(args),
            imm,
            regions: regions.iter().copied().collect(),
            results: SmallVec::new(),
            span: self.span,
            bundle: self.bundle,
        };
        let inst = self.func.new_inst(data, results);
        self.func.regions[self.region].insts.push(inst);
        inst
    }

    /// The first result of an instruction.
    pub fn result(&self, inst: Inst) -> Value {
        self.func.insts[inst].results[0]
    }

    /// A constant of a type.
    pub fn constant(&mut self, ty: Type, bits: u64) -> Value {
        let inst = self.inst(Op::Const, Imm::Bits(bits & ty.mask()), &[], &[], &[ty]);
        self.result(inst)
    }
    /// A 32-bit constant.
    pub fn u32(&mut self, bits: u32) -> Value {
        self.constant(Type::B32, bits.into())
    }
    /// An f32 constant.
    pub fn f32(&mut self, value: f32) -> Value {
        self.u32(value.to_bits())
    }
    /// A truth value.
    pub fn bool(&mut self, value: bool) -> Value {
        self.constant(Type::B1, value.into())
    }

    /// An operation whose result type follows from its operands (every signature but Const, Convert and Custom).
    pub fn op(&mut self, op: Op, args: &[Value]) -> Value {
        let ty = op.result(|index| self.func.ty(args[index]));
        let ty = ty.unwrap_or_else(|| panic!("{} needs its result types given", op.name()));
        let inst = self.inst(op, Imm::None, args, &[], &[ty]);
        self.result(inst)
    }
    /// One operand.
    pub fn op1(&mut self, op: Op, a: Value) -> Value {
        self.op(op, &[a])
    }
    /// Two operands.
    pub fn op2(&mut self, op: Op, a: Value, b: Value) -> Value {
        self.op(op, &[a, b])
    }
    /// Three operands.
    pub fn op3(&mut self, op: Op, a: Value, b: Value, c: Value) -> Value {
        self.op(op, &[a, b, c])
    }
    /// A conversion to a given type.
    pub fn convert(&mut self, op: Op, to: Type, a: Value) -> Value {
        let inst = self.inst(op, Imm::None, &[a], &[], &[to]);
        self.result(inst)
    }
    /// `a` when `c`, else `b`.
    pub fn select(&mut self, c: Value, a: Value, b: Value) -> Value {
        self.op3(Op::Select, c, a, b)
    }

    /// Component `component` of an input, with its scalar's width.
    pub fn input(&mut self, input: Input, component: u8) -> Value {
        let ty = match self.func.inputs[input].scalar {
            super::Scalar::F16 => Type::B16,
            _ => Type::B32,
        };
        let inst = self.inst(Op::Input, Imm::Input(input, component), &[], &[], &[ty]);
        self.result(inst)
    }
    /// Writes a component of an output.
    pub fn output(&mut self, output: Output, component: u8, value: Value) {
        self.inst(Op::Output, Imm::Output(output, component), &[value], &[], &[]);
    }
    /// Loads values that stand one after the other. `element` for arrays of bindings.
    pub fn buffer_load(
        &mut self,
        buffer: Resource,
        element: Option<Value>,
        address: Value,
        types: &[Type],
    ) -> SmallVec<[Value; 2]> {
        let args: SmallVec<[Value; 4]> = element.into_iter().chain([address]).collect();
        let inst = self.inst(Op::BufferLoad, Imm::Resource(buffer), &args, &[], types);
        self.func.insts[inst].results.clone()
    }
    /// Stores values one after the other.
    pub fn buffer_store(
        &mut self,
        buffer: Resource,
        element: Option<Value>,
        address: Value,
        values: &[Value],
    ) {
        let args: SmallVec<[Value; 4]> =
            element.into_iter().chain([address]).chain(values.iter().copied()).collect();
        self.inst(Op::BufferStore, Imm::Resource(buffer), &args, &[], &[]);
    }
    /// Loads values of a variable that stand one after the other.
    pub fn mem_load(
        &mut self,
        access: Access,
        address: Value,
        types: &[Type],
    ) -> SmallVec<[Value; 2]> {
        let inst = self.inst(Op::MemLoad, Imm::Mem(access), &[address], &[], types);
        self.func.insts[inst].results.clone()
    }
    /// Stores values of a variable one after the other.
    pub fn mem_store(&mut self, access: Access, address: Value, values: &[Value]) {
        let args: SmallVec<[Value; 4]> =
            std::iter::once(address).chain(values.iter().copied()).collect();
        self.inst(Op::MemStore, Imm::Mem(access), &args, &[], &[]);
    }

    /// Ends the current region.
    pub fn end(&mut self, op: Op, args: &[Value]) -> Inst {
        debug_assert!(op.is_terminator() && op != Op::Exit);
        self.inst(op, Imm::None, args, &[], &[])
    }
    /// Ends the current region by leaving a labelled block.
    pub fn exit(&mut self, block: Inst, args: &[Value]) -> Inst {
        self.inst(Op::Exit, Imm::Label(block), args, &[], &[])
    }
    /// True when the current region already ends in a terminator.
    pub fn ended(&self) -> bool {
        self.func.terminator(self.region).is_some()
    }

    /// Runs `fill` with a fresh region as the current one and gives that region back.
    pub fn in_new_region(&mut self, fill: impl FnOnce(&mut Self)) -> Region {
        let region = self.func.new_region();
        let outer = std::mem::replace(&mut self.region, region);
        fill(self);
        self.region = outer;
        region
    }

    /// An `if` whose arms give the values to yield (an arm that ended itself otherwise gives anything).
    pub fn if_else(
        &mut self,
        cond: Value,
        types: &[Type],
        then: impl FnOnce(&mut Self) -> Vec<Value>,
        otherwise: impl FnOnce(&mut Self) -> Vec<Value>,
    ) -> SmallVec<[Value; 2]> {
        let arm = |b: &mut Self, fill: &mut dyn FnMut(&mut Self) -> Vec<Value>| {
            b.in_new_region(|b| {
                let values = fill(b);
                if !b.ended() {
                    b.end(Op::Yield, &values);
                }
            })
        };
        let (mut then, mut otherwise) = (Some(then), Some(otherwise));
        let yes = arm(self, &mut |b| then.take().map_or_else(Vec::new, |f| f(b)));
        let no = arm(self, &mut |b| otherwise.take().map_or_else(Vec::new, |f| f(b)));
        let inst = self.inst(Op::If, Imm::None, &[cond], &[yes, no], types);
        self.func.insts[inst].results.clone()
    }

    /// A labelled `block`: `fill` gets its label and gives the values to yield.
    pub fn block(
        &mut self,
        types: &[Type],
        fill: impl FnOnce(&mut Self, Inst) -> Vec<Value>,
    ) -> SmallVec<[Value; 2]> {
        let block = self.inst(Op::Block, Imm::None, &[], &[], types);
        let region = self.in_new_region(|b| {
            let values = fill(b, block);
            if !b.ended() {
                b.end(Op::Yield, &values);
            }
        });
        self.func.insts[block].regions.push(region);
        self.func.insts[block].results.clone()
    }

    /// A `loop`: `body` gets the body's parameters (one per initial value) and must end the region
    /// (`continue`, `break`, ...); `continuing` gets its own parameters, of these types, and ends in
    /// `next` or `break_if`. Gives the loop's results.
    pub fn loop_(
        &mut self,
        inits: &[Value],
        continuing_types: &[Type],
        results: &[Type],
        body: impl FnOnce(&mut Self, &[Value]),
        continuing: impl FnOnce(&mut Self, &[Value]),
    ) -> SmallVec<[Value; 2]> {
        let inst = self.inst(Op::Loop, Imm::None, inits, &[], results);
        let types: SmallVec<[Type; 4]> = inits.iter().map(|&init| self.func.ty(init)).collect();
        let body_region = self.in_new_region(|b| {
            let region = b.region;
            let params: Vec<Value> = types.iter().map(|&ty| b.func.add_param(region, ty)).collect();
            body(b, &params);
        });
        let continuing_region = self.in_new_region(|b| {
            let region = b.region;
            let params: Vec<Value> =
                continuing_types.iter().map(|&ty| b.func.add_param(region, ty)).collect();
            continuing(b, &params);
        });
        self.func.insts[inst].regions.extend([body_region, continuing_region]);
        self.func.insts[inst].results.clone()
    }
}
