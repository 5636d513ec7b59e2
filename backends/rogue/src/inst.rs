//! The machine IR: groups over virtual registers, and marks of control flow among blocks.
//!
//! A step is an instruction group whose sources and destinations are registers of the allocator where [`Port`]s say so, and what
//! the group itself says elsewhere: constants, shared registers, vertex inputs. Internal register 0 is the counter of the
//! execution mask. p0 lives from the step that writes it to the mark behind it.

use crate::isa::disasm::{Around, write_group};
use crate::isa::fields::f;
use crate::isa::group::{Feed, Group, MainOps, Ops};
use crate::isa::ops::{Backend, Bitwise0, Main};
use crate::isa::register::{File as BankFile, Register};
use gpucc_ir::mach::{
    Access, Block, Cell, File, FileId, Files, Inst as MachInst, Names, Operand, Part, PrintInst,
    Reg, Relation, Role, Scope, VReg,
};
use smallvec::SmallVec;
use std::fmt::{self, Write};

/// Temporaries that operands of an instance name; chips may hold fewer. isa/rogue-pipeline.md 3.1, 3.3.
pub const TEMPS: u16 = 248;

/// The file of temporaries.
pub const TEMP: FileId = FileId(0);

/// The register files that are allocated.
pub static FILES: Files =
    Files(&[File { name: "r", cells: TEMPS, row: 1, per_lane: true, scope: Scope::Function }]);

/// The counter of the execution mask.
pub const COUNTER: Register = Register::internal(0);

/// A register of the allocator at a place of a group.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Port {
    /// S0 to S5, then W0 and W1, then [`DITR`].
    pub place: u8,
    /// Registers from the one that the place names.
    pub offset: u8,
    /// It is one of a range.
    pub ranged: bool,
    /// The whole register is named, and an index register says which cell is meant.
    pub indexed: bool,
    /// Which cells of it.
    pub part: Part,
    pub reg: Reg,
    pub role: Role,
}

/// W0 among the places of [`Port`].
pub const W0: u8 = 6;
/// The destination field of an iterator among the places of [`Port`].
pub const DITR: u8 = 8;

/// The place of what a group keeps, among the places of [`Port`]: no operand says it.
pub const KEPT: u8 = 9;

impl Port {
    /// A whole register at a place.
    pub fn whole(place: u8, reg: Reg, role: Role) -> Port {
        let part = Part::WHOLE;
        Port { place, offset: 0, ranged: false, indexed: false, part, reg, role }
    }
}

/// What a message waits on.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Message {
    /// It reads memory that nobody writes.
    Reads,
    /// It reads memory that somebody may write.
    Loads,
    /// It writes memory.
    Stores,
    /// It writes p0, which what is behind it reads.
    Decides,
}

/// One group.
#[derive(Clone, Debug)]
pub struct Step {
    pub group: Group,
    pub ports: SmallVec<[Port; 4]>,
    /// It completes at a wait.
    pub message: Option<Message>,
    /// Nothing but its results tells that it was there.
    pub pure: bool,
}

/// Codes of the size of stored elements. 2.8.
pub const HALVES: u32 = 1;
pub const WORDS: u32 = 2;

/// The operation of a store of up to 16 elements, S0 and what follows it, at the address in S3, through the cache. 2.8.
pub fn stores(row: Backend, count: usize, size: u32) -> gpucc_isa::Inst {
    const WRITE_BACK: u32 = 1;
    gpucc_isa::Inst::usual(row.op())
        .with(f::BURST, count as u32 % 16)
        .with(f::DATA_SRC, 0)
        .with(f::ADD_SRC, 3)
        .with(f::SIZE, size)
        .with(f::CACHE, WRITE_BACK)
}

/// A value as a group reads it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Src {
    Reg(Reg),
    Fixed(Register),
}

impl Src {
    /// The number 0. 3.2.
    pub const ZERO: Src = Src::Fixed(Register::ZERO);
    /// The number 1, as an integer. 3.2.
    pub const ONE: Src = Src::Fixed(Register::Special(1));

    /// Two shared registers in a row.
    pub fn shared(first: u16) -> [Src; 2] {
        [first, first + 1].map(|at| Src::Fixed(Register::Shared(at)))
    }
}

impl Step {
    fn of(ops: Ops) -> Step {
        Step { group: Group::new(ops), ports: SmallVec::new(), message: None, pure: true }
    }

    /// A group of the main ALU.
    pub fn main(ops: MainOps) -> Step {
        Step::of(Ops::Main(ops))
    }

