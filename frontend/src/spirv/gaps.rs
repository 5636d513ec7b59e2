//! Instructions that naga's reader lacks, written with those that it has.

use super::module::{Inst, Module};
use super::ops::*;
use gpucc_ir::Map;
use std::collections::BTreeSet;

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

/// Groups of decorations: each member gets its own.
fn groups(module: &mut Module) {
    let groups: BTreeSet<u32> = module
        .insts
        .iter()
        .filter(|inst| inst.opcode() == OP_DECORATION_GROUP)
        .map(|inst| inst.operand(0))
        .collect();
    if groups.is_empty() {
        return;
    }
    let mut decorations: Map<u32, Vec<Vec<u32>>> = Map::default();
    let mut out = Vec::with_capacity(module.insts.len());
    for inst in std::mem::take(&mut module.insts) {
        let target = inst.operand(0);
        match inst.opcode() {
            OP_DECORATION_GROUP => {}
            OP_DECORATE if groups.contains(&target) => {
                let rest = inst.rest(1).to_vec();
                decorations.entry(target).or_default().push(rest);
            }
            OP_GROUP_DECORATE => {
                for member in inst.rest(1) {
                    for decoration in decorations.get(&target).into_iter().flatten() {
                        let operands = [&[*member][..], decoration].concat();
                        out.push(Inst::new(inst.at, OP_DECORATE, &operands));
                    }
                }
            }
            OP_GROUP_MEMBER_DECORATE => {
                for member in inst.rest(1).chunks_exact(2) {
                    for decoration in decorations.get(&target).into_iter().flatten() {
                        let operands = [member, decoration].concat();
                        out.push(Inst::new(inst.at, OP_MEMBER_DECORATE, &operands));
                    }
                }
            }
            _ => out.push(inst),
        }
    }
    module.insts = out;
}

/// Buffers that are only written: naga knows no such access.
fn buffers_are_read(module: &mut Module) {
    let buffers: BTreeSet<u32> = module
        .insts
        .iter()
        .filter(|inst| {
            inst.opcode() == OP_VARIABLE && matches!(inst.operand(2), UNIFORM | STORAGE_BUFFER)
        })
        .map(|inst| inst.operand(1))
        .collect();
    module.insts.retain(|inst| match inst.opcode() {
        OP_DECORATE => inst.operand(1) != NON_READABLE || !buffers.contains(&inst.operand(0)),
        OP_MEMBER_DECORATE => inst.operand(2) != NON_READABLE,
        _ => true,
    });
}

/// Storage images whose format only the driver knows: the widest of their kind.
fn formats(module: &mut Module, notes: &mut Vec<String>) {
    let mut scalars: Map<u32, (u32, u32)> = Map::default();
    let texels = module
        .insts
        .iter()
        .any(|inst| inst.opcode() == OP_IMAGE_TEXEL_POINTER);
    for inst in &mut module.insts {
        match inst.opcode() {
            OP_TYPE_FLOAT => {
                scalars.insert(inst.operand(0), (OP_TYPE_FLOAT, 0));
            }
            OP_TYPE_INT => {
                scalars.insert(inst.operand(0), (OP_TYPE_INT, inst.operand(2)));
            }
            OP_TYPE_IMAGE
                if inst.operand(6) == 2 && inst.operand(7) == 0 && inst.operand(2) <= 2 =>
            {
                let (format, name) = match scalars.get(&inst.operand(1)) {
                    Some((OP_TYPE_FLOAT, _)) => (1, "rgba32float"),
                    Some((OP_TYPE_INT, 1)) if texels => (24, "r32sint"),
                    Some((OP_TYPE_INT, 1)) => (21, "rgba32sint"),
                    Some((OP_TYPE_INT, _)) if texels => (33, "r32uint"),
                    Some((OP_TYPE_INT, _)) => (30, "rgba32uint"),
                    _ => continue,
                };
                let mut operands = inst.operands().to_vec();
                operands[7] = format;
                inst.become_inst(OP_TYPE_IMAGE, &operands);
                notes.push(format!(
                    "storage images without a format are taken for {name}"
                ));
            }
            _ => {}
        }
    }
}

