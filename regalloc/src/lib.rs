#![forbid(unsafe_code)]
//! One register allocator for all back ends: registers are arrays of cells.
//!
//! [`allocate`] takes a machine function over virtual registers and leaves one over physical cells.
//! Copies that no file could hold are taken apart (`apart`). In one round it computes liveness (`live`), forms classes of registers that share a place and
//! units of classes that lie together (`classes`), and gives them cells (`color`). If something
//! had to be spilled, spill code is written (`spill`) and another round begins. In the end copies
//! are ordered (`moves`) and written (`finish`), and the symbolic checker ([`check`]) proves the
//! result before it is returned.
//!
//! Every step is linear, or linear times a logarithm; the result does not depend on anything but
//! the input.
//!
//! # Registers, classes, units
//! A virtual register says what it needs ([`Demand`](gpucc_ir::mach::Demand)): cells of a file, their stride, positions of the
//! first in its row. It lives from its writes to its reads, in segments with holes between them; values of lanes live over
//! logical edges, values of the thread over physical ones. Registers that are never alive at the same time may form a *class*
//! and share a place: copies vanish so. Operands that must lie in one row or in one run tie classes into a *unit*, which gets
//! its cells at once. Where an operand's constraint clashes with what the class has agreed to, the operand gets a short
//! register of its own and a copy.
//!
//! # Parts
//! An operand may name a part of a register of several cells ([`Part`](gpucc_ir::mach::Part)). Liveness follows the pieces of
//! such a register on their own: a write of a part ends the life of these cells alone, so that the first of several writes
//! begins the register's life and no write reads what it leaves. The register occupies all its cells while one piece is
//! alive. Relations and positions of a part hold for its first cell; in a run it lies at its distance from where its class
//! begins, so parts of a payload need no copies. A part that must lie in a fixed cell or in a row with others is copied there.
//! A copy of a part vanishes by laying one class over the other at that distance, if they are never alive at the same time. A
//! register that is only named whole pays for none of this.
//!
//! # Homes
//! What finds no cell goes, in this order: recomputed at each use ([`Target::remat`]); to another file
//! ([`Target::spill_file`]), from there perhaps further; to a slot in memory ([`Target::store`]). Copies from and to another file
//! move the part that the instruction names. A slot is loaded and stored whole; an instruction that writes a part of it stands
//! between both. A parallel copy that names parts is not taken apart, however much it moves.
//!
//! # Proof
//! The checker knows nothing of classes and colours. It follows which cell of which register of the program each physical cell
//! and each slot holds, and asks at each use for the cells that the program names there. What the allocator believes at the
//! starts of blocks are claims, proved at the ends of those before them. No result leaves [`allocate`] unproved.

mod apart;
mod api;
pub mod check;
mod classes;
mod color;
mod finish;
mod live;
mod moves;
mod segment;
mod spill;
mod work;

pub use api::{Allocation, Error, Options, Policy, Shape, Target};

use check::{Claim, Claims, Evidence, Place};
use cranelift_entity::EntityRef;
use gpucc_ir::mach::{Cell, Func, Inst, Node, Slot, VReg};
use spill::{Home, Spilled};
use work::{NONE, Recorded, Work};

/// Rounds after which spilling is broken: each round spills something that was not spilled before,
/// and a handful suffices for every program seen.
const MOST_ROUNDS: u32 = 40;

/// Gives every virtual register a place, inserting copies and spill code through the target's hooks.
///
/// # Errors
/// See [`Error`]. The function is left in an unspecified state then.
pub fn allocate<I: Inst, T: Target<I>>(
    func: &mut Func<I>,
    target: &mut T,
    options: &Options,
) -> Result<Allocation, Error> {
    let Proof { work, recorded, claims, spilled, allocation } = solve(func, target, options)?;
    let whole = without_holes(options);
    let options = if allocation.filled_holes { &whole } else { options };
    let evidence = Evidence {
        recorded: &recorded,
        claims: &claims,
        homes: &spilled.home,
        again: &spilled.again,
        target,
        options,
    };
    check::check(&work, &evidence)?;
    let mut nodes = work.nodes.into_iter();
    for block in &work.blocks {
        let count = (block.end - block.first) as usize;
        let list = nodes.by_ref().take(count).map(|node| Node { inst: node.inst, span: node.span });
        func.blocks[block.block].nodes.extend(list);
    }
    Ok(allocation)
}

fn without_holes(options: &Options) -> Options {
    Options { holes: Vec::new(), ..options.clone() }
}

/// An allocation with everything its proof needs.
struct Proof<I> {
    work: Work<I>,
    recorded: Recorded,
    claims: Claims,
    spilled: Spilled<I>,
    allocation: Allocation,
}

