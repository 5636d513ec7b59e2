//! From structured SSA to the ten instructions: value n is register n, what regions hand over are copies.

use super::isa::{self, A, B, BUFFER, C, D, FUNCTION, NUMBER, OFFSET, TRUTH};
use gpucc_ir::driver::Failure;
use gpucc_ir::ssa::{
    Builtin, Func, Imm, InputKind, Inst as Ssa, InstData, Op, Region, Resource, Sig, Span, Type,
    Value,
};
use gpucc_isa::{FieldId, Inst, Op as Row};

fn not_yet(feature: &str, span: Span) -> Failure {
    Failure::NotYet { feature: feature.to_owned(), stage: "the toy", span }
}

/// Asks whether there are instructions for what a program does.
pub fn admit(func: &Func) -> Result<(), Failure> {
    if !super::fits(func) {
        return Err(not_yet("anything but compute with buffers", Span::NONE));
    }
    let limit = gpucc_ir::driver::Limit::new("registers", isa::REGISTERS.into(), "do less");
    // Copies between regions go through as many registers again.
    limit.admit(2 * func.values.len() as u64)
}

/// The number of a binding's buffer.
pub fn buffer(resource: Resource) -> u32 {
    resource.as_u32()
}

/// How many operands an ALU operation has; `None` for what is none.
pub fn operands(op: Op) -> Option<usize> {
    match op.sig() {
        Sig::Unary | Sig::UnaryBits | Sig::Convert => Some(1),
        Sig::Binary | Sig::BinaryBits | Sig::Shift | Sig::Compare | Sig::CompareBits => Some(2),
        Sig::Ternary | Sig::Select | Sig::ExtractBits => Some(3),
        Sig::Const | Sig::InsertBits | Sig::Dot | Sig::Fixed(..) | Sig::Custom => None,
    }
}

/// Instructions that go elsewhere.
pub fn jumps(code: &[Inst]) -> usize {
    let goes = |inst: &&Inst| matches!(inst.op().name, "JUMP" | "UNLESS");
    code.iter().filter(goes).count()
}

/// The code of a function.
pub fn lower(func: &Func) -> Result<Vec<Inst>, Failure> {
    let mut lower = Lower { func, code: Vec::new(), frames: Vec::new() };
    lower.region(func.body)?;
    Ok(lower.code)
}

/// An instruction that owns the regions around a place, with the jumps that wait for its end.
struct Frame {
    owner: Ssa,
    ends: Vec<usize>,
    /// Loops: where the body begins, and the jumps that wait for the continuing part.
    start: usize,
    continues: Vec<usize>,
}

struct Lower<'a> {
    func: &'a Func,
    code: Vec<Inst>,
    frames: Vec<Frame>,
}

