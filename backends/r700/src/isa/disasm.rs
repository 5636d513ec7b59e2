//! Machine code as text, in the style of AMD's shader analyzer: control flow numbered, clauses indented below it, groups
//! numbered, a letter for every slot. The text carries every bit: what the syntax does not say follows as `FIELD(value)`,
//! and the layout stands in ADDR, COUNT and `@dword .dword`.

use super::alu::{AluGroup, AluSlot, Operand, Src, Unit};
use super::fields::{DST_SELS, DST_WRS, SELS, SRC_SELS, f};
use super::ops::{FetchOp, flag};
use super::program::{Body, Cf, Clause, DecodeError, Program, decode_program_of};
use super::{Inst, Isa, R700};
use gpucc_isa::FieldId;
use gpucc_isa::text::{write_field, write_fields};
use std::fmt::Write;

/// Disassembles a program given as bytes in memory order.
///
/// # Errors
/// See [`super::decode_program`]; a length that is not a multiple of 4 is an error at the end.
pub fn disassemble(bytes: &[u8]) -> Result<String, DecodeError> {
    disassemble_of(&R700, bytes)
}

/// As [`disassemble`], for any member of the family.
///
/// # Errors
/// As [`disassemble`].
pub fn disassemble_of(isa: &'static Isa, bytes: &[u8]) -> Result<String, DecodeError> {
    let words = words_of(bytes)?;
    let mut text = String::with_capacity(words.len() * 24);
    write_program(&mut text, &decode_program_of(isa, &words)?);
    Ok(text)
}

/// One line of a program's text and what it shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// Byte offset of the instruction that it shows; all slots of a group have the group's.
    pub offset: u32,
    /// A control-flow instruction, as opposed to one in a clause.
    pub flow: bool,
    /// Without the line end.
    pub text: String,
}

/// The lines of [`disassemble_of`] with their places.
///
/// # Errors
/// As [`disassemble`].
pub fn listing_of(isa: &'static Isa, bytes: &[u8]) -> Result<Vec<Line>, DecodeError> {
    let words = words_of(bytes)?;
    let mut text = String::with_capacity(words.len() * 24);
    let mut places = Vec::new();
    write_placed(&mut text, &decode_program_of(isa, &words)?, &mut |at, dword, flow| {
        places.push((at, 4 * dword, flow))
    });
    let mut lines = Vec::new();
    for (i, &(start, offset, flow)) in places.iter().enumerate() {
        let end = places.get(i + 1).map_or(text.len(), |next| next.0);
        lines.extend(text[start..end].lines().map(|text| Line {
            offset,
            flow,
            text: text.to_owned(),
        }));
    }
    Ok(lines)
}

/// Bytes as little-endian dwords.
///
/// # Errors
/// If they are no whole dwords.
pub fn words_of(bytes: &[u8]) -> Result<Vec<u32>, DecodeError> {
    let (dwords, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(DecodeError {
            offset: bytes.len() - rest.len(),
            reason: super::program::Reason::PartialWord(rest.len()),
        });
    }
    Ok(dwords.iter().map(|dword| u32::from_le_bytes(*dword)).collect())
}

macro_rules! put {
    ($out:expr, $($arg:tt)*) => { write!($out, $($arg)*).expect("writing to a string") };
}

/// Appends a whole program.
pub fn write_program(out: &mut String, program: &Program) {
    write_placed(out, program, &mut |_, _, _| ());
}

/// Told where an instruction's text starts, its dword, and whether it is control flow.
type Place<'a> = dyn FnMut(usize, u32, bool) + 'a;

fn write_placed(out: &mut String, program: &Program, place: &mut Place<'_>) {
    let mut shown = vec![false; program.clauses.len()];
    let mut groups = 0;
    for cf in &program.cf {
        place(out.len(), 2 * cf.at, true);
        put!(out, "{:02} ", cf.at);
        write_cf(out, &cf.inst);
        out.push('\n');
        let Some(clause) = cf.clause else { continue };
        if !std::mem::replace(&mut shown[clause.index()], true) {
            write_clause(out, &program.clauses[clause.index()], &mut groups, place);
        }
    }
    for raw in &program.raw {
        for (i, words) in raw.words.chunks(4).enumerate() {
            place(out.len(), raw.at + 4 * i as u32, true);
            put!(out, "@{} .dword", raw.at as usize + 4 * i);
            for word in words {
                put!(out, " {word:#010x}");
            }
            out.push('\n');
        }
    }
}

