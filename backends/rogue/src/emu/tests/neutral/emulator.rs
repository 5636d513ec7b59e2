//! What the emulator's reading says.

use super::{At, SOURCES, Said, Value, WRITES};
use crate::emu::inst::{self as e, Address, Alu, Burst, Single, Wide};

impl At<'_> {
    fn modifiers(&mut self, names: [&'static str; 3], modifiers: e::Modifiers) {
        self.number(names[0], modifiers.neg);
        self.number(names[1], modifiers.abs);
        self.number(names[2], modifiers.floor);
    }
}

const FIRST: [&str; 3] = ["neg0", "abs0", "flr0"];
const SECOND: [&str; 3] = ["neg1", "abs1", "flr1"];
const THIRD: [&str; 3] = ["neg2", "abs2", "flr2"];

const fn file_of(file: e::File) -> &'static str {
    match file {
        e::File::Temp => "temp",
        e::File::VertexIn => "vtxin",
        e::File::Coefficient => "coeff",
        e::File::Shared => "shared",
        e::File::PixelOut => "pixout",
    }
}

fn emulator_register(register: e::Register) -> Value {
    let (file, number, index) = match register {
        e::Register::Constant(bits) => ("constant", bits.into(), 0),
        e::Register::File(file, number) => (file_of(file), number.into(), 0),
        e::Register::Internal(number) => ("internal", number.into(), 0),
        e::Register::Global(number) => ("global", number.into(), 0),
        e::Register::Index(number) => ("index", number.into(), 0),
        e::Register::Special(number) => ("special", number.into(), 0),
        e::Register::Relative { index, file, offset } => {
            (file_of(file), offset.into(), 1 + i64::from(index))
        }
    };
    Value::Register(file, number, index)
}

/// Of a group as the emulator has it.
pub fn of_emulator(group: &e::Group) -> Said {
    let mut said = Said::new();
    let mut at = At { said: &mut said, place: "group" };
    at.number("length", group.length);
    at.word(
        "condition",
        match group.condition {
            e::Condition::Executing => "runs",
            e::Condition::IfTrue => "if p0",
            e::Condition::Always => "always",
            e::Condition::IfFalse => "if not p0",
        },
    );
    for (name, flag) in [("olchk", group.checked), ("end", group.end), ("atom", group.atomic)] {
        at.number(name, flag);
    }
    at.number("repeat", group.repeat);
    for (name, register) in SOURCES.into_iter().zip(group.sources) {
        said.insert(("group", name), emulator_register(register));
    }
    for (name, register) in WRITES.into_iter().zip(group.writes) {
        register.map(|register| said.insert(("group", name), emulator_register(register)));
    }
    match &group.kind {
        e::Kind::Main(main) => main_of_emulator(&mut said, main),
        e::Kind::Bitwise(op) => bitwise_of_emulator(&mut said, op),
        e::Kind::Control(op) => {
            control_of_emulator(&mut At { said: &mut said, place: "control" }, op);
        }
    }
    said
}

const fn feed(feed: e::Feed) -> &'static str {
    match feed {
        e::Feed::Ft0 => "ft0",
        e::Feed::Ft1 => "ft1",
        e::Feed::Ft2 => "ft2",
        e::Feed::Fte => "fte",
    }
}

fn main_of_emulator(said: &mut Said, main: &e::Main) {
    let mut at = At { said, place: "select" };
    at.number("is0", main.external);
    let [is1, is2] = main.tested;
    let [is4, is5] = main.defaults;
    for (name, chosen) in
        [("is1", is1), ("is2", is2), ("is3", main.packed), ("is4", is4), ("is5", is5)]
    {
        at.word(name, feed(chosen));
    }
    for (place, alu) in [("p0", main.p0), ("p1", main.p1)] {
        if let Some(alu) = alu {
            alu_of_emulator(&mut At { said, place }, alu);
        }
    }
    if let Some(pack) = main.pack {
        let mut at = At { said, place: "pack" };
        at.word("format", format_of(pack.format));
        at.number("prog", pack.programmed);
        at.number("rtz", pack.toward_zero);
        at.number("scale", pack.scale);
    }
    if let Some(test) = main.test {
        use e::Relation as R;
        let mut at = At { said, place: "test" };
        at.word(
            "test",
            match test.relation {
                R::Zero => "z",
                R::Positive => "gz",
                R::NotNegative => "gez",
                R::Carry => "c",
                R::Equal => "e",
                R::Greater => "g",
                R::GreaterEqual => "ge",
                R::NotEqual => "ne",
                R::Less => "l",
                R::LessEqual => "le",
            },
        );
        at.word("type", format!("{:?}", test.kind).to_lowercase());
        at.number("elem", test.element);
        at.number("p0", test.predicate);
    }
    if let Some(mov) = main.mov {
        let mut at = At { said, place: "move" };
        at.word("w0", feed(mov.taken[0]));
        at.word("w1", feed(mov.taken[1]));
        at.number("mask", mov.mask);
        at.number("always", mov.always);
    }
    if let Some(backend) = &main.backend {
        backend_of_emulator(&mut At { said, place: "backend" }, backend);
    }
}

