//! Storage textures: loads and stores with conversion, atomics by the texel's address.
//! isa/valhall_rogue.md 1.11.

use super::address::Address;
use super::operand::Opnd;
use super::texture::shape;
use super::varying::{F32, S32, U32};
use super::{Lower, Place};
use crate::abi::table;
use crate::api::Failure;
use crate::inst::Src;
use crate::isa::{Opcode, f};
use gpucc_ir::mach::VReg;
use gpucc_ir::ssa::{
    AtomicOp, Dim, Imm, Inst, Op, Resource, ResourceKind, SampleType, TexOp, Type, Value,
};
use gpucc_passes::mach::Effects;
use smallvec::SmallVec;

/// The class of images among what messages touch: two bindings may be one image.
const IMAGES: u32 = 1 << 27;
/// Loads of images.
const READS: Effects = Effects { reads: IMAGES, writes: 0 };
/// Stores to images.
const WRITES: Effects = Effects { reads: 0, writes: IMAGES };

/// Entries of a table that immediate forms reach.
const NEAR: u32 = 16;

impl Lower<'_> {
    /// The register format of a storage texture's components.
    fn image_format(&self, resource: Resource) -> u32 {
        match self.ssa.resources[resource].kind {
            ResourceKind::StorageTexture { sample, .. } => match sample {
                SampleType::Float | SampleType::Depth => F32,
                SampleType::Sint => S32,
                SampleType::Uint => U32,
            },
            _ => unreachable!("only storage textures are images"),
        }
    }

    /// The register format in which the words of a texel that is changed atomically pass as they are.
    fn word_format(&self, resource: Resource) -> u32 {
        match self.image_format(resource) {
            F32 => F32,
            _ => U32,
        }
    }

    /// A message about a texel, by immediate index where that reaches.
    fn texel(
        &mut self,
        near: Opcode,
        far: Opcode,
        resource: Resource,
        args: &[Value],
        fields: &[(gpucc_isa::FieldId, u32)],
        registers: usize,
    ) -> SmallVec<[VReg; 4]> {
        let data = self.ssa.resources[resource].count;
        let (element, args) = match data {
            Some(_) => (Some(args[0]), &args[1..]),
            None => (None, args),
        };
        let (dim, arrayed) = shape(self.ssa.resources[resource].kind);
        let coords = &args[..dim.coords()];
        let layer = arrayed.then(|| args[dim.coords()]);
        let zero = Opnd::bits(0);
        let x = self.coordinate(coords[0]);
        let y = match coords.get(1) {
            Some(&y) => self.coordinate(y),
            None => zero,
        };
        let z = match (dim, coords.get(2).copied(), layer) {
            (Dim::D3, Some(z), _) => self.coordinate(z),
            (_, _, Some(layer)) => self.coordinate(layer),
            _ => zero,
        };
        let xy = self.two_halves(x, y);
        let zw = self.two_halves(z, zero);
        let known = self.known_element(element);
        let slot = self.abi.slots[resource];
        match known.map(|element| slot.index + element) {
            Some(index) if index < NEAR => {
                let place = [(f::INDEX, index), (f::TABLE, table::IMAGE)];
                let fields: SmallVec<[_; 4]> = fields.iter().copied().chain(place).collect();
                self.load_of(near, &[xy, zw], &fields, registers, READS)
            }
            _ => {
                let handle = self.handle(resource, element);
                self.load_of(far, &[xy, zw, handle], fields, registers, READS)
            }
        }
    }

    /// Two coordinates in one word.
    fn two_halves(&mut self, low: Opnd, high: Opnd) -> Opnd {
        match (low.src, high.src) {
            (Src::Bits(low), Src::Bits(high)) => Opnd::bits(low & 0xffff | high << 16),
            _ => Opnd::reg(self.mkvec(low, high)),
        }
    }

    /// A coordinate in 16 bits: larger ones become the largest, which no image has.
    fn coordinate(&mut self, value: Value) -> Opnd {
        if let Some(bits) = self.ssa.as_const(value) {
            return Opnd::bits((bits as u32).min(0xffff));
        }
        let operand = self.plain(value);
        if self.fits_half(value, 4) {
            return operand;
        }
        let operand = Opnd::reg(self.in_register(operand));
        let most = Opnd::bits(0xffff);
        let sources = [operand, most, operand, most];
        Opnd::reg(self.emit_with(Opcode::CselU32, &sources, &[(f::CMP, 4)]))
    }

    /// Whether a value is below 2^16 for certain, looking `depth` operations back.
    fn fits_half(&self, value: Value, depth: u32) -> bool {
        let Some(data) = self.ssa.def(value) else {
            return false;
        };
        if depth == 0 {
            return false;
        }
        let below =
            |value: Value, bound: u64| self.ssa.as_const(value).is_some_and(|bits| bits < bound);
        match data.op {
            Op::Const => below(value, 1 << 16),
            Op::And => data.args.iter().any(|&arg| self.fits_half(arg, depth - 1)),
            Op::UMin => data
                .args
                .iter()
                .any(|&arg| self.fits_half(arg, depth - 1) || self.is_last_texel(arg)),
            Op::UConvert => matches!(self.ssa.ty(data.args[0]), Type::B16 | Type::B1),
            Op::LShr => self.ssa.as_const(data.args[1]).is_some_and(|by| by & 31 >= 16),
            Op::Select => data.args[1..].iter().all(|&arg| self.fits_half(arg, depth - 1)),
            _ => false,
        }
    }

    /// The last texel along an axis: images have at most 2^16 texels.
    fn is_last_texel(&self, value: Value) -> bool {
        self.ssa.def(value).is_some_and(|data| {
            let by = |at: usize| self.ssa.as_const(data.args[at]).map(|bits| bits as u32);
            let query = |at: usize| {
                self.ssa.def(data.args[at]).is_some_and(|data| matches!(data.imm, Imm::Query(..)))
            };
            match data.op {
                Op::IAdd => {
                    query(0) && by(1) == Some(u32::MAX) || query(1) && by(0) == Some(u32::MAX)
                }
                Op::ISub => query(0) && by(1) == Some(1),
                _ => false,
            }
        })
    }

    /// A load of one texel: LD_TEX.
    pub(super) fn image_load(&mut self, inst: Inst, tex: TexOp) {
        let data = &self.ssa.insts[inst];
        let used = |&value: &Value| self.uses.count(value) > 0;
        let count = data.results.iter().rposition(used).expect("somebody uses a result") + 1;
        let fields = [(f::VECSIZE, count as u32 - 1), (f::REGFMT, self.image_format(tex.texture))];
        let (near, far) = (Opcode::LdTexImm, Opcode::LdTex);
        let made = self.texel(near, far, tex.texture, &data.args, &fields, count);
        for (&result, &reg) in data.results.iter().zip(&made) {
            self.define(result, Place::Reg(reg));
        }
    }

    /// LEA_TEX: the two words of an address and the conversion; 0 outside of the image.
    fn texel_address(&mut self, resource: Resource, args: &[Value]) -> SmallVec<[VReg; 4]> {
        let (near, far) = (Opcode::LeaTexImm, Opcode::LeaTex);
        self.texel(near, far, resource, args, &[], 3)
    }

    pub(super) fn image_store(&mut self, inst: Inst, resource: Resource) -> Result<(), Failure> {
        let data = &self.ssa.insts[inst];
        let values = data.args.len() - 4;
        let count = self.stored_components(resource);
        let components: SmallVec<[Opnd; 4]> =
            data.args[values..values + count].iter().map(|&value| self.plain(value)).collect();
        let guard = self.begin_effect();
        let place = self.texel_address(resource, &data.args);
        let data = self.staged_vector(&components, false);
        let format = self.image_format(resource);
        self.store_converted(&place, &data, format, count as u32, WRITES);
        self.end_effect(guard);
        Ok(())
    }

    /// Components that the format keeps.
    fn stored_components(&self, resource: Resource) -> usize {
        match self.ssa.resources[resource].kind {
            ResourceKind::StorageTexture { format, .. } => {
                gpucc_emu::format::Format::from_name(format.0)
                    .map_or(4, |format| format.components() as usize)
            }
            _ => 4,
        }
    }

    pub(super) fn image_atomic(
        &mut self,
        inst: Inst,
        resource: Resource,
        op: AtomicOp,
    ) -> Result<(), Failure> {
        let data = &self.ssa.insts[inst];
        let (dim, arrayed) = shape(self.ssa.resources[resource].kind);
        let coords = usize::from(self.ssa.resources[resource].count.is_some())
            + dim.coords()
            + usize::from(arrayed);
        let (address, operands) = data.args.split_at(coords);
        let result = data.results.first().copied();
        let result = result.filter(|&result| self.uses.count(result) > 0);
        if op == AtomicOp::Load {
            let Some(result) = result else { return Ok(()) };
            let words = self.ssa.ty(result).bytes() / 4;
            let fields = [(f::VECSIZE, words - 1), (f::REGFMT, self.word_format(resource))];
            let (near, far) = (Opcode::LdTexImm, Opcode::LdTex);
            let made = self.texel(near, far, resource, address, &fields, words as usize);
            self.define_loaded(&[result], &made);
            return Ok(());
        }
        // A texel of 64 bits is two words of its format.
        let old = self.staging(self.ssa.ty(operands[0]).bytes());
        if self.effects_are_guarded() {
            for &old in &old {
                self.emit_to(old, Opcode::MovI32, &[Opnd::bits(0)], &[]);
            }
        }
        let guard = self.begin_effect();
        let place = self.texel_address(resource, address);
        if op == AtomicOp::Store || op == AtomicOp::Exchange && result.is_none() {
            let staged = self.gather(operands);
            let format = self.word_format(resource);
            self.store_converted(&place, &staged, format, old.len() as u32, WRITES);
        } else {
            let base = Address { base: Src::Pair([place[0].into(), place[1].into()]), offset: 0 };
            self.atomic(base, op, data, operands, &old, u32::MAX);
        }
        self.end_effect(guard);
        Ok(())
    }
}