    /// A group with one operation of phase 0, whose result goes to W0.
    pub fn p0(inst: gpucc_isa::Inst) -> Step {
        Step::main(MainOps { p0: Some(inst), ..MainOps::default() })
    }

    /// A group with an operation of the backend alone.
    pub fn backend(inst: gpucc_isa::Inst) -> Step {
        Step { pure: false, ..Step::main(MainOps { backend: Some(inst), ..MainOps::default() }) }
    }

    /// A group of the bitwise ALU.
    pub fn bits(phases: [Option<gpucc_isa::Inst>; 3]) -> Step {
        Step::of(Ops::Bitwise(phases))
    }

    /// A control group.
    pub fn control(inst: gpucc_isa::Inst) -> Step {
        Step { pure: false, ..Step::of(Ops::Control(inst)) }
    }

    /// A number in a register.
    pub fn number(dst: impl Into<Reg>, bits: u32) -> Step {
        let imm = gpucc_isa::Inst::usual(Bitwise0::Imm32.op()).with(f::VALUE, bits);
        Step::bits([Some(imm), None, None]).to(0, dst)
    }

    /// A move.
    pub fn copy(dst: impl Into<Reg>, src: Src) -> Step {
        Step::p0(gpucc_isa::Inst::usual(Main::Mbyp.op())).from(0, src).to(0, dst)
    }

    /// The address that a product of two words leads to from another, but for its destinations: one operation of 64 bits makes both
    /// words. 2.5.
    pub fn behind(a: Src, b: Src, [low, high]: [Src; 2]) -> Step {
        Step::p0(gpucc_isa::Inst::usual(Main::Imadd64.op()))
            .from(0, a)
            .from(1, b)
            .from(2, low)
            .from(3, high)
            .external(3)
            .select(5, Feed::Fte)
    }

    /// The address of a byte of a binding whose descriptor stands at a shared register.
    pub fn address(base: u16, offset: Src, low: VReg, high: VReg) -> Step {
        Step::behind(offset, Src::ONE, Src::shared(base)).to(0, low).to(1, high)
    }

    /// A load of words that lie beside each other. 2.8.
    pub fn load(address: &[Reg; 2], to: &[Reg], message: Message) -> Step {
        let word = gpucc_isa::Inst::usual(Backend::Ld.op()).with(f::BURST, to.len() as u32);
        let step = Step::backend(word).range(0, address, Role::Use);
        step.range(3, to, Role::EarlyDef).message(message)
    }

    /// A store of elements of a [size](stores) that lie beside each other. 2.8.
    pub fn store(data: &[Reg], address: &[Reg; 2], size: u32) -> Step {
        let step = Step::backend(stores(Backend::St, data.len(), size)).range(0, data, Role::Use);
        step.range(3, address, Role::Use).message(Message::Stores)
    }

    /// With what a source reads.
    #[must_use]
    pub fn from(mut self, place: u8, src: Src) -> Step {
        match src {
            Src::Fixed(register) => self.group.sources[usize::from(place)] = register,
            Src::Reg(reg) => {
                self.ports.push(Port::whole(place, reg, Role::Use));
            }
        }
        self
    }

    /// With registers of a range from a source on.
    #[must_use]
    pub fn range(mut self, place: u8, regs: &[Reg], role: Role) -> Step {
        for (&reg, offset) in regs.iter().zip(0..) {
            let ranged = regs.len() > 1;
            self.ports.push(Port { offset, ranged, ..Port::whole(place, reg, role) });
        }
        self
    }

    /// With what a write port writes.
    #[must_use]
    pub fn to(mut self, port: u8, reg: impl Into<Reg>) -> Step {
        self.ports.push(Port::whole(W0 + port, reg.into(), Role::Def));
        self
    }

    /// With what W0 writes before all sources are read: groups that repeat write it once a turn.
    #[must_use]
    pub fn early(mut self, reg: impl Into<Reg>) -> Step {
        self.ports.push(Port::whole(W0, reg.into(), Role::EarlyDef));
        self
    }

    /// With one cell of an array at a place.
    #[must_use]
    pub fn cell(mut self, place: u8, array: VReg, index: u8, role: Role) -> Step {
        let part = Part::new(index, 1);
        self.ports.push(Port { part, ..Port::whole(place, array.into(), role) });
        self
    }

    /// With the cell of an array at a source that the first index register says.
    #[must_use]
    pub fn indexed(mut self, place: u8, array: VReg) -> Step {
        let port = Port::whole(place, array.into(), Role::Use);
        self.ports.push(Port { indexed: true, ..port });
        self
    }

