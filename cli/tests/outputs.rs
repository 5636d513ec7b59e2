//! What `--emit elf`, `html` and `mach`, `compare` and folders of outputs give, from outside.

use crate::common::{Folder, gpucc, sample};
use std::fs;
use std::io::Write;
use std::path::Path;

#[track_caller]
fn made(args: &[&str]) -> Vec<u8> {
    let output = gpucc(args);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {message}");
    output.stdout
}

#[track_caller]
fn text(args: &[&str]) -> String {
    String::from_utf8(made(args)).expect("text")
}

fn half(file: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes([file[at], file[at + 1]]))
}

fn word(file: &[u8], at: usize) -> usize {
    u32::from_le_bytes([file[at], file[at + 1], file[at + 2], file[at + 3]]) as usize
}

fn name(table: &[u8], at: usize) -> String {
    let rest = &table[at..];
    let end = rest.iter().position(|byte| *byte == 0).expect("a zero");
    String::from_utf8(rest[..end].to_vec()).expect("text")
}

/// Sections by name: (bytes, link).
fn sections(file: &[u8]) -> Vec<(String, &[u8])> {
    let (at, count, names) = (word(file, 32), half(file, 48), half(file, 50));
    let body = |index: usize| {
        let row = at + 40 * index;
        &file[word(file, row + 16)..][..word(file, row + 20)]
    };
    (0..count).map(|index| (name(body(names), word(file, at + 40 * index)), body(index))).collect()
}

/// Symbols: (name, value, size).
fn symbols(file: &[u8]) -> Vec<(String, usize, usize)> {
    let sections = sections(file);
    let find = |wanted: &str| {
        let found = sections.iter().find(|section| section.0 == wanted);
        found.expect("the section exists").1
    };
    let names = find(".strtab");
    find(".symtab")
        .chunks(16)
        .skip(1)
        .map(|row| (name(names, word(row, 0)), word(row, 4), word(row, 8)))
        .collect()
}

#[test]
fn an_elf_file_holds_the_bytes_of_every_entry_point_and_the_report() {
    let folder = Folder::new("elf");
    for (target, machine) in [("r700", 224), ("valhall", 0)] {
        let shader = sample("phong.wgsl");
        let elf = folder.path(&format!("{target}.elf"));
        let bins = folder.path(&format!("{target}/"));
        fs::create_dir(&bins).expect("made");
        made(&[&shader, "--target", target, "--emit", "elf", "-o", &elf]);
        made(&[&shader, "--target", target, "--emit", "bin", "-o", &bins]);
        let file = fs::read(&elf).expect("written");
        assert_eq!(file[..7], [0x7f, b'E', b'L', b'F', 1, 1, 1]);
        assert_eq!((half(&file, 16), half(&file, 18)), (1, machine));
        let sections = sections(&file);
        let code = sections[1].1;
        assert_eq!(sections[1].0, ".text");
        let symbols = symbols(&file);
        for entry in ["vs", "fs"] {
            let wanted = fs::read(format!("{bins}phong.{entry}.bin")).expect("written");
            let symbol = symbols.iter().find(|symbol| symbol.0 == entry);
            let (_, at, size) = symbol.expect("a symbol for each entry point");
            assert_eq!(at % 256, 0);
            assert_eq!(code[*at..at + size], wanted);
        }
        let report = sections.iter().find(|section| section.0 == ".gpucc.report");
        let report: serde_json::Value =
            serde_json::from_slice(report.expect("it is there").1).expect("JSON");
        assert_eq!(report["shaders"][1]["entry"], "fs");
        assert_eq!(report["target"], target);
    }
}

#[test]
fn varyings_and_fetch_programs_have_symbols_of_their_own() {
    let folder = Folder::new("parts");
    let elf = folder.path("a.elf");
    let shader = sample("phong.wgsl");
    made(&[&shader, "--target", "valhall", "--emit", "elf", "-o", &elf]);
    let file = fs::read(&elf).expect("written");
    let symbols = symbols(&file);
    let find = |name: &str| symbols.iter().find(|symbol| symbol.0 == name);
    let whole = find("vs").expect("the entry point");
    let varying = find("vs.varying").expect("a program within it");
    assert!(varying.1 > whole.1 && varying.1 + varying.2 <= whole.1 + whole.2);
}

