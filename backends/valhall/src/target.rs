//! What the shared passes ask of this machine.

use crate::api::{Options, Uniforms};
use gpucc_ir::ssa::{Op, ResourceData, Type};
use gpucc_passes::TargetInfo;

/// Valhall as the shared passes see it.
pub struct Valhall;

/// The machine's answers.
pub fn target_info() -> &'static dyn TargetInfo {
    &Valhall
}

impl TargetInfo for Valhall {
    fn native(&self, op: Op, ty: Type) -> bool {
        crate::expand::is_native(op, ty)
    }
    /// FMA rounds once, so contraction changes bits: not among the shared passes, whose every step
    /// keeps them, but where the reference is made ([`Contracting`]).
    fn has_fma(&self, _: Type) -> bool {
        false
    }
    /// Two branches, their targets' reconvergence and what they keep apart cost about eight cycles; in a
    /// warp that parts both arms run anyway.
    fn flatten_limit(&self) -> u32 {
        40
    }
    /// A chain of CSEL is cheaper than filling thread-local memory and waiting for it.
    fn select_chain_limit(&self) -> u32 {
        8
    }
    /// An access is the address, the wait and the access; measured, longer chains make programs larger.
    fn access_worth(&self) -> u32 {
        7
    }
    /// Small ones are shifted words, others stand in a buffer of the driver's.
    fn table_words(&self) -> Option<(u32, u32)> {
        Some((2, 4096))
    }
    /// LD_BUFFER gives zero out of range (isa/valhall_rogue.md 4.13), and addresses of LEA_BUFFER are
    /// used only where the program says.
    fn speculates_loads(&self) -> bool {
        true
    }
    /// All buffers are read by LD_BUFFER (isa/valhall_rogue.md 4.13).
    fn bounds_loads(&self, _: &ResourceData) -> bool {
        true
    }
}

/// Valhall where uniforms are pushed: without its arrays many a program would not touch memory at all,
/// and the load-store unit takes one access a cycle where the converter does 32 selects.
pub struct Unloaded;

impl TargetInfo for Unloaded {
    fn native(&self, op: Op, ty: Type) -> bool {
        crate::expand::is_native(op, ty)
    }
    fn access_worth(&self) -> u32 {
        40
    }
}

/// Valhall while the reference is made: FMA.f32 and FMA.v2f16 cost what FADD costs, and WGSL lets a
/// product and a sum be one (WGSL, reassociation and fusion).
pub struct Contracting {
    /// Uniforms are operands like any other.
    pub pushed: bool,
}

/// The machine's answers while [`crate::plan`] runs.
pub fn expansion_target(options: &Options) -> &'static dyn TargetInfo {
    match options.pipeline.uniforms {
        Uniforms::Pushed => &Contracting { pushed: true },
        Uniforms::Loaded => &Contracting { pushed: false },
    }
}

impl TargetInfo for Contracting {
    fn native(&self, op: Op, ty: Type) -> bool {
        crate::expand::is_native(op, ty)
    }
    fn has_fma(&self, ty: Type) -> bool {
        matches!(ty, Type::B16 | Type::B32)
    }
    fn flatten_limit(&self) -> u32 {
        Valhall.flatten_limit()
    }
    fn speculates_loads(&self) -> bool {
        Valhall.speculates_loads()
    }
    fn uniform_cost(&self) -> u32 {
        match self.pushed {
            true => 0,
            false => Valhall.uniform_cost(),
        }
    }
}
