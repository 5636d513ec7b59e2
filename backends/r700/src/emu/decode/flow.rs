//! Control-flow instructions: register guide 5, CF_WORD, CF_ALU_WORD, CF_ALLOC_EXPORT_WORD; guide 4 for R6xx.

use super::{bit, bits, reserved};
use crate::api::Family;
use crate::emu::rule::{Rule, Trap};

/// Which lanes pass a test.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The active ones.
    Active,
    /// None.
    Never,
    /// The active ones when the constant is set.
    Bool,
    /// The active ones when the constant is clear.
    NotBool,
}

/// Where a control-flow instruction goes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Goes {
    /// To the next one.
    On,
    /// There, or to ADDR.
    To,
    /// Into a program or out of it.
    Away,
}

/// Fields of CF_WORD1 that an instruction reads.
const COUNT: u8 = 1;
const CALL_COUNT: u8 = 2;
const CONST: u8 = 4;
const POP: u8 = 8;

macro_rules! flows {
    ($( $code:literal $variant:ident $goes:ident [$($field:ident)*]; )+) => {
        /// What a plain control-flow instruction does.
        #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(missing_docs)]
        pub enum Flow { $($variant,)+ }

        impl Flow {
            /// By CF_INST.
            const fn of(code: u32) -> Option<Flow> {
                match code { $($code => Some(Flow::$variant),)+ _ => None }
            }
            /// Where it goes.
            pub const fn goes(self) -> Goes {
                match self { $(Flow::$variant => Goes::$goes,)+ }
            }
            const fn reads(self, field: u8) -> bool {
                (match self { $(Flow::$variant => 0 $(| $field)*,)+ }) & field != 0
            }
        }
    };
}

flows! {
    0 Nop On [];
    1 Tex On [COUNT];
    2 Vtx On [COUNT];
    3 VtxTc On [COUNT];
    4 LoopStart To [CONST POP];
    5 LoopEnd To [CONST];
    6 LoopStartDx10 To [CONST POP];
    7 LoopStartNoAl To [CONST POP];
    8 LoopContinue To [];
    9 LoopBreak To [];
    10 Jump To [POP];
    11 Push To [POP];
    12 PushElse To [POP];
    13 Else To [POP];
    14 Pop On [POP];
    15 PopJump To [POP];
    16 PopPush To [POP];
    17 PopPushElse To [POP];
    // A call's POP_COUNT has a rule of its own.
    18 Call To [CALL_COUNT POP];
    19 CallFs Away [CALL_COUNT POP];
    20 Return Away [];
    21 EmitVertex On [];
    22 EmitCutVertex On [];
    23 CutVertex On [];
    24 Kill On [];
    26 WaitAck On [];
}

/// A plain control-flow instruction.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct FlowInst {
    /// What it does.
    pub op: Flow,
    /// Quadwords from the program's start.
    pub addr: u32,
    /// Entries to pop.
    pub pop: u32,
    /// Which boolean or loop constant.
    pub constant: u32,
    /// Which lanes pass.
    pub condition: Condition,
    /// Clauses: instructions.
    pub count: u32,
    /// Calls: added to the depth.
    pub call_count: u32,
}

/// How an ALU clause ends or begins.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum AluKind {
    Plain,
    PushBefore,
    PopAfter,
    Pop2After,
    Continue,
    Break,
    ElseAfter,
}

/// One of the two sets of locked constants.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Kcache {
    /// Buffer.
    pub bank: u32,
    /// 0 nothing, 1 one line, 2 two lines, 3 two lines from the loop index on.
    pub mode: u32,
    /// First line of 16 vectors.
    pub line: u32,
}

/// An ALU clause.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct AluClause {
    /// What happens around it.
    pub kind: AluKind,
    /// Quadwords from the program's start.
    pub addr: u32,
    /// Slots with their literals.
    pub count: u32,
    /// R6xx: USES_WATERFALL.
    pub waterfall: bool,
    /// ALT_CONST: constants of the other kind of program.
    pub alternate: bool,
    /// Locked constants.
    pub kcache: [Kcache; 2],
}

/// What an export instruction writes to.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ExportOp {
    Stream(u32),
    Scratch,
    Reduction,
    Ring,
    Export,
    ExportDone,
    MemExport,
}

/// An export or memory write.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ExportInst {
    /// What it writes to.
    pub op: ExportOp,
    /// EXPORT: 0 pixel, 1 position, 2 parameter. Memory: 0 write, 1 indexed, 2 acknowledged, 3 both.
    pub kind: u32,
    /// ARRAY_BASE.
    pub base: u32,
    /// First data register.
    pub gpr: u32,
    /// Relative to the loop index.
    pub rel: bool,
    /// Register with the address.
    pub index_gpr: u32,
    /// Dwords per element less one.
    pub elem_size: u32,
    /// EXPORT: selects.
    pub swizzle: [u32; 4],
    /// Memory: ARRAY_SIZE.
    pub array_size: u32,
    /// Memory: component mask.
    pub mask: u32,
    /// Registers.
    pub burst: u32,
}

/// What a control-flow instruction holds beside its flags.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum CfBody {
    Flow(FlowInst),
    Alu(AluClause),
    Export(ExportInst),
}

/// A control-flow instruction.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Cf {
    /// What it does.
    pub body: CfBody,
    /// Ends the program.
    pub end: bool,
    /// Acts on valid pixels alone.
    pub valid_only: bool,
    /// Acts on whole quads.
    pub whole_quad: bool,
    /// Waits for all before it.
    pub barrier: bool,
}

