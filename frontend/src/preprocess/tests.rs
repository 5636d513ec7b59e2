//! What the preprocessor gives for small texts.

use super::*;

fn text(source: &str) -> String {
    let done = preprocess(source, &Limits::default()).expect("it is right");
    done.text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn wrong(source: &str) -> Stop {
    preprocess(source, &Limits::default()).expect_err("it is wrong")
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
fn arguments_may_stand_on_the_lines_that_follow() {
    let source = "#define sum(a,b) a+b\nsum\n (1,\n  (2,3))\nlast";
    let done = preprocess(source, &Limits::default()).expect("it is right");
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
    let done = preprocess(source, &Limits::default()).expect("it is right");
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
        let _ = preprocess(&source, &Limits::default());
        let _ = preprocess(&source[21..], &Limits::default());
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

#[test]
fn strings_are_what_an_extension_has_and_hold_any_character() {
    let strings = "#define a 1\nf(\"a @ // \u{fc}\", a)";
    let printf = "#extension GL_EXT_debug_printf : enable";
    assert_eq!(text(&format!("{printf}\n{strings}")), format!("{printf} f(\"a @ // \u{fc}\", 1)"));
    assert_eq!(wrong(strings).exit_code(), 1);
    assert_eq!(wrong(&format!("{printf}\nf(\"a)")).exit_code(), 1);
}