#[test]
fn machine_code_on_stdout_is_not_mixed_with_text_and_interp_has_none() {
    let output = gpucc(&[&sample("color.wgsl"), "--target", "interp", "--emit", "elf"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("interp"));
}

#[test]
fn pages_and_elf_files_are_the_same_every_time() {
    for kind in ["html", "elf"] {
        for target in ["r700", "valhall"] {
            let args = [&sample("blur.wgsl"), "--target", target, "--emit", kind];
            assert!(made(&args) == made(&args), "{kind} for {target}");
        }
    }
}

#[test]
fn the_explorer_links_source_lines_with_the_code_that_they_became() {
    for target in ["r700", "r600", "valhall"] {
        let page = text(&[&sample("phong.wgsl"), "--target", target, "--emit", "html"]);
        assert!(page.starts_with("<!doctype html>"));
        assert_eq!(page.matches("<section id=\"e").count(), 2, "{target}");
        // A line of the source, and code that names it.
        let source = fs::read_to_string(sample("phong.wgsl")).expect("a sample");
        let line = 1 + source
            .lines()
            .position(|line| line.contains("normalize"))
            .expect("phong normalizes");
        let linked = page.matches(&format!("data-line=\"{line}\"")).count();
        assert!(linked >= 2, "{target}: {linked} places for line {line}");
        let assembly = text(&[&sample("phong.wgsl"), "--target", target]);
        for shown in assembly.lines().filter(|line| line.contains("MUL")) {
            assert!(page.contains(&shown.replace('&', "&amp;")), "{shown}");
        }
        for outside in ["http://", "https://", "src=", "@import", "url("] {
            assert!(!page.contains(outside), "{target}: {outside}");
        }
    }
}

#[test]
fn the_explorer_shows_the_source_once_and_notes_behind_the_code() {
    let folder = Folder::new("explorer");
    let path = folder.write(
        "a.wgsl",
        "@group(0) @binding(0) var<storage, read_write> data: array<f32>;\n\
         @compute @workgroup_size(64) fn first(@builtin(global_invocation_id) id: vec3u) {\n\
         data[id.x] = sin(data[id.x]) / data[id.x + 1u];\n}\n\
         @vertex fn second(@location(0) place: vec4f) -> @builtin(position) vec4f {\n\
         return place.wzyx;\n}\n",
    );
    for target in ["r700", "valhall"] {
        let page = text(&[&path, "--target", target, "--emit", "html"]);
        assert_eq!(page.matches("sin(data[id.x])").count(), 1, "{target}: the source, once");
        assert_eq!(page.matches("<section").count(), 2, "{target}: entry points alone are tabs");
        assert!(page.contains("<aside><h2>Notes</h2>"), "{target}: the vertex format is inferred");
        // Nothing but styles has numbers of many digits.
        let body =
            &page[page.find("<body>").expect("a body")..page.find("<script>").expect("a script")];
        // The text of SSA is what `--emit ir` prints.
        let panes = body.split("<div class=\"pane ir\"");
        let body: String = panes
            .enumerate()
            .map(
                |(k, part)| {
                    if k == 0 { part } else { &part[part.find("</details>").expect("its end")..] }
                },
            )
            .collect();
        let raw = body.split(['<', '>', ' ']).find(|word| {
            word.split_once('.').is_some_and(|(whole, rest)| {
                whole.parse::<u32>().is_ok() && rest.len() > 2 && rest.parse::<u64>().is_ok()
            })
        });
        assert_eq!(raw, None, "{target}");
        let json = text(&[&path, "--target", target, "--emit", "json"]);
        let report: serde_json::Value = serde_json::from_str(&json).expect("a report");
        let cycles = report["shaders"][1]["stats"]["cycles"].as_f64().expect("cycles");
        let shown = format!("{cycles:.2}");
        let shown = shown.trim_end_matches('0').trim_end_matches('.');
        assert!(body.contains(&format!("<b>{shown}</b><span>cycles</span>")), "{target}: {shown}");
    }
}

#[test]
fn the_explorer_shows_live_registers_and_cycles_beside_the_code() {
    for target in ["r700", "valhall", "g45"] {
        let page = text(&[&sample("collatz.wgsl"), "--target", target, "--emit", "html"]);
        let json = text(&[&sample("collatz.wgsl"), "--target", target, "--emit", "json"]);
        let report: serde_json::Value = serde_json::from_str(&json).expect("a report");
        let flow = &report["shaders"][0]["flow"][0];
        let steps = flow["instructions"].as_array().expect("a list");
        assert_eq!(page.matches("<u style=").count(), steps.len(), "{target}");
        let names = flow["pressure"]["registers"].as_array().expect("a list");
        let names: Vec<&str> = names.iter().filter_map(|name| name.as_str()).collect();
        let peak = format!("title=\"most registers alive: {}\"", names.join(" "));
        assert_eq!(page.matches(&peak).count(), 1, "{target}");
        assert!(page.contains("cycles, longest path"), "{target}");
    }
}

#[test]
fn the_explorer_links_ssa_and_machine_ir_with_the_source() {
    let source = fs::read_to_string(sample("collatz.wgsl")).expect("a sample");
    let line = 1 + source.lines().position(|line| line.contains('*')).expect("a product");
    for target in ["r700", "valhall", "g45"] {
        let page = text(&[&sample("collatz.wgsl"), "--target", target, "--emit", "html"]);
        let ssa = text(&[&sample("collatz.wgsl"), "--target", target, "--emit", "ir"]);
        for (title, lines) in [("SSA", ssa.lines().count()), ("Machine IR", 0)] {
            let head = format!("<summary>{title} <small>");
            let pane = &page[page.find(&head).expect("a fold")..];
            let pane = &pane[..pane.find("</details>").expect("its end")];
            let places = pane.split_once("data-places=\"").expect("a list").1;
            let (places, shown) = places.split_once("\">").expect("its end");
            let shown = shown.split_once("</pre>").expect("the end of the lines").0.lines().count();
            assert!(shown > 20 && (lines == 0 || shown == lines), "{target}: {title}: {shown}");
            assert_eq!(places.split(' ').count(), shown, "{target}: {title}: a place per line");
            let has = places.split(' ').any(|place| place == line.to_string());
            assert!(has, "{target}: {title}: {line}");
            let is_place = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
            let places = pane.split(" !").skip(1).filter(|rest| is_place(rest));
            assert_eq!(places.count(), 0, "{target}: {title}: places are links");
        }
    }
}

#[test]
fn machines_stand_beside_each_other_in_one_page() {
    let folder = Folder::new("beside");
    let path = folder.path("page.html");
    // Atomics are what the one machine lacks.
    let targets = ["--targets", "valhall,r700:rv730"];
    for (shader, refused) in [("phong.wgsl", false), ("histogram.wgsl", true)] {
        let args = ["compare", &sample(shader), targets[0], targets[1], "--html", &path];
        let table = text(&args);
        assert!(table.starts_with("entry"), "the table is printed as ever: {table}");
        let page = fs::read_to_string(&path).expect("a page");
        assert_eq!(page.matches("aria-pressed=\"true\" data-machine").count(), 2, "{shader}");
        assert!(page.contains("valhall (g57), r700 (rv730)"), "{shader}");
        let of = |id: &str| page.contains(&format!("<section id=\"{id}\" data-entry=\"e0\">"));
        assert!(of("e0"), "{shader}: the first machine");
        assert_eq!(of("e0m1"), !refused, "{shader}: the second");
        assert_eq!(page.contains("<p class=\"wrong\">"), refused, "{shader}");
    }
    let shader = folder.write("own.wgsl", "@compute @workgroup_size(1) fn main() {}\n");
    let output = gpucc(&["compare", &shader, "--html", &shader]);
    assert_eq!(output.status.code(), Some(2), "the source is not overwritten");
}

#[test]
fn machine_code_is_drawn_as_blocks_with_their_cycles() {
    for target in ["r700", "valhall", "g45"] {
        let graph = text(&[&sample("collatz.wgsl"), "--target", target, "--emit", "cfg=mach"]);
        assert!(graph.starts_with("digraph \"main\" {\n"), "{graph}");
        let boxes: Vec<&str> = graph.lines().filter(|line| line.contains("label=")).collect();
        assert!(boxes.len() > 4 && boxes.iter().all(|one| one.contains(" cycles")), "{graph}");
        // All of the code stands in it, each line once.
        let lines = |text: &str| text.lines().filter(|line| !line.trim().is_empty()).count();
        let code = text(&[&sample("collatz.wgsl"), "--target", target]);
        let shown: usize = boxes.iter().map(|one| one.matches("\\l").count() - 1).sum();
        assert_eq!(shown, lines(&code), "{target}: {graph}");
        // A loop: an edge that goes back.
        let goes_back = |line: &str| {
            let (from, to) = line.trim().split_once(" -> ")?;
            let to = to.split(' ').next()?;
            Some(to.parse::<u32>().ok()? <= from.parse::<u32>().ok()?)
        };
        assert!(graph.lines().any(|line| goes_back(line) == Some(true)), "{target}: {graph}");
    }
    let folder = Folder::new("graph");
    let path = folder.path("code.dot");
    text(&[&sample("collatz.wgsl"), "--target", "r700", "--emit", &format!("cfg=mach={path}")]);
    assert!(fs::read_to_string(path).expect("a file").starts_with("digraph"));
}

#[test]
fn glsl_is_shown_behind_its_preprocessor() {
    let folder = Folder::new("macros");
    folder.write("size.glsl", "#define SIZE 3\n");
    let source = "#version 450\n#include \"size.glsl\"\n\n#if SIZE > 2\n#define TWICE(x) ((x) + (x))\n#endif\n\n\n\
        int twice = TWICE(SIZE) +;\n";
    let shader = folder.write("wrong.comp", source);
    // Neither a machine nor a right program is needed.
    let shown = text(&[&shader, "--emit", "pre"]);
    let tokens: Vec<&str> = shown.split_whitespace().collect();
    assert_eq!(tokens.join(" "), "#version 450 int twice = ( ( 3 ) + ( 3 ) ) +;");
    assert!(!shown.contains("\n\n\n"), "{shown}");
    let into = folder.path("out/");
    fs::create_dir_all(&into).expect("a folder");
    text(&[&shader, "--emit", "pre", "-o", &into]);
    let written = fs::read_to_string(folder.path("out/wrong.pre.glsl")).expect("a file");
    assert_eq!(written, shown);
    let refused = gpucc(&[&sample("phong.wgsl"), "--emit", "pre"]);
    assert_eq!(refused.status.code(), Some(2));
    let missing = folder.write("missing.comp", "#version 450\n#include \"none.glsl\"\n");
    assert_eq!(gpucc(&[&missing, "--emit", "pre"]).status.code(), Some(1));
}

#[test]
fn figures_follow_from_code_alone() {
    let folder = Folder::new("blob");
    for target in ["r700", "valhall", "gen4", "g45"] {
        let path = folder.path("code.bin");
        text(&[&sample("collatz.wgsl"), "--target", target, "--emit", "bin", "-o", &path]);
        let figures = text(&["disasm", "--stats", "--target", target, &path]);
        let json = text(&[&sample("collatz.wgsl"), "--target", target, "--emit", "json"]);
        let report: serde_json::Value = serde_json::from_str(&json).expect("a report");
        let flow = &report["shaders"][0]["flow"][0];
        let live = format!("live registers  {} at most", flow["pressure"]["live"]);
        assert!(figures.contains(&live), "{target}: {figures}");
        let loops = flow["paths"]["loops"].as_array().expect("a list").len();
        assert_eq!(figures.matches("cycles a trip").count(), loops, "{target}: {figures}");
        assert!(loops > 0);
    }
    let output = gpucc(&["disasm", "--stats", "--lines", "--hex", "--target", "r700", "x"]);
    assert_eq!(output.status.code(), Some(2));
}

/// The page in a browser: its script runs, and fills what it has to. Skipped where there is no Chromium.
#[test]
fn the_explorers_script_counts_and_links_in_a_browser() {
    let folder = Folder::new("explorer-browser");
    let page = folder.path("page.html");
    text(&[&sample("phong.wgsl"), "--target", "valhall", "--emit", &format!("html={page}")]);
    let browser = std::process::Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "--timeout=20000"])
        // Lines are counted behind the first paint.
        .arg("--virtual-time-budget=5000")
        .arg(format!("--user-data-dir={}", folder.path("profile")))
        .arg(format!("file://{page}#e1"))
        .output();
    let Ok(browser) = browser else {
        let _ = writeln!(std::io::stderr(), "skipped: chromium is not installed");
        return;
    };
    let dom = String::from_utf8_lossy(&browser.stdout);
    assert!(dom.contains("class=\"scripted tabs\""), "{dom}");
    let shown = |entry: &str| dom.contains(&format!("data-entry=\"{entry}\" class=\"on\""));
    assert!(shown("e1"), "the fragment stage is shown");
    assert!(!shown("e0"), "the vertex stage is not");
    let source = fs::read_to_string(sample("phong.wgsl")).expect("a sample");
    let number_of =
        |what: &str| 1 + source.lines().position(|line| line.contains(what)).expect("a line");
    let counted = |number: usize| {
        let line = dom.find(&format!("<s>{number}</s><em")).expect("a line of the source");
        let rest = &dom[line..];
        let rest = &rest[rest.find("<em").expect("a count")..rest.find("</em>").expect("its end")];
        rest.rsplit('>').next().and_then(|count| count.parse::<u32>().ok()).unwrap_or(0)
    };
    assert!(counted(number_of("normalize")) > 0, "fragment code has a count");
    assert_eq!(counted(number_of("let patch_number")), 0, "vertex code has none");
}

