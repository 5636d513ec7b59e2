//! Wrong rewrites that are planted behind the shared passes: verification names the step.

use gpucc::machine::{About, Assembler, Compiled, Errors, Machine, Request, Site};
use gpucc::verify::{Plan as Proving, verify_plan};
use gpucc::{Choice, Compiler, Func, Options, Source, SourceText, Target};
use gpucc_emu::device::Device;
use gpucc_ir::driver::Failure;
use gpucc_ir::ssa::{Builder, Numerics, Op, Type};
use gpucc_passes::pass::Listed;
use gpucc_passes::runner::{optional, step};
use gpucc_passes::{Pass, Plan, Proof, TargetInfo};

/// Says that it changes no result, and swaps the operands of every difference.
const WRONG: Pass = optional("wrong", Proof::Exact, "", |func, _| {
    let mut changed = false;
    for data in func.insts.values_mut() {
        if data.op == Op::ISub {
            data.args.swap(0, 1);
            changed = true;
        }
    }
    changed
});

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

/// A machine that computes an inverse root as the reciprocal of a root, behind what verification knows of its code.
struct Secretive(&'static dyn Machine);

impl Machine for Secretive {
    fn about(&self) -> &'static About {
        self.0.about()
    }
    fn refusals(&self) -> Vec<(&'static str, &'static str)> {
        self.0.refusals()
    }
    fn info(&self) -> &'static dyn TargetInfo {
        self.0.info()
    }
    fn expansion_info(&self, request: &Request) -> &'static dyn TargetInfo {
        self.0.expansion_info(request)
    }
    fn numerics(&self, chip: &str) -> Numerics {
        self.0.numerics(chip)
    }
    fn errors(&self) -> Option<Errors> {
        self.0.errors()
    }
    fn plan(&self, request: &Request) -> Plan {
        self.0.plan(request)
    }
    fn machine_passes(&self) -> Vec<Listed> {
        self.0.machine_passes()
    }
    fn admit(&self, ssa: &Func, chip: &str) -> Result<(), Failure> {
        self.0.admit(ssa, chip)
    }
    fn finish(&self, expanded: Func, request: &Request) -> Result<Compiled, Failure> {
        let mut other = expanded.clone();
        let body = other.body;
        let is_root = |func: &Func, inst| func.insts[inst].op == Op::FRsq;
        let at = other.regions[body].insts.iter().position(|&inst| is_root(&other, inst));
        let at = at.expect("an inverse root");
        let root = other.regions[body].insts[at];
        let after = other.regions[body].insts.split_off(at);
        let x = other.insts[root].args[0];
        let square_root = Builder::at_body(&mut other).op1(Op::FSqrt, x);
        other.insts[root].op = Op::FRcp;
        other.insts[root].args = [square_root].into_iter().collect();
        other.regions[body].insts.extend(after);
        let compiled = self.0.finish(other, request)?;
        Ok(Compiled { expanded, ..compiled })
    }
    fn assembler(&self) -> &'static dyn Assembler {
        self.0.assembler()
    }
    fn device(&self, compiled: &Compiled, chip: &str) -> Box<dyn Device> {
        self.0.device(compiled, chip)
    }
    fn sites(&self, compiled: &Compiled) -> Vec<Site> {
        self.0.sites(compiled)
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
    fn sites(&self, compiled: &Compiled) -> Vec<Site> {
        self.machine.sites(compiled)
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
        let machine = Box::leak(Box::new(Secretive(target.built().expect("a machine"))));
        let secretive = Compiler::new(Target::Machine(machine), None).expect("built");
        assert_eq!(verdict(&secretive, root, 40, 0), None, "right while roots are");
        let found = verdict(&secretive, root, 40, 8).expect("must show");
        assert!(found.ends_with("where functions err"), "{found}");
        let compiler = Compiler::new(target, None).expect("built");
        assert_eq!(verdict(&compiler, root, 40, 8), None);
    }
}
