//! Random programs: allocated, proved, executed along random paths, and broken on purpose.

use super::generate::{Random, Taste, generate};
use super::{FILES, Plainly, T, options};
use crate::check::{Evidence, check};
use crate::work::Origin;
use crate::{Allocation, Error, Policy, Proof, allocate, solve};
use gpucc_ir::mach::plain::Plain;
use gpucc_ir::mach::{Access, Cell, Edges, Func, Inst, Operand, Reg, Role, verify};
use std::collections::BTreeMap;

const RICH: Taste = Taste { size: 120, depth: 3, scalar_only: false };
const SCALAR: Taste = Taste { size: 120, depth: 3, scalar_only: true };
const ROOMY: [u16; 3] = [128, 64, 32];

/// Runs one path through a function as one lane sees it (per-lane registers over logical edges) and
/// returns what every instruction with an effect read. Values are hashes of how they were made.
fn trace(func: &Func<Plain>, seed: u64, steps: usize) -> Vec<u64> {
    let mut random = Random(seed | 1);
    let mut registers: BTreeMap<Reg, u64> = BTreeMap::new();
    let mut slots: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    let mut seen = Vec::new();
    let mut block = func.layout[0];
    for _ in 0..steps {
        for node in &func.blocks[block].nodes {
            let inst = &node.inst;
            let part = |operand: &Operand| registers.get(&operand.reg).copied();
            // Large registers and runs are followed by the checker only: here they have no value.
            let opaque = |operand: &&Operand| {
                let file = match operand.reg.as_virt() {
                    Some(v) => func.vregs[v].demand.file,
                    None => operand.reg.cell().file,
                };
                let array = match inst.name.as_str() {
                    "clear" => true,
                    "put" => operand.reg == inst.operands[0].reg,
                    "get" => std::ptr::eq::<Operand>(*operand, &inst.operands[0]),
                    _ => false,
                };
                !array && file != T
            };
            let uses: Vec<u64> = inst
                .operands
                .iter()
                .filter(|operand| operand.role == Role::Use)
                .filter(opaque)
                .map(|operand| part(operand).unwrap_or(0))
                .collect();
            let defs: Vec<Reg> = inst
                .operands
                .iter()
                .filter(|operand| operand.role.is_def())
                .filter(opaque)
                .map(|operand| operand.reg)
                .collect();
            match inst.access() {
                Some(_) if uses.is_empty() && defs.is_empty() => continue,
                Some(Access::Store(slot)) => {
                    slots.insert((slot.0, 0), uses[0]);
                    continue;
                }
                Some(Access::Load(slot)) => {
                    registers.insert(defs[0], slots.get(&(slot.0, 0)).copied().unwrap_or(0));
                    continue;
                }
                None => {}
            }
            if inst.is_copy() {
                for (&to, &value) in defs.iter().zip(&uses) {
                    registers.insert(to, value);
                }
                continue;
            }
            let mut hash = 0xcbf2_9ce4_8422_2325u64;
            for byte in inst.name.bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
            }
            for &number in &inst.numbers {
                hash = (hash ^ u64::from(number)).wrapping_mul(0x100_0000_01b3);
            }
            for &value in &uses {
                hash = (hash ^ value).wrapping_mul(0x100_0000_01b3);
            }
            if inst.name != "const" {
                seen.push(hash);
            }
            for (k, &to) in defs.iter().enumerate() {
                let value =
                    if inst.name == "const" { hash } else { hash.wrapping_add(k as u64 * 77) };
                registers.insert(to, value);
            }
        }
        let next = func.successors(Edges::Logical, block);
        if next.is_empty() {
            break;
        }
        block = next[random.below(next.len() as u64) as usize];
    }
    seen
}

fn run(
    func: &Func<Plain>,
    rows: [u16; 3],
    policy: Policy,
    can_swap: bool,
) -> Result<(Func<Plain>, Allocation), Error> {
    let mut copy = func.clone();
    let result = allocate(&mut copy, &mut Plainly { can_swap }, &options(rows, policy))?;
    Ok((copy, result))
}

fn agree(before: &Func<Plain>, after: &Func<Plain>, seed: u64) {
    for path in 0..6 {
        let path = seed.wrapping_mul(31).wrapping_add(path).wrapping_mul(0x9e37_79b9);
        assert_eq!(trace(before, path, 60), trace(after, path, 60), "seed {seed}");
    }
}