/// Constants that are no finite numbers: naga refuses them as literals, so that each function that uses
/// one makes it of its bits.
fn not_finite(module: &mut Module, globals: &mut Vec<Inst>, functions: &mut Vec<Inst>) {
    let floats: BTreeSet<u32> = globals
        .iter()
        .filter(|inst| inst.opcode() == OP_TYPE_FLOAT && inst.operand(1) == 32)
        .map(|inst| inst.operand(0))
        .collect();
    // Constants of bits, and composites that hold one, in order.
    let mut wild: Vec<Inst> = Vec::new();
    let mut ids: BTreeSet<u32> = BTreeSet::new();
    for inst in globals.iter() {
        let scalar = inst.opcode() == OP_CONSTANT
            && floats.contains(&inst.operand(0))
            && inst.operand(2) & 0x7f80_0000 == 0x7f80_0000;
        let composite = inst.opcode() == OP_CONSTANT_COMPOSITE
            && inst.rest(2).iter().any(|member| ids.contains(member));
        if scalar || composite {
            ids.insert(inst.operand(1));
            wild.push(inst.clone());
        }
    }
    let initial = globals
        .iter()
        .any(|inst| inst.opcode() == OP_VARIABLE && ids.contains(&inst.operand(3)));
    if wild.is_empty() || initial {
        return;
    }
    globals.retain(|inst| {
        let constant = matches!(inst.opcode(), OP_CONSTANT | OP_CONSTANT_COMPOSITE);
        let named = inst.opcode() == OP_NAME && ids.contains(&inst.operand(0));
        !(named || constant && ids.contains(&inst.operand(1)))
    });
    let at = globals.last().map_or(0, |inst| inst.at);
    let found = globals
        .iter()
        .find(|inst| inst.opcode() == OP_TYPE_INT && inst.operand(1) == 32 && inst.operand(2) == 0);
    let word = match found {
        Some(inst) => inst.operand(0),
        None => {
            let id = module.fresh();
            globals.push(Inst::new(at, OP_TYPE_INT, &[id, 32, 0]));
            id
        }
    };
    let mut bits: Map<u32, u32> = Map::default();
    for inst in &wild {
        if inst.opcode() == OP_CONSTANT {
            let id = module.fresh();
            globals.push(Inst::new(at, OP_CONSTANT, &[word, id, inst.operand(2)]));
            bits.insert(inst.operand(1), id);
        }
    }
    let mut out: Vec<Inst> = Vec::with_capacity(functions.len());
    let mut renamed: Map<u32, u32> = Map::default();
    let mut pending = false;
    for mut inst in std::mem::take(functions) {
        match inst.opcode() {
            OP_FUNCTION => {
                renamed = ids.iter().map(|id| (*id, module.fresh())).collect();
                pending = true;
            }
            OP_LABEL | OP_VARIABLE | OP_FUNCTION_PARAMETER | OP_LINE => {}
            _ if pending => {
                pending = false;
                for one in &wild {
                    let new = renamed[&one.operand(1)];
                    let operands = match bits.get(&one.operand(1)) {
                        Some(bits) => vec![one.operand(0), new, *bits],
                        None => {
                            let members = one.rest(2).iter();
                            let members = members.map(|id| renamed.get(id).copied().unwrap_or(*id));
                            [one.operand(0), new].into_iter().chain(members).collect()
                        }
                    };
                    let opcode = match one.opcode() {
                        OP_CONSTANT => OP_BITCAST,
                        _ => OP_COMPOSITE_CONSTRUCT,
                    };
                    out.push(Inst::new(inst.at, opcode, &operands));
                }
            }
            _ => {}
        }
        rename_ids(&mut inst, &renamed);
        out.push(inst);
    }
    *functions = out;
}

/// True for instructions that begin with the type and the id of a result.
fn has_result(opcode: u32) -> bool {
    !matches!(
        opcode,
        0 | 2..=11 | 13..=40 | OP_STORE | 63..=64 | 71..=76 | 99 | 218..=221 | 224..=225 | 228 | 246..=256
    )
}

/// Replaces ids among the operands that are ids for certain.
fn rename_ids(inst: &mut Inst, renamed: &Map<u32, u32>) {
    let ids = match inst.opcode() {
        // Literals stand behind the composite, the vectors, the labels' selector.
        OP_COMPOSITE_EXTRACT => 3..4,
        OP_COMPOSITE_INSERT | OP_VECTOR_SHUFFLE => 3..5,
        OP_EXT_INST => 5..inst.words.len(),
        OP_STORE | OP_RETURN_VALUE => 1..inst.words.len().min(3),
        OP_LOAD
        | OP_VARIABLE
        | OP_LABEL
        | OP_FUNCTION
        | OP_LINE
        | OP_SWITCH
        | OP_BRANCH
        | OP_BRANCH_CONDITIONAL => return,
        _ => 3..inst.words.len(),
    };
    let end = ids.end.min(inst.words.len());
    for word in inst
        .words
        .get_mut(ids.start.min(end)..end)
        .unwrap_or_default()
    {
        if let Some(new) = renamed.get(word) {
            *word = *new;
        }
    }
}

