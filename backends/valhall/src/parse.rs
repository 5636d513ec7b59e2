//! Reads the instructions that [`crate::text`] prints.

use crate::fau::{LUT, Read};
use crate::inst::{FauRef, Inst, Op, Special, Src, cell};
use crate::isa::{self, Opcode, Source, SourceByte, Staging, TABLE, f};
use crate::text::{first_alike, numbered, of_source, special_name};
use cranelift_entity::EntityRef;
use gpucc_ir::mach::{Block, Cell, Names, ParseInst, Reg, Slot};
use gpucc_isa::{Field, Kind};
use smallvec::SmallVec;

/// Blocks, entries and slots beyond this are refused.
const HIGHEST: u32 = 10_000_000;
/// Staging registers of one group at most.
const MOST_STAGING: usize = 8;

impl ParseInst for Inst {
    fn parse(line: &str, names: Names) -> Result<Inst, String> {
        let mut words = Words { names, list: line.split_whitespace().collect(), at: 0 };
        let mut dst = SmallVec::new();
        let mut write = SmallVec::new();
        while let Some(end) = words.list[words.at..].iter().position(|word| *word == "=") {
            let results = &words.list[words.at..words.at + end];
            match results {
                [list] if list.starts_with('@') => write = words.registers(&list[1..])?,
                _ => {
                    let each = results.iter().map(|word| word.trim_end_matches(','));
                    dst = each.map(|word| words.register(word)).collect::<Result<_, _>>()?;
                }
            }
            words.at += end + 1;
        }
        let name = words.next("an instruction")?;
        let inst = match name {
            "entry" => {
                let mut list = SmallVec::new();
                while let Some(word) = words.peek() {
                    list.push(words.placed(word)?);
                    words.at += 1;
                }
                Inst::Entry(list)
            }
            "copy" => {
                let list = words.next("registers")?;
                let src: SmallVec<[Reg; 2]> = words.registers(list)?;
                if src.len() != dst.len() {
                    return Err("a copy has as many results as sources".into());
                }
                let dst = std::mem::take(&mut dst);
                Inst::Copy { dst, src }
            }
            _ => {
                let (dst, write) = (std::mem::take(&mut dst), std::mem::take(&mut write));
                Inst::Op(Box::new(words.op(name, dst, write)?))
            }
        };
        match words.peek() {
            Some(word) => Err(format!("nothing is said by `{word}`")),
            None if !dst.is_empty() || !write.is_empty() => Err(format!("{name} has no results")),
            None => Ok(inst),
        }
    }
}

struct Words<'t> {
    names: Names,
    list: Vec<&'t str>,
    at: usize,
}