impl Lower<'_> {
    fn put(&mut self, row: &'static Row, fields: &[(FieldId, u32)]) -> Result<usize, Failure> {
        let mut inst = Inst::usual(row);
        for &(field, value) in fields {
            inst.set(field, value)
                .map_err(|error| Failure::Internal { pass: "toy", message: error.to_string() })?;
        }
        self.code.push(inst);
        Ok(self.code.len() - 1)
    }

    /// Makes jumps end up at the next instruction.
    fn here(&mut self, jumps: &[usize]) {
        let here = self.code.len() as u32;
        for &jump in jumps {
            self.code[jump] = self.code[jump].with(NUMBER, here);
        }
    }

    /// Copies at once: all are read before one is written.
    fn copies(&mut self, from: &[Value], to: &[Value]) -> Result<(), Failure> {
        let between = self.func.values.len() as u32;
        for (number, value) in (between..).zip(from) {
            self.put(&isa::COPY, &[(D, number), (A, value.as_u32())])?;
        }
        for (number, value) in (between..).zip(to) {
            self.put(&isa::COPY, &[(D, value.as_u32()), (A, number)])?;
        }
        Ok(())
    }

    fn region(&mut self, region: Region) -> Result<(), Failure> {
        for &inst in &self.func.regions[region].insts {
            self.inst(inst)?;
        }
        Ok(())
    }

    fn inst(&mut self, inst: Ssa) -> Result<(), Failure> {
        let func = self.func;
        let data = &func.insts[inst];
        let args: Vec<u32> = data.args.iter().map(|value| value.as_u32()).collect();
        match data.op {
            Op::Const => {
                let Imm::Bits(bits) = data.imm else {
                    return Ok(());
                };
                self.narrow(data)?;
                let to = data.results[0].as_u32();
                self.put(&isa::CONSTANT, &[(D, to), (NUMBER, bits as u32)])?;
            }
            Op::Input => self.input(data)?,
            Op::BufferLoad | Op::BufferStore | Op::BufferSize => self.memory(data, &args)?,
            Op::If | Op::Loop | Op::Block => self.owner(inst, data)?,
            op if op.is_terminator() => self.terminator(data)?,
            op if op.is_pure() && operands(op) == Some(args.len()) => {
                self.narrow(data)?;
                let function = isa::function(op).ok_or_else(|| not_yet(op.name(), data.span))?;
                let from = gpucc_ir::ssa::eval::data_type(func, data, func.ty(data.results[0]));
                let truth = |ty| u32::from(ty == Type::B1);
                let mut fields = vec![
                    (D, data.results[0].as_u32()),
                    (FUNCTION, function),
                    (TRUTH, truth(from) | truth(func.ty(data.results[0])) << 1),
                ];
                fields.extend([A, B, C].into_iter().zip(args));
                self.put(&isa::ALU, &fields)?;
            }
            op => return Err(not_yet(op.name(), data.span)),
        }
        Ok(())
    }

    /// Registers have 32 bits.
    fn narrow(&self, data: &InstData) -> Result<(), Failure> {
        let all = data.args.iter().chain(&data.results);
        let wide = |value: &Value| !matches!(self.func.ty(*value), Type::B1 | Type::B32);
        match all.into_iter().any(wide) {
            true => Err(not_yet("numbers of other than 32 bits", data.span)),
            false => Ok(()),
        }
    }

    fn input(&mut self, data: &InstData) -> Result<(), Failure> {
        let Imm::Input(input, component) = data.imm else {
            return Ok(());
        };
        let which = match self.func.inputs[input].kind {
            InputKind::Builtin(Builtin::GlobalInvocationId) => 0,
            InputKind::Builtin(Builtin::LocalInvocationId) => 1,
            InputKind::Builtin(Builtin::WorkgroupId) => 2,
            _ => return Err(not_yet("this input", data.span)),
        };
        let number = 4 * which + u32::from(component);
        let to = data.results[0].as_u32();
        self.put(&isa::READ_ID, &[(D, to), (NUMBER, number)])?;
        Ok(())
    }

    fn memory(&mut self, data: &InstData, args: &[u32]) -> Result<(), Failure> {
        let Imm::Resource(resource) = data.imm else {
            return Ok(());
        };
        self.narrow(data)?;
        let buffer = (BUFFER, buffer(resource));
        match (data.op, args) {
            (Op::BufferStore, [address, values @ ..]) => {
                for (offset, &value) in (0..).step_by(4).zip(values) {
                    let fields = [(D, value), (A, *address), buffer, (OFFSET, offset)];
                    self.put(&isa::STORE, &fields)?;
                }
            }
            (Op::BufferLoad, [address]) => {
                for (offset, value) in (0..).step_by(4).zip(&data.results) {
                    let to = (D, value.as_u32());
                    self.put(&isa::LOAD, &[to, (A, *address), buffer, (OFFSET, offset)])?;
                }
            }
            _ => {
                let to = (D, data.results[0].as_u32());
                self.put(&isa::SIZE, &[to, buffer])?;
            }
        }
        Ok(())
    }

    fn owner(&mut self, owner: Ssa, data: &InstData) -> Result<(), Failure> {
        let (args, regions) = (&data.args, &data.regions);
        if data.op == Op::Loop {
            let params = &self.func.regions[regions[0]].params;
            self.copies(args, params)?;
        }
        self.frames.push(Frame {
            owner,
            ends: Vec::new(),
            start: self.code.len(),
            continues: Vec::new(),
        });
        match data.op {
            Op::If => {
                let branch = self.put(&isa::UNLESS, &[(A, args[0].as_u32())])?;
                self.region(regions[0])?;
                self.here(&[branch]);
                self.region(regions[1])?;
            }
            Op::Loop => {
                self.region(regions[0])?;
                let frame = self.frames.last_mut().expect("it was pushed");
                let continues = std::mem::take(&mut frame.continues);
                self.here(&continues);
                self.region(regions[1])?;
            }
            _ => self.region(regions[0])?,
        }
        let frame = self.frames.pop().expect("it was pushed");
        self.here(&frame.ends);
        Ok(())
    }

    /// Hands values to the results of the owner of a frame, and goes behind it.
    fn leave(&mut self, frame: usize, values: &[Value]) -> Result<(), Failure> {
        let func = self.func;
        let results = &func.insts[self.frames[frame].owner].results;
        self.copies(values, results)?;
        let jump = self.put(&isa::JUMP, &[])?;
        self.frames[frame].ends.push(jump);
        Ok(())
    }

    fn terminator(&mut self, data: &InstData) -> Result<(), Failure> {
        let func = self.func;
        let innermost = self.frames.len().checked_sub(1);
        let is_loop = |frame: &Frame| func.insts[frame.owner].op == Op::Loop;
        let around = self.frames.iter().rposition(is_loop);
        match (data.op, innermost, around) {
            (Op::Yield, Some(frame), _) => self.leave(frame, &data.args)?,
            (Op::Exit, ..) => {
                let of = |frame: &Frame| data.imm == Imm::Label(frame.owner);
                let frame = self.frames.iter().rposition(of).expect("the verifier saw it");
                self.leave(frame, &data.args)?;
            }
            (Op::Break, _, Some(frame)) => self.leave(frame, &data.args)?,
            (Op::Continue, _, Some(frame)) => {
                let continuing = func.insts[self.frames[frame].owner].regions[1];
                self.copies(&data.args, &func.regions[continuing].params)?;
                let jump = self.put(&isa::JUMP, &[])?;
                self.frames[frame].continues.push(jump);
            }
            (Op::Next | Op::BreakIf, _, Some(frame)) => {
                let owner = &func.insts[self.frames[frame].owner];
                let mut next = &data.args[..];
                if data.op == Op::BreakIf {
                    let (results, rest) = data.args[1..].split_at(owner.results.len());
                    let stay = self.put(&isa::UNLESS, &[(A, data.args[0].as_u32())])?;
                    self.leave(frame, results)?;
                    self.here(&[stay]);
                    next = rest;
                }
                self.copies(next, &func.regions[owner.regions[0]].params)?;
                let start = self.frames[frame].start as u32;
                self.put(&isa::JUMP, &[(NUMBER, start)])?;
            }
            // The function's end, or a place that nobody reaches.
            _ => {
                self.put(&isa::END, &[])?;
            }
        }
        Ok(())
    }
}
