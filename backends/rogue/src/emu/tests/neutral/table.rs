//! What the tables' reading says.

use super::{At, SOURCES, Said, Value, WRITES};
use crate::isa::fields::f;
use crate::isa::group::{Condition, Group, Ops, Place};
use crate::isa::ops::{Backend, Bitwise0, Control, Main};
use crate::isa::register::{File, Register, Special, special};
use gpucc_isa::field::Kind;
use gpucc_isa::{FieldId, Inst};

/// A field, 0 where the format has none.
fn get(inst: &Inst, id: FieldId) -> i64 {
    inst.op().format.field(id).map_or(0, |_| inst.get(id).into())
}

/// The name of a field's value.
fn name(inst: &Inst, id: FieldId) -> &'static str {
    match inst.op().format.field(id).map(|field| field.kind) {
        Some(Kind::Enum(set)) => set.name_of(inst.get(id)).expect("a name"),
        other => panic!("{other:?} has no names"),
    }
}

fn table_register(register: Register) -> Value {
    let (file, number, index) = match register {
        Register::Special(number) => match special(number) {
            Special::Constant(bits) => ("constant", bits.into(), 0),
            Special::Pixout(number) => ("pixout", number.into(), 0),
            Special::Internal(number) => ("internal", number.into(), 0),
            Special::Named(name) => match name.strip_prefix("global") {
                Some(digits) => ("global", digits.parse().expect("a digit"), 0),
                None => ("special", number.into(), 0),
            },
            Special::Unknown => ("unknown", number.into(), 0),
        },
        Register::Temp(number) => ("temp", number.into(), 0),
        Register::Vtxin(number) => ("vtxin", number.into(), 0),
        Register::Coeff(number) => ("coeff", number.into(), 0),
        Register::Shared(number) => ("shared", number.into(), 0),
        Register::CoeffAlt(number) => ("alt", number.into(), 0),
        Register::Index(number) => ("index", number.into(), 0),
        Register::Relative { index, file, offset } => {
            let file = match file {
                File::Temp => "temp",
                File::Vtxin => "vtxin",
                File::Coeff => "coeff",
                File::Shared => "shared",
                File::CoeffAlt => "alt",
                File::Pixout => "pixout",
            };
            (file, offset.into(), 1 + i64::from(index))
        }
    };
    Value::Register(file, number, index)
}

/// Of a group of the tables with its length in bytes.
pub fn of_table(group: &Group, length: usize) -> Said {
    let mut said = Said::new();
    let mut at = At { said: &mut said, place: "group" };
    at.number("length", length as i64);
    at.word(
        "condition",
        match group.condition {
            Condition::Runs => "runs",
            Condition::IfP0 => "if p0",
            Condition::IgnorePe => "always",
            Condition::IfNotP0 => "if not p0",
        },
    );
    for (name, flag) in [("olchk", group.olchk), ("end", group.end), ("atom", group.atom)] {
        at.number(name, flag);
    }
    at.number("repeat", group.repeat);
    for (name, register) in SOURCES.into_iter().zip(group.sources) {
        said.insert(("group", name), table_register(register));
    }
    for (name, register) in WRITES.into_iter().zip(group.writes) {
        register.map(|register| said.insert(("group", name), table_register(register)));
    }
    if let Ops::Main(_) = group.ops {
        let mut at = At { said: &mut said, place: "select" };
        at.number("is0", group.selectors.is0);
        for (name, feed) in ["is1", "is2", "is3", "is4", "is5"].into_iter().zip(group.selectors.is)
        {
            at.word(name, feed.name());
        }
    }
    for (place, inst) in group.operations() {
        let mut at = At { said: &mut said, place: place_of(place) };
        match place {
            Place::P0 | Place::P1 => alu_of_table(&mut at, &inst),
            Place::Pack => pack_of_table(&mut at, &inst),
            Place::Test => {
                at.word("test", name(&inst, f::TEST));
                at.word("type", name(&inst, f::TYPE));
                at.number("elem", get(&inst, f::ELEM));
                at.number("p0", get(&inst, f::PWEN));
            }
            Place::Move => {
                at.word("w0", name(&inst, f::MOV_W0));
                at.word("w1", name(&inst, f::MOV_W1));
                at.number("mask", get(&inst, f::MASK));
                at.number("always", get(&inst, f::ALWAYS));
            }
            Place::Backend => backend_of_table(&mut at, &inst),
            Place::Bitwise0 => masks_of_table(&mut at, &inst),
            Place::Bitwise1 => {
                at.word("op", name(&inst, f::LOGIC));
                at.number("mask a", get(&inst, f::MASK_A));
                at.number("mask b", get(&inst, f::MASK_B));
            }
            Place::Bitwise2 => {
                at.word("op", name(&inst, f::SHIFT2));
                at.number("p0", get(&inst, f::PWEN));
                at.number("tests ft3", get(&inst, f::TEST_SRC));
                at.number("nz", get(&inst, f::BIT_TEST));
            }
            Place::Control => control_of_table(&mut at, &inst),
        }
    }
    said
}

