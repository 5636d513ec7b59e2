//! Words become instructions, from scratch, with every reserved field checked. Register guide chapter 5,
//! R700 ISA chapter 10.

use super::ops::{AluOp, Unit};
use super::rule::{Rule, Trap};
use crate::api::Family;

/// Bits `hi:lo` of a word.
pub const fn bits(word: u32, hi: u32, lo: u32) -> u32 {
    (word >> lo) & (u32::MAX >> (31 - (hi - lo)))
}

const fn bit(word: u32, at: u32) -> bool {
    word >> at & 1 == 1
}

fn reserved(word: u32, hi: u32, lo: u32, offset: u32, what: &str) -> Result<(), Trap> {
    match bits(word, hi, lo) {
        0 => Ok(()),
        found => {
            let detail = format!("bits {hi}:{lo} of {what} are {found:#x}");
            Err(Trap::new(Rule::Reserved, offset, detail))
        }
    }
}

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

/// What a plain control-flow instruction does.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Flow {
    Nop,
    Tex,
    Vtx,
    VtxTc,
    LoopStart,
    LoopEnd,
    LoopStartDx10,
    LoopStartNoAl,
    LoopContinue,
    LoopBreak,
    Jump,
    Push,
    PushElse,
    Else,
    Pop,
    PopJump,
    PopPush,
    PopPushElse,
    Call,
    CallFs,
    Return,
    EmitVertex,
    EmitCutVertex,
    CutVertex,
    Kill,
    WaitAck,
}

const FLOWS: [Option<Flow>; 27] = [
    Some(Flow::Nop),
    Some(Flow::Tex),
    Some(Flow::Vtx),
    Some(Flow::VtxTc),
    Some(Flow::LoopStart),
    Some(Flow::LoopEnd),
    Some(Flow::LoopStartDx10),
    Some(Flow::LoopStartNoAl),
    Some(Flow::LoopContinue),
    Some(Flow::LoopBreak),
    Some(Flow::Jump),
    Some(Flow::Push),
    Some(Flow::PushElse),
    Some(Flow::Else),
    Some(Flow::Pop),
    Some(Flow::PopJump),
    Some(Flow::PopPush),
    Some(Flow::PopPushElse),
    Some(Flow::Call),
    Some(Flow::CallFs),
    Some(Flow::Return),
    Some(Flow::EmitVertex),
    Some(Flow::EmitCutVertex),
    Some(Flow::CutVertex),
    Some(Flow::Kill),
    None,
    Some(Flow::WaitAck),
];

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
            Kcache {
                bank: bits(w0, 25, 22),
                mode: bits(w0, 31, 30),
                line: bits(w1, 9, 2),
            },
            Kcache {
                bank: bits(w0, 29, 26),
                mode: bits(w1, 1, 0),
                line: bits(w1, 17, 10),
            },
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
        return Ok(Cf {
            body,
            end: false,
            valid_only: false,
            whole_quad,
            barrier,
        });
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
            let Some(op) = FLOWS[number as usize] else {
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
                swizzle = [
                    bits(w1, 2, 0),
                    bits(w1, 5, 3),
                    bits(w1, 8, 6),
                    bits(w1, 11, 9),
                ];
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
    Ok(Cf {
        body,
        end,
        valid_only,
        whole_quad,
        barrier,
    })
}

