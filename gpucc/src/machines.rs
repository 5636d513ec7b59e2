//! The one list of machines. A machine is a line in [`Target::ALL`] and a constant of its name; nothing else in this crate
//! and in the test runner names one. Each family is a feature of the crate.

use crate::Target;

impl Target {
    /// AMD R6xx.
    #[cfg(feature = "r700")]
    pub const R600: Target = Target::Machine(&gpucc_r700::Family::R600);
    /// AMD R700.
    #[cfg(feature = "r700")]
    pub const R700: Target = Target::Machine(&gpucc_r700::Family::R700);
    /// Intel 965.
    #[cfg(feature = "gen4")]
    pub const GEN4: Target = Target::Machine(&gpucc_gen4::GEN4);
    /// Intel G45.
    #[cfg(feature = "gen4")]
    pub const G45: Target = Target::Machine(&gpucc_gen4::G45);
    /// Arm Valhall v9.
    #[cfg(feature = "valhall")]
    pub const VALHALL: Target = Target::Machine(&gpucc_valhall::Valhall);
    /// Imagination PowerVR Rogue.
    #[cfg(feature = "rogue")]
    pub const ROGUE: Target = Target::Machine(&gpucc_rogue::ROGUE);

    /// Every target that is built in, in the contract's order.
    pub const ALL: &'static [Target] = &[
        #[cfg(feature = "r700")]
        Target::R600,
        #[cfg(feature = "r700")]
        Target::R700,
        #[cfg(feature = "gen4")]
        Target::GEN4,
        #[cfg(feature = "gen4")]
        Target::G45,
        #[cfg(feature = "valhall")]
        Target::VALHALL,
        #[cfg(feature = "rogue")]
        Target::ROGUE,
        Target::Interp,
    ];

    /// What tools take that need one machine and are told none.
    #[cfg(feature = "r700")]
    pub const USUAL: Target = Target::R700;
    /// What tools take that need one machine and are told none.
    #[cfg(not(feature = "r700"))]
    pub const USUAL: Target = Target::ALL[0];
}
