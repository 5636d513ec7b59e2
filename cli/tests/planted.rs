//! Wrong rewrites that are planted behind the shared passes: verification names the step.

use gpucc::machine::{About, Assembler, Compiled, Machine, Request, Site};
use gpucc::verify::verify;
use gpucc::{Choice, Compiler, Func, Options, Source, SourceText, Target};
use gpucc_emu::device::Device;
use gpucc_ir::driver::Failure;
use gpucc_ir::ssa::{Numerics, Op};
use gpucc_passes::mach::runner::Name;
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

/// A machine whose plan has [`WRONG`] in it, behind its first sweep of equal values.
struct Planted(&'static dyn Machine);

impl Machine for Planted {
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
    fn plan(&self, request: &Request) -> Plan {
        let mut plan = self.0.plan(request);
        let own: Vec<Pass> = plan.own.iter().copied().chain([WRONG]).collect();
        plan.own = Vec::leak(own);
        let gvn = plan.steps.iter().position(|step| step.name == "gvn");
        plan.steps.insert(gvn.expect("a sweep") + 1, step("wrong"));
        plan
    }
    fn machine_passes(&self) -> Vec<Name> {
        self.0.machine_passes()
    }
    fn admit(&self, ssa: &Func, chip: &str) -> Result<(), Failure> {
        self.0.admit(ssa, chip)
    }
    fn finish(&self, expanded: Func, request: &Request) -> Result<Compiled, Failure> {
        self.0.finish(expanded, request)
    }
    fn assembler(&self) -> &'static dyn Assembler {
        self.0.assembler()
    }
    fn device(&self, compiled: &Compiled, chip: &str) -> Box<dyn Device> {
        self.0.device(compiled, chip)
    }
    fn divides_positions(&self) -> bool {
        self.0.divides_positions()
    }
    fn sites(&self, compiled: &Compiled) -> Vec<Site> {
        self.0.sites(compiled)
    }
}

const SOURCE: &str = "
@group(0) @binding(0) var<storage, read_write> a: array<u32, 4>;
@compute @workgroup_size(1) fn main() { a[0] = a[1] - a[2]; }
";

/// What verification says of a compiler.
fn verdict(compiler: &Compiler) -> Option<String> {
    let mut options = Options::default();
    options.keep_steps = true;
    let mut parsed =
        compiler.parse(Source::Wgsl(SOURCE), Choice::default(), &options).expect("valid");
    let func = parsed.entries.remove(0).func.expect("valid");
    let compiled = compiler.compile(&func, &options).expect("compiles");
    let text = SourceText::new("planted.wgsl", Some(SOURCE.to_owned()));
    let summary = verify(compiler, &compiled, &text, &options, 4, 0).expect("runs");
    summary.first.map(|first| first.who)
}

#[test]
fn verification_names_a_wrong_step_behind_the_shared_passes() {
    for target in [Target::R700, Target::VALHALL] {
        let compiler = Compiler::new(target, None).expect("built");
        assert_eq!(verdict(&compiler), None);
        let planted = Box::leak(Box::new(Planted(target.built().expect("a machine"))));
        let compiler = Compiler::new(Target::Machine(planted), None).expect("built");
        assert_eq!(verdict(&compiler).as_deref(), Some("after pass wrong"));
    }
}
