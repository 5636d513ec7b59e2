//! A thread: it fetches, reads, checks and executes one instruction a step. G45 vol. 4, 11.1 to 11.7.

use super::Model;
use super::check;
use super::control;
use super::decode::{self, Compression, Form, Instruction, Opcode, Operand};
use super::execute::execute;
use super::message::{Register, Sender, SharedFunctions, Unit};
use super::register::{Fault, Registers};
use super::rule::{Rule, Trap};
use super::run::Run;
use super::send::send;
use super::value::{Raw, Type};

/// What a unit dispatches a thread with.
#[derive(Clone, Debug)]
pub struct Start<'a> {
    /// Registers from r0 on.
    pub payload: &'a [Register],
    /// Address of the first instruction, relative to General State Base.
    pub program: u32,
    /// The channels that are enabled at dispatch.
    pub dispatched: u16,
    /// Single program flow: cr0.0 bit 2.
    pub single_program_flow: bool,
    /// The alternative mode of floats: cr0.0 bit 0.
    pub alternate_floats: bool,
    /// General registers that the thread has: 1 to 128.
    pub registers: u32,
    /// What shared functions know of it.
    pub sender: Sender,
}

/// What became of a thread in a step.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Status {
    Running,
    /// WAIT found no notification; the next step asks again.
    Waiting,
    Done,
}

/// A thread in flight.
#[derive(Clone, Debug)]
pub struct Thread {
    pub(super) model: Model,
    program: u32,
    pub(super) registers: Registers,
    pub(super) sender: Sender,
    /// The instruction before could jump here or did. 11.3.10 rule 14.
    pub(super) after_branch: bool,
    /// The instruction before was WAIT.
    after_wait: bool,
    /// The instruction before named acc1. 11.3.4.5 [DevBW, DevCL], errata.
    after_second: bool,
    /// Instructions that must still stand before one that changes masks. 11.3.4.7 [DevBW, DevCL].
    mask_read: u8,
    done: bool,
    /// Instructions that were read, by some bits of their addresses.
    known: Vec<Option<Known>>,
}

/// An instruction that was read: its address, its bytes, what they are.
type Known = (u32, [u8; 16], Instruction);

/// How many instructions a thread remembers.
const REMEMBERED: usize = 128;

/// What an instruction leaves to be done.
pub enum Next {
    /// On to the next instruction.
    On,
    /// Whole instructions of 16 bytes from this one.
    Jump(i32),
    /// Nothing: the thread waits.
    Wait,
    /// The thread ended.
    End,
}

impl Thread {
    /// A thread that has executed nothing.
    pub fn start(model: Model, start: Start<'_>) -> Thread {
        let unit = match start.sender.unit {
            Unit::Vertex => 1,
            Unit::Geometry => 2,
            Unit::Clip => 3,
            Unit::Setup => 4,
            Unit::Pixel => 5,
            Unit::Media => 7,
        };
        // sr0: FFID, EUID, TID; register blocks and DMask. 11.3.4.10.
        let (threads, thread) = (if model.is_early() { 4 } else { 5 }, start.sender.thread);
        let identity = unit << 24 | (thread / threads % 16) << 8 | (thread % threads);
        let blocks = start.registers.clamp(1, 128).div_ceil(16);
        let state = [identity, blocks << 20 | u32::from(start.dispatched)];
        let mut registers = Registers::new(model, start.payload, start.registers, state);
        registers.control[0] =
            u32::from(start.alternate_floats) | u32::from(start.single_program_flow) << 2;
        registers.ip = start.program;
        Thread {
            model,
            program: start.program,
            registers,
            sender: start.sender,
            after_branch: false,
            after_wait: false,
            after_second: false,
            mask_read: 0,
            done: false,
            known: Vec::new(),
        }
    }

    /// A notification arrives for n0. 14.2.47.
    pub fn notify(&mut self) {
        self.registers.notifications[0] = self.registers.notifications[0].saturating_add(1);
    }

    /// The gateway writes to a register from another thread: the bytes that `mask` names.
    ///
    /// # Errors
    /// The thread has no such register.
    pub fn receive(&mut self, register: u32, value: &Register, mask: u32) -> Result<(), Trap> {
        let offset = self.offset();
        for byte in (0..32).filter(|byte| mask >> byte & 1 == 1) {
            let bits = value.words[byte as usize / 4] >> (byte % 4 * 8) & 0xff;
            let undefined = if value.undefined >> byte & 1 == 1 { 0xff } else { 0 };
            let address = register.saturating_mul(32).saturating_add(byte);
            self.registers
                .claim(address / 32, true, true)
                .map_err(|(rule, detail)| Trap::new(rule, offset, detail))?;
            self.registers.put(address, Type::Ub, Raw { bits, undefined });
        }
        Ok(())
    }