fn write_clause(out: &mut String, clause: &Clause, number: &mut usize, place: &mut Place<'_>) {
    let mut dword = 2 * clause.at;
    match &clause.body {
        Body::Alu(groups) => {
            for group in groups {
                place(out.len(), dword, false);
                write_group(out, group, Some(*number));
                *number += 1;
                dword += 2 * group.qwords();
            }
        }
        Body::Fetch(fetches) => {
            for fetch in fetches {
                place(out.len(), dword, false);
                dword += 4;
                put!(out, "    {number:>4}  ");
                write_fetch(out, fetch);
                out.push('\n');
                *number += 1;
            }
        }
    }
}

/// Appends one control-flow instruction, without a line end.
pub fn write_cf(out: &mut String, inst: &Inst) {
    let row = inst.op();
    out.push_str(row.name);
    if row.has(flag::EXPORTS) {
        write_export(out, inst);
    } else if row.has(flag::WRITES_MEMORY) {
        write_memory(out, inst);
    } else if row.has(flag::ALU_CLAUSE) {
        write_alu_clause(out, inst);
    } else if row.has(flag::FETCH_CLAUSE) {
        out.push(':');
        write_always(out, inst, &[f::ADDR, f::COUNT]);
        write_fields(out, inst, &[f::ADDR, f::COUNT]);
    } else if row.has(flag::JUMPS) {
        write_always(out, inst, &[f::ADDR]);
        write_fields(out, inst, &[f::ADDR]);
    } else {
        write_fields(out, inst, &[]);
    }
}

fn write_always(out: &mut String, inst: &Inst, fields: &[FieldId]) {
    for id in fields {
        if let Some(field) = inst.op().format.field(*id) {
            write_field(out, inst, field);
        }
    }
}

/// `KCACHE0(CB1:32-63)`: the constants that a set locks; other modes stay fields.
fn write_alu_clause(out: &mut String, inst: &Inst) {
    out.push(':');
    write_always(out, inst, &[f::ADDR, f::COUNT]);
    let mut said = vec![f::ADDR, f::COUNT];
    let sets = [
        [f::KCACHE_MODE0, f::KCACHE_BANK0, f::KCACHE_ADDR0],
        [f::KCACHE_MODE1, f::KCACHE_BANK1, f::KCACHE_ADDR1],
    ];
    for (set, fields) in sets.into_iter().enumerate() {
        let [mode, bank, addr] = fields.map(|field| inst.get(field));
        if let 1 | 2 = mode {
            put!(out, " KCACHE{set}(CB{bank}:{}-{})", 16 * addr, 16 * (addr + mode) - 1);
            said.extend(fields);
        }
    }
    write_fields(out, inst, &said);
}

/// `: PIXEL[0], R1.xyz1`
fn write_export(out: &mut String, inst: &Inst) {
    put!(out, ": {}[{}], ", enum_name(inst, f::TYPE), inst.get(f::ARRAY_BASE));
    write_rel_gpr(out, inst.get(f::RW_GPR), inst.flag(f::RW_REL));
    write_selects(out, inst, &SELS);
    write_fields(out, inst, &[&[f::TYPE, f::ARRAY_BASE, f::RW_GPR, f::RW_REL][..], &SELS].concat());
}

/// `: WRITE_IND[0], R1.xy__, R5.x`
fn write_memory(out: &mut String, inst: &Inst) {
    put!(out, ": {}[{}], ", enum_name(inst, f::TYPE), inst.get(f::ARRAY_BASE));
    write_rel_gpr(out, inst.get(f::RW_GPR), inst.flag(f::RW_REL));
    let mask = inst.get(f::COMP_MASK);
    out.push('.');
    out.extend("xyzw".chars().enumerate().map(|(i, c)| if mask >> i & 1 == 1 { c } else { '_' }));
    let mut said = vec![f::TYPE, f::ARRAY_BASE, f::RW_GPR, f::RW_REL, f::COMP_MASK];
    if inst.get(f::TYPE) & 1 == 1 {
        put!(out, ", R{}.x", inst.get(f::INDEX_GPR));
        said.push(f::INDEX_GPR);
    }
    write_fields(out, inst, &said);
}

fn enum_name(inst: &Inst, field: FieldId) -> &'static str {
    match inst.op().format.field(field).map(|field| field.kind) {
        Some(gpucc_isa::Kind::Enum(set)) => {
            set.name_of(inst.get(field)).expect("reserved values do not decode")
        }
        _ => unreachable!("the caller names an enum field of the format"),
    }
}

fn write_rel_gpr(out: &mut String, gpr: u32, rel: bool) {
    put!(out, "R{gpr}{}", if rel { "[aL]" } else { "" });
}

fn write_selects(out: &mut String, inst: &Inst, fields: &[FieldId]) {
    out.push('.');
    out.extend(fields.iter().map(|field| select_letter(inst.get(*field))));
}

