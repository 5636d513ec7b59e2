use super::{Scheduler, Stuck, Tuning, reorder};
use crate::mach::{Dependence, Effects, Model, Rules};
use gpucc_ir::mach::plain::Plain;
use gpucc_ir::mach::{File, Files, Func, Inst, Scope, parse};

const FILES: Files = Files(&[File {
    name: "R",
    cells: 512,
    row: 4,
    per_lane: true,
    scope: Scope::Function,
}]);

/// `width` slots a group; `t` instructions only one of them; `pause` needs an empty group before it.
#[derive(Clone)]
struct Slots {
    width: u32,
    used: u32,
    transcendental: bool,
    rested: bool,
}

impl Rules<Plain> for Slots {
    type Violation = &'static str;
    fn admit(&self, inst: &Plain) -> Result<Slots, &'static str> {
        if self.used == self.width {
            return Err("full");
        }
        let t = inst.name == "t";
        if t && self.transcendental {
            return Err("one t a group");
        }
        if inst.name == "impossible" || (inst.name == "pause" && !self.rested) {
            return Err("never");
        }
        Ok(Slots {
            used: self.used + 1,
            transcendental: self.transcendental || t,
            ..self.clone()
        })
    }
    fn next(&self) -> Slots {
        Slots {
            used: 0,
            transcendental: false,
            rested: self.used == 0,
            ..*self
        }
    }
}

struct Machine {
    width: u32,
    load_latency: u32,
}

impl Model<Plain> for Machine {
    type Rules = Slots;
    fn start(&self) -> Slots {
        Slots {
            width: self.width,
            used: 0,
            transcendental: false,
            rested: false,
        }
    }
    fn latency(&self, from: &Plain, _to: &Plain, why: Dependence) -> u32 {
        match why {
            Dependence::Anti => 0,
            Dependence::True if from.name == "load" => self.load_latency,
            Dependence::True | Dependence::Output | Dependence::Order => 1,
        }
    }
    fn effects(&self, inst: &Plain) -> Effects {
        match inst.name.as_str() {
            "read" => Effects {
                reads: 1,
                writes: 0,
            },
            "write" => Effects {
                reads: 0,
                writes: 1,
            },
            _ => Effects::default(),
        }
    }
}

type Groups = Vec<(u32, Vec<String>)>;

fn run(body: &str, machine: &Machine, tuning: &Tuning) -> (Func<Plain>, Groups) {
    let mut func = function(body);
    let mut groups = Groups::new();
    let before = func.clone();
    reorder(
        &mut func,
        machine,
        tuning,
        &mut Scheduler::default(),
        |block, first, schedule| {
            for (k, group) in schedule.groups.iter().enumerate() {
                let end = schedule
                    .groups
                    .get(k + 1)
                    .map_or(schedule.order.len() as u32, |next| next.first);
                let names = schedule.order[group.first as usize..end as usize]
                    .iter()
                    .map(|&node| {
                        before.blocks[block].nodes[(first + node) as usize]
                            .inst
                            .name
                            .clone()
                    });
                groups.push((group.cycle, names.collect()));
            }
        },
    )
    .unwrap();
    (func, groups)
}

fn function(body: &str) -> Func<Plain> {
    let highest = body
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter_map(|word| {
            word.strip_prefix('v')
                .and_then(|number| number.parse::<u32>().ok())
        });
    let count = highest.max().map_or(0, |n| n + 1);
    let mut text = String::from("mach \"m\"\n");
    for v in 0..count {
        text += &format!("v{v}: R\n");
    }
    parse(&(text + "b0:\n" + body), FILES).unwrap()
}

fn names(groups: &Groups) -> Vec<(u32, Vec<&str>)> {
    groups
        .iter()
        .map(|(cycle, names)| (*cycle, names.iter().map(String::as_str).collect()))
        .collect()
}

#[test]
fn independent_instructions_share_a_group_and_dependent_ones_do_not() {
    let machine = Machine {
        width: 5,
        load_latency: 1,
    };
    let (_, groups) = run(
        "v0 = a\nv1 = b\nv2 = c v0 v1\nv3 = d v2",
        &machine,
        &Tuning::default(),
    );
    assert_eq!(
        names(&groups),
        [(0, vec!["a", "b"]), (1, vec!["c"]), (2, vec!["d"])]
    );
}

#[test]
fn a_write_may_join_the_group_of_the_read_before_it() {
    let machine = Machine {
        width: 5,
        load_latency: 1,
    };
    let (_, groups) = run("v0 = a\nv1 = b v0\nv0 = c", &machine, &Tuning::default());
    assert_eq!(names(&groups), [(0, vec!["a"]), (1, vec!["b", "c"])]);
}

#[test]
fn rules_split_what_dependences_allow() {
    let machine = Machine {
        width: 5,
        load_latency: 1,
    };
    let (_, groups) = run(
        "v0 = t\nv1 = t\nv2 = t\nv3 = a",
        &machine,
        &Tuning::default(),
    );
    assert_eq!(
        names(&groups),
        [(0, vec!["t", "a"]), (1, vec!["t"]), (2, vec!["t"])]
    );
}

