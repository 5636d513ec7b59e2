//! Vectors: single operations on two vertices that do the same become one step on up to four components, before allocation.
//!
//! What is alike is found from operands to results: two steps join where they have one operation and each operand comes from
//! one base (a register of two vertices, half of a register of constants, the components of a vector that is known already).
//! Swizzles cost nothing, so the component that a value gets is free. What wants several values beside each other decides it where it
//! can (`place`): they are components of one register, which several steps may write.

mod chains;
mod joins;
mod place;
mod rows;

use crate::clean::count;
use crate::inst::{self, GPR, Inst, Source, Src, Swizzled, small};
use crate::isa::operand::Type;
use crate::isa::ops::Opcode;
use chains::Asked;
use gpucc_ir::mach::{self, Demand, Func, Inst as _, Node, Reg, Role, VReg};
use gpucc_ir::ssa::Span;
use joins::Joins;
use place::Home;
use rows::Rows;
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

/// Vectors of one kind that a step may still join: the last of them.
const OPEN: usize = 8;

/// The number of [`Inst::Choose`] among operations.
const CHOICE: u8 = 0xff;
/// The number of [`Inst::Math`] among operations.
const FUNCTION: u8 = 0xfe;
/// The number of [`Inst::Dot`] among operations.
const DOT: u8 = 0xfd;

/// Where the components of an operand come from.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Base {
    /// A vector of this pass.
    Group(u32),
    /// A register that several steps of this pass write.
    Home(u32),
    /// What was there before this pass.
    Known(inst::Base),
}

/// A base with what is done to the operand: the negative, the absolute value.
type Operand = (Base, bool, bool);
/// What is done, by numbers, and the operands.
type Key = ([u8; 4], SmallVec<[Operand; 4]>);

/// Steps that become one.
struct Group {
    /// The steps by component, and whether their operands are exchanged.
    members: [Option<(usize, bool)>; 4],
    level: u32,
    /// A later step has asked for the level.
    read: bool,
    /// The register that other steps write too.
    home: Option<u32>,
    /// The register of the vector, where there are several steps.
    packed: Option<VReg>,
}

impl Group {
    fn count(&self) -> usize {
        self.members.iter().flatten().count()
    }
}

/// Where a value is that became a component.
type Part = (VReg, u8);

fn index(reg: VReg) -> usize {
    cranelift_entity::EntityRef::index(reg)
}

/// Packs what it can. `offsets`: the register of four times the lanes' numbers.
pub fn pack(func: &mut Func<Inst>, offsets: u8) {
    let counts = count(func);
    let single: Vec<bool> = counts.definitions.iter().map(|&count| count == 1).collect();
    let mut parts: Vec<Option<Part>> = vec![None; func.vregs.len()];
    let rows = rows::rows(func, &single, &mut parts, offsets);
    let joins = Joins::find(func, &counts, &mut parts);
    for block in func.layout.clone() {
        let nodes = choices(std::mem::take(&mut func.blocks[block].nodes), &single);
        let mut done = Vec::with_capacity(nodes.len());
        let mut segment = Vec::new();
        let mut at = 0;
        while at < nodes.len() {
            let known = (&single[..], &rows);
            let mut steps = 1;
            if let Some((together, found, wanted)) = joins.place(&nodes, at, &counts.definitions) {
                steps = together;
                if !wanted.is_empty() {
                    let before = std::mem::take(&mut segment);
                    run(func, known, &mut parts, (before, &wanted), &mut done);
                    joins.write(func, &parts, (&nodes[at..at + steps], &found), &mut done);
                    at += steps;
                    continue;
                }
            }
            for node in &nodes[at..at + steps] {
                if is_mark(&node.inst) {
                    let before = std::mem::take(&mut segment);
                    run(func, known, &mut parts, (before, &[]), &mut done);
                    done.push(node.clone());
                } else {
                    segment.push(node.clone());
                }
            }
            at += steps;
        }
        run(func, (&single, &rows), &mut parts, (segment, &[]), &mut done);
        func.blocks[block].nodes = done;
    }
    name(func, &parts);
}

