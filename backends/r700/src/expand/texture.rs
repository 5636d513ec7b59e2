//! Which texture instructions R700 has in another form: cubes by face coordinates, gathers as point samples, comparisons
//! whose operands do not fit into one address as gradients. R700 ISA 5.4, 9.4; isa/r700.md 1.12.

use gpucc_ir::ssa::{Dim, Func, InstData, TexKind, TexOp};
use gpucc_passes::expand::texture::{Form, shape};

/// Rewrites every texture instruction that the machine has in another form; true when there was one.
pub fn expand(func: &mut Func) -> bool {
    gpucc_passes::expand::texture::expand(func, form)
}

fn form(func: &Func, data: &InstData, tex: &TexOp) -> Option<Form> {
    let (dim, arrayed) = shape(func, tex)?;
    let cube = dim == Dim::Cube;
    let last = data.args.last();
    let at_zero = tex.kind == TexKind::SampleLevel
        && last.is_some_and(|&level| func.as_const(level) == Some(0));
    match tex.kind {
        TexKind::SampleBaseClampToEdge => Some(Form::Clamped),
        TexKind::Gather => Some(Form::Gather),
        // Z holds a coordinate and W the reference, so no component is left for the level.
        TexKind::SampleBias | TexKind::SampleLevel
            if tex.compare && !at_zero && (arrayed || dim.coords() > 2) && !tex.projected =>
        {
            Some(Form::Gradients)
        }
        TexKind::Load => None,
        _ if cube && !tex.projected => Some(Form::Face),
        _ => None,
    }
}