#[test]
fn names_from_the_source_do_not_become_markup() {
    let folder = Folder::new("markup");
    let source = "// <script>alert('x')</script> & more\n\
        @fragment fn main() -> @location(0) vec4f { return vec4f(1.0); }\n";
    let path = folder.write("a.wgsl", source);
    let page = text(&[&path, "--target", "interp", "--emit", "html"]);
    assert!(!page.contains("<script>alert"));
    assert!(page.contains("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; more"));
}

#[test]
fn machine_ir_is_printed_alone_and_by_batch() {
    let folder = Folder::new("mach");
    for target in ["r700", "valhall", "gen4", "g45"] {
        let alone = text(&[&sample("color.wgsl"), "--target", target, "--emit", "mach"]);
        assert!(alone.starts_with("mach \""), "{alone}");
        let out = folder.path(target);
        let shader = sample("color.wgsl");
        made(&["batch", &shader, "--target", target, "--emit", "mach", "-o", &out]);
        let files: Vec<_> = fs::read_dir(&out).expect("made").collect();
        let file = files[0].as_ref().expect("one file").path();
        assert_eq!(fs::read_to_string(file).expect("text"), alone);
    }
}

#[test]
fn compare_has_a_row_for_each_machine_and_says_why_one_cannot() {
    let table = text(&["compare", &sample("phong.wgsl")]);
    let rows: Vec<&str> = table.lines().collect();
    assert_eq!(rows.len(), 1 + 2 * gpucc::Target::machines().count(), "{table}");
    for word in ["machine", "instr", "cycles", "at least", "bound by"] {
        assert!(rows[0].contains(word), "{word}: {table}");
    }
    for machine in ["r600 rv670", "r700 rv770", "valhall g57"] {
        assert_eq!(table.matches(machine).count(), 2, "{table}");
    }
    let table = text(&["compare", &sample("histogram.wgsl"), "--targets", "valhall,r700:rv730"]);
    let refused = table.lines().find(|line| line.contains("rv730"));
    let refused = refused.expect("a row");
    assert!(refused.contains("exit 3") && refused.contains("atomic"), "{table}");
    let output = gpucc(&["compare", &sample("histogram.wgsl"), "--targets", "r700"]);
    assert_eq!(output.status.code(), Some(3), "no machine can");
    let folder = Folder::new("compared");
    let level = "#version 450
layout(binding = 0) uniform sampler2D t;
layout(location = 0) in vec2 at;
layout(location = 0) out vec2 level;
void main() { level = textureQueryLod(t, at); }
";
    let level = folder.write("level.frag", level);
    let output = gpucc(&["compare", &level, "--targets", "rogue"]);
    assert_eq!(output.status.code(), Some(6), "{}", String::from_utf8_lossy(&output.stderr));
    let wrong = [("phong", "r800", 2), ("phong", "interp", 2)];
    for (name, targets, code) in
        wrong.into_iter().chain([("phong", "r700:x", 2), ("phong", ",", 2)])
    {
        let output = gpucc(&["compare", &sample(&format!("{name}.wgsl")), "--targets", targets]);
        assert_eq!(output.status.code(), Some(code), "{targets}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn files_that_differ_in_their_extension_alone_do_not_overwrite_each_other() {
    let folder = Folder::new("apart");
    fs::create_dir(folder.path("in")).expect("made");
    let shader = "#version 450\nvoid main() {}\n";
    folder.write("in/a.frag", shader);
    let compute = shader.replace("void", "layout(local_size_x = 1) in; void");
    folder.write("in/a.comp", compute);
    let (from, to) = (folder.path("in"), folder.path("out"));
    made(&["batch", &from, "--target", "r700", "-o", &to]);
    for name in ["a.frag.main.s", "a.comp.main.s"] {
        assert!(Path::new(&to).join(name).exists(), "{name}");
    }
}

#[test]
fn what_neither_reader_nor_machine_has_is_the_machine_s_lack() {
    let folder = Folder::new("lacks");
    let cases = [
        (
            "float",
            "@group(0) @binding(0) var<storage, read_write> a: atomic<f32>;\n\
             @compute @workgroup_size(1) fn main() { atomicAdd(&a, 3f); }\n",
            &[("r700", 3), ("r600", 3)][..],
            "atomic",
        ),
        (
            "task",
            "enable wgpu_mesh_shader;\nstruct P { v: u32 }\nvar<task_payload> p: P;\n\
             @task @payload(p) @workgroup_size(1)\n\
             fn main() -> @builtin(mesh_task_size) vec3<u32> { p.v = 1u; return vec3(1, 1, 1); }\n",
            &[("r700", 3), ("r600", 3), ("valhall", 3), ("interp", 6)],
            "task",
        ),
    ];
    for (name, source, targets, word) in cases {
        let path = folder.write(&format!("{name}.wgsl"), source);
        for &(target, code) in targets {
            let output = gpucc(&[&path, "--target", target]);
            let message = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{target}: {message}");
            assert!(message.contains(word), "{target}: {message}");
        }
    }
}

#[test]
fn two_inputs_are_wrong_usage_that_names_batch() {
    let output = gpucc(&["a.wgsl", "b.wgsl", "--target", "r700"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("batch"));
    let output = gpucc(&[env!("CARGO_MANIFEST_DIR"), "--target", "r700"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("batch"));
}

#[test]
fn a_proof_on_no_input_is_no_proof() {
    let output = gpucc(&[&sample("color.wgsl"), "--target", "r700", "--verify=0"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn combined_samplers_of_glsl_are_proved_on_every_machine() {
    let folder = Folder::new("combined");
    let source = "#version 330 core\nin vec2 uv; flat in int layer; out vec4 color;\n\
        uniform sampler2D albedo; uniform samplerCube sky; uniform sampler2DShadow shadow;\n\
        uniform Params { vec4 tint; mat3 m; };\n\
        vec4 twice(sampler2D s, vec2 p) { return texture(s, p) + textureLod(s, p, 1.0); }\n\
        void main() { color = twice(albedo, uv) * tint + texture(sky, m * vec3(uv, layer))\n\
            + texture(shadow, vec3(uv, 0.5)); }\n";
    let path = folder.write("a.frag", source);
    for target in ["r600", "r700", "valhall"] {
        let output = text(&["verify", &path, "--target", target, "--inputs", "4"]);
        assert!(output.contains("0 mismatches"), "{target}: {output}");
    }
}
