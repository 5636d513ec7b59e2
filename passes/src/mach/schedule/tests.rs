use super::{overlap, schedule};
use crate::mach::{Dependence, Effects, Model};
use gpucc_ir::mach::plain::{FILES, Plain};
use gpucc_ir::mach::{Func, Inst, parse, print};

/// `load` takes ten cycles, `read` and `write` touch memory, nothing moves across `wall`.
struct Machine;

impl Model<Plain> for Machine {
    fn result(&self, inst: &Plain) -> u32 {
        if inst.name == "load" { 10 } else { 1 }
    }
    fn effects(&self, inst: &Plain) -> Effects {
        Effects { reads: u32::from(inst.name == "read"), writes: u32::from(inst.name == "write") }
    }
    fn ends_region(&self, inst: &Plain) -> bool {
        inst.ends_block() || inst.name == "wall"
    }
    fn is_result(&self, inst: &Plain, _: gpucc_ir::mach::Reg) -> bool {
        inst.name != "scratch"
    }
}

/// The instructions of the only block, in order, and how many registers they need.
fn ordered(body: &str) -> (Vec<String>, u32) {
    let mut func = program(body);
    let needed = schedule(&mut func, &Machine, 0);
    (lines(&func), needed)
}

/// A program of one block.
fn program(body: &str) -> Func<Plain> {
    let registers = body.split(|c: char| !c.is_ascii_alphanumeric());
    let numbers = registers.filter_map(|word| word.strip_prefix('v')?.parse::<u32>().ok());
    let declared: String = (0..=numbers.max().unwrap_or(0)).map(|v| format!("v{v}: R\n")).collect();
    parse::<Plain>(&format!("mach \"m\"\n{declared}b0:\n{body}"), FILES).unwrap()
}

fn lines(func: &Func<Plain>) -> Vec<String> {
    let text = print(func);
    let body = text.split_once("b0:\n").unwrap().1;
    body.lines().map(|l| l.trim().to_owned()).collect()
}

/// Three lookups, each of a sum, that are added.
const LOOKUPS: &str = "v0 = a\nv1 = b v0\nv2 = load v1\nv3 = c v2\nv4 = b v0\nv5 = load v4\nv6 = c v3 v5\n\
    v7 = b v0\nv8 = load v7\nv9 = c v6 v8\nend v9";

#[test]
fn lookups_are_sent_with_what_they_need_before_one_is_read() {
    let ordered = overlap(&program(LOOKUPS), &Machine, |needed| {
        assert_eq!(needed, 3, "the sum, v0 and what is looked up");
        8
    });
    let order = lines(&ordered.expect("lookups move"));
    let names = ["v0", "v1", "v2", "v4", "v5", "v7", "v8", "v3", "v6", "v9", "end"];
    let found: Vec<&str> = order.iter().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(found, names, "{order:?}");
}

#[test]
fn lookups_are_not_sent_beyond_the_registers_that_may_be_alive() {
    let func = program(LOOKUPS);
    let func = overlap(&func, &Machine, |needed| needed).unwrap_or(func);
    let lives = crate::mach::Lives::of(&func, |_, _| true);
    let mut alive = crate::mach::Alive::new(func.vregs.len());
    alive.enter(&lives, 0);
    let peak = lives.nodes(0).rev().map(|node| alive.before(lives.touches(node), |_| ())).max();
    assert_eq!(peak, Some(3), "{:?}", lines(&func));
}

#[test]
fn a_lookup_of_what_is_looked_up_waits_for_it() {
    let func = program("v0 = a\nv1 = load v0\nv2 = load v1\nv3 = b v2\nend v3");
    let ordered = overlap(&func, &Machine, |_| 8);
    assert!(ordered.is_none(), "{:?}", ordered.as_ref().map(lines));
}

#[test]
fn what_is_computed_early_and_read_late_goes_to_its_readers() {
    let (order, needed) =
        ordered("v0 = a\nv1 = a\nv2 = a\nv3 = a\nv4 = b v0 v1\nv5 = b v4 v2\nv6 = b v5 v3\nend v6");
    assert_eq!(needed, 2);
    assert_eq!(order[2], "v4 = b v0 v1");
}

#[test]
fn a_late_result_is_asked_for_early_where_registers_are_free() {
    let (order, needed) = ordered(
        "v0, v1, v2 = a\nv3 = b v0 v1 v2\nv4 = c v3\nv5 = c v4\nv6 = load\nv7 = d v5 v6\nend v7",
    );
    assert_eq!(needed, 3, "{order:?}");
    let at = |text: &str| order.iter().position(|line| line == text).unwrap();
    assert!(at("v6 = load") < at("v4 = c v3"), "{order:?}");
}

#[test]
fn nothing_moves_across_a_wall_and_memory_keeps_its_order() {
    let body = "v0 = read\nwrite\nv1 = read\nv2 = b v1\nv3 = b v0 v2\nwall\nv4 = a\nend v3 v4";
    let (order, _) = ordered(body);
    let at = |text: &str| order.iter().position(|line| line == text).unwrap();
    assert!(at("v0 = read") < at("write") && at("write") < at("v1 = read"));
    assert!(at("wall") < at("v4 = a"));
}

#[test]
fn what_is_merely_overwritten_takes_no_room() {
    assert_eq!(ordered("v0 = a\nv1, v2 = scratch\nend v0").1, 1);
}

#[test]
fn a_dependence_without_a_result_takes_one_cycle() {
    let load = Plain::new("load", &[], &[]);
    assert_eq!(Machine.latency(&load, &load, Dependence::True), 10);
    assert_eq!(Machine.latency(&load, &load, Dependence::Anti), 1);
}
