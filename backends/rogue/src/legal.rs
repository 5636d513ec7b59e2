//! What the documents forbid of groups and programs that have bytes: one table of rules ([`Rule`]), each a sentence of the
//! page or of the pipeline page. The emulator has a reading of its own.
//!
//! Two rules are kept by the types and by the encoder: the main and the bitwise ALU never stand in one group, and an input
//! that is used has the lower ones of its half before it (the word's forms hold them all).

mod header;
mod program;
mod rule;
mod sources;

pub use program::{Breach, admit_program};
pub(crate) use program::{branch_of, reads, reads_of, target_of, writes_of};
pub use rule::Rule;
pub(crate) use sources::named;

use crate::isa::disasm::{is_constant, is_unary};
use crate::isa::encode::{EncodeError, ORIGINS, encode};
use crate::isa::fields::f;
use crate::isa::group::{Condition, Feed, Group, MainOps, Ops};
use crate::isa::ops::{Backend, Bitwise2, Control, Main, Move, Pack};
use crate::isa::register::{File, Register, Special, special};
use gpucc_isa::Inst;
use std::collections::BTreeSet;

/// What differs from chip to chip. 3.3.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Features {
    /// `eight_output_registers`.
    pub eight_outputs: bool,
    /// `usc_itrsmp_enhanced`.
    pub enhanced_iteration: bool,
    /// `tpu_extended_integer_lookup`.
    pub integer_lookup: bool,
}

impl Features {
    /// A chip that has everything.
    pub const ALL: Features =
        Features { eight_outputs: true, enhanced_iteration: true, integer_lookup: true };
    /// A chip that has none of it.
    pub const NONE: Features =
        Features { eight_outputs: false, enhanced_iteration: false, integer_lookup: false };
}

/// For whom a group is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Context {
    /// The program is a compute program, whose coefficients are memory.
    pub compute: bool,
    /// The driver marks the program as one whose outputs do not overlap (`olchk_skip`).
    pub no_overlap: bool,
    /// The chip.
    pub features: Features,
}

impl Context {
    /// A program that draws, on a chip that has everything.
    pub const DRAWING: Context =
        Context { compute: false, no_overlap: false, features: Features::ALL };
    /// A compute program on a chip that has everything.
    pub const COMPUTE: Context = Context { compute: true, ..Context::DRAWING };
}

/// Asks whether a group is legal.
///
/// # Errors
/// The first rule that it breaks, in the order of the table.
pub fn admit(group: &Group, context: &Context) -> Result<(), Rule> {
    breaches(group, context).first().map_or(Ok(()), |rule| Err(*rule))
}

/// Asks whether a group is legal that has bytes for certain: it was read from them, or has been encoded, or all its registers are such
/// as some form of each word holds and it has no backend operation.
///
/// # Errors
/// As [`admit`].
pub(crate) fn admit_encoded(group: &Group, context: &Context) -> Result<(), Rule> {
    broken(group, context).broken.first().map_or(Ok(()), |rule| Err(*rule))
}

/// Every rule that a group breaks.
pub fn breaches(group: &Group, context: &Context) -> BTreeSet<Rule> {
    let mut asked = broken(group, context);
    asked.bytes();
    asked.broken
}

/// What a group breaks beside the rules of its bytes.
fn broken<'a>(group: &'a Group, context: &'a Context) -> Asked<'a> {
    let mut asked = Asked { group, context, broken: BTreeSet::new() };
    asked.header();
    match &group.ops {
        Ops::Main(ops) => {
            asked.phases(ops);
            asked.complex(ops);
            asked.internal(ops);
            asked.pack(ops);
            if let Some(inst) = &ops.backend {
                asked.backend(inst);
            }
        }
        Ops::Bitwise(phases) => {
            asked.when(phases[0].is_none(), Rule::BitwisePhases);
            // The names alone of these are public.
            let names_alone = |inst: &Inst| {
                Bitwise2::of(inst.op()) == Bitwise2::Shift
                    && matches!(inst.get(f::SHIFT2), 3 | 5 | 7)
            };
            asked.when(phases[2].as_ref().is_some_and(names_alone), Rule::Undocumented);
            asked.when(phases[0].is_some_and(|inst| inst.flag(f::BIT7)), Rule::Kept);
            // Nothing of such a group is fed by it.
            asked.when(group.selectors.is0 != 0, Rule::Kept);
        }
        Ops::Control(inst) => asked.control(inst),
    }
    asked.sources();
    asked.writes();
    asked.repeats();
    asked.stage();
    asked
}

/// Whether a special register belongs to outputs or tiles, so that the lock is checked. 1.1, olchk.
fn is_output(register: Register) -> bool {
    match register {
        Register::Special(number) => {
            matches!(number, 32..=35 | 46 | 54..=61 | 119..=126 | 164..=167)
        }
        Register::Relative { file, .. } => file == File::Pixout,
        _ => false,
    }
}

