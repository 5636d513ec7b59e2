//! A compiled program of any machine, with the machine that it is for.

#[cfg(feature = "emulator")]
use crate::execute::Executor;
use crate::pipeline::Pipeline;
use crate::report::ProgramFlow;
use crate::target::Target;
use crate::{Diagnostic, Failure, FailureKind, Severity};
use gpucc_frontend::Needs;
use gpucc_ir::driver;
use gpucc_ir::ssa::{Func, Span, Stage};
use gpucc_machine::about;
use gpucc_machine::compiled::Placed;
use gpucc_machine::described::{EvidenceClass, Setting};
pub use gpucc_machine::{Compiled, ListingLine, Machine};
use gpucc_machine::{Errors, Flow, Name, Steps};
use gpucc_passes::mach::runner::Dump;
use std::ops::Range;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The clock that back ends are lent: time since it was first asked.
pub(crate) fn clock() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// Machine code and all that describes and runs it.
#[derive(Clone)]
pub struct Program {
    pub(crate) machine: &'static dyn Machine,
    pub(crate) chip: &'static str,
    pub(crate) compiled: Compiled,
}

impl Program {
    /// All that the machine's back end has made: code, programs, places, state, figures.
    pub fn compiled(&self) -> &Compiled {
        &self.compiled
    }
    /// Machine code in memory order.
    pub fn code(&self) -> &[u8] {
        &self.compiled.code
    }
    /// Programs within the code that start elsewhere than at its beginning, by name: byte ranges.
    pub fn parts(&self) -> impl Iterator<Item = (&str, Range<usize>)> {
        let programs = self.compiled.programs.iter();
        programs.filter_map(|program| match &program.code {
            Placed::Within(range) if range.start > 0 => Some((&*program.name, range.clone())),
            _ => None,
        })
    }
    /// Programs that stand beside the code, by name.
    pub fn beside(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let programs = self.compiled.programs.iter();
        programs.filter_map(|program| match &program.code {
            Placed::Apart(code) => Some((&*program.name, code.as_slice())),
            Placed::Within(_) => None,
        })
    }
    /// Machine code as hexadecimal text, one word group a line.
    pub fn hex(&self) -> String {
        self.machine.assembler().hex_lines(self.code())
    }
    /// Machine code as text that assembles to the same bytes.
    ///
    /// # Errors
    /// Code that our own disassembler refuses: our bug.
    pub fn assembly(&self) -> Result<String, Failure> {
        let assembler = self.machine.assembler();
        let unit = assembler.units()[0];
        let text = assembler.disassemble(unit, self.code());
        text.map_err(|error| self.refused(error))
    }
    /// The lines of [`Program::assembly`] with their places in the code.
    ///
    /// # Errors
    /// As [`Program::assembly`].
    pub fn listing(&self) -> Result<Vec<ListingLine>, Failure> {
        let lines = self.machine.assembler().listing(self.code());
        lines.map_err(|error| self.refused(error))
    }
    /// Each program within the code as steps, the one that runs first in front; offsets count from the start of the code.
    pub(crate) fn steps(&self) -> Result<Vec<(Name, Steps)>, Failure> {
        let programs = self.compiled.programs.iter().filter_map(|program| match &program.code {
            Placed::Within(range) => Some((program.name.clone(), range.clone())),
            Placed::Apart(_) => None,
        });
        let steps = programs.map(|(name, range)| {
            let start = range.start as u32;
            let steps = self.machine.assembler().steps(&self.compiled.code[range]);
            let mut steps = steps.map_err(|error| self.refused(error))?;
            steps.list.iter_mut().for_each(|step| step.offset += start);
            Ok((name, steps))
        });
        steps.collect()
    }
    /// Live registers and ways of each program within the code, the one that runs first in front; offsets count from the
    /// start of the code.
    ///
    /// # Errors
    /// As [`Program::assembly`].
    pub fn flow(&self) -> Result<Vec<ProgramFlow>, Failure> {
        let programs = self.steps()?.into_iter();
        Ok(programs.map(|(name, steps)| ProgramFlow::new(name, Flow::of(&steps))).collect())
    }
    fn refused(&self, error: gpucc_machine::AssemblyError) -> Failure {
        Failure::internal(format!("{}: disassembler", self.machine.about().name), error)
    }
    /// Machine IR as it was last. What a machine makes of it behind registers, such as groups, has other forms.
    pub fn machine_ir(&self) -> &str {
        self.last_dump().map_or("", |dump| &dump.text)
    }
    /// The lines of [`Program::machine_ir`] with their places in the source.
    pub fn machine_ir_lines(&self) -> impl Iterator<Item = (&str, Span)> {
        self.last_dump().into_iter().flat_map(|dump| {
            let spans = dump.spans.iter().copied().chain(std::iter::repeat(Span::NONE));
            dump.text.lines().zip(spans)
        })
    }
    fn last_dump(&self) -> Option<&Dump> {
        self.compiled.dumps.iter().rev().find(|dump| dump.text.starts_with("mach "))
    }
    /// The SSA after the machine's expansions: the reference for its bits.
    pub fn expanded(&self) -> &Func {
        &self.compiled.expanded
    }
    /// Source positions by code offset, ascending.
    pub fn lines(&self) -> &[(u32, Span)] {
        &self.compiled.lines
    }
    /// What was inferred.
    pub fn notes(&self) -> Vec<Diagnostic> {
        let notes = self.compiled.notes.iter();
        notes.map(|note| Diagnostic::new(Severity::Note, note.as_str())).collect()
    }
    /// The pipeline state with what was inferred filled in.
    pub fn pipeline(&self) -> Pipeline {
        Pipeline::of(self.compiled.pipeline.clone())
    }
    /// The same program with other bytes for its code: for tests that break them.
    #[must_use]
    pub fn with_code(&self, code: Vec<u8>) -> Program {
        Program { compiled: Compiled { code, ..self.compiled.clone() }, ..*self }
    }
    /// The words of a setting of the state; none where there is no such setting, or it has no words of the hardware.
    pub fn words(&self, name: &str) -> Option<&[u32]> {
        match self.compiled.described.state.get(name)? {
            Setting::Register { value, .. } => Some(std::slice::from_ref(value)),
            Setting::Descriptor { words, .. } => Some(words),
            _ => None,
        }
    }
    /// Gives a setting of the state the words that a driver made: what runs the program takes these. Bits that the setting's
    /// mask lacks are the driver's own, and are left out. Gives whether a word is another one than before.
    ///
    /// # Errors
    /// There is no such setting, it has no words, or another number of them; a number of the state is a fact of the program
    /// and no word. Bits that the machine says it does not look at (`Machine::looked_at`) are [`FailureKind::NotYet`] where they change.
    pub fn set_words(&mut self, name: &str, given: &[u32]) -> Result<bool, Failure> {
        let looked = |at| self.machine.looked_at(&self.compiled, name, at);
        let looked: Vec<u32> = (0..given.len()).map(looked).collect();
        let mut state = self.compiled.described.state.0.iter_mut();
        let shown = crate::printable(name);
        let Some((_, setting)) = state.find(|(known, _)| known == name) else {
            return Err(Failure::usage(format!("the program has no setting '{shown}'")));
        };
        let (words, mask, fields) = match setting {
            Setting::Register { value, mask, fields, .. } => {
                (std::slice::from_mut(value), std::slice::from_ref(mask), fields)
            }
            Setting::Descriptor { words, mask, fields } => (&mut words[..], &mask[..], fields),
            Setting::Number(_) => {
                let message =
                    format!("the setting '{shown}' is a number, and no word of the state");
                return Err(Failure::usage(message));
            }
            _ => return Err(Failure::usage(format!("the setting '{shown}' has no words"))),
        };
        if given.len() != words.len() {
            let count = given.len();
            let message = format!("the setting '{shown}' has another number of words: {count}");
            return Err(Failure::usage(message));
        }
        let changes: Vec<u32> = words
            .iter()
            .zip(mask.iter().chain(std::iter::repeat(&u32::MAX)))
            .zip(given)
            .map(|((word, mask), given)| (word ^ given) & mask)
            .collect();
        for (at, (change, looked)) in changes.iter().zip(looked).enumerate() {
            let unseen = change & !looked;
            if unseen != 0 {
                let feature = format!("bits {unseen:#010x} of word {at} of the setting '{shown}'");
                return Err(Failure::not_yet(feature, "the emulator, which does not look at them"));
            }
        }
        let changed = changes.iter().any(|&change| change != 0);
        if changed {
            words.iter_mut().zip(&changes).for_each(|(word, change)| *word ^= change);
            fields.0.clear();
        }
        Ok(changed)
    }
    /// How far the functions may be off that the machine approximates, where it is known.
    pub fn errors(&self) -> Option<Errors> {
        self.machine.errors()
    }
    /// A vertex program leaves its position divided by w with 1 / w in the place of w, and linear varyings times w,
    /// as the expanded SSA does.
    pub fn divides_positions(&self) -> bool {
        self.machine.divides_positions()
    }
    /// A fragment program computes its inputs from planes.
    pub fn interpolates(&self) -> bool {
        self.machine.interpolates()
    }
    /// The outputs of which less is left behind the program than their words; see [`gpucc_machine::Machine::kept`].
    #[cfg(feature = "emulator")]
    pub(crate) fn kept(&self) -> Vec<gpucc_machine::Kept> {
        self.machine.kept(&self.compiled)
    }
    /// Makes a sampler of a test one that the machine has; see [`gpucc_machine::Machine::restrict`].
    pub fn restrict(&self, sampler: &mut gpucc_emu::sampler::Sampler, words: bool) {
        self.machine.restrict(sampler, words);
    }
    /// The emulated machine, set up from what [`Program::compiled`] says and from nothing else; the
    /// code is decoded from its bytes.
    #[cfg(feature = "emulator")]
    pub fn executor(&self, source: &crate::SourceText) -> Executor {
        Executor::emulated(self.machine.device(&self.compiled, self.chip), source)
    }
}