fn format_of(format: e::Format) -> String {
    match format {
        e::Format::Coverage => "cov".into(),
        e::Format::F32Mask => "f32_mask".into(),
        e::Format::TwoF10F10F10 => "2f10f10f10".into(),
        other => format!("{other:?}").to_lowercase(),
    }
}

fn alu_of_emulator(at: &mut At<'_>, alu: Alu) {
    let word = match alu {
        Alu::Float { product, low, saturate, modifiers: [first, second] } => {
            at.modifiers(FIRST, first);
            at.modifiers(SECOND, second);
            at.number("lp", low);
            at.number("sat", saturate);
            if product { "fmul" } else { "fadd" }
        }
        Alu::Mad { low, saturate, modifiers: [first, second, third] } => {
            at.modifiers(FIRST, first);
            at.modifiers(SECOND, second);
            at.modifiers(THIRD, third);
            at.number("lp", low);
            at.number("sat", saturate);
            "fmad"
        }
        Alu::Single(op, modifiers) => {
            at.modifiers(FIRST, modifiers);
            single(op)
        }
        Alu::Unpack { format, element, flag } => {
            at.word("format", format_of(format));
            at.number("elem", element);
            at.number("scale", flag);
            "unpck"
        }
        Alu::Reduce { second, iteration, cosine, predicate, modifiers } => {
            at.modifiers(FIRST, modifiers);
            at.number("part", second);
            at.number("iter", iteration);
            at.number("trig", cosine);
            at.number("p0", predicate);
            "fred"
        }
        Alu::Short { op, half, fields } => {
            at.number("16bit", half);
            let bits = [
                ("signed", 1),
                ("sat", 8),
                ("abs0", 9),
                ("neg0", 10),
                ("abs1", 11),
                ("abs2", 12),
                ("neg2", 13),
                ("s2ch", 15),
            ];
            bits.into_iter().for_each(|(name, bit)| at.number(name, fields >> bit & 1));
            at.number("s0ch", fields >> 16 & 3);
            at.number("s1ch", fields >> 18 & 3);
            ["iadd", "imul", "imad_0_1", "imad_2_3"][usize::from(op)]
        }
        Alu::Wide { op, signed, carry, modifiers: [first, second, third] } => {
            at.modifiers(FIRST, first);
            at.modifiers(SECOND, second);
            at.modifiers(THIRD, third);
            at.number("signed", signed);
            at.number("carry", carry);
            match op {
                Wide::Add64By32 => "add64_32",
                Wide::Add64 => "add64",
                Wide::Mad32 => "imadd32",
                Wide::Mad64 => "imadd64",
            }
        }
    };
    at.word("op", word);
}

const fn single(op: Single) -> &'static str {
    match op {
        Single::Rcp => "frcp",
        Single::Rsq => "frsq",
        Single::Log => "flog",
        Single::Exp => "fexp",
        Single::F16Sop => "f16sop",
        Single::LogCn => "flogcn",
        Single::GammaCompress => "gcmp",
        Single::GammaExpand => "gexp",
        Single::Bypass => "mbyp",
        Single::Dsx => "fdsx",
        Single::Dsy => "fdsy",
        Single::DsxFine => "fdsxf",
        Single::DsyFine => "fdsyf",
        Single::Sinc => "fsinc",
        Single::ArcTanC => "farctanc",
    }
}

const fn mode(mode: e::Mode) -> &'static str {
    match mode {
        e::Mode::Pixel => "pixel",
        e::Mode::Sample => "sample",
        e::Mode::Centroid => "centroid",
    }
}

fn burst_of_emulator(at: &mut At<'_>, burst: Burst) {
    match burst {
        Burst::Number(count) => at.number("burst", count),
        Burst::Port(port) => at.number("burst port", 1 + port),
    }
}

