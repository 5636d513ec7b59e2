//! What the documents forbid of one group, whatever its registers hold.

mod uses;

use super::core::Core;
use super::inst::{
    Alu, Backend, Condition, Conditional, Control, Feed, File, Format, Group, Kind, Main,
    Modifiers, Register, Single, Type, When,
};
use super::rule::{Refused, Rule};
pub(super) use uses::{Uses, drives_external};

/// Which stage a program is of.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Vertices.
    Vertex,
    /// Fragments, and what ends a tile.
    Fragment,
    /// Compute.
    Compute,
}

/// Asks a group what the documents forbid of it.
///
/// # Errors
/// The first rule that it breaks.
pub fn admit(group: &Group, core: &Core, stage: Stage) -> Result<(), Refused> {
    if let Kind::Main(main) = &group.kind {
        phases(main)?;
        packs(main)?;
    }
    let uses = Uses::of(group)?;
    ports(group, &uses)?;
    written(group, &uses, stage)?;
    if let Kind::Main(main) = &group.kind {
        complex(group, main)?;
        stages(group, main, core, stage)?;
    }
    repeats(group, &uses)?;
    overlap(group, &uses)?;
    for register in uses.registers(group) {
        exists(register, group.repeat, core)?;
    }
    match group.kind {
        Kind::Control(Control::Conditional { .. }) => conditional(group),
        Kind::Control(Control::Wait(_) | Control::WaitOutputs | Control::Mutex { .. })
            if group.condition != Condition::Executing =>
        {
            Err((Rule::Unconditional, format!("{:?} of {:?}", group.condition, group.kind)))
        }
        Kind::Control(Control::Iterate(iterate)) => {
            let alone = stage == Stage::Fragment && core.iterates_by_control;
            if !alone || iterate.half {
                let rule = if iterate.half { Rule::Undocumented } else { Rule::IteratorStage };
                return Err((rule, format!("an iterator of {stage:?} on {}", core.name)));
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Phase 1 has what it may have. 2.2, 8.
fn phases(main: &Main) -> Result<(), Refused> {
    match main.p1 {
        None | Some(Alu::Float { .. } | Alu::Mad { .. }) => Ok(()),
        Some(Alu::Single(op, _)) if !op.is_complex() => Ok(()),
        Some(other) => Err((Rule::PhaseOne, format!("{other:?}"))),
    }
}

/// Packs and tests. 2.3, 2.4.
fn packs(main: &Main) -> Result<(), Refused> {
    if let Some(pack) = main.pack
        && pack.programmed
        && (pack.format != Format::U8888 || main.packed == Feed::Fte)
    {
        return Err((Rule::ProgrammedPack, format!("{:?} of {:?}", pack.format, main.packed)));
    }
    let Some(test) = main.test else { return Ok(()) };
    let most = match test.kind {
        Type::F32 | Type::U32 | Type::S32 => 0,
        Type::U16 | Type::S16 => 1,
        Type::U8 | Type::S8 => 3,
    };
    if test.element > most {
        return Err((Rule::TestType, format!("element {} of {:?}", test.element, test.kind)));
    }
    Ok(())
}

/// A complex operation is alone, and has its write port. 2.2.
fn complex(group: &Group, main: &Main) -> Result<(), Refused> {
    let port = match main.p0 {
        Some(Alu::Single(op, _)) if op.is_complex() => 0,
        Some(Alu::Reduce { second, .. }) => usize::from(!second),
        _ => return Ok(()),
    };
    if let Some(Alu::Single(Single::Sinc, modifiers)) = main.p0
        && modifiers != Modifiers::default()
    {
        return Err((Rule::Reserved, format!("modifiers of a sinc: {modifiers:?}")));
    }
    let others = main.pack.is_some() || main.test.is_some() || main.mov.is_some();
    if main.p1.is_some() || main.backend.is_some() || others {
        return Err((Rule::ComplexAlone, format!("beside {:?}", main.p0)));
    }
    let given = [group.writes[0].is_some(), group.writes[1].is_some()];
    let right = given[port] && !given[1 - port] && main.defaults[port] == Feed::Ft0;
    if right {
        return Ok(());
    }
    let reduces = matches!(main.p0, Some(Alu::Reduce { .. }));
    let rule = if reduces { Rule::ReducePort } else { Rule::WritePort };
    Err((rule, format!("ports {given:?} of {:?}", main.p0)))
}

/// The bank may stand on the port. 1.2.
fn ports(group: &Group, uses: &Uses) -> Result<(), Refused> {
    for port in uses.named() {
        let right = match group.sources[port] {
            Register::Constant(_)
            | Register::Internal(_)
            | Register::File(File::Temp | File::VertexIn, _) => true,
            Register::File(..) | Register::Relative { .. } | Register::Index(_) => {
                matches!(port, 0 | 2 | 3)
            }
            Register::Global(_) | Register::Special(_) => matches!(port, 1 | 2 | 4),
        };
        if !right {
            return Err((Rule::Port, format!("{:?} on S{port}", group.sources[port])));
        }
    }
    Ok(())
}

/// Destinations can be written. 1.4.
fn written(group: &Group, uses: &Uses, stage: Stage) -> Result<(), Refused> {
    let message = uses.destination.map(|port| (group.sources[port], true));
    let ports = group.writes.iter().flatten().map(|register| (*register, false));
    for (register, message) in ports.chain(message) {
        let file = match register {
            Register::File(file, _) | Register::Relative { file, .. } => file,
            Register::Internal(_) | Register::Global(_) | Register::Index(_) if !message => {
                continue;
            }
            _ => return Err((Rule::Written, format!("{register:?}"))),
        };
        match file {
            File::Temp | File::VertexIn => {}
            File::Coefficient if message => return Err((Rule::Written, format!("{register:?}"))),
            File::Coefficient if stage == Stage::Compute => {}
            File::Coefficient => {
                return Err((Rule::CoefficientWrite, format!("{register:?} of {stage:?}")));
            }
            // The vendor's words write shared registers by W0 of groups that are not atomic. 9.1.
            File::Shared if !message || uses.loads => {}
            File::Shared => return Err((Rule::SharedWrite, format!("{register:?}"))),
            File::PixelOut if message => return Err((Rule::Written, format!("{register:?}"))),
            File::PixelOut if stage == Stage::Fragment => {}
            File::PixelOut => return Err((Rule::Written, format!("{register:?} of {stage:?}"))),
        }
    }
    match group.writes {
        [Some(first), Some(second)] if first == second => {
            Err((Rule::TwoWrites, format!("{first:?}")))
        }
        _ => Ok(()),
    }
}

/// Registers that some cores lack. 3.1, 3.3.
fn exists(register: Register, repeat: u8, core: &Core) -> Result<(), Refused> {
    match register {
        Register::File(File::PixelOut, number) if number >= 4 && !core.eight_outputs => {
            Err((Rule::Register, format!("pixel output {number} on {}", core.name)))
        }
        Register::File(File::VertexIn, number) if number + u16::from(repeat) > 248 => {
            Err((Rule::Register, format!("{register:?}")))
        }
        Register::File(File::Temp, number)
            if u32::from(number) + u32::from(repeat) > core.temporaries() =>
        {
            Err((Rule::Register, format!("{register:?} on {}", core.name)))
        }
        _ => Ok(()),
    }
}

/// What a group that repeats may do. 1.1.
fn repeats(group: &Group, uses: &Uses) -> Result<(), Refused> {
    if group.repeat == 1 {
        return Ok(());
    }
    if let Kind::Main(main) = &group.kind {
        let backend = match &main.backend {
            None => true,
            Some(Backend::Uvsw(uvsw)) => {
                let numbered = matches!(uvsw.write, Some((_, super::inst::Address::Number(_))));
                numbered && uvsw.emit.is_none()
            }
            Some(_) => false,
        };
        let complex = match main.p0 {
            Some(Alu::Single(op, _)) => op.is_complex(),
            Some(Alu::Reduce { .. }) => true,
            _ => false,
        };
        if !backend || complex {
            return Err((Rule::Repeat, format!("{} times", group.repeat)));
        }
    }
    for port in (0..6).filter(|port| uses.sources[*port]) {
        if matches!(group.sources[port], Register::Special(_) | Register::Index(_)) {
            return Err((Rule::RepeatSpecial, format!("{:?} on S{port}", group.sources[port])));
        }
    }
    Ok(())
}

/// The overlap check stands where it must. 1.1.
fn overlap(group: &Group, uses: &Uses) -> Result<(), Refused> {
    let touches = |register: Register| match register {
        Register::File(File::PixelOut, _) => true,
        Register::Relative { file, .. } => file == File::PixelOut,
        Register::Special(number) => matches!(number, 46 | 54..=61 | 119..=126),
        _ => false,
    };
    match uses.registers(group).find(|register| touches(*register)) {
        Some(register) if !group.checked => Err((Rule::Overlap, format!("{register:?}"))),
        _ => Ok(()),
    }
}

/// Operations that belong to a stage or to a core. 2.8, 3.3.
fn stages(group: &Group, main: &Main, core: &Core, stage: Stage) -> Result<(), Refused> {
    let wrong = |rule| Err((rule, format!("{:?} of {stage:?} on {}", main.backend, core.name)));
    if stage != Stage::Fragment && [main.p0, main.p1].iter().flatten().any(derives) {
        return Err((Rule::Quad, format!("a derivative of {stage:?}")));
    }
    match &main.backend {
        Some(Backend::Uvsw(_)) if stage != Stage::Vertex => wrong(Rule::VertexStage),
        Some(Backend::Iterate { .. }) if stage != Stage::Fragment || core.iterates_by_control => {
            wrong(Rule::IteratorStage)
        }
        Some(
            Backend::Depth | Backend::AlphaTest { quiet: false, .. } | Backend::EmitPixel { .. },
        ) if stage != Stage::Fragment => wrong(Rule::FeedbackStage),
        Some(Backend::Sample(sample)) => {
            if sample.extended.is_some() && !core.extended_lookup {
                return wrong(Rule::TextureFeature);
            }
            match group.sources[3] {
                Register::Constant(0) => Ok(()),
                other => Err((Rule::SharedLevel, format!("{other:?} on S3"))),
            }
        }
        _ => Ok(()),
    }
}

/// Whether an operation asks the other pixels of its quad: pixels alone have one. 2.2.
fn derives(op: &Alu) -> bool {
    use Single::{Dsx, DsxFine, Dsy, DsyFine};
    matches!(op, Alu::Single(Dsx | Dsy | DsxFine | DsyFine, _))
}

/// Header and ports of a mask operation. 2.7.
fn conditional(group: &Group) -> Result<(), Refused> {
    let zero = group.sources[3] == Register::Constant(0);
    if group.condition != Condition::Always || !zero {
        let what = format!("{:?} with {:?} on S3", group.condition, group.sources[3]);
        return Err((Rule::ConditionHeader, what));
    }
    match group.kind {
        Kind::Control(Control::Conditional { op: Conditional::End, when, .. })
            if when != When::Always =>
        {
            Err((Rule::Unconditional, format!("an end of levels where {when:?}")))
        }
        _ => Ok(()),
    }
}
