//! What is read behind a group by instances that wait, of programs that are written down.

use super::alike::alike;
use super::live::around;
use crate::isa::assemble;
use crate::isa::program::decode_program;
use crate::isa::register::Register;
use std::fmt::Write;

/// p0 where r0 is 0.
const TEST: &str = "s0 = r0, s1 = sc1, s3 = sc0\n is0 = s1, is1 = ft0, is4 = ft0\n mbyp ft0, s0\n mbyp ft1, s3.neg\n \
                    tst.u32.z ftt, p0, is1, _\n movc w0, _, ftt, ft1, is4, _, _\n w0 = r1";
const IF: &str = "s0 = sc0\n cndst.if(p0) pe, w0, s0, 1\n w0 = i0";
const ELSE: &str = "s0 = i0\n cndef.if(1) pe, w0, s0, 1\n w0 = i0";
const END_IF: &str = "s0 = i0\n cndend pe, w0, s0, 1\n w0 = i0";
const DO: &str = "s0 = sc0\n cndst.if(1) pe, w0, s0, 1\n w0 = i0";
const BREAK: &str = "s0 = i0, s2 = sc1\n cndsm.if(p0) pe, w0, s0, s2\n w0 = i0";
const WHILE: &str = "s0 = i0\n cndlt.if(!p0) pe, w0, p0, s0, 1\n w0 = i0";
const STORE: &str = "s0 = r5\n mbyp ft0, s0\n w0 = po0";

fn set(number: u8) -> String {
    format!("s0 = sc{number}\n mbyp ft0, s0\n w0 = r5")
}