fn backend_of_emulator(at: &mut At<'_>, backend: &e::Backend) {
    use e::Backend as B;
    let word = match *backend {
        B::Uvsw(uvsw) => {
            if let Some((second, address)) = uvsw.write {
                at.number("write", 1 + i64::from(second));
                let (word, number) = match address {
                    Address::Number(number) => ("number", number),
                    Address::Port(port) => ("port", port),
                };
                at.word("address", word);
                at.number("at", number);
            }
            at.number("emit", uvsw.emit.map_or(0, |stream| 1 + stream));
            at.number("cut", uvsw.cut);
            at.number("end", uvsw.end_task);
            "uvsw"
        }
        B::SaveMask(mask) => {
            let word = match mask {
                e::MaskMode::Valid => "vm",
                e::MaskMode::Coverage => "icm",
                e::MaskMode::CoverageOc => "icmoc",
                e::MaskMode::CoverageI => "icmi",
                e::MaskMode::Xy => "caxy",
            };
            at.word("mask", word);
            "savmsk"
        }
        B::MoveMask(port) => {
            at.number("port", port.map_or(0, |port| 1 + port));
            "movmsk"
        }
        B::Phase => "phas",
        B::SetLink(port) => {
            at.number("port", port);
            "setl"
        }
        B::Depth => "depthf",
        B::AlphaTest { predicate, quiet } => {
            at.number("p0", predicate);
            at.number("quiet", quiet);
            "alpha"
        }
        B::Iterate { perspective, drc, mode: place, saturate, count } => {
            at.word("mode", mode(place));
            at.number("count", count);
            at.number("persp", perspective);
            at.number("drc", drc);
            at.number("sat", saturate);
            "fitr"
        }
        B::EmitPixel { free } => {
            at.number("free", free);
            "emitpix"
        }
        B::Fence { drc, address } => {
            at.number("drc", drc);
            at.number("address", address);
            "idf"
        }
        B::Load { drc, address, burst, cache } => {
            burst_of_emulator(at, burst);
            at.number("drc", drc);
            at.number("address", address);
            at.number("cache", cache);
            "ld"
        }
        B::Store { drc, address, data, burst, size, cache, tiled } => {
            burst_of_emulator(at, burst);
            for (name, value) in [
                ("drc", drc),
                ("address", address),
                ("data", data),
                ("size", size),
                ("cache", cache),
                ("tiled", tiled.map_or(0, |(port, _)| 1 + port)),
                ("kept", tiled.map_or(0, |(_, kept)| kept)),
            ] {
                at.number(name, value);
            }
            "st"
        }
        B::Sample(sample) => {
            sample_of_emulator(at, sample);
            "smp"
        }
        B::Atomic { drc, op, source, destination } => {
            use e::Atomic as A;
            let word = match op {
                A::Add => "add",
                A::Sub => "sub",
                A::Exchange => "xchg",
                A::UMin => "umin",
                A::SMin => "imin",
                A::UMax => "umax",
                A::SMax => "imax",
                A::And => "and",
                A::Or => "or",
                A::Xor => "xor",
            };
            at.word("atomic", word);
            at.number("drc", drc);
            at.number("source", source);
            at.number("destination", destination);
            "atomic"
        }
    };
    at.word("op", word);
}

fn sample_of_emulator(at: &mut At<'_>, sample: e::Sample) {
    let lod = match sample.lod {
        e::Lod::Normal => "none",
        e::Lod::Bias => "bias",
        e::Lod::Replace => "replace",
        e::Lod::Gradients => "gradient",
    };
    at.word("lod", lod);
    at.word("dim", format!("{}d", sample.dimensions));
    for (name, value) in [
        ("drc", sample.drc),
        ("channels", sample.channels),
        ("sbmode", sample.raw),
        ("cache", sample.cache),
    ] {
        at.number(name, value);
    }
    for (name, flag) in [
        ("fcnorm", sample.normalise),
        ("pplod", sample.per_pixel),
        ("proj", sample.projected),
        ("nncoords", sample.integers),
        ("sno", sample.sample),
        ("soo", sample.offsets),
        ("tao", sample.address),
        ("f16", sample.half),
        ("swap", sample.swap),
        ("write", sample.write),
    ] {
        at.number(name, flag);
    }
    if let Some(more) = sample.extended {
        for (name, flag) in [
            ("direct", more.direct),
            ("f16in", more.half_input),
            ("compare", more.compares),
            ("integer", more.integer),
            ("array", more.array),
        ] {
            at.number(name, flag);
        }
    }
}