/// Comparisons that decide one choice alone become one step with it, where they are side by side.
fn choices(nodes: Vec<Node<Inst>>, single: &[bool]) -> Vec<Node<Inst>> {
    let mut done: Vec<Node<Inst>> = Vec::with_capacity(nodes.len());
    // Somebody reads the flag further on, before it is set again; and behind the last choice. No flag outlives its block.
    let (mut read, mut behind) = (false, false);
    for node in nodes.into_iter().rev() {
        if let Inst::Compare(test) = &node.inst
            && test.join.is_none()
            && let Some(Node { inst: Inst::Select { dst, inverse, yes, no }, span }) = done.last()
            && dst.as_virt().is_some_and(|dst| single.get(index(dst)) == Some(&true))
            && !behind
        {
            let lanes = |of: Source| Swizzled { of, select: 0 };
            let inst = Inst::Choose {
                dst: *dst,
                condition: test.condition,
                ty: test.ty,
                channels: 0,
                inverse: *inverse,
                sources: [test.first, test.second, *yes, *no].map(lanes),
                keep: None,
            };
            let span = *span;
            done.pop();
            done.push(Node { inst, span });
            read = false;
            continue;
        }
        match &node.inst {
            Inst::Compare(test) => read = test.join.is_some(),
            Inst::Truth { .. } | Inst::Round { .. } => read = false,
            Inst::Flagged { .. } | Inst::If { .. } | Inst::While { flag: Some(_) } => read = true,
            Inst::Select { .. } => (read, behind) = (true, read),
            _ => {}
        }
        done.push(node);
    }
    done.reverse();
    done
}

/// Nothing moves across it.
fn is_mark(inst: &Inst) -> bool {
    matches!(
        inst,
        Inst::If { .. }
            | Inst::Else
            | Inst::EndIf
            | Inst::Do
            | Inst::While { .. }
            | Inst::Break(_)
            | Inst::Masks { .. }
            | Inst::Advance { .. }
            | Inst::Entry { .. }
            | Inst::Leave { .. }
            | Inst::Mark { .. }
            | Inst::Close
            | Inst::End
    )
}

/// A step that may become a component: one word on doublewords.
fn joins(inst: &Inst) -> bool {
    if let Inst::Dot { .. } = inst {
        return true;
    }
    if let Inst::Choose { sources, .. } = inst {
        return sources.iter().all(|source| is_placed(&source.of));
    }
    if let Inst::Math { source, .. } = inst {
        return is_placed(source) && !matches!(source.src, Src::Bits(_));
    }
    let Inst::Alu { opcode, to, from, sources, .. } = inst else { return false };
    let wide = |ty: Type| matches!(ty, Type::F | Type::D | Type::Ud);
    let known = matches!(
        opcode,
        Opcode::Mov
            | Opcode::Add
            | Opcode::Mul
            | Opcode::And
            | Opcode::Or
            | Opcode::Xor
            | Opcode::Not
            | Opcode::Shl
            | Opcode::Shr
            | Opcode::Asr
            | Opcode::Rndd
            | Opcode::Frc
    );
    known && wide(*to) && wide(*from) && sources.iter().all(is_placed)
}

/// A source that Align16 can name.
fn is_placed(source: &Source) -> bool {
    matches!(
        source.src,
        Src::Reg(_) | Src::Part { .. } | Src::Pair { .. } | Src::Scalar { .. } | Src::Bits(_)
    )
}

/// A product of doublewords takes the low word of its first factor alone. G45 vol. 4, 14.2.29.
fn commutes(opcode: Opcode, ty: Type) -> bool {
    match opcode {
        Opcode::Mul => ty == Type::F,
        _ => matches!(opcode, Opcode::Add | Opcode::And | Opcode::Or | Opcode::Xor),
    }
}

/// A segment while it is packed.
struct Segment<'a> {
    single: &'a [bool],
    parts: &'a mut [Option<Part>],
    nodes: Vec<Node<Inst>>,
    /// The step that defines a register here.
    makers: BTreeMap<VReg, usize>,
    groups: Vec<Group>,
    /// The group of each step.
    of: Vec<Option<u32>>,
    /// A level above those of all operands.
    levels: Vec<u32>,
    /// The step before that keeps its order, of each that does.
    before: Vec<Option<usize>>,
    /// The component that a slot wants of a step's value.
    wishes: Vec<Option<u8>>,
    /// Registers that several steps write, and the one of each step's value.
    homes: Vec<Home>,
    home: Vec<Option<(u32, u8)>>,
    /// The least level of each step.
    floors: Vec<u32>,
}

