//! Dot products of vertices: one word on the components of two registers. What does not stand side by side is moved there.
//! G45 vol. 4, 14.2.10 to 14.2.13.

use crate::inst::{Base, GPR, Inst, Source, Src, Swizzled, small};
use crate::isa::operand::Type;
use crate::isa::ops::Opcode;
use gpucc_ir::mach::{Demand, Func, Node, Reg};
use gpucc_ir::ssa::Span;

/// Makes vectors of all dot products.
pub fn write(func: &mut Func<Inst>) {
    for block in func.layout.clone() {
        let nodes = &func.blocks[block].nodes;
        if nodes.iter().all(|node| !matches!(node.inst, Inst::Dot { .. })) {
            continue;
        }
        let nodes = std::mem::take(&mut func.blocks[block].nodes);
        let mut done = Vec::with_capacity(nodes.len());
        for node in nodes {
            match node.inst {
                Inst::Dot { dst, channels, sources, keep } => {
                    let mut dots = Dots { func, done: &mut done, span: node.span };
                    let inst = dots.vector(dst, channels, &sources, keep);
                    done.push(Node { inst, span: node.span });
                }
                _ => done.push(node),
            }
        }
        func.blocks[block].nodes = done;
    }
}

struct Dots<'a> {
    func: &'a mut Func<Inst>,
    done: &'a mut Vec<Node<Inst>>,
    span: Span,
}

impl Dots<'_> {
    /// The word, behind what it needs. The first operand is no number.
    fn vector(&mut self, dst: Reg, channels: u8, sources: &[Source], keep: Option<Reg>) -> Inst {
        let (mut first, mut second) = sources.split_at(sources.len() / 2);
        let one = |side: &[Source]| side.get(3) == Some(&Src::Bits(1f32.to_bits()).into());
        let numbers = |side: &[Source]| side.iter().all(|of| matches!(of.src, Src::Bits(_)));
        if one(second) && !numbers(second) || numbers(first) {
            (first, second) = (second, first);
        }
        // DPH takes 1 for the last component of the first operand.
        let (opcode, first) = match second.len() {
            4 if one(first) => (Opcode::Dph, &first[..3]),
            4 => (Opcode::Dp4, first),
            3 => (Opcode::Dp3, first),
            _ => (Opcode::Dp2, first),
        };
        let sources = [self.side(first, false), self.side(second, true)];
        Inst::Vector {
            opcode,
            to: Type::F,
            dst,
            from: Type::F,
            saturate: false,
            channels: if channels == 0 { 15 } else { channels },
            sources: sources.into_iter().collect(),
            keep,
        }
    }

    /// An operand: the components of one register as they are, or those of a register that they are moved to.
    fn side(&mut self, values: &[Source], number: bool) -> Swizzled {
        let all = (1u8 << values.len()) - 1;
        let is_number = values.iter().any(|of| matches!(of.src, Src::Bits(_) | Src::Floats(_)));
        if alike(values, 0, all) == all && (number || !is_number) {
            return gathered(values, all);
        }
        let register = moved(self.func, values, self.span, self.done);
        let src = register.map_or(Src::Bits(0), Src::Reg);
        let select = if values.len() == 2 { 0b0100_0100 } else { 0b1110_0100 };
        Swizzled { of: src.into(), select }
    }
}

/// The register of which values are made the components, by one move for each place that they come from.
pub fn moved(
    func: &mut Func<Inst>,
    values: &[Source],
    span: Span,
    done: &mut Vec<Node<Inst>>,
) -> Option<Reg> {
    let mut left = (1u8 << values.len()) - 1;
    let mut register: Option<Reg> = None;
    while left != 0 {
        let channels = alike(values, left.trailing_zeros() as usize, left);
        left &= !channels;
        let source = gathered(values, channels);
        let float = !source.of.is_plain() || matches!(source.of.src, Src::Floats(_));
        let ty = if float { Type::F } else { Type::Ud };
        let dst = Reg::virt(func.make_vreg(Demand::scalar(GPR), span));
        let inst = Inst::Vector {
            opcode: Opcode::Mov,
            to: ty,
            dst,
            from: ty,
            saturate: false,
            channels,
            sources: [source].into_iter().collect(),
            keep: register,
        };
        done.push(Node { inst, span });
        register = Some(dst);
    }
    register
}

/// A bit for each value that comes from where one of them does, of the values with these bits.
fn alike(values: &[Source], first: usize, among: u8) -> u8 {
    let known = |at: usize| (values[at].place().base, values[at].negate, values[at].absolute);
    let same = |&at: &usize| among >> at & 1 == 1 && known(at) == known(first);
    (0..values.len()).filter(same).fold(0, |all, at| all | 1 << at)
}

/// The components of values that come from one place; the others have what the first of them has.
fn gathered(values: &[Source], channels: u8) -> Swizzled {
    let first = channels.trailing_zeros() as usize;
    let place = values[first].place();
    let (mut select, mut numbers) = (0, 0);
    for component in 0..4 {
        let at = if channels >> component & 1 == 1 { component } else { first };
        select |= values[at].place().component << (2 * component);
        if let Src::Bits(bits) = values[at].src {
            numbers |= small(bits).unwrap_or(0) << (8 * component);
        }
    }
    let floats = place.base == Base::Floats;
    let of = if floats { Src::Floats(numbers).into() } else { place.whole };
    Swizzled { of, select }
}

#[cfg(test)]
mod tests {
    use super::alike;
    use crate::inst::{Source, Src};

    #[test]
    fn registers_of_lanes_are_places_of_their_own() {
        let alike = |registers: [u8; 2]| {
            alike(&registers.map(|register| Source::from(Src::Fixed(register))), 0, 0b11)
        };
        assert_eq!(alike([3, 3]), 0b11);
        assert_eq!(alike([3, 5]), 0b01);
    }
}