/// The letter of a component select; [`super::asm`] reads the same letters.
pub(super) const SELECT_LETTERS: [char; 8] = ['x', 'y', 'z', 'w', '0', '1', '?', '_'];

fn select_letter(select: u32) -> char {
    SELECT_LETTERS[select as usize & 7]
}

/// Appends one group, a line a slot. `number` is its number where groups are numbered.
pub fn write_group(out: &mut String, group: &AluGroup, number: Option<usize>) {
    let units = group.units(true);
    for (i, (slot, unit)) in group.slots.iter().zip(&units).enumerate() {
        match number {
            Some(number) if i == 0 => put!(out, "    {number:>4}  "),
            Some(_) => out.push_str("          "),
            None => {}
        }
        put!(out, "{}: ", unit.map_or('?', Unit::letter));
        write_slot_in(out, slot, Some(group), *unit == Some(Unit::Trans));
        out.push('\n');
    }
    let named = group.literal_mask();
    for (i, literal) in group.literals.iter().enumerate() {
        if named >> i & 1 == 0 && *literal != 0 {
            if number.is_some() {
                out.push_str("          ");
            }
            put!(out, "literal.{} {literal:#010x}\n", select_letter(i as u32));
        }
    }
}

/// Appends one slot without its group: LAST is a word, literals have no value.
pub fn write_slot(out: &mut String, slot: &AluSlot) {
    write_slot_in(out, slot, None, false);
}

fn write_slot_in(out: &mut String, slot: &AluSlot, group: Option<&AluGroup>, trans: bool) {
    put!(out, "{} ", slot.row().name);
    let mut said = vec![f::DST_GPR, f::DST_REL, f::DST_CHAN, f::BANK_SWIZZLE];
    let mut rel = slot.flag(f::DST_REL);
    let dst = slot.dst();
    if dst.write || dst.gpr != 0 || dst.rel {
        put!(out, "R{}", dst.gpr);
        if dst.rel {
            write_index(out, slot);
        }
    } else {
        out.push_str("____");
        said.push(f::WRITE_MASK);
    }
    put!(out, ".{}", dst.chan.letter());
    let mut count = slot.source_fields();
    while count > slot.sources() && slot.src(count - 1) == Src::UNUSED {
        count -= 1;
    }
    for i in 0..count {
        let src = slot.src(i);
        rel |= src.rel;
        out.push_str(", ");
        write_src(out, slot, src, group);
    }
    said.extend(super::alu::SRC_FIELDS);
    if rel {
        said.push(f::INDEX_MODE);
    }
    if group.is_some() {
        said.push(f::LAST);
    }
    write_fields(out, slot.inst_ref(), &said);
    match slot.get(f::BANK_SWIZZLE) {
        0 => {}
        swizzle => put!(out, " {}", bank_swizzle_name(swizzle, trans)),
    }
}

/// Names of the bank swizzles in the trans slot. R700 ISA 4.7.8.
pub(super) const SCALAR_SWIZZLES: [&str; 4] = ["SCL_210", "SCL_122", "SCL_212", "SCL_221"];

fn bank_swizzle_name(swizzle: u32, trans: bool) -> &'static str {
    match SCALAR_SWIZZLES.get(swizzle as usize) {
        Some(name) if trans => name,
        _ => super::fields::BANK_SWIZZLE_E.name_of(swizzle).expect("reserved values do not decode"),
    }
}

/// `[AR.x]`: what relative operands of this instruction add.
fn write_index(out: &mut String, slot: &AluSlot) {
    put!(out, "[{}]", INDEX_NAMES[slot.get(f::INDEX_MODE) as usize]);
}

/// How INDEX_MODE reads inside an operand.
pub(super) const INDEX_NAMES: [&str; 7] =
    ["AR.x", "AR.y", "AR.z", "AR.w", "aL", "GLOBAL", "GLOBAL+AR.x"];

fn write_src(out: &mut String, slot: &AluSlot, src: Src, group: Option<&AluGroup>) {
    if src.neg {
        out.push('-');
    }
    if src.abs {
        out.push('|');
    }
    match src.operand {
        Operand::Gpr(gpr) => put!(out, "R{gpr}"),
        Operand::Kcache { set, index } => put!(out, "KC{set}[{index}]"),
        Operand::Cfile(index) => put!(out, "C{index}"),
        Operand::Pv => out.push_str("PV"),
        Operand::Ps => out.push_str("PS"),
        Operand::Literal => match group.and_then(|group| group.literals.get(src.chan.index())) {
            Some(bits) => put!(out, "({bits:#010x}, {:?})", f32::from_bits(*bits)),
            None => out.push('L'),
        },
        inline => out.push_str(inline_name(inline)),
    }
    if src.rel {
        write_index(out, slot);
    }
    let plain = src.operand == Operand::Ps || src.operand.inline_bits().is_some();
    if !plain || src.chan != super::Chan::X {
        put!(out, ".{}", src.chan.letter());
    }
    if src.abs {
        out.push('|');
    }
}