fn run(
    func: &mut Func<Inst>,
    (single, rows): (&[bool], &Rows),
    parts: &mut [Option<Part>],
    (nodes, wanted): (Vec<Node<Inst>>, &[[Option<VReg>; 4]]),
    done: &mut Vec<Node<Inst>>,
) {
    if nodes.len() < 2 {
        done.extend(nodes);
        return;
    }
    let count = nodes.len();
    let mut segment = Segment {
        single,
        parts,
        nodes,
        makers: BTreeMap::new(),
        groups: Vec::new(),
        of: vec![None; count],
        levels: vec![0; count],
        before: vec![None; count],
        wishes: vec![None; count],
        homes: Vec::new(),
        home: vec![None; count],
        floors: vec![0; count],
    };
    segment.find(rows);
    segment.give_homes(wanted);
    let asked = Asked {
        homes: segment.homes.clone(),
        home: segment.home.clone(),
        floors: segment.floors.clone(),
    };
    segment.lay(&asked);
    segment.join_chains(asked);
    segment.write(func, done);
}

impl Segment<'_> {
    /// Who defines what, and what keeps its order: all but pure steps on registers that are written once.
    fn find(&mut self, rows: &Rows) {
        let mut last = None;
        // What is written more than once and not here is the same all along.
        let mut written: BTreeSet<VReg> = BTreeSet::new();
        for node in &self.nodes {
            node.inst.operands(&mut |operand: mach::Operand| {
                written.extend(operand.reg.as_virt().filter(|_| operand.role.is_def()));
            });
        }
        for (at, node) in self.nodes.iter().enumerate() {
            let mut free = matches!(
                node.inst,
                Inst::Alu { .. }
                    | Inst::Choose { .. }
                    | Inst::Dot { .. }
                    | Inst::Math { .. }
                    | Inst::Product { .. }
                    | Inst::ProductHigh { .. }
                    | Inst::Divide { .. }
                    | Inst::Table { .. }
            );
            node.inst.operands(&mut |operand: mach::Operand| match operand.reg.as_virt() {
                Some(reg) => {
                    let single = self.single.get(index(reg)).copied().unwrap_or(false);
                    free &= single || !operand.role.is_def() && !written.contains(&reg);
                    if operand.role.is_def() {
                        self.makers.insert(reg, at);
                        let words = rows.get(&reg).into_iter().flatten().flatten();
                        self.makers.extend(words.map(|&word| (word, at)));
                    }
                }
                None => free = false,
            });
            if !free {
                self.before[at] = Some(last.unwrap_or(at));
                last = Some(at);
            }
        }
    }

    /// Groups steps anew, with what is asked for.
    fn lay(&mut self, asked: &Asked) {
        self.homes.clone_from(&asked.homes);
        self.home.clone_from(&asked.home);
        self.floors.clone_from(&asked.floors);
        self.groups.clear();
        self.of.fill(None);
        self.levels.fill(0);
        self.wishes.fill(None);
        self.wish();
        self.group();
    }

    /// What stands in a slot wants its component, and so do its operands.
    fn wish(&mut self) {
        for at in (0..self.nodes.len()).rev() {
            let inst = &self.nodes[at].inst;
            let own = self.wishes[at];
            let alike = matches!(inst, Inst::Alu { .. } | Inst::Choose { .. } | Inst::Math { .. });
            let wanted: SmallVec<[(usize, u8); 4]> = inst
                .sources()
                .iter()
                .enumerate()
                .filter_map(|(number, source)| {
                    let wish = match inst {
                        Inst::Slot { .. } => Some(number as u8),
                        Inst::Dot { sources, .. } => Some((number % (sources.len() / 2)) as u8),
                        _ if alike => own,
                        _ => None,
                    };
                    Some((self.maker(source.src)?, wish?))
                })
                .collect();
            for (maker, wish) in wanted {
                self.wishes[maker].get_or_insert(wish);
            }
        }
        for (wish, home) in self.wishes.iter_mut().zip(&self.home) {
            *wish = home.map(|(_, component)| component).or(*wish);
        }
    }

    fn maker(&self, src: Src) -> Option<usize> {
        match src {
            Src::Reg(reg) => self.makers.get(&reg.as_virt()?).copied(),
            _ => None,
        }
    }

    /// What a step must stand behind: steps of this segment.
    fn needs(&self, at: usize) -> SmallVec<[usize; 4]> {
        let mut needs = SmallVec::new();
        self.nodes[at].inst.operands(&mut |operand: mach::Operand| {
            if operand.role.is_def() {
                return;
            }
            let Some(reg) = operand.reg.as_virt() else { return };
            if !self.single.get(index(reg)).copied().unwrap_or(false) {
                return;
            }
            if let Some(&maker) = self.makers.get(&reg)
                && maker != at
            {
                needs.push(maker);
            }
        });
        needs.extend(self.before[at].filter(|&before| before != at));
        needs
    }

    /// The level that an operand is made at.
    fn level_of(&mut self, at: usize) -> u32 {
        match self.of[at] {
            Some(group) => {
                let group = &mut self.groups[group as usize];
                group.read = true;
                group.level
            }
            None => self.levels[at],
        }
    }

    fn base(&self, src: Src, float: bool) -> Base {
        if let Some(maker) = self.maker(src) {
            if let Some((home, _)) = self.home[maker] {
                return Base::Home(home);
            }
            if let Some(group) = self.of[maker] {
                return Base::Group(group);
            }
        }
        Base::Known(match src {
            Src::Bits(bits) if !float => inst::Base::Number(bits),
            _ => Source::from(self.component(src).0).place().base,
        })
    }

    /// What steps that join have in common; `exchanged`: the first two operands, of a step that has them.
    fn key(&self, at: usize, exchanged: bool) -> Option<Key> {
        let inst = &self.nodes[at].inst;
        let (kind, float) = match inst {
            Inst::Alu { opcode, to, from, saturate, .. } => {
                let kind = [*opcode as u8, *to as u8, *from as u8, (*saturate).into()];
                (kind, [*from == Type::F; 4])
            }
            Inst::Choose { condition, ty, inverse, .. } => {
                let float = *ty == Type::F;
                let kind = [CHOICE, *condition as u8, *ty as u8, (*inverse).into()];
                (kind, [float, float, false, false])
            }
            Inst::Math { function, .. } => ([FUNCTION, *function as u8, 0, 0], [true; 4]),
            // One word makes one of them: none joins another.
            Inst::Dot { .. } => {
                let own = (at as u32).to_le_bytes();
                return Some(([DOT, own[0], own[1], own[2]], SmallVec::new()));
            }
            _ => return None,
        };
        let mut operands: SmallVec<[Operand; 4]> = inst
            .sources()
            .iter()
            .zip(float)
            .map(|(source, float)| (self.base(source.src, float), source.negate, source.absolute))
            .collect();
        if exchanged {
            let [first, second] = operands.get_disjoint_mut([0, 1]).ok()?;
            std::mem::swap(first, second);
        }
        Some((kind, operands))
    }

    /// Levels rise from operands to results, and all steps of a group have one, so that no group waits for itself.
    fn group(&mut self) {
        let mut open: BTreeMap<Key, SmallVec<[u32; OPEN]>> = BTreeMap::new();
        for at in 0..self.nodes.len() {
            let needs = self.needs(at);
            let level = needs.into_iter().map(|need| self.level_of(need) + 1).max().unwrap_or(0);
            let level = level.max(self.floors[at]);
            self.levels[at] = level;
            if self.before[at].is_some() || !joins(&self.nodes[at].inst) {
                continue;
            }
            let Some(key) = self.key(at, false) else { continue };
            let swaps = match &self.nodes[at].inst {
                Inst::Alu { opcode, from, sources, .. } => {
                    let number = sources.iter().any(|source| matches!(source.src, Src::Bits(_)));
                    commutes(*opcode, *from) && !number && sources.len() == 2
                }
                _ => false,
            };
            let found = self.place(&open, &key, level, at).map(|found| (found, false));
            let found = found.or_else(|| {
                let exchanged = swaps.then(|| self.key(at, true)).flatten()?;
                self.place(&open, &exchanged, level, at).map(|found| (found, true))
            });
            if let Some(((group, component), exchanged)) = found {
                let known = &mut self.groups[group as usize];
                known.members[component] = Some((at, exchanged));
                known.level = known.level.max(level);
                self.of[at] = Some(group);
                if let (None, Some(home)) = (self.home[at], known.home) {
                    self.home[at] = Some((home, component as u8));
                    self.homes[home as usize].taken |= 1 << component;
                }
                continue;
            }
            let group = self.groups.len() as u32;
            let mut members = [None; 4];
            members[usize::from(self.wishes[at].unwrap_or(0))] = Some((at, false));
            let home = self.home[at].map(|(home, _)| home);
            self.groups.push(Group { members, level, read: false, home, packed: None });
            self.of[at] = Some(group);
            let open = open.entry(key).or_default();
            if open.len() == OPEN {
                open.remove(0);
            }
            open.push(group);
        }
    }

    /// A group of a kind that a step may join, and the component: that of its home, or the one that is wished for, if some group has
    /// it. What has no home finds one with such a group.
    fn place(
        &self,
        open: &BTreeMap<Key, SmallVec<[u32; OPEN]>>,
        key: &Key,
        level: u32,
        at: usize,
    ) -> Option<(u32, usize)> {
        let (home, wish) = (self.home[at].map(|(home, _)| home), self.wishes[at]);
        let admits = |group: &&u32| {
            let group = &self.groups[**group as usize];
            (level <= group.level || !group.read) && (home.is_none() || group.home == home)
        };
        let candidates = open.get(key)?;
        let free = |group: u32, component: usize| {
            let group = &self.groups[group as usize];
            let taken = group.home.filter(|_| home.is_none());
            let taken = taken.map_or(0, |home| self.homes[home as usize].taken);
            group.members[component].is_none() && taken >> component & 1 == 0
        };
        if let Some(wish) = wish.map(usize::from)
            && let Some(&group) = candidates.iter().filter(admits).find(|&&group| free(group, wish))
        {
            return Some((group, wish));
        }
        let mut candidates = candidates.iter().filter(admits).filter(|_| home.is_none());
        candidates
            .find_map(|&group| Some((group, (0..4).find(|&component| free(group, component))?)))
    }

    /// The steps in an order in which operands come first, as near to what it was as groups allow.
    fn order(&self) -> Vec<usize> {
        let count = self.nodes.len();
        let lead = |at: usize| match self.of[at] {
            Some(group) => {
                self.groups[group as usize].members.iter().flatten().map(|&(at, _)| at).max()
            }
            None => Some(at),
        };
        let mut begun = vec![false; count];
        let mut order = Vec::with_capacity(count);
        let mut todo: Vec<(usize, bool)> = Vec::new();
        for at in 0..count {
            // A group stands where its last step did, if nobody asks for it before.
            if lead(at) != Some(at) {
                continue;
            }
            todo.push((at, false));
            while let Some((at, ready)) = todo.pop() {
                if ready {
                    order.push(at);
                    continue;
                }
                if begun[at] {
                    continue;
                }
                begun[at] = true;
                todo.push((at, true));
                let members: SmallVec<[usize; 4]> = match self.of[at] {
                    Some(group) => {
                        let members = self.groups[group as usize].members;
                        members.iter().flatten().map(|&(at, _)| at).collect()
                    }
                    None => [at].into_iter().collect(),
                };
                let mut needs: SmallVec<[usize; 8]> = members
                    .iter()
                    .flat_map(|&member| self.needs(member))
                    .filter_map(lead)
                    .filter(|&need| !begun[need])
                    .collect();
                needs.sort_unstable();
                needs.dedup();
                todo.extend(needs.into_iter().rev().map(|need| (need, false)));
            }
        }
        order
    }

    /// Groups of several steps become vectors.
    fn write(mut self, func: &mut Func<Inst>, done: &mut Vec<Node<Inst>>) {
        let order = self.order();
        for group in &mut self.groups {
            if group.count() < 2 && group.home.is_none() {
                continue;
            }
            let mut fresh = || func.make_vreg(Demand::scalar(GPR), Span::NONE);
            let packed = match group.home {
                Some(home) => *self.homes[home as usize].register.get_or_insert_with(&mut fresh),
                None => fresh(),
            };
            group.packed = Some(packed);
            for (component, member) in group.members.iter().enumerate() {
                if let Some((at, _)) = member
                    && let Inst::Alu { dst, .. }
                    | Inst::Choose { dst, .. }
                    | Inst::Math { dst, .. }
                    | Inst::Dot { dst, .. } = &self.nodes[*at].inst
                    && let Some(dst) = dst.as_virt()
                {
                    self.parts[index(dst)] = Some((packed, component as u8));
                }
            }
        }
        for at in order {
            let begun = self.home[at].is_some_and(|(home, _)| {
                std::mem::replace(&mut self.homes[home as usize].begun, true)
            });
            let vector =
                self.of[at].and_then(|group| self.vector(&self.groups[group as usize], begun));
            let span = self.nodes[at].span;
            let inst = vector.unwrap_or_else(|| self.nodes[at].inst.clone());
            done.push(Node { inst, span });
        }
    }

    /// The step of a group; `begun`: another wrote components of its register before.
    fn vector(&self, group: &Group, begun: bool) -> Option<Inst> {
        let packed = group.packed?;
        let keep = begun.then(|| packed.into());
        let first = *group.members.iter().flatten().next()?;
        let inst = &self.nodes[first.0].inst;
        if let Inst::Dot { sources, .. } = inst {
            let component = group.members.iter().position(Option::is_some)?;
            let (channels, sources) = (1 << component, sources.clone());
            return Some(Inst::Dot { dst: packed.into(), channels, sources, keep });
        }
        let mut channels = 0;
        let mut vector: SmallVec<[Swizzled; 4]> = SmallVec::new();
        for number in 0..inst.sources().len() {
            let of = |(at, exchanged): (usize, bool)| {
                let sources = self.nodes[at].inst.sources();
                let number = if exchanged { sources.len() - 1 - number } else { number };
                sources.get(number).map_or(Src::Bits(0).into(), |source| **source)
            };
            let mut select = 0;
            let mut floats = 0;
            let mut whole = of(first);
            let mut alike = true;
            for component in 0..4 {
                let member = group.members[component];
                let source = of(member.unwrap_or(first));
                if member.is_some() {
                    channels |= 1 << component;
                }
                let (src, part) = self.component(source.src);
                alike &= source == of(first);
                if let Src::Bits(bits) = source.src {
                    floats |= small(bits).unwrap_or(0) << (8 * component);
                } else {
                    whole.src = src;
                    select |= part << (2 * component);
                }
            }
            if let Src::Bits(_) = whole.src
                && !alike
            {
                whole.src = Src::Floats(floats);
            }
            vector.push(Swizzled { of: whole, select });
        }
        let dst = packed.into();
        match *inst {
            Inst::Alu { opcode, to, from, saturate, .. } => {
                let sources = vector.into_iter().collect();
                Some(Inst::Vector { opcode, to, dst, from, saturate, channels, sources, keep })
            }
            Inst::Choose { condition, ty, inverse, .. } => {
                let sources = <[Swizzled; 4]>::try_from(&vector[..]).ok()?;
                Some(Inst::Choose { dst, condition, ty, channels, inverse, sources, keep })
            }
            Inst::Math { function, .. } => {
                let source = vector.into_iter().next()?;
                Some(Inst::MathVector { dst, function, channels, source, keep })
            }
            _ => None,
        }
    }

    /// The register of a source, and the component there.
    fn component(&self, src: Src) -> (Src, u8) {
        if let Src::Reg(reg) = src
            && let Some((packed, component)) = self.known(reg)
        {
            return (Src::Reg(packed.into()), component);
        }
        let place = Source::from(src).place();
        (place.whole.src, place.component)
    }

    /// The component that a register has become.
    fn known(&self, reg: Reg) -> Option<Part> {
        self.parts.get(index(reg.as_virt()?)).copied().flatten()
    }
}

