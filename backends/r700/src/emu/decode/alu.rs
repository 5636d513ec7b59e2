//! ALU instructions: register guide 5, ALU_WORD; guide 4 for R6xx.

use super::{bit, bits};
use crate::api::Family;
use crate::emu::ops::{AluOp, Unit};
use crate::emu::rule::{Rule, Trap};

/// A source operand of an ALU instruction.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// SRC_SEL.
    pub sel: u32,
    /// Indexed.
    pub rel: bool,
    /// Channel.
    pub chan: u32,
    /// Negated.
    pub neg: bool,
    /// Without its sign.
    pub abs: bool,
}

/// An ALU instruction.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct AluInst {
    /// What it does.
    pub op: AluOp,
    /// Where the chip executes it.
    pub unit: Unit,
    /// Operands; unused ones select something all the same.
    pub src: [Source; 3],
    /// Operand fields in the words.
    pub fields: usize,
    /// Destination register.
    pub dst: u32,
    /// Indexed destination.
    pub dst_rel: bool,
    /// Destination channel.
    pub chan: u32,
    /// Writes its register.
    pub write: bool,
    /// 0 off, 1 *2, 2 *4, 3 /2.
    pub omod: u32,
    /// To 0..1.
    pub clamp: bool,
    /// Which index.
    pub index_mode: u32,
    /// 0 off, 2 where the predicate is 0, 3 where it is 1.
    pub pred_sel: u32,
    /// Last of its group.
    pub last: bool,
    /// BANK_SWIZZLE.
    pub bank_swizzle: u32,
    /// Changes the predicate of the clause.
    pub update_pred: bool,
    /// Changes the active mask.
    pub update_exec: bool,
}

/// Decodes an ALU instruction.
pub fn alu(w0: u32, w1: u32, offset: u32, family: Family) -> Result<AluInst, Trap> {
    let op3 = bits(w1, 17, 15) != 0;
    // Guide 4, ALU_WORD1_OP2: FOG_MERGE, then OMOD and ALU_INST one bit higher than on R700.
    let shift = u32::from(family == Family::R600);
    let code = if op3 { bits(w1, 17, 13) } else { bits(w1, 17, 7 + shift) };
    if !op3 && family == Family::R600 {
        if bit(w1, 5) {
            let detail = "FOG_MERGE loses precision that nothing describes";
            return Err(Trap::new(Rule::Unsupported, offset, detail));
        }
        if code == 96 {
            let detail = "nothing describes the index that MOVA_GPR_INT loads";
            return Err(Trap::new(Rule::Unsupported, offset, detail));
        }
    }
    let found = if op3 { AluOp::op3(code) } else { AluOp::op2(code) };
    let Some(op) = found else {
        let kind = if op3 { "OP3" } else { "OP2" };
        return Err(Trap::new(Rule::Opcode, offset, format!("{kind} instruction {code}")));
    };
    let unit = match op.unit() {
        Unit::Pair | Unit::Quad if family == Family::R600 => {
            let detail = format!("{} on R6xx", op.name());
            return Err(Trap::new(Rule::Opcode, offset, detail));
        }
        Unit::Any if family == Family::R600 && op.is_shift() => Unit::Trans,
        unit => unit,
    };
    let source = |word, low, abs| Source {
        sel: bits(word, low + 8, low),
        rel: bit(word, low + 9),
        chan: bits(word, low + 11, low + 10),
        neg: bit(word, low + 12),
        abs,
    };
    let mut src =
        [source(w0, 0, !op3 && bit(w1, 0)), source(w0, 13, !op3 && bit(w1, 1)), Source::default()];
    if op3 {
        src[2] = source(w1, 0, false);
    }
    let index_mode = bits(w0, 28, 26);
    if index_mode > 4 {
        let detail = format!("INDEX_MODE {index_mode}");
        return Err(Trap::new(Rule::NoFields, offset, detail));
    }
    let pred_sel = bits(w0, 30, 29);
    if pred_sel == 1 {
        return Err(Trap::new(Rule::NoFields, offset, "PRED_SEL 1"));
    }
    Ok(AluInst {
        op,
        unit,
        src,
        fields: if op3 { 3 } else { 2 },
        dst: bits(w1, 27, 21),
        dst_rel: bit(w1, 28),
        chan: bits(w1, 30, 29),
        write: op3 || bit(w1, 4),
        omod: if op3 { 0 } else { bits(w1, 6 + shift, 5 + shift) },
        clamp: bit(w1, 31),
        index_mode,
        pred_sel,
        last: bit(w0, 31),
        bank_swizzle: bits(w1, 20, 18),
        update_pred: !op3 && bit(w1, 3),
        update_exec: !op3 && bit(w1, 2),
    })
}
