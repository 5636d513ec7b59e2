//! A machine with mixed kinds in one file: lanes have values of their own beside those of the thread, arms part the lanes, some
//! instructions write for all of them, and conditions go from a file of two to the other before they go to memory.

use super::generate::Random;
use crate::check::{Evidence, Wrong, check};
use crate::{Allocation, Error, Options, Policy, Proof, Shape, Target, allocate, solve};
use gpucc_ir::mach::plain::Plain;
use gpucc_ir::mach::{
    Access, Edges, File, FileId, Files, Func, Inst, Operand, Reg, Role, Scope, Slot, VReg, parse,
    verify,
};
use std::collections::BTreeMap;
use std::fmt::Write;

/// G: values of lanes and of the thread. F: two conditions.
const FILES: Files = Files(&[
    File {
        name: "G",
        cells: 32,
        row: 4,
        per_lane: true,
        scope: Scope::Function,
    },
    File {
        name: "F",
        cells: 2,
        row: 1,
        per_lane: true,
        scope: Scope::Function,
    },
]);
const G: FileId = FileId(0);
const F: FileId = FileId(1);

struct Mixed;

/// The slot, and a mark where what the thread has goes to memory or comes from there.
fn access(slot: Slot, shape: Shape) -> Vec<u32> {
    match shape.per_lane {
        true => vec![slot.0],
        false => vec![slot.0, 0],
    }
}

impl Target<Plain> for Mixed {
    fn copy(&mut self, to: Reg, from: Reg, shape: Shape) -> Plain {
        let mut copy = Plain::new("copy", &[to], &[from]);
        // What the thread has is moved whatever lanes run.
        copy.numbers = if shape.per_lane { vec![] } else { vec![0] };
        copy
    }
    fn store(&mut self, slot: Slot, value: VReg, shape: Shape) -> Plain {
        Plain {
            numbers: access(slot, shape),
            ..Plain::new("store", &[], &[value.into()])
        }
    }
    fn load(&mut self, slot: Slot, value: VReg, shape: Shape) -> Plain {
        Plain {
            numbers: access(slot, shape),
            ..Plain::new("load", &[value.into()], &[])
        }
    }
    fn can_spill(&self, _: Shape) -> bool {
        true
    }
    fn spill_file(&self, shape: Shape) -> Option<FileId> {
        (shape.file == F).then_some(G)
    }
}

fn options(rows: u16) -> Options {
    Options {
        rows: vec![rows, 2],
        policy: Policy::Compact { free_rows: 1 },
        ..Options::for_files(FILES.0)
    }
}

fn run(func: &Func<Plain>, rows: u16) -> Result<(Func<Plain>, Allocation), Error> {
    let mut after = func.clone();
    let result = allocate(&mut after, &mut Mixed, &options(rows))?;
    Ok((after, result))
}

/// An `if` whose first arm computes the thread's `v2` while lanes of the second wait with `v1`.
fn arms(middle: &str) -> Func<Plain> {
    parse(&text(middle), FILES).unwrap()
}

fn text(middle: &str) -> String {
    format!(
        "mach \"m\"
v0: G
v1: G
v2: G per_lane 0
v3: G
b0: logical b1 b2, physical b1
    v0 = a
    v1 = a
    branch v0
b1: logical b3, physical b2
{middle}
b2: -> b3
    sink v1
b3:
    end
"
    )
}

#[test]
fn what_the_thread_writes_leaves_alone_what_waiting_lanes_hold() {
    for (middle, apart) in [
        ("    v2 = b\n    sink v2", true),
        ("    v3 = all_b\n    sink v3", true),
        // Under the mask, the lanes that run take the cell of those that wait.
        ("    v3 = b\n    sink v3", false),
    ] {
        let func = arms(middle);
        let (_, result) = run(&func, 1).unwrap();
        let cell = |v: usize| result.cells[v];
        let other = cell(2).or(cell(3));
        assert_ne!(other, None);
        if apart {
            assert_ne!(cell(1), other, "{middle}");
        }
    }
    let crowded = "    v3 = b\n    sink v3";
    let text = text(crowded);
    // One position in the row for both: only lanes of their own may share it.
    let at_x = text
        .replace("v1: G", "v1: G phases 0b10")
        .replace("v3: G", "v3: G phases 0b10");
    let (_, result) = run(&parse(&at_x, FILES).unwrap(), 1).unwrap();
    assert_eq!((result.cells[1], result.spilled), (result.cells[3], 0));
    let whole = at_x.replace("v3 = b", "v3 = all_b");
    let (_, result) = run(&parse(&whole, FILES).unwrap(), 1).unwrap();
    assert!(result.spilled > 0 || result.cells[1] != result.cells[3]);
}