const fn place_of(place: Place) -> &'static str {
    match place {
        Place::P0 => "p0",
        Place::P1 => "p1",
        Place::Pack => "pack",
        Place::Test => "test",
        Place::Move => "move",
        Place::Backend => "backend",
        Place::Bitwise0 => "bitwise 0",
        Place::Bitwise1 => "bitwise 1",
        Place::Bitwise2 => "bitwise 2",
        Place::Control => "control",
    }
}

fn alu_of_table(at: &mut At<'_>, inst: &Inst) {
    let row = Main::of(inst.op());
    at.word("op", inst.op().name);
    if row == Main::Unpck {
        at.word("format", name(inst, f::FORMAT));
    }
    let fields = [
        ("neg0", f::NEG0),
        ("abs0", f::ABS0),
        ("flr0", f::FLR0),
        ("neg1", f::NEG1),
        ("abs1", f::ABS1),
        ("neg2", f::NEG2),
        ("abs2", f::ABS2),
        ("flr2", f::FLR2),
        ("sat", f::SAT),
        ("lp", f::LP),
        ("elem", f::ELEM),
        ("scale", f::SCALE),
        ("part", f::PART),
        ("iter", f::ITER),
        ("trig", f::TRIG),
        ("p0", f::PWEN),
        ("signed", f::SIGNED),
        ("carry", f::CARRY),
        ("16bit", f::WIDE),
        ("s0ch", f::S0CH),
        ("s1ch", f::S1CH),
        ("s2ch", f::S2CH),
    ];
    for (name, id) in fields {
        at.number(name, get(inst, id));
    }
}

fn pack_of_table(at: &mut At<'_>, inst: &Inst) {
    at.word("format", name(inst, f::FORMAT));
    for (name, id) in [("prog", f::PROG), ("rtz", f::RTZ), ("scale", f::SCALE)] {
        at.number(name, get(inst, id));
    }
}

/// A count whose 0 is the one beyond its greatest.
fn full(value: i64) -> i64 {
    if value == 0 { 16 } else { value }
}

fn backend_of_table(at: &mut At<'_>, inst: &Inst) {
    use Backend as B;
    let row = B::of(inst.op());
    let word = match row {
        row if row <= B::UvswWriteEmitEndtask => return vertices_of_table(at, inst),
        B::PhasReg | B::Phas => "phas",
        B::Movmsk | B::MovmskSm => "movmsk",
        B::Alphaf | B::Alphatst => "alpha",
        B::Fitr | B::Fitrp => "fitr",
        B::Ld | B::LdReg => "ld",
        B::St | B::StReg | B::StTiled | B::StTiledReg => "st",
        B::Smp | B::SmpWrite => "smp",
        _ => inst.op().name,
    };
    at.word("op", word);
    let mut fields = vec![("drc", f::DRC)];
    match row {
        B::Savmsk => at.word("mask", name(inst, f::MASK_MODE)),
        B::MovmskSm => at.number("port", 1 + get(inst, f::SRC)),
        B::Setl => fields.push(("port", f::LINK_SRC)),
        B::Alphaf | B::Alphatst => fields.extend([("p0", f::PWEN), ("quiet", f::FEEDBACK)]),
        B::Fitr | B::Fitrp => {
            at.word("mode", name(inst, f::ITER_MODE));
            at.number("count", full(get(inst, f::COUNT)));
            fields.extend([("persp", f::PERSP), ("sat", f::SAT)]);
        }
        B::Emitpix => fields.push(("free", f::FREEP)),
        B::Idf => fields.push(("address", f::ADD_SRC)),
        B::Smp | B::SmpWrite => return sample_of_table(at, inst),
        B::Atomic => {
            at.word("atomic", name(inst, f::ATOMIC));
            fields.extend([("source", f::SRC), ("destination", f::DST_SRC)]);
        }
        B::Ld | B::LdReg | B::St | B::StReg | B::StTiled | B::StTiledReg => {
            memory_of_table(at, inst);
        }
        _ => {}
    }
    for (name, id) in fields {
        at.number(name, get(inst, id));
    }
}

fn memory_of_table(at: &mut At<'_>, inst: &Inst) {
    use Backend as B;
    let row = B::of(inst.op());
    if matches!(row, B::LdReg | B::StReg | B::StTiledReg) {
        at.number("burst port", 1 + get(inst, f::BURST_SRC));
    } else {
        at.number("burst", full(get(inst, f::BURST)));
    }
    at.number("address", get(inst, f::ADD_SRC));
    at.number("cache", get(inst, f::CACHE));
    if !matches!(row, B::Ld | B::LdReg) {
        at.number("data", get(inst, f::DATA_SRC));
        let size = name(inst, f::SIZE).trim_end_matches("bit").parse::<i64>().expect("bits");
        at.number("size", size / 8);
    }
    if matches!(row, B::StTiled | B::StTiledReg) {
        at.number("tiled", 1 + get(inst, f::MASK_SRC));
        at.number("kept", get(inst, f::KEPT) << 3);
    }
}