/// The machine has the stage, and it is built.
///
/// # Errors
/// The row of the machine's refusals where it has none, and else that it is not built.
pub(crate) fn admit_stage(
    target: Target,
    stage: Stage,
    place: Span,
) -> Result<(), driver::Failure> {
    let about = target.about();
    if stage != Stage::Geometry || about.stages.contains(&stage.name()) {
        return Ok(());
    }
    Err(match target.lacks(Needs::Geometry) {
        Some((feature, manual)) => {
            driver::Failure::Refused { machine: about.short, feature, manual, span: place }
        }
        None => driver::Failure::NotYet {
            feature: "geometry shaders".to_owned(),
            stage: "lowering",
            span: place,
        },
    })
}

/// A workgroup has no more invocations than the machine publishes in its limits.
pub(crate) fn admit_workgroup(
    machine: &dyn Machine,
    chip: &str,
    func: &Func,
) -> Result<(), driver::Failure> {
    let known = machine.limits(chip).into_iter().find(|(what, _)| *what == about::INVOCATIONS);
    let Some((_, available)) = known.filter(|_| func.stage == Stage::Compute) else {
        return Ok(());
    };
    let size = func.workgroup_size.map(u64::from);
    let needed = size.into_iter().fold(1, u64::saturating_mul);
    let hint = "use smaller workgroups, and more of them";
    driver::Limit::new(about::INVOCATIONS, available, hint).admit(needed)
}

