//! A machine with mixed kinds in one file: lanes have values of their own beside those of the thread, arms part the lanes, some
//! instructions write for all of them, and conditions go from a file of two to the other before they go to memory. Wide values
//! are read and written in parts.

use super::generate::Random;
use crate::check::{Evidence, Wrong, check};
use crate::work::Origin;
use crate::{Allocation, Error, Options, Policy, Proof, Shape, Target, allocate, solve};
use cranelift_entity::EntityRef;
use gpucc_ir::mach::plain::Plain;
use gpucc_ir::mach::{
    Access, Cell, Edges, File, FileId, Files, Func, Inst, Operand, Reg, Role, Scope, Slot, VReg,
    parse, print, verify,
};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;

/// G: values of lanes and of the thread. F: two conditions.
const FILES: Files = Files(&[
    File { name: "G", cells: 32, row: 4, per_lane: true, scope: Scope::Function },
    File { name: "F", cells: 2, row: 1, per_lane: true, scope: Scope::Function },
]);
const G: FileId = FileId(0);
const F: FileId = FileId(1);

struct Mixed;

/// What a move says of what it moves: 1 for what the thread has, moved whatever lanes run; cells and stride.
fn moved(shape: Shape) -> [u32; 2] {
    [u32::from(!shape.per_lane), cells(shape.count, shape.stride)]
}

/// Cells and stride in one number.
fn cells(count: u16, stride: u8) -> u32 {
    u32::from(count) * 16 + u32::from(stride)
}

fn access(slot: Slot, shape: Shape) -> Vec<u32> {
    let [own, cells] = moved(shape);
    vec![slot.0, own, cells]
}

