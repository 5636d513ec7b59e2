//! An instruction group as data: header, operations by their places, sources, internal selectors, destinations. Pipeline
//! page, section 1.

use super::fields;
use super::register::Register;
use gpucc_isa::Inst;
use smallvec::SmallVec;

/// Under which condition an instance runs a group. 1.1, cc.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Condition {
    /// The execution bit is on (`e1_zx`).
    #[default]
    Runs,
    /// And p0 is 1 (`e1_z1`).
    IfP0,
    /// Always, whatever the execution bit is (`ex_zx`).
    IgnorePe,
    /// The execution bit is on and p0 is 0 (`e1_z0`).
    IfNotP0,
}

impl Condition {
    /// All by their code.
    pub const ALL: [Condition; 4] =
        [Condition::Runs, Condition::IfP0, Condition::IgnorePe, Condition::IfNotP0];
}

/// What an internal selector passes on. 1.3.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Feed {
    /// The result of phase 0.
    #[default]
    Ft0,
    /// The result of phase 1.
    Ft1,
    /// The result of a pack.
    Ft2,
    /// The external feedthrough: the source that IS0 names, or the high word of phase 0.
    Fte,
}

impl Feed {
    /// All by their code.
    pub const ALL: [Feed; 4] = [Feed::Ft0, Feed::Ft1, Feed::Ft2, Feed::Fte];

    /// As the text has it.
    pub fn name(self) -> &'static str {
        ["ft0", "ft1", "ft2", "fte"][self as usize]
    }
}

/// The internal selectors of a main group.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Selectors {
    /// The number of the source that is the external feedthrough, 0 to 5.
    pub is0: u8,
    /// IS1 to IS5. IS1 is ft0 or fte, IS2 ft1 or fte, IS3 not ft2.
    pub is: [Feed; 5],
}

impl Default for Selectors {
    /// What a byte of 0 says.
    fn default() -> Selectors {
        Selectors { is0: 0, is: [Feed::Ft0, Feed::Ft1, Feed::Ft0, Feed::Ft0, Feed::Ft0] }
    }
}

/// Sources by the code of the multiplexer IS0. 1.2.
pub const MUX: [u8; 6] = [0, 3, 4, 5, 1, 2];

/// The operations of a main group by their places.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MainOps {
    /// Rows of [`super::ops::MAIN`].
    pub p0: Option<Inst>,
    /// Rows of [`super::ops::MAIN`].
    pub p1: Option<Inst>,
    /// A row of [`super::ops::PACK`]. The one documented example has arithmetic here, which no rule allows.
    pub pack: Option<Inst>,
    /// A row of [`super::ops::TEST`].
    pub test: Option<Inst>,
    /// A row of [`super::ops::MOVE`].
    pub mov: Option<Inst>,
    /// A row of [`super::ops::BACKEND`].
    pub backend: Option<Inst>,
}

impl MainOps {
    /// The operations in the order of the text: phases ascending, test before move, then the backend.
    pub fn places(&self) -> [Option<&Inst>; 6] {
        [&self.p0, &self.p1, &self.pack, &self.test, &self.mov, &self.backend].map(Option::as_ref)
    }

    /// Whether any operation of phase 2 is there.
    pub fn has_p2(&self) -> bool {
        self.pack.is_some() || self.test.is_some() || self.mov.is_some()
    }

    /// The arithmetic in phase 2 that only the documented example has.
    pub fn documented(&self) -> Option<&Inst> {
        self.pack.as_ref().filter(|inst| !std::ptr::eq(inst.op().format, &fields::PCK))
    }
}

/// The operations of a group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ops {
    /// The main ALU and the backend.
    Main(MainOps),
    /// The bitwise ALU: phases 0, 1, 2.
    Bitwise([Option<Inst>; 3]),
    /// A row of [`super::ops::CONTROL`].
    Control(Inst),
}

/// Where bytes are other than the shortest ones for the same group: words of foreign encoders come back as they were. The
/// default is what our own encoder writes.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Layout {
    /// A main group has three bytes of header where two would do.
    pub long_header: bool,
    /// Bytes of operations that shorter forms leave out, in the order of [`MainOps::places`].
    pub spare: [u8; 6],
    /// The form of the word of S0 to S2, in [`super::word::LOWER`].
    pub lower: Option<u8>,
    /// The form of the word of S3 to S5, in [`super::word::UPPER`].
    pub upper: Option<u8>,
    /// The form of the word of destinations.
    pub destination: Option<u8>,
    /// 16-bit words of padding behind the group.
    pub pad: u8,
}

/// An instruction group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// Who runs it.
    pub condition: Condition,
    /// The output-register lock check.
    pub olchk: bool,
    /// The program ends behind the group.
    pub end: bool,
    /// Reads, modifies and writes shared registers atomically over instances.
    pub atom: bool,
    /// How often it runs, 1 to 4.
    pub repeat: u8,
    /// What it does.
    pub ops: Ops,
    /// S0 to S5. A source that is not there is [`Register::ZERO`].
    pub sources: [Register; 6],
    /// Internal selectors; of main groups alone.
    pub selectors: Selectors,
    /// W0 and W1, where they are written.
    pub writes: [Option<Register>; 2],
    /// See [`Layout`].
    pub layout: Layout,
}

impl Group {
    /// A group that does this and has nothing else.
    pub fn new(ops: Ops) -> Group {
        Group {
            condition: Condition::Runs,
            olchk: false,
            end: false,
            atom: false,
            repeat: 1,
            ops,
            sources: [Register::ZERO; 6],
            selectors: Selectors::default(),
            writes: [None; 2],
            layout: Layout::default(),
        }
    }

    /// The operations with their places in the text's order.
    pub fn operations(&self) -> SmallVec<[(Place, Inst); 4]> {
        match &self.ops {
            Ops::Main(main) => {
                let places = Place::MAIN.into_iter().zip(main.places());
                places.filter_map(|(place, inst)| Some((place, *inst?))).collect()
            }
            Ops::Bitwise(phases) => {
                let places = Place::BITWISE.into_iter().zip(phases);
                places.filter_map(|(place, inst)| Some((place, (*inst)?))).collect()
            }
            Ops::Control(inst) => SmallVec::from_iter([(Place::Control, *inst)]),
        }
    }
}

/// The place of an operation in a group.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs, reason = "the names are the page's")]
pub enum Place {
    P0,
    P1,
    Pack,
    Test,
    Move,
    Backend,
    Bitwise0,
    Bitwise1,
    Bitwise2,
    Control,
}

impl Place {
    /// Of a main group, in the order of the text.
    pub const MAIN: [Place; 6] =
        [Place::P0, Place::P1, Place::Pack, Place::Test, Place::Move, Place::Backend];
    /// Of a bitwise group.
    pub const BITWISE: [Place; 3] = [Place::Bitwise0, Place::Bitwise1, Place::Bitwise2];
}