    /// With the cell of an array at W0 that the first index register says: the others stay.
    #[must_use]
    pub fn led(mut self, array: VReg) -> Step {
        self.ports.insert(0, Port { indexed: true, ..Port::whole(KEPT, array.into(), Role::Use) });
        self.ports.push(Port { indexed: true, ..Port::whole(W0, array.into(), Role::Def) });
        self.pure = false;
        self
    }

    /// With what a write port writes, which is no register of the allocator.
    #[must_use]
    pub fn fixed(mut self, port: u8, register: Register) -> Step {
        self.group.writes[usize::from(port)] = Some(register);
        self.pure = false;
        self
    }

    /// With the source that is the external feedthrough.
    #[must_use]
    pub fn external(mut self, source: u8) -> Step {
        self.group.selectors.is0 = source;
        self
    }

    /// With an internal selector, IS1 to IS5.
    #[must_use]
    pub fn select(mut self, number: u8, feed: Feed) -> Step {
        self.group.selectors.is[usize::from(number) - 1] = feed;
        self
    }

    /// As a message.
    #[must_use]
    pub fn message(mut self, message: Message) -> Step {
        self.message = Some(message);
        self.pure = false;
        self
    }

    /// As what does more than leaving its results.
    #[must_use]
    pub fn effect(mut self) -> Step {
        self.pure = false;
        self
    }

    /// The group with the registers that were chosen.
    pub fn placed(&self) -> Group {
        let mut group = self.group.clone();
        for port in self.ports.iter().filter(|port| port.offset == 0) {
            let index = port.reg.cell().index;
            let register = match port.indexed {
                true => Register::Relative { index: 0, file: BankFile::Temp, offset: index as u8 },
                false => Register::Temp(index),
            };
            match port.place {
                KEPT => {}
                DITR => {
                    if let (Ops::Control(inst), Register::Temp(index)) = (&mut group.ops, register)
                    {
                        *inst = inst.with(f::DEST, index.into());
                    }
                }
                place @ W0.. => group.writes[usize::from(place - W0)] = Some(register),
                place => group.sources[usize::from(place)] = register,
            }
        }
        group
    }
}

/// One instruction of the machine IR.
#[derive(Clone, Debug)]
pub enum Inst {
    Step(Box<Step>),
    /// All read before one is written.
    Copy {
        dst: SmallVec<[Reg; 2]>,
        src: SmallVec<[Reg; 2]>,
        /// Cells of each register.
        count: u16,
    },
    /// Moves a register to or from the instance's scratch memory, for the allocator.
    Spill {
        reg: Reg,
        access: Access,
    },
    /// Instances whose p0 is this go on, the others wait; where none goes on, the block is next.
    If {
        p0: bool,
        target: Block,
    },
    /// At the beginning of a program: instances whose p0 is 1 run, the others never do. The counter begins here.
    Guard,
    /// Those who wait for it go on, the others wait; where none goes on, the block is next.
    Else {
        target: Block,
    },
    /// Those who wait for it go on.
    EndIf,
    /// Instances that wait do so for one more level.
    Do,
    /// Instances wait for the end of the loop, within so many conditions.
    Break(u32),
    /// Those whose p0 is this, or all, go back to the block; where there are none, those who left the loop go on.
    While {
        p0: Option<bool>,
        target: Block,
    },
    /// Every task of a workgroup of so many comes here before one goes on.
    Meet(u32),
    /// The end of the program.
    End,
}

impl Inst {
    /// Every register that is read or written, with what is done to it. As [`MachInst::operands`], with nothing else of an operand.
    pub fn each(&self, mut visit: impl FnMut(Reg, Role)) {
        match self {
            Inst::Step(step) => step.ports.iter().for_each(|port| visit(port.reg, port.role)),
            Inst::Copy { dst, src, .. } => {
                src.iter().for_each(|&reg| visit(reg, Role::Use));
                dst.iter().for_each(|&reg| visit(reg, Role::Def));
            }
            Inst::Spill { reg, access: Access::Store(_) } => visit(*reg, Role::Use),
            Inst::Spill { reg, access: Access::Load(_) } => visit(*reg, Role::Def),
            _ => {}
        }
    }
}

impl From<Step> for Inst {
    fn from(step: Step) -> Inst {
        Inst::Step(Box::new(step))
    }
}