/// Instructions that own the main ALU. 2.2; page, Complex Instructions.
pub(crate) fn is_complex(row: Main) -> bool {
    use Main::{F16sop, Farctanc, Fexp, Flog, Flogcn, Frcp, Fred, Frsq, Fsinc, Gcmp, Gexp};
    matches!(
        row,
        Frcp | Frsq | Flog | Fexp | F16sop | Flogcn | Gcmp | Gexp | Fred | Fsinc | Farctanc
    )
}

/// Results that go straight to write ports past the selectors: masks. 2.8.
fn writes_straight(backend: Backend) -> bool {
    matches!(backend, Backend::Savmsk | Backend::Movmsk | Backend::MovmskSm)
}

/// The write port that a backend instruction reads. 2.8.
fn reads_port(inst: &Inst) -> Option<usize> {
    use Backend::{
        Depthf, Setl, UvswWrite, UvswWriteEmitEndtask, UvswWriteEmitEndtaskReg, UvswWriteReg,
    };
    match Backend::of(inst.op()) {
        UvswWrite | UvswWriteReg | UvswWriteEmitEndtask | UvswWriteEmitEndtaskReg => {
            Some(inst.get(f::DSEL) as usize)
        }
        Setl => Some(inst.get(f::LINK_SRC) as usize),
        Depthf => Some(0),
        _ => None,
    }
}

/// How many elements a pack format takes. 2.3; `None` where the table does not say.
fn elements(format: u32) -> Option<u8> {
    match format {
        0..=2 | 22 => Some(4),
        3..=5 | 14 | 23 => Some(2),
        8..=12 | 21 => Some(4),
        6 | 7 | 15 | 20 => Some(1),
        _ => None,
    }
}

/// A group that is asked.
struct Asked<'a> {
    group: &'a Group,
    context: &'a Context,
    broken: BTreeSet<Rule>,
}

