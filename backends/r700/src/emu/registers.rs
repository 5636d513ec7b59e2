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
    let chip = super::chip::facts(state.chip);
    let most = (chip.rows - 2 * state.clause_temps()) / 2;
    let (gprs, stack, _) = state.program_resources()?;
    if gprs > most {
        let detail = format!("NUM_GPRS is {gprs}, {most} are a stage's share");
        return Err(Trap::new(Rule::RegisterShare, 0, detail));
    }
    if stack > chip.stack {
        let detail = format!("STACK_SIZE is {stack}, {} are a stage's share", chip.stack);
        return Err(Trap::new(Rule::StackShare, 0, detail));
    }
    match state.stage {
        Stage::Pixel => {
            targets(state)?;
            formats(state)?;
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
    // No pixel is there, and still a kernel asks for what depth and targets want of memory.
    let tested = state.register(address::DB_DEPTH_CONTROL).is_none_or(|word| word & 3 != 0);
    let written = state.register(address::CB_TARGET_MASK) != Some(0);
    if tested || written {
        let detail = format!("depth is tested: {tested}; targets are written: {written}");
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
        if colors.is_some() && mask & 15 == 0 {
            return trap(Rule::Colorless, "a colour is exported, CB_SHADER_MASK has none".into());
        }
    }
    let enabled = state.register(address::CB_SHADER_CONTROL).unwrap_or(0) & 0xFF;
    if let Some(colors) = colors
        && enabled >> colors != 0
    {
        return trap(Rule::TargetWaits, format!("RT_ENABLE is {enabled:#x}, {colors} exported"));
    }
    let taken = state.register(address::CB_TARGET_MASK).unwrap_or(0);
    if let Some(colors) = colors.filter(|&colors| colors < 8)
        && taken >> (4 * colors) != 0
    {
        let detail = format!("CB_TARGET_MASK is {taken:#x}, {colors} exported");
        return trap(Rule::TargetWaits, detail);
    }
    Ok(())
}

/// How a target's component bits are read, by CB_COLORn_INFO.FORMAT: the widest component's bits, and whether the format
/// itself says that they are a float.
const COMPONENTS: [(u32, bool); 36] = [
    (0, false),
    (8, false),
    (4, false),
    (3, false),
    (0, false),
    (16, false),
    (16, true),
    (8, false),
    (6, false),
    (6, false),
    (5, false),
    (4, false),
    (5, false),
    (32, false),
    (32, true),
    (16, false),
    (16, true),
    (24, false),
    (24, true),
    (24, false),
    (24, true),
    (11, false),
    (11, true),
    (11, false),
    (11, true),
    (10, false),
    (8, false),
    (10, false),
    (32, true),
    (32, false),
    (32, true),
    (16, false),
    (16, true),
    (0, false),
    (32, false),
    (32, true),
];

/// Formats of the targets, and what their exports may be: CB_COLORn_INFO, DB_SHADER_CONTROL.
fn formats(state: &State) -> Result<(), Trap> {
    let trap = |rule: Rule, detail: String| Err(Trap::new(rule, 0, detail));
    let mut short = 0;
    let mut bound = 0;
    for target in 0..8 {
        let Some(info) = state.register(address::CB_COLOR0_INFO + 4 * target) else {
            continue;
        };
        let bit = |at: u32| info >> at & 1 == 1;
        let (clamp, bypass, precise, norm) = (bit(20), bit(22), bit(23), bit(27));
        let (format, number) = ((info >> 2 & 63) as usize, info >> 12 & 7);
        if format == 0 {
            continue;
        }
        bound += 1;
        let Some(&(bits, float)) = COMPONENTS.get(format).filter(|row| row.0 > 0) else {
            return trap(Rule::TargetFormat, format!("FORMAT of target {target} is {format}"));
        };
        let float = float || number == 7;
        let integer = !float && matches!(number, 4 | 5);
        let scaled = !float && matches!(number, 2 | 3);
        let limit = if float { 16 } else { 12 };
        let wrong = if float && number != 7 {
            "NUMBER_TYPE is not that of a float"
        } else if number == 6 && bits != 8 {
            "only components of 8 bits are sRGB"
        } else if bits == 32 && !float && !integer {
            "components of 32 bits are floats or integers"
        } else if clamp && (float || scaled || bypass) {
            "BLEND_CLAMP is set"
        } else if integer && !bypass {
            "BLEND_BYPASS is clear and the target holds integers"
        } else if !integer && precise != (bits > limit) {
            "BLEND_FLOAT32 differs from what the width asks for"
        } else {
            ""
        };
        if !wrong.is_empty() {
            return trap(Rule::TargetFormat, format!("target {target}, {info:#x}: {wrong}"));
        }
        if norm {
            short += 1;
            if !clamp || precise || bits > 11 || float || integer {
                let detail = format!("target {target}, {info:#x}: SOURCE_FORMAT is EXPORT_NORM");
                return trap(Rule::ShortExport, detail);
            }
        }
    }
    let control = state.register(address::DB_SHADER_CONTROL).unwrap_or(0);
    // Z_EXPORT_ENABLE, STENCIL_REF_EXPORT_ENABLE, MASK_EXPORT_ENABLE. Without a target there is nothing to pair quads for.
    let (dual, depth) = (control >> 9 & 1 == 1, control & 0x103 != 0);
    if dual && (depth || bound == 0 || short < bound) {
        let detail = format!("DUAL_EXPORT_ENABLE, {short} of {bound} targets take short exports");
        return trap(Rule::ShortExport, detail);
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
