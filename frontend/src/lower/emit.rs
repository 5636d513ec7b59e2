//! Small steps of building: constants, vector operations lane by lane, blocks, variables.

use super::frame::Place;
use super::memory::stored;
use super::types::Layout;
use super::{Lower, Result, Values};
use crate::stop::Stop;
use gpucc_ir::ssa::{
    Access, Builder, Bundle, Imm, Inst, Mem, MemData, MemSpace, Op, Region, Type, Value,
};

/// What holds of all workgroup variables of an entry point.
const MIXED: &str = "workgroup memory holds blocks, and variables that are none (SPV_KHR_workgroup_memory_explicit_layout)";

impl<S> Lower<'_, S> {
    /// A builder at the current place.
    pub fn b(&mut self) -> Builder<'_> {
        Builder { region: self.region, span: self.span, bundle: self.bundle, func: &mut self.func }
    }

    /// Runs `fill` with another region as the current one.
    pub fn within<T>(&mut self, region: Region, fill: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.region, region);
        let bundle = self.bundle.take();
        let result = fill(self);
        self.region = outer;
        self.bundle = bundle;
        result
    }

    /// A constant; each exists once, in the prologue.
    pub fn constant(&mut self, ty: Type, bits: u64) -> Value {
        let bits = bits & ty.mask();
        if let Some(&value) = self.constants.get(&(ty, bits)) {
            return value;
        }
        let prologue = self.prologue;
        let value = self.within(prologue, |lower| lower.b().constant(ty, bits));
        self.constants.insert((ty, bits), value);
        value
    }
    /// A 32-bit constant.
    pub fn u32(&mut self, bits: u32) -> Value {
        self.constant(Type::B32, bits.into())
    }
    /// A float constant of a width.
    pub fn float(&mut self, ty: Type, value: f64) -> Value {
        let bits = match ty {
            Type::B16 => u64::from(half::f16::from_f64(value).to_bits()),
            Type::B64 => value.to_bits(),
            Type::B1 | Type::B32 => u64::from((value as f32).to_bits()),
        };
        self.constant(ty, bits)
    }
    /// A truth value.
    pub fn bool(&mut self, value: bool) -> Value {
        self.constant(Type::B1, value.into())
    }

    /// One operand.
    pub fn op1(&mut self, op: Op, a: Value) -> Value {
        self.b().op1(op, a)
    }
    /// Two operands.
    pub fn op2(&mut self, op: Op, a: Value, b: Value) -> Value {
        self.b().op2(op, a, b)
    }
    /// Three operands.
    pub fn op3(&mut self, op: Op, a: Value, b: Value, c: Value) -> Value {
        self.b().op3(op, a, b, c)
    }
    /// A conversion.
    pub fn convert(&mut self, op: Op, to: Type, a: Value) -> Value {
        self.b().convert(op, to, a)
    }
    /// `a` when `c`, else `b`.
    pub fn select(&mut self, c: Value, a: Value, b: Value) -> Value {
        self.op3(Op::Select, c, a, b)
    }
    /// The width of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.func.ty(value)
    }

    /// Runs one source vector operation: instructions that `lane` makes remember their lane.
    pub fn lanes(
        &mut self,
        count: usize,
        mut lane: impl FnMut(&mut Self, usize) -> Result<Value>,
    ) -> Result<Values> {
        if count == 1 {
            return Ok(Values::from_elem(lane(self, 0)?, 1));
        }
        let outer = self.bundle;
        let id = self.next_bundle;
        self.next_bundle += 1;
        let mut values = Values::with_capacity(count);
        for index in 0..count {
            self.bundle = outer.or(Bundle::new(id, (index & 3) as u8));
            values.push(lane(self, index)?);
        }
        self.bundle = outer;
        Ok(values)
    }

    /// One op lane by lane; an operand of one scalar serves all lanes.
    pub fn map(&mut self, op: Op, operands: &[&Values]) -> Result<Values> {
        let count = operands.iter().map(|values| values.len()).max().unwrap_or(0);
        self.lanes(count, |lower, lane| {
            let args: Values = operands.iter().map(|values| pick(values, lane)).collect();
            Ok(lower.b().op(op, &args))
        })
    }

    /// `a + b` with constants folded.
    pub fn add_address(&mut self, a: Value, b: u32) -> Value {
        match self.func.as_const(a) {
            Some(bits) => self.u32((bits as u32).wrapping_add(b)),
            None if b == 0 => a,
            None => {
                let b = self.u32(b);
                self.op2(Op::IAdd, a, b)
            }
        }
    }

    /// `a * b` with constants folded.
    pub fn mul_address(&mut self, a: Value, b: u32) -> Value {
        match self.func.as_const(a) {
            Some(bits) => self.u32((bits as u32).wrapping_mul(b)),
            None if b == 1 => a,
            None if b.is_power_of_two() => {
                let amount = self.u32(b.trailing_zeros());
                self.op2(Op::Shl, a, amount)
            }
            None => {
                let b = self.u32(b);
                self.op2(Op::IMul, a, b)
            }
        }
    }

    /// A new variable of whole words.
    pub fn variable(&mut self, name: &str, bytes: u64, space: MemSpace) -> Result<Mem> {
        let (used, limit, what) = match space {
            MemSpace::Private | MemSpace::Constant => {
                (&mut self.private_bytes, self.limits.private_bytes, "bytes of private variables")
            }
            MemSpace::Workgroup => (
                &mut self.workgroup_bytes,
                self.limits.workgroup_bytes,
                "bytes of workgroup variables",
            ),
        };
        let needed = used.saturating_add(bytes);
        if needed > limit {
            return Err(Stop::limit(what, needed, limit, "use smaller arrays"));
        }
        *used = needed;
        Ok(self.func.mems.push(MemData {
            name: name.to_owned(),
            size: bytes.max(4) as u32,
            space,
            words: Vec::new(),
        }))
    }

    /// The place of a block of workgroup memory of so many bytes. All blocks begin at the first byte of one memory
    /// (SPV_KHR_workgroup_memory_explicit_layout, GL_EXT_shared_memory_block).
    pub fn shared_block(&mut self, name: &str, bytes: u64) -> Result<Place> {
        let bytes = bytes.max(1).next_multiple_of(4);
        let mem = match self.shared {
            Some(mem) => {
                let more = bytes.saturating_sub(self.func.mems[mem].size.into());
                let (needed, limit) =
                    (self.workgroup_bytes.saturating_add(more), self.limits.workgroup_bytes);
                if needed > limit {
                    let what = "bytes of workgroup variables";
                    return Err(Stop::limit(what, needed, limit, "use smaller arrays"));
                }
                self.workgroup_bytes = needed;
                self.func.mems[mem].size += more as u32;
                mem
            }
            None if self.workgroup_bytes > 0 => return Err(Stop::invalid(MIXED)),
            None => {
                let mem = self.variable(name, bytes, MemSpace::Workgroup)?;
                *self.shared.insert(mem)
            }
        };
        Ok(Place { layout: Layout::Host, ..Place::mem(mem, bytes as u32) })
    }

    /// A workgroup variable that has its bytes for itself.
    pub fn workgroup_variable(&mut self, name: &str, bytes: u64) -> Result<Mem> {
        match self.shared {
            Some(_) => Err(Stop::invalid(MIXED)),
            None => self.variable(name, bytes, MemSpace::Workgroup),
        }
    }

    /// A private variable for one scalar.
    pub fn scalar_variable(&mut self, name: &str, ty: Type) -> Result<Mem> {
        let bytes = if ty == Type::B64 { 8 } else { 4 };
        self.variable(name, bytes, MemSpace::Private)
    }

    /// The bytes of a variable that holds one scalar.
    fn scalar_access(&self, mem: Mem, ty: Type) -> Access {
        Access { mem, lo: 0, hi: ty.bytes() }
    }

    /// Reads a variable that holds one scalar.
    pub fn read_scalar(&mut self, mem: Mem, ty: Type) -> Value {
        let stored = stored(ty);
        let access = self.scalar_access(mem, stored);
        let address = self.u32(0);
        let value = self.b().mem_load(access, address, &[stored])[0];
        if ty == Type::B1 {
            return self.truth(value);
        }
        value
    }

    /// Writes a variable that holds one scalar.
    pub fn write_scalar(&mut self, mem: Mem, value: Value) {
        let value = match self.ty(value) {
            Type::B1 => self.word(value),
            Type::B16 | Type::B32 | Type::B64 => value,
        };
        let access = self.scalar_access(mem, self.ty(value));
        let address = self.u32(0);
        self.b().mem_store(access, address, &[value]);
    }

    /// The place of a whole variable.
    pub fn place_of(&self, mem: Mem) -> Place {
        Place::mem(mem, self.func.mems[mem].size)
    }

    /// Fills a fresh region, one level deeper.
    pub fn nested(&mut self, fill: impl FnOnce(&mut Self) -> Result<()>) -> Result<Region> {
        if self.depth >= self.limits.region_depth {
            return Err(Stop::limit(
                "nesting of control flow with calls inlined",
                self.depth + 1,
                self.limits.region_depth,
                "nest less, or call less deeply",
            )
            .at(self.span));
        }
        self.depth += 1;
        let region = self.func.new_region();
        let result = self.within(region, fill);
        self.depth -= 1;
        result.map(|()| region)
    }

    /// True when the current region ends in a terminator.
    pub fn ended(&self) -> bool {
        self.func.terminator(self.region).is_some()
    }

    /// Ends the current region with `op` unless it ended already.
    pub fn end_open(&mut self, op: Op) {
        if !self.ended() {
            self.b().end(op, &[]);
        }
    }

    /// Removes what stands behind the first terminator of each region: what an expression still computes when a function
    /// in it never returned.
    pub fn drop_behind_terminators(&mut self) {
        let insts = &self.func.insts;
        for region in self.func.regions.values_mut() {
            let end = region.insts.iter().position(|&inst| insts[inst].op.is_terminator());
            if let Some(end) = end {
                region.insts.truncate(end + 1);
            }
        }
    }

    /// Leaves a labelled block.
    pub fn exit(&mut self, label: Inst) {
        self.exited.insert(label);
        self.b().exit(label, &[]);
    }

    /// A labelled block; it dissolves into the current region when nothing exits it. Gives whether
    /// control can flow on behind it.
    pub fn labelled(&mut self, fill: impl FnOnce(&mut Self, Inst) -> Result<bool>) -> Result<bool> {
        let span = self.span;
        let block = self.b().inst(Op::Block, Imm::None, &[], &[], &[]);
        let mut open = true;
        let region = self.nested(|lower| {
            open = fill(lower, block)?;
            Ok(())
        })?;
        self.span = span;
        if self.exited.contains(&block) {
            self.within(region, |lower| lower.end_open(Op::Yield));
            self.func.insts[block].regions.push(region);
            return Ok(true);
        }
        let inner = std::mem::take(&mut self.func.regions[region].insts);
        let outer = &mut self.func.regions[self.region].insts;
        let popped = outer.pop();
        debug_assert_eq!(popped, Some(block), "the block is the last instruction");
        outer.extend(inner);
        Ok(open)
    }
}

/// A lane of an operand; one scalar serves all lanes.
pub fn pick(values: &[Value], lane: usize) -> Value {
    if values.len() == 1 { values[0] } else { values[lane] }
}