impl Asked<'_> {
    fn when(&mut self, broken: bool, rule: Rule) {
        if broken {
            self.broken.insert(rule);
        }
    }

    fn header(&mut self) {
        let group = self.group;
        self.when(!(1..=4).contains(&group.repeat), Rule::Repeat);
        if let Ops::Control(inst) = &group.ops {
            self.when(group.repeat != 1 || group.atom, Rule::ControlHeader);
            let row = Control::of(inst.op());
            let mutexes = Control::MutexRelease..=Control::MutexLock;
            let bare = matches!(row, Control::Wop | Control::Wdf) || mutexes.contains(&row);
            let asks = bare && group.condition != Condition::Runs
                || row == Control::Cndend && inst.get(f::COND) != 0;
            self.when(asks, Rule::ControlCondition);
            let nop = row == Control::Nop;
            self.when(group.end && !nop, Rule::ControlEnd);
        }
        let registers = group.sources.iter().chain(group.writes.iter().flatten());
        let touches = registers.copied().any(is_output);
        let checked = group.olchk || self.context.no_overlap;
        self.when(touches && !checked, Rule::OutputCheck);
    }

    fn phases(&mut self, ops: &MainOps) {
        let has = [ops.p0.is_some(), ops.p1.is_some(), ops.has_p2(), ops.backend.is_some()];
        self.when(has[1] && !has[0], Rule::PhaseOneAlone);
        let company = [has[0], has[1], has[2]];
        let alone = company == [false; 3];
        self.when(has[3] && !alone && !(has[0] && has[2]), Rule::BackendCompany);
        self.when(!ORIGINS.contains(&has), Rule::Combination);
        self.when(ops.documented().is_some(), Rule::PhaseTwoArithmetic);
        let only = |inst: &Inst| {
            let row = Main::of(inst.op());
            let integer = row >= Main::Iadd;
            integer || row == Main::Unpck
        };
        self.when(ops.p1.as_ref().is_some_and(only), Rule::PhaseZeroOnly);
    }

    fn complex(&mut self, ops: &MainOps) {
        let row = |inst: &Option<Inst>| inst.as_ref().map(|inst| Main::of(inst.op()));
        let (p0, p1) = (row(&ops.p0), row(&ops.p1));
        self.when(p1.is_some_and(is_complex), Rule::ComplexPhase);
        let none =
            [Main::F16sop, Main::Flogcn, Main::Gcmp, Main::Gexp, Main::Farctanc, Main::Add64];
        let small = Main::Iadd..=Main::Imad23;
        let unknown = |row: &Main| none.contains(row) || small.contains(row);
        self.when([p0, p1].iter().flatten().any(unknown), Rule::Undocumented);
        let company = ops.places().iter().flatten().count() > 1;
        let fred = [p0, p1].contains(&Some(Main::Fred));
        self.when(fred && company, Rule::FredAlone);
        let complex = [p0, p1].into_iter().flatten().any(is_complex);
        self.when(complex && !fred && company, Rule::ComplexAlone);
        let [w0, w1] = self.group.writes.map(|write| write.is_some());
        if let Some(inst) = ops.p0.as_ref().filter(|_| fred) {
            let part_b = inst.get(f::PART) == 1;
            let straight = self.group.selectors.is[if part_b { 3 } else { 4 }] == Feed::Ft0;
            self.when(w0 != part_b || w1 == part_b || !straight, Rule::FredDestination);
        } else if complex {
            let straight = self.group.selectors.is[3] == Feed::Ft0;
            self.when(w1 || !w0 || !straight, Rule::ComplexDestination);
        }
        let sinc = ops.p0.as_ref().filter(|_| p0 == Some(Main::Fsinc));
        let modified = |inst: &Inst| inst.flag(f::NEG0) || inst.flag(f::ABS0);
        self.when(sinc.is_some_and(modified), Rule::SincModifiers);
    }

    /// Whether a selector or a choice of a move has something to pass on.
    fn feed(&mut self, ops: &MainOps, feed: Feed) {
        let there = match feed {
            Feed::Ft0 => ops.p0.is_some(),
            Feed::Ft1 => ops.p1.is_some(),
            Feed::Ft2 => ops.pack.is_some(),
            Feed::Fte => true,
        };
        self.when(!there, Rule::FeedAbsent);
    }

    fn internal(&mut self, ops: &MainOps) {
        let is = self.group.selectors.is;
        if let Some(test) = &ops.test {
            self.feed(ops, is[0]);
            if !is_unary(test) {
                self.feed(ops, is[1]);
            }
            let lanes = match test.get(f::TYPE) {
                1 | 2 => 2,
                3 | 4 => 4,
                _ => 1,
            };
            self.when(test.get(f::ELEM) >= lanes, Rule::TestElement);
            // A carry out of which addition nobody says (2.4) [A].
            self.when(test.get(f::TEST) == 3, Rule::Undocumented);
        }
        if ops.documented().is_none() && ops.pack.as_ref().is_some_and(|pack| !is_constant(pack)) {
            self.feed(ops, is[2]);
        }
        let read = ops.backend.as_ref().and_then(reads_port);
        let fred = ops.p0.as_ref().is_some_and(|inst| Main::of(inst.op()) == Main::Fred);
        let straight = fred
            || ops.backend.as_ref().is_some_and(|inst| writes_straight(Backend::of(inst.op())));
        for (port, id) in [(0, f::MOV_W0), (1, f::MOV_W1)] {
            let written = self.group.writes[port].is_some() && !straight;
            if !written && read != Some(port) {
                continue;
            }
            // Bytes of W1 have no mask: what asks no test moves all of them.
            let mask = |mov: &Inst| if port == 0 { mov.get(f::MASK) } else { 15 };
            let always = |mov: &Inst| mov.flag(f::ALWAYS);
            if let Some(mov) = ops.mov.as_ref().filter(|mov| mask(mov) != 0) {
                self.feed(ops, Feed::ALL[mov.get(id) as usize]);
            }
            if !ops.mov.as_ref().is_some_and(|mov| always(mov) && mask(mov) == 15) {
                self.feed(ops, is[3 + port]);
            }
        }
        let asks = ops.mov.as_ref().is_some_and(|mov| Move::of(mov.op()) == Move::Movc);
        self.when(asks && ops.test.is_none(), Rule::MoveWithoutTest);
    }

    fn pack(&mut self, ops: &MainOps) {
        let Some(pack) = ops.pack.as_ref().filter(|_| ops.documented().is_none()) else { return };
        let format = pack.get(f::FORMAT);
        if Pack::of(pack.op()) == Pack::PckProg {
            let data = self.group.selectors.is[2];
            self.when(format != 0 || data == Feed::Fte, Rule::PackProgram);
        } else if let Some(most) = elements(format) {
            // Each pack of a word goes to a register of its own.
            let more = self.group.repeat > most && most > 1;
            self.when(more, Rule::PackElements);
        }
    }

    fn backend(&mut self, inst: &Inst) {
        use Backend as B;
        let row = B::of(inst.op());
        let kept = inst.get(f::KEPT) != 0;
        self.when(kept, Rule::Kept);
        let unknown = matches!(row, B::PhasReg | B::Phas | B::Movmsk | B::MovmskSm);
        self.when(unknown, Rule::Undocumented);
        let sources = self.group.sources;
        let coefficient = |register: Register| {
            matches!(register, Register::Coeff(_))
                || matches!(register, Register::Relative { file: File::Coeff, .. })
        };
        if matches!(row, B::Fitr | B::Fitrp) {
            let second = row == B::Fitr || coefficient(sources[2]);
            self.when(!coefficient(sources[0]) || !second, Rule::IteratedCoefficient);
        }
        if let Some(port) = sources::landing(inst) {
            let shared = matches!(row, B::Ld | B::LdReg);
            let lands = match sources[port] {
                Register::Temp(_) | Register::Vtxin(_) => true,
                Register::Shared(_) => shared,
                Register::Relative { file: File::Temp | File::Vtxin, .. } => true,
                Register::Relative { file: File::Shared, .. } => shared,
                _ => false,
            };
            self.when(!lands, Rule::MessageDestination);
        }
        if matches!(row, B::Smp | B::SmpWrite) {
            self.when(inst.flag(f::TAO) && inst.get(f::LOD) == 0, Rule::AddressNeedsLod);
            self.when(sources[3] != Register::ZERO, Rule::SharedLevel);
            let looks = [f::INTEGER, f::ARRAY, f::COMPARE].into_iter().any(|id| inst.flag(id));
            self.when(looks && !self.context.features.integer_lookup, Rule::IntegerLookup);
        }
    }

    fn control(&mut self, inst: &Inst) {
        use Control as C;
        let (row, group) = (C::of(inst.op()), self.group);
        let mask = (C::Cndst..=C::CndsetlA).contains(&row);
        let [w0, w1] = group.writes.map(|write| write.is_some());
        self.when(w1 || !mask && w0 != (row == C::Savl), Rule::ControlWrites);
        if mask {
            self.when(group.condition != Condition::IgnorePe, Rule::MaskIgnoresPe);
            self.when(!w0, Rule::MaskWrites);
            self.when(group.sources[3] != Register::ZERO, Rule::MaskThird);
        }
        let iterates = matches!(row, C::Itrsmp | C::Ditr | C::Ditrp | C::DitrStore | C::DitrStored);
        self.when(iterates && !self.context.features.enhanced_iteration, Rule::Iteration);
        let unknown = [C::Itrsmp, C::Sbo, C::DitrStore, C::DitrStored, C::Cndlpc];
        // How halves lie in the registers that are iterated to is public nowhere.
        let halves = row != C::Itrsmp && iterates && inst.flag(f::F16);
        self.when(unknown.contains(&row) || halves, Rule::Undocumented);
        let kept = match row {
            C::Cndsm => inst.get(f::ADJUST) != 0,
            C::Ditr => inst.get(f::W_COEFF) != 0,
            _ => false,
        };
        self.when(kept, Rule::Kept);
    }

    fn writes(&mut self) {
        let group = self.group;
        for register in group.writes.into_iter().flatten() {
            match register {
                Register::Special(number) => match special(number) {
                    Special::Pixout(_) | Special::Internal(_) => {}
                    Special::Named(name) => {
                        self.when(!name.starts_with("global"), Rule::WriteConstant);
                    }
                    Special::Constant(_) => self.when(true, Rule::WriteConstant),
                    Special::Unknown => self.when(true, Rule::UnknownSpecial),
                },
                Register::Coeff(_) | Register::Relative { file: File::Coeff, .. } => {
                    self.when(!self.context.compute, Rule::WriteCoefficient);
                }
                Register::CoeffAlt(_) | Register::Relative { file: File::CoeffAlt, .. } => {
                    self.when(true, Rule::CoeffAlt);
                }
                _ => {}
            }
            self.limit(register, program::results(group));
        }
        let twice = group.writes[0].is_some() && group.writes[0] == group.writes[1];
        self.when(twice, Rule::TwoWrites);
    }

    /// What only the encoder knows.
    fn bytes(&mut self) {
        match encode(self.group) {
            Err(EncodeError::Long(_)) => self.when(true, Rule::TooLong),
            Err(EncodeError::Word(_)) => self.when(true, Rule::NoWord),
            Err(EncodeError::NoPlace | EncodeError::Selector | EncodeError::Pad) => {
                self.when(true, Rule::NoPlace);
            }
            // Rules of their own.
            Err(EncodeError::Phases | EncodeError::Repeat | EncodeError::ControlHeader) | Ok(_) => {
            }
        }
    }

    /// Whether so many registers from this one on are there.
    fn limit(&mut self, register: Register, count: u16) {
        match register {
            Register::Temp(first) | Register::Vtxin(first) => {
                self.when(first + count > 248, Rule::RegisterLimit);
            }
            Register::Special(number) => {
                let pixout = matches!(special(number), Special::Pixout(4..=7));
                self.when(pixout && !self.context.features.eight_outputs, Rule::EightOutputs);
            }
            _ => {}
        }
    }
}
