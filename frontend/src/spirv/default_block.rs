//! OpenGL's default block: uniforms outside of blocks (`ARB_gl_spirv`) are members of one uniform buffer.
//!
//! They lie by std140 (OpenGL 4.6, 7.6.2.2) in the order of their locations. A truth value is a word that is 0 or not.

use super::program::{Id, Program, READING, op};
use super::types::Ty;
use crate::stop::Stop;
use gpucc_ir::{Map, Set};
use rspirv::spirv::{Op, StorageClass};

/// What the buffer is called in reports.
pub const NAME: &str = "gpucc_Uniforms";

/// The uniforms of a module outside of blocks.
#[derive(Clone, Debug, Default)]
pub struct DefaultBlock {
    /// Bytes before each.
    pub offsets: Map<Id, u32>,
    /// Bytes of all.
    pub size: u32,
    /// The lowest binding of set 0 that no variable has.
    pub binding: u32,
    /// The next free ones, for textures and samplers that have none.
    pub bindings: Map<Id, u32>,
}

/// Bytes of a type, and what its address is a multiple of.
type Size = (u64, u64);

impl Program<'_> {
    /// Finds the uniforms outside of blocks and gives them their places. Their types get strides and offsets.
    ///
    /// # Errors
    /// Uniforms of more than 2 GiB, and textures within structures.
    pub(super) fn lay_out_default_block(&mut self) -> Result<(), Stop> {
        let (mut loose, mut unbound, mut counters) = (Vec::new(), Vec::new(), Vec::new());
        let mut taken: Set<u32> = Set::default();
        for inst in self.insts.iter().take_while(|inst| op(inst) != Op::Function) {
            if op(inst) != Op::Variable {
                continue;
            }
            let (pointer, id) = (inst.operand(0), inst.operand(1));
            // A counter's binding counts buffers of counters alone.
            if StorageClass::from_u32(inst.operand(2)) == Some(StorageClass::AtomicCounter) {
                unbound.push((u32::MAX, id));
                counters.push(pointer);
                continue;
            }
            let decorations = self.decorations(id);
            if decorations.set.unwrap_or(0) == 0 {
                taken.extend(decorations.binding);
            }
            if StorageClass::from_u32(inst.operand(2)) != Some(StorageClass::UniformConstant) {
                continue;
            }
            let location = decorations.location.unwrap_or(u32::MAX);
            let Ok((_, mut ty)) = self.pointee(pointer) else { continue };
            while let Ok(&Ty::Array { of, .. }) = self.ty(ty) {
                ty = of;
            }
            match self.ty(ty) {
                Ok(Ty::Scalar(_) | Ty::Vector(..) | Ty::Matrix(..) | Ty::Struct(_)) => {
                    loose.push((location, id));
                }
                Ok(ty) if ty.is_handle() && decorations.binding.is_none() => {
                    unbound.push((location, id));
                }
                _ => {}
            }
        }
        for pointer in counters {
            self.lay_out_counters(pointer)?;
        }
        loose.sort_unstable();
        let mut end = 0u64;
        let mut block = DefaultBlock::default();
        let mut known = Map::default();
        for (_, id) in loose {
            let Some(inst) = self.inst(id) else { continue };
            let (_, ty) = self.pointee(inst.operand(0))?;
            let (bytes, align) =
                self.std140(ty, &mut known).map_err(|stop| stop.at(super::program::span(inst)))?;
            let offset = end.next_multiple_of(align);
            end = offset.saturating_add(bytes);
            if end > i32::MAX as u64 {
                let hint = "declare shorter arrays";
                return Err(Stop::limit("bytes of uniforms", end, i32::MAX as u64, hint));
            }
            block.offsets.insert(id, offset as u32);
        }
        block.size = end.next_multiple_of(4) as u32;
        let mut free = (0..u32::MAX).filter(|number| !taken.contains(number));
        if !block.offsets.is_empty() {
            block.binding = free.next().unwrap_or(0);
        }
        unbound.sort_unstable();
        block.bindings = unbound.into_iter().map(|(_, id)| id).zip(free).collect();
        self.default_block = block;
        Ok(())
    }

    /// Gives arrays of counters strides: a counter is a word.
    fn lay_out_counters(&mut self, pointer: Id) -> Result<(), Stop> {
        let (_, mut ty) = self.pointee(pointer)?;
        while let Ty::Array { of, length, stride } = *self.ty(ty)? {
            if stride == 0 {
                let each = self.count(of)?.0.saturating_mul(4);
                let stride = u32::try_from(each).unwrap_or(u32::MAX);
                self.set_type(ty, Ty::Array { of, length, stride });
            }
            ty = of;
        }
        Ok(())
    }

    /// Bytes between the columns of the matrices of a uniform or member, 16 where it has none.
    pub fn column_stride(&self, mut ty: Id) -> u32 {
        loop {
            match self.ty(ty) {
                Ok(&Ty::Array { of, .. }) => ty = of,
                Ok(Ty::Matrix(scalar, 3.., ..)) if scalar.width == 8 => return 32,
                _ => return 16,
            }
        }
    }

    /// Size and alignment of a type, whose arrays and structures get strides and offsets where they have none.
    fn std140(&mut self, ty: Id, known: &mut Map<Id, Size>) -> Result<Size, Stop> {
        if let Some(&size) = known.get(&ty) {
            return Ok(size);
        }
        let vector = |width: u8, count: u32| {
            let bytes = u64::from(width.max(4)) * u64::from(count);
            (bytes, u64::from(width.max(4)) * u64::from(count.next_power_of_two()))
        };
        let size = match self.ty(ty)?.clone() {
            Ty::Scalar(scalar) => vector(scalar.width, 1),
            Ty::Vector(scalar, count, _) => vector(scalar.width, count),
            Ty::Matrix(scalar, rows, columns, _) => {
                let (_, align) = vector(scalar.width, rows);
                let stride = align.next_multiple_of(16);
                (stride * u64::from(columns), stride)
            }
            Ty::Array { of, length: Some(length), stride } => {
                let (bytes, align) = self.std140(of, known)?;
                let align = align.next_multiple_of(16);
                let own = match stride {
                    0 => bytes.next_multiple_of(align),
                    stride => stride.into(),
                };
                let stride = u32::try_from(own).unwrap_or(u32::MAX);
                self.set_type(ty, Ty::Array { of, length: Some(length), stride });
                (own.saturating_mul(length.into()), align)
            }
            Ty::Struct(mut members) => {
                let (mut end, mut most) = (0u64, 16u64);
                for member in &mut members {
                    let columns = self.column_stride(member.ty);
                    let (bytes, align) = self.std140(member.ty, known)?;
                    let offset = match member.decorations.offset {
                        Some(offset) => offset.into(),
                        None => end.next_multiple_of(align),
                    };
                    end = offset.saturating_add(bytes);
                    most = most.max(align);
                    member.decorations.offset = Some(u32::try_from(offset).unwrap_or(u32::MAX));
                    member.decorations.matrix_stride.get_or_insert(columns);
                }
                self.set_type(ty, Ty::Struct(members));
                (end.next_multiple_of(most), most)
            }
            _ => {
                return Err(Stop::unsupported(
                    "textures and samplers within a uniform structure",
                    READING,
                ));
            }
        };
        known.insert(ty, size);
        Ok(size)
    }
}
