//! Which flips of R700 code mean something.

use super::Site;
use gpucc_isa::{Field, FieldId};
use gpucc_r700::isa::disasm::words_of;
use gpucc_r700::isa::program::{Body, Program, decode_program};
use gpucc_r700::isa::{AluGroup, AluOp, AluSlot, Inst, f};

/// The instructions of a program.
pub(super) fn sites(code: &[u8]) -> Vec<Site> {
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
    /// ALU: nothing reads the register component that it writes, whatever way control takes.
    dead: bool,
    /// ALU: sources that are constants without a sign, which ABS leaves as they are.
    positive: [bool; 3],
    /// ALU: no earlier group of the clause sets the predicate, which then is the active mask.
    plain_predicate: bool,
}

fn places(code: &[u8]) -> Vec<Place> {
    let Ok(words) = words_of(code) else {
        return Vec::new();
    };
    let Ok(program) = decode_program(&words) else {
        return Vec::new();
    };
    let place = |offset, inst| Place {
        offset,
        inst,
        dead: false,
        positive: [false; 3],
        plain_predicate: false,
    };
    let mut places: Vec<Place> = program
        .cf
        .iter()
        .map(|cf| place(cf.at as usize * 8, cf.inst))
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
                for (group, live) in groups.iter().zip(&lives) {
                    for (index, slot) in group.slots.iter().enumerate() {
                        places.push(Place {
                            offset: offset + index * 8,
                            inst: slot.inst(),
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
                        });
                    }
                    plain_predicate &= !group.slots.iter().any(|slot| slot.flag(f::UPDATE_PRED));
                    offset += group.qwords() as usize * 8;
                }
            }
            Body::Fetch(fetches) => {
                for (index, &inst) in fetches.iter().enumerate() {
                    places.push(place(offset + index * 16, inst));
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
            match cf
                .clause
                .map(|clause| &program.clauses[clause.index()].body)
            {
                Some(Body::Alu(groups)) => {
                    groups
                        .iter()
                        .rev()
                        .for_each(|group| step_back(group, &mut live));
                }
                Some(Body::Fetch(fetches)) => {
                    for fetch in fetches {
                        live.insert_register(fetch.get(f::SRC_GPR));
                        if fetch.flag(f::SRC_REL) {
                            live = Cells::ALL;
                        }
                    }
                }
                None if cf.inst.has_field(f::RW_GPR) => {
                    for burst in 0..=cf.inst.get(f::BURST_COUNT) {
                        live.insert_register(cf.inst.get(f::RW_GPR) + burst);
                    }
                    live.insert_register(cf.inst.get(f::INDEX_GPR));
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
/// - execution under a predicate that nothing has set, which is the active mask;
/// - what EXPORT ignores of its format: the index register and the element size.
fn has_meaning(place: &Place, field: &Field, value: u32) -> bool {
    const TIMING: &[&str] = &[
        "BARRIER",
        "BANK_SWIZZLE",
        "MEGA_FETCH",
        "MEGA_FETCH_COUNT",
        "FETCH_WHOLE_QUAD",
        "BC_FRAC_MODE",
        "WHOLE_QUAD_MODE",
        "VALID_PIXEL_MODE",
    ];
    let inst = &place.inst;
    if TIMING.contains(&field.name) {
        return false;
    }
    if place.dead
        && matches!(
            field.name,
            "DST_GPR" | "DST_CHAN" | "DST_REL" | "WRITE_MASK"
        )
    {
        return false;
    }
    if place.plain_predicate && field.name == "PRED_SEL" && value == 3 {
        return false;
    }
    // A fraction lies within what CLAMP would make of it.
    if field.name == "CLAMP" && inst.op().name == "FRACT" && inst.get(f::OMOD) == 0 {
        return false;
    }
    if field.name == "SRF_MODE_ALL" && inst.get(f::NUM_FORMAT_ALL) != 0 {
        return false;
    }
    let masked = [f::SEL_X, f::SEL_Y, f::SEL_Z, f::SEL_W]
        .iter()
        .all(|&select| inst.get(select) == 7);
    if inst.op().name.starts_with("EXPORT") && field.name == "RW_GPR" && masked {
        return false;
    }
    if inst.op().name.starts_with("EXPORT") && matches!(field.name, "INDEX_GPR" | "ELEM_SIZE") {
        return false;
    }
    for (index, (select, ..)) in SOURCES.into_iter().enumerate() {
        if field.name.starts_with(&format!("SRC{index}_")) && inst.has_field(select) {
            let select = inst.get(select);
            let inline = (248..=252).contains(&select) || select == 255;
            let channel = field.name.ends_with("_CHAN");
            let no_sign = place.positive[index] && field.name.ends_with("_ABS");
            return index < usize::from(inst.op().sources) && !(inline && channel) && !no_sign;
        }
    }
    true
}
