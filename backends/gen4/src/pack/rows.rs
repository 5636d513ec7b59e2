//! Words of one row of memory, or of some row: one message reads them as the components of one register.

use super::{Part, index};
use crate::clean::is_pure;
use crate::inst::{Condition, GPR, Inst, Source, Src, Swizzled};
use crate::isa::operand::Type;
use crate::isa::ops::Opcode;
use crate::lower::STATELESS;
use gpucc_ir::mach::{Demand, Func, Node, Reg, VReg};
use gpucc_ir::ssa::Span;
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a row that a message reads whole.
const OWORD: u32 = 16;

/// The words of each register that one message reads, by component.
pub(super) type Rows = BTreeMap<VReg, [Option<VReg>; 4]>;

/// Reads that one message makes: of doublewords of one row of memory.
struct Window {
    surface: u8,
    /// The address of all, or none where it is a number.
    address: Option<VReg>,
    /// The byte of the first component behind the address.
    first: u32,
    /// Components up to the last that is read.
    span: usize,
    words: [Option<VReg>; 4],
}

/// A read of memory outside the thread: what it writes, and where it is.
fn word(inst: &Inst, single: &[bool]) -> Option<(VReg, (u8, Option<VReg>), u32)> {
    let &Inst::Read { dst, address, offset, surface, slot: None } = inst else { return None };
    let once = |reg: Reg| reg.as_virt().filter(|reg| single.get(index(*reg)) == Some(&true));
    let plain = surface != STATELESS && address == Source::from(address.src);
    let dst = once(dst).filter(|_| plain)?;
    match address.src {
        Src::Reg(reg) => Some((dst, (surface, Some(once(reg)?)), offset)),
        Src::Bits(bits) => Some((dst, (surface, None), bits.wrapping_add(offset))),
        _ => None,
    }
}

/// Whether a step writes registers and flags alone.
fn is_quiet(inst: &Inst) -> bool {
    is_pure(inst) || matches!(inst, Inst::Compare(_) | Inst::Slot { .. })
}

/// The reads of a block that share a message, by the step where the first of them stands, and the steps that are such reads.
/// Four that are side by side are a row wherever it begins; others share rows of 16 bytes, which a message reads whole.
/// Nothing between the first and the last read of a row writes memory or ends the segment.
fn windows(nodes: &[Node<Inst>], single: &[bool]) -> (BTreeMap<usize, Window>, BTreeSet<usize>) {
    /// The step, the byte, and what it writes.
    type Reads = SmallVec<[(usize, u32, VReg); 4]>;
    let mut found: BTreeMap<usize, (u8, Option<VReg>, Reads)> = BTreeMap::new();
    let mut open: BTreeMap<(u8, Option<VReg>, u32), usize> = BTreeMap::new();
    let mut at = 0;
    while let Some(node) = nodes.get(at) {
        if !is_quiet(&node.inst) {
            open.clear();
        }
        let Some((dst, place, offset)) = word(&node.inst, single) else {
            at += 1;
            continue;
        };
        let (surface, address) = place;
        let beside = |number: usize| {
            let (dst, other, next) = word(&nodes.get(at + number)?.inst, single)?;
            let expected = offset.checked_add(4 * number as u32)?;
            (other == place && next == expected).then_some((at + number, next, dst))
        };
        let row: Reads = (0..4).map_while(beside).collect();
        if row.len() == 4 {
            found.insert(at, (surface, address, row));
            at += 4;
            continue;
        }
        let lead = *open.entry((surface, address, offset & !15)).or_insert(at);
        let (_, _, reads) = found.entry(lead).or_insert_with(|| (surface, address, Reads::new()));
        if offset % 4 == 0 && reads.iter().all(|&(_, other, _)| other != offset) {
            reads.push((at, offset, dst));
        }
        at += 1;
    }
    let mut windows = BTreeMap::new();
    let mut steps = BTreeSet::new();
    for (lead, (surface, address, reads)) in found {
        let first = reads.iter().map(|&(_, offset, _)| offset).min();
        let Some(first) = first.filter(|_| reads.len() > 1) else { continue };
        let mut window = Window { surface, address, first, span: 0, words: [None; 4] };
        for (step, offset, dst) in reads {
            let component = (offset - first) as usize / 4;
            window.words[component] = Some(dst);
            window.span = window.span.max(component + 1);
            steps.insert(step);
        }
        windows.insert(lead, window);
    }
    (windows, steps)
}

