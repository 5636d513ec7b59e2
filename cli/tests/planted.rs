//! Wrong rewrites that are planted behind the shared passes: verification names the step.

use gpucc::machine::{About, Assembler, Compiled, Errors, Kept, Machine, Request, Site};
use gpucc::pipeline::{ColorTarget, FragmentState};
use gpucc::verify::{Plan as Proving, Summary, Whole, verify_plan};
use gpucc::{Choice, Compiler, Func, Options, Source, SourceText, Target};
use gpucc_emu::device::Device;
use gpucc_ir::driver::{Failure, Limit};
use gpucc_ir::ssa::{Builder, Numerics, Op, Type};
use gpucc_passes::pass::Listed;
use gpucc_passes::runner::{optional, step};
use gpucc_passes::{Pass, Plan, Proof, TargetInfo};

/// Says that it changes no result, and swaps the operands of every difference.
const WRONG: Pass = optional("wrong", Proof::Exact, "", |func, _| swap(func));

/// The same as an expansion, which need not be exact where floats are computed.
const WRONG_EXPANSION: Pass = optional("wrong", Proof::Expansion, "", |func, _| swap(func));

fn swap(func: &mut Func) -> bool {
    let mut changed = false;
    for data in func.insts.values_mut() {
        if data.op == Op::ISub {
            data.args.swap(0, 1);
            changed = true;
        }
    }
    changed
}

/// Divides small integers by way of a reciprocal, which is right only while the reciprocal is.
const HASTY: Pass = optional("hasty", Proof::Exact, "", |func, _| {
    let body = func.body;
    let is_division = |func: &Func, inst| func.insts[inst].op == Op::UDiv;
    let found = func.regions[body].insts.iter().position(|&inst| is_division(func, inst));
    let Some(at) = found else { return false };
    let division = func.regions[body].insts[at];
    let (x, y) = (func.insts[division].args[0], func.insts[division].args[1]);
    let after = func.regions[body].insts.split_off(at);
    let mut builder = Builder::at_body(func);
    let [x, y] = [x, y].map(|value| builder.convert(Op::UToF, Type::B32, value));
    let reciprocal = builder.op1(Op::FRcp, y);
    let quotient = builder.op2(Op::FMul, x, reciprocal);
    func.insts[division].op = Op::FToU;
    func.insts[division].args = [quotient].into_iter().collect();
    func.regions[body].insts.extend(after);
    true
});

/// An inverse root is computed as the reciprocal of a root.
fn by_two_steps(func: &mut Func, _: &Request) -> Result<(), Failure> {
    let body = func.body;
    let is_root = |func: &Func, inst| func.insts[inst].op == Op::FRsq;
    let at = func.regions[body].insts.iter().position(|&inst| is_root(func, inst));
    let at = at.expect("an inverse root");
    let root = func.regions[body].insts[at];
    let after = func.regions[body].insts.split_off(at);
    let x = func.insts[root].args[0];
    let square_root = Builder::at_body(func).op1(Op::FSqrt, x);
    func.insts[root].op = Op::FRcp;
    func.insts[root].args = [square_root].into_iter().collect();
    func.regions[body].insts.extend(after);
    Ok(())
}

/// Outputs are one too great in their last place.
fn too_bright(func: &mut Func, _: &Request) -> Result<(), Failure> {
    let body = func.body;
    for inst in func.regions[body].insts.split_off(0) {
        if func.insts[inst].op == Op::Output {
            let right = func.insts[inst].args[0];
            let mut builder = Builder::at_body(func);
            let factor = builder.f32(1.0 + f32::EPSILON);
            func.insts[inst].args[0] = builder.op2(Op::FMul, right, factor);
        }
        func.regions[body].insts.push(inst);
    }
    Ok(())
}

/// There is no room for whole colours.
fn cramped(_: &mut Func, request: &Request) -> Result<(), Failure> {
    let needed = u32::from(request.pipeline.fragment.is_none());
    Limit::new("whole colours", 0, "name their targets").admit(needed)
}

