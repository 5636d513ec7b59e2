//! Instructions of fetch clauses: register guide 5, VTX_WORD, TEX_WORD; R700 ISA 10, MEM_RD, MEM_DSW, MEM_DSR.

use super::{bit, bits, reserved};
use crate::api::Family;
use crate::emu::rule::{Rule, Trap};

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
    let swizzle = [bits(w1, 11, 9), bits(w1, 14, 12), bits(w1, 17, 15), bits(w1, 20, 18)];
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
        let alternate = if texture { bit(w[0], 24) } else { bit(w[2], 20) };
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
    let src_swizzle =
        [bits(w[2], 22, 20), bits(w[2], 25, 23), bits(w[2], 28, 26), bits(w[2], 31, 29)];
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
        offset: [sign(bits(w[2], 4, 0), 5), sign(bits(w[2], 9, 5), 5), sign(bits(w[2], 14, 10), 5)],
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
        return Err(Trap::new(Rule::ElementSize, offset, "elements of three dwords"));
    }
    if !bit(w[2], 19) {
        return Err(Trap::new(Rule::MegaFetch, offset, "a memory read without MEGA_FETCH"));
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
    let swizzle = [bits(w[0], 22, 20), bits(w[0], 25, 23), bits(w[0], 28, 26), bits(w[0], 31, 29)];
    let rel = bits(w[0], 19, 18);
    if swizzle.contains(&6) || rel > 1 {
        return Err(Trap::new(Rule::Swizzle, offset, "select 6 or global registers"));
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
        return Err(Trap::new(Rule::Swizzle, offset, "select above 5 or global registers"));
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