/// The code rests on nothing weaker than a class of evidence.
pub(crate) fn admit_evidence(
    compiled: &Compiled,
    most: EvidenceClass,
    target: &str,
) -> Result<(), Failure> {
    let mut grounds = compiled.described.evidence.rests_on.iter();
    let Some(ground) = grounds.find(|ground| ground.class > most) else {
        return Ok(());
    };
    let (feature, class) = (ground.feature.to_string(), ground.class);
    let message = format!("{target}: {feature}: {}", class.words());
    let kind = FailureKind::Unproven { feature, class };
    let wider = if class == EvidenceClass::Manual { "manual" } else { "any" };
    Err(Failure::new(kind, Diagnostic::error(message))
        .note(ground.reason.to_string())
        .note(format!("--evidence {wider} allows it")))
}

/// A back end's failure in the facade's words; `target` is the machine's name on the command line.
pub(crate) fn failure(failure: driver::Failure, target: &str) -> Failure {
    let message = failure.to_string();
    match failure {
        driver::Failure::Refused { feature, manual, span, .. } => Failure::new(
            FailureKind::Refused { feature: feature.to_owned(), manual: manual.to_owned() },
            Diagnostic::error(message),
        )
        .at(span),
        driver::Failure::Limit { what, needed, available, hint, span } => Failure::new(
            FailureKind::Limit { what: what.to_owned(), needed, available },
            Diagnostic::error(format!(
                "too many {what}: {needed} needed, {available} available on {target}"
            )),
        )
        .at(span)
        .note(hint),
        driver::Failure::Shared { .. } => Failure::usage(message)
            .note("give each of them a `slot` of its own in the pipeline's `bindings`"),
        driver::Failure::NotYet { feature, stage, span } => {
            Failure::not_yet(feature, format!("{target}: {stage}")).at(span)
        }
        driver::Failure::Internal { pass, message } => {
            Failure::internal(format!("{target}: {pass}"), message)
        }
    }
}