/// What comes in is wrong where there are no targets.
fn broken(_: &mut Func, request: &Request) -> Result<(), Failure> {
    match request.pipeline.fragment {
        Some(_) => Ok(()),
        None => Err(Failure::Internal { pass: "planted", message: "whole colours".into() }),
    }
}

/// A machine that changes a program behind what verification knows of its code, or does not make it.
struct Secretive {
    machine: &'static dyn Machine,
    change: fn(&mut Func, &Request) -> Result<(), Failure>,
}

/// A compiler for such a machine.
fn secretive(target: Target, change: fn(&mut Func, &Request) -> Result<(), Failure>) -> Compiler {
    let machine = target.built().expect("a machine");
    let machine = Box::leak(Box::new(Secretive { machine, change }));
    Compiler::new(Target::Machine(machine), None).expect("built")
}

impl Machine for Secretive {
    fn about(&self) -> &'static About {
        self.machine.about()
    }
    fn limits(&self, chip: &str) -> Vec<(&'static str, u64)> {
        self.machine.limits(chip)
    }
    fn refusals(&self) -> Vec<(&'static str, &'static str)> {
        self.machine.refusals()
    }
    fn info(&self) -> &'static dyn TargetInfo {
        self.machine.info()
    }
    fn expansion_info(&self, request: &Request) -> &'static dyn TargetInfo {
        self.machine.expansion_info(request)
    }
    fn numerics(&self, chip: &str) -> Numerics {
        self.machine.numerics(chip)
    }
    fn errors(&self) -> Option<Errors> {
        self.machine.errors()
    }
    fn plan(&self, request: &Request) -> Plan {
        self.machine.plan(request)
    }
    fn machine_passes(&self) -> Vec<Listed> {
        self.machine.machine_passes()
    }
    fn admit(&self, ssa: &Func, chip: &str) -> Result<(), Failure> {
        self.machine.admit(ssa, chip)
    }
    fn finish(&self, expanded: Func, request: &Request) -> Result<Compiled, Failure> {
        let mut other = expanded.clone();
        (self.change)(&mut other, request)?;
        let compiled = self.machine.finish(other, request)?;
        Ok(Compiled { expanded, ..compiled })
    }
    fn assembler(&self) -> &'static dyn Assembler {
        self.machine.assembler()
    }
    fn device(&self, compiled: &Compiled, chip: &str) -> Box<dyn Device> {
        self.machine.device(compiled, chip)
    }
    fn kept(&self, compiled: &Compiled) -> Vec<Kept> {
        self.machine.kept(compiled)
    }
    fn sites(&self, compiled: &Compiled, chip: &str) -> Vec<Site> {
        self.machine.sites(compiled, chip)
    }
}

/// A machine whose plan has a pass more, behind the first of a name or before all.
struct Planted {
    machine: &'static dyn Machine,
    pass: Pass,
    behind: Option<&'static str>,
}

impl Machine for Planted {
    fn about(&self) -> &'static About {
        self.machine.about()
    }
    fn limits(&self, chip: &str) -> Vec<(&'static str, u64)> {
        self.machine.limits(chip)
    }
    fn refusals(&self) -> Vec<(&'static str, &'static str)> {
        self.machine.refusals()
    }
    fn info(&self) -> &'static dyn TargetInfo {
        self.machine.info()
    }
    fn expansion_info(&self, request: &Request) -> &'static dyn TargetInfo {
        self.machine.expansion_info(request)
    }
    fn numerics(&self, chip: &str) -> Numerics {
        self.machine.numerics(chip)
    }
    fn errors(&self) -> Option<Errors> {
        self.machine.errors()
    }
    fn plan(&self, request: &Request) -> Plan {
        let mut plan = self.machine.plan(request);
        let own: Vec<Pass> = plan.own.iter().copied().chain([self.pass]).collect();
        plan.own = Vec::leak(own);
        let named = |name| plan.steps.iter().position(|step| step.name == name);
        let at = self.behind.map_or(0, |name| named(name).expect("in the plan") + 1);
        plan.steps.insert(at, step(self.pass.name));
        plan
    }
    fn machine_passes(&self) -> Vec<Listed> {
        self.machine.machine_passes()
    }
    fn admit(&self, ssa: &Func, chip: &str) -> Result<(), Failure> {
        self.machine.admit(ssa, chip)
    }
    fn finish(&self, expanded: Func, request: &Request) -> Result<Compiled, Failure> {
        self.machine.finish(expanded, request)
    }
    fn assembler(&self) -> &'static dyn Assembler {
        self.machine.assembler()
    }
    fn device(&self, compiled: &Compiled, chip: &str) -> Box<dyn Device> {
        self.machine.device(compiled, chip)
    }
    fn divides_positions(&self) -> bool {
        self.machine.divides_positions()
    }
    fn sites(&self, compiled: &Compiled, chip: &str) -> Vec<Site> {
        self.machine.sites(compiled, chip)
    }
}

