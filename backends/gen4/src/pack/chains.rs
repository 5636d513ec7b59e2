//! Chains that do the same with values of different origin, as the polynomials of several sines: their values become components of one
//! register, so that all steps from there on are one each.
//!
//! What is alike is found from results to operands here: two values are alike where the steps that read them do the same, and so
//! on for a few steps. A first grouping says which steps are one already; a second one stays where it has fewer words.

use super::place::{Home, kind};
use super::{Base, Operand, Segment, commutes, index, joins};
use crate::inst::{Inst, Source, Src};
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

/// Steps from a value on that must be alike.
const DEPTH: usize = 3;
/// Groupings of a segment, at most.
const ROUNDS: usize = 8;
/// Pairs of steps that are looked at for each pair of values.
const PAIRS: usize = 48;
/// Words that a join saves at least.
const WORTH: usize = 2;
/// Values of one likeness that are looked at for each.
const LOOKS: usize = 12;
/// Levels that the first values of chains lie apart at most.
const APART: u32 = 16;
/// Readers of one value that count.
const MOST: usize = 8;
/// Steps that are looked at for each pair, to see whether one waits for the other.
const WALK: usize = 256;

/// What steps ask for before they are grouped.
#[derive(Clone, Default)]
pub(super) struct Asked {
    pub homes: Vec<Home>,
    pub home: Vec<Option<(u32, u8)>>,
    /// The least level of each step.
    pub floors: Vec<u32>,
}

/// What steps that follow a value do with it: a number for each that a long chain begins with, and that step.
type Likeness = SmallVec<[(u64, usize); 4]>;

/// Steps of one group that are alike.
struct Unit {
    group: u32,
    level: u32,
    home: Option<u32>,
    /// Other steps of its group are unlike.
    part: bool,
    likeness: Likeness,
    steps: SmallVec<[usize; 4]>,
}