impl<'t> Words<'t> {
    fn peek(&self) -> Option<&'t str> {
        self.list.get(self.at).copied()
    }

    fn next(&mut self, what: &str) -> Result<&'t str, String> {
        let word = self.peek().ok_or_else(|| format!("expected {what}"))?;
        self.at += 1;
        Ok(word)
    }

    fn register(&self, word: &str) -> Result<Reg, String> {
        let found = match word.strip_prefix('r') {
            Some(_) => physical(word).map(Reg::phys),
            None => self.names.parse(word),
        };
        found.ok_or_else(|| format!("`{word}` is no register"))
    }

    fn registers<A: smallvec::Array<Item = Reg>>(&self, list: &str) -> Result<SmallVec<A>, String> {
        list.split(':').map(|word| self.register(word)).collect()
    }

    /// `v7=r60`.
    fn placed(&self, word: &str) -> Result<(Reg, Cell), String> {
        let (reg, place) = word.split_once('=').unwrap_or((word, ""));
        let place = physical(place).ok_or_else(|| format!("`{word}` names no place"))?;
        Ok((self.register(reg)?, place))
    }

    fn op(
        &mut self,
        name: &str,
        dst: SmallVec<[Reg; 2]>,
        write: SmallVec<[Reg; 4]>,
    ) -> Result<Op, String> {
        let mut op = row(name)?;
        op.dst = dst;
        op.write = write;
        while let Some((field, value)) = self.peek().and_then(|word| number_field(&op, word)) {
            set(&mut op, field, value?)?;
            self.at += 1;
        }
        if let Some(list) = self.peek().and_then(|word| word.strip_prefix('@')) {
            op.read = self.registers(list)?;
            self.at += 1;
        }
        let sources = op.opcode.sources();
        for (k, place) in sources.iter().enumerate() {
            let word = self.next("a source")?;
            let word = match word.strip_suffix(',') {
                Some(word) if k + 1 < sources.len() => word,
                None if k + 1 == sources.len() => word,
                _ => return Err(format!("{name} has {} sources", sources.len())),
            };
            self.source(&mut op, k, place, word)?;
        }
        while let Some(word) = self.peek() {
            self.at += 1;
            match word {
                "->" => op.target = Some(block(self.next("a block")?)?),
                "divergent" => op.divergent = true,
                "tied" => op.tied = true,
                "second" => {
                    let list = self.next("registers")?;
                    op.second = self.registers(list)?;
                }
                "clobbers" => {
                    let word = self.next("a register and its place")?;
                    let (reg, place) = self.placed(word)?;
                    op.clobbers.push((reg, place.index as u8));
                }
                "spill" => op.spill = Some(Slot(small(self.next("a slot")?)?)),
                _ => {
                    let (key, set) = word.split_once(':').unwrap_or((word, ""));
                    let set = integer(set).and_then(|set| u32::try_from(set).ok());
                    let effects = op.effects.get_or_insert_default();
                    match (key, set) {
                        ("reads", Some(set)) => effects.reads = set,
                        ("writes", Some(set)) => effects.writes = set,
                        _ => return Err(format!("{name} does not take `{word}`")),
                    }
                }
            }
        }
        shaped(&op)?;
        Ok(op)
    }

    fn source(&self, op: &mut Op, k: usize, place: &Source, word: &str) -> Result<(), String> {
        let bare = word.strip_prefix('^');
        op.last |= u8::from(bare.is_some()) << k;
        let mut parts = bare.unwrap_or(word).split('.');
        let first = parts.next().unwrap_or_default();
        let wide = place.kind.is_pair();
        let unknown = || format!("`{word}` is no source");
        let mut half = |name: &str| match parts.next() {
            Some("w0") => Ok(0),
            Some("w1") => Ok(1),
            _ => Err(format!("{name} has the words w0 and w1")),
        };
        let src = if let Some(inner) = first.strip_prefix("fau[") {
            let inner = inner.strip_suffix(']').ok_or_else(unknown)?;
            match (special(inner), inner.split_once(':')) {
                (Some(what), _) if wide => Src::Special64(what),
                (Some(what), _) => Src::Special(what, half(inner)?),
                (None, Some((low, high))) => {
                    let entry = entry(low)?;
                    if small(high)? != u32::from(entry.0) + 1 {
                        return Err("the second entry of a pair is the one behind the first".into());
                    }
                    Src::FauPair(entry)
                }
                (None, None) => Src::Fau(entry(inner)?),
            }
        } else if let Some(bits) = first.strip_prefix('#') {
            let bits = integer(bits).and_then(|bits| u32::try_from(bits).ok());
            Src::Bits(bits.ok_or_else(unknown)?)
        } else if let Some(entry) = first.strip_prefix("lut") {
            let entry = entry.parse().ok().filter(|&entry| first_alike(entry).is_some());
            Src::Fast(Read::Lut(entry.ok_or_else(unknown)?))
        } else if let Some(word) = first.strip_prefix('u') {
            Src::Fast(Read::Uniform(word.parse().map_err(|_| unknown())?))
        } else if let Some(what) = isa::Special::named(first) {
            let word = half(first)?;
            let byte = SourceByte::Special { what, word }.encode();
            let read = Read::of(byte, what.page()).ok().flatten();
            Src::Fast(read.ok_or_else(unknown)?)
        } else if let Some(value) = integer(first) {
            let entry = LUT.iter().position(|&known| i64::from(known) == value);
            let entry = entry
                .ok_or_else(|| format!("{first} is no small constant: `#` is before others"))?;
            Src::Fast(Read::Lut(entry as u8))
        } else if let Some(low) = first.strip_suffix(":_") {
            Src::Low(self.register(low)?)
        } else if let Some((low, high)) = first.split_once(':') {
            Src::Pair([self.register(low)?, self.register(high)?])
        } else {
            Src::Reg(self.register(first)?)
        };
        let fits = match src {
            Src::Low(_) | Src::Pair(_) | Src::FauPair(_) | Src::Special64(_) => wide,
            Src::Reg(_) | Src::Fau(_) | Src::Special(..) => !wide,
            Src::Bits(_) | Src::Fast(_) => true,
        };
        if !fits {
            let bits = if wide { 64 } else { 32 };
            return Err(format!("source {k} of {} has {bits} bits", op.opcode.name()));
        }
        op.src.push(src);
        for part in parts {
            let field = of_source(k, place)
                .into_iter()
                .flatten()
                .zip([None, Some("abs"), Some("neg"), Some("not")])
                .find_map(|(id, name)| {
                    let field = op.word.op().format.field(id)?;
                    match name {
                        Some(name) => (name == part && !op.word.flag(id)).then_some((field, 1)),
                        None => Some((field, named(&op.word, field, part)?)),
                    }
                });
            let (field, value) = field
                .ok_or_else(|| format!("source {k} of {} takes no `.{part}`", op.opcode.name()))?;
            set(op, field, value)?;
        }
        Ok(())
    }
}

