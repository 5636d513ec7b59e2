//! What a command line may say twice, in vain, or to its own harm: exit codes and files, from outside.

use crate::common::{Folder, gpucc, sample, text};
use std::fs;
use std::process::{Command, Output, Stdio};

#[track_caller]
fn ends(args: &[&str], code: i32) -> Output {
    let output = gpucc(args);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {}", text(&output));
    output
}

/// Asserts the exit code and words of the message.
#[track_caller]
fn says(args: &[&str], code: i32, words: &[&str]) {
    let output = ends(args, code);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    for word in words {
        assert!(message.contains(word), "{args:?}: `{word}` is not in: {message}");
    }
}

#[test]
fn of_settings_the_last_counts_and_choices_are_made_once() {
    let color = sample("color.wgsl");
    let last = ends(
        &[
            &color,
            "--target",
            "z80",
            "-O0",
            "--robust=off",
            "--target",
            "r700",
            "-O2",
            "--robust=zero",
        ],
        0,
    );
    assert_eq!(last.stdout, ends(&[&color, "--target", "r700"], 0).stdout);
    says(
        &[&color, "--target", "r700", "--entry", "main", "--entry", "main"],
        2,
        &["--entry", "multiple times"],
    );
}

#[test]
fn messages_about_the_command_line_take_the_form_that_it_asks_for() {
    for wrong in [["--bogus", "--color=never"], ["-O", "7"]] {
        let args = [wrong[0], wrong[1], "--diagnostics", "json", "a.wgsl"];
        let output = ends(&args, 2);
        let line = String::from_utf8(output.stderr).expect("text");
        let message: serde_json::Value = serde_json::from_str(&line).expect("one JSON object");
        assert_eq!(message["exit_code"], 2);
        let said = message["message"].as_str().expect("text");
        assert!(said.contains(wrong[0]) && !said.contains('\n'), "{said}");
    }
    let short = ends(&["--bogus", "--diagnostics=short"], 2);
    assert_eq!(String::from_utf8_lossy(&short.stderr).lines().count(), 1);
}

#[test]
fn help_is_a_command_and_a_word_that_is_neither_file_nor_command_names_the_commands() {
    let help = ends(&["help"], 0);
    assert!(text(&help).contains("Usage"));
    assert!(text(&ends(&["help", "run"], 0)).contains("--groups"));
    says(&["frobnicate"], 2, &["neither a file nor a command", "verify", "compare"]);
}

#[test]
fn passes_that_do_not_exist_are_wrong_usage_of_every_command() {
    let color = sample("color.wgsl");
    let commands: [&[&str]; 4] = [&[], &["verify"], &["compare"], &["batch", "-o", "nowhere"]];
    for command in commands {
        let mut args = command.to_vec();
        args.extend([color.as_str(), "--skip", "magic"]);
        if command != ["compare"] {
            args.extend(["--target", "r700"]);
        }
        says(&args, 2, &["there is no pass 'magic'"]);
    }
}

#[test]
fn a_chip_of_all_targets_is_wrong_usage() {
    let color = sample("color.wgsl");
    says(&["verify", &color, "--target", "all", "--chip", "rv730"], 2, &["--chip rv730"]);
}

#[test]
fn a_draw_says_which_entry_point_is_missing_and_what_there_is() {
    let draw = |file: &str, more: &[&str], words: &[&str]| {
        let file = sample(file);
        let mut args = vec!["render", &file, "--target", "interp", "--size", "4x4"];
        args.extend(["--draw", "3", "-o", "never.png"]);
        args.extend(more);
        says(&args, 2, words);
    };
    draw("color.wgsl", &[], &["no vertex entry point", "main (fragment)"]);
    draw(
        "phong.wgsl",
        &["--vs", "fs"],
        &["no vertex entry point 'fs'", "vs (vertex), fs (fragment)"],
    );
}

#[test]
fn what_nobody_could_wait_for_is_refused_at_once() {
    let (saxpy, triangle) = (sample("saxpy.wgsl"), sample("triangle.wgsl"));
    for target in ["interp", "r700", "valhall"] {
        let mut args = vec!["run", &saxpy, "--target", target, "--groups", "65535,65535"];
        args.extend(["--set", "0.1=f32:1", "--set", "0.2=f32:1", "--dump", "0.2"]);
        says(&args, 2, &["too many to be emulated"]);
        let mut args = vec!["render", &triangle, "--target", target, "--size", "8x8"];
        args.extend(["--draw", "16777216,1048576", "-o", "never.png"]);
        says(&args, 2, &["too many to be emulated"]);
    }
}

