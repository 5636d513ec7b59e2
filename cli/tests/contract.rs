//! The command from outside: exit codes, messages and outputs, as a script sees them.

use crate::common::{Folder, sample, text};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Runs gpucc with stdin; fails the test when it takes too long.
fn gpucc_with(args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_gpucc"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("gpucc starts");
    let mut stdin = child.stdin.take().expect("piped");
    let bytes = input.to_vec();
    let writer = std::thread::spawn(move || {
        // A command that does not read its input closes the pipe.
        let _ = stdin.write_all(&bytes);
    });
    let start = Instant::now();
    let output = child.wait_with_output().expect("gpucc ends");
    writer.join().expect("the writer ends");
    let most = Duration::from_secs(120);
    assert!(start.elapsed() < most, "{args:?} took too long");
    output
}

fn gpucc(args: &[&str]) -> Output {
    gpucc_with(args, b"")
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Asserts an exit code, an empty stdout and words in the message.
#[track_caller]
fn refused(args: &[&str], expected: i32, words: &[&str]) {
    let output = gpucc(args);
    let text = stderr(&output);
    assert_eq!(code(&output), expected, "{args:?}: {text}");
    assert!(output.stdout.is_empty(), "{args:?} printed something");
    for word in words {
        assert!(text.contains(word), "{args:?}: `{word}` is not in: {text}");
    }
}

#[test]
fn help_and_version_are_answers() {
    for flag in ["--help", "-h", "--version"] {
        let output = gpucc(&[flag]);
        assert_eq!(code(&output), 0);
        assert!(stdout(&output).contains("gpucc"));
        assert!(output.stderr.is_empty());
    }
    for command in ["asm", "disasm", "run", "render", "verify", "batch", "targets"] {
        let output = gpucc(&[command, "--help"]);
        assert_eq!(code(&output), 0, "{command}");
        assert!(stdout(&output).contains("Usage"), "{command}");
    }
}

#[test]
fn wrong_usage_is_two() {
    let color = sample("color.wgsl");
    refused(&[], 2, &["input is missing"]);
    refused(&[&color], 2, &["--target is missing", "r700", "interp"]);
    refused(&[&color, "--target", "z80"], 2, &["no target 'z80'", "r700"]);
    refused(&[&color, "--target", "r700", "--chip", "rv999"], 2, &["no chip 'rv999'", "rv770"]);
    refused(&[&color, "--target", "r700", "--frobnicate"], 2, &["--frobnicate"]);
    refused(&[&color, "--target", "interp", "--entry", "nobody"], 2, &["nobody", "main"]);
    refused(&[&color, "--target", "r700", "--emit", "gif"], 2, &["gif", "asm"]);
    refused(&["no-such-file.wgsl", "--target", "r700"], 2, &["no-such-file.wgsl"]);
    refused(&["Cargo.toml", "--target", "r700"], 2, &["language"]);
    refused(&["-", "--target", "r700"], 2, &["--lang"]);
    refused(&[&color, "--target", "interp", "--skip", "magic"], 2, &["magic"]);
    refused(&["disasm", "--target", "r700", "--lines"], 2, &["--hex"]);
    refused(&["asm", "--target", "r700", "--lines"], 2, &["--hex"]);
    refused(&["disasm", "--target", "r700", "--format", "word"], 2, &["word", "alu-slot"]);
}

/// What is most like a misspelt name is told, and nothing where no name is alike.
#[test]
fn a_misspelt_name_is_told_what_was_meant() {
    let color = sample("color.wgsl");
    refused(&["verfy", &color], 2, &["neither a file nor a command", "did you mean `verify`?"]);
    refused(&[&color, "--target", "R700"], 2, &["no target 'R700'", "did you mean `r700`?"]);
    refused(&[&color, "--target", "valhal"], 2, &["did you mean `valhall`?"]);
    let chip = "rv710 is a chip of r700: --target r700 --chip rv710";
    refused(&[&color, "--target", "rv710"], 2, &["no target 'rv710'", chip]);
    refused(&[&color, "--target", "r700", "--chip", "RV710"], 2, &["did you mean `rv710`?"]);
    refused(&[&color, "--target", "r700", "--skip", "gnv"], 2, &["did you mean `gvn`?"]);
    refused(&[&color, "--target", "r700", "--emit", "jsn"], 2, &["did you mean `json`?"]);
    let folder = Folder::new("misspelt");
    let text = "@fragment fn Colour() -> @location(0) vec4f {\n\
                let brightness = 1.0;\nreturn vec4f(brightnes);\n}\n";
    let file = folder.write("name.wgsl", text);
    let meant = ["`brightnes` is not declared", "did you mean `brightness`?"];
    refused(&[&file, "--target", "r700"], 1, &meant);
    let file = folder.write("entry.wgsl", text.replace("brightnes)", "brightness)"));
    let meant = ["no entry point `Color`", "it has `Colour` (fragment)", "did you mean `Colour`?"];
    refused(&[&file, "--target", "r700", "--entry", "Color"], 2, &meant);
    let text = "#version 450\nlayout(location = 0) out vec4 color;\n\
                void main() { float brightness = 1.0; color = vec4(normalise(brightnes)); }\n";
    let file = folder.write("name.frag", text);
    refused(&[&file, "--target", "r700"], 1, &["`brightnes` is not", "did you mean `brightness`?"]);
    let file = folder.write("call.frag", text.replace("brightnes)", "brightness)"));
    refused(&[&file, "--target", "r700"], 1, &["`normalise`", "did you mean `normalize`?"]);
    let output = gpucc(&[&color, "--target", "z80"]);
    assert!(!stderr(&output).contains("did you mean"), "nothing is like z80");
}

#[test]
fn one_target_is_listed_when_it_is_named() {
    let output = gpucc(&["targets", "r700"]);
    assert_eq!(code(&output), 0);
    let text = stdout(&output);
    assert!(text.contains("rv770") && !text.contains("valhall"), "{text}");
    refused(&["targets", "r701"], 2, &["no target 'r701'", "did you mean `r700`?"]);
}

#[test]
fn what_is_not_built_says_so_with_six() {
    let folder = Folder::new("later");
    let text = "#version 450
layout(binding = 0) uniform sampler2D t;
layout(location = 0) in vec2 at;
layout(location = 0) out vec2 level;
void main() { level = textureQueryLod(t, at); }
";
    let file = folder.write("level.frag", text);
    refused(&[&file, "--target", "rogue"], 6, &["query_level", "not supported by gpucc yet"]);
}

/// Rogue's groups go both ways, a group a line too.
#[test]
fn rogue_assembles_groups_and_gives_them_back() {
    let folder = Folder::new("groups");
    let text = "0 : if (p0)\n s0 = r4, s1 = sc1\n is4 = ft0\n fmul.sat ft0, s0.abs, s1\n w0 = r0\n1 : end\n nop\n";
    let file = folder.write("groups.s", text);
    let output = gpucc(&["asm", "--target", "rogue", "--hex", &file]);
    assert_eq!(code(&output), 0);
    let words = stdout(&output);
    assert_eq!(words.lines().count(), 2, "a line is a group: {words}");
    let words = folder.write("groups.hex", &words);
    let output = gpucc(&["disasm", "--target", "rogue", "--hex", &words]);
    assert_eq!((code(&output), stdout(&output).as_str()), (0, text));
    let line = folder.write("line.hex", "0x02 0x80 0x6a 0xff\n0x02 0x80 0x6d 0xff\n");
    let output = gpucc(&["disasm", "--target", "rogue", "--lines", "--hex", &line]);
    let lines = stdout(&output);
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!((code(&output), lines[0]), (1, "0 : ; wdf drc0"), "the second is none");
    assert!(lines[1].starts_with("error: "), "{}", lines[1]);
    let again = folder.write("line.s", lines[0]);
    let output = gpucc(&["asm", "--target", "rogue", "--lines", "--hex", &again]);
    assert_eq!(stdout(&output), "0x02 0x80 0x6a 0xff\n");
}

/// A machine assembles, line by line too, and says its stages and what its silicon lacks.
#[test]
fn gen4_assembles_lines_and_says_its_stages() {
    let folder = Folder::new("planned");
    let text = "add(8) g4<1>F g2<8,8,1>F g3<8,8,1>F { align1 };\nnope ;\n\n\
                send(8) 2 g12<1>F g10<8,8,1>F 0x01110001 math MsgDesc: inv mlen 1 rlen 1 { align1 };\n";
    let file = folder.write("lines.s", text);
    for target in ["gen4", "g45"] {
        let output = gpucc(&["asm", "--target", target, "--lines", "--hex", &file]);
        assert_eq!(code(&output), 1, "one line is none");
        let words = stdout(&output);
        let lines: Vec<&str> = words.lines().collect();
        assert_eq!(lines[0], "0x00600040 0x208077bd 0x008d0040 0x008d0060");
        assert!(lines[1].starts_with("error: ") && lines[1].contains("`nope`"), "{}", lines[1]);
        assert_eq!(lines[2], "");
        let words = folder.write("lines.hex", format!("{}\n{}\n", lines[0], lines[3]));
        let output = gpucc(&["disasm", "--target", target, "--lines", "--hex", &words]);
        assert_eq!(code(&output), 0);
        let mut known = text.lines();
        for line in stdout(&output).lines() {
            assert!(known.any(|known| known == line), "{line}");
        }
    }
    let output = gpucc(&["targets", "--json"]);
    let rows: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for row in &rows.as_array().expect("a list")[2..4] {
        assert_eq!((&row["supported"], &row["assembles"]), (&true.into(), &true.into()));
        assert_eq!(row["stages"], serde_json::json!(["vertex", "geometry", "fragment", "compute"]));
        let lacks = row["refuses"].as_array().expect("a list");
        assert!(
            lacks.iter().any(|lack| lack["feature"] == "atomic operations on buffers and textures")
        );
    }
}

#[test]
fn targets_are_listed_for_people_and_as_json() {
    let output = gpucc(&["targets"]);
    assert_eq!(code(&output), 0);
    let text = stdout(&output);
    for word in ["r700", "rv770", "interp", "valhall", "atomic"] {
        assert!(text.contains(word), "{word}");
    }
    let output = gpucc(&["targets", "--json"]);
    let rows: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let names: Vec<&str> = rows
        .as_array()
        .expect("a list")
        .iter()
        .map(|row| row["target"].as_str().expect("a name"))
        .collect();
    assert_eq!(names, ["r600", "r700", "gen4", "g45", "valhall", "rogue", "interp"]);
    assert_eq!(rows[1]["chips"][0], "rv770");
    assert_eq!(rows[1]["stages"].as_array().map(Vec::len), Some(3));
    assert!(rows[1]["refuses"].as_array().is_some_and(|list| !list.is_empty()));
}

#[test]
fn broken_shaders_are_one_with_a_place() {
    let folder = Folder::new("broken");
    let cases: &[(&str, &str, &str)] = &[
        ("syntax.wgsl", "@fragment fn main( {", "syntax.wgsl:1:"),
        (
            "name.wgsl",
            "@fragment\nfn main() -> @location(0) vec4f {\n    return missing;\n}",
            "name.wgsl:3:12",
        ),
        (
            "type.wgsl",
            "@fragment\nfn main() -> @location(0) vec4f {\n    let x: u32 = 1.5;\n    return vec4f(0.0);\n}",
            "type.wgsl:3:",
        ),
        ("plain.ir", "func \"a\" compute {\n  bogus\n}", "plain.ir:2:"),
    ];
    for (name, text, place) in cases {
        let path = folder.write(name, text);
        refused(&[&path, "--target", "interp"], 1, &[place]);
        let short = gpucc(&[&path, "--target", "interp", "--diagnostics", "short"]);
        assert_eq!(stderr(&short).lines().count(), 1, "{}", stderr(&short));
        let json = gpucc(&[&path, "--target", "interp", "--diagnostics", "json"]);
        let message: serde_json::Value =
            serde_json::from_str(stderr(&json).lines().next().expect("a line")).expect("JSON");
        assert_eq!(message["severity"], "error");
        assert_eq!(message["exit_code"], 1);
        assert!(message["line"].as_u64().is_some_and(|line| line > 0), "{name}");
    }
    let empty = folder.write("empty.wgsl", "");
    refused(&[&empty, "--target", "interp"], 1, &["no entry point"]);
}

#[test]
fn random_bytes_never_crash_a_reader() {
    let folder = Folder::new("random");
    let mut state = 0x1234_5678_9ABC_DEF0u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for round in 0..4 {
        let bytes: Vec<u8> = (0..400 + round * 300).map(|_| next() as u8).collect();
        let mut spirv = 0x0723_0203u32.to_le_bytes().to_vec();
        spirv.extend(&bytes);
        for (name, content) in [
            ("a.wgsl", &bytes),
            ("a.spv", &bytes),
            ("b.spv", &spirv),
            ("a.frag", &bytes),
            ("a.ir", &bytes),
        ] {
            let path = folder.write(name, content);
            let output = gpucc(&[&path, "--target", "interp"]);
            assert!(
                [1, 4, 6].contains(&code(&output)),
                "{name}: exit {} {}",
                code(&output),
                stderr(&output)
            );
            assert!(!output.stderr.is_empty() && output.stdout.is_empty());
        }
        let path = folder.write("a.bin", &bytes);
        for args in [
            vec!["disasm", "--target", "r700", &path],
            vec!["disasm", "--target", "r700", "--hex", &path],
            vec!["asm", "--target", "r700", &path],
        ] {
            let output = gpucc(&args);
            assert!(
                [0, 1].contains(&code(&output)),
                "{args:?}: exit {} {}",
                code(&output),
                stderr(&output)
            );
        }
        let json = folder.write("a.json", &bytes);
        let output = gpucc(&[&sample("color.wgsl"), "--target", "interp", "--pipeline", &json]);
        assert!([1, 2].contains(&code(&output)));
        let response = folder.write("a.rsp", &bytes);
        let output = gpucc(&[&format!("@{response}")]);
        assert!([1, 2].contains(&code(&output)));
    }
}

#[test]
fn truncated_machine_code_is_an_error_with_an_offset() {
    // A control-flow instruction whose clause lies beyond the end.
    let output = gpucc_with(&["disasm", "--target", "r700", "--hex"], b"0x00000010 0xa0000000");
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    assert!(stderr(&output).contains("offset"), "{}", stderr(&output));
    let output = gpucc_with(&["disasm", "--target", "r700"], &[1, 2, 3]);
    assert_eq!(code(&output), 1);
    let output = gpucc_with(&["disasm", "--target", "r700", "--hex"], b"0x123456789");
    assert_eq!(code(&output), 1);
    assert!(stderr(&output).contains("token 1"), "{}", stderr(&output));
}

#[test]
fn deep_nesting_and_long_chains_are_refused_quickly() {
    let folder = Folder::new("deep");
    let body = |inner: String| {
        format!("@fragment fn main() -> @location(0) vec4f {{ return vec4f({inner}); }}")
    };
    let deep = 100_000;
    let cases = [
        ("parens.wgsl", body(format!("{}1.0{}", "(".repeat(deep), ")".repeat(deep)))),
        ("open.wgsl", body("(".repeat(deep))),
        ("plus.wgsl", body(format!("1.0{}", "+".repeat(1 << 20)))),
        ("sum.wgsl", body(format!("1.0{}", " + 1.0".repeat(1 << 18)))),
        ("minus.wgsl", body(format!("{}1.0", "- ".repeat(deep)))),
        ("blocks.wgsl", format!("fn f() {{ {} {} }}", "{".repeat(deep), "}".repeat(deep))),
        ("ifs.wgsl", format!("fn f() {{ if true {{}} {} }}", "else if true {}".repeat(deep))),
        (
            "types.wgsl",
            format!("var<private> x: {}f32{};", "array<".repeat(deep), ",1>".repeat(deep)),
        ),
        (
            "parens.frag",
            format!("void main() {{ float x = {}1.0{}; }}", "(".repeat(deep), ")".repeat(deep)),
        ),
        ("deep.ir", "func \"a\" compute {\n} body {\n".to_owned() + &"block {\n".repeat(deep)),
    ];
    for (name, text) in cases {
        let path = folder.write(name, text);
        let start = Instant::now();
        let output = gpucc(&[&path, "--target", "interp"]);
        assert!(
            [1, 4].contains(&code(&output)),
            "{name}: exit {} {}",
            code(&output),
            stderr(&output)
        );
        assert!(start.elapsed() < Duration::from_secs(60), "{name}");
        let text = stderr(&output);
        assert!(text.contains(name), "{name}: no place in {text}");
        assert!(text.len() < 20_000, "{name}: the message is {} long", text.len());
    }
}

#[test]
fn unknown_bindings_are_wrong_usage_that_names_the_known_ones() {
    let saxpy = sample("saxpy.wgsl");
    let base = ["run", &saxpy, "--target", "interp", "--groups", "1"];
    let with = |more: &[&str]| -> Vec<String> {
        base.iter().chain(more).map(|s| (*s).to_owned()).collect()
    };
    let cases: [(&[&str], &str); 6] = [
        (&["--set", "3.3=f32:1", "--dump", "0.2"], "3.3"),
        (&["--set", "0.1=f32:1", "--set", "0.2=f32:1", "--dump", "9.9"], "9.9"),
        (&["--dump", "0.2"], "0.1"),
        (&["--set", "0.1=f32:x", "--dump", "0.2"], "`x`"),
        (&["--set", "0.1", "--dump", "0.2"], "source is missing"),
        (
            &["--set", "0.0=zeros:3", "--set", "0.1=f32:1", "--set", "0.2=f32:1", "--dump", "0.2"],
            "4 bytes",
        ),
    ];
    for (more, word) in cases {
        let args = with(more);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        refused(&args, 2, &[word]);
    }
}

#[test]
fn machine_code_goes_to_text_and_back() {
    let folder = Folder::new("roundtrip");
    let code_words = "0x00000000 0xa0000000 0xc0008000 0x95200688";
    // Whatever disasm accepts, asm gives back.
    let text = gpucc_with(&["disasm", "--target", "r700", "--hex"], code_words.as_bytes());
    if code(&text) == 0 {
        let path = folder.write("a.s", &text.stdout);
        let back = gpucc(&["asm", "--target", "r700", "--hex", &path]);
        assert_eq!(code(&back), 0, "{}", stderr(&back));
        let words: Vec<String> = stdout(&back).split_whitespace().map(str::to_owned).collect();
        assert_eq!(words, code_words.split(' ').collect::<Vec<_>>());
    }
}

#[test]
fn lines_answer_every_line() {
    let input = b"0x00000002 0x81000400\n\nnonsense\n0x00000002 0x81000400\n";
    let output =
        gpucc_with(&["disasm", "--target", "r700", "--lines", "--hex", "--format", "cf"], input);
    assert_eq!(code(&output), 1);
    let text = stdout(&output);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert!(lines[0].contains("VTX") && lines[0] == lines[3], "{text}");
    assert_eq!(lines[1], "");
    assert!(lines[2].starts_with("error: "), "{text}");
    let back = gpucc_with(
        &["asm", "--target", "r700", "--lines", "--hex", "--format", "cf"],
        format!("{}\n\n", lines[0]).as_bytes(),
    );
    assert_eq!(code(&back), 0, "{}", stdout(&back));
    assert_eq!(stdout(&back), "0x00000002 0x81000400\n\n");
}

#[test]
fn response_files_hold_arguments() {
    let folder = Folder::new("response");
    let list = folder.write("args.rsp", "targets\n--json");
    let output = gpucc(&[&format!("@{list}")]);
    assert_eq!(code(&output), 0);
    assert!(stdout(&output).starts_with('['));
    let own = folder.path("loop.rsp");
    folder.write("loop.rsp", format!("@{own}"));
    refused(&[&format!("@{own}")], 2, &["loop.rsp"]);
    refused(&["@no-such-file.rsp"], 2, &["no-such-file.rsp"]);
}

#[test]
fn a_reader_that_goes_away_is_no_crash() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_gpucc"))
        .args(["targets", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("gpucc starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("gpucc ends");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(output.stderr.is_empty(), "{}", stderr(&output));
}

#[test]
fn outputs_are_written_whole_or_not_at_all() {
    let folder = Folder::new("atomic");
    let before = folder.write("old.ir", "untouched");
    let broken = folder.write("broken.wgsl", "@fragment fn main( {");
    let output = gpucc(&[&broken, "--target", "interp", "-o", &before]);
    assert_eq!(code(&output), 1);
    assert_eq!(fs::read_to_string(&before).expect("still there"), "untouched");
    refused(
        &[&sample("color.wgsl"), "--target", "interp", "-o", "/no/such/folder/a.ir"],
        2,
        &["/no/such/folder/a.ir"],
    );
    let left: Vec<String> = fs::read_dir(folder.path(""))
        .expect("readable")
        .map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".tmp"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn ir_text_reads_back_to_the_same_text() {
    let folder = Folder::new("ir");
    let first = gpucc(&[&sample("phong.wgsl"), "--target", "interp"]);
    assert_eq!(code(&first), 0, "{}", stderr(&first));
    let path = folder.write("phong.ir", &first.stdout);
    let second = gpucc(&[&path, "--target", "interp", "-O0", "--robust", "off"]);
    assert_eq!(code(&second), 0, "{}", stderr(&second));
    assert!(stdout(&second).contains("func \"vs\" vertex"));
    assert!(stdout(&second).contains("func \"fs\" fragment"));
}

#[test]
fn run_gives_the_words_that_were_worked_out_by_hand() {
    let saxpy = sample("saxpy.wgsl");
    for target in ["interp", "r700"] {
        let output = gpucc(&[
            "run",
            &saxpy,
            "--target",
            target,
            "--groups",
            "1",
            "--set",
            "0.0=f32:2",
            "--set",
            "0.1=f32:1,2,3,4",
            "--set",
            "0.2=f32:10,20,30,40",
            "--dump",
            "0.2",
            "--dump",
            "0.2:hex",
        ]);
        assert_eq!(code(&output), 0, "{target}: {}", stderr(&output));
        assert_eq!(stdout(&output), "0.2: 12 24 36 48\n0.2: 000040410000c0410000104200004042\n");
    }
}

#[test]
fn several_entry_points_and_one_binary_are_refused_by_name() {
    refused(
        &[&sample("phong.wgsl"), "--target", "r700", "--emit", "bin", "-o", "all.bin"],
        2,
        &["vs", "fs"],
    );
    assert!(!Path::new("all.bin").exists());
    let folder = Folder::new("folder");
    let out = format!("{}/", folder.path(""));
    let output = gpucc(&[&sample("phong.wgsl"), "--target", "r700", "--emit", "bin", "-o", &out]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    for entry in ["vs", "fs"] {
        let bytes = fs::read(folder.path(&format!("phong.{entry}.bin"))).expect("written");
        assert!(!bytes.is_empty() && bytes.len().is_multiple_of(8));
    }
}

#[test]
fn the_report_has_the_contract_s_keys() {
    let output = gpucc(&[&sample("phong.wgsl"), "--target", "r700", "--emit", "json"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["schema"]["name"], "gpucc-report");
    assert_eq!(report["schema"]["version"], 1);
    assert_eq!(report["target"], "r700");
    assert_eq!(report["chip"], "rv770");
    let shaders = report["shaders"].as_array().expect("a list");
    assert_eq!(shaders.len(), 2);
    for shader in shaders {
        for key in [
            "source",
            "entry",
            "stage",
            "code",
            "stats",
            "machine",
            "resources",
            "inputs",
            "outputs",
            "state",
            "lines",
        ] {
            assert!(!shader[key].is_null(), "{key}");
        }
        for key in [
            "instructions",
            "code_bytes",
            "registers",
            "spills",
            "fills",
            "scratch_bytes",
            "shared_bytes",
            "loops",
            "branches",
            "occupancy",
            "cycles",
            "cycles_lower_bound",
            "bound_unit",
            "compile_microseconds",
            "frontend_microseconds",
        ] {
            assert!(!shader["stats"][key].is_null(), "stats.{key}");
        }
        for key in [
            "alu_groups",
            "alu_slots",
            "slots_per_group",
            "literals",
            "cf_instructions",
            "alu_clauses",
            "tex_clauses",
            "vtx_clauses",
            "tex_instructions",
            "vtx_instructions",
            "gprs",
            "stack_entries",
        ] {
            assert!(!shader["machine"][key].is_null(), "machine.{key}");
        }
        let bytes = shader["code"]["bytes"].as_u64().expect("a number") as usize;
        assert_eq!(shader["code"]["hex"].as_str().map(str::len), Some(bytes * 2));
        for line in shader["lines"].as_array().expect("a list") {
            assert!(line["line"].as_u64().is_some_and(|line| line > 0));
            assert!(line["file"].as_str().is_some_and(|file| file.ends_with("phong.wgsl")));
        }
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let hash = |jobs: &str| {
        let output =
            gpucc(&[&sample("phong.wgsl"), "--target", "r700", "--emit", "hex", "--jobs", jobs]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        output.stdout
    };
    assert_eq!(hash("1"), hash("2"));
}

#[test]
fn assembly_assembles_to_the_bytes_that_were_emitted() {
    let folder = Folder::new("same");
    let path = folder.path("color.bin");
    let asm = folder.path("color.s");
    let emit_bin = format!("bin={path}");
    let emit_asm = format!("asm={asm}");
    let output = gpucc(&[
        &sample("color.wgsl"),
        "--target",
        "r700",
        "--emit",
        &emit_bin,
        "--emit",
        &emit_asm,
    ]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let back = folder.path("back.bin");
    let output = gpucc(&["asm", "--target", "r700", &asm, "-o", &back]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(fs::read(&path).expect("written"), fs::read(&back).expect("written"));
}

#[test]
fn an_override_without_a_value_is_one_and_a_default_helps() {
    let folder = Folder::new("override");
    let path = folder.write(
        "o.wgsl",
        "override scale: f32;\n@fragment fn main() -> @location(0) vec4f { return vec4f(scale); }",
    );
    refused(&[&path, "--target", "interp"], 1, &["scale"]);
    for more in [["--overrides-default", "2"], ["--override", "scale=3"]] {
        let output = gpucc(&[&path, "--target", "interp", more[0], more[1]]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
    }
    refused(&[&path, "--target", "interp", "--override", "scale"], 2, &["NAME=VALUE"]);
}

#[test]
fn included_files_are_inputs() {
    let folder = Folder::new("included");
    let shader = "#version 450\n#include \"k.h\"\nlayout(location = 0) out vec4 o;\nvoid main() { o = vec4(K); }\n";
    let path = folder.write("a.frag", shader);
    let header = folder.write("k.h", "#define K 0.5\n");
    let (out, dep) = (folder.path("a.s"), folder.path("a.d"));
    let output = gpucc(&[&path, "--target", "r700", "-o", &out, "--depfile", &dep]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let rule = std::fs::read_to_string(&dep).expect("it was written");
    assert!(rule.trim_end().ends_with("k.h"), "{rule}");
    let output = gpucc(&[&path, "--target", "r700", "-o", &header]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert_eq!(std::fs::read_to_string(&header).expect("it stays"), "#define K 0.5\n");
    let both = format!("asm={out}");
    let output = gpucc(&[&path, "--target", "r700", "--emit", &both, "-o", &dep]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
}

#[test]
fn depfiles_name_outputs_and_inputs() {
    let folder = Folder::new("dep");
    let (out, dep) = (folder.path("a.ir"), folder.path("a.d"));
    let color = sample("color.wgsl");
    let output = gpucc(&[&color, "--target", "interp", "-o", &out, "--depfile", &dep]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(fs::read_to_string(&dep).expect("written"), format!("{out}: {color}\n"));
}

#[test]
fn batch_keeps_going_and_its_order_does_not_depend_on_jobs() {
    let folder = Folder::new("batch");
    let inner = folder.path("in");
    fs::create_dir_all(format!("{inner}/deep")).expect("a folder");
    for name in ["b.wgsl", "a.wgsl", "deep/c.wgsl"] {
        fs::copy(sample("color.wgsl"), format!("{inner}/{name}")).expect("copied");
    }
    fs::write(format!("{inner}/broken.wgsl"), "fn (").expect("written");
    let run = |jobs: &str| {
        let out = folder.path(&format!("out{jobs}"));
        let output = gpucc(&["batch", &inner, "--target", "interp", "-o", &out, "--jobs", jobs]);
        assert_eq!(code(&output), 1, "{}", stderr(&output));
        assert!(Path::new(&format!("{out}/a.main.ir")).exists());
        assert!(Path::new(&format!("{out}/deep/c.main.ir")).exists());
        stdout(&output)
    };
    let text = run("1");
    assert_eq!(text, run("4"));
    assert_eq!(text.lines().count(), 5, "{text}");
    assert!(text.ends_with("4 files: 3 compiled, 1 failed\n"), "{text}");
}

#[test]
fn a_syntax_error_is_shown_in_the_source_with_a_mark_below_the_place() {
    let text = b"fn f() {\n  let x = ;\n}\n";
    let output = gpucc_with(&["-", "--lang", "wgsl", "--target", "r700"], text);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{message}");
    for part in ["error: ", ":2:11", "let x = ;", "^"] {
        assert!(message.contains(part), "no {part:?} in\n{message}");
    }
}

#[test]
fn numbers_have_the_type_of_their_binding() {
    let folder = Folder::new("types-of-data");
    let path = folder.path("mixed.wgsl");
    let source = "struct P { at: vec2f, id: u32 }
        @group(0) @binding(0) var<storage, read> points: array<P>;
        @group(0) @binding(1) var<storage, read_write> sums: array<atomic<i32>>;
        @group(0) @binding(2) var<uniform> scale: mat2x2f;
        @compute @workgroup_size(1) fn main() {
            atomicAdd(&sums[0], i32(points[0].id + u32(scale[0].x)));
        }";
    std::fs::write(&path, source).expect("written");
    let points = "0.0=u32:0,0,3,0";
    let run = |sums: &str, scale: &str| {
        let sets = ["--set", points, "--set", sums, "--set", scale];
        let mut args = vec!["run", &path, "--target", "interp", "--groups", "1", "--dump", "0.1"];
        args.extend(sets);
        gpucc(&args)
    };
    for sums in ["0.1=i32:5", "0.1=hex:05000000", "0.1=zeros:4"] {
        let done = run(sums, "0.2=f32:2,0,0,0");
        assert_eq!(done.status.code(), Some(0), "{sums}: {}", text(&done));
    }
    for (sums, scale, said) in [
        ("0.1=u32:5", "0.2=f32:2,0,0,0", "0.1 (sums) holds i32, and u32 was given"),
        ("0.1=f32:5", "0.2=f32:2,0,0,0", "0.1 (sums) holds i32, and f32 was given"),
        ("0.1=i32:5", "0.2=i32:2,0,0,0", "0.2 (scale) holds f32, and i32 was given"),
        ("0.1=i32:5", "0.2=f16:2,0,0,0,0,0,0,0", "0.2 (scale) holds f32, and f16 was given"),
    ] {
        let done = run(sums, scale);
        assert_eq!(done.status.code(), Some(2), "{sums} {scale}: {}", text(&done));
        assert!(text(&done).contains(said), "{}", text(&done));
    }
}
