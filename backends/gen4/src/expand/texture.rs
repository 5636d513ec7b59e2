//! Which texture instructions the sampler's messages have in another form. G45 vol. 4, 4.8.1.4.

use gpucc_ir::ssa::{Dim, Func, InstData, ResourceKind, SampleType, TexKind, TexOp};
use gpucc_passes::expand::texture::{Form, shape};

/// Rewrites every texture instruction that the machine has in another form; true when there was one.
pub fn expand(func: &mut Func) -> bool {
    gpucc_passes::expand::texture::expand(func, form)
}

fn form(func: &Func, _: &InstData, tex: &TexOp) -> Option<Form> {
    let (dim, arrayed) = shape(func, tex)?;
    let integers = matches!(
        func.resources[tex.texture].kind,
        ResourceKind::Texture { sample: SampleType::Sint | SampleType::Uint, .. }
    );
    match tex.kind {
        // Comparisons have no layers, and lookups by coordinates no integers.
        _ if tex.compare && arrayed && dim != Dim::Cube => Some(Form::Arithmetic),
        TexKind::Gather if integers && dim != Dim::Cube => Some(Form::Arithmetic),
        TexKind::SampleGrad if tex.compare => Some(Form::Level),
        TexKind::SampleBaseClampToEdge => Some(Form::Clamped),
        // A level goes with a direction, and gradients with a place on a face.
        TexKind::Gather if dim == Dim::Cube => Some(Form::SteepGather),
        TexKind::Gather => Some(Form::Gather),
        TexKind::Load => None,
        // Gradients are those of a place on a face; all else takes a direction that is divided by its largest coordinate.
        TexKind::SampleGrad if dim == Dim::Cube && !tex.projected => Some(Form::Face),
        _ if dim == Dim::Cube && !tex.projected => Some(Form::Direction),
        _ => None,
    }
}
