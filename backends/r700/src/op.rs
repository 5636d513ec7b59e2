//! What the back end asks of an ALU operation beyond its row in the table: which modifiers it takes
//! and which operation makes the same test elsewhere.

use crate::isa::ops::{TRANS, VECTOR};
use crate::isa::{AluOp, Isa, R700, flag};

/// Which slots of a group may execute an operation. R700 ISA 4.4.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Units {
    /// x, y, z, w and t.
    Any,
    /// t alone.
    Trans,
    /// x, y, z, w, not t.
    Vector,
    /// All of x, y, z, w together.
    Reduction,
    /// x and y, or z and w, together: a double.
    Pair,
    /// All of x, y, z, w together: a product of doubles.
    Quad,
}

impl Units {
    /// Slots that it takes together.
    pub const fn together(self) -> usize {
        match self {
            Units::Any | Units::Trans | Units::Vector => 1,
            Units::Pair => 2,
            Units::Reduction | Units::Quad => 4,
        }
    }
}

fn has(op: AluOp, flags: u32) -> bool {
    R700.alu_op(op).flags & flags != 0
}

/// Slots that may execute it on a member of the family.
pub fn units(isa: &'static Isa, op: AluOp) -> Units {
    let row = isa.alu_op(op);
    match (row.units & VECTOR != 0, row.units & TRANS != 0) {
        _ if row.flags & flag::REDUCTION != 0 => Units::Reduction,
        _ if row.flags & flag::PAIR_64 != 0 => Units::Pair,
        _ if row.flags & flag::QUAD_64 != 0 => Units::Quad,
        (true, true) => Units::Any,
        (false, _) => Units::Trans,
        (true, false) => Units::Vector,
    }
}

/// Number of sources.
pub fn sources(op: AluOp) -> usize {
    usize::from(R700.alu_op(op).sources)
}

/// Uses the three-source encoding: no ABS, no OMOD, no write mask. R700 ISA 4.7.2.
pub fn is_op3(op: AluOp) -> bool {
    sources(op) == 3
}

/// Updates the predicate and the execute mask.
pub fn is_pred_set(op: AluOp) -> bool {
    has(op, flag::PRED_SET)
}

/// Kills pixels.
pub fn is_kill(op: AluOp) -> bool {
    has(op, flag::KILL)
}

/// Source `index` may carry NEG. Of the float conditional moves only the tested source is a float
/// to us; of `MOV` none is, since we move bits with it.
pub fn may_negate(op: AluOp, index: usize) -> bool {
    match op {
        AluOp::CNDE | AluOp::CNDGT | AluOp::CNDGE => index == 0,
        AluOp::MOV => false,
        _ => !has(op, flag::INT_SRC),
    }
}

/// Sources may carry ABS.
pub fn may_absolute(op: AluOp) -> bool {
    !is_op3(op) && may_negate(op, 0)
}

/// The result may be clamped to 0..=1 (and scaled, if the encoding has OMOD).
pub fn may_clamp(op: AluOp) -> bool {
    !has(op, flag::INT_DST) && !matches!(op, AluOp::CNDE | AluOp::CNDGT | AluOp::CNDGE | AluOp::MOV)
}

/// The same test on PRED_SET: `SETGT_DX10` becomes `PRED_SETGT`.
pub fn as_pred_set(op: AluOp) -> Option<AluOp> {
    Some(match op {
        AluOp::SETE_DX10 => AluOp::PRED_SETE,
        AluOp::SETGT_DX10 => AluOp::PRED_SETGT,
        AluOp::SETGE_DX10 => AluOp::PRED_SETGE,
        AluOp::SETNE_DX10 => AluOp::PRED_SETNE,
        AluOp::SETE_INT => AluOp::PRED_SETE_INT,
        AluOp::SETGT_INT => AluOp::PRED_SETGT_INT,
        AluOp::SETGE_INT => AluOp::PRED_SETGE_INT,
        AluOp::SETNE_INT => AluOp::PRED_SETNE_INT,
        AluOp::SETGT_UINT => AluOp::PRED_SETGT_UINT,
        AluOp::SETGE_UINT => AluOp::PRED_SETGE_UINT,
        _ => return None,
    })
}

/// The same test on KILL.
pub fn as_kill(op: AluOp) -> Option<AluOp> {
    Some(match op {
        AluOp::SETE_DX10 => AluOp::KILLE,
        AluOp::SETGT_DX10 => AluOp::KILLGT,
        AluOp::SETGE_DX10 => AluOp::KILLGE,
        AluOp::SETNE_DX10 => AluOp::KILLNE,
        AluOp::SETE_INT => AluOp::KILLE_INT,
        AluOp::SETGT_INT => AluOp::KILLGT_INT,
        AluOp::SETGE_INT => AluOp::KILLGE_INT,
        AluOp::SETNE_INT => AluOp::KILLNE_INT,
        AluOp::SETGT_UINT => AluOp::KILLGT_UINT,
        AluOp::SETGE_UINT => AluOp::KILLGE_UINT,
        _ => return None,
    })
}