fn solve<I: Inst, T: Target<I>>(
    func: &mut Func<I>,
    target: &mut T,
    options: &Options,
) -> Result<Proof<I>, Error> {
    let given = func.vregs.len();
    apart::apart(func, target, options);
    let (mut work, recorded) = work::flatten(func)?;
    for reg in &mut work.regs {
        reg.tiny |= !target.can_spill(Shape::of(&reg.data));
    }
    let mut spilled = Spilled {
        home: vec![Home::Register; work.program_regs],
        slots: 0,
        spilled: 0,
        moved: 0,
        recomputed: 0,
        began: false,
        again: Vec::new(),
    };
    let mut allocation =
        Allocation { rows_used: vec![0; func.files.0.len()], ..Allocation::default() };
    let whole = without_holes(options);
    let mut options = options;
    // Who lives into each block in the program itself: where slots must hold their values.
    let mut program_live: Option<live::Live> = None;
    loop {
        allocation.rounds += 1;
        let mut live = live::liveness(&work, options.budget)?;
        allocation.steps += live.steps;
        let count = |v: VReg| work.regs[v.index()].data.demand.count;
        if let Some((v, _)) =
            live.at_start_of(0, count).find(|(v, _)| work.regs[v.index()].pin.is_none())
        {
            let root = work.regs[v.index()].root;
            return Err(Error::Invalid(format!(
                "{root} is read on a path on which nothing was written to it"
            )));
        }
        let mut classes = match classes::classify(&work, &mut live, false) {
            Ok(classes) => classes,
            Err(_) => {
                live = live::liveness(&work, options.budget)?;
                classes::classify(&work, &mut live, true)?
            }
        };
        let has_holes = options.fill_holes && !options.holes.is_empty();
        // With holes, what would store something is not wanted.
        let stored = std::cell::OnceCell::new();
        let loses = |class: u32| {
            let stored = stored.get_or_init(|| spill::stored(&work, &classes, target));
            stored[class as usize]
        };
        let loses: Option<&dyn Fn(u32) -> bool> = if has_holes { Some(&loses) } else { None };
        let mut colors = color::color(&classes, work.files, options, allocation.rounds, loses);
        if has_holes
            && !colors.fits()
            && (colors.stuck.is_some()
                || !spill::recomputable(&work, &mut classes, &colors.spilled, target))
        {
            allocation.steps += colors.steps;
            allocation.filled_holes = true;
            options = &whole;
            colors = color::color(&classes, work.files, options, allocation.rounds, None);
        }
        allocation.steps += classes.steps + colors.steps;
        options.budget.work("steps of register allocation", allocation.steps)?;
        if colors.fits() {
            let cells: Vec<Option<Cell>> = (0..work.regs.len())
                .map(|index| {
                    let root = classes.find(index as u32) as usize;
                    let file = classes.class[root].shape.file;
                    Some(colors.cell[root])
                        .filter(|&cell| cell != NONE)
                        .map(|cell| Cell { file, index: cell as u16 })
                })
                .collect();
            let claims = claims(&work, &live, program_live.as_ref(), &cells, &spilled);
            finish::finish(&mut work, &mut classes, &colors, target, &mut allocation)?;
            allocation.cells = cells[..given].to_vec();
            for (cell, home) in allocation.cells.iter_mut().zip(&spilled.home) {
                if *home != Home::Register {
                    *cell = None;
                }
            }
            allocation.slots = spilled.slots;
            allocation.spilled = spilled.spilled;
            allocation.moved = spilled.moved;
            allocation.recomputed = spilled.recomputed;
            return Ok(Proof { work, recorded, claims, spilled, allocation });
        }
        let progress = spill::spill(&mut work, &mut classes, &colors.spilled, target, &mut spilled);
        if !progress {
            let class =
                colors.stuck.or(colors.spilled.first().copied()).expect("something did not fit");
            let data = &classes.class[class as usize];
            let file = work.files.get(data.shape.file);
            let rows = options.rows.get(data.shape.file.0 as usize).copied();
            let node = data.segments.first().map_or(0, |segment| segment.start / 4);
            return Err(Error::OutOfRegisters {
                file: file.name,
                rows: rows.unwrap_or(file.cells / u16::from(file.row)),
                instruction: work.nodes.get(node as usize).map_or(node, |node| node.happened),
            });
        }
        if allocation.rounds >= MOST_ROUNDS {
            return Err(Error::NotConverged { rounds: allocation.rounds });
        }
        program_live.get_or_insert(live);
    }
}

/// Where each value is when a block begins, as the allocator believes.
fn claims<I: Inst>(
    work: &Work<I>,
    live: &live::Live,
    program_live: Option<&live::Live>,
    cells: &[Option<Cell>],
    spilled: &Spilled<I>,
) -> Claims {
    let mut claims = Claims { start: vec![0], list: Vec::new() };
    let count = |v: VReg| work.regs[v.index()].data.demand.count;
    for position in 0..work.blocks.len() {
        for (v, part) in live.at_start_of(position, count) {
            if let Some(cell) = cells[v.index()] {
                claims.list.push(Claim {
                    value: work.regs[v.index()].root,
                    part,
                    place: Place::Cell(cell),
                });
            }
        }
        let in_program = program_live.map(|live| live.at_start_of(position, count));
        for (v, part) in in_program.into_iter().flatten() {
            if let Home::Slot(slot) = spilled.home[v.index()] {
                claims.list.push(Claim { value: v, part, place: Place::Slot(Slot(slot)) });
            }
        }
        claims.start.push(claims.list.len() as u32);
    }
    claims
}

#[cfg(test)]
mod tests;
