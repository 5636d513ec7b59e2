//! What each instruction reads and writes, for the allocator and for passes over registers.

use super::{Inst, Lane, Source, Src};
use gpucc_ir::mach::{self, Access, Operand, Phases, Reg, Relation, Role};

/// A relation in a row by number.
const fn row(set: u8) -> Relation {
    Relation::SameRow(set)
}

fn lanes(list: &[Lane; 4], set: u8, visit: &mut dyn FnMut(Operand)) {
    for lane in list {
        if let Lane::Reg(reg) = lane {
            visit(Operand::use_of(*reg).with(row(set)));
        }
    }
}
fn defs(list: &[Option<Reg>; 4], set: u8, visit: &mut dyn FnMut(Operand)) {
    for reg in list.iter().flatten() {
        visit(Operand::def_of(*reg).with(row(set)));
    }
}
/// Each in its own channel of one register.
fn channels(list: &[Option<Reg>; 4], make: fn(Reg) -> Operand, visit: &mut dyn FnMut(Operand)) {
    for (channel, reg) in list.iter().enumerate() {
        if let Some(reg) = reg {
            visit(make(*reg).with(row(1)).at(Phases::only(channel as u8)));
        }
    }
}
fn source(src: &Source, visit: &mut dyn FnMut(Operand)) {
    if let Src::Reg(reg) = src.src {
        visit(Operand::use_of(reg));
    }
}
fn map_source(src: &mut Source, map: &mut dyn FnMut(Reg, Role) -> Reg) {
    if let Src::Reg(reg) = &mut src.src {
        *reg = map(*reg, Role::Use);
    }
}
fn map_lanes(list: &mut [Lane; 4], map: &mut dyn FnMut(Reg, Role) -> Reg) {
    for lane in list {
        if let Lane::Reg(reg) = lane {
            *reg = map(*reg, Role::Use);
        }
    }
}
fn map_defs(list: &mut [Option<Reg>; 4], map: &mut dyn FnMut(Reg, Role) -> Reg) {
    for reg in list.iter_mut().flatten() {
        *reg = map(*reg, Role::Def);
    }
}

impl mach::Inst for Inst {
    fn operands(&self, visit: &mut dyn FnMut(Operand)) {
        match self {
            Inst::Entry(list) => {
                for &(reg, cell) in list {
                    visit(Operand::def_of(reg).with(Relation::Fixed(cell)));
                }
            }
            Inst::Alu(alu) | Inst::If(alu) => {
                for src in &alu.src {
                    source(src, visit);
                }
                if let Some(dst) = alu.dst {
                    visit(Operand::def_of(dst));
                }
            }
            Inst::Dot { dst, src, .. } => {
                for src in src.iter().flatten() {
                    source(src, visit);
                }
                // Where read ports do not suffice, emission makes it a chain that sums up in here.
                visit(Operand { role: Role::EarlyDef, ..Operand::def_of(*dst) });
            }
            Inst::Cube { dst, src } => {
                for &src in src {
                    visit(Operand::use_of(src));
                }
                for (channel, &dst) in dst.iter().enumerate() {
                    visit(Operand::def_of(dst).at(Phases::only(channel as u8)));
                }
            }
            Inst::Double(double) => {
                // High dwords in y or w and low ones in x or z have read ports whatever registers they are in: slots read
                // three of each at most.
                for words in &double.src {
                    for (word, phases) in words.iter().zip([Phases(0b1010), Phases(0b0101)]) {
                        if let Src::Reg(reg) = word.src {
                            visit(Operand::use_of(reg).at(phases));
                        }
                    }
                }
                for (channel, dst) in (0u8..).zip(&double.dst) {
                    if let Some(dst) = dst {
                        visit(Operand::def_of(*dst).at(Phases::only(channel)));
                    }
                }
            }
            Inst::Copy { dst, src } => {
                for &src in src {
                    visit(Operand::use_of(src));
                }
                for &dst in dst {
                    visit(Operand::def_of(dst));
                }
            }
            Inst::ArrayRead { dst, from } => {
                source(&from.index, visit);
                visit(Operand::use_of(from.array));
                visit(Operand::def_of(*dst));
            }
            Inst::ArrayWrite { to, result, value } => {
                visit(Operand::use_of(to.array));
                source(&to.index, visit);
                source(value, visit);
                visit(Operand::def_of(*result).with(Relation::Tied(0)));
            }
            Inst::ArrayNew { array } => visit(Operand::def_of(*array)),
            Inst::Vertex(fetch) => {
                visit(Operand::use_of(fetch.index));
                defs(&fetch.dst, 0, visit);
            }
            Inst::Texture(fetch) => {
                lanes(&fetch.src, 0, visit);
                for (row, src) in (2..).zip(fetch.gradients.iter().flat_map(|both| both.iter())) {
                    lanes(src, row, visit);
                }
                defs(&fetch.dst, 1, visit);
            }
            Inst::MemRead(read) => {
                if let Some(index) = read.index {
                    visit(Operand::use_of(index));
                }
                defs(&read.dst, 1, visit);
            }
            Inst::MemWrite(write) => {
                if let Some(index) = write.index {
                    // INDEX_GPR has no swizzle: its x is the address. R700 ISA 10.1, CF_ALLOC_EXPORT_WORD0.
                    visit(Operand::use_of(index).at(Phases::only(0)));
                }
                // Memory writes have a component mask, but no swizzle.
                channels(&write.src, Operand::use_of, visit);
            }
            Inst::ShareWrite(write) => lanes(&write.src, 0, visit),
            Inst::ShareRead(read) => {
                for reg in [read.bank, read.address] {
                    visit(Operand::use_of(reg).with(row(0)));
                }
                channels(&read.dst, Operand::def_of, visit);
            }
            Inst::Export(export) => lanes(&export.src, 0, visit),
            Inst::WaitAck
            | Inst::Else
            | Inst::EndIf
            | Inst::LoopStart
            | Inst::LoopEnd
            | Inst::Break
            | Inst::End => {}
        }
    }

