//! The machines that gpucc knows by name, and what each can do.

use serde::Serialize;

/// A machine family, by its name on the command line.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// AMD R6xx.
    R600,
    /// AMD R700.
    R700,
    /// Intel 965.
    Gen4,
    /// Intel G45.
    G45,
    /// Arm Valhall v9.
    Valhall,
    /// Imagination PowerVR Rogue.
    Rogue,
    /// No machine: the interpreter of structured SSA.
    Interp,
}

impl Target {
    /// Every target, in the contract's order.
    pub const ALL: [Target; 7] = [
        Target::R600,
        Target::R700,
        Target::Gen4,
        Target::G45,
        Target::Valhall,
        Target::Rogue,
        Target::Interp,
    ];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Target::R600 => "r600",
            Target::R700 => "r700",
            Target::Gen4 => "gen4",
            Target::G45 => "g45",
            Target::Valhall => "valhall",
            Target::Rogue => "rogue",
            Target::Interp => "interp",
        }
    }

    /// Finds a target by its name.
    pub fn by_name(name: &str) -> Option<Target> {
        Target::ALL.into_iter().find(|target| target.name() == name)
    }

    /// What the machine is.
    pub const fn machine(self) -> &'static str {
        match self {
            Target::R600 => "AMD R6xx family",
            Target::R700 => "AMD R700 family (TeraScale)",
            Target::Gen4 => "Intel 965 family",
            Target::G45 => "Intel G45 family",
            Target::Valhall => "Arm Valhall v9",
            Target::Rogue => "Imagination PowerVR Rogue",
            Target::Interp => "no machine: the reference interpreter",
        }
    }

    /// Chips of the family, the default first.
    pub const fn chips(self) -> &'static [&'static str] {
        match self {
            Target::R600 => &["rv670", "rv610", "rv630", "rv620", "rv635", "r600"],
            Target::R700 => &["rv770", "rv790", "rv740", "rv730", "rv710"],
            Target::Gen4 => &["i965", "gm965"],
            Target::G45 => &["g45", "gm45"],
            Target::Valhall => &["g57", "g77", "g78"],
            Target::Rogue => &["gx6250", "axe1_16m"],
            Target::Interp => &[],
        }
    }

    /// True when gpucc makes and runs code for it today.
    pub const fn is_built(self) -> bool {
        match self {
            Target::R600 | Target::R700 | Target::Valhall | Target::Interp => true,
            Target::Gen4 | Target::G45 | Target::Rogue => false,
        }
    }

    /// Limits that a shader can meet, with their values.
    pub const fn limits(self) -> &'static [(&'static str, u64)] {
        match self {
            Target::R700 => &[
                ("registers", 128),
                ("uniform_buffers", 14),
                ("storage_buffers", 32),
                ("textures", 112),
                ("samplers", 18),
                ("vertex_attributes", 16),
                ("fragment_inputs", 32),
                ("color_targets", 8),
                ("workgroup_invocations", 1024),
            ],
            // No instruction writes memory, so nothing is stored; see the refusals.
            Target::R600 => &[
                ("registers", 128),
                ("uniform_buffers", 14),
                ("storage_buffers", 32),
                ("textures", 112),
                ("samplers", 18),
                ("vertex_attributes", 16),
                ("fragment_inputs", 32),
                ("color_targets", 8),
                ("workgroup_invocations", 1024),
            ],
            Target::Valhall => &[
                ("registers", 64),
                ("fau_words", 128),
                ("vertex_attributes", 16),
                ("color_targets", 8),
                ("workgroup_invocations", 1024),
            ],
            Target::Gen4 | Target::G45 | Target::Rogue | Target::Interp => &[],
        }
    }

    /// The row of [`Target::refusals`] about what a shader needs; `None` where the machine has it.
    pub fn lacks(self, needs: gpucc_frontend::Needs) -> Option<(&'static str, &'static str)> {
        use gpucc_frontend::Needs;
        let feature = match needs {
            Needs::Atomics => "atomic operations",
            Needs::MeshStages => "task and mesh shaders",
            Needs::RayTracing => "ray tracing",
            Needs::CooperativeMatrices => "cooperative matrices",
        };
        self.refusals().into_iter().find(|row| row.0 == feature)
    }

    /// How messages call the machine.
    pub const fn short(self) -> &'static str {
        match self {
            Target::R600 => "R6xx",
            Target::R700 => "R700",
            Target::Gen4 => "Gen4",
            Target::G45 => "G45",
            Target::Valhall => "Valhall v9",
            Target::Rogue => "Rogue",
            Target::Interp => "the interpreter",
        }
    }

    /// What the silicon cannot do: feature and the manual's section.
    pub fn refusals(self) -> Vec<(&'static str, &'static str)> {
        match self {
            Target::R700 => crate::backend::r700::refusals(gpucc_r700::Family::R700),
            Target::R600 => crate::backend::r700::refusals(gpucc_r700::Family::R600),
            Target::Valhall => crate::backend::valhall::refusals(),
            Target::Gen4 | Target::G45 | Target::Rogue | Target::Interp => Vec::new(),
        }
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
    /// Chips, the default first.
    pub chips: &'static [&'static str],
    /// Shader stages.
    pub stages: &'static [&'static str],
    /// Limits by name.
    pub limits: serde_json::Map<String, serde_json::Value>,
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
        TargetInfo {
            target: target.name(),
            machine: target.machine(),
            supported: target.is_built(),
            chips: target.chips(),
            stages: if target.is_built() {
                &["vertex", "fragment", "compute"]
            } else {
                &[]
            },
            limits: target
                .limits()
                .iter()
                .map(|&(name, value)| (name.to_owned(), value.into()))
                .collect(),
            refuses: target
                .refusals()
                .into_iter()
                .map(|(feature, manual)| Refusal { feature, manual })
                .collect(),
        }
    }
}
