//! What a repeated group may do, and whose the operations of a group are.

use super::sources::named;
use super::{Asked, Rule, is_complex};
use crate::isa::disasm::asks_external;
use crate::isa::group::{MainOps, Ops};
use crate::isa::ops::{Backend, Control, Main};
use crate::isa::register::{File, Register, Special, special};

/// Which programs may have a group.
#[derive(Copy, Clone)]
struct Stages {
    vertex: bool,
    fragment: bool,
    compute: bool,
}

impl Stages {
    const VERTEX: Stages = Stages { vertex: true, fragment: false, compute: false };
    const FRAGMENT: Stages = Stages { vertex: false, fragment: true, compute: false };

    fn within(&mut self, other: Stages) {
        self.vertex &= other.vertex;
        self.fragment &= other.fragment;
        self.compute &= other.compute;
    }
}

fn is_pixel(register: Register) -> bool {
    match register {
        Register::Special(number) => matches!(special(number), Special::Pixout(_)),
        Register::Relative { file, .. } => file == File::Pixout,
        _ => false,
    }
}

/// A derivative asks the other pixels of its quad. 2.2.
fn looks_around(ops: &MainOps) -> bool {
    let mut alu = [ops.p0, ops.p1].into_iter().flatten();
    alu.any(|inst| {
        matches!(Main::of(inst.op()), Main::Fdsx | Main::Fdsy | Main::Fdsxf | Main::Fdsyf)
    })
}

impl Asked<'_> {
    /// The group repeats what can be repeated. 1.1.
    pub(super) fn repeats(&mut self) {
        if self.group.repeat < 2 {
            return;
        }
        if let Ops::Main(ops) = &self.group.ops {
            let known = ops.backend.is_none_or(|inst| Backend::of(inst.op()) == Backend::UvswWrite);
            let alu = [ops.p0, ops.p1].into_iter().flatten();
            let complex = alu.into_iter().any(|inst| is_complex(Main::of(inst.op())));
            self.when(!known || complex, Rule::RepeatedWork);
        }
        let mut ports: Vec<u8> = named(self.group).into_iter().map(|(_, port)| port).collect();
        if asks_external(self.group) {
            ports.push(self.group.selectors.is0);
        }
        let alone = |port: &u8| match self.group.sources[usize::from(*port)] {
            Register::Index(_) => true,
            Register::Special(number) => {
                matches!(special(number), Special::Named(name) if !name.starts_with("global"))
            }
            _ => false,
        };
        self.when(ports.iter().any(alone), Rule::RepeatedRegister);
    }

    /// Some program may have all that the group does. 2.8, 4.1, 4.2.
    pub(super) fn stage(&mut self) {
        use Backend as B;
        let compute = self.context.compute;
        let mut stages = Stages { vertex: !compute, fragment: !compute, compute };
        if let Ops::Main(ops) = &self.group.ops
            && looks_around(ops)
        {
            stages.within(Stages::FRAGMENT);
        }
        match &self.group.ops {
            Ops::Main(ops) => match ops.backend.map(|inst| B::of(inst.op())) {
                Some(row) if row <= B::UvswWriteEmitEndtask => stages.within(Stages::VERTEX),
                Some(B::Fitr | B::Fitrp | B::Depthf | B::Alphaf | B::Emitpix) => {
                    stages.within(Stages::FRAGMENT);
                }
                _ => {}
            },
            Ops::Control(inst) => {
                let row = Control::of(inst.op());
                if (Control::Ditr..=Control::DitrStored).contains(&row) {
                    stages.within(Stages::FRAGMENT);
                }
            }
            Ops::Bitwise(_) => {}
        }
        if self.group.writes.into_iter().flatten().any(is_pixel) {
            stages.within(Stages::FRAGMENT);
        }
        self.when(!(stages.vertex || stages.fragment || stages.compute), Rule::Stage);
    }
}