    fn rewrite(&mut self, map: &mut dyn FnMut(Reg, Role) -> Reg) {
        match self {
            Inst::Entry(list) => {
                for (reg, _) in list {
                    *reg = map(*reg, Role::Def);
                }
            }
            Inst::Alu(alu) | Inst::If(alu) => {
                for src in &mut alu.src {
                    map_source(src, map);
                }
                if let Some(dst) = &mut alu.dst {
                    *dst = map(*dst, Role::Def);
                }
            }
            Inst::Dot { dst, src, .. } => {
                for src in src.iter_mut().flatten() {
                    map_source(src, map);
                }
                *dst = map(*dst, Role::EarlyDef);
            }
            Inst::Cube { dst, src } => {
                for src in src {
                    *src = map(*src, Role::Use);
                }
                for dst in dst {
                    *dst = map(*dst, Role::Def);
                }
            }
            Inst::Double(double) => {
                for word in double.src.iter_mut().flatten() {
                    map_source(word, map);
                }
                for dst in double.dst.iter_mut().flatten() {
                    *dst = map(*dst, Role::Def);
                }
            }
            Inst::Copy { dst, src } => {
                for src in src {
                    *src = map(*src, Role::Use);
                }
                for dst in dst {
                    *dst = map(*dst, Role::Def);
                }
            }
            Inst::ArrayRead { dst, from } => {
                map_source(&mut from.index, map);
                from.array = map(from.array, Role::Use);
                *dst = map(*dst, Role::Def);
            }
            Inst::ArrayWrite { to, result, value } => {
                to.array = map(to.array, Role::Use);
                map_source(&mut to.index, map);
                map_source(value, map);
                *result = map(*result, Role::Def);
            }
            Inst::ArrayNew { array } => *array = map(*array, Role::Def),
            Inst::Vertex(fetch) => {
                fetch.index = map(fetch.index, Role::Use);
                map_defs(&mut fetch.dst, map);
            }
            Inst::Texture(fetch) => {
                map_lanes(&mut fetch.src, map);
                for src in fetch.gradients.iter_mut().flat_map(|both| both.iter_mut()) {
                    map_lanes(src, map);
                }
                map_defs(&mut fetch.dst, map);
            }
            Inst::MemRead(read) => {
                if let Some(index) = &mut read.index {
                    *index = map(*index, Role::Use);
                }
                map_defs(&mut read.dst, map);
            }
            Inst::MemWrite(write) => {
                if let Some(index) = &mut write.index {
                    *index = map(*index, Role::Use);
                }
                for reg in write.src.iter_mut().flatten() {
                    *reg = map(*reg, Role::Use);
                }
            }
            Inst::ShareWrite(write) => map_lanes(&mut write.src, map),
            Inst::ShareRead(read) => {
                read.bank = map(read.bank, Role::Use);
                read.address = map(read.address, Role::Use);
                map_defs(&mut read.dst, map);
            }
            Inst::Export(export) => map_lanes(&mut export.src, map),
            Inst::WaitAck
            | Inst::Else
            | Inst::EndIf
            | Inst::LoopStart
            | Inst::LoopEnd
            | Inst::Break
            | Inst::End => {}
        }
    }

    fn is_copy(&self) -> bool {
        matches!(self, Inst::Copy { .. })
    }

    fn ends_block(&self) -> bool {
        matches!(self, Inst::If(_) | Inst::LoopStart | Inst::LoopEnd | Inst::Break | Inst::End)
    }

    fn access(&self) -> Option<Access> {
        match self {
            Inst::MemRead(read) => read.slot.map(Access::Load),
            Inst::MemWrite(write) => write.slot.map(Access::Store),
            _ => None,
        }
    }
}
