//! Which flips of R700 code mean something.

use crate::isa::disasm::words_of;
use crate::isa::fields::{COORD_TYPES, DST_SELS, DST_WRS, SELS};
use crate::isa::ops::TRANS;
use crate::isa::program::{Body, Program, decode_program};
use crate::isa::{AluGroup, AluOp, AluSlot, CfOp, FetchOp, Inst, f, flag};
use gpucc_isa::{Field, FieldId};
use gpucc_machine::Site;

/// The instructions of a program.
pub(crate) fn sites(code: &[u8]) -> Vec<Site> {
    let site = |place: Place| Site {
        offset: place.offset,
        inst: place.inst,
        meaning: Box::new(move |field, value| has_meaning(&place, field, value)),
    };
    places(code).into_iter().map(site).collect()
}

/// Where an instruction stands in the code, in bytes.
struct Place {
    offset: usize,
    inst: Inst,
    op: Row,
    /// ALU: nothing reads the register component that it writes, whatever way control takes.
    dead: bool,
    /// ALU: sources that are constants without a sign, which ABS leaves as they are.
    positive: [bool; 3],
    /// ALU: no earlier group of the clause sets the predicate, which then is the active mask.
    plain_predicate: bool,
    /// ALU: nothing behind it in the clause asks for the predicate.
    last_predicate: bool,
    /// ALU: the group could end behind this slot and the next begin.
    may_end: bool,
    /// ALU: sources that the clause computed as numbers without a sign.
    unsigned: [bool; 3],
    /// Fetches: nothing reads this component of the register that it writes.
    dead_channels: [bool; 4],
    /// ALU clauses: no operand reads from these locked sets.
    idle_locks: [bool; 2],
    /// The program reads memory that programs write.
    reads_memory: bool,
}

/// What stands there.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Row {
    Cf(CfOp),
    Alu(AluOp),
    Fetch(FetchOp),
}

fn places(code: &[u8]) -> Vec<Place> {
    let Ok(words) = words_of(code) else {
        return Vec::new();
    };
    let Ok(program) = decode_program(&words) else {
        return Vec::new();
    };
    let reads_memory = program.clauses.iter().any(|clause| match &clause.body {
        Body::Alu(_) => false,
        Body::Fetch(list) => list.iter().any(|inst| inst.op().flags & flag::MEMORY != 0),
    });
    let place = |offset, inst, op| Place {
        offset,
        inst,
        op,
        dead: false,
        positive: [false; 3],
        plain_predicate: false,
        last_predicate: false,
        may_end: false,
        unsigned: [false; 3],
        dead_channels: [false; 4],
        idle_locks: [false; 2],
        reads_memory,
    };
    let mut places: Vec<Place> = program
        .cf
        .iter()
        .map(|cf| Place {
            idle_locks: cf
                .clause
                .map_or([false; 2], |clause| idle_locks(&program.clauses[clause.index()].body)),
            ..place(cf.at as usize * 8, cf.inst, Row::Cf(cf.op()))
        })
        .collect();
    let after = live_after(&program);
    for (number, clause) in program.clauses.iter().enumerate() {
        let mut offset = clause.at as usize * 8;
        let mut live = Cells::NONE;
        for (cf, after) in program.cf.iter().zip(&after) {
            if cf.clause.is_some_and(|clause| clause.index() == number) {
                live.add(after);
            }
        }
        match &clause.body {
            Body::Alu(groups) => {
                let mut plain_predicate = true;
                // What is live after each group.
                let mut lives = vec![live; groups.len()];
                for (index, group) in groups.iter().enumerate().rev() {
                    lives[index] = live;
                    step_back(group, &mut live);
                }
                let mut signs = Signs::default();
                for (number, (group, live)) in groups.iter().zip(&lives).enumerate() {
                    let rest = &groups[number + 1..];
                    let last_predicate = rest
                        .iter()
                        .all(|group| group.slots.iter().all(|slot| slot.get(f::PRED_SEL) == 0));
                    for (index, slot) in group.slots.iter().enumerate() {
                        places.push(Place {
                            dead: !writes(slot)
                                || !slot.flag(f::DST_REL)
                                    && !live.contains(Cells::cell(
                                        slot.get(f::DST_GPR),
                                        slot.get(f::DST_CHAN),
                                    )),
                            positive: SOURCES.map(|(select, _, chan)| match slot.get(select) {
                                248..=252 => true,
                                253 => group
                                    .literals
                                    .get(slot.get(chan) as usize)
                                    .is_some_and(|literal| literal >> 31 == 0),
                                _ => false,
                            }),
                            plain_predicate,
                            last_predicate,
                            may_end: may_end(group, index, rest.first()),
                            unsigned: signs.sources(slot),
                            ..place(offset + index * 8, slot.inst(), Row::Alu(slot.op()))
                        });
                    }
                    signs.step(group);
                    plain_predicate &= !group.slots.iter().any(|slot| slot.flag(f::UPDATE_PRED));
                    offset += group.qwords() as usize * 8;
                }
            }
            Body::Fetch(fetches) => {
                for (index, &inst) in fetches.iter().enumerate().rev() {
                    let dst = inst.get(f::DST_GPR);
                    let relative = inst.flag(f::DST_REL) || inst.get(f::DST_REL_MODE) != 0;
                    places.push(Place {
                        dead_channels: [0, 1, 2, 3]
                            .map(|chan| !relative && !live.contains(Cells::cell(dst, chan))),
                        ..place(offset + index * 16, inst, Row::Fetch(FetchOp::of(inst.op().id)))
                    });
                    fetch_reads(&inst, &mut live);
                }
            }
        }
    }
    places
}