/// The row that a mnemonic names, with the modifiers behind it.
fn row(text: &str) -> Result<Op, String> {
    let ends: Vec<usize> = text.match_indices('.').map(|(at, _)| at).chain([text.len()]).collect();
    let found = ends.iter().rev().find_map(|&end| Some((TABLE.named(&text[..end])?, end)));
    let (row, end) = found.ok_or_else(|| format!("no instruction is called `{text}`"))?;
    let mut op = Op::new(Opcode::of(row));
    let mut parts = text[end..].split('.').skip(1).peekable();
    let mut fields = op.opcode.shape().modifiers.iter().chain(&[f::FLOW]);
    while let Some(part) = parts.next() {
        // Values of one enumeration have a dot in their names.
        let joined = parts.peek().map(|next| format!("{part}.{next}"));
        let taken = fields.find_map(|&id| {
            let field = row.format.field(id).filter(|field| !row.is_fixed(field))?;
            let joined = joined.as_ref().and_then(|name| named(&op.word, field, name));
            let value = joined.or_else(|| named(&op.word, field, part))?;
            Some((field, value, joined.is_some()))
        });
        let (field, value, both) =
            taken.ok_or_else(|| format!("{} takes no `.{part}` here", row.name))?;
        set(&mut op, field, value)?;
        if both {
            parts.next();
        }
    }
    Ok(op)
}

/// The value of a field that a name says, where that is not the usual one.
fn named(word: &gpucc_isa::Inst, field: &Field, name: &str) -> Option<u32> {
    let value = match field.kind {
        Kind::Enum(set) => set.value_of(name)?,
        Kind::Flag if field.name == name => 1,
        _ => return None,
    };
    (value != field.get(word.op().usual)).then_some(value)
}

/// `offset:-4`: a field and its value, if the word begins with a field's name.
fn number_field(op: &Op, word: &str) -> Option<(&'static Field, Result<u32, String>)> {
    let (name, value) = word.split_once(':')?;
    let field = numbered(op.opcode).find(|field| field.name == name)?;
    let width = field.width();
    let (least, most) = match field.kind {
        Kind::Signed => (-(1i64 << (width - 1)), (1i64 << (width - 1)) - 1),
        _ => (0, (1i64 << width) - 1),
    };
    let value = integer(value).filter(|value| (least..=most).contains(value));
    let value = value.map(|value| (value & ((1i64 << width) - 1)) as u32);
    Some((field, value.ok_or_else(|| format!("{name} is {least} to {most}"))))
}

fn set(op: &mut Op, field: &'static Field, value: u32) -> Result<(), String> {
    let done = op.word.set_field(field, value);
    done.map_err(|error| error.to_string())
}

/// Asks whether an instruction has the operands of its row.
fn shaped(op: &Op) -> Result<(), String> {
    let name = op.opcode.name();
    let results = op.opcode.dst().map_or(0, |kind| 1 + usize::from(kind.is_pair()));
    if op.dst.len() != results {
        return Err(format!("{name} has {results} result registers"));
    }
    let staging = op.opcode.staging();
    let most = |group: bool, lists: bool| match (group, lists) {
        (false, _) => 0,
        // Counts have three bits; some are written less one, and a texture's 0 means 8.
        (true, true) => MOST_STAGING,
        (true, false) => MOST_STAGING - 1,
    };
    let read = most(staging.reads(), staging == Staging::Texture);
    let write = most(staging.writes(), staging != Staging::Write);
    let blend = op.opcode == Opcode::Blend;
    if op.read.len() > read || op.write.len() > write || op.second.len() > 4 * usize::from(blend) {
        return Err(format!("{name} takes {read} staging registers and gives {write}"));
    }
    if op.tied && op.write.len() > op.read.len() + op.src.len() {
        return Err(format!("{name} has results tied to nothing"));
    }
    let branches = op.opcode == Opcode::Branchz;
    if op.target.is_some() != branches {
        return Err("a branch and nothing else leads to a block".into());
    }
    Ok(())
}