/// A program of groups, each with who runs it, and its end.
#[track_caller]
fn program(groups: &[(&str, &str)]) -> Vec<(usize, crate::isa::Group)> {
    let mut text = String::new();
    for (number, (who, lines)) in groups.iter().chain([&("end", "nop")]).enumerate() {
        writeln!(text, "{number} : {who}\n {lines}").expect("to a string");
    }
    let bytes = assemble(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    decode_program(&bytes).expect("what was assembled")
}

/// Whether another number in the first group that sets r5 means something.
#[track_caller]
fn means(groups: &[(&str, &str)]) -> bool {
    let groups = program(groups);
    let around = around(&groups, &[], Some(64), true);
    let sets = |group: &&(usize, crate::isa::Group)| group.1.writes[0] == Some(Register::Temp(5));
    let (at, old) = groups.iter().enumerate().find(|(_, group)| sets(group)).expect("it is set");
    let mut new = old.1.clone();
    new.sources[0] = Register::Special(7);
    !alike(&old.1, &new, &around[at])
}

const MASK: &str = "(ignorepe)";

#[test]
fn instances_that_an_if_makes_wait_keep_what_they_have() {
    let [one, two, three] = [1, 2, 3].map(set);
    let (one, two, three) = (("", &*one), ("", &*two), ("", &*three));
    let (test, open, end) = (("", TEST), (MASK, IF), (MASK, END_IF));
    assert!(means(&[one, test, open, two, end, ("", STORE)]));
    // All set it again behind the end.
    assert!(!means(&[one, test, open, two, end, three, ("", STORE)]));
    // Those who wait run the other arm.
    let other = (MASK, ELSE);
    assert!(!means(&[one, test, open, two, other, three, end, ("", STORE)]));
    // Those of the first arm wait for the end of the other.
    assert!(means(&[test, open, two, other, three, end, ("", STORE)]));
}

#[test]
fn instances_that_leave_a_loop_keep_what_they_have() {
    let [one, two, three] = [1, 2, 3].map(set);
    let (one, two, three) = (("", &*one), ("", &*two), ("", &*three));
    let back = ("if (p0)", "br @1");
    let body = [(MASK, DO), one, ("", TEST), (MASK, BREAK), two, (MASK, WHILE), back];
    assert!(means(&[&body[..], &[("", STORE)]].concat()));
    assert!(!means(&[&body[..], &[three, ("", STORE)]].concat()));
    // A level within, and the end of that one without.
    let within = [
        (MASK, DO),
        one,
        ("", TEST),
        (MASK, IF),
        (MASK, BREAK),
        two,
        (MASK, END_IF),
        two,
        (MASK, WHILE),
        back,
        ("", STORE),
    ];
    assert!(means(&within));
}

#[test]
fn instances_that_wait_run_what_ignores_the_mask() {
    let [one, two] = [1, 2].map(set);
    let (one, two) = (("", &*one), ("", &*two));
    let arm = [one, ("", TEST), (MASK, IF), two];
    let rest = [(MASK, END_IF), two];
    assert!(means(&[&arm[..], &[(MASK, STORE)], &rest[..]].concat()));
    assert!(!means(&[&arm[..], &[("", STORE)], &rest[..]].concat()));
}

#[test]
fn what_both_kinds_of_instances_set_again_is_read_by_none() {
    let [one, two, three] = [1, 2, 3].map(set);
    let (test, store) = (("", TEST), ("", STORE));
    let both = [("", &*one), test, ("if (p0)", &*two), ("if (!p0)", &*three), store];
    assert!(!means(&both));
    assert!(means(&[("", &*one), test, ("if (p0)", &*two), store]));
}

/// Whether the first group of a program with a register or p0 is like another one there.
fn like(
    before: &[(&str, &str)],
    old: (&str, &str),
    new: (&str, &str),
    behind: &[(&str, &str)],
) -> bool {
    let around_it = |middle: (&str, &str)| program(&[before, &[middle], behind].concat());
    let (old, new) = (around_it(old), around_it(new));
    let at = before.len();
    let around = around(&old, &[], Some(64), true);
    alike(&old[at].1, &new[at].1, &around[at])
}

fn masked(number: &str) -> String {
    format!(
        "s0 = sc0, s2 = r1, s3 = sc0\n bbyp0bm_imm32 ft0, ft1, s0, {number}\n \
         logical.or ft4, ft1, ft2, _, s3\n w0 = r4"
    )
}

#[test]
fn masks_that_take_away_nothing_are_alike() {
    let hidden = |mask: &str| {
        format!(
            "s0 = sc0, s2 = r4, s3 = sc143\n bbyp0bm_imm32 ft0, ft1, s0, 0xff7fffff\n \
             logical.or ft4, {mask}, ft2, ~ft1, s3\n w0 = r5"
        )
    };
    let (old, new) = (hidden("_"), hidden("ft1"));
    let same =
        |number: &str| like(&[("", &masked(number))], ("", &old), ("", &new), &[("", STORE)]);
    assert!(same("0x7fffff"));
    // The mask takes bit 23 away, which the last operation sets again; not so bit 22.
    let (old, new) = (hidden("_"), hidden("ft1").replace("0xff7fffff", "0xffbfffff"));
    assert!(!like(&[("", &masked("0x7fffff"))], ("", &old), ("", &new), &[("", STORE)]));
}

#[test]
fn bits_that_nobody_asks_for_are_no_difference() {
    let shift = |name: &str| {
        format!(
            "s0 = sc0, s1 = r1, s4 = sc23\n bbyp0bm ft0, ft1, s0, s1\n {name} ft5, ft4, s4, _\n w0 = r4"
        )
    };
    let (old, new) = (shift("shift.shr"), shift("shift.asr_twb"));
    let and = "s2 = r4, s3 = sc1\n bbyp0s1 ft2, ft3, s2\n logical.and ft4, _, ft2, _, s3\n w0 = r4";
    let move_it = "s0 = r4\n mbyp ft0, s0\n w0 = r5";
    let behind = |rest: &[(&str, &str)]| like(&[], ("", &old), ("", &new), rest);
    assert!(behind(&[("", and), ("", move_it), ("", STORE)]));
    assert!(!behind(&[("", move_it), ("", STORE)]));
    // Other instances may ask for more.
    assert!(!behind(&[
        ("", TEST),
        (MASK, IF),
        ("", and),
        (MASK, END_IF),
        ("", move_it),
        ("", STORE)
    ]));
    assert!(!behind(&[("if (p0)", and), ("", move_it), ("", STORE)]));
}

#[test]
fn numbers_of_which_only_zero_is_asked_are_alike() {
    let choose = |feed: &str| {
        format!(
            "s0 = r1, s1 = sc1, s3 = sc2\n is0 = s1, is1 = ft0, is2 = ft1, is4 = ft2\n mbyp ft0, s0\n \
             mbyp ft1, s3\n pck.zero ft2, _\n tst.u32.l ftt, _, is1, is2\n \
             movc w0, _, ftt, {feed}, is4, _, _\n w0 = r4"
        )
    };
    let ask = |test: &str| {
        format!(
            "s0 = r2, s1 = r4, s3 = r3\n is0 = s1, is1 = fte, is4 = ft1\n mbyp ft0, s0\n mbyp ft1, s3\n \
             tst.{test} ftt, _, is1, _\n movc w0, _, ftt, ft0, is4, _, _\n w0 = r5"
        )
    };
    let same = |feed: &str, test: &str| {
        let (old, new, ask) = (choose("fte"), choose(feed), ask(test));
        let clear = "s0 = sc0\n mbyp ft0, s0\n w0 = r4";
        like(&[], ("", &old), ("", &new), &[("", &ask), ("", clear), ("", STORE)])
    };
    assert!(same("ft1", "u32.gz"));
    assert!(!same("ft0", "u32.gz"));
    assert!(!same("ft1", "s32.gz"));
}

fn below(number: &str) -> String {
    format!(
        "s0 = vi0, s3 = {number}\n is1 = ft0, is2 = ft1\n mbyp ft0, s0\n mbyp ft1, s3\n \
         tst.u32.l ftt, p0, is1, is2"
    )
}

#[test]
fn what_p0_says_already_is_asked_by_all_or_by_those_alone() {
    let same = |first: &str, second: &str, who: &str| {
        let (first, second) = (below(first), below(second));
        let behind = [("if (p0)", STORE)];
        like(&[("", &first)], ("", &second), (who, &second), &behind)
    };
    assert!(same("sc8", "sc4", "if (p0)"));
    assert!(!same("sc4", "sc8", "if (p0)"));
    assert!(!same("sc8", "sc4", "if (!p0)"));
}

#[test]
fn small_numbers_are_the_same_in_a_byte() {
    let test =
        |kind: &str| format!("s0 = vi0\n is1 = ft0\n mbyp ft0, s0\n tst.{kind}.z ftt, p0, is1, _");
    let same = |kind: &str| like(&[], ("", &test("u32")), ("", &test(kind)), &[("if (p0)", STORE)]);
    assert!(same("u16"));
    assert!(!same("f32"));
}

#[test]
fn squares_are_zero_as_words_are() {
    let square =
        |sign: &str| format!("s0 = r1, s1 = r1\n is4 = ft0\n fmul ft0, s0{sign}, s1\n w0 = r4");
    let test =
        |kind: &str| format!("s0 = r4\n is1 = ft0\n mbyp ft0, s0\n tst.{kind}.z ftt, p0, is1, _");
    let same = |sign: &str| {
        let before = [("", &*square(sign))];
        like(&before, ("", &test("f32")), ("", &test("s32")), &[("if (p0)", STORE)])
    };
    assert!(same(""));
    assert!(!same(".neg"));
    assert!(!like(&[], ("", &test("f32")), ("", &test("s32")), &[("if (p0)", STORE)]));
}

#[test]
fn counters_that_become_zero_whatever_they_were() {
    let fresh = |name: &str| {
        format!(
            "s0 = sc0\n {name} pe, w0, {} s0, 1\n w0 = i0",
            if name.starts_with("cndlt") { "p0," } else { "" }
        )
    };
    let (start, turn) = (fresh("cndst.if(1)"), fresh("cndlt.if(1)"));
    assert!(like(&[], (MASK, &start), (MASK, &turn), &[("", STORE), (MASK, END_IF)]));
    assert!(!like(&[], (MASK, &start), (MASK, &turn), &[("if (p0)", STORE), (MASK, END_IF)]));
    let open = [("", TEST), (MASK, IF)];
    // An `else` of nothing.
    let none = ELSE.replace("s0, 1", "s0, 0");
    assert!(like(&open, (MASK, ELSE), (MASK, &none), &[(MASK, END_IF)]));
    assert!(!like(&open, (MASK, ELSE), (MASK, &none), &[("", STORE), (MASK, END_IF)]));
}

#[test]
fn whole_words_become_floats_toward_zero_either_way() {
    let unpack = |name: &str| format!("s0 = r1\n is4 = ft0\n {name} ft0, s0\n w0 = r5");
    let same =
        |old: &str, new: &str| like(&[], ("", &unpack(old)), ("", &unpack(new)), &[("", STORE)]);
    assert!(same("unpck.u32", "unpck.scale.u32"));
    assert!(!same("unpck.u8888", "unpck.scale.u8888"));
}

#[test]
fn behind_a_wait_both_halves_have_written() {
    let (test, load) = (("", TEST), "s0 = r2, s3 = r4\n ld s3, drc0, 1, s0");
    let clear = "s0 = sc0\n mbyp ft0, s0\n w0 = r4";
    let has = |groups: &[(&str, &str)]| {
        let groups = program(groups);
        let around = around(&groups, &[], Some(64), true);
        let last = around.last().expect("the end");
        (last.written.reads(Register::Temp(4)), last.sent[0])
    };
    let wait = ("", "wdf drc0");
    assert_eq!(has(&[test, ("if (p0)", load), wait, ("if (!p0)", clear)]), (true, false));
    assert_eq!(has(&[test, ("if (p0)", load), wait]), (false, false));
    assert_eq!(has(&[("", load)]), (false, true));
    assert_eq!(
        has(&[test, (MASK, IF), ("", clear), (MASK, ELSE), ("", clear), (MASK, END_IF)]),
        (true, false)
    );
    assert_eq!(has(&[test, (MASK, IF), ("", clear), (MASK, ELSE), (MASK, END_IF)]), (false, false));
}

#[test]
fn behind_a_branch_p0_is_what_it_asked() {
    let move_it = "s0 = r1\n mbyp ft0, s0\n w0 = r5";
    let before = [("", TEST), ("if (p0)", "br @3"), ("", "br @4")];
    let same = |who: &str| like(&before, ("", move_it), (who, move_it), &[("", STORE)]);
    assert!(same("if (p0)"));
    assert!(!same("if (!p0)"));
    let falls = [("", TEST), ("if (p0)", "br @3"), ("", STORE)];
    assert!(!like(&falls, ("", move_it), ("if (p0)", move_it), &[("", STORE)]));
}

#[test]
fn a_factor_of_zero_leaves_the_other_one_alone() {
    let carried = |first: &str, third: &str| {
        format!(
            "s0 = {first}, s1 = sc0, s2 = {third}, s3 = r4, s4 = r1\n is0 = s3, is1 = ft0, is4 = ft1\n \
             imadd64 ft0, fte, s0, s1, s2, is0, p0\n fmul ft1, s3, s4\n tst.u32.z ftt, _, is1, _\n \
             movc w0, _, ftt, fte, is4, _, _\n w0 = r5"
        )
    };
    let old = carried("sc0", "sc0");
    let same = |new: &str| like(&[("", TEST)], ("", &old), ("", new), &[("", STORE)]);
    assert!(same(&carried("sh0", "sc0")));
    assert!(!same(&carried("sc0", "r2")));
}

#[test]
fn the_first_part_of_a_reduction_takes_none() {
    let reduce = |part: &str, port: &str, other: &str| {
        let is = if port == "w0" { "is4" } else { "is5" };
        format!(
            "s0 = r3, s3 = {other}\n {is} = ft0\n fred.cos.{part} w0, w1, _, s0, s3, 0\n {port} = r5"
        )
    };
    let same = |part: &str, port: &str| {
        let (old, new) = (reduce(part, port, "sc0"), reduce(part, port, "r2"));
        like(&[], ("", &old), ("", &new), &[("", STORE)])
    };
    assert!(same("a", "w1"));
    assert!(!same("b", "w0"));
}

#[test]
fn a_maximum_with_zero_has_no_sign() {
    let most = |feed: &str| {
        format!(
            "s0 = r1, s3 = sc0\n is1 = ft0, is2 = ft1, is4 = ft1\n mbyp ft0, s0\n mbyp ft1, s3\n \
             tst.s32.g ftt, _, is1, is2\n movc w0, _, ftt, {feed}, is4, _, _\n w0 = r5"
        )
    };
    // The external feedthrough is the same source.
    assert!(like(&[], ("", &most("ft0")), ("", &most("fte")), &[("", STORE)]));
    assert!(!like(&[], ("", &most("ft0")), ("", &most("ft1")), &[("", STORE)]));
    let test = |kind: &str| {
        format!(
            "s0 = r5, s3 = sc7\n is1 = ft0, is2 = ft1\n mbyp ft0, s0\n mbyp ft1, s3\n \
             tst.{kind}.l ftt, p0, is1, is2"
        )
    };
    let (old, new) = (test("s32"), test("u32"));
    let behind = [("if (p0)", STORE)];
    assert!(like(&[("", &most("ft0"))], ("", &old), ("", &new), &behind));
    assert!(!like(&[], ("", &old), ("", &new), &behind));
}

#[test]
fn zeros_are_alike_however_they_are_made() {
    let make = |register: &str, word: &str| {
        format!("s0 = {register}, s1 = sc0, s2 = sc0\n is4 = ft0\n {word}\n w0 = r5")
    };
    let move_it = |register: &str| format!("s0 = {register}\n is4 = ft0\n mbyp ft0, s0\n w0 = r5");
    let same = |register: &str, word: &str| {
        let (old, new) = (move_it(register), make(register, word));
        like(&[], ("", &old), ("", &new), &[("", STORE)])
    };
    let sum = "imadd32 ft0, s0, s1, s2, _";
    assert!(same("sc0", sum));
    assert!(!same("r1", sum));
    assert!(same("sc0", "fdsx ft0, s0"));
    assert!(!same("sc2", "fdsx ft0, s0"));
    assert!(same("sc0", "fmul ft0, s0, s1"));
    assert!(!same("sc0", "fmul.lp ft0, s0, s1"));
}

#[test]
fn operations_on_known_numbers_are_what_they_give() {
    let most = |operation: &str, s4: &str| {
        format!(
            "s0 = r1, s3 = sc65{s4}\n is1 = ft0, is2 = ft1, is4 = ft0\n mbyp ft0, s0\n {operation}\n \
             tst.f32.g ftt, _, is1, is2\n movc w0, _, ftt, ft1, is4, _, _\n w0 = r5"
        )
    };
    let old = most("mbyp ft1, s3", "");
    let same = |operation: &str, s4: &str| {
        like(&[], ("", &old), ("", &most(operation, s4)), &[("", STORE)])
    };
    assert!(same("fadd ft1, s3, s4", ", s4 = sc0"));
    assert!(same("fmul ft1, s3.flr, s4", ", s4 = sc64"));
    assert!(!same("fadd ft1, s3, s4", ", s4 = sc64"));
    assert!(!same("fmul ft1, s3.neg, s4", ", s4 = sc64"));
    // Who knows what is in a register?
    assert!(!same("fadd ft1, s3, s4", ", s4 = r2"));
}

#[test]
fn floats_of_numbers_without_a_sign_have_none() {
    let unpacked = |format: &str| format!("s0 = r1\n is4 = ft0\n unpck.{format} ft0, s0\n w0 = r2");
    let sum =
        |abs: &str| format!("s0 = r2, s1 = sc75\n is4 = ft0\n fadd ft0, s0{abs}, s1\n w0 = r5");
    let same = |format: &str| {
        let before = [("", &*unpacked(format))];
        like(&before, ("", &sum("")), ("", &sum(".abs")), &[("", STORE)])
    };
    assert!(same("u32"));
    assert!(!same("s32"));
}

#[test]
fn levels_that_end_with_the_program_are_nobodys_concern() {
    let ends = |levels: u8| END_IF.replace(", 1\n", &format!(", {levels}\n"));
    let before = [("", TEST), (MASK, IF), ("", STORE)];
    let same = |behind: &[(&str, &str)]| like(&before, (MASK, &ends(1)), (MASK, &ends(2)), behind);
    assert!(same(&[]));
    assert!(!same(&[("", STORE)]));
}

#[test]
fn a_product_of_nothing_passes_the_high_word_on() {
    let chosen = |s0: &str, sum: &str| {
        format!(
            "s0 = {s0}, s1 = sc1, s2 = sc0, s3 = r1, s4 = r2\n is0 = s3, is1 = ft0, is4 = ft1\n {sum}\n \
             fmul ft1, s3, s4\n tst.u32.z ftt, _, is1, _\n movc w0, _, ftt, fte, is4, _, _\n w0 = r5"
        )
    };
    let same = |s0: &str| {
        let [old, new] = ["imadd64 ft0, fte, s0, s1, s2, is0, p0", "imadd32 ft0, s0, s1, s2, p0"];
        let (old, new) = (chosen(s0, old), chosen(s0, new));
        like(&[("", TEST)], ("", &old), ("", &new), &[("", STORE)])
    };
    assert!(same("sc0"));
    assert!(!same("r3"));
}

#[test]
fn a_loop_asks_nothing_of_those_whose_p0_a_break_has_told() {
    let always = WHILE.replace("if(!p0)", "if(1)");
    let back = [("if (p0)", "br @1"), ("", STORE)];
    let same = |between: &[(&str, &str)], now: &str| {
        let before = [&[(MASK, DO), ("", TEST), (MASK, BREAK)], between].concat();
        like(&before, (MASK, &always), (MASK, now), &back)
    };
    assert!(same(&[], WHILE));
    assert!(!same(&[], &WHILE.replace("if(!p0)", "if(p0)")));
    // p0 is another one, or the counter is.
    assert!(!same(&[("", TEST)], WHILE));
    assert!(!same(&[("", "s0 = sc0\n mbyp ft0, s0\n w0 = i0")], WHILE));
    // An `else` asks those who wait.
    let other = |who: &str| ELSE.replace("if(1)", who);
    let before = [("", TEST), (MASK, IF)];
    let behind = [(MASK, END_IF), ("", STORE)];
    assert!(!like(&before, (MASK, &other("if(1)")), (MASK, &other("if(p0)")), &behind));
}

#[test]
fn counters_of_zero_wait_no_level() {
    let levels =
        |count: u8| DO.replace("s0 = sc0", "s0 = i0").replace(", 1\n", &format!(", {count}\n"));
    let (one, three) = (levels(1), levels(3));
    let behind = [("", TEST), (MASK, BREAK), (MASK, WHILE), ("if (p0)", "br @5"), ("", STORE)];
    let ended = [("", TEST), (MASK, IF), ("", STORE), (MASK, END_IF)];
    let open = [("", TEST), (MASK, IF), ("", STORE), (MASK, IF)];
    assert!(like(&ended, (MASK, &one), (MASK, &three), &behind));
    assert!(!like(&open, (MASK, &one), (MASK, &three), &behind));
    // Those who run would wait no level.
    let set =
        |second: &str| format!("s0 = sc0, s2 = {second}\n cndsm.if(1) pe, w0, s0, s2\n w0 = i0");
    assert!(like(&[("", TEST)], (MASK, DO), (MASK, &set("sc0")), &[("", STORE)]));
    assert!(!like(&[("", TEST)], (MASK, DO), (MASK, &set("sc1")), &[("", STORE)]));
}

#[test]
fn the_floor_of_a_whole_number_is_the_number() {
    let sum =
        |floor: &str| format!("s0 = r2, s1 = sc75\n is4 = ft0\n fadd ft0, s0{floor}, s1\n w0 = r5");
    let same = |made: &str| {
        let made = format!("s0 = r1, s1 = sc75\n is4 = ft0\n {made}\n w0 = r2");
        like(&[("", &made)], ("", &sum("")), ("", &sum(".flr")), &[("", STORE)])
    };
    assert!(same("unpck.u32 ft0, s0") && same("unpck.s32 ft0, s0"));
    assert!(!same("mbyp ft0, s0") && !same("fadd ft0, s0, s1"));
}