fn vertices_of_table(at: &mut At<'_>, inst: &Inst) {
    at.word("op", "uvsw");
    let op = get(inst, f::UVSW);
    if matches!(op, 0 | 6) {
        at.number("write", 1 + get(inst, f::DSEL));
        let numbered = get(inst, f::IMM) == 1;
        let (word, id) = if numbered { ("number", f::ADDRESS) } else { ("port", f::SRC) };
        at.word("address", word);
        at.number("at", get(inst, id));
    }
    if matches!(op, 1 | 3 | 5 | 6) {
        at.number("emit", 1 + get(inst, f::STREAM));
    }
    at.number("cut", matches!(op, 2 | 3));
    at.number("end", matches!(op, 4..=6));
}

fn sample_of_table(at: &mut At<'_>, inst: &Inst) {
    at.word("lod", name(inst, f::LOD));
    at.word("dim", name(inst, f::DIM));
    at.number("channels", 1 + get(inst, f::CHANNELS));
    let fields = [
        ("fcnorm", f::FCNORM),
        ("drc", f::DRC),
        ("pplod", f::PPLOD),
        ("proj", f::PROJ),
        ("sbmode", f::SBMODE),
        ("nncoords", f::NNCOORDS),
        ("sno", f::SNO),
        ("soo", f::SOO),
        ("tao", f::TAO),
        ("f16", f::F16),
        ("swap", f::SWAP),
        ("cache", f::CACHE),
        ("write", f::WRITE),
        ("direct", f::DIRECT),
        ("f16in", f::F16_INPUT),
        ("compare", f::COMPARE),
        ("integer", f::INTEGER),
        ("array", f::ARRAY),
    ];
    for (name, id) in fields {
        at.number(name, get(inst, id));
    }
}

fn masks_of_table(at: &mut At<'_>, inst: &Inst) {
    let row = Bitwise0::of(inst.op());
    at.word("count", name(inst, f::COUNT_OP));
    at.number("counts ft2", get(inst, f::COUNT_SRC));
    at.number("shift", get(inst, f::SHIFT1));
    let mask = match (get(inst, f::BIT_IMM), get(inst, f::BITMASK)) {
        (0, 0) => "byp",
        (0, _) => "msk",
        _ => "number",
    };
    at.word("mask", mask);
    if row >= Bitwise0::Imm16 {
        at.number("value", get(inst, f::VALUE));
    }
}

fn control_of_table(at: &mut At<'_>, inst: &Inst) {
    use Control as C;
    let row = C::of(inst.op());
    let persp = |at: &mut At<'_>| {
        at.word("mode", name(inst, f::ITER_MODE));
        at.number("count", full(get(inst, f::COUNT)));
        at.number("coeff", 4 * get(inst, f::COEFF));
        at.number("w", 4 * get(inst, f::W_COEFF));
        let fields = [
            ("dest", f::DEST),
            ("persp", f::PERSP),
            ("f16", f::F16),
            ("sched", f::SCHED),
            ("drc", f::DRC),
            ("sat", f::SAT),
            ("coeff index", f::COEFF_INDEX),
            ("w index", f::W_INDEX),
        ];
        for (name, id) in fields {
            at.number(name, get(inst, id));
        }
    };
    let word = match row {
        C::Br => {
            at.number("offset", i64::from((inst.get(f::OFFSET) << 1) as i32));
            at.word("who", name(inst, f::BPRED));
            at.number("link", get(inst, f::LINK));
            at.number("abs", get(inst, f::ABSOLUTE));
            "br"
        }
        row if (C::Cndst..=C::CndsetlA).contains(&row) => {
            at.word("when", name(inst, f::COND));
            at.number("adjust", get(inst, f::ADJUST));
            inst.op().name
        }
        C::Wdf => {
            at.number("drc", get(inst, f::MISC));
            "wdf"
        }
        C::MutexRelease | C::MutexReleaseSleep | C::MutexReleaseWakeup | C::MutexLock => {
            at.number("id", get(inst, f::ID));
            inst.op().name
        }
        C::Sbo => {
            at.word("base", name(inst, f::TARGET));
            at.number("offset", get(inst, f::OFFSET));
            "sbo"
        }
        C::Ditr | C::Ditrp | C::DitrStore | C::DitrStored => {
            persp(at);
            "ditr"
        }
        _ => inst.op().name,
    };
    at.word("op", word);
}