impl MachInst for Inst {
    fn operands(&self, visit: &mut dyn FnMut(Operand)) {
        match self {
            Inst::Step(step) => {
                for port in &step.ports {
                    let mut operand = Operand { role: port.role, ..Operand::use_of(port.reg) };
                    operand = operand.part(port.part);
                    if port.ranged {
                        let (set, offset) = (port.place, port.offset);
                        operand = operand.with(Relation::Group { set, offset });
                    }
                    if port.indexed && port.role.is_def() {
                        // What is kept stands first.
                        operand = operand.with(Relation::Tied(0));
                    }
                    visit(operand);
                }
            }
            Inst::Copy { dst, src, .. } => {
                src.iter().for_each(|&reg| visit(Operand::use_of(reg)));
                dst.iter().for_each(|&reg| visit(Operand::def_of(reg)));
            }
            Inst::Spill { reg, access: Access::Store(_) } => visit(Operand::use_of(*reg)),
            Inst::Spill { reg, access: Access::Load(_) } => visit(Operand::def_of(*reg)),
            _ => {}
        }
    }

    fn rewrite(&mut self, map: &mut dyn FnMut(Reg, Role) -> Reg) {
        match self {
            Inst::Step(step) => {
                for port in &mut step.ports {
                    port.reg = map(port.reg, port.role);
                    if port.reg.as_phys().is_some() {
                        port.part = port.part.placed();
                    }
                }
            }
            Inst::Copy { dst, src, .. } => {
                src.iter_mut().for_each(|reg| *reg = map(*reg, Role::Use));
                dst.iter_mut().for_each(|reg| *reg = map(*reg, Role::Def));
            }
            Inst::Spill { reg, access: Access::Store(_) } => *reg = map(*reg, Role::Use),
            Inst::Spill { reg, access: Access::Load(_) } => *reg = map(*reg, Role::Def),
            _ => {}
        }
    }

    fn is_copy(&self) -> bool {
        matches!(self, Inst::Copy { .. })
    }

    fn ends_block(&self) -> bool {
        matches!(self, Inst::If { .. } | Inst::While { .. } | Inst::Break(_) | Inst::End)
    }

    fn access(&self) -> Option<Access> {
        match self {
            Inst::Spill { access, .. } => Some(*access),
            _ => None,
        }
    }
}

impl PrintInst for Inst {
    fn print(&self, names: Names, out: &mut dyn Write) -> fmt::Result {
        match self {
            Inst::Step(step) => {
                let mut defs = String::new();
                let mut uses = String::new();
                for port in &step.ports {
                    let place = match port.place {
                        DITR => "dest".to_owned(),
                        KEPT => "kept".to_owned(),
                        place @ W0.. => format!("w{}", place - W0),
                        place => format!("s{place}"),
                    };
                    let list = if port.role.is_def() { &mut defs } else { &mut uses };
                    let name = names.reg(port.reg);
                    let separator = if list.is_empty() { "" } else { ", " };
                    write!(list, "{separator}{place}+{} {name}", port.offset)?;
                }
                let mut text = String::new();
                let around = Around { number: 0, offset: 0, starts: &[], pad: None };
                write_group(&mut text, &step.group, &around);
                let group: Vec<&str> = text.lines().skip(1).map(str::trim).collect();
                write!(out, "{defs} = {uses} : {}", group.join("; "))
            }
            Inst::Copy { dst, src, .. } => {
                for (at, (to, from)) in dst.iter().zip(src).enumerate() {
                    let separator = if at == 0 { "" } else { ", " };
                    write!(out, "{separator}{} = {}", names.reg(*to), names.reg(*from))?;
                }
                Ok(())
            }
            Inst::Spill { reg, access: Access::Store(slot) } => {
                write!(out, "spill {} = {}", slot.0, names.reg(*reg))
            }
            Inst::Spill { reg, access: Access::Load(slot) } => {
                write!(out, "{} = spill {}", names.reg(*reg), slot.0)
            }
            Inst::If { p0, target } => write!(out, "if p0={p0} else {target}"),
            Inst::Guard => out.write_str("guard"),
            Inst::Else { target } => write!(out, "else, end {target}"),
            Inst::EndIf => out.write_str("endif"),
            Inst::Do => out.write_str("do"),
            Inst::Break(depth) => write!(out, "break {depth}"),
            Inst::While { p0, target } => write!(out, "while {p0:?} {target}"),
            Inst::Meet(tasks) => write!(out, "meet {tasks}"),
            Inst::End => out.write_str("end"),
        }
    }
}

/// A cell of the file of temporaries.
pub fn cell(index: u16) -> Cell {
    Cell { file: TEMP, index }
}
