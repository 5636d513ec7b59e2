//! What others wrote, where it is present.

use gpucc::{Compiler, Target};
use gpucc_tests::{cts, shared};

fn expressions(target: Target) -> Option<cts::Table> {
    let corpus = shared::corpus_or_skip()?;
    let compiler = Compiler::new(target, None).expect("the target is built");
    Some(
        cts::run(&compiler, &corpus, cts::Family::Expressions, "", &[])
            .expect("the corpus is readable"),
    )
}

fn wrong(table: &cts::Table) -> Vec<String> {
    table
        .files
        .iter()
        .filter_map(|file| file.first_wrong.as_ref().map(|w| format!("{}: {w}", file.name)))
        .collect()
}

#[test]
fn every_expression_case_is_right_on_the_interpreter() {
    let Some(table) = expressions(Target::Interp) else {
        return;
    };
    assert_eq!(wrong(&table), Vec::<String>::new());
    let refused: Vec<_> = table.files.iter().filter(|file| file.refused.is_some()).collect();
    assert!(refused.is_empty(), "{refused:?}");
}

#[test]
fn every_expression_case_that_r700_does_not_refuse_is_right_there() {
    let Some(table) = expressions(Target::R700) else {
        return;
    };
    assert_eq!(wrong(&table), Vec::<String>::new());
    for file in &table.files {
        if let Some((code, why)) = &file.refused {
            assert!(*code == 3 && file.name.contains("f16"), "{}: exit {code}: {why}", file.name);
        }
    }
}

#[test]
fn every_expression_case_is_right_on_valhall() {
    let Some(table) = expressions(Target::VALHALL) else {
        return;
    };
    assert_eq!(wrong(&table), Vec::<String>::new());
    let refused: Vec<_> = table.files.iter().filter(|file| file.refused.is_some()).collect();
    assert!(refused.is_empty(), "{refused:?}");
}
