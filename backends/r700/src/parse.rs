//! Reads machine IR as [`text`](super::text) writes it. Numbers are held to the fields that take them, for emission relies
//! on that; what else an instruction must obey, the verifier and `legal` say.

use crate::inst::{
    Alu, Double, Export, ExportType, FILES, Indexed, Inst, Lane, MemRead, MemWrite, Omod,
    ShareRead, ShareWrite, Source, Space, Src, Texture, Vertex,
};
use crate::isa::{AluOp, FetchOp, R700, flag};
use crate::op;
use gpucc_ir::mach::{self, Names, ParseInst, Reg};
use smallvec::SmallVec;
use std::str::SplitWhitespace;

type Result<T> = std::result::Result<T, String>;

/// The words of a line, from left to right.
struct Words<'a> {
    words: SplitWhitespace<'a>,
    names: Names,
}

fn number<T: TryFrom<i64>>(word: &str, least: i64, most: i64) -> Result<T> {
    let found = word.parse().ok();
    let found = found.filter(|number| (least..=most).contains(number));
    found
        .and_then(|number: i64| T::try_from(number).ok())
        .ok_or_else(|| format!("`{word}` is no number from {least} to {most}"))
}

fn channel(word: &str) -> Result<u8> {
    let found = ["x", "y", "z", "w"].into_iter().position(|name| name == word);
    let found = found.ok_or_else(|| format!("`{word}` is no channel"))?;
    Ok(found as u8)
}

impl<'a> Words<'a> {
    fn of(text: &'a str, names: Names) -> Words<'a> {
        Words { words: text.split_whitespace(), names }
    }

    fn next(&mut self) -> Result<&'a str> {
        self.words.next().ok_or_else(|| "the line ends too soon".into())
    }

    fn expect(&mut self, word: &str) -> Result<()> {
        match self.next()? {
            found if found == word => Ok(()),
            found => Err(format!("expected `{word}`, found `{found}`")),
        }
    }

    /// Whether this word comes next; if so it is read.
    fn flag(&mut self, word: &str) -> bool {
        let mut ahead = self.words.clone();
        let found = ahead.next() == Some(word);
        if found {
            self.words = ahead;
        }
        found
    }

    fn end(mut self) -> Result<()> {
        match self.words.next() {
            None => Ok(()),
            Some(word) => Err(format!("`{word}` stands behind the end")),
        }
    }

    fn number<T: TryFrom<i64>>(&mut self, most: i64) -> Result<T> {
        number(self.next()?, 0, most)
    }

    fn reg(&mut self) -> Result<Reg> {
        let word = self.next()?;
        self.names.expect(word)
    }

    fn maybe_reg(&mut self) -> Result<Option<Reg>> {
        match self.next()? {
            "_" => Ok(None),
            word => self.names.expect(word).map(Some),
        }
    }

    fn lane(&mut self) -> Result<Lane> {
        Ok(match self.next()? {
            "_" => Lane::Masked,
            "0" => Lane::Zero,
            "1" => Lane::One,
            word => Lane::Reg(self.names.expect(word)?),
        })
    }

    fn lanes(&mut self) -> Result<[Lane; 4]> {
        Ok([self.lane()?, self.lane()?, self.lane()?, self.lane()?])
    }

    /// What a fetch writes: registers by place, and the component that each place receives.
    fn results(&mut self) -> Result<([Option<Reg>; 4], [u8; 4])> {
        let (mut dst, mut select) = ([None; 4], [0, 1, 2, 3]);
        for place in 0..4 {
            let word = self.next()?;
            let reg = match word.split_once('@') {
                Some((reg, component)) => {
                    select[place] = number(component, 0, 7)?;
                    reg
                }
                None => word,
            };
            if reg != "_" {
                dst[place] = Some(self.names.expect(reg)?);
            }
        }
        Ok((dst, select))
    }

    fn source(&self, word: &str) -> Result<Source> {
        let positive = word.strip_prefix('-');
        let rest = positive.unwrap_or(word);
        let inner = rest.strip_prefix('|').and_then(|rest| rest.strip_suffix('|'));
        let wrong = || format!("`{word}` is no source");
        let read = inner.unwrap_or(rest);
        let src = if let Some(digits) = read.strip_prefix("0x") {
            Src::Bits(u32::from_str_radix(digits, 16).map_err(|_| wrong())?)
        } else if let Some(place) = read.strip_prefix('C') {
            let (buffer, place) = place.split_once('[').ok_or_else(wrong)?;
            let (index, chan) = place.split_once("].").ok_or_else(wrong)?;
            Src::Const {
                buffer: number(buffer, 0, 15)?,
                // KCACHE_ADDR counts lines of 16 in 8 bits.
                index: number(index, 0, 16 * 256 - 1)?,
                chan: channel(chan)?,
            }
        } else {
            Src::Reg(self.names.expect(read)?)
        };
        Ok(Source { src, neg: positive.is_some(), abs: inner.is_some() })
    }

