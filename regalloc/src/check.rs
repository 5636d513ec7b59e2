//! The symbolic checker: proves that every use reads the value its program wrote.
//!
//! It walks the allocated code once and keeps, for every cell and spill slot, the set of registers
//! of the program whose current value is there (component by component). A definition makes every
//! other copy of its register stale; a copy of the program makes the destination's value be wherever
//! the source's is; copies, loads and stores of the allocator move contents.
//!
//! Joins are proved by induction instead of iteration: for every block there is a list of claims (this
//! value is in this cell on entry); the block is walked with only its claims known, and at its end
//! the claims of all successors must hold, over logical edges for values per lane and physical edges
//! for the others. The entry has no claims. Where the claims come from does not matter: a missing one
//! fails at the use, a wrong one at an edge. Linear in instructions and claims.

mod constraints;

use crate::api::{Options, Target};
use crate::spill::Home;
use crate::work::{Origin, Recorded, Work, WorkNode, edge_kind, edge_kinds};
use cranelift_entity::EntityRef;
use gpucc_ir::mach::live::waiting;
use gpucc_ir::mach::{Access, Block, Cell, Demand, Inst, Operand, Part, Reg, Role, Slot, VReg};
use smallvec::SmallVec;
use std::ops::Range;

/// What the checker found wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{block}, instruction {index}: {what}")]
pub struct Refusal {
    /// Block of the instruction.
    pub block: Block,
    /// Index of the instruction within the block, after allocation.
    pub index: u32,
    /// What is wrong there.
    pub what: Wrong,
}

/// The kinds of wrong allocations.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    /// A use reads a cell that does not hold its value.
    #[error("operand {operand} reads {wanted} from {found:?}, which holds {holds:?}")]
    Stale {
        /// Operand, in the order of `Inst::operands`.
        operand: u32,
        /// The value the program wrote.
        wanted: VReg,
        /// The cell that the allocated instruction reads.
        found: Reg,
        /// What is there instead.
        holds: Vec<VReg>,
    },
    /// An operand breaks its constraint or its file's limit.
    #[error("operand {operand} at {found:?}: {rule}")]
    Misplaced {
        /// Operand, in the order of `Inst::operands`.
        operand: u32,
        /// Where it lies.
        found: Reg,
        /// The constraint it breaks.
        rule: &'static str,
    },
    /// A value that lives into a successor is not where the successor expects it.
    #[error("{wanted} is not in {found} at the edge to {to}")]
    Edge {
        /// The successor.
        to: Block,
        /// The value.
        wanted: VReg,
        /// The place where the successor expects it.
        found: String,
    },
    /// The instructions are not those of the program.
    #[error("the instructions are not those of the program: {0}")]
    Altered(&'static str),
}

/// A value that is in a place when a block begins.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    pub value: VReg,
    /// The cells of it that are there.
    pub part: Range<u16>,
    /// Where the whole would be.
    pub place: Place,
}

/// Where a value can be.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    Cell(Cell),
    Slot(Slot),
}

/// Claims of all blocks, by layout position.
#[derive(Clone, Debug, Default)]
pub(crate) struct Claims {
    pub start: Vec<u32>,
    pub list: Vec<Claim>,
}

impl Claims {
    fn of(&self, position: usize) -> &[Claim] {
        &self.list[self.start[position] as usize..self.start[position + 1] as usize]
    }
}

/// Everything the proof needs besides the code.
pub(crate) struct Evidence<'a, I, T> {
    pub recorded: &'a Recorded,
    pub claims: &'a Claims,
    pub homes: &'a [Home],
    /// Recomputed instructions of the program, sorted by number.
    pub again: &'a [(u32, I)],
    pub target: &'a T,
    pub options: &'a Options,
}

type Token = (VReg, u16);
/// Locations, each with the component of a value that it holds.
type Whereabouts = SmallVec<[(u32, u16); 4]>;

#[derive(Clone, Debug, Default)]
struct Location {
    epoch: u32,
    tokens: SmallVec<[Token; 2]>,
}