/// Register components, by `gpr * 4 + channel`.
#[derive(Copy, Clone, PartialEq, Eq)]
struct Cells([u64; 8]);

impl Cells {
    const NONE: Cells = Cells([0; 8]);
    const ALL: Cells = Cells([u64::MAX; 8]);
    fn cell(gpr: u32, chan: u32) -> usize {
        (gpr & 127) as usize * 4 + (chan & 3) as usize
    }
    fn insert(&mut self, cell: usize) {
        self.0[cell / 64] |= 1 << (cell % 64);
    }
    fn insert_register(&mut self, gpr: u32) {
        (0..4).for_each(|chan| self.insert(Cells::cell(gpr, chan)));
    }
    fn remove(&mut self, cell: usize) {
        self.0[cell / 64] &= !(1 << (cell % 64));
    }
    fn contains(&self, cell: usize) -> bool {
        self.0[cell / 64] >> (cell % 64) & 1 == 1
    }
    fn add(&mut self, other: &Cells) {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a |= b);
    }
}

/// What some later instruction may read after each control-flow instruction, for a lane that
/// executes it. A lane goes on to the next instruction or to ADDR, so both edges are followed from
/// every instruction.
fn live_after(program: &Program) -> Vec<Cells> {
    let count = program.cf.len();
    let index_of = |at: u32| program.cf.iter().position(|cf| cf.at == at);
    let jumps: Vec<Option<usize>> = program
        .cf
        .iter()
        .map(|cf| match cf.clause {
            None if cf.inst.has_field(f::ADDR) => index_of(cf.inst.get(f::ADDR)),
            _ => None,
        })
        .collect();
    let mut before = vec![Cells::NONE; count + 1];
    let mut after = vec![Cells::NONE; count];
    let mut changed = true;
    while changed {
        changed = false;
        for index in (0..count).rev() {
            let mut live = before[index + 1];
            if let Some(target) = jumps[index] {
                live.add(&before[target]);
            }
            after[index] = live;
            let cf = &program.cf[index];
            match cf.clause.map(|clause| &program.clauses[clause.index()].body) {
                Some(Body::Alu(groups)) => {
                    groups.iter().rev().for_each(|group| step_back(group, &mut live));
                }
                Some(Body::Fetch(fetches)) => {
                    fetches.iter().for_each(|fetch| fetch_reads(fetch, &mut live));
                }
                None if cf.inst.has_field(f::RW_GPR) => {
                    for burst in 0..=cf.inst.get(f::BURST_COUNT) {
                        live.insert_register(cf.inst.get(f::RW_GPR) + burst);
                    }
                    live.insert_register(cf.inst.get(f::INDEX_GPR));
                    if cf.inst.flag(f::RW_REL) {
                        live = Cells::ALL;
                    }
                }
                None => {}
            }
            if live != before[index] {
                before[index] = live;
                changed = true;
            }
        }
    }
    after
}

