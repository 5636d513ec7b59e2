//! What may stand in one ALU group: the rule set as a small state with one verb, [`Group::admit`].
//!
//! The packer asks it before it places an operation, and [`legal`] folds it over finished code.
//! Rules are numbered as in the text of [`Violation`]; all are from R700 ISA 4.3 to 4.8.

use crate::isa::{self, AluOp};
use crate::op::{self, Units};
use crate::slot::{Dst, Operand, Read, Slot};

/// Number of the trans slot; 0..=3 are x, y, z, w.
pub const TRANS: usize = 4;

/// A rule that a group would break.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// The slot is occupied.
    #[error("the slot is taken")]
    Taken,
    /// The operation does not execute in this slot.
    #[error("the slot does not execute this operation (R700 ISA 4.8.1, 4.8.2)")]
    Unit,
    /// A vector slot writes its own channel.
    #[error("a vector slot writes its own channel (R700 ISA 4.4)")]
    Channel,
    /// More than four literal dwords.
    #[error("more than four literals (R700 ISA 4.3)")]
    Literals,
    /// More than two pairs of constants.
    #[error("more than two pairs of constants (R700 ISA 4.7.4)")]
    Constants,
    /// The trans slot reads more than two constants.
    #[error("more than two constants in the trans slot (R700 ISA 4.7.7)")]
    TransConstants,
    /// No bank swizzles give every register its read port.
    #[error("no bank swizzles fit the read ports (R700 ISA 4.7.5)")]
    Ports,
    /// A second PRED_SET or KILL.
    #[error("a group has at most one PRED_SET or KILL (R700 ISA 4.8.1)")]
    Predicate,
    /// MOVA beside indexed operands or another MOVA.
    #[error("MOVA stands beside an indexed operand or a second MOVA (R700 ISA 4.6.4)")]
    Address,
    /// Two slots write one place.
    #[error("two slots write the same place (R700 ISA 4.9.2)")]
    SamePlace,
    /// NEG or ABS on integers, OMOD or CLAMP on an integer result.
    #[error("a modifier on an integer (R700 ISA 4.7.2, 4.9.1)")]
    Modifier,
    /// The four slots of a reduction differ.
    #[error("the four slots of a reduction differ in operation or modifiers (R700 ISA 4.8.2.1)")]
    Reduction,
    /// PV or PS holds nothing.
    #[error("PV or PS is read where no slot of the previous group left a value (R700 ISA 4.4)")]
    Stale,
    /// PV other than x after a reduction.
    #[error("after a reduction only PV.x is defined (R700 ISA 4.8.2.1)")]
    ReductionChannel,
    /// A clause is too long.
    #[error("an ALU clause has at most 128 slots, literals counted (R700 ISA 3.3)")]
    ClauseLength,
    /// KILL is not in the last group.
    #[error("KILL stands in the last group of its clause (R700 ISA 4.8.1.1)")]
    KillNotLast,
    /// A constant that is not locked.
    #[error("a constant of a line that the clause does not lock (R700 ISA 4.6.4)")]
    Unlocked,
    /// An index is used before the group after MOVA.
    #[error("AR is undefined until the group after a MOVA of the same clause (R700 ISA 4.6.4)")]
    NoAddress,
    /// A register beyond the declared number.
    #[error("a register beyond NUM_GPRS (R700 ISA 4.6.3)")]
    Register,
}

/// Cycle of each source by BANK_SWIZZLE in a vector slot. R700 ISA 4.7.7.
const VEC: [[u8; 3]; 6] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 2, 0],
    [1, 0, 2],
    [2, 0, 1],
    [2, 1, 0],
];
/// Cycle of each source by BANK_SWIZZLE in the trans slot. R700 ISA 4.7.7.
const SCL: [[u8; 3]; 4] = [[2, 1, 0], [1, 2, 2], [2, 1, 2], [2, 2, 1]];

const FREE: u16 = u16::MAX;
/// Marks indexed registers, which never equal anything.
const INDEXED: u16 = 0x8000;

/// Read ports of the registers: for each of three cycles, one register a channel.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Ports([[u16; 4]; 3]);

impl Ports {
    const NEW: Ports = Ports([[FREE; 4]; 3]);

    fn reserve(&mut self, want: u16, chan: u8, cycle: u8) -> bool {
        let port = &mut self.0[usize::from(cycle)][usize::from(chan)];
        if *port == FREE {
            *port = want;
            true
        } else {
            *port == want && want & INDEXED == 0
        }
    }

