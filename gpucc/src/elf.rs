//! Machine code as an ELF file: one `.text`, a symbol for each program, and the report beside it.
//!
//! A relocatable 32-bit little-endian file. Programs stand in `.text` in source order, each at a
//! multiple of 256 bytes, which is what the start registers of every machine here count in or divide.
//! `.gpucc.report` is the report of `--emit json` without the times, so that equal inputs give equal
//! files. A machine that has a number of ELF's says so ([`gpucc_machine::Machine::elf`]); others get `EM_NONE`.

use crate::report::Report;
use crate::{Binary, Target};

/// Bytes that every program's start is a multiple of.
const ALIGNMENT: usize = 256;

/// Section numbers, in the order in which the file has them.
const TEXT: u16 = 1;
const SYMTAB: usize = 3;
const STRTAB: u32 = 4;
const SHSTRTAB: u16 = 5;

const HEADER: usize = 52;
const SECTION: usize = 40;
const SYMBOL: usize = 16;

/// Makes the file. `report` is that of the same entry points in the same order.
pub fn elf(target: Target, chip: Option<&str>, compiled: &[&Binary], report: &Report) -> Vec<u8> {
    let mut text = Vec::new();
    let mut names = Strings::new();
    let mut symbols = vec![0u8; SYMBOL];
    let mut symbol = |names: &mut Strings, name: &str, at: usize, size: usize| {
        // STB_GLOBAL, STT_FUNC.
        let words = [names.add(name), at as u32, size as u32, 0x12];
        for word in words {
            symbols.extend_from_slice(&word.to_le_bytes());
        }
        let last = symbols.len() - 2;
        symbols[last..].copy_from_slice(&TEXT.to_le_bytes());
    };
    for (one, name) in compiled.iter().zip(unique_names(compiled)) {
        let Some(program) = &one.program else {
            continue;
        };
        text.resize(text.len().next_multiple_of(ALIGNMENT), 0);
        let start = text.len();
        text.extend_from_slice(program.code());
        symbol(&mut names, &name, start, program.code().len());
        for (part, range) in program.parts() {
            let name = format!("{name}.{part}");
            symbol(&mut names, &name, start + range.start, range.len());
        }
        for (part, code) in program.beside() {
            text.resize(text.len().next_multiple_of(ALIGNMENT), 0);
            let name = format!("{name}.{part}");
            symbol(&mut names, &name, text.len(), code.len());
            text.extend_from_slice(code);
        }
    }
    let mut timeless = report.clone();
    for shader in &mut timeless.shaders {
        shader.stats.compile_microseconds = 0;
        shader.stats.frontend_microseconds = 0;
    }
    let note = serde_json::to_vec(&timeless).expect("plain data");
    let mut section_names = Strings::new();
    let sections = [
        // Name, type, flags, bytes, link, info, alignment, entry size.
        (".text", 1, 6, text, 0, 0, ALIGNMENT, 0),
        (".gpucc.report", 1, 0, note, 0, 0, 1, 0),
        // Only the null symbol is local.
        (".symtab", 2, 0, symbols, STRTAB, 1, 4, SYMBOL),
        (".strtab", 3, 0, names.bytes, 0, 0, 1, 0),
        (".shstrtab", 3, 0, Vec::new(), 0, 0, 1, 0),
    ];
    debug_assert_eq!(sections[SYMTAB - 1].0, ".symtab");
    let mut table = vec![0u8; SECTION];
    let mut body = Vec::new();
    let at_name: Vec<u32> = sections.iter().map(|section| section_names.add(section.0)).collect();
    for ((name, kind, flags, bytes, link, info, align, entry), at_name) in
        sections.into_iter().zip(at_name)
    {
        let bytes = match name {
            ".shstrtab" => section_names.bytes.clone(),
            _ => bytes,
        };
        let start = (HEADER + body.len()).next_multiple_of(align);
        body.resize(start - HEADER, 0);
        let words = [
            at_name,
            kind,
            flags,
            0,
            start as u32,
            bytes.len() as u32,
            link,
            info,
            align as u32,
            entry as u32,
        ];
        for word in words {
            table.extend_from_slice(&word.to_le_bytes());
        }
        body.extend_from_slice(&bytes);
    }
    let at_table = (HEADER + body.len()).next_multiple_of(4);
    body.resize(at_table - HEADER, 0);
    let machine = target.built();
    let (machine, flags) = machine.map_or((0, 0), |machine| machine.elf(chip.unwrap_or_default()));
    let mut file = header(machine, flags, at_table as u32, table.len() / SECTION);
    file.extend_from_slice(&body);
    file.extend_from_slice(&table);
    file
}

/// A name for each entry point; the stage tells those apart that share one, as SPIR-V allows.
pub fn unique_names(compiled: &[&Binary]) -> Vec<String> {
    compiled
        .iter()
        .map(|one| {
            let same = compiled.iter().filter(|other| other.entry == one.entry);
            match same.count() {
                1 => one.entry.clone(),
                _ => format!("{}.{}", one.entry, one.stage.name()),
            }
        })
        .collect()
}

fn header(machine: u16, flags: u32, at_table: u32, sections: usize) -> Vec<u8> {
    // 32 bits, least significant byte first, version 1.
    let mut file = vec![0x7f, b'E', b'L', b'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let halves = |file: &mut Vec<u8>, values: &[u16]| {
        for value in values {
            file.extend_from_slice(&value.to_le_bytes());
        }
    };
    // ET_REL.
    halves(&mut file, &[1, machine]);
    for word in [1, 0, 0, at_table, flags] {
        file.extend_from_slice(&u32::to_le_bytes(word));
    }
    halves(&mut file, &[HEADER as u16, 0, 0, SECTION as u16]);
    halves(&mut file, &[sections as u16, SHSTRTAB]);
    file
}

/// A string table: an empty string, then strings that end with a zero.
struct Strings {
    bytes: Vec<u8>,
}

impl Strings {
    fn new() -> Strings {
        Strings { bytes: vec![0] }
    }
    fn add(&mut self, text: &str) -> u32 {
        let at = self.bytes.len() as u32;
        self.bytes.extend(text.bytes().filter(|byte| *byte != 0));
        self.bytes.push(0);
        at
    }
}