/// One number of two; what is unlike may have the same, which costs words alone.
fn mix(first: u64, second: u64) -> u64 {
    (first.rotate_left(23) ^ second).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Segment<'_> {
    /// Joins chains as long as that saves words.
    pub(super) fn join_chains(&mut self, mut asked: Asked) {
        let mut words = self.words();
        let mut most = usize::MAX;
        for _ in 0..ROUNDS {
            let Some((more, joined)) = self.joined(&asked, most) else { return };
            self.lay(&more);
            if self.words() < words {
                (words, asked) = (self.words(), more);
                continue;
            }
            self.lay(&asked);
            // Some of them may be worth it.
            if joined == 1 {
                return;
            }
            most = joined / 2;
        }
    }

    /// Words of the segment.
    fn words(&self) -> usize {
        self.groups.len() + self.of.iter().filter(|group| group.is_none()).count()
    }

    /// What is asked for, with homes for the values that up to `most` chains begin with, and how many there are, if there are any.
    fn joined(&self, asked: &Asked, most: usize) -> Option<(Asked, usize)> {
        let edges = self.edges();
        let likenesses = self.likenesses(&edges);
        let units = self.units(asked, &likenesses);
        let mut alike: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (number, unit) in units.iter().enumerate().rev() {
            for &(likeness, _) in &unit.likeness {
                alike.entry(likeness).or_default().push(number);
            }
        }
        let mut more = asked.clone();
        let mut joined = 0;
        // Steps that become one, or that follow such: the groups do the rest.
        let mut covered = vec![false; self.nodes.len()];
        for (number, unit) in units.iter().enumerate() {
            if joined == most {
                break;
            }
            let follows = unit.steps.iter().all(|&at| {
                let sources = self.nodes[at].inst.sources();
                sources.into_iter().any(|of| self.maker(of.src).is_some_and(|at| covered[at]))
            });
            if follows || covered[unit.steps[0]] {
                unit.steps.iter().for_each(|&at| covered[at] = true);
                continue;
            }
            let mut steps: SmallVec<[usize; 4]> = unit.steps.clone();
            let (mut level, mut home) = (unit.level, unit.home);
            let mut readers: SmallVec<[usize; 8]> = SmallVec::new();
            for &(likeness, _) in &unit.likeness {
                let Some(others) = alike.get_mut(&likeness) else { continue };
                // Who stands before is covered, or found no other.
                while others.last().is_some_and(|&other| other <= number) {
                    others.pop();
                }
                let reads = |at: &usize| {
                    let all = likenesses[*at].iter();
                    all.filter(|(other, _)| *other == likeness).map(|&(_, reader)| reader)
                };
                let own: SmallVec<[usize; 4]> = steps.iter().flat_map(reads).collect();
                let known = readers.len();
                readers.extend(own);
                let near = others.split_off(others.len().saturating_sub(LOOKS));
                let mut left: SmallVec<[usize; LOOKS]> = SmallVec::new();
                // What saves most first, and of equals what is close in the text.
                let mut best: SmallVec<[(usize, usize, usize); LOOKS]> = SmallVec::new();
                for other in near {
                    let candidate = &units[other];
                    if covered[candidate.steps[0]] || steps.contains(&candidate.steps[0]) {
                        continue;
                    }
                    left.push(other);
                    let apart = candidate.steps[0].abs_diff(unit.steps[0]);
                    let saved = self.saved(unit.steps[0], candidate.steps[0], &edges);
                    best.push((saved, usize::MAX - apart, other));
                }
                best.sort_unstable();
                for (saved, _, other) in best.into_iter().rev() {
                    let candidate = &units[other];
                    let parts = [unit, candidate].iter().filter(|unit| unit.part).count();
                    let fits = saved >= WORTH + parts
                        && candidate.group != unit.group
                        && !steps.contains(&candidate.steps[0])
                        && (candidate.home.is_none() || home.is_none())
                        && self.room(&steps, &candidate.steps, candidate.home.or(home), &more)
                        && candidate.level.abs_diff(unit.level) < APART
                        && !self.waits(&candidate.steps, &readers[known..], unit.level);
                    if fits {
                        steps.extend(candidate.steps.iter().copied());
                        readers.extend(candidate.steps.iter().flat_map(reads));
                        home = home.or(candidate.home);
                        level = level.max(candidate.level);
                        left.retain(|one| *one != other);
                    }
                }
                left.sort_unstable_by(|one, other| other.cmp(one));
                others.extend(left);
            }
            if steps.len() == unit.steps.len() {
                continue;
            }
            let home = home.unwrap_or_else(|| {
                more.homes.push(Home::default());
                more.homes.len() as u32 - 1
            });
            for &at in &steps {
                covered[at] = true;
                if more.home[at].is_none() {
                    let taken = &mut more.homes[home as usize].taken;
                    let component = taken.trailing_ones() as u8;
                    *taken |= 1 << component;
                    more.home[at] = Some((home, component));
                }
            }
            for reader in readers {
                more.floors[reader] = more.floors[reader].max(level + 1);
            }
            joined += 1;
        }
        (joined > 0).then_some((more, joined))
    }

    /// Whether steps and others have components in one register, which is `home` where there is one.
    fn room(&self, steps: &[usize], others: &[usize], home: Option<u32>, asked: &Asked) -> bool {
        let Some(home) = home else { return steps.len() + others.len() <= 4 };
        let all = steps.iter().chain(others);
        let new = all.filter(|&&at| asked.home[at].is_none()).count() as u32;
        asked.homes[home as usize].taken.count_ones() + new <= 4
    }

    /// What is alike in groups, from operands to results.
    fn units(&self, asked: &Asked, likenesses: &[Likeness]) -> Vec<Unit> {
        let mut units: Vec<Unit> = Vec::new();
        for (number, group) in self.groups.iter().enumerate() {
            let first = units.len();
            for &(at, _) in group.members.iter().flatten() {
                let likeness = &likenesses[at];
                let alike = |unit: &&mut Unit| {
                    let both = unit.likeness.iter().zip(likeness);
                    unit.likeness.len() == likeness.len()
                        && both.into_iter().all(|(a, b)| a.0 == b.0)
                };
                let home = asked.home[at].map(|(home, _)| home);
                match units[first..].iter_mut().find(alike) {
                    Some(unit) if unit.home == home => unit.steps.push(at),
                    _ if likeness.is_empty() => {}
                    _ => units.push(Unit {
                        group: number as u32,
                        level: group.level,
                        home,
                        part: false,
                        likeness: likeness.clone(),
                        steps: [at].into_iter().collect(),
                    }),
                }
            }
        }
        for unit in &mut units {
            unit.part = unit.steps.len() < self.groups[unit.group as usize].count();
        }
        units.sort_by_key(|unit| (unit.level, unit.group));
        units
    }

    /// Words that are saved where two values are components of one register: steps from there on that become one.
    fn saved(&self, one: usize, other: usize, edges: &[SmallVec<[(usize, u64); 2]>]) -> usize {
        let mut pairs: SmallVec<[(usize, usize); 16]> = [(one, other)].into_iter().collect();
        let (mut next, mut saved) = (0, 0);
        while let Some(&(one, other)) = pairs.get(next) {
            next += 1;
            for &(first, _) in &edges[one] {
                for &(second, _) in &edges[other] {
                    let known = |&(a, b): &(usize, usize)| a == first || b == second;
                    let new = first != second && !pairs.iter().any(known);
                    if new && pairs.len() < PAIRS && self.is_one(first, second, &pairs) {
                        if self.of[first].is_none() || self.of[first] != self.of[second] {
                            saved += 1;
                        }
                        pairs.push((first, second));
                    }
                }
            }
        }
        saved
    }

    /// Whether two steps become one where the values of each pair are components of one register.
    fn is_one(&self, first: usize, second: usize, pairs: &[(usize, usize)]) -> bool {
        let Some((kind, operands)) = self.key(first, false) else { return false };
        let sources = self.nodes[first].inst.sources();
        let alike = |exchanged: bool| {
            let Some((other, others)) = self.key(second, exchanged) else { return false };
            let mut others_of = self.nodes[second].inst.sources();
            if exchanged {
                others_of.swap(0, 1);
            }
            let both = operands.iter().zip(&others).zip(sources.iter().zip(others_of));
            let same = |((one, other), (from, to)): ((&Operand, &Operand), (&&Source, &Source))| {
                let makers = self.maker(from.src).zip(self.maker(to.src));
                let signs = (one.1, one.2) == (other.1, other.2);
                one == other || signs && makers.is_some_and(|makers| pairs.contains(&makers))
            };
            kind == other && both.into_iter().all(same)
        };
        let inst = &self.nodes[first].inst;
        let swaps = matches!(inst, Inst::Alu { opcode, from, .. } if commutes(*opcode, *from));
        alike(false) || swaps && sources.len() == 2 && alike(true)
    }

    /// The steps that read each value and may become components, and what they do with it.
    fn edges(&self) -> Vec<SmallVec<[(usize, u64); 2]>> {
        let shapes = self.shapes();
        let mut edges: Vec<SmallVec<[(usize, u64); 2]>> = vec![SmallVec::new(); self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            if self.before[at].is_some() || !joins(&node.inst) {
                continue;
            }
            let sources = node.inst.sources();
            for (number, source) in sources.iter().enumerate() {
                let Some(maker) = self.maker(source.src) else { continue };
                let first = sources[..number].iter().all(|other| other.src != source.src);
                if first && edges[maker].len() < MOST {
                    edges[maker].push((at, self.edge(at, source.src, &shapes)));
                }
            }
        }
        edges
    }

    /// What the steps that follow each value do with it; nothing where fewer than [`DEPTH`] follow each other.
    fn likenesses(&self, edges: &[SmallVec<[(usize, u64); 2]>]) -> Vec<Likeness> {
        let count = self.nodes.len();
        let mut depths = vec![0usize; count];
        for at in (0..count).rev() {
            let readers = edges[at].iter().map(|&(reader, _)| depths[reader] + 1);
            depths[at] = readers.max().unwrap_or(0);
        }
        // The longest chain from each value on, a few steps of it.
        let mut longest = vec![0u64; count];
        for _ in 1..DEPTH {
            let next = |edges: &SmallVec<[(usize, u64); 2]>| {
                let deepest = edges.iter().max_by_key(|(reader, edge)| (depths[*reader], *edge));
                deepest.map_or(0, |&(reader, edge)| mix(edge, longest[reader]))
            };
            longest = edges.iter().map(next).collect();
        }
        let free = |at: usize| self.before[at].is_none() && joins(&self.nodes[at].inst);
        let of = |at: usize| -> Likeness {
            let long = edges[at].iter().filter(|(reader, _)| depths[*reader] + 1 >= DEPTH);
            let mut all: Likeness = long
                .filter(|_| free(at))
                .map(|&(reader, edge)| (mix(edge, longest[reader]), reader))
                .collect();
            all.sort_unstable();
            all
        };
        (0..count).map(of).collect()
    }

    /// What a step does with one of its operands.
    fn edge(&self, at: usize, own: Src, shapes: &[u64]) -> u64 {
        let inst = &self.nodes[at].inst;
        let Some(kind) = kind(inst) else { return 2 };
        let of = |source: &Source| {
            let signs = 2 * u64::from(source.negate) + u64::from(source.absolute);
            match source.src == own {
                true => mix(3, signs),
                false => mix(self.shape_of(source, shapes), signs),
            }
        };
        let mut operands: SmallVec<[u64; 4]> = inst.sources().into_iter().map(of).collect();
        if let Inst::Alu { opcode, from, .. } = inst
            && commutes(*opcode, *from)
        {
            operands.sort_unstable();
        }
        operands.into_iter().fold(u64::from(u32::from_le_bytes(kind)), mix)
    }

    /// What an operand is: a number, a register that is known, or the shape of what makes it.
    fn shape_of(&self, source: &Source, shapes: &[u64]) -> u64 {
        match self.maker(source.src) {
            Some(maker) => shapes[maker],
            None => match source.src {
                Src::Bits(bits) => mix(4, bits.into()),
                src => match self.base(src, false) {
                    Base::Known(crate::inst::Base::Register(reg)) => {
                        mix(5, reg.as_virt().map_or(0, |reg| index(reg) as u64))
                    }
                    _ => 6,
                },
            },
        }
    }

    /// What the steps are that make values: two of them, one behind the other.
    fn shapes(&self) -> Vec<u64> {
        let plain = |inst: &Inst| kind(inst).map_or(7, |kind| u64::from(u32::from_le_bytes(kind)));
        self.nodes
            .iter()
            .map(|node| {
                let mut operands: SmallVec<[u64; 4]> = node
                    .inst
                    .sources()
                    .into_iter()
                    .map(|source| match self.maker(source.src) {
                        Some(maker) => plain(&self.nodes[maker].inst),
                        None => 8,
                    })
                    .collect();
                operands.sort_unstable();
                operands.into_iter().fold(plain(&node.inst), mix)
            })
            .collect()
    }

    /// Whether steps need others, or may: what is not seen within [`WALK`] steps counts. `level`: the lowest of the others.
    fn waits(&self, steps: &[usize], others: &[usize], level: u32) -> bool {
        let mut todo: SmallVec<[usize; 16]> = steps.iter().copied().collect();
        let mut seen: BTreeSet<usize> = BTreeSet::new();
        while let Some(at) = todo.pop() {
            if !seen.insert(at) {
                continue;
            }
            if seen.len() > WALK || others.contains(&at) {
                return true;
            }
            // The members of a group wait for each other.
            let members: SmallVec<[usize; 4]> = match self.of[at] {
                Some(group) => {
                    let members = &self.groups[group as usize].members;
                    members.iter().flatten().map(|&(at, _)| at).collect()
                }
                None => [at].into_iter().collect(),
            };
            for member in members {
                let needs = self.needs(member).into_iter();
                todo.extend(needs.filter(|&need| self.level(need) >= level));
            }
        }
        false
    }

    /// The level of a step as it was grouped.
    fn level(&self, at: usize) -> u32 {
        self.of[at].map_or(self.levels[at], |group| self.groups[group as usize].level)
    }
}