    /// Two sources with a sign between them.
    fn pair(&self, word: &str, sign: char) -> Result<[Source; 2]> {
        let (a, b) =
            word.split_once(sign).ok_or_else(|| format!("`{word}` is no pair of sources"))?;
        Ok([self.source(a)?, self.source(b)?])
    }

    fn alu(mut self, op: AluOp, dst: Option<Reg>) -> Result<Alu> {
        let mut alu = Alu { op, dst, src: SmallVec::new(), clamp: false, omod: Omod::Off };
        let count = op::sources(op);
        for at in 1..=count {
            let word = self.next()?;
            let word = match word.strip_suffix(',') {
                Some(word) if at < count => word,
                None if at == count => word,
                _ => return Err(format!("{op} has {count} sources with commas between")),
            };
            alu.src.push(self.source(word)?);
        }
        let scales = [("*2", Omod::Mul2), ("*4", Omod::Mul4), ("/2", Omod::Div2)];
        let scale = scales.into_iter().find(|(word, _)| self.flag(word));
        alu.omod = scale.map_or(Omod::Off, |(_, omod)| omod);
        alu.clamp = self.flag("clamp");
        self.end().map(|()| alu)
    }

    /// A place in memory, behind which `valid` may stand.
    fn place(mut self) -> Result<(Place, bool)> {
        let space = match self.next()? {
            "scratch" => Space::Scratch,
            "scatter" => Space::Scatter,
            word => match word.strip_prefix("stream") {
                Some(stream) => Space::Stream(number(stream, 0, 3)?),
                None => return Err(format!("`{word}` is no memory")),
            },
        };
        let base = self.number((1 << 13) - 1)?;
        let index = self.flag("+").then(|| self.reg()).transpose()?;
        let size = match self.flag("of") {
            true => self.number((1 << 12) - 1)?,
            false => 0,
        };
        self.expect("elements")?;
        let elements = number(self.next()?, 1, 4)?;
        let valid = self.flag("valid");
        let slot = self.flag("slot").then(|| self.number(u32::MAX.into()));
        let slot = slot.transpose()?.map(mach::Slot);
        let place = Place { space, base, index, size, elements, slot };
        self.end().map(|()| (place, valid))
    }
}

/// A place in memory.
struct Place {
    space: Space,
    base: u16,
    index: Option<Reg>,
    size: u16,
    elements: u8,
    slot: Option<mach::Slot>,
}

fn alu_op(name: &str) -> Result<AluOp> {
    let row = R700.alu.named(name).filter(|row| row.flags & flag::RESERVED == 0);
    let row = row.ok_or_else(|| format!("`{name}` is no instruction"))?;
    Ok(AluOp::of(row.id))
}

/// An operation without a result in a register.
fn test(text: &str, names: Names) -> Result<Alu> {
    let mut words = Words::of(text, names);
    let op = alu_op(words.next()?)?;
    words.alu(op, None)
}

/// The bracket that ends what an earlier one began: constants have brackets of their own.
fn closing(text: &str) -> Option<usize> {
    let mut open = 0;
    text.bytes().position(|c| {
        open += i32::from(c == b'[') - i32::from(c == b']');
        open < 0
    })
}

/// `v3[v1 + 2 of 8]`, and what follows.
fn indexed<'a>(text: &'a str, names: Names) -> Result<(Indexed, Words<'a>)> {
    let (array, (inner, rest)) = text
        .split_once('[')
        .and_then(|(array, rest)| Some((array, rest.split_at_checked(closing(rest)?)?)))
        .ok_or("an element is ARRAY[INDEX + OFFSET of COUNT]")?;
    let rest = &rest[1..];
    let mut words = Words::of(inner, names);
    let index = words.next()?;
    let index = words.source(index)?;
    words.expect("+")?;
    let offset = words.number(u16::MAX.into())?;
    words.expect("of")?;
    let rows = i64::from(FILES.0[0].cells / 4);
    let count = number(words.next()?, 1, rows)?;
    words.end()?;
    let indexed = Indexed { array: names.expect(array)?, count, index, offset };
    Ok((indexed, Words::of(rest, names)))
}

