//! What built-in values are made of. Validation leaves this open where interfaces are freed: SPIR-V decorates what it likes.

use super::Result;
use crate::stop::Stop;
use gpucc_ir::ssa::Builtin;
use naga::{BuiltIn, ScalarKind, TypeInner};

/// Refuses a built-in value of another scalar type than the language gives it.
pub fn check(types: &super::types::Types<'_>, builtin: BuiltIn, inner: &TypeInner) -> Result<()> {
    let mut inner = inner;
    while let TypeInner::Array { base, .. } = inner {
        inner = types.inner(*base);
    }
    let Some(scalar) = inner.scalar() else {
        return Ok(());
    };
    let (fits, wanted) = match builtin {
        BuiltIn::Position { .. }
        | BuiltIn::ClipDistances
        | BuiltIn::CullDistance
        | BuiltIn::PointSize
        | BuiltIn::PointCoord
        | BuiltIn::FragDepth
        | BuiltIn::Barycentric { .. } => (scalar.kind == ScalarKind::Float, "32-bit floats"),
        BuiltIn::FrontFacing => {
            (matches!(scalar.kind, ScalarKind::Bool | ScalarKind::Uint), "a truth value")
        }
        _ => (matches!(scalar.kind, ScalarKind::Sint | ScalarKind::Uint), "32-bit integers"),
    };
    let invalid = |wanted: &str| {
        let name = name(builtin);
        Err(Stop::invalid(format!(
            "the built-in value {name} is declared with another type: it is {wanted}"
        )))
    };
    if !fits || scalar.width != 4 && scalar.kind != ScalarKind::Bool {
        return invalid(wanted);
    }
    let components = match inner {
        TypeInner::Scalar(_) => 1,
        TypeInner::Vector { size, .. } => *size as u8,
        _ => 0,
    };
    match super::entry::builtin_of(builtin) {
        // A float is one of the distances.
        Ok(Builtin::ClipDistance(_) | Builtin::CullDistance(_)) | Err(_) => Ok(()),
        Ok(known) if components == known.components() => Ok(()),
        Ok(known) => invalid(&format!("{wanted}, {} of them", known.components())),
    }
}

fn name(builtin: BuiltIn) -> String {
    let text = format!("{builtin:?}");
    text.split([' ', '{', '(']).next().unwrap_or("").to_owned()
}
