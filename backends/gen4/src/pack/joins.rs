//! Results of branches and values that travel around loops. Those that are made alike wherever they are assigned become
//! components of one register, which each place assigns at once.

use super::place::kind;
use super::{Part, index};
use crate::clean::Counts;
use crate::dots::moved;
use crate::inst::{GPR, Inst, Source, Src, small};
use crate::isa::operand::Type;
use crate::isa::ops::Opcode;
use gpucc_ir::mach::{self, Demand, Func, Inst as _, Node, Reg, VReg};
use gpucc_ir::ssa::Span;
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

/// What a place assigns: registers that other places assign too.
type Assigned = SmallVec<[(VReg, Source); 8]>;

/// How a value comes to the place that assigns it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    /// By a step of this kind in this block.
    Made(usize, [u8; 4]),
    /// A component of a register that is known already.
    Row(VReg),
    Pair(u8),
    Half(u8, u8),
    Number,
}

/// Values that are components of one register.
struct Join {
    register: VReg,
    members: SmallVec<[VReg; 4]>,
}

impl Join {
    /// What a place assigns to the members.
    fn values(&self, found: &Assigned) -> SmallVec<[Option<Source>; 4]> {
        let of =
            |member: &VReg| found.iter().find(|(reg, _)| reg == member).map(|&(_, source)| source);
        self.members.iter().map(of).collect()
    }
}

/// All of them, and the one of each value.
#[derive(Default)]
pub(super) struct Joins {
    joins: Vec<Join>,
    of: BTreeMap<VReg, usize>,
}

/// The places that assign a register: each one's number, its block, and what it assigns.
type Places = SmallVec<[(u32, usize, Source); 2]>;

/// Steps that assign together, what they assign, and the values that are wanted side by side.
type Wanted = (usize, Assigned, Vec<[Option<VReg>; 4]>);

/// Numbers that are assigned together, at most.
const TOGETHER: usize = 64;

/// The steps from one on that assign together, and what they assign: copies, and numbers behind them.
fn assigned(nodes: &[Node<Inst>], from: usize, definitions: &[u32]) -> Option<(usize, Assigned)> {
    let often = |reg: Reg| {
        reg.as_virt().filter(|&reg| definitions.get(index(reg)).is_some_and(|&count| count > 1))
    };
    let mut found = Assigned::new();
    let mut at = from;
    if let Inst::Copy { dst, src } = &nodes.get(at)?.inst {
        for (&dst, &src) in dst.iter().zip(src) {
            found.push((often(dst)?, Src::Reg(src).into()));
        }
        at += 1;
    }
    while let Some(Node { inst, .. }) = nodes.get(at)
        && let Inst::Alu { opcode: Opcode::Mov, to, dst, from, saturate: false, sources } = inst
        && (*to, *from) == (Type::Ud, Type::Ud)
        && let [source] = sources[..]
        && source.is_plain()
        && matches!(source.src, Src::Bits(_) | Src::Pair { .. } | Src::Scalar { .. })
        && found.len() < TOGETHER
        && let Some(dst) = often(*dst)
        && found.iter().all(|&(other, _)| other != dst)
    {
        found.push((dst, source));
        at += 1;
    }
    (!found.is_empty()).then_some((at - from, found))
}

impl Joins {
    /// Finds what is joined, and says so in `parts`.
    pub fn find(func: &mut Func<Inst>, counts: &Counts, parts: &mut [Option<Part>]) -> Joins {
        let mut makers: BTreeMap<VReg, (usize, [u8; 4])> = BTreeMap::new();
        // The places that assign each register, by their numbers, with what they assign.
        let mut places: BTreeMap<VReg, Places> = BTreeMap::new();
        let mut order: Vec<VReg> = Vec::new();
        let mut place = 0;
        for (number, &block) in func.layout.iter().enumerate() {
            let nodes = &func.blocks[block].nodes;
            let mut at = 0;
            while at < nodes.len() {
                if let Some((steps, found)) = assigned(nodes, at, &counts.definitions) {
                    for (reg, source) in found {
                        let known = places.entry(reg).or_default();
                        if known.is_empty() {
                            order.push(reg);
                        }
                        known.push((place, number, source));
                    }
                    place += 1;
                    at += steps;
                    continue;
                }
                if let Some(kind) = kind(&nodes[at].inst) {
                    nodes[at].inst.operands(&mut |operand: mach::Operand| {
                        if let Some(reg) = operand.reg.as_virt().filter(|_| operand.role.is_def()) {
                            makers.insert(reg, (number, kind));
                        }
                    });
                }
                at += 1;
            }
        }
        let once = |reg: VReg| counts.definitions.get(index(reg)) == Some(&1);
        let origin = |source: &Source| match source.src {
            Src::Reg(reg) => {
                let reg = reg.as_virt().filter(|&reg| once(reg))?;
                match parts.get(index(reg)).copied().flatten() {
                    Some((packed, _)) => Some(Origin::Row(packed)),
                    None => makers.get(&reg).map(|&(block, kind)| Origin::Made(block, kind)),
                }
            }
            Src::Pair { register, .. } => Some(Origin::Pair(register)),
            Src::Scalar { register, dword } => Some(Origin::Half(register, dword / 4)),
            Src::Bits(_) => Some(Origin::Number),
            _ => None,
        };
        // Registers that the same places assign, from the same origins.
        let mut groups: BTreeMap<Vec<(u32, Origin)>, Vec<VReg>> = BTreeMap::new();
        for &reg in &order {
            let all = &places[&reg];
            if all.len() as u32 != counts.definitions[index(reg)] {
                continue;
            }
            let key: Option<Vec<(u32, Origin)>> =
                all.iter().map(|(place, _, source)| Some((*place, origin(source)?))).collect();
            if let Some(key) = key {
                groups.entry(key).or_default().push(reg);
            }
        }
        let mut joins = Joins::default();
        for (key, members) in groups {
            for members in members.chunks(4).filter(|members| members.len() > 1) {
                let mut saved = 0i64;
                for (number, (_, origin)) in key.iter().enumerate() {
                    let at = |reg: &VReg| places[reg][number];
                    let unread = |source: Source| match source.src {
                        Src::Reg(reg) => {
                            reg.as_virt().is_some_and(|reg| counts.uses[index(reg)] == 1)
                        }
                        _ => false,
                    };
                    let moved = members.iter().filter(|reg| !unread(at(reg).2)).count() as i64;
                    let block = at(&members[0]).1;
                    let together = match origin {
                        Origin::Made(made, _) => i64::from(*made != block || moved > 0),
                        Origin::Number => {
                            let mut numbers: SmallVec<[Option<u32>; 4]> = members
                                .iter()
                                .map(|reg| match at(reg).2.src {
                                    Src::Bits(bits) if small(bits).is_none() => Some(bits),
                                    _ => None,
                                })
                                .collect();
                            numbers.sort_unstable();
                            numbers.dedup();
                            numbers.len() as i64
                        }
                        _ => 1,
                    };
                    saved += moved - together;
                }
                if saved < 0 {
                    continue;
                }
                let register = func.make_vreg(Demand::scalar(GPR), Span::NONE);
                for (component, &member) in (0..).zip(members) {
                    parts[index(member)] = Some((register, component));
                    joins.of.insert(member, joins.joins.len());
                }
                joins.joins.push(Join { register, members: SmallVec::from_slice(members) });
            }
        }
        joins
    }

