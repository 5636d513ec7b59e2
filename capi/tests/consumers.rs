//! Programs in C and C++ that are built against header and library and run: plainly, under valgrind and with the
//! address sanitizer, where there are any.

use std::path::{Path, PathBuf};
use std::process::Command;

const TARGETS: [&str; 7] = ["r600", "r700", "gen4", "g45", "valhall", "rogue", "interp"];
const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Wpadded", "-Werror"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn has(tool: &str) -> bool {
    let there = Command::new(tool).arg("--version").output().is_ok_and(|it| it.status.success());
    if !there {
        skip(&format!("there is no {tool}"));
    }
    there
}

/// Says that something is not tested; the libraries alone must not print.
#[allow(clippy::print_stderr)]
fn skip(why: &str) {
    eprintln!("skipped: {why}");
}

/// The library that was built with this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("it runs");
    let library = test.with_file_name("libgpucc_capi.a");
    assert!(library.exists(), "{} is not there", library.display());
    library
}

fn run(command: &mut Command) -> String {
    let done = command.output().expect("it starts");
    let all = [done.stdout, done.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(done.status.success(), "{command:?}:\n{}", all.concat());
    all.concat()
}

/// Builds a program of `examples`; none where there is no compiler.
fn built(compiler: &str, arguments: &[&str], name: &str, as_name: &str) -> Option<PathBuf> {
    if !has(compiler) {
        return None;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let program = folder.join(as_name);
    let mut command = Command::new(compiler);
    command.args(arguments).args(WARNINGS).arg("-I").arg(root().join("include"));
    command.arg(root().join("examples").join(name));
    // The language of the source is not that of the library.
    if arguments.contains(&"c++") {
        command.args(["-x", "none"]);
    }
    command.arg(library()).args(["-lm", "-lpthread", "-ldl", "-o"]).arg(&program);
    run(&mut command);
    Some(program)
}

fn consumes(program: Option<PathBuf>, targets: &[&str]) {
    let Some(program) = program else { return };
    for target in targets {
        let said = run(Command::new(&program).arg(target));
        assert!(said.contains(&format!("{target}: right")), "{said}");
    }
}

#[test]
fn a_program_in_c_compiles_prints_and_runs_for_each_machine() {
    consumes(built("cc", &["-std=c11"], "consumer.c", "consumer"), &TARGETS);
}

#[test]
fn a_program_in_cpp_does_the_same() {
    consumes(built("c++", &["-x", "c++", "-std=c++17"], "consumer.c", "consumer-cpp"), &TARGETS);
}

#[test]
fn the_benchmark_runs_and_a_cache_hits() {
    let Some(program) = built("cc", &["-std=c11"], "bench.c", "bench") else { return };
    let samples = ["saxpy.wgsl", "phong.wgsl"].map(|name| root().join("../samples").join(name));
    let said = run(Command::new(program).args(["valhall", "12"]).args(samples));
    let hits: Vec<usize> = said
        .lines()
        .filter_map(|line| line.strip_suffix(" hits")?.rsplit(' ').next()?.parse().ok())
        .collect();
    let (_, rest) = said.split_once("12 compiles of ").expect("it says what it does");
    let (shaders, _) = rest.split_once(" shaders").expect("it says what it does");
    let shaders: usize = shaders.parse().expect("a number");
    assert!(shaders >= 3, "{said}");
    assert_eq!(hits, [0, 12 - shaders, 12 - shaders], "{said}");
}

#[test]
fn the_walk_throughs_of_the_page_compile_and_run() {
    for name in ["vulkan", "gl", "cache"] {
        let source = format!("{name}.c");
        let Some(program) = built("cc", &["-std=c11"], &source, name) else { continue };
        run(&mut Command::new(program));
        let page = root().join("../docs/embedding.md");
        let page = std::fs::read_to_string(page).expect("it is there");
        let text = std::fs::read_to_string(root().join("examples").join(&source));
        let text = text.expect("it is there");
        let (_, shown) = text.split_once("/* page */\n").expect("what the page shows is marked");
        let (shown, _) = shown.split_once("/* end */\n").expect("and where it ends");
        assert!(page.contains(shown), "docs/embedding.md does not show capi/examples/{source}");
    }
}

#[test]
fn the_address_sanitizer_finds_nothing_in_a_program_in_c() {
    let arguments = ["-std=c11", "-g", "-fsanitize=address"];
    consumes(built("cc", &arguments, "consumer.c", "consumer-asan"), &TARGETS);
}

#[test]
fn valgrind_finds_no_error_and_no_leak_in_a_program_in_c() {
    let program = built("cc", &["-std=c11", "-g"], "consumer.c", "consumer-valgrind");
    let Some(program) = program.filter(|_| has("valgrind")) else { return };
    for target in ["r700", "valhall"] {
        let mut command = Command::new("valgrind");
        command.args(["--quiet", "--error-exitcode=9", "--leak-check=full"]);
        command.args(["--errors-for-leak-kinds=definite,indirect", "--main-stacksize=8388608"]);
        let said = run(command.arg(&program).arg(target));
        assert!(said.contains(&format!("{target}: right")), "{said}");
    }
}
