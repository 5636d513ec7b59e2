//! Rules of registers that the manuals do not state and drivers on the silicon keep (docs/errata.md). They are asked
//! before a program starts, of what is programmed.

use super::decode::{CfBody, ExportOp};
use super::program::Program;
use super::rule::{Rule, Trap};
use super::state::{Stage, State, address};
use crate::api::Family;

/// Checks the registers that a program starts with.
///
/// # Errors
/// The first rule that they break.
pub(super) fn check(state: &State, program: &Program, threads: u32) -> Result<(), Trap> {
    // Half of what there is beside clause temporaries of two wavefronts: pixels and vertices run at once.
    let most = (super::chip::facts(state.chip).rows - 2 * state.clause_temps()) / 2;
    let (gprs, ..) = state.program_resources()?;
    if gprs > most {
        let detail = format!("NUM_GPRS is {gprs}, {most} are a stage's share");
        return Err(Trap::new(Rule::RegisterShare, 0, detail));
    }
    match state.stage {
        Stage::Pixel => {
            targets(state)?;
            depth(state, program)
        }
        Stage::Compute => points(state, threads),
        Stage::Vertex | Stage::Export | Stage::Geometry => Ok(()),
    }
}

/// A dispatch is a draw of points that nobody sees, a lane each, numbered from 0.
fn points(state: &State, threads: u32) -> Result<(), Trap> {
    let (name, at, bit) = match state.chip.family() {
        Family::R700 => ("PA_CL_CLIP_CNTL", address::PA_CL_CLIP_CNTL, 22),
        Family::R600 => ("SX_MISC", address::SX_MISC, 0),
    };
    if state.register(at).is_none_or(|word| word >> bit & 1 == 0) {
        let detail = format!("bit {bit} of {name} is not set");
        return Err(Trap::new(Rule::Rasterised, 0, detail));
    }
    let wave = super::chip::facts(state.chip).wave;
    // What each register must be, at least and at most.
    let wanted = [
        ("VGT_PRIMITIVE_TYPE", address::VGT_PRIMITIVE_TYPE, 1..=1),
        ("VGT_VTX_CNT_EN", address::VGT_VTX_CNT_EN, 1..=1),
        ("VGT_EVENT_INITIATOR", address::VGT_EVENT_INITIATOR, 33..=33),
        ("VGT_REUSE_OFF", address::VGT_REUSE_OFF, 1..=1),
        ("VGT_MIN_VTX_INDX", address::VGT_MIN_VTX_INDX, 0..=0),
        ("VGT_MAX_VTX_INDX", address::VGT_MAX_VTX_INDX, threads.saturating_sub(1)..=u32::MAX),
        ("VGT_INDX_OFFSET", address::VGT_INDX_OFFSET, 0..=0),
        ("VGT_VTX_VECT_EJECT_REG", address::VGT_VTX_VECT_EJECT_REG, wave..=0x3FF),
    ];
    for (name, at, range) in wanted {
        let found = state.register(at);
        if !found.is_some_and(|word| range.contains(&word)) {
            let detail = format!("{name} is {found:?}, not in {range:?}");
            return Err(Trap::new(Rule::PointNumbers, 0, detail));
        }
    }
    Ok(())
}

/// Which colours a program exports, and which targets take them: SQ_PGM_EXPORTS_PS, CB_SHADER_MASK, CB_SHADER_CONTROL.
fn targets(state: &State) -> Result<(), Trap> {
    let trap = |rule: Rule, detail: String| Err(Trap::new(rule, 0, detail));
    let colors = state.register(address::SQ_PGM_EXPORTS_PS).map(|mode| mode >> 1 & 15);
    if colors == Some(0) {
        return trap(Rule::Colorless, "EXPORT_MODE counts no colour".into());
    }
    if let Some(mask) = state.register(address::CB_SHADER_MASK) {
        let highest = (32 - mask.leading_zeros()).div_ceil(4);
        if let Some(gap) = (0..highest).find(|target| mask >> (4 * target) & 15 == 0) {
            return trap(Rule::TargetGap, format!("target {gap} has no component: {mask:#x}"));
        }
    }
    let enabled = state.register(address::CB_SHADER_CONTROL).unwrap_or(0) & 0xFF;
    if let Some(colors) = colors
        && enabled >> colors != 0
    {
        return trap(Rule::TargetWaits, format!("RT_ENABLE is {enabled:#x}, {colors} exported"));
    }
    Ok(())
}

/// When depth is tested, and which pixels run that it hides: DB_SHADER_CONTROL.
fn depth(state: &State, program: &Program) -> Result<(), Trap> {
    let Some(control) = state.register(address::DB_SHADER_CONTROL) else {
        return Ok(());
    };
    let order = control >> 4 & 3;
    if order > 1 {
        let detail = format!("Z_ORDER is {order}");
        return Err(Trap::new(Rule::DepthOrder, 0, detail));
    }
    let stores = program.steps.iter().flatten().any(
        |step| matches!(&step.cf.body, CfBody::Export(export) if export.op == ExportOp::MemExport),
    );
    // EXEC_ON_HIER_FAIL, EXEC_ON_NOOP: which of the two it takes follows from when depth is tested.
    let runs = (control >> 10 & 1, control >> 11 & 1);
    let wanted = if order == 0 { (1, 0) } else { (0, 1) };
    if stores && runs != wanted {
        let detail = format!(
            "EXEC_ON_HIER_FAIL and EXEC_ON_NOOP are {runs:?}, {wanted:?} with Z_ORDER {order}"
        );
        return Err(Trap::new(Rule::HiddenStores, 0, detail));
    }
    Ok(())
}
