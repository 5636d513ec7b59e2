//! Which texture instructions the machine has in another form. isa/rogue-pipeline.md 2.9.

use gpucc_ir::ssa::{Func, TexKind};
use gpucc_passes::expand::texture::Form;

/// Rewrites every texture instruction that the machine has in another form; true when there was one.
pub fn expand(func: &mut Func) -> bool {
    gpucc_passes::expand::texture::expand(func, |_, _, tex| {
        (tex.kind == TexKind::SampleBaseClampToEdge).then_some(Form::Clamped)
    })
}