/// Which of the two locked sets of constants nothing in the clause reads.
fn idle_locks(body: &Body) -> [bool; 2] {
    let Body::Alu(groups) = body else {
        return [false; 2];
    };
    [128..160, 160..192].map(|set| {
        groups.iter().flat_map(|group| &group.slots).all(|slot| {
            let mut sources = SOURCES.into_iter().take(slot.sources());
            sources.all(|(select, ..)| !set.contains(&slot.get(select)))
        })
    })
}

/// A group that may end behind slot `index`: the slots behind it do not read what those before write, nor does what
/// follows read PV and PS, and nothing in the group works on several slots or needs a literal.
fn may_end(group: &AluGroup, index: usize, next: Option<&AluGroup>) -> bool {
    let (before, behind) = group.slots.split_at(index + 1);
    const SEVERAL: u32 =
        flag::PRED_SET | flag::KILL | flag::MOVA | flag::REDUCTION | flag::PAIR_64 | flag::QUAD_64;
    let plain = group.slots.iter().all(|slot| slot.row().flags & SEVERAL == 0);
    let reads = |slot: &AluSlot, any: &dyn Fn(u32, u32) -> bool| {
        let mut sources = SOURCES.into_iter().take(slot.sources());
        sources.any(|(select, rel, chan)| slot.flag(rel) || any(slot.get(select), slot.get(chan)))
    };
    let previous = |select: u32| (254..=255).contains(&select);
    let written = |gpr: u32, chan: u32| {
        before.iter().any(|slot| {
            writes(slot) && (slot.get(f::DST_GPR), slot.get(f::DST_CHAN)) == (gpr, chan)
        })
    };
    let carried = |slots: &[AluSlot]| slots.iter().any(|slot| reads(slot, &|s, _| previous(s)));
    plain
        && group.literals.is_empty()
        && !group.slots.iter().any(|slot| slot.flag(f::DST_REL))
        && !behind.is_empty()
        && !behind
            .iter()
            .any(|slot| reads(slot, &|select, chan| previous(select) || written(select, chan)))
        && next.is_none_or(|next| !carried(&next.slots))
}

/// What an ALU clause is known to have computed as numbers above or equal to +0, or no numbers.
#[derive(Default)]
struct Signs {
    cells: std::collections::BTreeSet<usize>,
    /// PV.x to PV.w; nothing is known of PS.
    previous: [bool; 4],
}

impl Signs {
    /// The operand has no sign, whatever the program does.
    fn operand(&self, slot: &AluSlot, index: usize) -> bool {
        let (select, rel, chan) = SOURCES[index];
        let neg = [f::SRC0_NEG, f::SRC1_NEG, f::SRC2_NEG][index];
        if slot.flag(neg) || slot.flag(rel) {
            return false;
        }
        if index < 2 && !slot.is_op3() && slot.flag([f::SRC0_ABS, f::SRC1_ABS][index]) {
            return true;
        }
        match slot.get(select) {
            gpr @ 0..128 => self.cells.contains(&Cells::cell(gpr, slot.get(chan))),
            254 => self.previous[slot.get(chan) as usize & 3],
            248 | 249 | 252 => true,
            _ => false,
        }
    }

    fn sources(&self, slot: &AluSlot) -> [bool; 3] {
        // MOV may carry what is no number on to somebody who looks at its bits.
        let numbers = slot.op() != AluOp::MOV;
        [0, 1, 2].map(|index| numbers && index < slot.sources() && self.operand(slot, index))
    }

    /// The result of a slot has no sign.
    fn result(&self, slot: &AluSlot) -> bool {
        let all = || (0..slot.sources()).all(|index| self.operand(slot, index));
        let square = || {
            let fields = [
                (f::SRC0_SEL, f::SRC1_SEL),
                (f::SRC0_CHAN, f::SRC1_CHAN),
                (f::SRC0_NEG, f::SRC1_NEG),
                (f::SRC0_ABS, f::SRC1_ABS),
                (f::SRC0_REL, f::SRC1_REL),
            ];
            fields.iter().all(|&(a, b)| slot.get(a) == slot.get(b))
        };
        match slot.op() {
            AluOp::EXP_IEEE | AluOp::FRACT | AluOp::UINT_TO_FLT => true,
            AluOp::MUL_IEEE => square() || all(),
            AluOp::ADD | AluOp::MULADD_IEEE | AluOp::SQRT_IEEE => all(),
            AluOp::RECIP_IEEE | AluOp::RECIPSQRT_IEEE => all(),
            _ => false,
        }
    }