struct Checker<'a, I, T> {
    work: &'a Work<I>,
    evidence: &'a Evidence<'a, I, T>,
    epoch: u32,
    locations: Vec<Location>,
    file_base: SmallVec<[u32; 4]>,
    slot_base: Vec<u32>,
    /// Locations that may hold something of a value, with the epoch they are of.
    whereabouts: Vec<(u32, SmallVec<[u32; 2]>)>,
    /// Cells outside the budget that fixed operands name: the target's own choice. Found when asked for.
    fixed_beyond: std::cell::OnceCell<Vec<Cell>>,
    /// By block: cells that hold values of lanes that wait while it runs.
    waiting: Vec<SmallVec<[u32; 2]>>,
    /// Over which kinds of edges claims are carried at all.
    kinds: [bool; 2],
    position: usize,
    index: u32,
}

/// Checks the allocated code in `work`.
pub(crate) fn check<I: Inst, T: Target<I>>(
    work: &Work<I>,
    evidence: &Evidence<'_, I, T>,
) -> Result<(), Refusal> {
    let mut file_base = SmallVec::new();
    let mut total = 0u32;
    for file in work.files.0 {
        file_base.push(total);
        total += u32::from(file.cells);
    }
    let mut sizes: Vec<u32> = Vec::new();
    for node in &work.nodes {
        if let (Some(Access::Store(slot) | Access::Load(slot)), Origin::Move { count, .. }) =
            (node.inst.access(), node.origin)
        {
            let slot = slot.0 as usize;
            if sizes.len() <= slot {
                sizes.resize(slot + 1, 0);
            }
            sizes[slot] = sizes[slot].max(u32::from(count));
        }
    }
    let slot_base: Vec<u32> = sizes
        .iter()
        .map(|size| {
            let base = total;
            total += size;
            base
        })
        .collect();
    let mut checker = Checker {
        work,
        evidence,
        epoch: 0,
        locations: std::iter::repeat_with(Location::default).take(total as usize).collect(),
        file_base,
        slot_base,
        whereabouts: std::iter::repeat_with(Default::default).take(work.program_regs).collect(),
        fixed_beyond: std::cell::OnceCell::new(),
        waiting: vec![SmallVec::new(); work.blocks.len()],
        kinds: edge_kinds(&work.regs),
        position: 0,
        index: 0,
    };
    checker.waits();
    checker.recomputed_once()?;
    for position in 0..work.blocks.len() {
        checker.block(position)?;
    }
    Ok(())
}

