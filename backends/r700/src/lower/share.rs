//! Workgroup variables in the local data share: stores to the thread's own part, loads from anybody's.

use super::{Lower, narrow};
use crate::inst::{Inst, Lane, ShareRead, ShareWrite, Source};
use crate::isa::AluOp;
use crate::share::{Share, own_slot, place};
use gpucc_ir::ssa::{self, Value};

/// What can be added to a thread's number without another thread's bank: 64 threads, of which every fourth shares a bank.
const ROWS: u32 = 0x3c;

impl Lower<'_> {
    /// Dwords `k` of the slot are dwords `index + k` of the thread's part; one instruction writes four aligned ones.
    pub(super) fn share_store(&mut self, share: Share, address: Value, values: &[Value]) {
        let (_, at) = own_slot(self.ssa, address).expect("`share` looked at every store");
        let first = share.index + at / 4;
        let mut line = first & !3;
        while line < first + values.len() as u32 {
            let src = std::array::from_fn(|component| {
                let k = (line + component as u32).wrapping_sub(first) as usize;
                let Some(&value) = values.get(k) else {
                    return Lane::Masked;
                };
                match self.const_bits(value) {
                    Some(0) => Lane::Zero,
                    Some(bits) if bits == 1f32.to_bits() => Lane::One,
                    _ => Lane::Reg(self.reg(value).into()),
                }
            });
            self.push(Inst::ShareWrite(ShareWrite {
                index: line as u8,
                stride: narrow(self.abi.shares.stride),
                src,
            }));
            line += 4;
        }
    }

    /// Thread t's part is in bank t mod 4, from dword t / 4 * stride on.
    pub(super) fn share_load(&mut self, inst: ssa::Inst, share: Share) {
        let results = &self.ssa.insts[inst].results;
        let (dst, count) = (self.results(results), results.len());
        if dst.iter().all(Option::is_none) {
            return;
        }
        let address = self.ssa.insts[inst].args[0];
        let (linear, within) =
            place(self.ssa, address, share.slot).expect("`share` looked at every load");
        let key = linear
            .terms
            .iter()
            .map(|&(value, factor)| (value, factor / (4 * share.slot)))
            .collect();
        let mut thread = self.row(key);
        let more = linear.constant / 4 / share.slot;
        if more > 0 {
            thread = Source::reg(self.alu(AluOp::ADD_INT, &[thread, Source::bits(more)]));
        }
        let bank = self.alu(AluOp::AND_INT, &[thread, Source::bits(3)]);
        let mut row = self.alu(AluOp::AND_INT, &[thread, Source::bits(ROWS)]);
        let amount = (self.abi.shares.stride / 4).trailing_zeros();
        if amount > 0 {
            row = self.alu(AluOp::LSHL_INT, &[Source::reg(row), Source::bits(amount)]);
        }
        let first = share.index + within;
        let mut line = first & !3;
        while line < first + count as u32 {
            let dst = std::array::from_fn(|component| {
                let k = (line + component as u32).wrapping_sub(first) as usize;
                dst.get(k).copied().flatten()
            });
            if dst.iter().any(Option::is_some) {
                self.push(Inst::ShareRead(ShareRead {
                    bank: bank.into(),
                    address: row.into(),
                    offset: line as u8,
                    dst,
                }));
            }
            line += 4;
        }
    }
}