    fn step(&mut self, group: &AluGroup) {
        let found: Vec<bool> = group.slots.iter().map(|slot| self.result(slot)).collect();
        self.previous = [false; 4];
        let mut taken = [false; 4];
        for (slot, without) in group.slots.iter().zip(found) {
            let chan = slot.get(f::DST_CHAN) as usize & 3;
            if slot.flag(f::DST_REL) {
                self.cells.clear();
                continue;
            }
            // The first of a channel is the vector slot, unless it can only be the other.
            if !taken[chan] && slot.row().units != TRANS {
                taken[chan] = true;
                self.previous[chan] = without && slot.get(f::PRED_SEL) == 0;
            }
            if !writes(slot) {
                continue;
            }
            let cell = Cells::cell(slot.get(f::DST_GPR), slot.get(f::DST_CHAN));
            if without && slot.get(f::PRED_SEL) == 0 {
                self.cells.insert(cell);
            } else {
                self.cells.remove(&cell);
            }
        }
    }
}

fn writes(slot: &AluSlot) -> bool {
    (slot.is_op3() || slot.flag(f::WRITE_MASK)) && slot.op() != AluOp::MOVA_INT
}

/// From what is live after a group to what is live before it.
fn step_back(group: &AluGroup, live: &mut Cells) {
    for slot in &group.slots {
        if writes(slot) && !slot.flag(f::DST_REL) && slot.get(f::PRED_SEL) == 0 {
            live.remove(Cells::cell(slot.get(f::DST_GPR), slot.get(f::DST_CHAN)));
        }
    }
    for slot in &group.slots {
        for (select, rel, chan) in SOURCES.into_iter().take(slot.sources()) {
            if slot.flag(rel) {
                *live = Cells::ALL;
            } else if slot.get(select) < 128 {
                live.insert(Cells::cell(slot.get(select), slot.get(chan)));
            }
        }
    }
}

/// What a fetch reads; what it writes may stay live.
fn fetch_reads(inst: &Inst, live: &mut Cells) {
    live.insert_register(inst.get(f::SRC_GPR));
    if inst.flag(f::SRC_REL) || inst.get(f::SRC_REL_MODE) != 0 {
        *live = Cells::ALL;
    }
}

const SOURCES: [(FieldId, FieldId, FieldId); 3] = [
    (f::SRC0_SEL, f::SRC0_REL, f::SRC0_CHAN),
    (f::SRC1_SEL, f::SRC1_REL, f::SRC1_CHAN),
    (f::SRC2_SEL, f::SRC2_REL, f::SRC2_CHAN),
];

