//! Which values are the same in all lanes that run together: an analysis for lowering and scheduling.
//!
//! A value is *uniform* when, whenever it is computed, all active lanes of a wave (and of the
//! workgroup's waves, if they are at the same place) get the same bits. A region is *divergent* when
//! some lanes of a wave may be in it and others, which are still in the function, not.
//!
//! # Sound
//! Everything starts uniform and is made varying by what it depends on, until nothing changes:
//! - sources: lane-dependent inputs, memory that invocations may write, atomics, quads, helpers;
//! - operands;
//! - the condition of an `if`, for its results;
//! - a `break`, `continue` or `exit` under a varying condition, for all that its target collects:
//!   lanes arrive from different places or after different numbers of trips.
//!
//! Constants, workgroup numbers, sizes of bindings, loads from read-only bindings at uniform
//! addresses and textures at uniform coordinates are uniform. naga's own analysis is not used: it is
//! no proof.

pub mod flow;

use crate::shape::{Carries, Shape, carried_at};
use cranelift_entity::{EntitySet, SecondaryMap};
use gpucc_ir::ssa::{
    Builtin, Flags, Func, Imm, InputKind, Inst, Mem, Op, Region, Resource, ResourceKind, Value,
};
use smallvec::SmallVec;

/// What is known of a function's values and regions.
pub struct Uniformity {
    varying: EntitySet<Value>,
    divergent: EntitySet<Region>,
}

impl Uniformity {
    /// All active lanes hold the same bits.
    pub fn is_uniform(&self, value: Value) -> bool {
        !self.varying.contains(value)
    }

    /// Some lanes of a wave may run the region without the others.
    pub fn is_divergent(&self, region: Region) -> bool {
        self.divergent.contains(region)
    }

    /// Analyses a function. Linear in its size times the number of users that change.
    pub fn of(func: &Func) -> Uniformity {
        Uniformity::from_sources(func, |inst| is_source(func, inst), SecondaryMap::new())
    }

    /// The same for all invocations of a workgroup, where the caller knows of loads that give all of them the same from one
    /// address (`settled`).
    pub fn of_group(func: &Func, settled: impl Fn(Inst) -> bool) -> Uniformity {
        let is_source = |inst| is_source(func, inst) && !settled(inst);
        Uniformity::from_sources(func, is_source, SecondaryMap::new())
    }

    /// The same where the caller says which instructions give different lanes different values even from uniform operands.
    /// The loads of a variable among `loads` do so once something that is not uniform is stored there, or where not all
    /// lanes store.
    fn from_sources(
        func: &Func,
        is_source: impl Fn(Inst) -> bool,
        loads: SecondaryMap<Mem, Vec<Inst>>,
    ) -> Uniformity {
        if func.is_straight() && loads.is_empty() {
            return Uniformity::of_body(func, is_source);
        }
        let shape = Shape::find(func);
        let mut state = State {
            func,
            users: users(func),
            shape: &shape,
            varying: EntitySet::with_capacity(func.values.len()),
            split: EntitySet::with_capacity(func.insts.len()),
            joined: EntitySet::new(),
            continues: continues(func, &shape),
            loads,
            work: Vec::new(),
        };
        for (region, ..) in func.regions_in_order() {
            for &inst in &func.regions[region].insts {
                if is_source(inst) {
                    state.vary_results(inst);
                }
            }
        }
        while let Some(value) = state.work.pop() {
            let (from, to) = state.users.range(value);
            for index in from..to {
                let user = state.users.list[index];
                state.visit(user, value);
            }
        }
        let State { varying, split, .. } = state;
        let divergent = divergent_regions(func, &varying, &split);
        Uniformity { varying, divergent }
    }

    /// [`Uniformity::from_sources`] of a body without constructs: what makes a value stands before all its uses.
    fn of_body(func: &Func, is_source: impl Fn(Inst) -> bool) -> Uniformity {
        let mut varying = EntitySet::with_capacity(func.values.len());
        for &inst in &func.regions[func.body].insts {
            let data = &func.insts[inst];
            if data.args.iter().any(|&arg| varying.contains(arg)) || is_source(inst) {
                for &result in &data.results {
                    varying.insert(result);
                }
            }
        }
        Uniformity { varying, divergent: EntitySet::new() }
    }
}

