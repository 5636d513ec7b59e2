//! ALU work as operations with real registers, which wait for `group::pack`.

use super::{Emitter, parts};
use crate::group::{self, Item, Work};
use crate::inst::{Alu, Double, Indexed, Source, Src};
use crate::isa::AluOp;
use crate::legal::Group;
use crate::slot::{Dst, Operand, Read, Slot};
use gpucc_ir::mach::Reg;
use gpucc_ir::ssa::Span;

fn read(reg: Reg) -> Read {
    Read::at(reg.cell().index)
}

fn dst(reg: Reg) -> Dst {
    let (gpr, chan) = parts(reg.cell());
    Dst::gpr(gpr, chan)
}

impl Emitter<'_> {
    pub(super) fn alu(&mut self, alu: &Alu, span: Span) {
        self.flush_fetch();
        let slot = Slot::of(alu, alu.dst.map(dst), read);
        self.pending.push(Item::one(slot, span));
    }

    pub(super) fn mov(&mut self, dst: Dst, src: Read, span: Span) {
        self.array_mov(dst, src, None, span);
    }

    fn array_mov(&mut self, dst: Dst, src: Read, range: Option<group::Range>, span: Span) {
        let slot = Slot::new(AluOp::MOV, Some(dst), &[Operand::plain(src)]);
        let item = Item::one(slot, span);
        self.pending.push(Item { range, ..item });
    }

    /// A parallel copy as moves in an order that keeps its meaning; cycles are exchanged by XOR.
    pub(super) fn copy(&mut self, dst: &[Reg], src: &[Reg], span: Span) {
        self.flush_fetch();
        let mut moves: Vec<(Reg, Reg)> =
            dst.iter().copied().zip(src.iter().copied()).filter(|(d, s)| d != s).collect();
        while !moves.is_empty() {
            let free = moves.iter().position(|&(d, _)| moves.iter().all(|&(_, s)| s != d));
            match free {
                Some(at) => {
                    let (to, from) = moves.swap_remove(at);
                    self.mov(self::dst(to), read(from), span);
                }
                None => {
                    // Every destination is still read: a cycle. Exchange one pair; the one that
                    // wanted our old value finds it in the other place.
                    let (d, s) = moves.swap_remove(0);
                    let sources = [d, s].map(|reg| Operand::plain(read(reg)));
                    for to in [d, s, d] {
                        let slot = Slot::new(AluOp::XOR_INT, Some(self::dst(to)), &sources);
                        self.pending.push(Item::one(slot, span));
                    }
                    for (_, source) in &mut moves {
                        if *source == d {
                            *source = s;
                        }
                    }
                    moves.retain(|(d, s)| d != s);
                }
            }
        }
    }

    /// A sum of four products in one group, or where its registers crowd one channel in four.
    pub(super) fn dot(&mut self, to: Reg, src: &[[Source; 2]; 4], clamp: bool, span: Span) {
        self.flush_fetch();
        let slots = Slot::dot(src, dst(to), clamp, read);
        if Group::of(self.isa()).admit_reduction(&slots).is_err() {
            self.dot_by_chain(&slots, dst(to), span);
        } else {
            self.four(slots, span);
        }
    }

    pub(super) fn cube(&mut self, to: [Reg; 4], src: [Reg; 3], span: Span) {
        self.flush_fetch();
        self.four(Slot::cube(src.map(read), to.map(dst)), span);
    }

    pub(super) fn double(&mut self, double: &Double, span: Span) {
        self.flush_fetch();
        let slots = Slot::double(double, double.dst.map(|reg| reg.map(dst)), read);
        self.pending.push(Item { work: Work::Double(slots.into_vec()), range: None, span });
    }

    fn four(&mut self, slots: [Slot; 4], span: Span) {
        self.pending.push(Item { work: Work::Four(Box::new(slots)), range: None, span });
    }

    /// DOT4_IEEE as the same sum in the same order: w first.
    fn dot_by_chain(&mut self, slots: &[Slot; 4], dst: Dst, span: Span) {
        let sum = Operand::gpr(dst.gpr, dst.chan);
        for (number, slot) in slots.iter().rev().enumerate() {
            let [a, b, _] = slot.src;
            let chain = if number == 0 {
                Slot::new(AluOp::MUL_IEEE, Some(dst), &[a, b])
            } else {
                Slot::new(AluOp::MULADD_IEEE, Some(dst), &[a, b, sum])
            };
            let clamp = slot.clamp && number == 3;
            self.pending.push(Item::one(Slot { clamp, ..chain }, span));
        }
    }

    pub(super) fn array_read(&mut self, to: Reg, from: &Indexed, span: Span) {
        self.flush_fetch();
        let (gpr, chan, range) = self.element(from, span);
        let rel = range.is_some();
        self.array_mov(dst(to), Read::Gpr { gpr, chan, rel }, range, span);
    }

    pub(super) fn array_write(&mut self, to: &Indexed, value: &Source, span: Span) {
        self.flush_fetch();
        let (gpr, chan, range) = self.element(to, span);
        let value = Operand::of(value, AluOp::MOV, 0, read);
        let rel = range.is_some();
        self.array_mov(Dst { gpr, chan, rel }, value.read, range, span);
    }

    /// The register of an element: at a known place itself, else the range and the element that AR
    /// counts from.
    fn element(&mut self, indexed: &Indexed, span: Span) -> (u8, u8, Option<group::Range>) {
        let (gpr, chan) = self.reg(indexed.array);
        self.gprs = self.gprs.max(u32::from(gpr) + u32::from(indexed.count));
        if let Src::Bits(row) = indexed.index.src {
            return (gpr + row as u8 + indexed.offset as u8, chan, None);
        }
        let range = group::Range { gpr, chan, count: indexed.count };
        self.mova(&indexed.index, span);
        (gpr + indexed.offset as u8, chan, Some(range))
    }

    fn mova(&mut self, index: &Source, span: Span) {
        let index = Operand::of(index, AluOp::MOVA_INT, 0, read);
        if self.shares_address(index.read) {
            return;
        }
        self.address = Some((index.read, self.pending.len()));
        let slot = Slot::new(AluOp::MOVA_INT, None, &[index]);
        self.pending.push(Item::one(slot, span));
    }

    /// AR holds what is read here already: the last MOVA read it, not long ago, and nothing has
    /// been written since but by plain reads of arrays.
    fn shares_address(&self, source: Read) -> bool {
        let Some((read, at)) = self.address else { return false };
        let stays = source.cell().is_some() || matches!(source, Read::Kcache { .. });
        stays
            && read == source
            && at + group::SHARING > self.pending.len()
            && self.pending[at + 1..].iter().all(|item| item.may_stand_behind_mova(source.cell()))
    }
}