/// False for flips that leave the program's meaning as it is, so that nothing can notice them:
/// - fields that only say when or how wide memory is read, and BANK_SWIZZLE, of which several are legal;
/// - sources that the op does not have, and channels of inline constants and PS, which have one,
///   and ABS of constants without a sign;
/// - the destination of a result that only PV or PS carries on (see [`live_after`]);
/// - SRF_MODE_ALL of formats that are not normalised, and the register of an export without components;
/// - execution under a predicate that nothing has set, which is the active mask, and a predicate that nothing asks for;
/// - ABS of what the clause computed as a number without a sign (squares, roots, exponentials, fractions and their sums);
/// - the end of a group between slots that do not know of each other, where nothing wants PV or PS behind it;
/// - components that a fetch brings to where nothing reads them;
/// - the address of POP ("POP instructions never jump", R700 ISA 9.1);
/// - signs of 32-bit integers and of floats in memory: the bits are the same;
/// - a lock on constants that no operand of the clause reads;
/// - ELEM_SIZE of one element, which spaces the elements of a burst, and ARRAY_SIZE of scatter reads ("is not used", R700
///   ISA 7.1); acknowledgements of writes in a program that reads no memory;
/// - the type of a fourth coordinate, which no resource has; coordinates' types and offsets of queries about the resource;
///   the bias of samples at level 0, and a constant as fourth source of samples that have neither level nor reference;
/// - what EXPORT ignores of its format: the index register and the element size.
fn has_meaning(place: &Place, field: &Field, value: u32) -> bool {
    const TIMING: [FieldId; 8] = [
        f::BARRIER,
        f::BANK_SWIZZLE,
        f::MEGA_FETCH,
        f::MEGA_FETCH_COUNT,
        f::FETCH_WHOLE_QUAD,
        f::BC_FRAC_MODE,
        f::WHOLE_QUAD_MODE,
        f::VALID_PIXEL_MODE,
    ];
    const LEVEL_0: [FetchOp; 4] =
        [FetchOp::SAMPLE_LZ, FetchOp::SAMPLE_G_LZ, FetchOp::SAMPLE_C_LZ, FetchOp::SAMPLE_C_G_LZ];
    const QUERIES: [FetchOp; 2] = [FetchOp::GET_TEXTURE_RESINFO, FetchOp::GET_NUMBER_OF_SAMPLES];
    let inst = &place.inst;
    let (id, op) = (field.id, place.op);
    let component = |fields: &[FieldId]| fields.iter().position(|&field| field == id);
    let dead = |fields| component(fields).is_some_and(|chan| place.dead_channels[chan]);
    let is_fetch = |ops: &[FetchOp]| matches!(op, Row::Fetch(op) if ops.contains(&op));
    let exports = matches!(op, Row::Cf(CfOp::EXPORT | CfOp::EXPORT_DONE));
    let source = |index: usize| {
        let (select, _, chan) = SOURCES[index];
        let inline = matches!(inst.get(select), 248..=252 | 255);
        let no_sign = place.positive[index] || place.unsigned[index];
        index >= usize::from(inst.op().sources)
            || inline && id == chan
            || no_sign && matches!(id, f::SRC0_ABS | f::SRC1_ABS)
    };
    let silent = match id {
        _ if TIMING.contains(&id) => true,
        f::DST_GPR | f::DST_CHAN | f::DST_REL | f::WRITE_MASK if place.dead => true,
        f::PRED_SEL => place.plain_predicate && value == 3,
        f::UPDATE_PRED => place.last_predicate,
        f::LAST => place.may_end && value == 1,
        _ if dead(&DST_SELS) && value != 6 || dead(&DST_WRS) => true,
        f::ADDR => op == Row::Cf(CfOp::POP),
        // 32-bit integers with NUM_FORMAT_INT; floats.
        f::FORMAT_COMP_ALL => {
            let format = inst.get(f::DATA_FORMAT);
            let integers = inst.get(f::NUM_FORMAT_ALL) == 1 && [13, 29, 47, 34].contains(&format);
            integers || [6, 14, 16, 30, 32, 35, 46, 48].contains(&format)
        }
        f::KCACHE_MODE0 => place.idle_locks[0],
        f::KCACHE_MODE1 => place.idle_locks[1],
        f::ELEM_SIZE => {
            let one = match op {
                Row::Cf(CfOp::MEM_EXPORT) => inst.get(f::BURST_COUNT) == 0,
                Row::Fetch(FetchOp::READ_MEM) => inst.get(f::BURST_CNT) == 0,
                _ => false,
            };
            exports || one && value > inst.get(f::ELEM_SIZE) && value != 2
        }
        f::ARRAY_SIZE => is_fetch(&[FetchOp::READ_MEM]),
        f::TYPE => {
            op == Row::Cf(CfOp::MEM_EXPORT) && !place.reads_memory && value ^ inst.get(f::TYPE) == 2
        }
        f::COORD_TYPE_W => true,
        f::OFFSET_X | f::OFFSET_Y | f::OFFSET_Z => is_fetch(&QUERIES),
        _ if COORD_TYPES.contains(&id) => is_fetch(&QUERIES),
        f::SRC_SEL_W => {
            is_fetch(&[FetchOp::SAMPLE, FetchOp::SAMPLE_LZ]) && (4..=5).contains(&value)
        }
        f::LOD_BIAS => is_fetch(&LEVEL_0),
        // A fraction lies within what CLAMP would make of it.
        f::CLAMP => op == Row::Alu(AluOp::FRACT) && inst.get(f::OMOD) == 0,
        f::SRF_MODE_ALL => inst.get(f::NUM_FORMAT_ALL) != 0,
        f::RW_GPR => exports && SELS.iter().all(|&select| inst.get(select) == 7),
        f::INDEX_GPR => exports,
        f::SRC0_SEL | f::SRC0_REL | f::SRC0_CHAN | f::SRC0_NEG | f::SRC0_ABS => source(0),
        f::SRC1_SEL | f::SRC1_REL | f::SRC1_CHAN | f::SRC1_NEG | f::SRC1_ABS => source(1),
        f::SRC2_SEL | f::SRC2_REL | f::SRC2_CHAN | f::SRC2_NEG => source(2),
        _ => false,
    };
    !silent
}