impl Target<Plain> for Mixed {
    fn copy(&mut self, to: Reg, from: Reg, shape: Shape) -> Plain {
        let mut copy = Plain::new("copy", &[to], &[from]);
        copy.numbers = moved(shape).to_vec();
        copy
    }
    fn store(&mut self, slot: Slot, value: VReg, shape: Shape) -> Plain {
        Plain { numbers: access(slot, shape), ..Plain::new("store", &[], &[value.into()]) }
    }
    fn load(&mut self, slot: Slot, value: VReg, shape: Shape) -> Plain {
        Plain { numbers: access(slot, shape), ..Plain::new("load", &[value.into()], &[]) }
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
    let at_x = text.replace("v1: G", "v1: G phases 0b10").replace("v3: G", "v3: G phases 0b10");
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
    let Proof { mut work, recorded, claims, spilled, allocation } =
        solve(&mut func, &mut Mixed, &options(1)).unwrap();
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

/// Wide conditions, written and read in halves: more of them than their file holds.
const HALVES: &str = "mach \"m\"
v0: F count 2
v1: F count 2
v2: G
b0: logical b1 b2, physical b1
    v2 = op0 17
    v0[0..1] = op1 v2 17 17
    v1[1..2] = op2 v2 17 17
    branch v0[0..1] 17
b1: logical b3, physical b2
    v0[1..2] = op3 v1[1..2] 17 17
b2: -> b3
    v0[1..2] = op4 v0[0..1] 17 17
b3:
    sink v1[1..2] 17
    sink v0 33
    end
";

#[test]
fn halves_of_conditions_go_to_the_other_file_one_by_one() {
    let func: Func<Plain> = parse(HALVES, FILES).unwrap();
    verify(&func).unwrap();
    let (after, result) = run(&func, 8).unwrap();
    assert!(result.moved > 0 && result.spilled == 0, "{result:?}");
    for path in 0..8 {
        assert_eq!(trace(&func, path), trace(&after, path), "{}", print(&after));
    }
}

#[test]
fn the_checker_sees_a_wrong_part() {
    let (mut total, mut missed) = (0, Vec::new());
    for seed in 0..30 {
        let mut func = Maker::make(2 * seed + 1, true);
        let options = options(8);
        let Ok(mut proof) = solve(&mut func, &mut Mixed, &options) else {
            continue;
        };
        for node in 0..proof.work.nodes.len() {
            let Origin::Program(number) = proof.work.nodes[node].origin else {
                continue;
            };
            let original = proof.work.nodes[node].inst.clone();
            for (at, &(v, part, role)) in proof.recorded.of(number).iter().enumerate() {
                let demand = proof.work.regs[v.index()].data.demand;
                let named = part.cells(demand.count);
                if part.is_whole() || role.is_def() {
                    continue;
                }
                // One cell further within the register, or back.
                let stride = u16::from(demand.stride);
                let mut cell = original.operands[at].reg.cell();
                cell.index = match named.end < demand.count {
                    true => cell.index + stride,
                    false => cell.index.wrapping_sub(stride),
                };
                if cell.index >= 32 {
                    continue;
                }
                proof.work.nodes[node].inst.operands[at].reg = Reg::phys(cell);
                let evidence = Evidence {
                    recorded: &proof.recorded,
                    claims: &proof.claims,
                    homes: &proof.spilled.home,
                    again: &proof.spilled.again,
                    target: &Mixed,
                    options: &options,
                };
                total += 1;
                if check(&proof.work, &evidence).is_ok() {
                    missed.push((seed, node, at));
                }
                proof.work.nodes[node].inst = original.clone();
            }
        }
    }
    assert!(total > 500, "{total}");
    // Copies make two cells hold one value: a few reads are right in the wrong cell.
    assert!(missed.len() * 50 < total, "{total}: {missed:?}");
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
    /// Registers in scope: of lanes, of the thread, conditions; of several cells, of lanes and of the thread.
    scope: [Vec<u32>; 5],
    /// By register: cells, stride, and how many of the cells are written where it comes into scope.
    wide: Vec<(u16, u8, u16)>,
    /// There are registers of several cells.
    parts: bool,
    /// Text of blocks with their edges.
    blocks: Vec<(String, Vec<u32>, Vec<u32>)>,
    at: usize,
}

impl Maker {
    fn make(seed: u64, parts: bool) -> Func<Plain> {
        let mut maker = Maker {
            random: Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            declared: String::new(),
            registers: 0,
            scope: Default::default(),
            wide: vec![],
            parts,
            blocks: vec![Default::default()],
            at: 0,
        };
        for kind in [0, 0, 0, 1, 1, 2] {
            maker.define(kind);
        }
        maker.sequence(3);
        let live = maker.scope.concat();
        for &v in live.iter().rev().take(6) {
            maker.sink(v);
        }
        maker.line("end");
        let mut text = format!("mach \"mixed\"\n{}", maker.declared);
        for (k, (body, logical, physical)) in maker.blocks.iter().enumerate() {
            let list =
                |edges: &[u32]| -> String { edges.iter().map(|b| format!(" b{b}")).collect() };
            write!(text, "b{k}:").unwrap();
            if !logical.is_empty() {
                write!(text, " logical{}, physical{}", list(logical), list(physical)).unwrap();
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
        let what = ["G", "G per_lane 0", "F", "G", "G per_lane 0"][kind];
        write!(self.declared, "v{v}: {what}").unwrap();
        let mut wide = (1, 1, 1);
        if kind > 2 {
            let count = 2 + self.random.below(3) as u16;
            let stride = if self.random.chance(20) { 4 } else { 1 };
            write!(self.declared, " count {count} stride {stride}").unwrap();
            if count == 2 && stride == 1 && self.random.chance(30) {
                write!(self.declared, " phases 0b101").unwrap();
            }
            wide = (count, stride, 1 + self.random.below(u64::from(count)) as u16);
        }
        self.declared.push('\n');
        self.wide.push(wide);
        if kind <= 2 {
            self.write(kind, v);
        } else {
            // The first cells in one or two parts, in any order, with something between them.
            let middle = self.random.below(u64::from(wide.2)) as u16;
            let mut parts = [0..middle, middle..wide.2];
            if self.random.chance(50) {
                parts.reverse();
            }
            for part in parts.into_iter().filter(|part| !part.is_empty()) {
                self.write_part(kind, v, part);
                self.write(0, self.scope[0][0]);
            }
        }
        self.scope[kind].push(v);
        v
    }

    fn write(&mut self, kind: usize, v: u32) {
        let count = self.wide[v as usize].0;
        let part = self.some(count);
        self.write_part(kind, v, part);
    }

    /// Some cells of the first `count`.
    fn some(&mut self, count: u16) -> Range<u16> {
        let first = self.random.below(u64::from(count)) as u16;
        let end = first + 1 + self.random.below(u64::from(count - first)) as u16;
        first..end
    }

    /// A part of a register as text, and its cells and stride.
    fn named(&self, v: u32, part: Range<u16>) -> (String, u32) {
        let (count, stride, _) = self.wide[v as usize];
        let numbers = cells(part.len() as u16, stride);
        match part == (0..count) {
            true => (format!("v{v}"), numbers),
            false => (format!("v{v}[{}..{}]", part.start, part.end), numbers),
        }
    }

    /// Some cells of a register in scope that hold something.
    fn read(&mut self, v: u32) -> (String, u32) {
        let part = self.some(self.wide[v as usize].2);
        self.named(v, part)
    }

    fn sink(&mut self, v: u32) {
        let (text, cells) = self.read(v);
        self.line(&format!("sink {text} {cells}"));
    }

    /// A part of a register is written from others.
    fn write_part(&mut self, kind: usize, v: u32, part: Range<u16>) {
        // What the thread computes depends on no lane.
        let lanes: &[usize] = &[0, 1, 2, 3, 4];
        let sources: &[usize] = [lanes, &[1, 4], &[0, 1], lanes, &[1, 4]][kind];
        let mut uses: Vec<(String, u32)> = Vec::new();
        for _ in 0..2 {
            let of = sources[self.random.below(sources.len() as u64) as usize];
            if !self.scope[of].is_empty() {
                let from = self.pick(of);
                uses.push(self.read(from));
            }
        }
        let (mut def, defined) = self.named(v, part);
        if self.parts && kind != 2 {
            self.relate(&mut uses, &mut def, defined);
        }
        let name = self.random.below(9);
        let numbers = uses.iter().map(|of| of.1).chain([defined]);
        let numbers: String = numbers.map(|cells| format!(" {cells}")).collect();
        let uses: String = uses.iter().map(|of| format!(" {}", of.0)).collect();
        self.line(&format!("{def} = op{name}{uses}{numbers}"));
    }

    /// Whether the declaration of a register holds a text.
    fn says(&self, register: &str, what: &str) -> bool {
        let name = format!("{}:", register.split('[').next().unwrap_or(""));
        let mut declared = self.declared.lines();
        declared.any(|line| line.starts_with(&name) && line.contains(what))
    }

    /// Constraints on some of the operands.
    fn relate(&mut self, uses: &mut [(String, u32)], def: &mut String, defined: u32) {
        let which = self.random.below(8);
        let bound = |text: &str| self.says(text, "phases") || self.says(text, ": F");
        if uses.iter().any(|of| bound(&of.0)) || bound(def) {
            return;
        }
        let own = |text: &str| self.says(text, "per_lane 0");
        let single = cells(1, 0);
        let is_single = |of: &(String, u32)| of.1 / 16 == single / 16;
        match which {
            // One fixed cell is for values of one kind.
            0 if uses.first().is_some_and(|of| is_single(of) && !own(&of.0)) => {
                uses[0].0 += "!G1.y"
            }
            1 if uses.iter().all(is_single) => uses.iter_mut().for_each(|of| of.0 += "~0"),
            2 if uses.first().is_some_and(is_single) => uses[0].0 += ":0b110",
            3 if uses.iter().all(|of| of.1 % 16 == 1) => {
                let mut offset = 0;
                for (text, cells) in uses {
                    write!(text, "#0+{offset}").unwrap();
                    offset += *cells / 16;
                }
            }
            4 if defined / 16 == 1 => *def += ":0b1010",
            5 if defined / 16 == 1 && !own(def) => *def += "!G0.z",
            6 => {
                if let Some((text, cells)) = uses.first()
                    && own(text) == own(def)
                    && *cells / 16 == defined / 16
                    && (is_single(&uses[0]) || *cells == defined)
                {
                    *def += "&0";
                }
            }
            7 => def.insert(0, '^'),
            _ => {}
        }
    }

    /// What one register holds in some cells goes to others.
    fn copy(&mut self) {
        let own = self.random.below(2) as usize;
        let any = |this: &Self| [&this.scope[own][..], &this.scope[own + 3]].concat();
        let list = any(self);
        let of = |this: &mut Self| list[this.random.below(list.len() as u64) as usize];
        let pairs: Vec<(u32, u32)> =
            (0..1 + self.random.below(2)).map(|_| (of(self), of(self))).collect();
        let [mut to, mut from] = [String::new(), String::new()];
        for (k, &(into, source)) in pairs.iter().enumerate() {
            if k > 0 && pairs[0].0 == into {
                continue;
            }
            let part = |this: &mut Self, count: u16| {
                let at = this.random.below(u64::from(count)) as u16;
                at..at + 1
            };
            let known = self.wide[source as usize].2;
            let (read, written) = (part(self, known), part(self, self.wide[into as usize].0));
            from += &format!(" {}", self.named(source, read).0);
            to += &format!("{}{}", if k > 0 { ", " } else { "" }, self.named(into, written).0);
        }
        self.line(&format!("{to} = copy{from} {own} {}", cells(1, 1)));
    }

    fn sequence(&mut self, depth: u32) {
        for _ in 0..3 + self.random.below(5) {
            if self.parts && self.random.chance(60) {
                self.wide();
            }
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
                    self.sink(v);
                }
                7 | 8 => self.arms(depth - 1),
                _ => self.trips(depth - 1),
            }
        }
    }

    /// Something with registers of several cells.
    fn wide(&mut self) {
        let kind = 3 + self.random.below(2) as usize;
        match self.random.below(4) {
            0 => drop(self.define(kind)),
            1 => self.copy(),
            _ if self.scope[kind].is_empty() => {}
            2 => {
                let v = self.pick(kind);
                self.write(kind, v);
            }
            _ => {
                let v = self.pick(kind);
                self.sink(v);
            }
        }
    }

    /// Lanes of the second arm wait while the thread runs the first.
    fn arms(&mut self, depth: u32) {
        let test = self.pick(2);
        self.line(&format!("branch v{test} {}", cells(1, 1)));
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
        self.line(&format!("branch v{test} {}", cells(1, 1)));
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

/// The cells of an operand, by what the instruction says of their number and stride. Where the register is virtual, each is
/// one of its own.
fn named(operand: &Operand, cells: u32) -> Vec<(Reg, u16)> {
    let (count, stride) = ((cells / 16) as u16, (cells % 16) as u16);
    let at = |(n, k): (usize, u16)| match operand.reg.as_phys() {
        None => (operand.reg, k),
        Some(cell) => {
            let index = cell.index + n as u16 * stride;
            (Reg::phys(Cell { index, ..cell }), 0)
        }
    };
    operand.part.cells(count).enumerate().map(at).collect()
}

/// What one lane sees of a function on a random way, while the thread runs other blocks where it waits: its own registers are
/// written where it runs, those of the thread and those that are written for all lanes always.
fn trace(func: &Func<Plain>, seed: u64) -> Vec<u64> {
    let mut random = Random(seed | 1);
    let mut cells: BTreeMap<(Reg, u16), u64> = BTreeMap::new();
    let mut slots: BTreeMap<(Slot, usize), u64> = BTreeMap::new();
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
                || (inst.is_copy() && inst.numbers[0] == 1)
                || (inst.access().is_some() && inst.numbers[1] == 1);
            if !runs && !all {
                continue;
            }
            // The last number of a move is of all its operands.
            let moves = inst.access().is_some() || inst.is_copy();
            let of = |uses: bool| -> Vec<(Reg, u16)> {
                let list = inst.operands.iter().enumerate();
                let own = list.filter(|(_, operand)| (operand.role == Role::Use) == uses);
                let numbers = &inst.numbers;
                own.flat_map(|(k, operand)| {
                    let last = numbers.len() - 1;
                    named(operand, numbers[if moves { last } else { k }])
                })
                .collect()
            };
            let read = |cell: &(Reg, u16)| cells.get(cell).copied().unwrap_or(0);
            let uses: Vec<u64> = of(true).iter().map(read).collect();
            let defs = of(false);
            let results: Vec<u64> = match inst.access() {
                Some(Access::Store(slot)) => {
                    let stored = uses.into_iter().enumerate();
                    slots.extend(stored.map(|(k, value)| ((slot, k), value)));
                    continue;
                }
                Some(Access::Load(slot)) => {
                    let stored = |k: usize| slots.get(&(slot, k)).copied().unwrap_or(0);
                    (0..defs.len()).map(stored).collect()
                }
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
                    (0..defs.len() as u64).map(|k| hash ^ k).collect()
                }
            };
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
        let parts = seed % 2 == 1;
        let func = Maker::make(seed, parts);
        verify(&func).unwrap_or_else(|fault| panic!("{fault}\n{}", print(&func)));
        for rows in if parts { [5, 6, 8] } else { [3, 4, 8] } {
            let (after, result) = match run(&func, rows) {
                Ok(found) => found,
                Err(Error::OutOfRegisters { .. }) => {
                    outcomes[1] += 1;
                    continue;
                }
                Err(error) => panic!("seed {seed}, {rows} rows: {error}\n{}", print(&func)),
            };
            outcomes[0] += 1;
            moved += result.moved;
            spilled += result.spilled;
            for path in 0..8u64 {
                let path = seed.wrapping_mul(31).wrapping_add(path).wrapping_mul(0x9e37_79b9);
                assert_eq!(
                    trace(&marked(&func, &func), path),
                    trace(&marked(&func, &after), path),
                    "seed {seed}, {rows} rows"
                );
            }
        }
    }
    assert!(outcomes[1] * 20 < outcomes[0], "{outcomes:?}");
    assert!(moved > 100 && spilled > 100, "{moved} moved, {spilled} spilled");
}

/// The function with `all_` before the name of each instruction of the program that writes what the thread has: cells no
/// longer tell. The n-th such instruction of `program` is the n-th of `func`.
fn marked(program: &Func<Plain>, func: &Func<Plain>) -> Func<Plain> {
    let own = |inst: &Plain| {
        let mut defs = inst.operands.iter().filter(|operand| operand.role.is_def());
        defs.any(|operand| operand.reg.as_virt().is_some_and(|v| !program.vregs[v].per_lane))
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
