//! The cost report of R700 over the samples: the bound is a bound, and search never loses.

use gpucc::{Choice, Compiler, Effort, Options, Source, SourceText, Target, shader_report};

/// Groups, cycles and their bound of every entry point of the samples that R700 can do.
fn costs(effort: Effort) -> Vec<(String, f64, f64, f64)> {
    let compiler = Compiler::new(Target::R700, None).expect("r700 is built");
    let mut options = Options::default();
    options.effort = effort;
    let mut costs = Vec::new();
    for file in crate::common::samples() {
        let text = std::fs::read_to_string(&file).expect("a sample can be read");
        let parsed = compiler
            .parse(Source::Wgsl(&text), Choice::default(), &options)
            .expect("a sample parses");
        for entry in parsed.entries {
            let func = entry.func.expect("a sample lowers");
            let Ok(compiled) = compiler.compile(&func, &options) else {
                continue;
            };
            let source = SourceText::new(file.display().to_string(), Some(text.clone()));
            let report = shader_report(&compiled, &source, parsed.frontend_time);
            let groups = report.machine["alu_groups"].as_f64().expect("a number");
            costs.push((
                format!("{} {}", file.display(), entry.name),
                groups,
                report.stats.cycles,
                report.stats.cycles_lower_bound,
            ));
        }
    }
    assert!(costs.len() >= 25, "only {} entry points", costs.len());
    costs
}

#[test]
fn no_program_is_faster_than_its_lower_bound_and_some_meet_it() {
    let costs = costs(Effort::Full);
    for (name, _, cycles, bound) in &costs {
        assert!(bound <= cycles, "{name}: {cycles} cycles below {bound}");
        assert!(*bound > 0.0, "{name}: a bound of nothing");
    }
    assert!(costs.iter().any(|(_, _, cycles, bound)| bound == cycles));
    assert!(costs.iter().any(|(_, _, cycles, bound)| bound < cycles));
}

#[test]
fn searching_never_makes_a_schedule_longer() {
    for (full, max) in costs(Effort::Full).iter().zip(costs(Effort::Max)) {
        assert_eq!(full.0, max.0);
        assert!(
            max.1 <= full.1,
            "{}: {} groups, then {}",
            max.0,
            full.1,
            max.1
        );
    }
}