    /// The steps from one on that assign together, and the values that are wanted side by side where they assign components.
    pub fn place(&self, nodes: &[Node<Inst>], from: usize, definitions: &[u32]) -> Option<Wanted> {
        if self.joins.is_empty() {
            return None;
        }
        let (steps, found) = assigned(nodes, from, definitions)?;
        let mut rows = Vec::new();
        for join in self.among(&found) {
            let row = join.values(&found);
            rows.push(std::array::from_fn(|at| match row.get(at).copied().flatten()?.src {
                Src::Reg(reg) => reg.as_virt(),
                _ => None,
            }));
        }
        Some((steps, found, rows))
    }

    /// The joins of which a place assigns members.
    fn among(&self, found: &Assigned) -> impl Iterator<Item = &Join> {
        let numbers = found.iter().filter_map(|(reg, _)| self.of.get(reg).copied());
        numbers.collect::<BTreeSet<usize>>().into_iter().map(|number| &self.joins[number])
    }

    /// Assigns: all is read before anything is written.
    pub fn write(
        &self,
        func: &mut Func<Inst>,
        parts: &[Option<Part>],
        (nodes, found): (&[Node<Inst>], &Assigned),
        done: &mut Vec<Node<Inst>>,
    ) {
        let Some(span) = nodes.first().map(|node| node.span) else { return };
        let part = |source: Source| match source.src {
            Src::Reg(reg) => {
                let known = reg.as_virt().and_then(|reg| parts.get(index(reg)).copied().flatten());
                let src = known.map_or(source.src, |(packed, component)| Src::Part {
                    reg: packed.into(),
                    component,
                });
                Source { src, ..source }
            }
            _ => source,
        };
        let (mut dst, mut src): (SmallVec<[Reg; 2]>, SmallVec<[Reg; 2]>) = Default::default();
        let mut seen: SmallVec<[usize; 4]> = SmallVec::new();
        for (reg, source) in found {
            let Some(&number) = self.of.get(reg) else {
                if let Src::Reg(source) = source.src {
                    dst.push((*reg).into());
                    src.push(source);
                }
                continue;
            };
            if seen.contains(&number) {
                continue;
            }
            seen.push(number);
            let join = &self.joins[number];
            let values: SmallVec<[Source; 4]> =
                join.values(found).into_iter().flatten().map(part).collect();
            if values.len() != join.members.len() {
                continue;
            }
            let from = together(func, &values, span, done);
            if from != Reg::from(join.register) {
                dst.push(join.register.into());
                src.push(from);
            }
        }
        if !dst.is_empty() {
            done.push(Node { inst: Inst::Copy { dst, src }, span });
        }
        let numbers = nodes.iter().filter(|node| match &node.inst {
            Inst::Alu { dst, .. } => dst.as_virt().is_some_and(|dst| !self.of.contains_key(&dst)),
            _ => false,
        });
        done.extend(numbers.cloned());
    }
}

/// The register that has all values as its components, moved there where none has.
fn together(
    func: &mut Func<Inst>,
    values: &[Source],
    span: Span,
    done: &mut Vec<Node<Inst>>,
) -> Reg {
    if let Some(Src::Part { reg, .. }) = values.first().map(|first| first.src)
        && (0u8..)
            .zip(values)
            .all(|(component, value)| value.is_plain() && value.src == Src::Part { reg, component })
    {
        return reg;
    }
    let register = moved(func, values, span, done);
    register.unwrap_or_else(|| Reg::virt(func.make_vreg(Demand::scalar(GPR), span)))
}
