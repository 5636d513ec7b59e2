//! The one place that runs passes over machine IR: dumping, skipping, stopping, fuel, timing and verification for each of
//! them, as [`crate::Runner`] does for SSA.

use crate::pass::{Gate, Listed, Proof};
use gpucc_ir::driver::{Clock, Failure, Stages};
use gpucc_ir::ssa::Span;

/// What a machine's passes work on: the functions of one binary and what belongs to them.
pub trait Program {
    /// Checks the invariants of the machine IR. With `each`, behind every pass, also what the machine's own rules say at this
    /// point and whether a step means what the one before it meant, as far as that can be told; without, behind the last pass,
    /// what the finished program is not asked anyway.
    ///
    /// # Errors
    /// The first one that is broken, in words.
    fn check(&self, each: bool) -> Result<(), String>;
    /// The machine IR as text, and the places of its first lines in the source: none where it has no lines of instructions.
    fn print(&self) -> (String, Vec<Span>);
}

/// The machine IR after a pass.
#[derive(Clone, Debug)]
pub struct Dump {
    /// The pass.
    pub pass: &'static str,
    /// What the machine prints.
    pub text: String,
    /// Places of its lines in the source; lines behind them have none.
    pub spans: Vec<Span>,
}

/// What runs a pass over machine IR: it rewrites the program.
pub type Run<P> = fn(&mut P) -> Result<(), Failure>;
/// A pass over machine IR.
pub type Pass<P> = crate::pass::Pass<Run<P>>;

/// A pass that may be skipped.
pub const fn optional<P>(name: &'static str, doc: &'static str, run: Run<P>) -> Pass<P> {
    Pass { name, doc, required: false, proof: Proof::Exact, run }
}

/// A pass that later stages rely on.
pub const fn required<P>(name: &'static str, doc: &'static str, run: Run<P>) -> Pass<P> {
    Pass { required: true, ..optional(name, doc, run) }
}

/// What lists show of passes, behind the lowering.
pub fn listed<P>(passes: &[Pass<P>]) -> Vec<Listed> {
    let doc = "operations become instructions over virtual registers";
    let lower = Listed { name: "lower", doc, required: true, proof: Proof::Exact, run: () };
    std::iter::once(lower).chain(passes.iter().map(Pass::listed)).collect()
}

/// The pass that gives registers, on every machine.
pub const REGISTERS: &str = "registers";
/// What stands behind the last pass to ask for the assembly.
pub const EMIT: &str = "emit";

/// Passes that are chosen by name.
pub struct Chosen<'p, P> {
    /// In the machine's order.
    pub passes: Vec<&'p Pass<P>>,
    /// The first stands behind [`REGISTERS`].
    pub allocated: bool,
    /// [`EMIT`] stands behind them.
    pub emits: bool,
}

/// Chooses passes by their names, which stand in the machine's order; [`EMIT`] may be the last. Later passes rely on required
/// ones: between the first and the last none is left out.
///
/// # Errors
/// A name that no pass behind the one before it has, and a required pass that is left out.
pub fn choose<'p, P>(passes: &'p [Pass<P>], names: &[&str]) -> Result<Chosen<'p, P>, String> {
    let emits = names.last() == Some(&EMIT);
    let names = &names[..names.len() - usize::from(emits)];
    let place = |name: &str| passes.iter().position(|pass| pass.name == name);
    let mut found = Vec::new();
    let mut next = None;
    for &name in names {
        let at = place(name).ok_or_else(|| format!("no pass '{name}'"))?;
        match next {
            Some(next) if at < next => {
                return Err(format!("'{name}' runs before the pass it stands behind"));
            }
            Some(next) => required_between(&passes[next..at])?,
            None => {}
        }
        next = Some(at + 1);
        found.push(&passes[at]);
    }
    let behind = next.unwrap_or(passes.len());
    if emits {
        required_between(&passes[behind..])?;
    }
    let first = found.first().map_or(behind, |first| place(first.name).unwrap_or(behind));
    Ok(Chosen {
        allocated: place(REGISTERS).is_some_and(|registers| registers < first),
        passes: found,
        emits,
    })
}

fn required_between<P>(left_out: &[Pass<P>]) -> Result<(), String> {
    match left_out.iter().find(|pass| pass.required) {
        Some(pass) => Err(format!("'{}' is left out, on which later passes rely", pass.name)),
        None => Ok(()),
    }
}

/// What a caller asks of the passes, and what the passes before have left.
#[derive(Clone, Debug, Default)]
pub struct Control {
    /// What the passes over SSA have left of the caller's choice.
    pub gate: Gate,
    /// Rewrites left; `None` is no limit. An optional pass over machine IR is one rewrite.
    pub fuel: Option<u64>,
    /// Check the machine IR after every pass; debug builds always do. It is checked once behind the last in any case.
    pub verify_each: bool,
    /// Keep the text of the machine IR after every pass.
    pub dump: bool,
    /// Times the passes.
    pub clock: Option<Clock>,
}

/// Runs passes over one program.
pub struct Runner<'a> {
    control: &'a Control,
    gate: Gate,
    fuel: Option<u64>,
    /// How long each pass took, and each stage between them that the caller ends.
    pub stages: Stages,
    /// One after every pass, where [`Control::dump`] asks for it.
    pub dumps: Vec<Dump>,
}