/// A pair of a register and a cell, or of two registers: `v1=R0.x`.
fn equal(word: &str, names: Names) -> Result<(Reg, Reg)> {
    let (a, b) = word.split_once('=').ok_or_else(|| format!("`{word}` is no `a=b`"))?;
    Ok((names.expect(a)?, names.expect(b)?))
}

/// An instruction that writes no register by ` = `.
fn without_result(line: &str, names: Names) -> Result<Inst> {
    let mut words = Words::of(line, names);
    let inst = match words.next()? {
        "entry" => {
            let mut list = SmallVec::new();
            for word in words.words.by_ref() {
                let (reg, cell) = equal(word, names)?;
                let cell = cell.as_phys().ok_or_else(|| format!("`{word}` names no cell"))?;
                list.push((reg, cell));
            }
            Inst::Entry(list)
        }
        "copy" => {
            let (mut dst, mut src) = (SmallVec::new(), SmallVec::new());
            for word in words.words.by_ref() {
                let (to, from) = equal(word, names)?;
                dst.push(to);
                src.push(from);
            }
            Inst::Copy { dst, src }
        }
        "write" => {
            let mut src = [None; 4];
            for reg in &mut src {
                *reg = words.maybe_reg()?;
            }
            words.expect("to")?;
            let (place, valid) = words.place()?;
            return Ok(Inst::MemWrite(MemWrite {
                space: place.space,
                index: place.index,
                base: place.base,
                size: place.size,
                src,
                elements: place.elements,
                valid,
                slot: place.slot,
            }));
        }
        "share" => {
            words.expect("write")?;
            let index = words.number(255)?;
            words.expect("of")?;
            let stride = words.number(255)?;
            let src = words.lanes()?;
            Inst::ShareWrite(ShareWrite { index, stride, src })
        }
        "export" => {
            let ty = match words.next()? {
                "Pixel" => ExportType::Pixel,
                "Position" => ExportType::Position,
                "Parameter" => ExportType::Parameter,
                word => return Err(format!("`{word}` is nothing that is exported")),
            };
            let base = words.number(255)?;
            let src = words.lanes()?;
            let done = words.flag("done");
            Inst::Export(Export { ty, base, src, done })
        }
        "wait" => Inst::WaitAck,
        "else" => Inst::Else,
        "endif" => Inst::EndIf,
        "loop" => Inst::LoopStart,
        "endloop" => Inst::LoopEnd,
        "break" => Inst::Break,
        "end" => Inst::End,
        _ => return test(line, names).map(Inst::Alu),
    };
    words.end().map(|()| inst)
}

/// An instruction that writes one register, by what stands behind ` = `.
fn one_result(dst: Reg, text: &str, names: Names) -> Result<Inst> {
    let mut words = Words::of(text, names);
    let name = words.next()?;
    if name == "array" {
        return words.end().map(|()| Inst::ArrayNew { array: dst });
    }
    if name.contains('[') {
        let (indexed, mut words) = indexed(text, names)?;
        return Ok(match words.words.next() {
            None => Inst::ArrayRead { dst, from: indexed },
            Some("with") => {
                let value = words.next()?;
                let value = words.source(value)?;
                words.end()?;
                Inst::ArrayWrite { to: indexed, result: dst, value }
            }
            Some(word) => return Err(format!("`{word}` stands behind an element")),
        });
    }
    let op = alu_op(name)?;
    if op != AluOp::DOT4_IEEE {
        return words.alu(op, Some(dst)).map(Inst::Alu);
    }
    let mut src = [[Source::bits(0); 2]; 4];
    for pair in &mut src {
        let word = words.next()?;
        *pair = words.pair(word, '*')?;
    }
    let clamp = words.flag("clamp");
    words.end()?;
    Ok(Inst::Dot { dst, src, clamp })
}

/// An operation on doubles.
fn double(dst: [Option<Reg>; 2], text: &str, names: Names) -> Result<Inst> {
    let mut words = Words::of(text, names);
    let op = alu_op(words.next()?)?;
    let mut src = SmallVec::new();
    for _ in 0..op::sources(op) {
        let word = words.next()?;
        src.push(words.pair(word, ':')?);
    }
    words.end()?;
    match op::units(&R700, op) {
        op::Units::Pair | op::Units::Quad => Ok(Inst::Double(Double { op, dst, src })),
        _ => Err(format!("{op} is no operation on doubles")),
    }
}