#[test]
fn random_programs_are_allocated_proved_and_run_the_same() {
    let mut with_spills = 0;
    for seed in 0..400 {
        let func = generate(seed, RICH);
        verify(&func).unwrap();
        for policy in [Policy::Compact { free_rows: 2 }, Policy::Tight] {
            let (after, result) = run(&func, ROOMY, policy, seed % 2 == 0)
                .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            with_spills += u32::from(result.spilled > 0);
            verify(&after).unwrap();
            agree(&func, &after, seed);
        }
    }
    // There is room for everything; only fixed cells that are wanted twice at a time spill.
    assert!(with_spills <= 72, "{with_spills}");
}

#[test]
fn tiny_budgets_spill_and_still_run_the_same() {
    let mut spilled = 0;
    let mut recomputed = 0;
    for seed in 0..200 {
        let func = generate(seed, SCALAR);
        for rows in [3, 4, 6] {
            let (after, result) = run(&func, [rows, 8, 8], Policy::Compact { free_rows: 1 }, true)
                .unwrap_or_else(|error| panic!("seed {seed}, {rows} rows: {error}"));
            assert!(result.rows_used[0] <= rows, "seed {seed}: {} of {rows}", result.rows_used[0]);
            agree(&func, &after, seed);
            spilled += result.spilled;
            recomputed += result.recomputed;
        }
    }
    assert!(spilled > 2000 && recomputed > 200, "{spilled} spilled, {recomputed} recomputed");
}

#[test]
fn rows_and_runs_survive_small_budgets() {
    let mut outcomes = [0; 2];
    for seed in 0..200 {
        let func = generate(seed, RICH);
        for rows in [9, 12, 20] {
            match run(&func, [rows, 3, 4], Policy::Compact { free_rows: 1 }, true) {
                Ok((after, _)) => {
                    outcomes[0] += 1;
                    agree(&func, &after, seed);
                }
                // Arrays that live at once may exceed a tiny file.
                Err(Error::OutOfRegisters { .. }) => outcomes[1] += 1,
                Err(other) => panic!("seed {seed}, {rows} rows: {other}"),
            }
        }
    }
    assert!(outcomes[0] > 300, "{outcomes:?}");
}

#[test]
fn allocation_is_the_same_every_time() {
    for seed in 0..40 {
        let func = generate(seed, RICH);
        let one = run(&func, [12, 8, 8], Policy::Compact { free_rows: 2 }, true).unwrap();
        let two = run(&func, [12, 8, 8], Policy::Compact { free_rows: 2 }, true).unwrap();
        assert_eq!(one.1, two.1);
        assert_eq!(gpucc_ir::mach::print(&one.0), gpucc_ir::mach::print(&two.0));
    }
}

fn evidence_holds(proof: &Proof<Plain>, target: &Plainly, options: &crate::Options) -> bool {
    let evidence = Evidence {
        recorded: &proof.recorded,
        claims: &proof.claims,
        homes: &proof.spilled.home,
        again: &proof.spilled.again,
        target,
        options,
    };
    check(&proof.work, &evidence).is_ok()
}

#[test]
fn flipped_cells_are_caught() {
    let (mut caught, mut total) = (0u32, 0u32);
    for seed in 0..120 {
        let taste = if seed % 2 == 0 { RICH } else { SCALAR };
        let rows = if seed % 2 == 0 { ROOMY } else { [4, 8, 8] };
        let mut func = generate(seed, taste);
        let mut target = Plainly { can_swap: true };
        let options = options(rows, Policy::Compact { free_rows: 2 });
        let mut proof = solve(&mut func, &mut target, &options).unwrap();
        assert!(evidence_holds(&proof, &target, &options));
        let mut random = Random(seed + 1);
        for _ in 0..60 {
            let node = random.below(proof.work.nodes.len() as u64) as usize;
            let original = proof.work.nodes[node].inst.clone();
            let count = original.operands.len() as u64;
            // Only what the program itself does: half of a spill's copies may be dead.
            if count == 0 || !matches!(proof.work.nodes[node].origin, Origin::Program(_)) {
                continue;
            }
            let at = random.below(count) as usize;
            let operand = original.operands[at];
            // A result that nobody reads may be anywhere.
            if let Origin::Program(number) = proof.work.nodes[node].origin {
                let (v, _, role) = proof.recorded.of(number)[at];
                let mut named = proof.recorded.operands.iter();
                if role.is_def() && !named.any(|&(of, _, role)| (of, role) == (v, Role::Use)) {
                    continue;
                }
            }
            let used = proof.allocation.rows_used[operand.reg.cell().file.0 as usize];
            let file = FILES.get(operand.reg.cell().file);
            let cells = (used * u16::from(file.row)).max(2);
            let shift = 1 + random.below(u64::from(cells) - 1) as u16;
            let cell =
                Cell { index: (operand.reg.cell().index + shift) % cells, ..operand.reg.cell() };
            if Reg::phys(cell) == operand.reg {
                continue;
            }
            proof.work.nodes[node].inst.operands[at].reg = Reg::phys(cell);
            total += 1;
            let missed = evidence_holds(&proof, &target, &options);
            caught += u32::from(!missed);
            proof.work.nodes[node].inst = original;
        }
    }
    assert!(total > 3000, "{total}");
    // What is left are definitions that nobody reads, moved to cells that nobody needs.
    assert!(caught * 100 >= total * 95, "{caught} of {total}");
}

