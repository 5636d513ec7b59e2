use crate::mach::plain::Plain;
use crate::mach::{File, Files, Func, Loops, Scope, dot, parse, print, verify};

const FILES: Files = Files(&[
    File { name: "R", cells: 512, row: 4, per_lane: true, scope: Scope::Function },
    File { name: "A", cells: 4, row: 4, per_lane: false, scope: Scope::Clause },
]);

fn read(text: &str) -> Func<Plain> {
    parse(text, FILES).unwrap()
}

const DIAMOND: &str = "mach \"diamond\"
v0: R
v1: R count 8 stride 4
v2: R phases 0b1 prefer 1
v3: A
b0: logical b1 b2, physical b1
    v0!R0.x, v2 = inputs
    v1 = clear
    ^v3 = mova v0
    branch v0
b1: logical b3, physical b2
    v2&0:0b1 = add v2 v0 7
    v2:0b11 = add v1[3..4]:0b1 v1[0..8]
    ^v1[1..3], v1[3..8] = copy v1[5..7] v1[0..5]
b2: -> b3
    copy_row v0~1 v2~1 v1#0+0
b3:
    end v2
";

#[test]
fn text_of_every_form_reads_back_as_printed() {
    let func = read(DIAMOND);
    assert_eq!(print(&func), DIAMOND);
    verify(&func).unwrap();
    assert!(dot(&func).contains("b1 -> b3 [style=dashed]"));
    assert!(dot(&func).contains("b1 -> b2 [style=dotted]"));
}

#[test]
fn broken_functions_are_refused_by_name() {
    let cases = [
        ("v0: R\nb0:\n    end v0", "never defined"),
        ("v0: R\nb0:\n    v0 = a\n    end\n    v0 = b", "ends the block"),
        ("v0: R phases 0b10000\nb0:\n    v0 = a", "no phase"),
        ("v0: A count 5\nb0:\n    v0 = a", "needs 5 cells"),
        ("v0: R\nv1: A\nb0:\n    v0~0, v1~0 = a", "different files"),
        ("v0: R\nv1: R\nb0:\n    v0, v1 = a\n    v0, v1 = copy v1", "as many definitions"),
        ("v0: R\nv1: R\nb0:\n    v0 = a\n    v1&1 = b v0", "names a use"),
        ("v0: R\nv1: R count 2\nb0:\n    v0 = a\n    v1 = copy v0", "one file and count"),
        ("v0: R\nb0:\n    v0!A0.x = a", "fixed cell"),
        ("v0: R\nb0:\n    v0 = load", ""),
        ("v0: R\nb0: -> b1 b2\nb1: -> b2\n    v0 = a\nb2:\n    end v0", "nothing was written"),
        ("v0: R count 2\nb0:\n    v0[1..3] = a", "outside its register"),
        ("v0: R count 2\nb0:\n    R0.x[1..2] = a", "outside its register"),
        ("v0: R count 2\nb0:\n    v0[0..1] = a\n    end v0", "nothing was written"),
        ("v0: R count 2\nb0:\n    v0[0..1] = a\n    end v0[0..1]", ""),
        (
            "v0: R count 2\nb0: -> b1 b2\n    v0[1..2] = a\nb1: -> b2\n    v0[0..1] = a\nb2:\n    end v0",
            "nothing was written",
        ),
        (
            "v0: R count 2\nb0: -> b1 b2\n    v0[1..2] = a\nb1: -> b3\n    v0[0..1] = a\nb2: -> b3\n    v0[0..1] = a\nb3:\n    end v0",
            "",
        ),
        ("v0: R count 3\nv1: R\nb0:\n    v0 = a\n    v1 = copy v0[1..3]", "one file and count"),
        (
            "v0: R count 3 stride 4\nv1: R count 2\nb0:\n    v0 = a\n    v1 = copy v0[1..3]",
            "one file and count",
        ),
        (
            "v0: R count 3 stride 4\nv1: R count 2\nb0:\n    v0 = a\n    v1[1..2] = copy v0[2..3]",
            "",
        ),
        ("v0: R count 3\nv1: R\nb0:\n    v0 = a\n    v1&0 = b v0[1..3]", "as many cells"),
        ("v0: R\nb0: -> b1 b2\n    v0 = a\nb1: -> b2\n    v0 = a\nb2:\n    end v0", ""),
    ];
    for (body, expected) in cases {
        let result = verify(&read(&format!("mach \"m\"\n{body}\n")));
        if expected.is_empty() {
            result.unwrap();
        } else {
            let message = result.unwrap_err().to_string();
            assert!(message.contains(expected), "{body}: {message}");
        }
    }
}

#[test]
fn text_errors_name_their_line() {
    let cases = [
        ("mach \"m\"\nv0: R count 2\nb0:\n  v0[1..1] = a", 4),
        ("mach \"m\"\nv0: R count 2\nb0:\n  v0[ = a", 4),
        ("mach \"m\"\nv0: R count 2\nb0:\n  v0[0..257] = a", 4),
        ("b0:", 1),
        ("mach \"m\"\nv1: R", 2),
        ("mach \"m\"\nv0: Q", 2),
        ("mach \"m\"\nb0: -> b7", 2),
        ("mach \"m\"\nb0:\nb0:", 3),
        ("mach \"m\"\nb0:\n  v0 = a", 3),
        ("mach \"m\"\nb4000000000:", 2),
        ("mach \"m\"\nb9999999:", 2),
        ("mach \"m\"\nb0: sideways b0", 2),
    ];
    for (text, line) in cases {
        assert_eq!(parse::<Plain>(text, FILES).unwrap_err().line, line, "{text}");
    }
}

#[test]
fn loops_are_ranges_and_depths_nest() {
    let func =
        read("mach \"m\"\nb0: -> b1\nb1: -> b2 b5\nb2: -> b3\nb3: -> b3 b4\nb4: -> b1\nb5:\n");
    let loops = Loops::of(&func);
    let ranges: Vec<_> = loops.all.iter().map(|l| (l.first, l.last, l.depth)).collect();
    assert_eq!(ranges, [(1, 4, 1), (3, 3, 2)]);
    let depths: Vec<_> = func.layout.iter().map(|&block| loops.depth(block)).collect();
    assert_eq!(depths, [0, 1, 1, 2, 1, 0]);
    assert_eq!(
        func.predecessors(crate::mach::Edges::Logical).of(func.layout[1]),
        [func.layout[0], func.layout[4]]
    );
}