impl Gaps<'_> {
    fn learn(&mut self, insts: &[Inst]) {
        for inst in insts {
            match inst.opcode() {
                opcode @ (OP_TYPE_INT | OP_TYPE_FLOAT | OP_TYPE_VECTOR | OP_TYPE_STRUCT
                | OP_TYPE_ARRAY | OP_TYPE_IMAGE | OP_TYPE_BOOL | OP_TYPE_MATRIX) => {
                    let key = [&[opcode][..], inst.rest(1)].concat();
                    self.types
                        .insert(inst.operand(0), (opcode, inst.rest(1).to_vec()));
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
        if matches!(
            opcode,
            OP_TYPE_INT | OP_TYPE_FLOAT | OP_TYPE_VECTOR | OP_TYPE_BOOL
        ) {
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
                self.globals
                    .push(Inst::new(self.at, OP_CONSTANT_NULL, &all));
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

    /// Sums with carries and products of twice the width, of 32-bit words.
    fn extended(&mut self, inst: &Inst) -> Option<()> {
        let (result, id, a, b) = (
            inst.operand(0),
            inst.operand(1),
            inst.operand(2),
            inst.operand(3),
        );
        let member = match self.types.get(&result)? {
            (OP_TYPE_STRUCT, members) => *members.first()?,
            _ => return None,
        };
        if self.integers(member)?.0 != 32 {
            return None;
        }
        let word = self.global(OP_TYPE_INT, &[32, 0]);
        let ty = self.like(member, word);
        let [a, b] = [a, b].map(|value| self.cast(value, ty));
        let truth = self.global(OP_TYPE_BOOL, &[]);
        let truths = self.like(ty, truth);
        let (zero, one) = (self.splat(ty, 0), self.splat(ty, 1));
        let (low, high) = match inst.opcode() {
            OP_I_ADD_CARRY => {
                let sum = self.emit(OP_I_ADD, ty, &[a, b]);
                let over = self.emit(OP_U_LESS_THAN, truths, &[sum, a]);
                (sum, self.emit(OP_SELECT, ty, &[over, one, zero]))
            }
            OP_I_SUB_BORROW => {
                let difference = self.emit(OP_I_SUB, ty, &[a, b]);
                let under = self.emit(OP_U_LESS_THAN, truths, &[a, b]);
                (difference, self.emit(OP_SELECT, ty, &[under, one, zero]))
            }
            opcode => {
                let low = self.emit(OP_I_MUL, ty, &[a, b]);
                let mut high = self.high(ty, a, b);
                if opcode == OP_S_MUL_EXTENDED {
                    // A negative factor counts for 2^32 too much of the other.
                    let top = self.splat(ty, 31);
                    for (of, other) in [(a, b), (b, a)] {
                        let sign = self.emit(OP_SHIFT_RIGHT_LOGICAL, ty, &[of, top]);
                        let extra = self.emit(OP_I_MUL, ty, &[sign, other]);
                        high = self.emit(OP_I_SUB, ty, &[high, extra]);
                    }
                }
                (low, high)
            }
        };
        let [low, high] = [low, high].map(|value| self.cast(value, member));
        self.emit_as(OP_COMPOSITE_CONSTRUCT, result, id, &[low, high]);
        Some(())
    }

    /// The upper word of a product: of four products of halves.
    fn high(&mut self, ty: u32, a: u32, b: u32) -> u32 {
        let (half, mask) = (self.splat(ty, 16), self.splat(ty, 0xffff));
        let parts = |gaps: &mut Self, value| {
            let low = gaps.emit(OP_BITWISE_AND, ty, &[value, mask]);
            (low, gaps.emit(OP_SHIFT_RIGHT_LOGICAL, ty, &[value, half]))
        };
        let ((a0, a1), (b0, b1)) = (parts(self, a), parts(self, b));
        let low = self.emit(OP_I_MUL, ty, &[a0, b0]);
        let middle = self.emit(OP_I_MUL, ty, &[a1, b0]);
        let other = self.emit(OP_I_MUL, ty, &[a0, b1]);
        let high = self.emit(OP_I_MUL, ty, &[a1, b1]);
        let carry = self.emit(OP_SHIFT_RIGHT_LOGICAL, ty, &[low, half]);
        let first = self.emit(OP_I_ADD, ty, &[middle, carry]);
        let (first_low, first_high) = parts(self, first);
        let second = self.emit(OP_I_ADD, ty, &[other, first_low]);
        let second_high = self.emit(OP_SHIFT_RIGHT_LOGICAL, ty, &[second, half]);
        let sum = self.emit(OP_I_ADD, ty, &[high, first_high]);
        self.emit(OP_I_ADD, ty, &[sum, second_high])
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
        let found = self
            .made
            .iter()
            .find(|(key, made)| key[0] == OP_CONSTANT && **made == id);
        found.and_then(|(key, _)| key.get(2).copied())
    }

    /// Rounded to the precision of 16 bits and back.
    fn quantized(&mut self, inst: &Inst) -> Option<()> {
        let (ty, id, value) = (inst.operand(0), inst.operand(1), inst.operand(2));
        let (scalar, count) = self.shape(ty)?;
        if !self.is_float32(ty) || self.glsl == 0 {
            return None;
        }
        let word = self.global(OP_TYPE_INT, &[32, 0]);
        let pair = self.global(OP_TYPE_VECTOR, &[scalar, 2]);
        let mut members = Vec::new();
        for index in 0..count {
            let one = match count {
                1 => value,
                _ => self.emit(OP_COMPOSITE_EXTRACT, scalar, &[value, index]),
            };
            let both = self.emit(OP_COMPOSITE_CONSTRUCT, pair, &[one, one]);
            let packed = self.std(word, PACK_HALF, &[both]);
            let unpacked = self.std(pair, UNPACK_HALF, &[packed]);
            if count == 1 {
                self.emit_as(OP_COMPOSITE_EXTRACT, ty, id, &[unpacked, 0]);
                return Some(());
            }
            members.push(self.emit(OP_COMPOSITE_EXTRACT, scalar, &[unpacked, 0]));
        }
        self.emit_as(OP_COMPOSITE_CONSTRUCT, ty, id, &members);
        Some(())
    }

    /// An operation on signed integers whose operands or result are declared without a sign.
    fn signed(&mut self, inst: &Inst, opcode: u32, before: &[u32], operands: &[u32]) -> bool {
        self.with_sign(inst, opcode, before, operands, 1)
    }

    fn with_sign(
        &mut self,
        inst: &Inst,
        opcode: u32,
        before: &[u32],
        operands: &[u32],
        sign: u32,
    ) -> bool {
        let ty = inst.operand(0);
        let Some((width, own)) = self.integers(ty) else {
            return false;
        };
        let fits = |gaps: &Self, value: &u32| {
            gaps.of.get(value).and_then(|ty| gaps.integers(*ty)) == Some((width, sign))
        };
        if own == sign && operands.iter().all(|value| fits(self, value)) {
            return false;
        }
        let scalar = self.global(OP_TYPE_INT, &[width, sign]);
        let wanted = self.like(ty, scalar);
        let mut all = before.to_vec();
        for value in operands {
            let value = self.cast(*value, wanted);
            all.push(value);
        }
        if wanted == ty {
            self.emit_as(opcode, ty, inst.operand(1), &all);
        } else {
            let made = self.emit(opcode, wanted, &all);
            self.emit_as(OP_BITCAST, ty, inst.operand(1), &[made]);
        }
        true
    }

    /// The remainder with the divisor's sign, exactly: naga takes a way through floats.
    fn modulo(&mut self, inst: &Inst) -> Option<()> {
        let (ty, id) = (inst.operand(0), inst.operand(1));
        let (width, _) = self.integers(ty)?;
        let scalar = self.global(OP_TYPE_INT, &[width, 1]);
        let wanted = self.like(ty, scalar);
        if width != 32 {
            return None;
        }
        let [a, b] = [inst.operand(2), inst.operand(3)].map(|value| self.cast(value, wanted));
        let truth = self.global(OP_TYPE_BOOL, &[]);
        let truths = self.like(ty, truth);
        let zero = self.splat(wanted, 0);
        let rest = self.emit(OP_S_REM, wanted, &[a, b]);
        let signs = self.emit(OP_BITWISE_XOR, wanted, &[rest, b]);
        let differ = self.emit(OP_S_LESS_THAN, truths, &[signs, zero]);
        let some = self.emit(OP_I_NOT_EQUAL, truths, &[rest, zero]);
        let own = self.emit(OP_SELECT, wanted, &[some, b, zero]);
        let more = self.emit(OP_SELECT, wanted, &[differ, own, zero]);
        let sum = self.emit(OP_I_ADD, wanted, &[rest, more]);
        self.emit_as(OP_BITCAST, ty, id, &[sum]);
        Some(())
    }

    /// Operands of the result's type.
    fn alike(&mut self, inst: &Inst) -> bool {
        match self.integers(inst.operand(0)) {
            Some((_, sign)) => self.with_sign(inst, inst.opcode(), &[], inst.rest(2), sign),
            None => false,
        }
    }

    /// A texel of an image with levels, of which none is named: the first.
    fn fetch(&mut self, inst: &Inst) -> bool {
        let mask = inst.operand(4);
        let image = self
            .of
            .get(&inst.operand(2))
            .and_then(|ty| self.types.get(ty));
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

    /// Functions of GLSL.std.450.
    fn function(&mut self, inst: &Inst) -> Option<()> {
        let (ty, id, function) = (inst.operand(0), inst.operand(1), inst.operand(3));
        let given = inst.rest(4).to_vec();
        let set = [self.glsl, function];
        let scalar = self.shape(ty).is_some_and(|shape| shape.1 == 1);
        match (function, &given[..]) {
            (MODF, &[x, pointer]) => {
                let whole = self.std(ty, TRUNC, &[x]);
                self.out
                    .push(Inst::new(self.at, OP_STORE, &[pointer, whole]));
                self.emit_as(OP_F_SUB, ty, id, &[x, whole]);
            }
            (MODF_STRUCT, &[x]) => {
                let own = *self.of.get(&x)?;
                let whole = self.std(own, TRUNC, &[x]);
                let fract = self.emit(OP_F_SUB, own, &[x, whole]);
                self.emit_as(OP_COMPOSITE_CONSTRUCT, ty, id, &[fract, whole]);
            }
            (FREXP, &[x, pointer]) if self.is_float32(ty) => {
                let (fract, exponent) = self.frexp(ty, x);
                // The pointer's type says what the exponent is.
                let int = self.global(OP_TYPE_INT, &[32, 1]);
                let ints = self.like(ty, int);
                let exponent = self.cast(exponent, ints);
                self.out
                    .push(Inst::new(self.at, OP_STORE, &[pointer, exponent]));
                self.emit_as(OP_BITCAST, ty, id, &[fract]);
            }
            (FREXP_STRUCT, &[x]) => {
                let own = *self.of.get(&x)?;
                let member = match self.types.get(&ty)? {
                    (OP_TYPE_STRUCT, members) => *members.get(1)?,
                    _ => return None,
                };
                if !self.is_float32(own) || self.integers(member)?.0 != 32 {
                    return None;
                }
                let (fract, exponent) = self.frexp(own, x);
                let fract = self.emit(OP_BITCAST, own, &[fract]);
                let exponent = self.cast(exponent, member);
                self.emit_as(OP_COMPOSITE_CONSTRUCT, ty, id, &[fract, exponent]);
            }
            (U_MIN | U_MAX | U_CLAMP, _) => {
                return self
                    .with_sign(inst, OP_EXT_INST, &set, &given, 0)
                    .then_some(());
            }
            (S_MIN | S_MAX | S_CLAMP | S_ABS | S_SIGN | FIND_S_MSB, _) => {
                return self
                    .with_sign(inst, OP_EXT_INST, &set, &given, 1)
                    .then_some(());
            }
            (FIND_U_MSB, _) => {
                return self
                    .with_sign(inst, OP_EXT_INST, &set, &given, 0)
                    .then_some(());
            }
            (FIND_LSB, _) => {
                let sign = self.integers(ty)?.1;
                return self
                    .with_sign(inst, OP_EXT_INST, &set, &given, sign)
                    .then_some(());
            }
            (LDEXP, &[x, exponent]) => {
                let own = *self.of.get(&exponent)?;
                if self.integers(own)? != (32, 0) {
                    return None;
                }
                let int = self.global(OP_TYPE_INT, &[32, 1]);
                let ints = self.like(ty, int);
                let exponent = self.cast(exponent, ints);
                self.emit_as(OP_EXT_INST, ty, id, &[set[0], set[1], x, exponent]);
            }
            (NORMALIZE, &[x]) if scalar => {
                let length = self.std(ty, F_ABS, &[x]);
                self.emit_as(OP_F_DIV, ty, id, &[x, length]);
            }
            (REFLECT, &[i, n]) if scalar && self.is_float32(ty) => {
                let two = self.splat(ty, 2f32.to_bits());
                let dot = self.emit(OP_F_MUL, ty, &[n, i]);
                let twice = self.emit(OP_F_MUL, ty, &[two, dot]);
                let along = self.emit(OP_F_MUL, ty, &[twice, n]);
                self.emit_as(OP_F_SUB, ty, id, &[i, along]);
            }
            (FACE_FORWARD, &[n, i, reference]) if scalar => {
                let truth = self.global(OP_TYPE_BOOL, &[]);
                let zero = self.splat(ty, 0);
                let dot = self.emit(OP_F_MUL, ty, &[reference, i]);
                let faces = self.emit(OP_F_ORD_LESS_THAN, truth, &[dot, zero]);
                let back = self.emit(OP_F_NEGATE, ty, &[n]);
                self.emit_as(OP_SELECT, ty, id, &[faces, n, back]);
            }
            (REFRACT, &[i, n, eta]) if scalar && self.is_float32(ty) => {
                let truth = self.global(OP_TYPE_BOOL, &[]);
                let (zero, one) = (self.splat(ty, 0), self.splat(ty, 1f32.to_bits()));
                let dot = self.emit(OP_F_MUL, ty, &[n, i]);
                let square = self.emit(OP_F_MUL, ty, &[dot, dot]);
                let rest = self.emit(OP_F_SUB, ty, &[one, square]);
                let eta2 = self.emit(OP_F_MUL, ty, &[eta, eta]);
                let part = self.emit(OP_F_MUL, ty, &[eta2, rest]);
                let k = self.emit(OP_F_SUB, ty, &[one, part]);
                let inside = self.emit(OP_F_ORD_LESS_THAN, truth, &[k, zero]);
                let root = self.std(ty, SQRT, &[k]);
                let bent = self.emit(OP_F_MUL, ty, &[eta, dot]);
                let sum = self.emit(OP_F_ADD, ty, &[bent, root]);
                let along = self.emit(OP_F_MUL, ty, &[sum, n]);
                let straight = self.emit(OP_F_MUL, ty, &[eta, i]);
                let out = self.emit(OP_F_SUB, ty, &[straight, along]);
                self.emit_as(OP_SELECT, ty, id, &[inside, zero, out]);
            }
            _ => return None,
        }
        Some(())
    }

    /// Fraction (as words) and exponent of 32-bit floats; zeros and what is smaller than any normal
    /// number stay what they are.
    fn frexp(&mut self, ty: u32, x: u32) -> (u32, u32) {
        let word = self.global(OP_TYPE_INT, &[32, 0]);
        let words = self.like(ty, word);
        let truth = self.global(OP_TYPE_BOOL, &[]);
        let truths = self.like(ty, truth);
        let number = |gaps: &mut Self, bits| gaps.splat(words, bits);
        let bits = self.emit(OP_BITCAST, words, &[x]);
        let by = number(self, 23);
        let high = self.emit(OP_SHIFT_RIGHT_LOGICAL, words, &[bits, by]);
        let mask = number(self, 255);
        let biased = self.emit(OP_BITWISE_AND, words, &[high, mask]);
        let bias = number(self, 126);
        let exponent = self.emit(OP_I_SUB, words, &[biased, bias]);
        let keep = number(self, 0x807f_ffff);
        let kept = self.emit(OP_BITWISE_AND, words, &[bits, keep]);
        let half = number(self, 0x3f00_0000);
        let fract = self.emit(OP_BITWISE_OR, words, &[kept, half]);
        let zero = number(self, 0);
        let small = self.emit(OP_I_EQUAL, truths, &[biased, zero]);
        let fract = self.emit(OP_SELECT, words, &[small, bits, fract]);
        let exponent = self.emit(OP_SELECT, words, &[small, zero, exponent]);
        (fract, exponent)
    }
}