    /// Byte offset of the next instruction within the program.
    pub fn offset(&self) -> u32 {
        self.registers.ip.wrapping_sub(self.program)
    }

    /// A general register as it is now; a reply that is under way to it is not in it.
    #[cfg(test)]
    pub(super) fn general(&self, register: u32) -> Register {
        self.registers.cell(register).register()
    }

    /// Executes an instruction.
    ///
    /// # Errors
    /// The rule that it breaks.
    pub fn step(
        &mut self,
        functions: &mut dyn SharedFunctions,
        run: &mut Run<'_>,
    ) -> Result<Status, Trap> {
        if self.done {
            return Ok(Status::Done);
        }
        let offset = self.offset();
        if *run.steps == 0 {
            return Err(Trap::new(Rule::Steps, offset, "the steps are used up"));
        }
        *run.steps -= 1;
        let ip = self.registers.ip;
        let bytes = functions.fetch(ip & !15)?;
        let trap = |(rule, detail): Fault| Trap::new(rule, offset, detail);
        let inst = self.read(ip, bytes).map_err(trap)?;
        if let Some(trace) = run.trace.as_mut() {
            let masks = self.registers.masks;
            trace(&format!(
                "{offset:#06x} {:?}({}) masks {:04x} flags {:08x}",
                inst.opcode,
                inst.channels,
                masks.into_iter().fold(!0, |all, mask| all & mask),
                self.registers.flags.bits
            ));
        }
        self.early(&inst).map_err(trap)?;
        self.registers.begin();
        let next = self.dispatch(&inst, functions, offset)?;
        if let Some(trace) = run.trace.as_mut() {
            self.show(&inst, trace);
        }
        self.finish(ip, &inst, next).map_err(trap)
    }

    /// The general registers that an instruction wrote, as double words; `?` where a bit is undefined.
    fn show(&self, inst: &Instruction, trace: &mut dyn FnMut(&str)) {
        let mut written = super::execute::written(inst, &self.registers);
        while written != 0 && inst.opcode != Opcode::Send {
            let register = written.trailing_zeros();
            written &= written - 1;
            let cell = self.registers.cell(register);
            let mut line = format!("       r{register} =");
            for (word, undefined) in cell.words.iter().zip(cell.undefined) {
                match undefined {
                    0 => line.push_str(&format!(" {word:08x}")),
                    _ => line.push_str(" ????????"),
                }
            }
            trace(&line);
        }
    }

    /// The instruction at an address, read and checked.
    fn read(&mut self, ip: u32, bytes: [u8; 16]) -> Result<Instruction, Fault> {
        let place = (ip / 8) as usize % REMEMBERED;
        if let Some(Some((at, word, inst))) = self.known.get(place)
            && *at == ip
            && *word == bytes
        {
            return Ok(*inst);
        }
        let word = u128::from_le_bytes(bytes);
        let word = if ip & 8 == 0 { word } else { word >> 64 };
        let read = if decode::is_compact(word as u32) {
            decode::compact(self.model, word as u64)
        } else if ip & 8 != 0 {
            Err((Rule::CompactForm, "an instruction of 16 bytes begins at a multiple of 16"))
        } else {
            decode::native(self.model, word)
        };
        let inst = read
            .and_then(|inst| check::instruction(self.model, &inst).map(|()| inst))
            .map_err(|(rule, what)| (rule, what.to_string()))?;
        if self.known.is_empty() {
            self.known.resize(REMEMBERED, None);
        }
        self.known[place] = Some((ip, bytes, inst));
        Ok(inst)
    }

    fn dispatch(
        &mut self,
        inst: &Instruction,
        functions: &mut dyn SharedFunctions,
        offset: u32,
    ) -> Result<Next, Trap> {
        let trap = |(rule, detail): Fault| Trap::new(rule, offset, detail);
        let after_wait = std::mem::take(&mut self.after_wait);
        match inst.opcode {
            Opcode::Illegal => Err(trap((Rule::Illegal, "illegal is executed".into()))),
            Opcode::Nop | Opcode::Nenop => {
                if inst.opcode == Opcode::Nenop && self.registers.ip & 8 == 0 {
                    let what = "nenop stands in the first half of 16 bytes";
                    return Err(trap((Rule::CompactForm, what.into())));
                }
                Ok(Next::On)
            }
            Opcode::Send => send(self, inst, functions, offset),
            Opcode::Wait => {
                if after_wait {
                    return Err(trap((Rule::WaitTwice, "WAIT follows WAIT".into())));
                }
                self.wait(inst).map_err(trap)
            }
            Opcode::Jmpi => self.jump(inst).map_err(trap),
            Opcode::Do => {
                control::enter(self.model, inst, &mut self.registers).map_err(trap)?;
                Ok(Next::On)
            }
            opcode if opcode.form() == Form::Branch => {
                let jumps = control::branch(self.model, inst, &mut self.registers).map_err(trap)?;
                Ok(if jumps { Next::Jump(i32::from(inst.jump)) } else { Next::On })
            }
            Opcode::Msave | Opcode::Mrest | Opcode::Push | Opcode::Pop => {
                let depth = match inst.second {
                    Operand::Number { bits, .. } => Some(bits),
                    Operand::Register(source) => Some(self.scalar(&source).map_err(trap)?),
                    Operand::Absent => None,
                };
                control::stacked(self.model, inst, &mut self.registers, depth).map_err(trap)?;
                Ok(Next::On)
            }
            _ => {
                execute(self, inst).map_err(trap)?;
                Ok(Next::On)
            }
        }
    }