/// Fields that an instruction does not use are 0.
fn unused_fields(op: Flow, condition: Condition, w1: u32, offset: u32) -> Result<(), Trap> {
    let clause = matches!(op, Flow::Tex | Flow::Vtx | Flow::VtxTc);
    let calls = matches!(op, Flow::Call | Flow::CallFs);
    let starts = matches!(
        op,
        Flow::LoopStart | Flow::LoopStartDx10 | Flow::LoopStartNoAl
    );
    let reads_constant =
        starts || op == Flow::LoopEnd || matches!(condition, Condition::Bool | Condition::NotBool);
    // A call's POP_COUNT has a rule of its own.
    let pops = starts
        || calls
        || matches!(
            op,
            Flow::Jump
                | Flow::Push
                | Flow::PushElse
                | Flow::Else
                | Flow::Pop
                | Flow::PopJump
                | Flow::PopPush
                | Flow::PopPushElse
        );
    if !clause {
        reserved(w1, 12, 10, offset, "CF_WORD1 (COUNT, unused)")?;
        reserved(w1, 19, 19, offset, "CF_WORD1 (COUNT_3, unused)")?;
    }
    if !calls {
        reserved(w1, 18, 13, offset, "CF_WORD1 (CALL_COUNT, unused)")?;
    }
    if !reads_constant {
        reserved(w1, 7, 3, offset, "CF_WORD1 (CF_CONST, unused)")?;
    }
    if !pops {
        reserved(w1, 2, 0, offset, "CF_WORD1 (POP_COUNT, unused)")?;
    }
    Ok(())
}

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
    let code = if op3 {
        bits(w1, 17, 13)
    } else {
        bits(w1, 17, 7 + shift)
    };
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
    let found = if op3 {
        AluOp::op3(code)
    } else {
        AluOp::op2(code)
    };
    let Some(op) = found else {
        let kind = if op3 { "OP3" } else { "OP2" };
        return Err(Trap::new(
            Rule::Opcode,
            offset,
            format!("{kind} instruction {code}"),
        ));
    };
    let unit = match op.unit() {
        Unit::Pair | Unit::Quad if family == Family::R600 => {
            let detail = format!("{} on R6xx", op.name());
            return Err(Trap::new(Rule::Opcode, offset, detail));
        }
        Unit::Any if family == Family::R600 && op.is_shift() => Unit::Trans,
        unit => unit,
    };
    let mut src = [Source::default(); 3];
    src[0] = Source {
        sel: bits(w0, 8, 0),
        rel: bit(w0, 9),
        chan: bits(w0, 11, 10),
        neg: bit(w0, 12),
        abs: !op3 && bit(w1, 0),
    };
    src[1] = Source {
        sel: bits(w0, 21, 13),
        rel: bit(w0, 22),
        chan: bits(w0, 24, 23),
        neg: bit(w0, 25),
        abs: !op3 && bit(w1, 1),
    };
    if op3 {
        src[2] = Source {
            sel: bits(w1, 8, 0),
            rel: bit(w1, 9),
            chan: bits(w1, 11, 10),
            neg: bit(w1, 12),
            abs: false,
        };
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
        omod: if op3 {
            0
        } else {
            bits(w1, 6 + shift, 5 + shift)
        },
        clamp: bit(w1, 31),
        index_mode,
        pred_sel,
        last: bit(w0, 31),
        bank_swizzle: bits(w1, 20, 18),
        update_pred: !op3 && bit(w1, 3),
        update_exec: !op3 && bit(w1, 2),
    })
}

/// A vertex fetch.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct VertexFetch {
    /// 0 vertex, 1 instance, 2 no index offset.
    pub kind: u32,
    /// Resource.
    pub buffer: u32,
    /// Address register and its channel.
    pub src: (u32, u32),
    /// Relative to the loop index.
    pub src_rel: bool,
    /// Bytes that a mega-fetch brings.
    pub mega_bytes: u32,
    /// Destination.
    pub dst: u32,
    /// Relative to the loop index.
    pub dst_rel: bool,
    /// Selects.
    pub swizzle: [u32; 4],
    /// SEMANTIC_ID, whose place in the table names the destination.
    pub semantic: Option<u32>,
    /// ALT_CONST.
    pub alternate: bool,
    /// Format and signs come from the resource.
    pub use_constant: bool,
    /// DATA_FORMAT.
    pub format: u32,
    /// 0 norm, 1 int, 2 scaled.
    pub number: u32,
    /// Signed.
    pub signed: bool,
    /// SRF_MODE_ALL.
    pub srf: bool,
    /// Bytes.
    pub offset: u32,
    /// ENDIAN_SWAP.
    pub endian: u32,
    /// Stride 0.
    pub no_stride: bool,
    /// Mega-fetch.
    pub mega: bool,
}

/// A texture instruction.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TextureFetch {
    /// TEX_INST.
    pub op: u32,
    /// ALT_CONST.
    pub alternate: bool,
    /// Resource.
    pub resource: u32,
    /// Sampler.
    pub sampler: u32,
    /// Coordinates.
    pub src: u32,
    /// Relative to the loop index.
    pub src_rel: bool,
    /// Selects of the source: 0..=3, 4 zero, 5 one.
    pub src_swizzle: [u32; 4],
    /// Destination.
    pub dst: u32,
    /// Relative to the loop index.
    pub dst_rel: bool,
    /// Selects of the destination.
    pub swizzle: [u32; 4],
    /// In sixteenths.
    pub lod_bias: i32,
    /// By coordinate.
    pub normalized: [bool; 4],
    /// In half texels.
    pub offset: [i32; 3],
}

