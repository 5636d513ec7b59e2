//! Homes: values that somebody wants beside each other become components of one register, from results to operands. Each of the
//! steps that make them writes its own components. Those that do the same want their operands beside each other in turn.

use super::{Key, Segment, commutes, joins};
use crate::inst::{Inst, Source, Src};
use crate::isa::operand::Type;
use crate::isa::ops::Opcode;
use gpucc_ir::mach::VReg;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// A register that several steps write.
#[derive(Clone, Default)]
pub(super) struct Home {
    /// The components that are taken.
    pub taken: u8,
    pub register: Option<VReg>,
    /// Some step has written to it.
    pub begun: bool,
}

/// The steps whose values are wanted, by component.
type Row = [Option<usize>; 4];

/// What a step does, by numbers.
pub(super) fn kind(inst: &Inst) -> Option<[u8; 4]> {
    match inst {
        Inst::Alu { opcode, to, from, saturate, .. } => {
            Some([*opcode as u8, *to as u8, *from as u8, (*saturate).into()])
        }
        Inst::Choose { condition, ty, inverse, .. } => {
            Some([super::CHOICE, *condition as u8, *ty as u8, (*inverse).into()])
        }
        Inst::Dot { sources, .. } => Some([super::DOT, sources.len() as u8, 0, 0]),
        Inst::Math { function, .. } => Some([super::FUNCTION, *function as u8, 0, 0]),
        _ => None,
    }
}

