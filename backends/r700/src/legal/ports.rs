//! Read ports of the registers, and the bank swizzles that say when a source uses one. R700 ISA 4.7.

use crate::slot::{Read, Slot};

/// Cycle of each source by BANK_SWIZZLE in a vector slot. R700 ISA 4.7.7.
pub(super) const VEC: [[u8; 3]; 6] =
    [[0, 1, 2], [0, 2, 1], [1, 2, 0], [1, 0, 2], [2, 0, 1], [2, 1, 0]];
/// Cycle of each source by BANK_SWIZZLE in the trans slot. R700 ISA 4.7.7.
pub(super) const SCL: [[u8; 3]; 4] = [[2, 1, 0], [1, 2, 2], [2, 1, 2], [2, 2, 1]];

pub(super) const FREE: u16 = u16::MAX;
/// Marks indexed registers, which never equal anything.
const INDEXED: u16 = 0x8000;

/// Read ports of the registers: for each of three cycles, one register a channel.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Ports(pub [[u16; 4]; 3]);

impl Ports {
    pub(super) const NEW: Ports = Ports([[FREE; 4]; 3]);

    pub(super) fn reserve(&mut self, want: u16, chan: u8, cycle: u8) -> bool {
        let port = &mut self.0[usize::from(cycle)][usize::from(chan)];
        if *port == FREE {
            *port = want;
            true
        } else {
            *port == want && want & INDEXED == 0
        }
    }

    /// The ports after a slot reads with a swizzle.
    pub(super) fn fit(&self, reads: &Reads, swizzle: u8) -> Option<Ports> {
        let mut next = *self;
        let cycles = reads.cycles(swizzle);
        for &(source, chan, want) in &reads.list[..usize::from(reads.count)] {
            let cycle = cycles[usize::from(source)];
            if cycle < reads.constants || chan != NO_PORT && !next.reserve(want, chan, cycle) {
                return None;
            }
        }
        Some(next)
    }
}

/// In place of a channel: PV and PS take no port, but in the trans slot a cycle.
pub(super) const NO_PORT: u8 = 4;

/// What a slot reads that its bank swizzle decides about.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Reads {
    pub(super) trans: bool,
    /// Cycles that constants take in the trans slot. R700 ISA 4.7.7.
    pub(super) constants: u8,
    pub(super) count: u8,
    /// Source, channel, register.
    pub(super) list: [(u8, u8, u16); 3],
}

impl Reads {
    pub(super) fn of(slot: &Slot, trans: bool) -> Reads {
        let src = slot.sources();
        let mut reads = Reads { trans, ..Reads::default() };
        for (index, s) in src.iter().enumerate() {
            let (chan, want) = match s.read {
                Read::Gpr { gpr, chan, rel } => {
                    // In vector slots src1 equal to src0 shares its read (R700 ISA 4.7.5).
                    if !trans && index == 1 && src[0].read == s.read && !rel {
                        continue;
                    }
                    (chan, u16::from(gpr) | if rel { INDEXED } else { 0 })
                }
                Read::Pv(_) | Read::Ps if trans => (NO_PORT, FREE),
                Read::Pv(_) | Read::Ps => continue,
                Read::Kcache { .. } | Read::Literal(_) | Read::Inline(_) => {
                    reads.constants += u8::from(trans);
                    continue;
                }
            };
            reads.list[usize::from(reads.count)] = (index as u8, chan, want);
            reads.count += 1;
        }
        reads
    }

    pub(super) fn cycles(&self, swizzle: u8) -> &'static [u8; 3] {
        if self.trans { &SCL[usize::from(swizzle)] } else { &VEC[usize::from(swizzle)] }
    }

    /// Swizzles that differ in the cycles of what is read, the first of each kind.
    pub(super) fn swizzles(&self) -> &'static [u8] {
        let read = self.list[..usize::from(self.count)].iter();
        let mask = read.fold(0, |mask, &(source, ..)| mask | 1usize << source);
        let (list, count) = if self.trans { &SCL_KINDS[mask] } else { &VEC_KINDS[mask] };
        &list[..*count]
    }
}

/// For each set of sources (bits), the swizzles that differ in their cycles.
type Kinds = [([u8; 6], usize); 8];
const VEC_KINDS: Kinds = kinds(&VEC);
const SCL_KINDS: Kinds = kinds(&SCL);

const fn kinds(table: &[[u8; 3]]) -> Kinds {
    let mut out: Kinds = [([0; 6], 0); 8];
    let mut mask = 0;
    while mask < 8 {
        let mut swizzle = 0;
        while swizzle < table.len() {
            let mut known = false;
            let mut at = 0;
            while at < out[mask].1 {
                let other = &table[out[mask].0[at] as usize];
                let mut same = true;
                let mut source = 0;
                while source < 3 {
                    same &= mask >> source & 1 == 0 || other[source] == table[swizzle][source];
                    source += 1;
                }
                known |= same;
                at += 1;
            }
            if !known {
                out[mask].0[out[mask].1] = swizzle as u8;
                out[mask].1 += 1;
            }
            swizzle += 1;
        }
        mask += 1;
    }
    out
}