/// A memory read.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct MemoryRead {
    /// 0 scratch, 1 reduction, 2 scatter.
    pub op: u32,
    /// Dwords per element less one.
    pub elem_size: u32,
    /// Past the cache.
    pub uncached: bool,
    /// Adds the register.
    pub indexed: bool,
    /// Address register and channel.
    pub src: (u32, u32),
    /// Relative to the loop index.
    pub src_rel: bool,
    /// Reads.
    pub burst: u32,
    /// Destination.
    pub dst: u32,
    /// Relative to the loop index.
    pub dst_rel: bool,
    /// Selects.
    pub swizzle: [u32; 4],
    /// DATA_FORMAT.
    pub format: u32,
    /// NUM_FORMAT_ALL.
    pub number: u32,
    /// FORMAT_COMP_ALL.
    pub signed: bool,
    /// ARRAY_BASE.
    pub base: u32,
    /// ENDIAN_SWAP.
    pub endian: u32,
    /// MEGA_FETCH.
    pub mega: bool,
    /// ARRAY_SIZE.
    pub array_size: u32,
}

/// A write to the local data share.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ShareWrite {
    /// Data.
    pub src: u32,
    /// 0 none, 1 loop.
    pub rel: u32,
    /// Selects; 7 masks.
    pub swizzle: [u32; 4],
    /// Dwords within the thread's stride.
    pub index: u32,
    /// Dwords of a thread.
    pub stride: u32,
    /// Writes.
    pub burst: u32,
    /// SIMD_WAVE_REL: threads count from the group's first, else from the wavefront's.
    pub group: bool,
}

/// A read of the local data share.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ShareRead {
    /// Address register.
    pub src: u32,
    /// 0 none, 1 loop.
    pub rel: u32,
    /// Selects of bank and offset.
    pub swizzle: [u32; 2],
    /// Dwords added to the offset.
    pub offset: u32,
    /// Destination.
    pub dst: u32,
    /// 0 none, 1 loop.
    pub dst_rel: u32,
    /// Channels written.
    pub mask: u32,
    /// The first thread's address for all.
    pub broadcast: bool,
    /// Four passes.
    pub waterfall: bool,
    /// MUX_CNTL.
    pub mux: u32,
    /// Reads.
    pub burst: u32,
}

/// An instruction of a fetch clause.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Fetch {
    Vertex(VertexFetch),
    Texture(TextureFetch),
    Memory(MemoryRead),
    ShareWrite(ShareWrite),
    ShareRead(ShareRead),
}

fn destination_swizzle(w1: u32, offset: u32) -> Result<[u32; 4], Trap> {
    let swizzle = [
        bits(w1, 11, 9),
        bits(w1, 14, 12),
        bits(w1, 17, 15),
        bits(w1, 20, 18),
    ];
    if swizzle.contains(&6) {
        return Err(Trap::new(Rule::Swizzle, offset, "destination select 6"));
    }
    Ok(swizzle)
}

fn endian_swap(w2: u32, offset: u32) -> Result<u32, Trap> {
    match bits(w2, 17, 16) {
        3 => Err(Trap::new(Rule::Swizzle, offset, "ENDIAN_SWAP 3")),
        swap => Ok(swap),
    }
}

fn number_format(w1: u32, offset: u32) -> Result<u32, Trap> {
    match bits(w1, 29, 28) {
        3 => Err(Trap::new(Rule::Swizzle, offset, "NUM_FORMAT_ALL 3")),
        number => Ok(number),
    }
}

/// Decodes a fetch of a texture clause (`texture`) or of a vertex clause.
pub fn fetch(w: [u32; 4], texture: bool, offset: u32, family: Family) -> Result<Fetch, Trap> {
    reserved(w[3], 31, 0, offset, "the fourth dword")?;
    let inst = bits(w[0], 4, 0);
    if family == Family::R600 {
        // Guide 4: memory and data share are not fetched, and these texture instructions are reserved.
        if inst == 2 || (texture && matches!(inst, 10 | 15)) {
            let detail = format!("fetch instruction {inst} on R6xx");
            return Err(Trap::new(Rule::Opcode, offset, detail));
        }
        let alternate = if texture {
            bit(w[0], 24)
        } else {
            bit(w[2], 20)
        };
        if alternate {
            return Err(Trap::new(Rule::Reserved, offset, "ALT_CONST on R6xx"));
        }
    }
    if inst == 2 {
        return match bits(w[0], 10, 8) {
            0..=2 => memory_read(w, offset).map(Fetch::Memory),
            4 => share_write(w, offset).map(Fetch::ShareWrite),
            5 => share_read(w, offset).map(Fetch::ShareRead),
            op => Err(Trap::new(Rule::Opcode, offset, format!("MEM_OP {op}"))),
        };
    }
    if texture {
        return texture_fetch(w, offset).map(Fetch::Texture);
    }
    match inst {
        0 | 1 => vertex_fetch(w, offset).map(Fetch::Vertex),
        _ => Err(Trap::new(Rule::Opcode, offset, format!("VTX_INST {inst}"))),
    }
}