/// Words of one row of memory become the components of one register: each lane of a vertex has an address of its own.
pub(super) fn rows(
    func: &mut Func<Inst>,
    single: &[bool],
    parts: &mut [Option<Part>],
    offsets: u8,
) -> Rows {
    let mut rows = Rows::new();
    let zeros = Zeros::of(func, single);
    let Some(&start) = func.layout.first() else { return rows };
    let alu = |opcode, dst: VReg, sources: [Source; 2]| Inst::Alu {
        opcode,
        to: Type::Ud,
        dst: dst.into(),
        from: Type::Ud,
        saturate: false,
        sources: sources.into_iter().collect(),
    };
    // The byte that each lane reads of rows of so many components.
    let mut lanes: [Option<VReg>; 5] = [None; 5];
    for block in func.layout.clone() {
        let (windows, steps) = windows(&func.blocks[block].nodes, single);
        if windows.is_empty() {
            continue;
        }
        let nodes = std::mem::take(&mut func.blocks[block].nodes);
        let mut done = Vec::with_capacity(nodes.len());
        for (at, node) in nodes.into_iter().enumerate() {
            if let Some(&Window { surface, address, first, span, mut words }) = windows.get(&at) {
                let mut fresh = |span| func.make_vreg(Demand::scalar(GPR), span);
                let packed = fresh(node.span);
                // A message reads rows of 16 bytes by one address for each vertex.
                let within = first % OWORD;
                let row = within as usize + 4 * span <= OWORD as usize
                    && address.is_none_or(|address| zeros.ends(address) >= OWORD.ilog2());
                if row {
                    let address = address.map_or(Src::Bits(0), |address| Src::Reg(address.into()));
                    let (address, offset) = (address.into(), first - within);
                    let inst = Inst::ReadRow { dst: packed.into(), address, offset, surface };
                    done.push(Node { inst, span: node.span });
                    words.rotate_right(within as usize / 4);
                } else {
                    let lanes = *lanes[span].get_or_insert_with(|| fresh(Span::NONE));
                    let lanes = Source::from(Src::Reg(lanes.into()));
                    let places = fresh(node.span);
                    let (from, offset) = match address {
                        Some(address) => ([lanes, Src::Reg(address.into()).into()], first),
                        None => ([lanes, Src::Bits(first).into()], 0),
                    };
                    done.push(Node { inst: alu(Opcode::Add, places, from), span: node.span });
                    let address = Src::Reg(places.into()).into();
                    let dst = packed.into();
                    let inst = Inst::Read { dst, address, offset, surface, slot: None };
                    done.push(Node { inst, span: node.span });
                }
                for (component, word) in words.into_iter().enumerate() {
                    if let Some(word) = word {
                        parts[index(word)] = Some((packed, component as u8));
                    }
                }
                rows.insert(packed, words);
            }
            if !steps.contains(&at) {
                done.push(node);
            }
        }
        func.blocks[block].nodes = done;
    }
    let bytes = |mask: u32| [Src::Fixed(offsets).into(), Src::Bits(mask).into()];
    let mut first: SmallVec<[Inst; 4]> = SmallVec::new();
    first.extend(lanes[2].map(|lanes| alu(Opcode::And, lanes, bytes(4))));
    if let Some(lanes) = lanes[3] {
        // 0, 4, 8 and again 8.
        let four = func.make_vreg(Demand::scalar(GPR), Span::NONE);
        first.push(alu(Opcode::And, four, bytes(12)));
        let whole = |src: Src| Swizzled { of: src.into(), select: 0 };
        let [byte, past, last] = [Src::Reg(four.into()), Src::Bits(12), Src::Bits(8)].map(whole);
        first.push(Inst::Choose {
            dst: lanes.into(),
            condition: Condition::Less,
            ty: Type::Ud,
            channels: 0,
            inverse: false,
            sources: [byte, past, byte, last],
            keep: None,
        });
    }
    first.extend(lanes[4].map(|lanes| alu(Opcode::And, lanes, bytes(12))));
    let first = first.into_iter().map(|inst| Node { inst, span: Span::NONE });
    func.blocks[start].nodes.splice(0..0, first);
    rows
}

/// What numbers of registers that are written once end with.
struct Zeros(BTreeMap<VReg, u32>);

impl Zeros {
    /// Looks at all steps; operands stand before who reads them.
    fn of(func: &Func<Inst>, single: &[bool]) -> Zeros {
        let mut zeros = Zeros(BTreeMap::new());
        for node in func.layout.iter().flat_map(|&block| &func.blocks[block].nodes) {
            let Some((dst, ends)) = zeros.made(&node.inst) else { continue };
            if single.get(index(dst)) == Some(&true) && ends > 0 {
                zeros.0.insert(dst, ends);
            }
        }
        zeros
    }

    /// Zeros at the end of a register, at least.
    fn ends(&self, reg: VReg) -> u32 {
        self.0.get(&reg).copied().unwrap_or(0)
    }

    /// A step's result and the zeros at its end.
    fn made(&self, inst: &Inst) -> Option<(VReg, u32)> {
        let of = |source: &Source| match source.src {
            Src::Reg(reg) => reg.as_virt().map_or(0, |reg| self.ends(reg)),
            Src::Bits(bits) => bits.trailing_zeros(),
            _ => 0,
        };
        let (dst, ends) = match inst {
            Inst::Alu { opcode, to, dst, from, saturate: false, sources } => {
                let whole = |ty: &Type| matches!(ty, Type::D | Type::Ud);
                let plain = sources.iter().all(|source| !source.absolute);
                if !whole(to) || !whole(from) || !plain {
                    return None;
                }
                let ends = match (opcode, &sources[..]) {
                    (Opcode::Mov, [one]) => of(one),
                    // A number is negative in its own bits.
                    (Opcode::Shl, [one, Source { src: Src::Bits(by), .. }]) => of(one) + (by & 31),
                    (Opcode::And, [one, other]) => of(one).max(of(other)),
                    (Opcode::Add | Opcode::Or, [one, other]) => of(one).min(of(other)),
                    _ => 0,
                };
                (dst, ends)
            }
            Inst::Select { dst, yes, no, .. } => (dst, of(yes).min(of(no))),
            Inst::Product { dst, first, second, .. } => (dst, of(first) + of(second)),
            _ => return None,
        };
        Some((dst.as_virt()?, ends.min(32)))
    }
}
