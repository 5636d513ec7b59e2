//! Cycles of each unit for one thread of a warp, and a bound that no schedule or register allocation can pass.
//!
//! The rates are those that Arm gives for the G57 (isa/valhall_rogue.md 5): a core starts 32 lanes a cycle in each of the
//! multiply and convert units, 8 in the special-function unit; 16 half-components of varyings, 4 texels and one access to
//! memory. 64-bit arithmetic takes a unit twice.

use crate::isa::{self, Opcode, Operand, Unit, f};

/// Cycles of each unit.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Cycles {
    pub fma: f64,
    pub cvt: f64,
    pub sfu: f64,
    pub v: f64,
    pub ls: f64,
    pub t: f64,
}

impl Cycles {
    /// The cycles of each unit, in the order of [`Cycles::NAMES`].
    pub const fn units(&self) -> [f64; 6] {
        [self.fma, self.cvt, self.sfu, self.v, self.ls, self.t]
    }

    const NAMES: [&str; 6] = ["fma", "cvt", "sfu", "v", "ls", "t"];

    /// The busiest unit and its cycles.
    pub fn bound(&self) -> (f64, &'static str) {
        let units = self.units().into_iter().zip(Cycles::NAMES);
        units.reduce(|best, unit| if unit.0 > best.0 { unit } else { best }).unwrap_or((0.0, "cvt"))
    }

    /// The cycles of two pieces together.
    #[must_use]
    pub fn plus(&self, other: &Cycles) -> Cycles {
        Cycles {
            fma: self.fma + other.fma,
            cvt: self.cvt + other.cvt,
            sfu: self.sfu + other.sfu,
            v: self.v + other.v,
            ls: self.ls + other.ls,
            t: self.t + other.t,
        }
    }

    fn add(&mut self, inst: &isa::Inst) {
        let opcode = Opcode::of(inst.op());
        let is_wide = |kind: Option<Operand>| kind.is_some_and(Operand::is_pair);
        let wide = is_wide(opcode.dst()) || opcode.sources().iter().any(|s| s.kind.is_pair());
        let passes = if wide { 2.0 } else { 1.0 };
        match opcode.unit() {
            Unit::Fma => self.fma += passes / 32.0,
            Unit::Cvt => self.cvt += passes / 32.0,
            Unit::Sfu => self.sfu += passes / 8.0,
            Unit::V => self.v += halves(inst) / 16.0,
            Unit::Ls => self.ls += 1.0,
            Unit::T => self.t += 0.25,
            Unit::Vt => {
                self.v += halves(inst) / 16.0;
                self.t += 0.25;
            }
            Unit::None => {}
        }
    }
}

/// Half-components of varyings that a message interpolates.
pub fn halves(inst: &isa::Inst) -> f64 {
    let opcode = Opcode::of(inst.op());
    if opcode.unit() == Unit::Vt {
        // Two coordinates of 32 bits; a cube has three.
        return if inst.get(f::DIMENSION) >= 2 { 6.0 } else { 4.0 };
    }
    let components = f64::from(inst.get(f::VECSIZE) + 1);
    let narrow = matches!(inst.get(f::REGFMT), 3 | 5 | 7)
        || matches!(opcode, Opcode::LdVarBufF16 | Opcode::LdVarBufImmF16);
    components * if narrow { 1.0 } else { 2.0 }
}

/// Cycles of a piece of code, every instruction once.
pub fn cycles(insts: &[isa::Inst]) -> Cycles {
    let mut cycles = Cycles::default();
    for inst in insts {
        cycles.add(inst);
    }
    cycles
}

/// Cycles that any program with these operations needs in its busiest unit: what moves values about, waits or brings
/// constants is not counted, but for the moves that [`crate::warp::Warp::brought`] counts.
pub fn lower_bound(insts: &[isa::Inst], brought: u32) -> f64 {
    let mut cycles = Cycles { cvt: f64::from(brought) / 32.0, ..Cycles::default() };
    for inst in insts {
        if !crate::warp::is_idle(inst) {
            cycles.add(inst);
        }
    }
    cycles.bound().0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_the_documents() {
        let usual = |opcode: Opcode| isa::Inst::usual(opcode.op());
        let code = [
            usual(Opcode::FmaF32),
            usual(Opcode::IaddU64),
            usual(Opcode::FrcpF32),
            usual(Opcode::LoadI128),
            usual(Opcode::TexSingle),
            usual(Opcode::LdVarBufImmF32).with(f::VECSIZE, 1),
            usual(Opcode::Blend),
        ];
        let expected =
            Cycles { fma: 1.0 / 32.0, cvt: 2.0 / 32.0, sfu: 1.0 / 8.0, v: 0.25, ls: 1.0, t: 0.25 };
        assert_eq!(cycles(&code), expected);
        assert_eq!(expected.bound(), (1.0, "ls"));
    }

    #[test]
    fn moves_and_constants_bound_nothing() {
        let constant = isa::Inst::usual(Opcode::IaddImmI32.op()).with(f::SRC0, 0xc0);
        let code =
            [constant, isa::Inst::usual(Opcode::MovI32.op()), isa::Inst::usual(Opcode::Nop.op())];
        assert_eq!(lower_bound(&code, 0), 0.0);
        assert_eq!(cycles(&code).cvt, 3.0 / 32.0);
    }
}