/// An instruction that writes up to four registers.
fn four_results(dst: &str, text: &str, names: Names) -> Result<Inst> {
    let mut left = Words::of(dst, names);
    let mut words = Words::of(text, names);
    let name = words.next()?;
    if name == "CUBE" {
        let mut four = || left.reg();
        let dst = [four()?, four()?, four()?, four()?];
        let src = [words.reg()?, words.reg()?, words.reg()?];
        words.end()?;
        return Ok(Inst::Cube { dst, src });
    }
    let (dst, select) = left.results()?;
    match name {
        "VFETCH" => vertex(dst, select, words),
        "read" => {
            let (place, valid) = words.place()?;
            if valid || matches!(place.space, Space::Stream(_)) {
                return Err("streams are written only, and so is what is valid".into());
            }
            Ok(Inst::MemRead(MemRead {
                space: place.space,
                index: place.index,
                base: place.base,
                size: place.size,
                dst,
                select,
                elements: place.elements,
                slot: place.slot,
            }))
        }
        "share" => {
            words.expect("read")?;
            let (bank, address) = (words.reg()?, words.reg()?);
            words.expect("+")?;
            let offset = words.number(63)?;
            words.end()?;
            if select != [0, 1, 2, 3] {
                return Err("what the local data share gives has no swizzle".into());
            }
            Ok(Inst::ShareRead(ShareRead { bank, address, offset, dst }))
        }
        _ => texture(name, dst, select, words),
    }
}

fn vertex(dst: [Option<Reg>; 4], select: [u8; 4], mut words: Words<'_>) -> Result<Inst> {
    let index = words.reg()?;
    words.expect("from")?;
    let resource = words.number(255)?;
    words.expect("+")?;
    let offset = words.number(u16::MAX.into())?;
    words.expect("format")?;
    let data_format = words.number(63)?;
    words.expect("num")?;
    let num_format = words.number(2)?;
    words.expect("bytes")?;
    let bytes = number(words.next()?, 1, 64)?;
    words.expect("type")?;
    let fetch_type = words.number(2)?;
    let signed = words.flag("signed");
    words.end()?;
    Ok(Inst::Vertex(Vertex {
        resource,
        index,
        dst,
        offset,
        data_format,
        num_format,
        signed,
        bytes,
        fetch_type,
        select,
    }))
}

fn texture(
    name: &str,
    dst: [Option<Reg>; 4],
    select: [u8; 4],
    mut words: Words<'_>,
) -> Result<Inst> {
    let row = R700.fetch.named(name).filter(|row| row.flags & flag::TEXTURE != 0);
    let row = row.ok_or_else(|| format!("`{name}` is no fetch"))?;
    let src = words.lanes()?;
    words.expect("from")?;
    let resource = words.number(255)?;
    words.expect("sampler")?;
    let mut fetch = Texture {
        op: FetchOp::of(row.id),
        resource,
        sampler: words.number(31)?,
        src,
        dst,
        select,
        normalized: [true; 4],
        offset: [0; 3],
        gradients: None,
    };
    while let Some(word) = words.words.next() {
        match word {
            "texels" => {
                let channels = words.next()?;
                for place in channels.split("").filter(|letter| !letter.is_empty()) {
                    fetch.normalized[usize::from(channel(place)?)] = false;
                }
            }
            "offset" => {
                for offset in &mut fetch.offset {
                    *offset = number(words.next()?, -8, 7)?;
                }
            }
            "gradient" => {
                let horizontal = words.lanes()?;
                words.expect("gradient")?;
                fetch.gradients = Some(Box::new([horizontal, words.lanes()?]));
            }
            word => return Err(format!("`{word}` says nothing of a fetch")),
        }
    }
    Ok(Inst::Texture(fetch))
}

impl ParseInst for Inst {
    fn parse(line: &str, names: Names) -> Result<Inst> {
        if let Some(rest) = line.strip_prefix("if ") {
            return test(rest, names).map(Inst::If);
        }
        let Some((dst, rest)) = line.split_once(" = ") else {
            return without_result(line, names);
        };
        let mut words = Words::of(dst, names);
        match dst.split_whitespace().count() {
            1 => one_result(words.reg()?, rest, names),
            2 => double([words.maybe_reg()?, words.maybe_reg()?], rest, names),
            4 => four_results(dst, rest, names),
            _ => Err("an instruction writes one, two or four registers".into()),
        }
    }
}

#[cfg(test)]
mod tests;