#[test]
fn the_checker_sees_a_write_for_all_lanes_that_reaches_waiting_ones() {
    let text = text("    v2 = b\n    sink v2");
    let text = text.replace("v0: G", "v0: G phases 0b1");
    let text = text.replace("v1: G", "v1: G phases 0b10");
    let text = text.replace("v2: G", "v2: G phases 0b110");
    let mut func = parse(&text, FILES).unwrap();
    let Proof {
        mut work,
        recorded,
        claims,
        spilled,
        allocation,
    } = solve(&mut func, &mut Mixed, &options(1)).unwrap();
    let to = allocation.cells[1].unwrap();
    let from = allocation.cells[2].unwrap();
    for node in &mut work.nodes {
        node.inst.rewrite(&mut |reg, _| match reg.as_phys() {
            Some(cell) if cell == from => Reg::phys(to),
            _ => reg,
        });
    }
    let options = options(1);
    let evidence = Evidence {
        recorded: &recorded,
        claims: &claims,
        homes: &spilled.home,
        again: &spilled.again,
        target: &Mixed,
        options: &options,
    };
    let refusal = check(&work, &evidence).unwrap_err();
    assert!(
        matches!(refusal.what, Wrong::Altered(what) if what.contains("lanes that wait")),
        "{refusal}"
    );
}

#[test]
fn a_third_condition_goes_to_the_other_file_and_on_to_memory_where_that_is_full() {
    let text = |held: usize| {
        let mut text = String::from("mach \"m\"\n");
        for v in 0..4 + held {
            let file = if v < 4 { "F" } else { "G" };
            writeln!(text, "v{v}: {file}").unwrap();
        }
        text += "b0:\n";
        for v in (4..4 + held).chain(0..4) {
            writeln!(text, "    v{v} = a").unwrap();
        }
        for v in (0..4).chain(4..4 + held) {
            writeln!(text, "    sink v{v}").unwrap();
        }
        text + "    end\n"
    };
    let roomy: Func<Plain> = parse(&text(1), FILES).unwrap();
    let (_, result) = run(&roomy, 8).unwrap();
    assert!(result.moved >= 2, "{result:?}");
    assert_eq!((result.spilled, result.slots), (0, 0));
    let full: Func<Plain> = parse(&text(8), FILES).unwrap();
    let (_, result) = run(&full, 2).unwrap();
    assert!(result.moved >= 2 && result.spilled > 0, "{result:?}");
}

/// A random program: arms that part the lanes, loops that they leave at different times.
struct Maker {
    random: Random,
    declared: String,
    registers: u32,
    /// Registers in scope: of lanes, of the thread, conditions.
    scope: [Vec<u32>; 3],
    /// Text of blocks with their edges.
    blocks: Vec<(String, Vec<u32>, Vec<u32>)>,
    at: usize,
}

