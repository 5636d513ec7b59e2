//! What may stand in one ALU group: the rule set as a small state with one verb, [`Group::admit`].
//!
//! The packer asks it before it places an operation, and [`legal`] folds it over finished code.
//! Rules are numbered as in the text of [`Violation`]; all are from R700 ISA 4.3 to 4.8.

mod ports;
mod program;

use crate::isa::{self, AluOp};
use crate::op::{self, Units};
use crate::slot::{Operand, Read, Slot};
use ports::{FREE, NO_PORT, Ports, Reads, SCL, VEC};
pub use program::{Finished, legal};
use smallvec::SmallVec;

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
    /// The slots of a double differ from what it asks for.
    #[error(
        "the slots of a double differ in operation, high dwords or modifiers (R700 ISA 4.12, 9.2)"
    )]
    Double,
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
    facts: Facts,
    reduction: bool,
}

/// What a group knows of its slots beside places and ports. It is small: most operations that do not fit fail here.
#[derive(Copy, Clone, Debug, Default)]
struct Facts {
    literals: [u32; 4],
    literal_count: u8,
    pairs: [u32; 2],
    pair_count: u8,
    predicate: bool,
    mova: bool,
    indexed: bool,
}

impl Facts {
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
            facts: Facts::default(),
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
        &self.facts.literals[..usize::from(self.facts.literal_count)]
    }
    /// Size in the clause: slots and pairs of literals.
    pub fn qwords(&self) -> u32 {
        (self.len() + usize::from(self.facts.literal_count).div_ceil(2)) as u32
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
        let pairs = &self.facts.pairs[..usize::from(self.facts.pair_count)];
        pairs.contains(&pair(buffer, index, chan))
    }
    /// Has a MOVA.
    pub fn has_mova(&self) -> bool {
        self.facts.mova
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
            (Units::Trans, false)
            | (Units::Vector | Units::Reduction | Units::Pair | Units::Quad, true) => {
                return Err(Violation::Unit);
            }
            _ => {}
        }
        let mut facts = self.facts;
        self.admit_scalar(&mut facts, unit, slot)?;
        // These come together through `admit_reduction` and `admit_double`.
        match units {
            Units::Reduction => return Err(Violation::Reduction),
            Units::Pair | Units::Quad => return Err(Violation::Double),
            Units::Any | Units::Trans | Units::Vector => {}
        }
        if self.reduction && unit != TRANS {
            return Err(Violation::Reduction);
        }
        let reads = Reads::of(slot, unit == TRANS);
        let mut swizzles = reads.swizzles().iter();
        let found = swizzles.find_map(|&swizzle| Some((swizzle, self.ports.fit(&reads, swizzle)?)));
        if found.is_none() && self.crowded(&reads) {
            return Err(Violation::Ports);
        }
        let mut next = Group { facts, ..*self };
        match found {
            Some((swizzle, ports)) => {
                next.slots[unit] = Some(*slot);
                next.reads[unit] = reads;
                next.swizzle[unit] = swizzle;
                next.ports = ports;
            }
            None => next.place(&[(unit, *slot)])?,
        }
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
        let mut facts = self.facts;
        for (unit, slot) in slots.iter().enumerate() {
            self.admit_scalar(&mut facts, unit, slot)?;
        }
        let mut next = Group { facts, reduction: true, ..*self };
        next.place(&[(0, slots[0]), (1, slots[1]), (2, slots[2]), (3, slots[3])])?;
        Ok(next)
    }

    /// The group with the slots of a double from `unit` on.
    ///
    /// # Errors
    /// The rule that forbids it.
    pub fn admit_double(&self, unit: usize, slots: &[Slot]) -> Result<Group, Violation> {
        let Some(first) = slots.first() else {
            return Err(Violation::Double);
        };
        let units = op::units(self.isa, first.op);
        let count = units.together();
        if !matches!(units, Units::Pair | Units::Quad)
            || slots.len() != count
            || !unit.is_multiple_of(count)
            || unit + count > TRANS
        {
            return Err(Violation::Double);
        }
        if self.slots[unit..unit + count].iter().any(Option::is_some) {
            return Err(Violation::Taken);
        }
        let splits = first.op == AluOp::FREXP_64;
        let product = units == Units::Quad && !splits;
        let tests = op::is_pred_set(first.op);
        let mut facts = self.facts;
        let mut placed: SmallVec<[(usize, Slot); 4]> = SmallVec::new();
        for (place, slot) in slots.iter().enumerate() {
            let high = if product { place < 3 } else { place == 0 };
            let signs = |(index, source): (usize, &Operand)| {
                let takes = high && !(slot.op == AluOp::LDEXP_64 && index == 1);
                (source.neg || source.abs) && !takes
            };
            let scaled = slot.clamp || slot.omod != 0;
            if slot.op != first.op
                || product && high && slot.sources() != first.sources()
                || slot.sources().iter().enumerate().any(signs)
                || scaled && (tests || splits || place % 2 == 1)
                || product && place == 2 && (slot.clamp, slot.omod) != (first.clamp, first.omod)
            {
                return Err(Violation::Double);
            }
            // The slots are one test.
            facts.predicate = self.facts.predicate;
            self.admit_scalar(&mut facts, unit + place, slot)?;
            placed.push((unit + place, *slot));
        }
        let mut next = Group { facts, ..*self };
        next.place(&placed)?;
        Ok(next)
    }

    /// Everything but ports and the slot itself.
    fn admit_scalar(&self, facts: &mut Facts, unit: usize, slot: &Slot) -> Result<(), Violation> {
        if let Some(dst) = slot.dst {
            if unit != TRANS && usize::from(dst.chan) != unit {
                return Err(Violation::Channel);
            }
            if self.slots.iter().flatten().any(|other| other.dst == Some(dst)) {
                return Err(Violation::SamePlace);
            }
        }
        if op::is_pred_set(slot.op) || op::is_kill(slot.op) {
            if facts.predicate {
                return Err(Violation::Predicate);
            }
            facts.predicate = true;
        }
        let mut indexed = slot.dst.is_some_and(|dst| dst.rel);
        for (index, s) in slot.sources().iter().enumerate() {
            if (s.neg || s.abs) && !op::may_negate(slot.op, index) && slot.op != AluOp::MOV
                || s.abs && op::is_op3(slot.op)
            {
                return Err(Violation::Modifier);
            }
            match s.read {
                Read::Literal(bits) => facts.literal(bits)?,
                Read::Kcache { buffer, index, chan } => {
                    let pair = pair(buffer, index, chan);
                    let count = usize::from(facts.pair_count);
                    if !facts.pairs[..count].contains(&pair) {
                        if count == 2 {
                            return Err(Violation::Constants);
                        }
                        facts.pairs[count] = pair;
                        facts.pair_count += 1;
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
        if mova && (facts.mova || facts.indexed || indexed) || indexed && facts.mova {
            return Err(Violation::Address);
        }
        facts.mova |= mova;
        facts.indexed |= indexed;
        if unit == TRANS && slot.sources().iter().filter(|s| s.is_constant()).count() > 2 {
            return Err(Violation::TransConstants);
        }
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
        if self.crowded(&Reads::default()) {
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

    /// A channel is asked for more registers than there are cycles, by the slots and by one more: no swizzle helps.
    fn crowded(&self, more: &Reads) -> bool {
        let mut wanted = [[FREE; 3]; 4];
        let mut count = [0usize; 4];
        for reads in self.reads.iter().chain([more]) {
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