#[test]
fn no_output_replaces_a_source() {
    let folder = Folder::new("source");
    let before = fs::read_to_string(sample("color.wgsl")).expect("readable");
    let source = folder.write("color.wgsl", &before);
    let again = folder.path("../") + "/" + &folder.name() + "/color.wgsl";
    let emit = format!("json={again}");
    for args in [["-o", &source], ["-o", &again], ["--emit", &emit], ["--depfile", &source]] {
        let all = [&source, "--target", "r700", args[0], args[1]];
        says(&all, 2, &["would replace what was read"]);
    }
    assert_eq!(fs::read_to_string(&source).expect("still there"), before);
    let (one, two) = (folder.path("x"), folder.path("./x"));
    let emits = [format!("asm={one}"), format!("hex={two}")];
    says(
        &[&source, "--target", "r700", "--emit", &emits[0], "--emit", &emits[1]],
        2,
        &["two outputs have the same path"],
    );
    assert!(!fs::exists(&one).expect("a folder"));
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_its_file_is_written() {
    let folder = Folder::new("link");
    let color = sample("color.wgsl");
    let (file, link) = (folder.write("file.s", "old"), folder.path("link.s"));
    std::os::unix::fs::symlink("file.s", &link).expect("a link can be made");
    ends(&[&color, "--target", "r700", "-o", &link], 0);
    assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
    assert!(fs::read_to_string(&file).expect("text").contains("EXPORT_DONE"));
    assert_eq!(folder.files(), ["file.s", "link.s"]);
}

/// The shell's redirection belongs to the shell: a file that took the place of `/dev/stdout` would be
/// everybody's loss.
#[cfg(target_os = "linux")]
#[test]
fn dev_stdout_is_stdout_and_a_full_device_is_an_error() {
    let folder = Folder::new("device");
    let color = sample("color.wgsl");
    let path = folder.path("out.s");
    let status = Command::new(env!("CARGO_BIN_EXE_gpucc"))
        .args([&color, "--target", "r700", "-o", "/dev/stdout"])
        .stdout(fs::File::create(&path).expect("writable"))
        .stderr(Stdio::null())
        .status()
        .expect("gpucc starts");
    assert!(status.success());
    assert!(fs::read_to_string(&path).expect("text").contains("EXPORT_DONE"));
    assert!(fs::symlink_metadata("/dev/stdout").expect("there").is_symlink());
    for place in [&["-o", "/dev/full"][..], &["--emit", "json=/dev/full"]] {
        let mut args = vec![color.as_str(), "--target", "r700"];
        args.extend(place);
        says(&args, 2, &["cannot write /dev/full", "no space"]);
    }
    ends(&[&color, "--target", "r700", "--emit", "asm=/dev/null", "--emit", "hex=/dev/null"], 0);
}

#[test]
fn a_workgroup_of_more_invocations_than_targets_publishes_is_a_limit() {
    let folder = Folder::new("workgroup");
    let shader = |size: &str| format!("@compute @workgroup_size({size}) fn main() {{}}");
    for (name, size, code) in [
        ("full", "32, 32", 0),
        ("deep", "1, 1, 1024", 0),
        ("wide", "64, 64", 4),
        ("deeper", "1, 1, 4095", 4),
    ] {
        let file = folder.write(&format!("{name}.wgsl"), shader(size));
        for target in ["r700", "r600", "valhall"] {
            let output = ends(&[&file, "--target", target], code);
            let told = text(&output).contains("4096 needed, 1024 available")
                || text(&output).contains("4095 needed, 1024 available");
            assert_eq!(told, code == 4, "{}", text(&output));
        }
    }
}

#[test]
fn arrays_of_bindings_beyond_every_table_are_a_limit() {
    let folder = Folder::new("elements");
    for (count, targets) in
        [(100_000_000, &["interp", "r700", "r600", "valhall"][..]), (200, &["r700", "r600"])]
    {
        let shader = format!(
            "enable wgpu_binding_array;\n\
             @group(0) @binding(0) var t: binding_array<texture_2d<f32>, {count}>;\n\
             @group(0) @binding(1) var s: sampler;\n\
             @group(0) @binding(2) var<uniform> i: u32;\n\
             @fragment fn main(@location(0) uv: vec2f) -> @location(0) vec4f {{\n\
             return textureSample(t[i], s, uv);\n}}"
        );
        let path = folder.write("many.wgsl", shader);
        for target in targets {
            says(&[&path, "--target", target], 4, &[&count.to_string()]);
            says(&["verify", &path, "--target", target], 4, &[]);
        }
    }
}

/// An instruction of R700 counts a private array in 12 bits: more is a limit, not another size.
#[test]
fn private_arrays_beyond_the_scratch_of_r700_are_a_limit() {
    let folder = Folder::new("scratch");
    let write = |count: u32| {
        let shader = format!(
            "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n\
             @compute @workgroup_size(1) fn main() {{\n\
             var x: array<u32, {count}>; x[o[0]] = 1u; o[1] = x[o[2]]; }}"
        );
        folder.write(&format!("{count}.wgsl"), shader)
    };
    for count in [4096, 65_600, 250_000] {
        says(&[&write(count), "--target", "r700"], 4, &[&count.to_string(), "4095"]);
    }
    ends(&["verify", &write(4095), "--target", "r700", "--inputs", "2"], 0);
}

#[test]
fn attributes_beyond_the_table_of_valhall_are_a_limit() {
    let folder = Folder::new("attribute");
    let path = folder.write(
        "far.wgsl",
        "@vertex fn main(@location(2147483000) a: vec4f) -> @builtin(position) vec4f { return a; }",
    );
    says(&["verify", &path, "--target", "valhall"], 4, &["2147483001", "65536"]);
    says(&["verify", &path, "--target", "r700"], 4, &["2147483001", "65536"]);
}

/// Without bounds an index beyond its array is nobody's to answer for: neither a mismatch nor a bug.
#[test]
fn trusted_shaders_that_break_their_word_are_not_compared() {
    let folder = Folder::new("trusted");
    let path = folder.write(
        "beyond.wgsl",
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n\
         var<workgroup> w: array<u32, 64>;\n\
         @compute @workgroup_size(1) fn main(@builtin(workgroup_id) i: vec3u) {\n\
         w[o[i.x] | 4096u] = i.x; workgroupBarrier(); o[(i.x + 1u) << 20u] = w[3];\n}",
    );
    for target in ["r700", "valhall"] {
        ends(&["verify", &path, "--target", target], 0);
        let output = gpucc(&["verify", &path, "--target", target, "--robust=off"]);
        let said = text(&output);
        assert!(matches!(output.status.code(), Some(0 | 5)), "{target}: {said}");
        assert!(!said.contains("internal error"), "{target}: {said}");
        if output.status.code() == Some(5) {
            assert!(
                said.contains("--robust off has no rule") || said.contains("nothing is written"),
                "{target}: {said}"
            );
        }
    }
}

#[test]
fn vertex_state_that_no_machine_has_is_wrong_usage_or_a_limit() {
    let folder = Folder::new("state");
    let path = folder.write(
        "one.wgsl",
        "@vertex fn main(@location(0) a: vec4f) -> @builtin(position) vec4f { return a; }",
    );
    let state = |buffer: u32, stride: u32, count: usize| {
        let buffers = vec![format!(r#"{{"stride":{stride},"step":"vertex"}}"#); count].join(",");
        let attribute =
            format!(r#"{{"location":0,"format":"float32x4","buffer":{buffer},"offset":0}}"#);
        let text = format!(r#"{{"vertex":{{"attributes":[{attribute}],"buffers":[{buffers}]}}}}"#);
        folder.write(&format!("{buffer}-{stride}.json"), text)
    };
    let verify = |pipeline: &str, target: &str, code: i32, words: &[&str]| {
        let args = ["verify", &path, "--target", target, "--pipeline", pipeline];
        says(&args, code, words);
    };
    for target in ["r700", "valhall", "interp"] {
        verify(&state(0, 4_294_967_292, 1), target, 2, &["stride of 4294967292"]);
        verify(&state(4_000_000_000, 16, 1), target, 2, &["no vertex buffer 4000000000"]);
    }
    // Elements may overlap, and all vertices may read one.
    for target in ["r600", "r700", "valhall", "gen4", "g45", "rogue", "interp"] {
        verify(&state(0, 0, 1), target, 0, &[]);
        verify(&state(0, 4, 1), target, 0, &[]);
    }
    verify(&state(0, 2048, 1), "r700", 4, &["2048", "2047"]);
    verify(&state(0, 2048, 1), "valhall", 0, &[]);
    for target in ["r600", "r700"] {
        verify(&state(16, 16, 17), target, 4, &["17", "16"]);
        verify(&state(15, 16, 16), target, 0, &[]);
    }
    let far = folder.write(
        "far.wgsl",
        "@vertex fn main(@location(200) a: vec4f) -> @builtin(position) vec4f { return a; }",
    );
    let separate = folder.write("separate.json", r#"{"vertex":{"fetch":"separate"}}"#);
    let args = ["verify", &far, "--target", "r700", "--pipeline", &separate];
    says(&args, 4, &["201", "118"]);
}

#[test]
fn two_bindings_in_one_slot_are_wrong_usage() {
    let folder = Folder::new("slots");
    let path = folder.write(
        "two.wgsl",
        "@group(0) @binding(0) var<uniform> a: vec4f;
         @group(0) @binding(1) var<uniform> b: vec4f;
         @group(0) @binding(2) var<storage> c: array<vec4f>;
         @group(1) @binding(0) var t: texture_2d<f32>;
         @group(1) @binding(1) var s: sampler;
         @fragment fn main(@location(0) uv: vec2f) -> @location(0) vec4f {
             return a - 2.0 * b + c[u32(uv.x)] + textureSample(t, s, uv);
         }",
    );
    let slots = |name: &str, list: &[(u32, u32, u32)]| {
        let list: Vec<String> = list
            .iter()
            .map(|(group, binding, slot)| {
                format!(r#"{{"group":{group},"binding":{binding},"slot":{slot}}}"#)
            })
            .collect();
        folder.write(name, format!(r#"{{"bindings":[{}]}}"#, list.join(",")))
    };
    let taken = slots("taken.json", &[(0, 1, 0)]);
    let same = slots("same.json", &[(0, 0, 3), (0, 1, 3)]);
    let far = slots("far.json", &[(0, 0, u32::MAX)]);
    let right = slots("right.json", &[(0, 0, 1), (0, 2, 1), (1, 0, 7), (1, 1, 7)]);
    for target in ["r700", "r600", "valhall"] {
        let verify = |pipeline: &str, code: i32, words: &[&str]| {
            let args = ["verify", &path, "--target", target, "--pipeline", pipeline];
            says(&args, code, words);
        };
        for (pipeline, entry) in [(&taken, "entry 0 of the"), (&same, "entry 3 of the")] {
            verify(pipeline, 2, &["bindings 0.0 and 0.1 would both have", entry]);
        }
        verify(&far, 4, &[]);
        verify(&right, 0, &[]);
    }
}

#[test]
fn locations_beyond_the_fields_of_registers_are_a_limit() {
    let folder = Folder::new("locations");
    let far = |location: u32| {
        folder.write(
            &format!("{location}.wgsl"),
            format!(
                "struct V {{ @builtin(position) p: vec4f, @location(0) a: vec4f, @location({location}) b: vec4f }}
                 @vertex fn vs(@builtin(vertex_index) i: u32) -> V {{
                     return V(vec4f(f32(i)), vec4f(1.0), vec4f(2.0));
                 }}
                 @fragment fn fs(v: V) -> @location(0) vec4f {{ return v.a - v.b; }}"
            ),
        )
    };
    for target in ["r700", "r600"] {
        for stage in ["vertex", "fragment"] {
            let check = |location: u32, code: i32, words: &[&str]| {
                let file = far(location);
                says(&["verify", &file, "--target", target, "--stage", stage], code, words);
            };
            // Semantics are the location and one; 255 is the place in a point.
            check(253, 0, &[]);
            check(254, 4, &["255 needed, 254 available"]);
            check(255, 4, &["256 needed, 254 available"]);
            check(256, 4, &["257 needed, 254 available"]);
            check(i32::MAX as u32, 4, &["needs 2147483648, the limit is 65536"]);
        }
    }
    for stage in ["vertex", "fragment"] {
        let file = far(256);
        says(
            &["verify", &file, "--target", "valhall", "--stage", stage],
            4,
            &["257 needed, 32 available"],
        );
    }
}