/// Readers of values that became components name them so. What reads whole registers gets moves.
fn name(func: &mut Func<Inst>, parts: &[Option<Part>]) {
    let part = |reg: Reg| parts.get(index(reg.as_virt()?)).copied().flatten();
    for block in func.layout.clone() {
        let nodes = std::mem::take(&mut func.blocks[block].nodes);
        let mut done = Vec::with_capacity(nodes.len());
        for mut node in nodes {
            for source in node.inst.sources_mut() {
                if let Src::Reg(reg) = source.src
                    && let Some((packed, component)) = part(reg)
                {
                    source.src = Src::Part { reg: packed.into(), component };
                }
            }
            let mut moved: SmallVec<[(Reg, Part); 4]> = SmallVec::new();
            node.inst.operands(&mut |operand: mach::Operand| {
                if operand.role == Role::Use
                    && let Some(part) = part(operand.reg)
                    && moved.iter().all(|(reg, _)| *reg != operand.reg)
                {
                    moved.push((operand.reg, part));
                }
            });
            for (reg, (packed, component)) in moved {
                let lanes = Reg::virt(func.make_vreg(Demand::scalar(GPR), node.span));
                let source = Source::from(Src::Part { reg: packed.into(), component });
                let inst = Inst::Alu {
                    opcode: Opcode::Mov,
                    to: Type::Ud,
                    dst: lanes,
                    from: Type::Ud,
                    saturate: false,
                    sources: [source].into_iter().collect(),
                };
                done.push(Node { inst, span: node.span });
                node.inst.rewrite(&mut |other, role| match role {
                    Role::Use if other == reg => lanes,
                    _ => other,
                });
            }
            done.push(node);
        }
        func.blocks[block].nodes = done;
    }
}
