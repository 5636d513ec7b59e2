//! An instruction type of no machine: every constraint can be written in its text. The shared
//! machine passes are tested with it.
//!
//! ```text
//! v2, v3 = name v0 v1 5
//! ```
//! Operands carry constraints as suffixes: `v1!R0.x` fixed cell, `v1~2` same row (set 2), `v1#0+3`
//! group 0 at offset 3, `v1&0` tied to the operand visited 0th, `v1:0b11` phases; a leading `^`
//! makes a definition early; a part stands before the suffix, `v1[2..4]~2`. Uses are visited before definitions. Bare numbers are immediates.
//! Names with a meaning: `copy`; `jump`, `branch`, `end` (end the block); `clause` (ends clause
//! scope); `store` and `load` (their first immediate is the slot); what begins with `all_` ignores the mask.

use super::inst::{Access, Inst, Operand, Relation, Role, Slot};
use super::parse::ParseInst;
use super::print::PrintInst;
use super::regs::{File, Files, Names, Phases, Reg, Scope};
use std::fmt::{self, Write};

/// Registers of no machine: rows of four, held for each lane.
pub const FILES: Files =
    Files(&[File { name: "R", cells: 64, row: 4, per_lane: true, scope: Scope::Function }]);

/// One plain instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plain {
    /// What it is called.
    pub name: String,
    /// Uses, then definitions.
    pub operands: Vec<Operand>,
    /// Immediates.
    pub numbers: Vec<u32>,
}

impl Plain {
    /// An instruction with unconstrained operands.
    pub fn new(name: &str, defs: &[Reg], uses: &[Reg]) -> Plain {
        let mut operands: Vec<Operand> = uses.iter().map(|&reg| Operand::use_of(reg)).collect();
        operands.extend(defs.iter().map(|&reg| Operand::def_of(reg)));
        Plain { name: name.to_owned(), operands, numbers: Vec::new() }
    }
}

impl Inst for Plain {
    fn operands(&self, visit: &mut dyn FnMut(Operand)) {
        for &operand in &self.operands {
            visit(operand);
        }
    }

    fn rewrite(&mut self, map: &mut dyn FnMut(Reg, Role) -> Reg) {
        for operand in &mut self.operands {
            operand.reg = map(operand.reg, operand.role);
            if operand.reg.as_phys().is_some() {
                operand.part = operand.part.placed();
            }
        }
    }

    fn is_copy(&self) -> bool {
        self.name == "copy"
    }

    fn ends_block(&self) -> bool {
        matches!(self.name.as_str(), "jump" | "branch" | "end")
    }

    fn ends_scope(&self) -> bool {
        self.name == "clause"
    }

    fn ignores_mask(&self) -> bool {
        self.name.starts_with("all_")
    }

    fn access(&self) -> Option<Access> {
        let slot = Slot(*self.numbers.first()?);
        match self.name.as_str() {
            "store" => Some(Access::Store(slot)),
            "load" => Some(Access::Load(slot)),
            _ => None,
        }
    }
}

impl PrintInst for Plain {
    fn print(&self, names: Names, out: &mut dyn Write) -> fmt::Result {
        let mut separator = "";
        for operand in self.operands.iter().filter(|operand| operand.role.is_def()) {
            out.write_str(separator)?;
            write_operand(operand, names, out)?;
            separator = ", ";
        }
        if !separator.is_empty() {
            out.write_str(" = ")?;
        }
        out.write_str(&self.name)?;
        for operand in self.operands.iter().filter(|operand| !operand.role.is_def()) {
            out.write_str(" ")?;
            write_operand(operand, names, out)?;
        }
        for number in &self.numbers {
            write!(out, " {number}")?;
        }
        Ok(())
    }
}

fn write_operand(operand: &Operand, names: Names, out: &mut dyn Write) -> fmt::Result {
    if operand.role == Role::EarlyDef {
        out.write_str("^")?;
    }
    write!(out, "{}{}", names.reg(operand.reg), operand.part)?;
    match operand.relation {
        Relation::Any => {}
        Relation::Fixed(cell) => write!(out, "!{}", names.reg(cell.into()))?,
        Relation::SameRow(set) => write!(out, "~{set}")?,
        Relation::Group { set, offset } => write!(out, "#{set}+{offset}")?,
        Relation::Tied(index) => write!(out, "&{index}")?,
    }
    if operand.phases != Phases::ANY {
        write!(out, ":{:#b}", operand.phases.0)?;
    }
    Ok(())
}

impl ParseInst for Plain {
    fn parse(line: &str, names: Names) -> Result<Plain, String> {
        let (defs, rest) = line.split_once(" = ").unwrap_or(("", line));
        let mut words = rest.split_whitespace();
        let name = words.next().ok_or("expected an instruction")?.to_owned();
        let mut plain = Plain { name, operands: Vec::new(), numbers: Vec::new() };
        for word in words {
            match word.parse::<u32>() {
                Ok(number) => plain.numbers.push(number),
                Err(_) => plain.operands.push(operand(word, Role::Use, names)?),
            }
        }
        for word in defs.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            let (role, word) = match word.strip_prefix('^') {
                Some(word) => (Role::EarlyDef, word),
                None => (Role::Def, word),
            };
            plain.operands.push(operand(word, role, names)?);
        }
        Ok(plain)
    }
}

fn operand(word: &str, role: Role, names: Names) -> Result<Operand, String> {
    let (word, phases) = match word.split_once(":0b") {
        Some((word, bits)) => (
            word,
            Phases(u16::from_str_radix(bits, 2).map_err(|_| format!("`{bits}` are no phases"))?),
        ),
        None => (word, Phases::ANY),
    };
    let end = word.find(['!', '~', '#', '&']).unwrap_or(word.len());
    let (reg, suffix) = word.split_at(end);
    let number =
        |text: &str| text.parse::<u8>().map_err(|_| format!("`{text}` is no small number"));
    let relation = match suffix.chars().next() {
        None => Relation::Any,
        Some('!') => {
            let cell = names.expect(&suffix[1..])?.as_phys();
            Relation::Fixed(cell.ok_or("a fixed operand names a physical register")?)
        }
        Some('~') => Relation::SameRow(number(&suffix[1..])?),
        Some('#') => {
            let (set, offset) =
                suffix[1..].split_once('+').ok_or("a group is written #set+offset")?;
            Relation::Group { set: number(set)?, offset: number(offset)? }
        }
        Some(_) => Relation::Tied(number(&suffix[1..])?),
    };
    let (reg, part) = names.part(reg)?;
    Ok(Operand { reg, part, role, relation, phases })
}