/// A compiler for the machine with a pass more.
fn planted(target: Target, pass: Pass, behind: Option<&'static str>) -> Compiler {
    let machine = target.built().expect("a machine");
    let machine = Box::leak(Box::new(Planted { machine, pass, behind }));
    Compiler::new(Target::Machine(machine), None).expect("built")
}

/// What verification says of a program that computes a word, on so many inputs and adversarial runs of each.
fn verdict(compiler: &Compiler, expression: &str, inputs: u32, orders: u32) -> Option<String> {
    let source = format!(
        "@group(0) @binding(0) var<storage, read_write> a: array<u32, 4>;
        @compute @workgroup_size(1) fn main() {{ a[0] = {expression}; }}"
    );
    verdict_of(compiler, source, inputs, orders)
}

/// What verification says of a source, on so many inputs and adversarial runs of each.
fn verdict_of(compiler: &Compiler, source: String, inputs: u32, orders: u32) -> Option<String> {
    let mut options = Options::default();
    options.keep_steps = true;
    let mut parsed =
        compiler.parse(Source::Wgsl(&source), Choice::default(), &options).expect("valid");
    let func = parsed.entries.remove(0).func.expect("valid");
    let compiled = compiler.compile(&func, &options).expect("compiles");
    let text = SourceText::new("planted.wgsl", Some(source));
    let plan = Proving { orders, errors: orders, ..Proving::new(inputs, 0) };
    let summary = verify_plan(compiler, &compiled, &text, &options, &plan).expect("runs");
    summary.first.map(|first| first.who)
}

#[test]
fn verification_names_a_wrong_step_behind_the_shared_passes() {
    for target in [Target::R700, Target::VALHALL] {
        let difference = "a[1] - a[2]";
        let compiler = Compiler::new(target, None).expect("built");
        assert_eq!(verdict(&compiler, difference, 4, 0), None);
        let compiler = planted(target, WRONG, Some("gvn"));
        assert_eq!(verdict(&compiler, difference, 4, 0).as_deref(), Some("after pass wrong"));
    }
}

#[test]
fn verification_names_integers_that_expansions_change() {
    for target in [Target::R700, Target::VALHALL] {
        let difference = "a[1] - a[2]";
        let compiler = planted(target, WRONG_EXPANSION, Some("gvn"));
        assert_eq!(verdict(&compiler, difference, 4, 0).as_deref(), Some("after the expansions"));
    }
}

#[test]
fn an_integer_that_depends_on_a_reciprocal_s_last_bit_shows_where_functions_err() {
    let quotient = "(a[1] & 255u) / ((a[2] & 15u) + 1u)";
    for target in [Target::R700, Target::VALHALL] {
        let compiler = Compiler::new(target, None).expect("built");
        assert_eq!(verdict(&compiler, quotient, 40, 8), None);
        let compiler = planted(target, HASTY, None);
        assert_eq!(verdict(&compiler, quotient, 40, 0), None, "right while reciprocals are");
        let found = verdict(&compiler, quotient, 40, 8).expect("must show");
        assert!(found.ends_with("where functions err"), "{found}");
    }
}