impl<'a> Runner<'a> {
    /// The clock starts.
    pub fn new(control: &'a Control) -> Runner<'a> {
        Runner {
            control,
            gate: control.gate.clone(),
            fuel: control.fuel,
            stages: Stages::new(control.clock),
            dumps: Vec::new(),
        }
    }

    /// What lowering made is there: the stage `lower` is over.
    ///
    /// # Errors
    /// [`Failure::Internal`] for machine IR that is broken.
    pub fn lowered<P: Program>(&mut self, program: &P) -> Result<(), Failure> {
        self.stages.end("lower");
        self.ran("lower", program, self.control.verify_each || cfg!(debug_assertions))
    }

    /// Runs passes in order.
    ///
    /// # Errors
    /// What a pass says, and [`Failure::Internal`] with the name of a pass that broke the machine IR.
    pub fn run<'p, P: Program + 'p>(
        &mut self,
        passes: impl IntoIterator<Item = &'p Pass<P>>,
        program: &mut P,
    ) -> Result<(), Failure> {
        let each = self.control.verify_each || cfg!(debug_assertions);
        let mut last = None;
        for pass in passes {
            last = Some(pass.name);
            if !pass.required && !self.may_run(pass.name) {
                continue;
            }
            (pass.run)(program)?;
            self.stages.end(pass.name);
            self.ran(pass.name, program, each)?;
            self.gate.ran(pass.name);
        }
        match last {
            Some(last) if !each => checked(last, program, false),
            _ => Ok(()),
        }
    }

    fn may_run(&mut self, name: &str) -> bool {
        if !self.gate.admits(name) {
            return false;
        }
        match &mut self.fuel {
            Some(0) => return false,
            Some(left) => *left -= 1,
            None => {}
        }
        true
    }

    fn ran<P: Program>(
        &mut self,
        name: &'static str,
        program: &P,
        check: bool,
    ) -> Result<(), Failure> {
        if self.control.dump {
            let (text, spans) = program.print();
            self.dumps.push(Dump { pass: name, text, spans });
        }
        if check {
            checked(name, program, true)?;
        }
        Ok(())
    }
}

fn checked<P: Program>(pass: &'static str, program: &P, each: bool) -> Result<(), Failure> {
    program.check(each).map_err(|message| Failure::Internal { pass, message })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list of numbers that must not fall.
    #[derive(Default)]
    struct Numbers(Vec<u32>);

    impl Program for Numbers {
        fn check(&self, _: bool) -> Result<(), String> {
            match self.0.is_sorted() {
                true => Ok(()),
                false => Err("the numbers fall".into()),
            }
        }
        fn print(&self) -> (String, Vec<Span>) {
            (format!("{:?}", self.0), Vec::new())
        }
    }

    fn push(program: &mut Numbers, number: u32) -> Result<(), Failure> {
        program.0.push(number);
        Ok(())
    }

    const ONE: Pass<Numbers> = required("one", "", |program| push(program, 1));
    const TWO: Pass<Numbers> = optional("two", "", |program| push(program, 2));
    const ZERO: Pass<Numbers> = optional("zero", "", |program| push(program, 0));

    fn made(control: &Control, passes: &[&Pass<Numbers>]) -> Result<Vec<u32>, Failure> {
        let mut program = Numbers::default();
        Runner::new(control).run(passes.iter().copied(), &mut program)?;
        Ok(program.0)
    }

    #[test]
    fn a_pass_that_breaks_the_machine_ir_is_named() {
        let control = Control { verify_each: true, ..Control::default() };
        let failure = made(&control, &[&ONE, &ZERO, &TWO]).expect_err("1, 0 falls");
        assert!(matches!(failure, Failure::Internal { pass: "zero", .. }), "{failure}");
    }

    #[test]
    fn passes_are_chosen_in_their_order_and_none_that_is_required_is_left_out() {
        const REGISTERS: Pass<Numbers> = required(super::REGISTERS, "", |_| Ok(()));
        let passes = [TWO, REGISTERS, ZERO, ONE];
        let chosen = |names: &[&str]| {
            let chosen = choose(&passes, names)?;
            Ok((chosen.passes.len(), chosen.allocated, chosen.emits))
        };
        let left_out = |name| Err(format!("'{name}' is left out, on which later passes rely"));
        assert_eq!(chosen(&["two"]), Ok((1, false, false)));
        assert_eq!(chosen(&["zero", "one"]), Ok((2, true, false)));
        assert_eq!(chosen(&["registers", "one", "emit"]), Ok((2, false, true)));
        assert_eq!(chosen(&["emit"]), Ok((0, true, true)));
        assert_eq!(chosen(&["two", "one"]), left_out("registers"));
        assert_eq!(chosen(&["zero", "emit"]), left_out("one"));
        let wrong: Result<_, String> = chosen(&["one", "zero"]);
        assert!(wrong.is_err_and(|message| message.contains("runs before")));
        assert_eq!(chosen(&["three"]), Err("no pass 'three'".into()));
    }

    #[test]
    fn required_passes_run_whatever_is_skipped_stopped_or_out_of_fuel() {
        let all = [&TWO, &TWO];
        let count = |control: Control| made(&control, &all).expect("sound").len();
        assert_eq!(count(Control::default()), 2);
        assert_eq!(count(Control { fuel: Some(1), ..Control::default() }), 1);
        let gated = |gate| Control { gate, ..Control::default() };
        let skip = Gate { skip: vec!["two".into()], ..Gate::default() };
        assert_eq!(count(gated(skip)), 0);
        let stop = Gate { stop_after: Some("two".into()), ..Gate::default() };
        assert_eq!(count(gated(stop)), 1);
        let stopped = gated(Gate { stopped: true, ..Gate::default() });
        assert_eq!(made(&stopped, &[&TWO, &ONE]), Ok(vec![1]));
    }
}