fn vertex_fetch(w: [u32; 4], offset: u32) -> Result<VertexFetch, Trap> {
    let kind = bits(w[0], 6, 5);
    if kind == 3 {
        return Err(Trap::new(Rule::Swizzle, offset, "FETCH_TYPE 3"));
    }
    reserved(w[1], 8, 8, offset, "VTX_WORD1")?;
    reserved(w[2], 31, 21, offset, "VTX_WORD2")?;
    let semantic = bits(w[0], 4, 0) == 1;
    let number = number_format(w[1], offset)?;
    Ok(VertexFetch {
        kind,
        buffer: bits(w[0], 15, 8),
        src: (bits(w[0], 22, 16), bits(w[0], 25, 24)),
        src_rel: bit(w[0], 23),
        mega_bytes: bits(w[0], 31, 26) + 1,
        dst: if semantic { 0 } else { bits(w[1], 6, 0) },
        dst_rel: !semantic && bit(w[1], 7),
        semantic: semantic.then(|| bits(w[1], 7, 0)),
        alternate: bit(w[2], 20),
        swizzle: destination_swizzle(w[1], offset)?,
        use_constant: bit(w[1], 21),
        format: bits(w[1], 27, 22),
        number,
        signed: bit(w[1], 30),
        srf: bit(w[1], 31),
        offset: bits(w[2], 15, 0),
        endian: endian_swap(w[2], offset)?,
        no_stride: bit(w[2], 18),
        mega: bit(w[2], 19),
    })
}

fn texture_fetch(w: [u32; 4], offset: u32) -> Result<TextureFetch, Trap> {
    let op = bits(w[0], 4, 0);
    if op < 3 {
        return Err(Trap::new(Rule::Opcode, offset, format!("TEX_INST {op}")));
    }
    reserved(w[0], 6, 6, offset, "TEX_WORD0")?;
    reserved(w[0], 31, 25, offset, "TEX_WORD0")?;
    reserved(w[1], 8, 8, offset, "TEX_WORD1")?;
    let sign = |field: u32, width: u32| ((field << (32 - width)) as i32) >> (32 - width);
    let src_swizzle = [
        bits(w[2], 22, 20),
        bits(w[2], 25, 23),
        bits(w[2], 28, 26),
        bits(w[2], 31, 29),
    ];
    if src_swizzle.iter().any(|&s| s > 5) {
        return Err(Trap::new(Rule::Swizzle, offset, "source select above 5"));
    }
    Ok(TextureFetch {
        op,
        alternate: bit(w[0], 24),
        resource: bits(w[0], 15, 8),
        sampler: bits(w[2], 19, 15),
        src: bits(w[0], 22, 16),
        src_rel: bit(w[0], 23),
        src_swizzle,
        dst: bits(w[1], 6, 0),
        dst_rel: bit(w[1], 7),
        swizzle: destination_swizzle(w[1], offset)?,
        lod_bias: sign(bits(w[1], 27, 21), 7),
        normalized: [bit(w[1], 28), bit(w[1], 29), bit(w[1], 30), bit(w[1], 31)],
        offset: [
            sign(bits(w[2], 4, 0), 5),
            sign(bits(w[2], 9, 5), 5),
            sign(bits(w[2], 14, 10), 5),
        ],
    })
}

