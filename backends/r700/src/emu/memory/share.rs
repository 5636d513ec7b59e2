//! The local data share: each thread writes within its own stride, any thread reads. R700 ISA 2.5.2, 2.6.2, 9 (MEM_DS*).

use super::{Memory, SHARE_WORDS};
use crate::emu::decode::{ShareRead, ShareWrite};
use crate::emu::lanes::{Origin, Word, each};
use crate::emu::rule::{Rule, Trap};
use crate::emu::state::Stage;
use crate::emu::wave::Wave;

/// Who may read a dword of the data share.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Written {
    /// Nobody: nothing of use is there.
    #[default]
    Nothing,
    /// This clause alone: another wavefront writes at the same place as soon as it ends.
    ByClause,
    /// The group, behind a barrier.
    ByGroup,
}

impl Memory {
    /// A new wavefront finds nothing of use in the data share.
    pub fn clear_share(&mut self) {
        self.share_written.fill(Written::Nothing);
    }

    /// A clause ends: what it wrote at places that all wavefronts share is lost.
    fn end_share_clause(&mut self) {
        for written in &mut self.share_written {
            if *written == Written::ByClause {
                *written = Written::Nothing;
            }
        }
    }
}

impl Wave<'_> {
    /// Each thread writes within its own stride. R700 ISA 2.5.2.
    pub fn share_write(&mut self, inst: &ShareWrite, lanes: u64, offset: u32) -> Result<(), Trap> {
        if inst.group && self.state.stage != Stage::Compute {
            let detail = "SIMD_WAVE_REL, and only a dispatch has groups";
            return Err(Trap::new(Rule::Stage, offset, detail));
        }
        for n in 0..inst.burst {
            let gpr = self.burst_register(inst.src, inst.rel == 1, n);
            for (c, &select) in inst.swizzle.iter().enumerate() {
                let Some(word) = self.selected(gpr, select) else {
                    continue;
                };
                self.observed(&word, lanes, offset, "data of a share write")?;
                for lane in each(lanes) {
                    let bank = lane & 3;
                    let at = (lane >> 2) * inst.stride as usize + (inst.index + 4 * n) as usize + c;
                    let Some(at) = share_word(bank, at) else {
                        let detail = "a write beyond the data share";
                        return Err(Trap::new(Rule::ShareRange, offset, detail));
                    };
                    self.memory.share[at] = word.v[lane];
                    self.memory.share_written[at] = match inst.group {
                        true => Written::ByGroup,
                        false => Written::ByClause,
                    };
                }
            }
        }
        self.share_waits |= inst.group;
        self.share_passes |= !inst.group;
        Ok(())
    }

    /// A fetch clause ends. R700 ISA 2.6.2: places that count from the wavefront are for exchange within one clause.
    pub fn end_share_clause(&mut self) {
        if std::mem::take(&mut self.share_passes) {
            self.memory.end_share_clause();
        }
    }

    /// Any thread reads any aligned vector: X is the bank, Y the dword within it.
    pub fn share_read(&mut self, inst: &ShareRead, lanes: u64, offset: u32) -> Result<(), Trap> {
        let gpr = self.burst_register(inst.src, inst.rel == 1, 0);
        let operand = |wave: &Wave, select: u32| match select {
            0..4 => wave.registers[(gpr * 4 + select) as usize],
            4 => Word::splat(0),
            _ => Word::splat(1f32.to_bits()),
        };
        let bank = operand(self, inst.swizzle[0]);
        let address = operand(self, inst.swizzle[1]);
        let first = (self.active & self.full).trailing_zeros().min(63) as usize;
        let needed = if inst.broadcast { 1 << first } else { lanes };
        self.observed(&bank, needed & lanes, offset, "the bank of a share read")?;
        self.observed(&address, needed & lanes, offset, "the address of a share read")?;
        self.check_banks(inst, &bank, lanes, offset)?;
        for n in 0..inst.burst {
            let mut values = [Word::splat(0); 4];
            for lane in each(lanes) {
                let from = if inst.broadcast { first } else { lane };
                let start = u64::from(address.v[from]) + u64::from(inst.offset) + u64::from(4 * n);
                for (c, value) in values.iter_mut().enumerate() {
                    let at = share_word((bank.v[from] & 3) as usize, start as usize + c);
                    let legal = start % 4 == 0;
                    let Some(at) = at.filter(|_| legal) else {
                        let detail = format!("dword {start} of a bank");
                        let thread = self.first_thread + lane as u32;
                        return Err(Trap::new(Rule::ShareRange, offset, detail).at_lane(thread));
                    };
                    value.v[lane] = self.memory.share[at];
                    let wanted = inst.mask >> c & 1 == 1;
                    let written = self.memory.share_written[at];
                    if wanted && written == Written::ByGroup && self.share_waits {
                        let detail = "the group wrote there, and no barrier came since";
                        return Err(Trap::new(Rule::Barrier, offset, detail));
                    }
                    if written == Written::Nothing {
                        value.poison |= 1 << lane;
                        value.origin = Origin { rule: Rule::Uninitialised, offset };
                    }
                }
            }
            let dst = self.burst_register(inst.dst, inst.dst_rel == 1, n);
            let swizzle: [u32; 4] =
                std::array::from_fn(|c| if inst.mask >> c & 1 == 1 { c as u32 } else { 7 });
            self.write_fetched(dst, &swizzle, &values, 4, lanes, offset);
        }
        Ok(())
    }

    /// Without WATERFALL the four threads of a quad address four banks.
    fn check_banks(
        &self,
        inst: &ShareRead,
        bank: &Word,
        lanes: u64,
        offset: u32,
    ) -> Result<(), Trap> {
        if inst.waterfall || inst.broadcast {
            return Ok(());
        }
        for quad in 0..16 {
            let mut used = 0u32;
            for lane in each(lanes & (15 << (4 * quad))) {
                let bit = 1 << (bank.v[lane] & 3);
                if used & bit != 0 {
                    let detail = "two threads of a quad read one bank without WATERFALL";
                    return Err(Trap::new(Rule::ShareRange, offset, detail));
                }
                used |= bit;
            }
        }
        Ok(())
    }
}

/// A dword of a bank within the share.
fn share_word(bank: usize, at: usize) -> Option<usize> {
    (at < SHARE_WORDS / 4).then_some(bank * (SHARE_WORDS / 4) + at)
}