impl Maker {
    fn make(seed: u64) -> Func<Plain> {
        let mut maker = Maker {
            random: Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            declared: String::new(),
            registers: 0,
            scope: [vec![], vec![], vec![]],
            blocks: vec![Default::default()],
            at: 0,
        };
        for kind in [0, 0, 0, 1, 1, 2] {
            maker.define(kind);
        }
        maker.sequence(3);
        let live = maker.scope.concat();
        for v in live.iter().rev().take(6) {
            maker.line(&format!("sink v{v}"));
        }
        maker.line("end");
        let mut text = format!("mach \"mixed\"\n{}", maker.declared);
        for (k, (body, logical, physical)) in maker.blocks.iter().enumerate() {
            let list =
                |edges: &[u32]| -> String { edges.iter().map(|b| format!(" b{b}")).collect() };
            write!(text, "b{k}:").unwrap();
            if !logical.is_empty() {
                write!(
                    text,
                    " logical{}, physical{}",
                    list(logical),
                    list(physical)
                )
                .unwrap();
            }
            write!(text, "\n{body}").unwrap();
        }
        parse(&text, FILES).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    fn line(&mut self, text: &str) {
        self.blocks[self.at].0 += &format!("    {text}\n");
    }

    /// A block behind all others, which is written next.
    fn block(&mut self) -> usize {
        self.blocks.push(Default::default());
        self.at = self.blocks.len() - 1;
        self.at
    }

    fn edge(&mut self, from: usize, to: usize, logical: bool, physical: bool) {
        if logical {
            self.blocks[from].1.push(to as u32);
        }
        if physical {
            self.blocks[from].2.push(to as u32);
        }
    }

    fn pick(&mut self, kind: usize) -> u32 {
        let list = &self.scope[kind];
        list[self.random.below(list.len() as u64) as usize]
    }

    /// A new register of a kind, written from others.
    fn define(&mut self, kind: usize) -> u32 {
        let v = self.registers;
        self.registers += 1;
        let what = ["G", "G per_lane 0", "F"][kind];
        writeln!(self.declared, "v{v}: {what}").unwrap();
        self.write(kind, v);
        self.scope[kind].push(v);
        v
    }

    fn write(&mut self, kind: usize, v: u32) {
        // What the thread computes depends on no lane.
        let sources: &[usize] = [&[0, 1, 2][..], &[1], &[0, 1]][kind];
        let mut uses = String::new();
        for _ in 0..2 {
            let of = sources[self.random.below(sources.len() as u64) as usize];
            if !self.scope[of].is_empty() {
                let from = self.pick(of);
                uses += &format!(" v{from}");
            }
        }
        let name = self.random.below(9);
        self.line(&format!("v{v} = op{name}{uses}"));
    }

    fn sequence(&mut self, depth: u32) {
        for _ in 0..3 + self.random.below(5) {
            match self.random.below(if depth > 0 { 10 } else { 7 }) {
                0..=2 => drop(self.define(0)),
                3 => drop(self.define(1)),
                4 => drop(self.define(2)),
                5 => {
                    let v = self.pick(0);
                    self.write(0, v);
                }
                6 => {
                    let v = self.pick(0);
                    self.line(&format!("sink v{v}"));
                }
                7 | 8 => self.arms(depth - 1),
                _ => self.trips(depth - 1),
            }
        }
    }

    /// Lanes of the second arm wait while the thread runs the first.
    fn arms(&mut self, depth: u32) {
        let test = self.pick(2);
        self.line(&format!("branch v{test}"));
        let head = self.at;
        let outside = self.scope.clone();
        let first = self.block();
        self.edge(head, first, true, true);
        self.sequence(depth);
        let end = self.at;
        self.scope = outside.clone();
        let second = self.block();
        self.edge(head, second, true, false);
        self.edge(end, second, false, true);
        self.sequence(depth);
        let last = self.at;
        self.scope = outside;
        let join = self.block();
        self.edge(end, join, true, false);
        self.edge(last, join, true, true);
    }

    /// Lanes that left wait through the further trips.
    fn trips(&mut self, depth: u32) {
        let before = self.at;
        let outside = self.scope.clone();
        let head = self.block();
        self.edge(before, head, true, true);
        self.sequence(depth);
        let test = self.pick(2);
        self.line(&format!("branch v{test}"));
        let leaves = self.at;
        let body = self.block();
        self.edge(leaves, body, true, true);
        self.sequence(depth);
        let end = self.at;
        self.scope = outside;
        let join = self.block();
        self.edge(end, head, true, true);
        self.edge(leaves, join, true, false);
        self.edge(end, join, false, true);
    }
}

/// What one lane sees of a function on a random way, while the thread runs other blocks where it waits: its own registers are
/// written where it runs, those of the thread and those that are written for all lanes always.
fn trace(func: &Func<Plain>, seed: u64) -> Vec<u64> {
    let mut random = Random(seed | 1);
    let mut cells: BTreeMap<Reg, u64> = BTreeMap::new();
    let mut slots: BTreeMap<Slot, u64> = BTreeMap::new();
    let mut seen = Vec::new();
    let mut block = func.layout[0];
    let mut wanted = block;
    for _ in 0..400 {
        let runs = block == wanted;
        for node in &func.blocks[block].nodes {
            let inst = &node.inst;
            let of = |uses: bool| {
                let list = inst.operands.iter();
                list.filter(move |operand| (operand.role == Role::Use) == uses)
            };
            // Of the thread: known by the register while virtual, by the operation's mark behind that.
            let own = |operand: &Operand| match operand.reg.as_virt() {
                Some(v) => !func.vregs[v].per_lane,
                None => false,
            };
            let all = inst.ignores_mask()
                || of(false).any(own)
                || (inst.is_copy() && !inst.numbers.is_empty())
                || (inst.access().is_some() && inst.numbers.len() > 1);
            if !runs && !all {
                continue;
            }
            let read = |operand: &Operand| cells.get(&operand.reg).copied().unwrap_or(0);
            let uses: Vec<u64> = of(true).map(read).collect();
            let results: Vec<u64> = match inst.access() {
                Some(Access::Store(slot)) => {
                    slots.insert(slot, uses[0]);
                    continue;
                }
                Some(Access::Load(slot)) => vec![slots.get(&slot).copied().unwrap_or(0)],
                None if inst.is_copy() => uses,
                None => {
                    let mut hash = 0xcbf2_9ce4_8422_2325u64;
                    let words = inst.name.bytes().map(u64::from).chain(uses);
                    for word in words {
                        hash = (hash ^ word).wrapping_mul(0x100_0000_01b3);
                    }
                    if runs && matches!(inst.name.as_str(), "sink" | "branch") {
                        seen.push(hash);
                    }
                    vec![hash; of(false).count()]
                }
            };
            let defs: Vec<Reg> = of(false).map(|operand| operand.reg).collect();
            cells.extend(defs.into_iter().zip(results));
        }
        if runs {
            let next = func.successors(Edges::Logical, block);
            if next.is_empty() {
                break;
            }
            wanted = next[random.below(next.len() as u64) as usize];
        }
        let next = func.successors(Edges::Physical, block);
        block = match next.contains(&wanted) && (runs || random.below(2) == 0) {
            true => wanted,
            false => next[random.below(next.len() as u64) as usize],
        };
    }
    seen
}

#[test]
fn random_programs_of_mixed_kinds_run_the_same_for_every_lane() {
    let (mut moved, mut spilled, mut outcomes) = (0, 0, [0; 2]);
    for seed in 0..300 {
        let func = Maker::make(seed);
        verify(&func).unwrap();
        for rows in [3, 4, 8] {
            let (after, result) = match run(&func, rows) {
                Ok(found) => found,
                Err(Error::OutOfRegisters { .. }) => {
                    outcomes[1] += 1;
                    continue;
                }
                Err(error) => panic!("seed {seed}, {rows} rows: {error}"),
            };
            outcomes[0] += 1;
            moved += result.moved;
            spilled += result.spilled;
            for path in 0..8u64 {
                let path = seed
                    .wrapping_mul(31)
                    .wrapping_add(path)
                    .wrapping_mul(0x9e37_79b9);
                assert_eq!(
                    trace(&marked(&func, &func), path),
                    trace(&marked(&func, &after), path),
                    "seed {seed}, {rows} rows"
                );
            }
        }
    }
    assert!(outcomes[1] * 20 < outcomes[0], "{outcomes:?}");
    assert!(
        moved > 100 && spilled > 100,
        "{moved} moved, {spilled} spilled"
    );
}

/// The function with `all_` before the name of each instruction of the program that writes what the thread has: cells no
/// longer tell. The n-th such instruction of `program` is the n-th of `func`.
fn marked(program: &Func<Plain>, func: &Func<Plain>) -> Func<Plain> {
    let own = |inst: &Plain| {
        let mut defs = inst.operands.iter().filter(|operand| operand.role.is_def());
        defs.any(|operand| {
            operand
                .reg
                .as_virt()
                .is_some_and(|v| !program.vregs[v].per_lane)
        })
    };
    let mut marked = func.clone();
    for &block in &program.layout {
        let given = program.blocks[block].nodes.iter();
        let mut given = given.filter(|node| node.inst.name.starts_with("op"));
        for node in &mut marked.blocks[block].nodes {
            if node.inst.name.starts_with("op") && given.next().is_some_and(|node| own(&node.inst))
            {
                node.inst.name.insert_str(0, "all_");
            }
        }
    }
    marked
}