/// `r12`.
fn physical(word: &str) -> Option<Cell> {
    let number: u8 = word.strip_prefix('r')?.parse().ok()?;
    (number < 64).then(|| cell(number))
}

fn special(name: &str) -> Option<Special> {
    use Special::*;
    let plain = [
        AtestDatum,
        SamplePositions,
        ThreadLocalPointer,
        WorkgroupLocalPointer,
        LaneId,
        ProgramCounter,
    ];
    let blend = (0..8).map(BlendDescriptor);
    plain.into_iter().chain(blend).find(|&what| special_name(what) == name)
}

fn small(word: &str) -> Result<u32, String> {
    let number = word.parse().ok().filter(|&number| number < HIGHEST);
    number.ok_or_else(|| format!("`{word}` is no number, or too great"))
}

fn entry(word: &str) -> Result<FauRef, String> {
    let number = word.parse().ok().filter(|&number| number < u16::MAX);
    Ok(FauRef(number.ok_or_else(|| format!("`{word}` is no entry of the uniforms"))?))
}

fn block(word: &str) -> Result<Block, String> {
    let number = word.strip_prefix('b').ok_or_else(|| format!("`{word}` is no block"))?;
    Ok(Block::new(small(number)? as usize))
}

/// Decimal or hexadecimal, with a sign or without.
fn integer(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    if digits.starts_with(['+', '-']) || digits.len() > 12 {
        return None;
    }
    let value = match digits.strip_prefix("0x") {
        Some(digits) if !digits.starts_with(['+', '-']) => i64::from_str_radix(digits, 16),
        Some(_) => return None,
        None => digits.parse(),
    };
    Some(sign * value.ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inst::FILES;
    use gpucc_ir::mach::{PrintInst, parse};

    const LINES: &[&str] = &[
        "entry v0=r60 v1=r61",
        "v0, v1 = copy v2:v3",
        "v3 = FMA.f32.clamp_0_1.rtz v0.h1.neg, u4, ^v1.abs.neg",
        "r3 = RSHIFT_AND.i32.signed.not_result r0.b2, 0x0.b11, lut21.not",
        "v1, v2 = IADD.u64 v3:_.w0, #0x1234567",
        "v1 = MKVEC.v2i8 v0.b3, v1.b1, fau[9]",
        "v1 = IADD_IMM.i32.reconverge dst_mask:0x1 constant:0xffffffff fau[lane_id].w1",
        "v1 = MOV.i32 lane_id.w0",
        "@v4:v5 = LOAD.i64.unsigned.slot1.wait0 offset:-8 fau[2:3] reads:0x1",
        "STORE.i32.force offset:4 @r4 thread_local_pointer.w0 spill 1 writes:0x40000000",
        "@v4 = ATOM_RETURN.i32.axchg @v5 ^v6:v7 reads:0x3 writes:0x3",
        "@v1 = ATEST v2, 0x3f800000, fau[atest_datum].w0 tied",
        "BLEND.slot1.v4.f16.end target:0x2 @v0:v1 fau[blend_descriptor_0], v2 second v3:v4 clobbers v5=r4 clobbers v6=r5",
        "BRANCHZ.eq combine:0x1 v0 -> b3 divergent",
        "NOP.wait0126",
    ];

    fn read(line: &str) -> Result<Inst, String> {
        Inst::parse(line, FILES.names())
    }

    fn text(inst: &Inst) -> String {
        let mut out = String::new();
        inst.print(FILES.names(), &mut out).expect("a string takes everything");
        out
    }

    #[test]
    fn every_line_prints_as_it_was_read() {
        for line in LINES {
            assert_eq!(read(line).map(|inst| text(&inst)).as_deref(), Ok(*line));
        }
    }

    /// With a usual value in every other field, each value of each field reads back alone.
    #[test]
    fn every_value_of_every_field_of_every_row_reads_back() {
        for &opcode in Opcode::ALL {
            let mut op = Op::new(opcode);
            let reg = Reg::phys(cell(2));
            let results = opcode.dst().map_or(0, |kind| 1 + usize::from(kind.is_pair()));
            op.dst.extend(std::iter::repeat_n(reg, results));
            let source = |source: &Source| match source.kind.is_pair() {
                true => Src::Pair([reg, reg]),
                false => Src::Reg(reg),
            };
            op.src.extend(opcode.sources().iter().map(source));
            op.target = (opcode == Opcode::Branchz).then(|| Block::new(0));
            let shape = opcode.shape();
            let sources = shape.sources.iter().enumerate();
            let of_sources = sources.flat_map(|(k, source)| of_source(k, source)).flatten();
            let listed = shape.modifiers.iter().copied().chain([f::FLOW]).chain(of_sources);
            let listed = listed.filter_map(|id| opcode.op().format.field(id));
            for field in numbered(opcode).chain(listed) {
                for value in (0..32).chain([((1u64 << field.width()) - 1) as u32]) {
                    let mut op = op.clone();
                    if op.word.set_field(field, value).is_ok() {
                        let inst = Inst::Op(Box::new(op));
                        assert_eq!(read(&text(&inst)), Ok(inst.clone()), "{}", text(&inst));
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_no_instruction_is_said_with_its_line() {
        let bad = [
            ("v0 = FADD.f32 v0", "has 2 sources"),
            ("v0 = FADD.f32 v0,", "a source"),
            ("v0 = FADD.f32 v0, v0, v0", "has 2 sources"),
            ("v0 = FADD.f32.clamp_0_2 v0, v0", "takes no `.clamp_0_2`"),
            ("v0 = FADD.f32 v0, 0x3", "no small constant"),
            ("v0 = FADD.f32 v0, v0:v0", "32 bits"),
            ("v0 = FADD.f32 v0, v0.neg.neg", "takes no `.neg`"),
            ("FADD.f32 v0, v0", "1 result"),
            ("v0 = FSUB.f32 v0, v0", "no instruction"),
            ("@v0 = LOAD.i32 offset:40000 v0:v0", "-32768 to 32767"),
            ("v0 = MOV.i32 r64", "no register"),
            ("BRANCHZ v0", "leads to a block"),
            ("NOP -> b0", "leads to a block"),
            ("entry v0=r64", "names no place"),
        ];
        for (line, expected) in bad {
            let whole = format!("mach \"bad\"\nv0: r\nb0:\n    {line}\n");
            let error = parse::<Inst>(&whole, FILES).expect_err(line);
            assert_eq!(error.line, 4);
            assert!(error.message.contains(expected), "{line}: {error}");
        }
    }

    #[test]
    fn mutated_lines_are_read_or_refused_and_never_panic() {
        let mut seed = 1u64;
        let mut random = move |below: usize| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as usize % below
        };
        let words: Vec<&str> = LINES.iter().flat_map(|line| line.split(' ')).collect();
        let mut both = [0, 0];
        for _ in 0..40_000 {
            let mut line: Vec<String> =
                LINES[random(LINES.len())].split(' ').map(str::to_owned).collect();
            for _ in 0..1 + random(2) {
                let at = random(line.len());
                match random(4) {
                    0 => drop(line.remove(at)),
                    1 => line[at] = words[random(words.len())].to_owned(),
                    2 => line.insert(at, words[random(words.len())].to_owned()),
                    _ => {
                        let mut bytes = std::mem::take(&mut line[at]).into_bytes();
                        let byte = random(bytes.len());
                        bytes[byte] = b"0123456789.:@^#,-vrubx[]="[random(25)];
                        line[at] = String::from_utf8(bytes).expect("all is ASCII");
                    }
                }
                if line.is_empty() {
                    line.push("NOP".into());
                }
            }
            let found = read(&line.join(" "));
            both[usize::from(found.is_ok())] += 1;
            if let Ok(inst) = found {
                assert_eq!(read(&text(&inst)), Ok(inst), "{line:?}");
            }
        }
        assert!(both.iter().all(|&count| count > 1_000), "{both:?}");
    }
}