#[test]
fn single_issue_hides_latency_behind_independent_work() {
    let machine = Machine {
        width: 1,
        load_latency: 4,
    };
    let (_, groups) = run(
        "v0 = a\nv1 = b\nv2 = load\nv3 = use v2\nv4 = c v0",
        &machine,
        &Tuning::default(),
    );
    let order: Vec<_> = names(&groups)
        .into_iter()
        .map(|(cycle, n)| (cycle, n[0]))
        .collect();
    assert_eq!(
        order,
        [(0, "load"), (1, "a"), (2, "b"), (3, "c"), (4, "use")]
    );
}

#[test]
fn effects_keep_their_order_and_reads_commute() {
    let machine = Machine {
        width: 5,
        load_latency: 1,
    };
    let (_, groups) = run("read\nread\nwrite\nread", &machine, &Tuning::default());
    assert_eq!(
        names(&groups),
        [
            (0, vec!["read", "read"]),
            (1, vec!["write"]),
            (2, vec!["read"])
        ]
    );
}

#[test]
fn nothing_crosses_the_end_of_a_region() {
    let machine = Machine {
        width: 1,
        load_latency: 9,
    };
    let mut func = function("v0 = a\nv1 = long v0\nv2 = load\nend");
    reorder(
        &mut func,
        &machine,
        &Tuning::default(),
        &mut Scheduler::default(),
        |_, _, _| {},
    )
    .unwrap();
    assert_eq!(func.blocks[func.layout[0]].nodes[3].inst.name, "end");
}

#[test]
fn a_pause_that_rules_ask_for_shows_as_a_gap() {
    let machine = Machine {
        width: 2,
        load_latency: 1,
    };
    let (_, groups) = run("v0 = a\nv1 = pause v0", &machine, &Tuning::default());
    assert_eq!(names(&groups), [(0, vec!["a"]), (2, vec!["pause"])]);
}

#[test]
fn an_instruction_that_no_group_admits_is_named() {
    let mut func = function("v0 = a\nv1 = impossible v0");
    let machine = Machine {
        width: 2,
        load_latency: 1,
    };
    let error = reorder(
        &mut func,
        &machine,
        &Tuning::default(),
        &mut Scheduler::default(),
        |_, _, _| {},
    );
    let block = func.layout[0];
    assert_eq!(
        error,
        Err(Stuck {
            block,
            index: 1,
            violation: "never"
        })
    );
    assert_eq!(func.blocks[block].nodes.len(), 2);
}

/// The most registers alive at once, counted straight from the text.
fn peak(func: &Func<Plain>) -> i32 {
    let nodes = &func.blocks[func.layout[0]].nodes;
    let mut last = std::collections::BTreeMap::new();
    for (k, node) in nodes.iter().enumerate() {
        node.inst.operands(&mut |operand| {
            last.insert(operand.reg, k);
        });
    }
    let (mut alive, mut peak) = (0i32, 0);
    let mut begun = std::collections::BTreeSet::new();
    for (k, node) in nodes.iter().enumerate() {
        node.inst.operands(&mut |operand| {
            alive += i32::from(begun.insert(operand.reg));
        });
        peak = peak.max(alive);
        alive -= last.values().filter(|&&at| at == k).count() as i32;
    }
    peak
}

#[test]
fn short_registers_keep_loads_near_their_uses() {
    let mut body = String::new();
    for k in 0..64 {
        body += &format!(
            "v{} = load\nv{} = half v{}\nsink v{}\n",
            2 * k,
            2 * k + 1,
            2 * k,
            2 * k + 1
        );
    }
    let machine = Machine {
        width: 1,
        load_latency: 4,
    };
    let (hasty, _) = run(&body, &machine, &Tuning::default());
    let (careful, _) = run(
        &body,
        &machine,
        &Tuning {
            pressure: vec![8],
            ..Tuning::default()
        },
    );
    assert!(peak(&hasty) > 30, "{}", peak(&hasty));
    assert!(peak(&careful) <= 12, "{}", peak(&careful));
}

#[test]
fn work_grows_linearly_with_the_input() {
    let ask = |count: u32| {
        let mut body = String::from("v0 = a\nv1 = b\n");
        for k in 2..count {
            body += &format!("v{k} = t v{} v{}\n", k * 7 / 9, k / 2);
        }
        let mut func = function(&body);
        let mut scheduler = Scheduler::default();
        let machine = Machine {
            width: 5,
            load_latency: 1,
        };
        reorder(
            &mut func,
            &machine,
            &Tuning::default(),
            &mut scheduler,
            |_, _, _| {},
        )
        .unwrap();
        scheduler.asked
    };
    let (small, large) = (ask(2000), ask(4000));
    assert!(large as f64 <= 2.1 * small as f64, "{small} -> {large}");
}