fn bitwise_of_emulator(said: &mut Said, op: &e::Bitwise) {
    let mut at = At { said, place: "bitwise 0" };
    let count = match op.p0.count {
        e::Count::Bits => "cbs",
        e::Count::Top => "ftb",
        e::Count::Bypass => "byp",
    };
    at.word("count", count);
    at.number("counts ft2", op.p0.counts_shifted);
    at.number(
        "shift",
        match op.p0.shift {
            e::FirstShift::Bypass => 0,
            e::FirstShift::Interleave => 1,
            e::FirstShift::Reverse => 2,
            e::FirstShift::Left => 3,
        },
    );
    let mask = match op.p0.mask {
        e::Mask::Bypass => "byp",
        e::Mask::Ones => "msk",
        e::Mask::Number(value) => {
            at.number("value", value);
            "number"
        }
    };
    at.word("mask", mask);
    if let Some(logical) = op.logical {
        use e::LogicalOp as L;
        let mut at = At { said, place: "bitwise 1" };
        let word = match logical.op {
            L::Or => "or",
            L::And => "and",
            L::Xor => "xor",
            L::Nor => "nor",
            L::Nand => "nand",
            L::Xnor => "xnor",
            L::Bypass => "byp",
        };
        at.word("op", word);
        at.number("mask a", logical.mask_a);
        at.number("mask b", logical.mask_b);
    }
    if let Some(shift) = op.shift {
        use e::ShiftOp as S;
        let mut at = At { said, place: "bitwise 2" };
        let word = match shift.op {
            S::Left => "lsl",
            S::Right => "shr",
            S::Rotate => "rol",
            S::Cps => "cps",
            S::ArithmeticTop => "asr_twb",
            S::ArithmeticPartial => "asr_pwb",
            S::ArithmeticMask => "asr_mtb",
            S::ArithmeticFirst => "asr_ftb",
        };
        at.word("op", word);
        at.number("p0", shift.predicate);
        at.number("tests ft3", shift.tests_count);
        at.number("nz", shift.not_zero);
    }
}

fn control_of_emulator(at: &mut At<'_>, control: &e::Control) {
    use e::Conditional as M;
    use e::Control as C;
    let word = match *control {
        C::Branch { link, deciding, absolute, offset } => {
            let who = match deciding {
                e::Deciding::Condition => "cc",
                e::Deciding::All => "allinst",
                e::Deciding::Any => "anyinst",
            };
            at.word("who", who);
            at.number("link", link);
            at.number("abs", absolute);
            at.number("offset", offset);
            "br"
        }
        C::Return => "lapc",
        C::SaveLink => "savl",
        C::Conditional { op, when, adjust } => {
            let when = match when {
                e::When::Always => "if(1)",
                e::When::IfTrue => "if(p0)",
                e::When::Never => "if(0)",
                e::When::IfFalse => "if(!p0)",
            };
            at.word("when", when);
            at.number("adjust", adjust);
            match op {
                M::Start => "cndst",
                M::Else => "cndef",
                M::Set => "cndsm",
                M::Loop => "cndlt",
                M::End => "cndend",
                M::SetLinkB => "cndsetl.b",
                M::LoopLink => "cndlpc",
                M::SetLinkA => "cndsetl.a",
            }
        }
        C::WaitOutputs => "wop",
        C::Wait(drc) => {
            at.number("drc", drc);
            "wdf"
        }
        C::Mutex { op, id } => {
            at.number("id", id);
            ["mutex.release", "mutex.release.sleep", "mutex.release.wakeup", "mutex.lock"]
                [usize::from(op)]
        }
        C::Nop => "nop",
        C::IterateSample { .. } => "itrsmp",
        C::StoreOffset { shared, offset } => {
            at.word("base", if shared { "shared" } else { "coeff" });
            at.number("offset", offset);
            "sbo"
        }
        C::Iterate(iterate) => {
            at.word("mode", mode(iterate.mode));
            for (name, value) in [
                ("dest", iterate.destination),
                ("coeff", iterate.coefficient),
                ("w", iterate.reciprocal),
                ("persp", iterate.perspective),
                ("count", iterate.count),
                ("sched", iterate.schedule),
                ("drc", iterate.drc),
                ("coeff index", iterate.indices[0]),
                ("w index", iterate.indices[1]),
            ] {
                at.number(name, value);
            }
            at.number("f16", iterate.half);
            at.number("sat", iterate.saturate);
            "ditr"
        }
    };
    at.word("op", word);
}
