//! Read ports: which register reaches which operand in which of three cycles. R700 ISA 4.7.4 to 4.7.9.

use super::decode::{AluInst, Source};
use super::group::{Group, sel};
use super::rule::{Rule, Trap};

/// Cycle of each operand under each vector bank swizzle: 012 021 120 102 201 210.
const VECTOR: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 2, 0], [1, 0, 2], [2, 0, 1], [2, 1, 0]];
/// Cycle of each operand under each trans bank swizzle: 210 122 212 221.
const TRANS: [[usize; 3]; 4] = [[2, 1, 0], [1, 2, 2], [2, 1, 2], [2, 2, 1]];

/// What holds a register port. An indexed register is never known to be equal to another.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Port {
    Free,
    Register(u32),
    Indexed,
}

#[derive(Clone)]
struct Ports {
    registers: [[Port; 4]; 3],
    constants: Vec<(u32, u32, bool)>,
}

/// Checks that every operand of a group can be read.
pub fn check(group: &Group) -> Result<(), Trap> {
    let mut ports = Ports { registers: [[Port::Free; 4]; 3], constants: Vec::with_capacity(2) };
    for (unit, inst) in group.slots.iter().enumerate() {
        let Some(inst) = inst else { continue };
        if unit < 4 {
            ports.vector(inst, group.offset)?;
        } else {
            ports.trans(inst, group.offset)?;
        }
    }
    Ok(())
}

impl Ports {
    fn vector(&mut self, inst: &AluInst, offset: u32) -> Result<(), Trap> {
        let Some(cycles) = VECTOR.get(inst.bank_swizzle as usize) else {
            let detail = format!("vector bank swizzle {}", inst.bank_swizzle);
            return Err(Trap::new(Rule::BankSwizzle, offset, detail));
        };
        let used = &inst.src[..inst.op.sources()];
        for (n, source) in used.iter().enumerate() {
            if source.sel < 128 {
                let first = used[0];
                let merged = n == 1
                    && first.sel == source.sel
                    && first.chan == source.chan
                    && first.rel == source.rel;
                if !merged {
                    self.register(source, cycles[n], offset)?;
                }
            } else {
                self.constant(source, offset)?;
            }
        }
        Ok(())
    }

    fn trans(&mut self, inst: &AluInst, offset: u32) -> Result<(), Trap> {
        let Some(cycles) = TRANS.get(inst.bank_swizzle as usize) else {
            let detail = format!("trans bank swizzle {}", inst.bank_swizzle);
            return Err(Trap::new(Rule::BankSwizzle, offset, detail));
        };
        let used = &inst.src[..inst.op.sources()];
        let previous = |s: &Source| s.sel == sel::PV || s.sel == sel::PS;
        let constants = used.iter().filter(|s| s.sel >= 128 && !previous(s)).count();
        if constants > 2 {
            let detail = format!("{} reads {constants}", inst.op.name());
            return Err(Trap::new(Rule::TransConstants, offset, detail));
        }
        for (n, source) in used.iter().enumerate() {
            if (source.sel < 128 || previous(source)) && cycles[n] < constants {
                let detail = format!(
                    "operand {n} of {} on cycle {} with {constants} constants",
                    inst.op.name(),
                    cycles[n]
                );
                return Err(Trap::new(Rule::TransCycle, offset, detail));
            }
            if source.sel < 128 {
                self.register(source, cycles[n], offset)?;
            } else {
                self.constant(source, offset)?;
            }
        }
        Ok(())
    }

    fn register(&mut self, source: &Source, cycle: usize, offset: u32) -> Result<(), Trap> {
        let port = &mut self.registers[cycle][source.chan as usize];
        let wanted = if source.rel { Port::Indexed } else { Port::Register(source.sel) };
        if *port == Port::Free {
            *port = wanted;
            return Ok(());
        }
        if *port == wanted && wanted != Port::Indexed {
            return Ok(());
        }
        let name = ["x", "y", "z", "w"][source.chan as usize];
        let detail = format!("R{}.{name} on cycle {cycle}", source.sel);
        Err(Trap::new(Rule::ReadPort, offset, detail))
    }

    fn constant(&mut self, source: &Source, offset: u32) -> Result<(), Trap> {
        let banked = (sel::KCACHE0..sel::KCACHE_END).contains(&source.sel);
        if !banked && source.sel < sel::CFILE {
            return Ok(());
        }
        let wanted = (source.sel, source.chan / 2, source.rel);
        if self.constants.contains(&wanted) {
            return Ok(());
        }
        if self.constants.len() == 2 {
            let detail = format!("select {} is the third pair", source.sel);
            return Err(Trap::new(Rule::ConstantPort, offset, detail));
        }
        self.constants.push(wanted);
        Ok(())
    }
}
