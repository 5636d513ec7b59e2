//! What the preprocessor gives for small texts.

use super::*;

fn text(source: &str) -> String {
    let done = preprocess(source, &Options::default()).expect("it is right");
    done.text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn wrong(source: &str) -> Stop {
    preprocess(source, &Options::default()).expect_err("it is wrong")
}

#[test]
fn doubling_chains_are_refused() {
    let link = |n: usize| format!("#define A{} A{n} A{n}\n", n + 1);
    let up: String = (0..60).map(link).collect();
    assert!(wrong(&format!("{up}A60")).is_limit());
    assert_eq!(text(&format!("{up}A3")).split(' ').count(), 8);
}

#[test]
fn arguments_that_double_are_refused() {
    let nested = |n: usize| format!("{}1{}", "D(".repeat(n), ")".repeat(n));
    let define = "#define D(x) ((x) \\\n + (x))\n";
    assert_eq!(text(&format!("{define}{}", nested(2))).matches('1').count(), 4);
    assert!(wrong(&format!("{define}{}", nested(60))).is_limit());
}

#[test]
fn long_chains_and_long_lists_of_parameters_take_time_in_proportion() {
    let chain: String = (0..4000).map(|n| format!("#define a{n} a{}\n", n + 1)).collect();
    assert!(wrong(&format!("{chain}{}", "a0 ".repeat(1000))).is_limit());
    let names: Vec<String> = (0..8000).map(|n| format!("p{n}")).collect();
    let (list, sum) = (names.join(","), names.join("+"));
    let used = format!("#define f({list}) {sum}\nf({list})\nf({list})\n");
    assert_eq!(text(&used).matches('+').count(), 2 * 7999);
}

#[test]
fn macros_that_name_themselves_end() {
    assert_eq!(text("#define A A A\n#define B C\n#define C B\nA B C"), "A A B C");
}

#[test]
fn a_macro_may_be_used_again_behind_its_own_expansion() {
    assert_eq!(text("#define f(x) x\n#define g f\ng(1) f(f(2)) f"), "1 2 f");
}

#[test]
fn arguments_are_expanded_before_they_are_put_in_but_not_where_they_are_joined() {
    let source =
        "#define N 3\n#define cat(a,b) a##b\n#define id(a) a\nid(N) cat(N,4) cat(,x) cat(id,)(N)";
    assert_eq!(text(source), "3 N4 x 3");
}

#[test]
fn a_joined_name_expands_although_a_part_of_it_may_not() {
    let source = "#define STEP_ONE() done\n#define GLUE(x,y) x ## _ ## y\n#define EVALUATE(x,y) GLUE(x,y)\n\
                  #define STEP(name) EVALUATE(STEP, name)()\n#define all STEP(ONE)\nall";
    assert_eq!(text(source), "done");
}

#[test]
fn an_extension_that_is_switched_on_is_defined() {
    let source = |how| {
        format!(
            "#version 110\n#extension GL_ARB_draw_buffers : {how}\n#if GL_ARB_draw_buffers == 1\nyes\n#endif"
        )
    };
    assert!(text(&source("enable")).ends_with("yes"));
    assert!(!text(&source("disable")).ends_with("yes"));
}

#[test]
fn arguments_may_stand_on_the_lines_that_follow() {
    let source = "#define sum(a,b) a+b\nsum\n (1,\n  (2,3))\nlast";
    let done = preprocess(source, &Options::default()).expect("it is right");
    assert_eq!(done.text.split_whitespace().collect::<String>(), "1+(2,3)last");
    assert_eq!(done.text.lines().count(), source.lines().count(), "{}", done.text);
}

#[test]
fn the_version_and_its_profile_are_known() {
    let source = "#version 310 es\n#ifdef GL_ES\nes\n#endif\n#if __VERSION__ == 310\nright\n#endif";
    assert_eq!(text(source), "#version 310 es es right");
    assert_eq!(text("#ifdef GL_ES\nes\n#else\n__VERSION__\n#endif"), "110");
    assert_eq!(text("#version 330\n#ifdef GL_core_profile\ncore\n#endif"), "#version 330 core");
}

#[test]
fn conditions_follow_the_precedence_of_their_operators() {
    for (condition, truth) in [
        ("1 + 2 * 3 == 7", true),
        ("1 << 2 | 1", true),
        ("!defined(X) && defined X || 0", false),
        ("defined(GL_ARB_texture_rectangle)", true),
        ("0x10 - 020", false),
        ("-1 < 0 && ~0 == -1", true),
        ("UNKNOWN", false),
    ] {
        let source = format!("#if {condition}\nyes\n#else\nno\n#endif");
        assert_eq!(text(&source), if truth { "yes" } else { "no" }, "{condition}");
    }
}

#[test]
fn branches_that_do_not_count_are_not_read() {
    let source =
        "#if 0\n#error a\n#if 1/0\n#endif\n' \"\n#elif 1\nyes\n#elif 1/0\nno\n#else\nno\n#endif";
    assert_eq!(text(source), "yes");
}

#[test]
fn what_breaks_the_rules_is_said_where_it_stands() {
    for (source, place) in [
        ("a\n#if 1\nb", 2),
        ("#endif", 1),
        ("#error no\n", 0),
        ("#define A 1\n#define A 2", 20),
        ("#define f(x) x\nf(1,2)", 15),
        ("#define f(x) x\nf(1", 15),
        ("#if 1/0\n#endif", 1),
        ("#nothing", 1),
        ("#define A ## b\nA", 1),
        ("#define f(a,a) a\n", 12),
        ("in\u{fffd} vec4 v[100000000];", 2),
        ("a \u{1} b", 2),
        ("a = 'b';", 4),
        ("#define A @\n A", 13),
        ("a # b", 2),
        ("int x; # in vec4 v[100000000];", 7),
    ] {
        let stop = wrong(source);
        assert_eq!(stop.exit_code(), 1, "{source}");
        assert_eq!(stop.span.start, place, "{source}");
    }
}

#[test]
fn what_a_macro_made_stands_for_the_place_where_it_is_used() {
    let source = "#define two(x) x + x\nint a = two(b);";
    let done = preprocess(source, &Options::default()).expect("it is right");
    let second = done.text.rfind('b').expect("the argument is there") as u32;
    let span = done.places.original(Span { start: second, end: second + 1 });
    assert_eq!(&source[span.start as usize..][..3], "two");
}

#[test]
fn comments_and_joined_lines_are_white_space() {
    assert_eq!(text("a/* b\n c */d // e \\\n f\ng"), "a d g");
    assert_eq!(text("#define A 1 /* \n */ + \\\n 2\nA"), "1 + 2");
}

#[test]
fn texts_without_ends_take_no_time() {
    for piece in ["#if 1\n", "f(", "#define f(x) f(x)\nf(", "/*", "# ", "\\\n", "((((", "1 ## "] {
        let start = std::time::Instant::now();
        let source = format!("#define f(x) x x\n#if {}", piece.repeat(20_000));
        let _ = preprocess(&source, &Options::default());
        let _ = preprocess(&source[21..], &Options::default());
        assert!(start.elapsed().as_secs() < 10, "{piece}");
    }
}

#[test]
fn a_version_without_a_number_is_left_to_the_reader() {
    assert_eq!(text("#version 450\n#version\na"), "#version 450 #version a");
}

#[test]
fn any_character_may_stand_where_no_program_is() {
    assert_eq!(text("a // \u{fc} @\n/* $ */ b\n#if 0\n'\u{fffd}`\n#endif\n#define A @\n"), "a b");
}

/// Options with these texts to include.
fn with(texts: &[(&str, &str)]) -> Options {
    let texts = texts.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    Options { includes: Some(Includes::of(texts.collect())), ..Options::default() }
}

fn included(source: &str, texts: &[(&str, &str)]) -> Result<String, Stop> {
    let done = preprocess(source, &with(texts))?;
    Ok(done.text.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn included_texts_stand_in_their_place_with_the_macros_of_both() {
    let texts = [
        (
            "a/b.glsl",
            "#ifndef B\n#define B\nint b = N;\n#include <c>\n#include \"a/b.glsl\"\n#endif",
        ),
        ("c", "#define M 5"),
    ];
    let source =
        "x\n#define N 3\n#include \"a/b.glsl\" // once\ny M\n#if 0\n#include \"none\"\n#endif\n";
    assert_eq!(included(source, &texts).expect("it is right"), "x int b = 3; y 5");
}

#[test]
fn places_in_included_texts_name_text_line_and_column_and_mark_the_directive() {
    let texts = [("a", "one\n\n#include <b>\n"), ("b", "two\n  three four")];
    let source = "main\n#include \"a\"\nlast";
    let done = preprocess(source, &with(&texts)).expect("it is right");
    let at = |word: &str| {
        let start = done.text.find(word).expect("it is there") as u32;
        Span { start, end: start + 1 }
    };
    assert_eq!(done.places.told(at("main")), None);
    assert_eq!(done.places.told(at("last")), None);
    assert_eq!(done.places.told(at("one")).as_deref(), Some("at a:1:1: one"));
    let four = "at b:2:9: three four, included at a:3:1";
    assert_eq!(done.places.told(at("four")).as_deref(), Some(four));
    for word in ["one", "four"] {
        let span = done.places.original(at(word));
        assert!(source[span.start as usize..].starts_with("#include"), "{word}");
    }
    let last = done.places.original(at("last"));
    assert_eq!(&source[last.start as usize..], "last");
}

#[test]
fn errors_of_included_texts_stand_at_their_directive() {
    let wrong =
        |text: &str| included("x\n#include <a>\n", &[("a", text)]).expect_err("it is wrong");
    for text in ["#if 1\n", "#endif", "#else", "#error no", "#include <none>", "#include a", "\n @"]
    {
        let stop = wrong(text);
        assert_eq!((stop.exit_code(), stop.span.start), (1, 2), "{text}");
    }
    let none = included("#include <a>", &[]).expect_err("there is none");
    assert_eq!((none.exit_code(), none.span.start), (1, 1));
    let nobody = preprocess("#include <a>", &Options::default()).expect_err("nobody gives it");
    assert_eq!(nobody.exit_code(), 1);
}

#[test]
fn includes_without_end_are_refused_in_little_time() {
    let cycle = included("#include <a>", &[("a", "#include <b>"), ("b", "#include <a>")]);
    assert_eq!(cycle.expect_err("it has no end").exit_code(), 1);
    let chain: Vec<(String, String)> =
        (0..40).map(|n| (format!("f{n}"), format!("#include <f{}>\n", n + 1))).collect();
    let chain: Vec<(&str, &str)> = chain.iter().map(|(a, b)| (&**a, &**b)).collect();
    assert!(included("#include <f0>", &chain).expect_err("too deep").is_limit());
    let twice: Vec<(String, String)> =
        (0..30).map(|n| (format!("f{n}"), format!("#include <f{}>\n", n + 1).repeat(2))).collect();
    let mut twice: Vec<(&str, &str)> = twice.iter().map(|(a, b)| (&**a, &**b)).collect();
    twice.push(("f30", "x"));
    assert!(included("#include <f0>", &twice).expect_err("too long").is_limit());
}

#[test]
fn macros_of_the_options_are_there_from_the_start() {
    let defines = [("N", "3"), ("EMPTY", ""), ("sum(a,b)", "a + b")];
    let defines = defines.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let options = Options { defines, ..Options::default() };
    let source = "#version 310 es\n#if N == 3 && defined(EMPTY)\nsum(N, EMPTY 4)\n#endif";
    let done = preprocess(source, &options).expect("it is right");
    assert!(done.text.trim_end().ends_with("3 + 4"), "{}", done.text);
    for name in ["3", "", "f(", "defined"] {
        let defines = vec![(name.to_owned(), String::new())];
        let options = Options { defines, ..Options::default() };
        assert_eq!(preprocess("x", &options).expect_err(name).exit_code(), 1);
    }
}

#[test]
fn lines_are_numbered_as_the_version_says() {
    assert_eq!(text("#version 450\n#line 7\n__LINE__\n__LINE__ __FILE__"), "#version 450 7 8 0");
    assert_eq!(text("#version 120\n#line 7 2\n__LINE__ __FILE__"), "#version 120 8 2");
    assert_eq!(text("#version 100\n#line 7\n__LINE__"), "#version 100 7");
    assert_eq!(text("#define N 40\n#version 330\n#line N + 0\n"), "#version 330");
    assert_eq!(text("#version 330\n#line 5 \"a.glsl\"\n__LINE__"), "#version 330 5");
    let texts = [("a", "#line 50\n__LINE__")];
    let shown = included("#version 330\n#include <a>\n__LINE__", &texts).expect("it is right");
    assert_eq!(shown, "#version 330 50 3");
    assert_eq!(wrong("#line\n").exit_code(), 1);
    assert_eq!(wrong("x\n#line y\n").span.start, 8);
}

#[test]
fn extensions_are_judged() {
    for (line, place) in [
        ("#extension GL_NONE_such : require", 11),
        ("#extension all : enable", 11),
        ("#extension all : require", 11),
        ("#extension GL_ARB_gpu_shader5 : maybe", 32),
        ("#extension GL_ARB_gpu_shader5", 1),
    ] {
        let stop = wrong(line);
        assert_eq!((stop.exit_code(), stop.span.start), (1, place), "{line}");
    }
    let notes = |line: &str| preprocess(line, &Options::default()).expect("it is right").notes;
    for line in ["#extension GL_NONE_such : enable", "#extension GL_NONE_such : warn"] {
        let notes = notes(line);
        assert_eq!(notes.len(), 1, "{line}");
        assert_eq!(notes[0].severity, Severity::Warning);
        assert_eq!(notes[0].labels[0].span.start, 11);
    }
    for line in [
        "#extension GL_NONE_such : disable",
        "#extension all : warn",
        "#extension GL_ARB_gpu_shader5 : require",
        "#extension GL_KHR_vulkan_glsl : enable",
    ] {
        assert!(notes(line).is_empty(), "{line}");
    }
}

#[test]
fn a_name_that_is_no_macro_is_an_error_in_conditions_of_es_where_it_counts() {
    for version in ["100", "300 es", "310 es"] {
        let stop = wrong(&format!("#version {version}\n#if NOTHING\n#endif"));
        assert_eq!(stop.exit_code(), 1);
        assert_eq!(stop.span.start as usize, "#version \n#if ".len() + version.len());
        let rest = "#if defined(NOTHING) && NOTHING > 1\nno\n#endif\n#ifdef NOTHING\n#endif\nyes";
        assert!(text(&format!("#version {version}\n{rest}")).ends_with(" yes"));
    }
    assert_eq!(text("#version 450\n#if NOTHING\nno\n#endif\nyes"), "#version 450 yes");
}

#[test]
fn strings_are_what_an_extension_has_and_hold_any_character() {
    let strings = "#define a 1\nf(\"a @ // \u{fc}\", a)";
    let printf = "#extension GL_EXT_debug_printf : enable";
    assert_eq!(text(&format!("{printf}\n{strings}")), format!("{printf} f(\"a @ // \u{fc}\", 1)"));
    assert_eq!(wrong(strings).exit_code(), 1);
    assert_eq!(wrong(&format!("{printf}\nf(\"a)")).exit_code(), 1);
}
