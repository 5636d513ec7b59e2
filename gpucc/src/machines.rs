//! The one list of machines. A machine is a line in [`Target::ALL`] and a constant of its name; nothing else in this crate
//! and in the test runner names one.

use crate::Target;
use gpucc_r700::Family;
use gpucc_valhall::Valhall;

impl Target {
    /// AMD R6xx.
    pub const R600: Target = Target::Machine(&Family::R600);
    /// AMD R700.
    pub const R700: Target = Target::Machine(&Family::R700);
    /// Intel 965.
    pub const GEN4: Target = Target::Machine(&gpucc_gen4::GEN4);
    /// Intel G45.
    pub const G45: Target = Target::Machine(&gpucc_gen4::G45);
    /// Arm Valhall v9.
    pub const VALHALL: Target = Target::Machine(&Valhall);
    /// Imagination PowerVR Rogue.
    pub const ROGUE: Target = Target::Machine(&gpucc_rogue::ROGUE);

    /// Every target, in the contract's order.
    pub const ALL: [Target; 7] = [
        Target::R600,
        Target::R700,
        Target::GEN4,
        Target::G45,
        Target::VALHALL,
        Target::ROGUE,
        Target::Interp,
    ];

    /// What tools take that need one machine and are told none.
    pub const USUAL: Target = Target::R700;
}