impl Segment<'_> {
    /// Gives homes, from the end on: who reads stands behind who makes. `wanted`: values that stand side by side behind the end.
    pub(super) fn give_homes(&mut self, wanted: &[[Option<VReg>; 4]]) {
        let chains = self.chains();
        let products = self.products();
        let dots = self.dots(&chains);
        let maker = |reg: Option<VReg>| self.makers.get(&reg?).copied();
        let mut todo: Vec<Row> = wanted.iter().map(|row| row.map(maker)).collect();
        while let Some(row) = todo.pop() {
            self.house(row, &dots, &mut todo);
        }
        for at in (0..self.nodes.len()).rev() {
            match &self.nodes[at].inst {
                Inst::Slot { values, .. } => {
                    let values = *values;
                    todo.push(values.map(|value| self.maker(value.src)));
                }
                Inst::Dot { sources, .. } => {
                    for side in sources.chunks(sources.len() / 2) {
                        let maker = |k: usize| side.get(k).and_then(|of| self.maker(of.src));
                        todo.push(std::array::from_fn(maker));
                    }
                }
                Inst::Alu { .. } if !chains[at] => {
                    todo.extend(self.terms(at, &chains, &products));
                }
                _ => {}
            }
            while let Some(row) = todo.pop() {
                self.house(row, &dots, &mut todo);
            }
        }
    }

    /// Whether each step is a sum of floats that another sum alone reads.
    fn chains(&self) -> Vec<bool> {
        let mut readers = vec![(0u32, false); self.nodes.len()];
        for node in &self.nodes {
            let sum = is_sum(&node.inst);
            for source in node.inst.sources() {
                if let Some(maker) = self.maker(source.src) {
                    readers[maker].0 += 1;
                    readers[maker].1 = sum;
                }
            }
        }
        let chain = |(node, (count, sum)): (&gpucc_ir::mach::Node<Inst>, (u32, bool))| {
            is_sum(&node.inst) && count == 1 && sum
        };
        self.nodes.iter().zip(readers).map(chain).collect()
    }

    /// The products that a chain of sums adds.
    fn leaves(&self, root: usize, chains: &[bool]) -> SmallVec<[usize; 8]> {
        let mut leaves: SmallVec<[usize; 8]> = SmallVec::new();
        let mut todo: SmallVec<[usize; 8]> = [root].into_iter().collect();
        while let Some(at) = todo.pop() {
            for source in self.nodes[at].inst.sources() {
                let Some(maker) = self.maker(source.src) else { continue };
                match &self.nodes[maker].inst {
                    inst if is_product(inst) => leaves.push(maker),
                    _ if chains[maker] => todo.push(maker),
                    _ => {}
                }
            }
        }
        leaves.sort_unstable();
        leaves.dedup();
        leaves
    }

    /// Whether each step is a product that is alike all others of its chain: one step makes them all.
    fn dots(&self, chains: &[bool]) -> Vec<bool> {
        let mut dots = vec![false; self.nodes.len()];
        for root in 0..self.nodes.len() {
            if !is_sum(&self.nodes[root].inst) || chains[root] {
                continue;
            }
            let leaves = self.leaves(root, chains);
            let first = leaves.first().and_then(|&leaf| self.key(leaf, false));
            let alike = first.is_some()
                && leaves.len() > 1
                && leaves.iter().all(|&leaf| self.key(leaf, false) == first);
            for leaf in leaves.into_iter().filter(|_| alike) {
                dots[leaf] = true;
            }
        }
        dots
    }

    /// How many products there are of each kind.
    fn products(&self) -> BTreeMap<Key, u32> {
        let mut products = BTreeMap::new();
        for at in 0..self.nodes.len() {
            if is_product(&self.nodes[at].inst)
                && let Some(key) = self.key(at, false)
            {
                *products.entry(key).or_default() += 1;
            }
        }
        products
    }

    /// The products that a chain of sums adds, up to four at a time; none that are alike those of other chains, as in a
    /// product with a matrix: they become vectors with those.
    fn terms(
        &self,
        root: usize,
        chains: &[bool],
        products: &BTreeMap<Key, u32>,
    ) -> SmallVec<[Row; 2]> {
        let mut rows: SmallVec<[Row; 2]> = SmallVec::new();
        if !is_sum(&self.nodes[root].inst) {
            return rows;
        }
        let leaves = self.leaves(root, chains);
        let mut own: BTreeMap<Key, u32> = BTreeMap::new();
        for key in leaves.iter().filter_map(|&leaf| self.key(leaf, false)) {
            *own.entry(key).or_default() += 1;
        }
        if own.iter().any(|(key, count)| products.get(key).is_some_and(|all| all > count)) {
            return rows;
        }
        for part in leaves.chunks(4).filter(|part| part.len() > 1) {
            rows.push(std::array::from_fn(|component| part.get(component).copied()));
        }
        rows
    }

    /// Gives the values of a row one home, as far as they have none, and asks for rows of their operands.
    /// `dots`: products that are alike those of their own sums.
    fn house(&mut self, row: Row, dots: &[bool], todo: &mut Vec<Row>) {
        let products = row.iter().flatten().copied().filter(|&at| dots[at]);
        let mut keys = products.map(|at| self.key(at, false));
        let first = keys.next();
        let apart = first.is_some_and(|first| keys.any(|key| key != first));
        if apart {
            return;
        }

        let mut open: SmallVec<[(usize, usize); 4]> = SmallVec::new();
        let mut known = None;
        for (component, step) in row.iter().enumerate() {
            let Some(step) = *step else { continue };
            match self.home[step] {
                Some((home, place)) if usize::from(place) == component => {
                    known.get_or_insert(home);
                }
                Some(_) => {}
                None => {
                    let free = self.before[step].is_none() && joins(&self.nodes[step].inst);
                    if free && open.iter().all(|&(_, other)| other != step) {
                        open.push((component, step));
                    }
                }
            }
        }
        let wanted = open.iter().fold(0u8, |all, &(component, _)| all | 1 << component);
        let known = known.filter(|&home| self.homes[home as usize].taken & wanted == 0);
        if open.is_empty() || known.is_none() && open.len() < 2 {
            return;
        }
        let home = known.unwrap_or(self.homes.len() as u32);
        if known.is_none() {
            self.homes.push(Home::default());
        }
        self.homes[home as usize].taken |= wanted;
        for &(component, step) in &open {
            self.home[step] = Some((home, component as u8));
        }
        self.columns(&open, todo);
    }

    /// Rows of the operands of steps that do the same.
    fn columns(&self, steps: &[(usize, usize)], todo: &mut Vec<Row>) {
        let mut done: SmallVec<[usize; 4]> = SmallVec::new();
        for &(_, first) in steps {
            if done.contains(&first) {
                continue;
            }
            let what = kind(&self.nodes[first].inst);
            let alike: SmallVec<[(usize, usize); 4]> = steps
                .iter()
                .copied()
                .filter(|&(_, at)| kind(&self.nodes[at].inst) == what)
                .collect();
            done.extend(alike.iter().map(|&(_, at)| at));
            // A dot product asks for its operands itself.
            if alike.len() < 2 || what.is_some_and(|kind| kind[0] == super::DOT) {
                continue;
            }
            let like = self.operands(first, None);
            let mut rows: SmallVec<[Row; 4]> = like.iter().map(|_| [None; 4]).collect();
            for (component, at) in alike {
                let operands = self.operands(at, Some(&like));
                for (row, maker) in rows.iter_mut().zip(operands) {
                    row[component] = maker;
                }
            }
            // One value for all needs no place.
            todo.extend(rows.into_iter().filter(|row| {
                let mut makers = row.iter().flatten();
                let first = makers.next();
                makers.any(|other| Some(other) != first)
            }));
        }
    }

    /// The makers of a step's operands; those that commute in the order in which they are most like others.
    fn operands(&self, at: usize, like: Option<&[Option<usize>]>) -> SmallVec<[Option<usize>; 4]> {
        let inst = &self.nodes[at].inst;
        let maker = |source: &&Source| self.maker(source.src);
        let mut makers: SmallVec<[Option<usize>; 4]> = inst.sources().iter().map(maker).collect();
        let Inst::Alu { opcode, from, sources, .. } = inst else { return makers };
        let number = sources.iter().any(|source| matches!(source.src, Src::Bits(_)));
        if let (Some(like), 2) = (like, makers.len())
            && commutes(*opcode, *from)
            && !number
        {
            let what = |maker: Option<usize>| maker.map(|at| (kind(&self.nodes[at].inst), at));
            let kinds = |maker: Option<usize>| what(maker).map(|(kind, _)| kind);
            let fits = |first: usize, second: usize| {
                let of = |at: usize, to: usize| {
                    let same = makers[at].is_some() && makers[at] == like[to];
                    u32::from(kinds(makers[at]) == kinds(like[to])) + u32::from(same)
                };
                of(first, 0) + of(second, 1)
            };
            if fits(1, 0) > fits(0, 1) {
                makers.swap(0, 1);
            }
        }
        makers
    }
}

/// A product of floats.
fn is_product(inst: &Inst) -> bool {
    matches!(inst, Inst::Alu { opcode: Opcode::Mul, to: Type::F, from: Type::F, .. })
}

/// A sum of floats.
fn is_sum(inst: &Inst) -> bool {
    matches!(inst, Inst::Alu { opcode: Opcode::Add, to: Type::F, from: Type::F, .. })
}