    /// The ports after a slot reads with a swizzle.
    fn fit(&self, reads: &Reads, swizzle: u8) -> Option<Ports> {
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
const NO_PORT: u8 = 4;

/// What a slot reads that its bank swizzle decides about.
#[derive(Copy, Clone, Debug, Default)]
struct Reads {
    trans: bool,
    /// Cycles that constants take in the trans slot. R700 ISA 4.7.7.
    constants: u8,
    count: u8,
    /// Source, channel, register.
    list: [(u8, u8, u16); 3],
}

impl Reads {
    fn of(slot: &Slot, trans: bool) -> Reads {
        let src = slot.sources();
        let mut reads = Reads {
            trans,
            ..Reads::default()
        };
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

    fn cycles(&self, swizzle: u8) -> &'static [u8; 3] {
        if self.trans {
            &SCL[usize::from(swizzle)]
        } else {
            &VEC[usize::from(swizzle)]
        }
    }

    /// Swizzles that differ in the cycles of what is read, the first of each kind.
    fn swizzles(&self) -> &'static [u8] {
        let read = self.list[..usize::from(self.count)].iter();
        let mask = read.fold(0, |mask, &(source, ..)| mask | 1usize << source);
        let (list, count) = if self.trans {
            &SCL_KINDS[mask]
        } else {
            &VEC_KINDS[mask]
        };
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

/// The pair of constants that one stands in: its address and xy or zw. R700 ISA 4.7.4.
const fn pair(buffer: u8, index: u16, chan: u8) -> u32 {
    (buffer as u32) << 24 | (index as u32) << 1 | (chan >> 1) as u32
}

/// The slots of one group so far, with bank swizzles that fit.
#[derive(Copy, Clone, Debug)]
pub struct Group {
    /// x, y, z, w, t.
    pub slots: [Option<Slot>; 5],
    /// BANK_SWIZZLE of each slot.
    pub swizzle: [u8; 5],
    isa: &'static isa::Isa,
    ports: Ports,
    reads: [Reads; 5],
    literals: [u32; 4],
    literal_count: u8,
    pairs: [u32; 2],
    pair_count: u8,
    predicate: bool,
    mova: bool,
    indexed: bool,
    reduction: bool,
}

impl Default for Group {
    fn default() -> Self {
        Group::of(&isa::R700)
    }
}

impl Group {
    /// An empty group of a member of the family.
    pub fn of(isa: &'static isa::Isa) -> Group {
        Group {
            slots: [None; 5],
            swizzle: [0; 5],
            isa,
            ports: Ports::NEW,
            reads: [Reads::default(); 5],
            literals: [0; 4],
            literal_count: 0,
            pairs: [0; 2],
            pair_count: 0,
            predicate: false,
            mova: false,
            indexed: false,
            reduction: false,
        }
    }
    /// Whose rules it keeps.
    pub fn isa(&self) -> &'static isa::Isa {
        self.isa
    }
    /// No slot is taken.
    pub fn is_empty(&self) -> bool {
        self.slots.iter().all(Option::is_none)
    }
    /// Slots in use.
    pub fn len(&self) -> usize {
        self.slots.iter().flatten().count()
    }
    /// An operation may still be placed: in the trans slot, or in any.
    pub fn has_room(&self, trans: bool) -> bool {
        self.slots[TRANS].is_none() || !trans && self.len() < 5
    }
    /// The distinct literals in the order of first use.
    pub fn literals(&self) -> &[u32] {
        &self.literals[..usize::from(self.literal_count)]
    }
    /// Size in the clause: slots and pairs of literals.
    pub fn qwords(&self) -> u32 {
        (self.len() + usize::from(self.literal_count).div_ceil(2)) as u32
    }
    /// The four vector slots are one reduction.
    pub fn is_reduction(&self) -> bool {
        self.reduction
    }
    /// Has a KILL.
    pub fn has_kill(&self) -> bool {
        self.slots.iter().flatten().any(|slot| op::is_kill(slot.op))
    }
    /// Reads a constant of the same pair.
    pub fn reads_pair(&self, buffer: u8, index: u16, chan: u8) -> bool {
        self.pairs[..usize::from(self.pair_count)].contains(&pair(buffer, index, chan))
    }
    /// Has a MOVA.
    pub fn has_mova(&self) -> bool {
        self.mova
    }

    /// The group with one more operation in slot `unit` (0..=3 x to w, 4 t).
    ///
    /// # Errors
    /// The rule that forbids it.
    pub fn admit(&self, unit: usize, slot: &Slot) -> Result<Group, Violation> {
        if self.slots[unit].is_some() {
            return Err(Violation::Taken);
        }
        let units = op::units(self.isa, slot.op);
        match (units, unit == TRANS) {
            (Units::Trans, false) | (Units::Vector | Units::Reduction, true) => {
                return Err(Violation::Unit);
            }
            _ => {}
        }
        let mut next = *self;
        next.admit_scalar(unit, slot)?;
        if units == Units::Reduction {
            // Reductions come four at a time through `admit_reduction`.
            return Err(Violation::Reduction);
        }
        if self.reduction && unit != TRANS {
            return Err(Violation::Reduction);
        }
        next.place(&[(unit, *slot)])?;
        Ok(next)
    }

    /// The group with the four slots of a reduction, which takes all vector slots.
    ///
    /// # Errors
    /// The rule that forbids it.
    pub fn admit_reduction(&self, slots: &[Slot; 4]) -> Result<Group, Violation> {
        if self.slots[..TRANS].iter().any(Option::is_some) {
            return Err(Violation::Taken);
        }
        let first = &slots[0];
        if op::units(self.isa, first.op) != Units::Reduction
            || slots
                .iter()
                .any(|s| s.op != first.op || s.clamp != first.clamp || s.omod != first.omod)
        {
            return Err(Violation::Reduction);
        }
        let mut next = *self;
        for (unit, slot) in slots.iter().enumerate() {
            next.admit_scalar(unit, slot)?;
        }
        next.reduction = true;
        next.place(&[(0, slots[0]), (1, slots[1]), (2, slots[2]), (3, slots[3])])?;
        Ok(next)
    }

    /// Everything but ports and the slot itself.
    fn admit_scalar(&mut self, unit: usize, slot: &Slot) -> Result<(), Violation> {
        if let Some(dst) = slot.dst {
            if unit != TRANS && usize::from(dst.chan) != unit {
                return Err(Violation::Channel);
            }
            if self
                .slots
                .iter()
                .flatten()
                .any(|other| other.dst == Some(dst))
            {
                return Err(Violation::SamePlace);
            }
        }
        if op::is_pred_set(slot.op) || op::is_kill(slot.op) {
            if self.predicate {
                return Err(Violation::Predicate);
            }
            self.predicate = true;
        }
        let mut indexed = slot.dst.is_some_and(|dst| dst.rel);
        for (index, s) in slot.sources().iter().enumerate() {
            if (s.neg || s.abs) && !op::may_negate(slot.op, index) && slot.op != AluOp::MOV
                || s.abs && op::is_op3(slot.op)
            {
                return Err(Violation::Modifier);
            }
            match s.read {
                Read::Literal(bits) => self.literal(bits)?,
                Read::Kcache {
                    buffer,
                    index,
                    chan,
                } => {
                    let pair = pair(buffer, index, chan);
                    let count = usize::from(self.pair_count);
                    if !self.pairs[..count].contains(&pair) {
                        if count == 2 {
                            return Err(Violation::Constants);
                        }
                        self.pairs[count] = pair;
                        self.pair_count += 1;
                    }
                }
                Read::Gpr { rel, .. } => indexed |= rel,
                Read::Inline(_) | Read::Pv(_) | Read::Ps => {}
            }
        }
        if (slot.clamp || slot.omod != 0) && !op::may_clamp(slot.op) {
            return Err(Violation::Modifier);
        }
        let mova = slot.op == AluOp::MOVA_INT;
        if mova && (self.mova || self.indexed || indexed) || indexed && self.mova {
            return Err(Violation::Address);
        }
        self.mova |= mova;
        self.indexed |= indexed;
        if unit == TRANS && slot.sources().iter().filter(|s| s.is_constant()).count() > 2 {
            return Err(Violation::TransConstants);
        }
        Ok(())
    }

    fn literal(&mut self, bits: u32) -> Result<(), Violation> {
        let count = usize::from(self.literal_count);
        if self.literals[..count].contains(&bits) {
            return Ok(());
        }
        if count == 4 {
            return Err(Violation::Literals);
        }
        self.literals[count] = bits;
        self.literal_count += 1;
        Ok(())
    }

    /// Puts the slots in and finds bank swizzles: first beside those chosen before, then afresh.
    fn place(&mut self, new: &[(usize, Slot)]) -> Result<(), Violation> {
        let mut ports = self.ports;
        let mut quick = true;
        for (unit, slot) in new {
            self.slots[*unit] = Some(*slot);
            let reads = Reads::of(slot, *unit == TRANS);
            self.reads[*unit] = reads;
            let fits = |&swizzle: &u8| Some((swizzle, ports.fit(&reads, swizzle)?));
            match reads.swizzles().iter().find_map(fits) {
                Some((swizzle, next)) if quick => {
                    self.swizzle[*unit] = swizzle;
                    ports = next;
                }
                _ => quick = false,
            }
        }
        if quick {
            self.ports = ports;
            return Ok(());
        }
        if self.crowded() {
            return Err(Violation::Ports);
        }
        let mut swizzle = [0; 5];
        match self.search(0, Ports::NEW, &mut swizzle) {
            Some(ports) => {
                self.ports = ports;
                self.swizzle = swizzle;
                Ok(())
            }
            None => Err(Violation::Ports),
        }
    }

    /// A channel is asked for more registers than there are cycles: no swizzle helps.
    fn crowded(&self) -> bool {
        let mut wanted = [[FREE; 3]; 4];
        let mut count = [0usize; 4];
        for reads in &self.reads {
            for &(_, chan, want) in &reads.list[..usize::from(reads.count)] {
                let chan = usize::from(chan);
                if chan == usize::from(NO_PORT) || wanted[chan][..count[chan]].contains(&want) {
                    continue;
                }
                if count[chan] == 3 {
                    return true;
                }
                wanted[chan][count[chan]] = want;
                count[chan] += 1;
            }
        }
        false
    }

    /// Depth-first over the slots; five deep and at most 6^4 * 4 leaves.
    fn search(&self, unit: usize, ports: Ports, swizzle: &mut [u8; 5]) -> Option<Ports> {
        let Some(reads) = self.reads.get(unit) else {
            return Some(ports);
        };
        for &choice in reads.swizzles() {
            if let Some(next) = ports.fit(reads, choice) {
                swizzle[unit] = choice;
                if let Some(found) = self.search(unit + 1, next, swizzle) {
                    return Some(found);
                }
            }
        }
        None
    }

    /// Checks the swizzles that the group has instead of looking for some.
    fn swizzles_fit(&self, swizzle: &[u8; 5]) -> bool {
        let mut ports = Ports::NEW;
        for (unit, slot) in self.slots.iter().enumerate() {
            let Some(slot) = slot else { continue };
            let trans = unit == TRANS;
            let choice = usize::from(swizzle[unit]);
            let choices = if trans { SCL.len() } else { VEC.len() };
            if choice >= choices {
                return false;
            }
            match ports.fit(&Reads::of(slot, trans), choice as u8) {
                Some(next) => ports = next,
                None => return false,
            }
        }
        true
    }
}

/// One finished group and its place, for [`legal`].
#[derive(Clone, Debug)]
pub struct Finished {
    /// Address in quadwords.
    pub at: u32,
    /// The rule.
    pub violation: Violation,
}

/// Checks every group of finished code, decoded from scratch, against the rules of groups and
/// clauses. `gprs` is NUM_GPRS.
///
/// # Errors
/// The first violation and where.
pub fn legal(isa: &'static isa::Isa, program: &isa::Program, gprs: u32) -> Result<(), Finished> {
    let locked = locked(program);
    for (number, clause) in program.clauses.iter().enumerate() {
        let isa::Body::Alu(groups) = &clause.body else {
            continue;
        };
        let fail = |violation| Finished {
            at: clause.at,
            violation,
        };
        if clause.body.qwords() > 128 {
            return Err(fail(Violation::ClauseLength));
        }
        let locked = locked[number];
        let mut at = clause.at;
        // Which of PV.x..PV.w, PS the previous group left; whether it was a reduction.
        let mut left = [false; 5];
        let mut reduced = false;
        let mut address = false;
        for (number, group) in groups.iter().enumerate() {
            let fail = |violation| Finished { at, violation };
            let (state, swizzle) = read_group(isa, group).map_err(fail)?;
            if !state.swizzles_fit(&swizzle) {
                return Err(fail(Violation::Ports));
            }
            if state.has_kill() && number + 1 != groups.len() {
                return Err(fail(Violation::KillNotLast));
            }
            for slot in state.slots.iter().flatten() {
                for s in slot.sources() {
                    match s.read {
                        Read::Pv(chan) if !left[usize::from(chan)] => {
                            return Err(fail(Violation::Stale));
                        }
                        Read::Ps if !left[TRANS] => return Err(fail(Violation::Stale)),
                        Read::Pv(chan) if reduced && chan != 0 => {
                            return Err(fail(Violation::ReductionChannel));
                        }
                        // Clause temporaries stand at the top.
                        Read::Gpr { gpr, .. } if u32::from(gpr) >= gprs && gpr < 124 => {
                            return Err(fail(Violation::Register));
                        }
                        Read::Gpr { rel: true, .. } if !address => {
                            return Err(fail(Violation::NoAddress));
                        }
                        // Sets as `read_slot` numbers them; 16 is the constant file.
                        Read::Kcache { buffer, index, .. }
                            if buffer < 2 && index >= locked[usize::from(buffer)] =>
                        {
                            return Err(fail(Violation::Unlocked));
                        }
                        _ => {}
                    }
                }
                if slot.dst.is_some_and(|dst| dst.rel) && !address {
                    return Err(fail(Violation::NoAddress));
                }
            }
            for (unit, slot) in state.slots.iter().enumerate() {
                left[unit] = slot
                    .as_ref()
                    .is_some_and(|slot| slot.op != AluOp::NOP && slot.op != AluOp::MOVA_INT);
            }
            reduced =
                state.is_reduction() && state.slots[0].is_some_and(|slot| slot.op != AluOp::CUBE);
            // Slot x loads AR.x, which alone indexes registers (table 4.2).
            address |= state.slots[0].is_some_and(|slot| slot.op == AluOp::MOVA_INT);
            at += group.qwords();
        }
    }
    Ok(())
}

/// Constants that each set locks, by clause: what every instruction that starts it locks. Guide 5, CF_ALU_WORD.
fn locked(program: &isa::Program) -> Vec<[u16; 2]> {
    let constants = |mode: u32| match mode {
        0 => 0,
        1 => 16,
        _ => 32,
    };
    let mut locked: Vec<Option<[u16; 2]>> = vec![None; program.clauses.len()];
    for cf in &program.cf {
        if let Some(place) = cf.clause.and_then(|id| locked.get_mut(id.index())) {
            let sets = [isa::f::KCACHE_MODE0, isa::f::KCACHE_MODE1];
            let [a, b] = sets.map(|mode| constants(cf.inst.get(mode)));
            *place = Some(place.map_or([a, b], |[c, d]| [a.min(c), b.min(d)]));
        }
    }
    locked.into_iter().map(Option::unwrap_or_default).collect()
}

/// An encoded group as a state, built slot by slot through the rules, and its swizzles.
fn read_group(
    isa: &'static isa::Isa,
    group: &isa::AluGroup,
) -> Result<(Group, [u8; 5]), Violation> {
    let mut state = Group::of(isa);
    let mut swizzle = [0; 5];
    let units = group.units(true);
    let mut reduction: Vec<(usize, Slot)> = Vec::new();
    for (slot, unit) in group.slots.iter().zip(&units) {
        let unit = match unit {
            Some(isa::Unit::Vector(chan)) => chan.index(),
            Some(isa::Unit::Trans) => TRANS,
            None => return Err(Violation::Taken),
        };
        swizzle[unit] = slot.get(isa::f::BANK_SWIZZLE) as u8;
        let read = read_slot(slot, group);
        if op::units(isa, read.op) == Units::Reduction {
            reduction.push((unit, read));
        } else {
            state = state.admit(unit, &read)?;
        }
    }
    if !reduction.is_empty() {
        let slots: Vec<Slot> = reduction.iter().map(|(_, slot)| *slot).collect();
        let four: [Slot; 4] = slots.try_into().map_err(|_| Violation::Reduction)?;
        state = state.admit_reduction(&four)?;
    }
    Ok((state, swizzle))
}

fn read_slot(slot: &isa::AluSlot, group: &isa::AluGroup) -> Slot {
    let mut src = [Operand::UNUSED; 3];
    for (index, place) in src.iter_mut().enumerate().take(slot.sources()) {
        let s = slot.src(index);
        let chan = s.chan as u8;
        place.neg = s.neg;
        place.abs = s.abs;
        place.read = match s.operand {
            isa::Operand::Gpr(gpr) => Read::Gpr {
                gpr,
                chan,
                rel: s.rel,
            },
            isa::Operand::Kcache { set, index } => Read::Kcache {
                buffer: set,
                index: index.into(),
                chan,
            },
            isa::Operand::Literal => {
                Read::Literal(group.literals.get(usize::from(chan)).copied().unwrap_or(0))
            }
            isa::Operand::Pv => Read::Pv(chan),
            isa::Operand::Ps => Read::Ps,
            isa::Operand::Cfile(index) => Read::Kcache {
                buffer: 16,
                index: index.into(),
                chan,
            },
            inline => Read::Inline(inline),
        };
    }
    let dst = slot.dst();
    Slot {
        op: slot.op(),
        dst: dst.write.then_some(Dst {
            gpr: dst.gpr,
            chan: dst.chan as u8,
            rel: dst.rel,
        }),
        src,
        sources: slot.sources() as u8,
        clamp: slot.flag(isa::f::CLAMP),
        omod: if slot.is_op3() {
            0
        } else {
            slot.get(isa::f::OMOD) as u8
        },
    }
}
