//! What a subpass left at the pixel is a texel of a two-dimensional texture there.

use super::module::{Inst, Module};
use super::ops::*;
use std::collections::{BTreeMap, BTreeSet};

/// Turns images of subpass data into textures, and reads of them into fetches at the pixel.
pub fn fetch(module: &mut Module) {
    let is_subpass =
        |inst: &Inst| inst.opcode() == OP_TYPE_IMAGE && inst.operand(2) == SUBPASS_DATA;
    let images: BTreeSet<u32> =
        module.insts.iter().filter(|inst| is_subpass(inst)).map(|inst| inst.operand(0)).collect();
    if images.is_empty() {
        return;
    }
    // Types and constants that there may be, and the loaded images.
    let mut known: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
    let mut loaded: BTreeSet<u32> = BTreeSet::new();
    let mut place = None;
    for inst in &module.insts {
        let opcode = inst.opcode();
        match opcode {
            OP_TYPE_INT | OP_TYPE_FLOAT | OP_TYPE_VECTOR | OP_TYPE_POINTER => {
                let key = [&[opcode][..], inst.rest(1)].concat();
                known.entry(key).or_insert(inst.operand(0));
            }
            OP_CONSTANT => {
                let key = vec![opcode, inst.operand(0), inst.operand(2)];
                known.entry(key).or_insert(inst.operand(1));
            }
            OP_DECORATE if inst.operand(1) == BUILT_IN && inst.operand(2) == FRAG_COORD => {
                place = Some(inst.operand(0));
            }
            OP_LOAD if images.contains(&inst.operand(0)) => {
                loaded.insert(inst.operand(1));
            }
            _ => {}
        }
    }
    let mut added = Vec::new();
    let mut make = |module: &mut Module, key: Vec<u32>| -> u32 {
        if let Some(id) = known.get(&key) {
            return *id;
        }
        let id = module.fresh();
        let operands = match key[0] {
            OP_CONSTANT => vec![key[1], id, key[2]],
            _ => [&[id][..], &key[1..]].concat(),
        };
        added.push(Inst::new(0, key[0], &operands));
        known.insert(key, id);
        id
    };
    let float = make(module, vec![OP_TYPE_FLOAT, 32]);
    let int = make(module, vec![OP_TYPE_INT, 32, 1]);
    let four = make(module, vec![OP_TYPE_VECTOR, float, 4]);
    let two = make(module, vec![OP_TYPE_VECTOR, float, 2]);
    let pixel = make(module, vec![OP_TYPE_VECTOR, int, 2]);
    let zero = make(module, vec![OP_CONSTANT, int, 0]);
    let pointer = make(module, vec![OP_TYPE_POINTER, INPUT, four]);
    let declared = place;
    let place = place.unwrap_or_else(|| module.fresh());
    if declared.is_none() {
        added.push(Inst::new(0, OP_VARIABLE, &[pointer, place, INPUT]));
    }
    let mut out = Vec::with_capacity(module.insts.len());
    let mut decorated = declared.is_some();
    let mut before_functions = true;
    for mut inst in std::mem::take(&mut module.insts) {
        let opcode = inst.opcode();
        if !decorated && matches!(opcode, 19..=39) {
            decorated = true;
            let operands = [place, BUILT_IN, FRAG_COORD];
            out.push(Inst::new(inst.at, OP_DECORATE, &operands));
        }
        if before_functions && opcode == OP_FUNCTION {
            before_functions = false;
            out.append(&mut added);
        }
        match opcode {
            OP_ENTRY_POINT if inst.operand(0) == FRAGMENT && declared.is_none() => {
                let operands = [inst.operands(), &[place]].concat();
                inst.become_inst(opcode, &operands);
            }
            OP_TYPE_IMAGE if images.contains(&inst.operand(0)) => {
                let mut operands = inst.operands().to_vec();
                operands[2] = 1;
                operands[6] = 1;
                operands[7] = 0;
                inst.become_inst(opcode, &operands);
            }
            OP_IMAGE_READ if loaded.contains(&inst.operand(2)) => {
                let mut emit = |opcode: u32, ty: u32, operands: &[u32]| {
                    let id = module.fresh();
                    let all = [&[ty, id][..], operands].concat();
                    out.push(Inst::new(inst.at, opcode, &all));
                    id
                };
                let coordinates = emit(OP_LOAD, four, &[place]);
                let near = emit(OP_VECTOR_SHUFFLE, two, &[coordinates, coordinates, 0, 1]);
                let at = emit(OP_CONVERT_F_TO_S, pixel, &[near]);
                let mut operands = inst.operands().to_vec();
                operands[3] = at;
                if operands.len() == 4 {
                    operands.extend([LOD, zero]);
                }
                inst.become_inst(OP_IMAGE_FETCH, &operands);
            }
            _ => {}
        }
        out.push(inst);
    }
    module.insts = out;
}