/// Inline constants and their names in text; those with a name of their own in the document have it.
pub(super) const INLINE_NAMES: [(Operand, &str); 9] = [
    (Operand::Zero, "0.0"),
    (Operand::One, "1.0"),
    (Operand::Half, "0.5"),
    (Operand::OneInt, "1_INT"),
    (Operand::MinusOneInt, "M_1_INT"),
    (Operand::OneDouble { high: false }, "1_DBL_L"),
    (Operand::OneDouble { high: true }, "1_DBL_M"),
    (Operand::HalfDouble { high: false }, "0_5_DBL_L"),
    (Operand::HalfDouble { high: true }, "0_5_DBL_M"),
];

fn inline_name(operand: Operand) -> &'static str {
    let known = INLINE_NAMES.iter().find(|(known, _)| *known == operand);
    known.expect("every inline constant has a name").1
}

/// Appends one fetch instruction, without a line end.
pub fn write_fetch(out: &mut String, inst: &Inst) {
    let row = inst.op();
    put!(out, "{} ", row.name);
    let mut said = Vec::with_capacity(20);
    match FetchOp::of(row.id) {
        FetchOp::DS_LOCAL_WRITE | FetchOp::DS_GLOBAL_WRITE => {
            put!(out, "R{}", inst.get(f::SRC_GPR));
            write_selects(out, inst, &SRC_SELS);
            said.push(f::SRC_GPR);
            said.extend(SRC_SELS);
        }
        FetchOp::DS_LOCAL_READ | FetchOp::DS_GLOBAL_READ => {
            put!(out, "R{}.", inst.get(f::DST_GPR));
            let letters = "xyzw".chars().zip(DST_WRS);
            out.extend(letters.map(|(letter, write)| if inst.flag(write) { letter } else { '_' }));
            put!(out, ", R{}", inst.get(f::SRC_GPR));
            write_selects(out, inst, &SRC_SELS[..2]);
            said.extend([f::DST_GPR, f::SRC_GPR, f::SRC_SEL_X, f::SRC_SEL_Y]);
            said.extend(DST_WRS);
        }
        _ => {
            write_fetch_dst(out, inst, &mut said);
            out.push_str(", ");
            write_rel_gpr(out, inst.get(f::SRC_GPR), inst.flag(f::SRC_REL));
            said.extend([f::SRC_GPR, f::SRC_REL, f::SRC_SEL_X]);
            if row.has(flag::TEXTURE) {
                write_selects(out, inst, &SRC_SELS);
                said.extend(SRC_SELS);
                put!(out, ", t{}, s{}", inst.get(f::RESOURCE_ID), inst.get(f::SAMPLER_ID));
                said.extend([f::RESOURCE_ID, f::SAMPLER_ID]);
            } else {
                write_selects(out, inst, &[f::SRC_SEL_X]);
            }
            if row.has(flag::VERTEX) {
                put!(out, ", b{}", inst.get(f::BUFFER_ID));
                said.push(f::BUFFER_ID);
            }
        }
    }
    write_fields(out, inst, &said);
}

/// `R1.xyzw`, or `S5.xyzw` where a semantic table names the register.
fn write_fetch_dst(out: &mut String, inst: &Inst, said: &mut Vec<FieldId>) {
    if inst.has_field(f::SEMANTIC_ID) {
        put!(out, "S{}", inst.get(f::SEMANTIC_ID));
        said.push(f::SEMANTIC_ID);
    } else {
        write_rel_gpr(out, inst.get(f::DST_GPR), inst.flag(f::DST_REL));
        said.extend([f::DST_GPR, f::DST_REL]);
    }
    write_selects(out, inst, &DST_SELS);
    said.extend(DST_SELS);
}

impl std::fmt::Display for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        write_program(&mut text, self);
        f.write_str(&text)
    }
}

impl std::fmt::Display for Cf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        write_cf(&mut text, &self.inst);
        f.write_str(&text)
    }
}

impl std::fmt::Display for AluGroup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        write_group(&mut text, self, None);
        f.write_str(text.trim_end())
    }
}

impl std::fmt::Display for AluSlot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        write_slot(&mut text, self);
        f.write_str(&text)
    }
}
