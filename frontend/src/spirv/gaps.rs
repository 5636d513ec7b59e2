//! Instructions that naga's reader lacks, written with those that it has.

mod declarations;
mod functions;
mod integers;

use super::module::{Inst, Module};
use super::ops::*;
use declarations::{buffers_are_read, formats, groups, not_finite};
use gpucc_ir::Map;

/// What is known of the module while its instructions are rewritten.
struct Gaps<'a> {
    module: &'a mut Module,
    /// Opcode and operands behind the id of each type.
    types: Map<u32, (u32, Vec<u32>)>,
    /// The type of each value.
    of: Map<u32, u32>,
    /// The set of GLSL.std.450.
    glsl: u32,
    /// Types and constants that are added, in front of the first function.
    globals: Vec<Inst>,
    /// What the instruction at hand becomes.
    out: Vec<Inst>,
    at: usize,
    made: Map<Vec<u32>, u32>,
}
/// Rewrites them; gives what was inferred.
pub fn fill(module: &mut Module) -> Vec<String> {
    let mut notes = Vec::new();
    groups(module);
    buffers_are_read(module);
    formats(module, &mut notes);
    let insts = std::mem::take(&mut module.insts);
    let mut gaps = Gaps {
        module,
        types: Map::default(),
        of: Map::default(),
        glsl: 0,
        globals: Vec::new(),
        out: Vec::new(),
        at: 0,
        made: Map::default(),
    };
    gaps.learn(&insts);
    let mut globals = Vec::new();
    let mut functions = Vec::new();
    let mut inside = false;
    for inst in insts {
        inside |= inst.opcode() == OP_FUNCTION;
        if !inside {
            globals.push(inst);
            continue;
        }
        gaps.at = inst.at;
        if !gaps.rewrite(&inst) {
            functions.push(inst);
        }
        functions.append(&mut gaps.out);
    }
    globals.append(&mut gaps.globals);
    not_finite(gaps.module, &mut globals, &mut functions);
    globals.append(&mut functions);
    module.insts = globals;
    notes
}

/// True for instructions that begin with the type and the id of a result.
fn has_result(opcode: u32) -> bool {
    !matches!(
        opcode,
        0 | 2..=11 | 13..=40 | OP_STORE | 63..=64 | 71..=76 | 99 | 218..=221 | 224..=225 | 228 | 246..=256
    )
}