fn memory_read(w: [u32; 4], offset: u32) -> Result<MemoryRead, Trap> {
    reserved(w[0], 15, 13, offset, "MEM_RD_WORD0")?;
    reserved(w[0], 31, 30, offset, "MEM_RD_WORD0")?;
    reserved(w[1], 8, 8, offset, "MEM_RD_WORD1")?;
    reserved(w[1], 21, 21, offset, "MEM_RD_WORD1")?;
    reserved(w[2], 15, 13, offset, "MEM_RD_WORD2")?;
    reserved(w[2], 18, 18, offset, "MEM_RD_WORD2")?;
    let elem_size = bits(w[0], 6, 5);
    if elem_size == 2 {
        return Err(Trap::new(
            Rule::ElementSize,
            offset,
            "elements of three dwords",
        ));
    }
    if !bit(w[2], 19) {
        return Err(Trap::new(
            Rule::MegaFetch,
            offset,
            "a memory read without MEGA_FETCH",
        ));
    }
    Ok(MemoryRead {
        op: bits(w[0], 10, 8),
        elem_size,
        uncached: bit(w[0], 11),
        indexed: bit(w[0], 12),
        src: (bits(w[0], 22, 16), bits(w[0], 25, 24)),
        src_rel: bit(w[0], 23),
        burst: bits(w[0], 29, 26) + 1,
        dst: bits(w[1], 6, 0),
        dst_rel: bit(w[1], 7),
        swizzle: destination_swizzle(w[1], offset)?,
        format: bits(w[1], 27, 22),
        number: number_format(w[1], offset)?,
        signed: bit(w[1], 30),
        base: bits(w[2], 12, 0),
        endian: endian_swap(w[2], offset)?,
        mega: bit(w[2], 19),
        array_size: bits(w[2], 31, 20),
    })
}

fn share_write(w: [u32; 4], offset: u32) -> Result<ShareWrite, Trap> {
    reserved(w[0], 7, 5, offset, "MEM_DSW_WORD0")?;
    reserved(w[1], 15, 8, offset, "MEM_DSW_WORD1")?;
    reserved(w[1], 30, 25, offset, "MEM_DSW_WORD1")?;
    reserved(w[2], 31, 4, offset, "MEM_DSW_WORD2")?;
    let swizzle = [
        bits(w[0], 22, 20),
        bits(w[0], 25, 23),
        bits(w[0], 28, 26),
        bits(w[0], 31, 29),
    ];
    let rel = bits(w[0], 19, 18);
    if swizzle.contains(&6) || rel > 1 {
        return Err(Trap::new(
            Rule::Swizzle,
            offset,
            "select 6 or global registers",
        ));
    }
    let index = bits(w[1], 7, 0);
    let stride = bits(w[1], 24, 16);
    let burst = bits(w[2], 3, 0) + 1;
    let legal = index.is_multiple_of(4)
        && stride.is_multiple_of(4)
        && (4..=64).contains(&stride)
        && index + 4 * burst <= stride;
    if !legal {
        let detail = format!("index {index}, stride {stride}, {burst} writes");
        return Err(Trap::new(Rule::ShareRange, offset, detail));
    }
    Ok(ShareWrite {
        src: bits(w[0], 17, 11),
        rel,
        swizzle,
        index,
        stride,
        burst,
        group: bit(w[1], 31),
    })
}

fn share_read(w: [u32; 4], offset: u32) -> Result<ShareRead, Trap> {
    reserved(w[0], 7, 5, offset, "MEM_DSR_WORD0")?;
    reserved(w[1], 15, 13, offset, "MEM_DSR_WORD1")?;
    reserved(w[1], 19, 18, offset, "MEM_DSR_WORD1")?;
    reserved(w[1], 31, 23, offset, "MEM_DSR_WORD1")?;
    reserved(w[2], 31, 4, offset, "MEM_DSR_WORD2")?;
    let rel = bits(w[0], 19, 18);
    let dst_rel = bits(w[1], 8, 7);
    let swizzle = [bits(w[0], 22, 20), bits(w[0], 25, 23)];
    if rel > 1 || dst_rel > 1 || swizzle.iter().any(|&s| s > 5) {
        return Err(Trap::new(
            Rule::Swizzle,
            offset,
            "select above 5 or global registers",
        ));
    }
    let mux = bits(w[1], 22, 20);
    if mux != 0 {
        let detail = format!("MUX_CNTL {mux}: permuting reads are not documented");
        return Err(Trap::new(Rule::Unsupported, offset, detail));
    }
    Ok(ShareRead {
        src: bits(w[0], 17, 11),
        rel,
        swizzle,
        offset: bits(w[0], 31, 26),
        dst: bits(w[1], 6, 0),
        dst_rel,
        mask: bits(w[1], 12, 9),
        broadcast: bit(w[1], 16),
        waterfall: bit(w[1], 17),
        mux,
        burst: bits(w[2], 3, 0) + 1,
    })
}