/// Decodes a control-flow instruction at a byte offset.
pub fn cf(w0: u32, w1: u32, offset: u32, family: Family) -> Result<Cf, Trap> {
    let whole_quad = bit(w1, 30);
    let barrier = bit(w1, 31);
    if bit(w1, 29) {
        let kind = match bits(w1, 29, 26) {
            8 => AluKind::Plain,
            9 => AluKind::PushBefore,
            10 => AluKind::PopAfter,
            11 => AluKind::Pop2After,
            13 => AluKind::Continue,
            14 => AluKind::Break,
            15 => AluKind::ElseAfter,
            other => {
                let detail = format!("ALU control-flow instruction {other}");
                return Err(Trap::new(Rule::Opcode, offset, detail));
            }
        };
        let kcache = [
            Kcache { bank: bits(w0, 25, 22), mode: bits(w0, 31, 30), line: bits(w1, 9, 2) },
            Kcache { bank: bits(w0, 29, 26), mode: bits(w1, 1, 0), line: bits(w1, 17, 10) },
        ];
        for set in &kcache {
            if set.mode == 0 && (set.bank, set.line) != (0, 0) {
                let detail = "KCACHE_BANK and KCACHE_ADDR of a set that locks nothing";
                return Err(Trap::new(Rule::Reserved, offset, detail));
            }
        }
        let clause = AluClause {
            kind,
            addr: bits(w0, 21, 0),
            count: bits(w1, 24, 18) + 1,
            waterfall: bit(w1, 25) && family == Family::R600,
            alternate: bit(w1, 25) && family == Family::R700,
            kcache,
        };
        let body = CfBody::Alu(clause);
        return Ok(Cf { body, end: false, valid_only: false, whole_quad, barrier });
    }
    let end = bit(w1, 21);
    let valid_only = bit(w1, 22);
    if valid_only && whole_quad {
        return Err(Trap::new(Rule::PixelModes, offset, "both are set"));
    }
    let number = bits(w1, 29, 23);
    let body = match number {
        // Guide 4: acknowledgements and scatter writes came with R700.
        26 | 58 if family == Family::R600 => {
            let detail = format!("control-flow instruction {number} on R6xx");
            return Err(Trap::new(Rule::Opcode, offset, detail));
        }
        0..=26 => {
            let Some(op) = Flow::of(number) else {
                let detail = format!("control-flow instruction {number}");
                return Err(Trap::new(Rule::Opcode, offset, detail));
            };
            let high = if family == Family::R600 { 19 } else { 20 };
            reserved(w1, 20, high, offset, "CF_WORD1")?;
            let condition = match bits(w1, 9, 8) {
                0 => Condition::Active,
                1 => Condition::Never,
                2 => Condition::Bool,
                _ => Condition::NotBool,
            };
            unused_fields(op, condition, w1, offset)?;
            CfBody::Flow(FlowInst {
                op,
                addr: w0,
                pop: bits(w1, 2, 0),
                constant: bits(w1, 7, 3),
                condition,
                count: (bits(w1, 12, 10) | bits(w1, 19, 19) << 3) + 1,
                call_count: bits(w1, 18, 13),
            })
        }
        32..=40 | 58 => {
            let op = match number {
                36 => ExportOp::Scratch,
                37 => ExportOp::Reduction,
                38 => ExportOp::Ring,
                39 => ExportOp::Export,
                40 => ExportOp::ExportDone,
                58 => ExportOp::MemExport,
                stream => ExportOp::Stream(stream - 32),
            };
            let swizzled = matches!(op, ExportOp::Export | ExportOp::ExportDone);
            let mut swizzle = [0; 4];
            let (mut array_size, mut mask) = (0, 15);
            if swizzled {
                reserved(w1, 16, 12, offset, "CF_ALLOC_EXPORT_WORD1_SWIZ")?;
                swizzle = [bits(w1, 2, 0), bits(w1, 5, 3), bits(w1, 8, 6), bits(w1, 11, 9)];
                if swizzle.contains(&6) {
                    return Err(Trap::new(Rule::Swizzle, offset, "select 6"));
                }
            } else {
                reserved(w1, 16, 16, offset, "CF_ALLOC_EXPORT_WORD1_BUF")?;
                array_size = bits(w1, 11, 0);
                mask = bits(w1, 15, 12);
            }
            CfBody::Export(ExportInst {
                op,
                kind: bits(w0, 14, 13),
                base: bits(w0, 12, 0),
                gpr: bits(w0, 21, 15),
                rel: bit(w0, 22),
                index_gpr: bits(w0, 29, 23),
                elem_size: bits(w0, 31, 30),
                swizzle,
                array_size,
                mask,
                burst: bits(w1, 20, 17) + 1,
            })
        }
        other => {
            let detail = format!("control-flow instruction {other}");
            return Err(Trap::new(Rule::Opcode, offset, detail));
        }
    };
    Ok(Cf { body, end, valid_only, whole_quad, barrier })
}

/// Fields that an instruction does not use are 0.
fn unused_fields(op: Flow, condition: Condition, w1: u32, offset: u32) -> Result<(), Trap> {
    let tested = matches!(condition, Condition::Bool | Condition::NotBool);
    if !op.reads(COUNT) {
        reserved(w1, 12, 10, offset, "CF_WORD1 (COUNT, unused)")?;
        reserved(w1, 19, 19, offset, "CF_WORD1 (COUNT_3, unused)")?;
    }
    if !op.reads(CALL_COUNT) {
        reserved(w1, 18, 13, offset, "CF_WORD1 (CALL_COUNT, unused)")?;
    }
    if !op.reads(CONST) && !tested {
        reserved(w1, 7, 3, offset, "CF_WORD1 (CF_CONST, unused)")?;
    }
    if !op.reads(POP) {
        reserved(w1, 2, 0, offset, "CF_WORD1 (POP_COUNT, unused)")?;
    }
    Ok(())
}
