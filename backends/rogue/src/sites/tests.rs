//! What is read behind a group by instances that wait, of programs that are written down.

use super::alike::alike;
use super::known::Known;
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

/// Whether another number in the first group that sets r5 means something; groups are told with who runs them.
#[track_caller]
fn means(groups: &[(&str, &str)]) -> bool {
    let mut text = String::new();
    for (number, (who, lines)) in groups.iter().chain([&("end", "nop")]).enumerate() {
        writeln!(text, "{number} : {who}\n {lines}").expect("to a string");
    }
    let bytes = assemble(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    let groups = decode_program(&bytes).expect("what was assembled");
    let around = around(&groups, Known::new(std::iter::empty(), true));
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