#[test]
fn dropped_and_reordered_instructions_are_caught() {
    for seed in 0..60 {
        let mut func = generate(seed, SCALAR);
        let mut target = Plainly { can_swap: true };
        let options = options([3, 8, 8], Policy::Compact { free_rows: 1 });
        let mut proof = solve(&mut func, &mut target, &options).unwrap();
        let position =
            proof.work.nodes.iter().position(|node| {
                matches!(node.origin, Origin::Program(_)) && node.inst.name == "sink"
            });
        let Some(position) = position else { continue };
        let kept = proof.work.nodes[position].clone();
        // A sink replaced by a copy of itself under another number.
        proof.work.nodes[position].origin = Origin::Program(0);
        assert!(!evidence_holds(&proof, &target, &options));
        proof.work.nodes[position] = kept;
        assert!(evidence_holds(&proof, &target, &options));
    }
}

#[test]
fn work_grows_linearly_with_the_program() {
    let steps = |size: u64, rows: u16| {
        let mut func = generate(5, Taste { size, depth: 3, scalar_only: false });
        let count = func.len();
        let result = allocate(
            &mut func,
            &mut Plainly { can_swap: true },
            &options([rows, 64, 32], Policy::Compact { free_rows: 4 }),
        );
        (count, result.unwrap().steps)
    };
    let (small_count, small) = steps(4000, 128);
    let (large_count, large) = steps(8000, 128);
    let growth = (large as f64 / small as f64) / (large_count as f64 / small_count as f64);
    assert!(growth < 1.25, "{small_count}: {small}, {large_count}: {large}");
}

#[test]
fn far_too_many_values_settle_in_few_rounds() {
    for (size, rows) in [(3000, 3), (3000, 6), (6000, 6)] {
        let taste = Taste { size, depth: 3, scalar_only: false };
        let mut func = generate(9, taste);
        let count = func.len() as u64;
        let rows = rows + 8;
        let options = options([rows, 8, 12], Policy::Compact { free_rows: 4 });
        let result = allocate(&mut func, &mut Plainly { can_swap: true }, &options).unwrap();
        assert!(result.spilled > 50, "{}", result.spilled);
        assert!(result.rounds <= 7, "{} rounds", result.rounds);
        assert!(result.steps < 2000 * count, "{} steps for {count}", result.steps);
    }
}

#[test]
fn more_values_than_there_are_registers_change_places_at_once() {
    let count = 60;
    let list = |first: usize, turn: usize| -> String {
        let names = (0..count).map(|k| format!("v{}", first + (k + turn) % count));
        names.collect::<Vec<_>>().join(" ")
    };
    let mut text = String::from("mach \"turn\"\n");
    for v in 0..2 * count {
        text += &format!("v{v}: R\n");
    }
    text += "b0: -> b1\n";
    for v in 0..count {
        text += &format!("    v{v} = make {v}\n");
    }
    let turned = list(count, 0).replace(' ', ", ");
    text += &format!("    {turned} = copy {}\n", list(0, 1));
    for v in 0..count {
        text += &format!("    sink v{} v{v}\n", count + v);
    }
    text += "b1:\n    end\n";
    let func = gpucc_ir::mach::parse(&text, FILES).unwrap();
    for policy in [Policy::Compact { free_rows: 1 }, Policy::Tight] {
        let (allocated, result) = run(&func, [4, 8, 8], policy, true).unwrap();
        assert!(result.spilled > 0);
        assert_eq!(trace(&func, 1, 4), trace(&allocated, 1, 4));
    }
}