impl<I: Inst, T: Target<I>> Checker<'_, I, T> {
    fn wrong(&self, what: Wrong) -> Refusal {
        Refusal { block: self.work.blocks[self.position].block, index: self.index, what }
    }

    /// A recomputed register has one definition.
    fn recomputed_once(&self) -> Result<(), Refusal> {
        let mut wanted: Vec<VReg> = Vec::new();
        for (index, home) in self.evidence.homes.iter().enumerate() {
            if matches!(home, Home::Again(_)) {
                wanted.push(VReg::from_u32(index as u32));
            }
        }
        if wanted.is_empty() {
            return Ok(());
        }
        let mut count = vec![0u32; wanted.len()];
        for &(v, _, role) in &self.evidence.recorded.operands {
            if role.is_def()
                && let Ok(at) = wanted.binary_search(&v)
            {
                count[at] += 1;
            }
        }
        if count.iter().any(|&count| count != 1) {
            return Err(self.wrong(Wrong::Altered("a recomputed register has several definitions")));
        }
        Ok(())
    }

    /// What lanes that wait for a block expect there lies still in every block that the thread may run meanwhile.
    fn waits(&mut self) {
        let mut ignored = self.work.regs.iter().any(|reg| !reg.data.per_lane);
        ignored |= self.work.nodes.iter().any(|node| node.inst.ignores_mask());
        if !ignored {
            return;
        }
        for (block, meanwhile) in waiting(&self.work.succs[0], &self.work.succs[1]) {
            for claim in self.evidence.claims.of(block as usize) {
                let data = &self.work.regs[claim.value.index()].data;
                if let (Place::Cell(_), true) = (claim.place, data.per_lane) {
                    for k in claim.part.clone() {
                        let at = self.locate(claim.place, data.demand, k);
                        for &block in &meanwhile {
                            self.waiting[block as usize].push(at);
                        }
                    }
                }
            }
        }
    }

    /// A write for all lanes reaches nobody who waits.
    fn wakes_nobody(&self, at: u32) -> Result<(), Refusal> {
        match self.waiting[self.position].contains(&at) {
            true => Err(self
                .wrong(Wrong::Altered("a write for all lanes reaches a value of lanes that wait"))),
            false => Ok(()),
        }
    }

    fn block(&mut self, position: usize) -> Result<(), Refusal> {
        let work = self.work;
        self.position = position;
        self.index = 0;
        self.epoch += 1;
        for claim in self.evidence.claims.of(position) {
            let pinned = work.regs[claim.value.index()].pin;
            if position == 0 && pinned.is_none() {
                let found = format!("{:?}", claim.place);
                let (to, wanted) = (work.blocks[0].block, claim.value);
                return Err(self.wrong(Wrong::Edge { to, wanted, found }));
            }
            for k in claim.part.clone() {
                let at = self.locate(claim.place, self.demand(claim.value), k);
                self.add(at, (claim.value, k));
            }
        }
        let block = &work.blocks[position];
        let mut next = block.begins;
        for node in &work.nodes[block.first as usize..block.end as usize] {
            let own = match node.origin {
                Origin::Program(number) => number,
                Origin::Again(_) | Origin::Move { .. } => node.happened,
            };
            if own < next || own > block.happened {
                return Err(self.wrong(Wrong::Altered("an instruction is out of order")));
            }
            self.skipped(next..own)?;
            next = own;
            self.node(node)?;
            if matches!(node.origin, Origin::Program(_)) {
                next += 1;
            }
            self.index += 1;
        }
        self.skipped(next..block.happened)?;
        for kind in (0..2).filter(|&kind| self.kinds[kind]) {
            for &to in work.succs[kind].of(position) {
                for claim in self.evidence.claims.of(to as usize) {
                    if edge_kind(&work.regs[claim.value.index()].data) != kind {
                        continue;
                    }
                    let demand = self.demand(claim.value);
                    for k in claim.part.clone() {
                        let at = self.locate(claim.place, demand, k);
                        if !self.holds(at, (claim.value, k)) {
                            let to = work.blocks[to as usize].block;
                            let found = format!("{:?}", claim.place);
                            return Err(self.wrong(Wrong::Edge { to, wanted: claim.value, found }));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn demand(&self, v: VReg) -> Demand {
        self.work.regs[v.index()].data.demand
    }

    fn demand_of(&self, v: VReg, part: Part) -> Demand {
        let demand = self.demand(v);
        demand.of_part(part, self.work.files.get(demand.file).row)
    }

    /// The cells of an operand that lies where its register names a cell, each with the component of the value that it
    /// stands for.
    fn cells(
        &self,
        operand: &Operand,
        v: VReg,
        part: Part,
    ) -> impl Iterator<Item = (u32, u16)> + use<I, T> {
        let demand = self.demand(v);
        let components = part.cells(demand.count);
        let first = self.cell(operand.reg.cell(), 1, 0);
        let begin = components.start;
        components.map(move |k| {
            let distance = u32::from(k - begin) * u32::from(demand.stride);
            (first + distance, k)
        })
    }

    fn locate(&self, place: Place, demand: Demand, k: u16) -> u32 {
        match place {
            Place::Cell(cell) => self.cell(cell, demand.stride, k),
            Place::Slot(slot) => {
                self.slot_base.get(slot.0 as usize).map_or(u32::MAX, |base| base + u32::from(k))
            }
        }
    }

    fn cell(&self, cell: Cell, stride: u8, k: u16) -> u32 {
        self.file_base[cell.file.0 as usize]
            + u32::from(cell.index)
            + u32::from(k) * u32::from(stride)
    }

    fn tokens(&self, at: u32) -> &[Token] {
        match self.locations.get(at as usize) {
            Some(location) if location.epoch == self.epoch => &location.tokens,
            _ => &[],
        }
    }

    fn holds(&self, at: u32, token: Token) -> bool {
        self.tokens(at).contains(&token)
    }

    fn clear(&mut self, at: u32) {
        if let Some(location) = self.locations.get_mut(at as usize) {
            location.epoch = self.epoch;
            location.tokens.clear();
        }
    }

    fn add(&mut self, at: u32, token: Token) {
        let Some(location) = self.locations.get_mut(at as usize) else {
            return;
        };
        if location.epoch != self.epoch {
            location.epoch = self.epoch;
            location.tokens.clear();
        }
        if location.tokens.contains(&token) {
            return;
        }
        location.tokens.push(token);
        let (epoch, list) = &mut self.whereabouts[token.0.index()];
        if *epoch != self.epoch {
            *epoch = self.epoch;
            list.clear();
        }
        list.push(at);
    }

    /// The places that hold something of a value now, each with the component it holds.
    fn places(&self, v: VReg) -> Whereabouts {
        let (epoch, list) = &self.whereabouts[v.index()];
        let mut places = SmallVec::new();
        if *epoch != self.epoch {
            return places;
        }
        for &at in list {
            for &(other, k) in self.tokens(at) {
                if other == v && !places.contains(&(at, k)) {
                    places.push((at, k));
                }
            }
        }
        places
    }

    /// Every copy of a part of a value becomes stale.
    fn kill(&mut self, v: VReg, part: Part) {
        let cells = part.cells(u16::MAX);
        let (epoch, list) = &mut self.whereabouts[v.index()];
        if *epoch != self.epoch {
            return;
        }
        let locations = &mut self.locations;
        list.retain(|at| {
            let location = &mut locations[*at as usize];
            let tokens = &mut location.tokens;
            if location.epoch == *epoch {
                tokens.retain(|token| token.0 != v || !cells.contains(&token.1));
            }
            !part.is_whole() && location.epoch == *epoch && tokens.iter().any(|token| token.0 == v)
        });
    }

    /// Instructions of the program that are gone: copies, and definitions of what is recomputed.
    fn skipped(&mut self, numbers: std::ops::Range<u32>) -> Result<(), Refusal> {
        for number in numbers {
            let operands = self.evidence.recorded.of(number);
            if self.evidence.recorded.copies[number as usize] {
                let uses = operands.iter().filter(|operand| operand.2 == Role::Use);
                let defs = operands.iter().filter(|operand| operand.2.is_def());
                let pairs: SmallVec<[(VReg, Part, Part, Whereabouts); 4]> = uses
                    .zip(defs)
                    .map(|(from, to)| (to.0, to.1, from.1, self.places(from.0)))
                    .collect();
                for &(to, part, ..) in &pairs {
                    self.kill(to, part);
                }
                for (to, part, from, places) in pairs {
                    let (cells, from) = (part.cells(u16::MAX), from.cells(u16::MAX));
                    for (at, k) in places {
                        if from.contains(&k) {
                            self.add(at, (to, k - from.start + cells.start));
                        }
                    }
                }
                continue;
            }
            for &(v, part, role) in operands {
                if !role.is_def() || self.evidence.homes[v.index()] != Home::Again(number) {
                    return Err(self.wrong(Wrong::Altered("an instruction is missing")));
                }
                self.kill(v, part);
            }
            if operands.is_empty() {
                return Err(self.wrong(Wrong::Altered("an instruction is missing")));
            }
        }
        Ok(())
    }

    fn node(&mut self, node: &WorkNode<I>) -> Result<(), Refusal> {
        let mut operands: SmallVec<[Operand; 8]> = SmallVec::new();
        node.inst.operands(&mut |operand| operands.push(operand));
        for (k, operand) in operands.iter().enumerate() {
            if operand.reg.as_phys().is_none() {
                return Err(self.misplaced(k, operand, "it is not physical"));
            }
        }
        match node.origin {
            Origin::Program(number) => {
                self.program(number, &operands, node.inst.ignores_mask())?;
            }
            Origin::Again(number) => self.again(node, number, &operands)?,
            Origin::Move { count, stride } => self.moves(node, count, stride, &operands)?,
        }
        self.constraints(node, &operands)?;
        if node.inst.ends_scope() {
            for (file, &base) in self.work.files.0.iter().zip(&self.file_base.clone()) {
                if file.scope == gpucc_ir::mach::Scope::Clause {
                    for at in base..base + u32::from(file.cells) {
                        self.clear(at);
                    }
                }
            }
        }
        Ok(())
    }

    fn program(
        &mut self,
        number: u32,
        operands: &[Operand],
        ignores_mask: bool,
    ) -> Result<(), Refusal> {
        let values = self.evidence.recorded.of(number);
        if values.len() != operands.len() || self.evidence.recorded.copies[number as usize] {
            return Err(self.wrong(Wrong::Altered("an instruction has other operands")));
        }
        for (k, (operand, &(v, part, role))) in operands.iter().zip(values).enumerate() {
            if operand.role != role {
                return Err(self.wrong(Wrong::Altered("an instruction has other operands")));
            }
            self.within(k, operand, self.demand_of(v, part))?;
            if role.is_def() {
                continue;
            }
            for (at, component) in self.cells(operand, v, part) {
                if !self.holds(at, (v, component)) {
                    let holds = self.tokens(at).iter().map(|token| token.0).collect();
                    return Err(self.wrong(Wrong::Stale {
                        operand: k as u32,
                        wanted: v,
                        found: operand.reg,
                        holds,
                    }));
                }
            }
        }
        let defs = || operands.iter().zip(values).filter(|(operand, _)| operand.role.is_def());
        for (_, &(v, part, _)) in defs() {
            self.kill(v, part);
        }
        for (operand, &(v, part, _)) in defs() {
            for (at, _) in self.cells(operand, v, part) {
                if ignores_mask || !self.work.regs[v.index()].data.per_lane {
                    self.wakes_nobody(at)?;
                }
                self.clear(at);
            }
        }
        for (operand, &(v, part, _)) in defs() {
            for (at, component) in self.cells(operand, v, part) {
                if !self.tokens(at).is_empty() {
                    return Err(self.wrong(Wrong::Altered("two results in one cell")));
                }
                self.add(at, (v, component));
            }
        }
        Ok(())
    }

    fn again(
        &mut self,
        node: &WorkNode<I>,
        number: u32,
        operands: &[Operand],
    ) -> Result<(), Refusal> {
        let evidence = self.evidence;
        let found = evidence.again.binary_search_by_key(&number, |entry| entry.0);
        let original = found.ok().map(|at| &evidence.again[at].1);
        let values = evidence.recorded.of(number);
        let same = original.is_some_and(|inst| {
            evidence.target.remat(inst) && evidence.target.same_operation(inst, &node.inst)
        });
        let ([operand], &[(v, part, role)]) = (operands, values) else {
            return Err(self.wrong(Wrong::Altered("a recomputed instruction has other operands")));
        };
        if !same || !role.is_def() || evidence.homes[v.index()] != Home::Again(number) {
            return Err(self.wrong(Wrong::Altered("a recomputed instruction is not the program's")));
        }
        self.within(0, operand, self.demand_of(v, part))?;
        for (at, k) in self.cells(operand, v, part) {
            if node.inst.ignores_mask() || !self.work.regs[v.index()].data.per_lane {
                self.wakes_nobody(at)?;
            }
            self.clear(at);
            self.add(at, (v, k));
        }
        Ok(())
    }

    /// Copies, stores and loads of the allocator move contents, whatever they are.
    fn moves(
        &mut self,
        node: &WorkNode<I>,
        count: u16,
        stride: u8,
        operands: &[Operand],
    ) -> Result<(), Refusal> {
        let places = |this: &Self, place: Place| -> SmallVec<[u32; 4]> {
            (0..count)
                .map(|k| match place {
                    Place::Cell(cell) => this.cell(cell, stride, k),
                    Place::Slot(slot) => this.slot_base[slot.0 as usize] + u32::from(k),
                })
                .collect()
        };
        let mut from: SmallVec<[u32; 4]> = SmallVec::new();
        let mut to: SmallVec<[u32; 4]> = SmallVec::new();
        for operand in operands {
            let list = if operand.role.is_def() { &mut to } else { &mut from };
            list.extend(places(self, Place::Cell(operand.reg.cell())));
        }
        match node.inst.access() {
            Some(Access::Store(slot)) => to = places(self, Place::Slot(slot)),
            Some(Access::Load(slot)) => from = places(self, Place::Slot(slot)),
            None if node.inst.is_copy() => {}
            None => {
                return Err(
                    self.wrong(Wrong::Altered("an inserted instruction is no copy, load or store"))
                );
            }
        }
        if from.len() != to.len() {
            return Err(self.wrong(Wrong::Altered("an inserted copy has unequal sides")));
        }
        let contents: SmallVec<[SmallVec<[Token; 2]>; 4]> =
            from.iter().map(|&at| SmallVec::from_slice(self.tokens(at))).collect();
        for (&at, tokens) in to.iter().zip(&contents) {
            // What moves the thread's own value ignores the mask.
            let own = |token: &Token| !self.work.regs[token.0.index()].data.per_lane;
            if node.inst.ignores_mask() || tokens.iter().any(own) {
                self.wakes_nobody(at)?;
            }
        }
        for &at in &to {
            self.clear(at);
        }
        for (&at, tokens) in to.iter().zip(contents) {
            for token in tokens {
                self.add(at, token);
            }
        }
        Ok(())
    }
}