fn continues(func: &Func, shape: &Shape) -> SecondaryMap<Inst, SmallVec<[Inst; 2]>> {
    let mut continues: SecondaryMap<Inst, SmallVec<[Inst; 2]>> = SecondaryMap::new();
    for (region, ..) in func.regions_in_order() {
        for &inst in &func.regions[region].insts {
            if func.insts[inst].op == Op::Continue
                && let Some(target) = shape.target[inst].expand()
            {
                continues[target].push(inst);
            }
        }
    }
    continues
}

/// Users of every value, flat.
struct Users {
    first: SecondaryMap<Value, u32>,
    count: SecondaryMap<Value, u32>,
    list: Vec<Inst>,
}

impl Users {
    fn range(&self, value: Value) -> (usize, usize) {
        let first = self.first[value] as usize;
        (first, first + self.count[value] as usize)
    }
}

fn users(func: &Func) -> Users {
    let regions = func.regions_in_order();
    let mut count: SecondaryMap<Value, u32> = func.by_value();
    let mut total = 0;
    for &(region, ..) in &regions {
        for &inst in &func.regions[region].insts {
            for &arg in &func.insts[inst].args {
                count[arg] += 1;
                total += 1;
            }
        }
    }
    let mut first: SecondaryMap<Value, u32> = func.by_value();
    let mut at = 0;
    for value in func.values.keys() {
        first[value] = at;
        at += count[value];
        count[value] = 0;
    }
    let body = func.body;
    let filler = func.regions[body].insts.first().copied();
    let mut list = match filler {
        Some(inst) => vec![inst; total],
        None => Vec::new(),
    };
    for &(region, ..) in &regions {
        for &inst in &func.regions[region].insts {
            for &arg in &func.insts[inst].args {
                list[(first[arg] + count[arg]) as usize] = inst;
                count[arg] += 1;
            }
        }
    }
    Users { first, count, list }
}

fn read_only(func: &Func, resource: Resource) -> bool {
    match func.resources[resource].kind {
        ResourceKind::Uniform { .. }
        | ResourceKind::Immediate { .. }
        | ResourceKind::Texture { .. }
        | ResourceKind::Sampler { .. } => true,
        ResourceKind::Storage { access, .. } | ResourceKind::StorageTexture { access, .. } => {
            !access.store && !access.atomic
        }
    }
}

/// Gives different lanes different values even from uniform operands.
fn is_source(func: &Func, inst: Inst) -> bool {
    let data = &func.insts[inst];
    let flags = data.flags();
    if flags.has(Flags::QUAD) {
        return true;
    }
    match (data.op, data.imm) {
        (Op::Input, Imm::Input(input, _)) => !matches!(
            func.inputs[input].kind,
            InputKind::Builtin(
                Builtin::WorkgroupId
                    | Builtin::NumWorkgroups
                    | Builtin::NumSubgroups
                    | Builtin::SubgroupSize
                    | Builtin::BaseVertex
                    | Builtin::BaseInstance
                    | Builtin::DrawIndex
                    | Builtin::ViewIndex
            )
        ),
        (Op::BufferLoad, Imm::Resource(buffer)) => !read_only(func, buffer),
        (Op::Tex, Imm::Tex(tex)) => !read_only(func, tex.texture),
        _ => flags.has(Flags::READS) || flags.has(Flags::EFFECT),
    }
}

struct State<'a> {
    func: &'a Func,
    users: Users,
    shape: &'a Shape,
    varying: EntitySet<Value>,
    /// Constructs that lanes leave at different places or times.
    split: EntitySet<Inst>,
    /// Loops whose continuing lanes come to from different places.
    joined: EntitySet<Inst>,
    /// The `continue`s of each loop.
    continues: SecondaryMap<Inst, SmallVec<[Inst; 2]>>,
    /// Loads of variables whose contents have been uniform so far.
    loads: SecondaryMap<Mem, Vec<Inst>>,
    work: Vec<Value>,
}