    /// What the 965 does not check between neighbours.
    fn early(&mut self, inst: &Instruction) -> Result<(), Fault> {
        if !self.model.is_early() {
            return Ok(());
        }
        let second = check::names_second_accumulator(inst);
        if second && self.after_second {
            return Err((Rule::AccumulatorTwice, "acc1 in two instructions in a row".into()));
        }
        self.after_second = second && !inst.switch;
        if self.mask_read > 0 && changes_masks(inst.opcode) {
            return Err((Rule::MaskRead, format!("{:?} changes masks", inst.opcode)));
        }
        self.mask_read = match check::reads_mask(inst) && !inst.switch {
            true => 2,
            false => self.mask_read.saturating_sub(1),
        };
        Ok(())
    }

    /// The instruction is done: dependencies, and where the next one stands.
    fn finish(&mut self, ip: u32, inst: &Instruction, next: Next) -> Result<Status, Fault> {
        let branches = inst.opcode.form() == Form::Branch || inst.opcode == Opcode::Jmpi;
        let written = super::execute::written(inst, &self.registers);
        // A branch switches threads by itself. 14.2.
        self.registers.end(written, inst.switch || branches);
        let own = ip & !15;
        let jumped = matches!(next, Next::Jump(_)) || self.registers.jump.is_some();
        self.registers.ip = match (next, self.registers.jump) {
            (Next::End, _) => {
                self.done = true;
                return Ok(Status::Done);
            }
            (Next::Wait, _) => return Ok(Status::Waiting),
            (Next::Jump(count), _) => own.wrapping_add_signed(count.wrapping_mul(16)),
            (Next::On, Some(target)) => target,
            (Next::On, None) => ip.wrapping_add(if inst.compact { 8 } else { 16 }),
        };
        self.after_branch = jumped || branches && inst.predicate != 0;
        self.after_wait = inst.opcode == Opcode::Wait;
        Ok(Status::Running)
    }

    /// WAIT: a notification is taken, or the thread waits for one.
    fn wait(&mut self, inst: &Instruction) -> Result<Next, Fault> {
        let decode::Place::Direct { register, .. } = inst.dst.place else {
            return Err((Rule::WaitOperand, "WAIT has no index".into()));
        };
        let count = &mut self.registers.notifications[usize::from(register & 1)];
        if *count == 0 {
            return Ok(Next::Wait);
        }
        *count -= 1;
        Ok(Next::On)
    }

    /// JMPI: counts from the next instruction; the first channel of the predicate decides. 14.2.20.
    fn jump(&mut self, inst: &Instruction) -> Result<Next, Fault> {
        let executed = control::channels(inst, &self.registers, true)?.executed();
        if executed & 1 == 0 {
            return Ok(Next::On);
        }
        let bits = match inst.second {
            Operand::Number { bits, .. } => bits,
            Operand::Register(source) => self.scalar(&source)?,
            Operand::Absent => 0,
        };
        Ok(Next::Jump(i32::from(bits as u16 as i16) + 1))
    }

    /// The one element of a source that decides.
    fn scalar(&mut self, source: &decode::Source) -> Result<u32, Fault> {
        let inst = Instruction { channels: 1, ..Instruction::NOTHING };
        let raw = super::rows::gather(&mut self.registers, &inst, source, 1)?[0];
        if raw.undefined != 0 {
            return Err((Rule::Undefined, "a distance or a number of levels".into()));
        }
        Ok(raw.bits)
    }
}

/// Whether an instruction changes masks without naming them.
fn changes_masks(opcode: Opcode) -> bool {
    opcode.form() == Form::Branch || opcode == Opcode::Do
}

/// Whether an instruction has the upper 8 channels.
pub const fn is_second_half(inst: &Instruction) -> bool {
    matches!(inst.compression, Compression::SecondHalf)
}
