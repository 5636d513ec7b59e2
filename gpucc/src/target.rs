//! A target: a machine, one that is to come, or the interpreter; and what is told of it.

use gpucc_machine::about::STAGES;
use gpucc_machine::{About, Assembler, Machine, Planned};
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};

/// What programs are made for. Two targets are the same when their names are. The machines that have a name here are
/// listed in `machines.rs`; any other is `Target::Machine(&its_value)`.
#[derive(Copy, Clone)]
pub enum Target {
    /// No machine: the interpreter of structured SSA.
    Interp,
    /// A machine.
    Machine(&'static dyn Machine),
    /// A machine that no code is made for yet.
    Planned(&'static Planned),
}

const INTERP: About = About {
    name: "interp",
    machine: "no machine: the reference interpreter",
    short: "the interpreter",
    chips: &[],
    stages: STAGES,
    noticed: 100,
};

impl Target {
    /// Names, chips and stages.
    pub fn about(self) -> &'static About {
        match self {
            Target::Interp => &INTERP,
            Target::Machine(machine) => machine.about(),
            Target::Planned(planned) => &planned.about,
        }
    }

    /// The machine, where it is one that is built.
    pub fn built(self) -> Option<&'static dyn Machine> {
        match self {
            Target::Machine(machine) => Some(machine),
            Target::Interp | Target::Planned(_) => None,
        }
    }

    /// The machines that are built, in the contract's order.
    pub fn machines() -> impl Iterator<Item = Target> {
        let all = Target::ALL.iter().copied();
        all.filter(|target| target.built().is_some())
    }

    /// The assembler, where the machine has one: some have it before code is made for them.
    pub fn assembler(self) -> Option<&'static dyn Assembler> {
        match self {
            Target::Machine(machine) => Some(machine.assembler()),
            Target::Planned(planned) => planned.assembler,
            Target::Interp => None,
        }
    }

    /// The machines that have an assembler, in the contract's order.
    pub fn assembled() -> impl Iterator<Item = Target> {
        let all = Target::ALL.iter().copied();
        all.filter(|target| target.assembler().is_some())
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.about().name
    }

    /// Finds a target by its name.
    pub fn by_name(name: &str) -> Option<Target> {
        Target::ALL.iter().copied().find(|target| target.name() == name)
    }

    /// What the machine is.
    pub fn machine(self) -> &'static str {
        self.about().machine
    }

    /// Chips of the family, the default first.
    pub fn chips(self) -> &'static [&'static str] {
        self.about().chips
    }

    /// True when gpucc makes and runs code for it today.
    pub fn is_built(self) -> bool {
        match self {
            Target::Interp | Target::Machine(_) => true,
            Target::Planned(_) => false,
        }
    }

    /// What a shader can have too much of on a chip, and how much there is. Names are those of messages, with underscores.
    pub fn limits(self, chip: &str) -> BTreeMap<String, u64> {
        let Target::Machine(machine) = self else { return BTreeMap::new() };
        let rows = machine.limits(chip).into_iter();
        rows.map(|(what, available)| (what.replace(' ', "_"), available)).collect()
    }

    /// The row of [`Target::refusals`] about what a shader needs; `None` where the machine has it.
    pub fn lacks(self, needs: gpucc_frontend::Needs) -> Option<(&'static str, &'static str)> {
        use gpucc_frontend::Needs;
        let feature = match needs {
            Needs::Atomics => "atomic operations",
            Needs::Geometry => "geometry shaders",
            Needs::Tessellation => "tessellation shaders",
            Needs::MeshStages => "task and mesh shaders",
            Needs::RayTracing => "ray tracing",
            Needs::CooperativeMatrices => "cooperative matrices",
            Needs::Residency => "sparse residency",
            Needs::Interlock => "fragment shader interlock",
            Needs::ShadingRate => "shading rates",
            Needs::Viewports => "viewports that shaders see or choose",
            Needs::Corners => "values of a primitive's corners",
            Needs::WholePixels => "whether a pixel is covered wholly",
            Needs::StoredSamples => "storing texels of several samples",
        };
        self.refusals().into_iter().find(|row| row.0 == feature)
    }

    /// How messages call the machine.
    pub fn short(self) -> &'static str {
        self.about().short
    }

    /// What the silicon cannot do: feature and the manual's section.
    pub fn refusals(self) -> Vec<(&'static str, &'static str)> {
        match self {
            Target::Machine(machine) => machine.refusals(),
            Target::Planned(planned) => planned.refusals.to_vec(),
            Target::Interp => Vec::new(),
        }
    }
}

impl PartialEq for Target {
    fn eq(&self, other: &Target) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Target {}

impl PartialOrd for Target {
    fn partial_cmp(&self, other: &Target) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Target {
    /// By name.
    fn cmp(&self, other: &Target) -> Ordering {
        self.name().cmp(other.name())
    }
}

impl Hash for Target {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One row of `gpucc targets --json`.
#[derive(Clone, Debug, Serialize)]
pub struct TargetInfo {
    /// Name.
    pub target: &'static str,
    /// What it is.
    pub machine: &'static str,
    /// Built today.
    pub supported: bool,
    /// Has an assembler and a disassembler today.
    pub assembles: bool,
    /// Chips, the default first.
    pub chips: &'static [&'static str],
    /// Shader stages.
    pub stages: &'static [&'static str],
    /// Limits of the default chip by name.
    pub limits: BTreeMap<String, u64>,
    /// Limits of other chips that have other values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub chip_limits: BTreeMap<&'static str, BTreeMap<String, u64>>,
    /// What the machine refuses.
    pub refuses: Vec<Refusal>,
}

/// A feature that the machine lacks.
#[derive(Clone, Debug, Serialize)]
pub struct Refusal {
    /// Feature.
    pub feature: &'static str,
    /// Where the manual shows it.
    pub manual: &'static str,
}

impl From<Target> for TargetInfo {
    fn from(target: Target) -> Self {
        let mut chips = target.chips().iter().copied();
        let limits = target.limits(chips.next().unwrap_or_default());
        let others = chips.map(|chip| {
            let mut own = target.limits(chip);
            own.retain(|name, value| limits.get(name) != Some(value));
            (chip, own)
        });
        let chip_limits = others.filter(|(_, own)| !own.is_empty()).collect();
        TargetInfo {
            target: target.name(),
            machine: target.machine(),
            supported: target.is_built(),
            assembles: target.assembler().is_some(),
            chips: target.chips(),
            stages: target.about().stages,
            limits,
            chip_limits,
            refuses: target
                .refusals()
                .into_iter()
                .map(|(feature, manual)| Refusal { feature, manual })
                .collect(),
        }
    }
}