impl State<'_> {
    fn vary(&mut self, value: Value) {
        if self.varying.insert(value) {
            self.work.push(value);
        }
    }

    fn vary_results(&mut self, inst: Inst) {
        for &result in &self.func.insts[inst].results {
            self.vary(result);
        }
    }

    fn visit(&mut self, user: Inst, value: Value) {
        let func = self.func;
        let data = &func.insts[user];
        match data.op {
            Op::If => {
                self.vary_results(user);
                for &region in &data.regions {
                    self.split_by(region);
                }
            }
            Op::Loop => {
                let body = data.regions[0];
                for (index, &init) in data.args.iter().enumerate() {
                    if init == value {
                        self.vary(func.regions[body].params[index]);
                    }
                }
            }
            _ if data.op.is_terminator() => {
                if data.op == Op::BreakIf
                    && data.args[0] == value
                    && let Some(target) = self.shape.target[user].expand()
                {
                    self.split_loop(target);
                }
                if let Some(target) = self.shape.target[user].expand() {
                    self.carry(user, target, value);
                }
            }
            _ => {
                self.stored(user);
                self.vary_results(user);
            }
        }
    }

    /// A store of what is not uniform, or that not all lanes make: loads of its variable differ from now on.
    fn stored(&mut self, inst: Inst) {
        let data = &self.func.insts[inst];
        if let (Op::MemStore | Op::MemAtomic, Imm::Mem(access) | Imm::MemAtomic(access, _)) =
            (data.op, data.imm)
        {
            for load in std::mem::take(&mut self.loads[access.mem]) {
                self.vary_results(load);
            }
        }
    }

    /// A terminator hands a varying value to its target.
    fn carry(&mut self, user: Inst, target: Inst, value: Value) {
        let func = self.func;
        let data = &func.insts[target];
        let lists: [(Carries, &[Value]); 3] = [
            (Carries::Results, &data.results),
            (Carries::Params, data.regions.first().map_or(&[], |&r| &func.regions[r].params)),
            (Carries::Continuing, data.regions.get(1).map_or(&[], |&r| &func.regions[r].params)),
        ];
        for (which, list) in lists {
            for (index, &to) in list.iter().enumerate() {
                if carried_at(func, user, target, which, index) == Some(value) {
                    self.vary(to);
                }
            }
        }
    }

    /// Lanes part at the entry of `region`: whoever leaves from inside it to somewhere outside makes
    /// its target collect lanes from different places.
    fn split_by(&mut self, region: Region) {
        let mut work = vec![region];
        while let Some(region) = work.pop() {
            for &inst in &self.func.regions[region].insts {
                let data = &self.func.insts[inst];
                if matches!(data.op, Op::Break | Op::Continue | Op::Exit | Op::BreakIf)
                    && let Some(target) = self.shape.target[inst].expand()
                {
                    if data.op == Op::Continue {
                        self.split_continuing(target);
                    }
                    self.split_loop(target);
                }
                self.stored(inst);
                work.extend(data.regions.iter().copied());
            }
        }
    }

    /// Lanes come to a loop's continuing from different places: what these give differs, but for what all give alike.
    fn split_continuing(&mut self, target: Inst) {
        if !self.joined.insert(target) {
            return;
        }
        let func = self.func;
        let continuing = func.insts[target].regions[1];
        let from = &self.continues[target];
        let given = |inst: Inst, index| carried_at(func, inst, target, Carries::Continuing, index);
        let differing = (0..func.regions[continuing].params.len()).filter(|&index| {
            let first = from.first().and_then(|&inst| given(inst, index));
            first.is_none() || from.iter().any(|&inst| given(inst, index) != first)
        });
        for index in differing.collect::<Vec<_>>() {
            self.vary(func.regions[continuing].params[index]);
        }
    }

    /// Lanes leave a loop after different numbers of trips, or a block from different places.
    fn split_loop(&mut self, target: Inst) {
        if self.split.insert(target) {
            self.vary_results(target);
            // Those that have left store nothing more.
            let mut work = match self.loads.is_empty() {
                true => Vec::new(),
                false => self.func.insts[target].regions.to_vec(),
            };
            while let Some(region) = work.pop() {
                for &inst in &self.func.regions[region].insts {
                    self.stored(inst);
                    work.extend(self.func.insts[inst].regions.iter().copied());
                }
            }
        }
    }
}

/// Regions below a varying condition, or inside a construct that lanes leave early.
fn divergent_regions(
    func: &Func,
    varying: &EntitySet<Value>,
    split: &EntitySet<Inst>,
) -> EntitySet<Region> {
    let mut divergent: EntitySet<Region> = EntitySet::with_capacity(func.regions.len());
    // Outermost first, so a region is decided before what it holds.
    for (region, ..) in func.regions_in_order() {
        let around = divergent.contains(region);
        for &inst in &func.regions[region].insts {
            let data = &func.insts[inst];
            let own = match data.op {
                Op::If => varying.contains(data.args[0]),
                _ => split.contains(inst),
            };
            if own || around {
                for &inner in &data.regions {
                    divergent.insert(inner);
                }
            }
        }
    }
    divergent
}