/// Some machines gather by samples at the centres of texels, which a reciprocal of the size gives. The second sampler of
/// an input mixes texels; nothing else here is approximated.
#[test]
fn the_texels_of_a_gather_do_not_depend_on_a_reciprocal_s_last_bit() {
    let source = "
        @group(0) @binding(0) var t: texture_2d<f32>;
        @group(0) @binding(1) var near: sampler;
        @group(0) @binding(2) var mixing: sampler;
        @fragment fn main(@location(0) @interpolate(flat) at: vec2i) -> @location(0) vec4f {
            let place = vec2f(at & vec2i(63)) * 0.015625;
            return textureGather(1, t, near, place) - textureGather(1, t, mixing, place);
        }";
    for target in [Target::R700, Target::R600, Target::VALHALL] {
        let compiler = Compiler::new(target, None).expect("built");
        assert_eq!(verdict_of(&compiler, source.into(), 40, 8), None);
    }
}

/// Of a power of four both roots are exact: only their errors tell them apart.
#[test]
fn a_word_that_depends_on_functions_is_compared_where_they_err() {
    let root = "bitcast<u32>(inverseSqrt(f32(4u << (2u * (a[1] & 7u)))))";
    for target in [Target::R700, Target::VALHALL] {
        let secretive = secretive(target, by_two_steps);
        assert_eq!(verdict(&secretive, root, 40, 0), None, "right while roots are");
        let found = verdict(&secretive, root, 40, 8).expect("must show");
        assert!(found.ends_with("where functions err"), "{found}");
        let compiler = Compiler::new(target, None).expect("built");
        assert_eq!(verdict(&compiler, root, 40, 8), None);
    }
}

/// A colour of which a target of bytes keeps the least.
const COLOR: &str = "@group(0) @binding(0) var<uniform> u: vec4f;
    @fragment fn fs(@location(0) v: vec4f) -> @location(0) vec4f { return v * u + 0.001; }";

/// What verification says of a colour for a target of bytes; the exit code where it says nothing.
fn of_color(compiler: &Compiler, whole: bool) -> Result<Summary, u8> {
    let format = "rgba8unorm".to_owned();
    let target = ColorTarget { format, write_mask: ColorTarget::ALL, blend: None };
    let mut options = Options::default();
    options.pipeline.fragment =
        Some(FragmentState { targets: vec![Some(target)], ..FragmentState::default() });
    let parsed = compiler.parse(Source::Wgsl(COLOR), Choice::default(), &options).expect("valid");
    let func = parsed.entries.into_iter().next().and_then(|entry| entry.func.ok());
    let compiled = compiler.compile(&func.expect("valid"), &options).expect("compiles");
    let text = SourceText::new("planted.wgsl", Some(COLOR.into()));
    let plan = Proving { whole, ..Proving::new(4, 1) };
    verify_plan(compiler, &compiled, &text, &options, &plan).map_err(|failure| failure.exit_code())
}

#[test]
fn a_wrong_last_bit_of_a_packed_colour_shows_without_targets() {
    let compiler = secretive(Target::ROGUE, too_bright);
    let first = of_color(&compiler, false).expect("runs");
    assert!(first.holds(), "its bytes are right: {first:?}");
    let both = of_color(&compiler, true).expect("runs");
    let who = both.first.as_ref().expect("must show").who.clone();
    assert!(who.ends_with("without targets"), "{who}");
    assert!(both.mismatches > 0 && !both.holds());
}

#[test]
fn a_machine_without_room_for_whole_colours_is_told_of() {
    let cramped = of_color(&secretive(Target::ROGUE, cramped), true).expect("runs");
    assert!(cramped.holds(), "{cramped:?}");
    assert!(matches!(&cramped.whole, Whole::Skipped(why) if why.contains("whole colours")));
    assert!(cramped.line("planted").contains("without targets no proof: too many whole colours"));
    // Any other failure is one.
    assert_eq!(of_color(&secretive(Target::ROGUE, broken), true).err(), Some(101));
}