impl Gaps<'_> {
    fn learn(&mut self, insts: &[Inst]) {
        for inst in insts {
            match inst.opcode() {
                opcode @ (OP_TYPE_INT | OP_TYPE_FLOAT | OP_TYPE_VECTOR | OP_TYPE_STRUCT
                | OP_TYPE_ARRAY | OP_TYPE_IMAGE | OP_TYPE_BOOL | OP_TYPE_MATRIX) => {
                    let key = [&[opcode][..], inst.rest(1)].concat();
                    self.types.insert(inst.operand(0), (opcode, inst.rest(1).to_vec()));
                    if !matches!(opcode, OP_TYPE_STRUCT | OP_TYPE_ARRAY) {
                        self.made.entry(key).or_insert(inst.operand(0));
                    }
                }
                OP_CONSTANT => {
                    let key = [&[OP_CONSTANT, inst.operand(0)][..], inst.rest(2)].concat();
                    self.made.entry(key).or_insert(inst.operand(1));
                    self.of.insert(inst.operand(1), inst.operand(0));
                }
                OP_EXT_INST_IMPORT if super::string(inst.rest(1)) == "GLSL.std.450" => {
                    self.glsl = inst.operand(0);
                }
                opcode if inst.words.len() >= 3 && has_result(opcode) => {
                    self.of.insert(inst.operand(1), inst.operand(0));
                }
                _ => {}
            }
        }
    }

    /// A type or constant, made where there is none.
    fn global(&mut self, opcode: u32, operands: &[u32]) -> u32 {
        let key = [&[opcode][..], operands].concat();
        if let Some(id) = self.made.get(&key) {
            return *id;
        }
        let id = self.module.fresh();
        let all = match opcode {
            OP_CONSTANT | OP_CONSTANT_COMPOSITE | OP_CONSTANT_NULL => {
                [&[operands[0], id][..], &operands[1..]].concat()
            }
            _ => [&[id][..], operands].concat(),
        };
        // Where a function is rewritten all types stand before.
        self.globals.push(Inst::new(0, opcode, &all));
        if matches!(opcode, OP_TYPE_INT | OP_TYPE_FLOAT | OP_TYPE_VECTOR | OP_TYPE_BOOL) {
            self.types.insert(id, (opcode, operands.to_vec()));
        }
        self.made.insert(key, id);
        id
    }

    fn emit(&mut self, opcode: u32, ty: u32, operands: &[u32]) -> u32 {
        let id = self.module.fresh();
        self.emit_as(opcode, ty, id, operands);
        id
    }

    fn emit_as(&mut self, opcode: u32, ty: u32, id: u32, operands: &[u32]) {
        let all = [&[ty, id][..], operands].concat();
        self.out.push(Inst::new(self.at, opcode, &all));
        self.of.insert(id, ty);
    }

    fn std(&mut self, ty: u32, function: u32, operands: &[u32]) -> u32 {
        let all = [&[self.glsl, function][..], operands].concat();
        self.emit(OP_EXT_INST, ty, &all)
    }

    /// A type's scalar and how many there are: no matrices.
    fn shape(&self, ty: u32) -> Option<(u32, u32)> {
        match self.types.get(&ty)? {
            (OP_TYPE_VECTOR, operands) => Some((*operands.first()?, *operands.get(1)?)),
            (OP_TYPE_INT | OP_TYPE_FLOAT | OP_TYPE_BOOL, _) => Some((ty, 1)),
            _ => None,
        }
    }

    /// Width and signedness of the integers that a type is made of.
    fn integers(&self, ty: u32) -> Option<(u32, u32)> {
        match self.types.get(&self.shape(ty)?.0)? {
            (OP_TYPE_INT, operands) => Some((*operands.first()?, *operands.get(1)?)),
            _ => None,
        }
    }

    fn is_float32(&self, ty: u32) -> bool {
        let scalar = self.shape(ty).and_then(|shape| self.types.get(&shape.0));
        matches!(scalar, Some((OP_TYPE_FLOAT, operands)) if operands.first() == Some(&32))
    }

    /// Integers or truth values, as many as a type has.
    fn like(&mut self, ty: u32, scalar: u32) -> u32 {
        match self.shape(ty) {
            Some((_, count)) if count > 1 => self.global(OP_TYPE_VECTOR, &[scalar, count]),
            _ => scalar,
        }
    }

    /// A number in every scalar of a type.
    fn splat(&mut self, ty: u32, bits: u32) -> u32 {
        let Some((scalar, count)) = self.shape(ty) else {
            return 0;
        };
        let one = self.global(OP_CONSTANT, &[scalar, bits]);
        match count {
            1 => one,
            _ => {
                let members = [vec![ty], vec![one; count as usize]].concat();
                self.global(OP_CONSTANT_COMPOSITE, &members)
            }
        }
    }

    /// Rewrites an instruction into `out`; false where it may stay.
    fn rewrite(&mut self, inst: &Inst) -> bool {
        let (ty, id) = (inst.operand(0), inst.operand(1));
        match inst.opcode() {
            // Any value will do, and naga evaluates an undefined one again and again.
            OP_UNDEF => {
                let all = [ty, id];
                self.globals.push(Inst::new(self.at, OP_CONSTANT_NULL, &all));
                true
            }
            OP_LOGICAL_AND | OP_LOGICAL_OR if self.shape(ty).is_some_and(|shape| shape.1 > 1) => {
                let opcode = match inst.opcode() {
                    OP_LOGICAL_AND => OP_BITWISE_AND,
                    _ => OP_BITWISE_OR,
                };
                self.emit_as(opcode, ty, id, inst.rest(2));
                true
            }
            OP_I_ADD_CARRY | OP_I_SUB_BORROW | OP_U_MUL_EXTENDED | OP_S_MUL_EXTENDED => {
                self.extended(inst).is_some()
            }
            OP_COPY_LOGICAL => self.copied(inst).is_some(),
            OP_QUANTIZE => self.quantized(inst).is_some(),
            OP_S_MOD => self.modulo(inst).is_some(),
            OP_S_DIV | OP_S_REM | OP_S_NEGATE => {
                self.signed(inst, inst.opcode(), &[], inst.rest(2))
            }
            OP_BITWISE_AND | OP_BITWISE_OR | OP_BITWISE_XOR => self.alike(inst),
            OP_BIT_COUNT => self.alike(inst),
            OP_IMAGE_FETCH => self.fetch(inst),
            OP_EXT_INST if inst.operand(2) == self.glsl && self.glsl != 0 => {
                self.function(inst).is_some()
            }
            _ => false,
        }
    }

    /// The same bits in another type of the same width.
    fn cast(&mut self, value: u32, ty: u32) -> u32 {
        match self.of.get(&value) {
            Some(own) if *own == ty => value,
            _ => self.emit(OP_BITCAST, ty, &[value]),
        }
    }

    /// A value in a type of the same shape that lies otherwise.
    fn copied(&mut self, inst: &Inst) -> Option<()> {
        let (ty, value) = (inst.operand(0), inst.operand(2));
        let from = *self.of.get(&value)?;
        let members = self.parts(ty, from, value)?;
        self.emit_as(OP_COMPOSITE_CONSTRUCT, ty, inst.operand(1), &members);
        Some(())
    }

    fn parts(&mut self, to: u32, from: u32, value: u32) -> Option<Vec<u32>> {
        let pairs: Vec<(u32, u32)> =
            match (self.types.get(&to)?.clone(), self.types.get(&from)?.clone()) {
                ((OP_TYPE_STRUCT, to), (OP_TYPE_STRUCT, from)) if to.len() == from.len() => {
                    to.into_iter().zip(from).collect()
                }
                ((OP_TYPE_ARRAY, to), (OP_TYPE_ARRAY, from)) => {
                    let length = self.module_constant(*to.get(1)?)?;
                    vec![(to[0], from[0]); (length as usize).min(4096)]
                }
                _ => return None,
            };
        let mut members = Vec::with_capacity(pairs.len());
        for (index, (to, from)) in pairs.into_iter().enumerate() {
            let member = self.emit(OP_COMPOSITE_EXTRACT, from, &[value, index as u32]);
            if to == from {
                members.push(member);
                continue;
            }
            let inner = self.parts(to, from, member)?;
            members.push(self.emit(OP_COMPOSITE_CONSTRUCT, to, &inner));
        }
        Some(members)
    }

    fn module_constant(&self, id: u32) -> Option<u32> {
        let found = self.made.iter().find(|(key, made)| key[0] == OP_CONSTANT && **made == id);
        found.and_then(|(key, _)| key.get(2).copied())
    }

    /// A texel of an image with levels, of which none is named: the first.
    fn fetch(&mut self, inst: &Inst) -> bool {
        let mask = inst.operand(4);
        let image = self.of.get(&inst.operand(2)).and_then(|ty| self.types.get(ty));
        let leveled = matches!(image, Some((OP_TYPE_IMAGE, operands)) if operands.get(4) == Some(&0) && operands.get(1) != Some(&5));
        if !leveled || mask & LOD != 0 {
            return false;
        }
        let int = self.global(OP_TYPE_INT, &[32, 1]);
        let zero = self.global(OP_CONSTANT, &[int, 0]);
        // Operands follow in the order of the mask's bits: a bias comes before the level.
        let rest = inst.rest(5);
        let split = (mask & 1) as usize;
        let mut all = vec![inst.operand(2), inst.operand(3), mask | LOD];
        all.extend(rest.iter().take(split));
        all.push(zero);
        all.extend(rest.iter().skip(split));
        self.emit_as(OP_IMAGE_FETCH, inst.operand(0), inst.operand(1), &all);
        true
    }
}
