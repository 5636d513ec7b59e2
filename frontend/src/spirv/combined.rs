//! Combined image samplers become an image and a sampler each.
//!
//! Vulkan's `OpTypeSampledImage` variables are what every GLSL `sampler2D` is; naga reads images and
//! samplers apart only. The types are turned in place, so that a variable, parameter or pointer of a
//! combined type means its image from then on, and each gets a twin for its sampler with the same
//! descriptor set and binding: two bindings of one number and two kinds.

use super::module::{Inst, Module};
use std::collections::BTreeMap;

const OP_NAME: u32 = 5;
const OP_TYPE_SAMPLER: u32 = 26;
const OP_TYPE_SAMPLED_IMAGE: u32 = 27;
const OP_TYPE_ARRAY: u32 = 28;
const OP_TYPE_RUNTIME_ARRAY: u32 = 29;
const OP_TYPE_POINTER: u32 = 32;
const OP_TYPE_FUNCTION: u32 = 33;
const OP_FUNCTION_PARAMETER: u32 = 55;
const OP_FUNCTION_CALL: u32 = 57;
const OP_VARIABLE: u32 = 59;
const OP_LOAD: u32 = 61;
const OP_ACCESS_CHAIN: u32 = 65;
const OP_IN_BOUNDS_ACCESS_CHAIN: u32 = 66;
const OP_DECORATE: u32 = 71;
const OP_COPY_OBJECT: u32 = 83;
const OP_SAMPLED_IMAGE: u32 = 86;
const OP_ENTRY_POINT: u32 = 15;

const DESCRIPTOR_SET: u32 = 34;
const BINDING: u32 = 33;

/// Takes them apart; true when there were any.
pub fn split(module: &mut Module) -> bool {
    // Combined type -> its image; what is an array of one or a pointer to one -> its sampler twin.
    let mut images: BTreeMap<u32, u32> = BTreeMap::new();
    let mut twin_types: BTreeMap<u32, u32> = BTreeMap::new();
    let mut sampler = None;
    // Variables, parameters and chains of combined types -> the sampler's.
    let mut twins: BTreeMap<u32, u32> = BTreeMap::new();
    let mut out: Vec<Inst> = Vec::with_capacity(module.insts.len());
    let insts = std::mem::take(&mut module.insts);
    // Decorations stand before the variables: numbers of the twins are given first.
    if !insts.iter().any(|inst| combined_variable_type(inst, &insts)) {
        module.insts = insts;
        return false;
    }
    for mut inst in insts {
        let at = inst.at;
        let first = inst.operand(0);
        match inst.opcode() {
            OP_TYPE_SAMPLER => {
                sampler.get_or_insert(first);
                out.push(inst);
            }
            OP_TYPE_SAMPLED_IMAGE if first != 0 => {
                if sampler.is_none() {
                    let id = module.fresh();
                    sampler = Some(id);
                    out.push(Inst::new(at, OP_TYPE_SAMPLER, &[id]));
                }
                images.insert(first, inst.operand(1));
                out.push(inst);
            }
            opcode @ (OP_TYPE_ARRAY | OP_TYPE_RUNTIME_ARRAY | OP_TYPE_POINTER) => {
                let place = if opcode == OP_TYPE_POINTER { 2 } else { 1 };
                let of = inst.operand(place);
                let twin_of = match images.get(&of) {
                    Some(_) => sampler,
                    None => twin_types.get(&of).copied(),
                };
                let Some(twin_of) = twin_of else {
                    out.push(inst);
                    continue;
                };
                let id = module.fresh();
                let mut twin = inst.clone();
                twin.words[1] = id;
                twin.words[place + 1] = twin_of;
                twin_types.insert(first, id);
                if let Some(image) = images.get(&of) {
                    inst.words[place + 1] = *image;
                }
                out.push(inst);
                out.push(twin);
            }
            OP_TYPE_FUNCTION => {
                let mut operands = vec![first, inst.operand(1)];
                for ty in inst.rest(2) {
                    operands.push(*ty);
                    operands.extend(twin_types.get(ty));
                }
                inst.become_inst(OP_TYPE_FUNCTION, &operands);
                out.push(inst);
            }
            OP_VARIABLE | OP_FUNCTION_PARAMETER => {
                let ty = twin_types.get(&first).copied();
                let id = inst.operand(1);
                let twin = ty.map(|ty| {
                    let twin = module.fresh();
                    twins.insert(id, twin);
                    let mut copy = inst.clone();
                    copy.words[1] = ty;
                    copy.words[2] = twin;
                    copy
                });
                out.push(inst);
                out.extend(twin);
            }
            OP_ACCESS_CHAIN | OP_IN_BOUNDS_ACCESS_CHAIN | OP_COPY_OBJECT
                if twins.contains_key(&inst.operand(2)) =>
            {
                let mut copy = inst.clone();
                let id = module.fresh();
                copy.words[1] = twin_types.get(&first).copied().unwrap_or(first);
                copy.words[2] = id;
                copy.words[3] = twins[&inst.operand(2)];
                twins.insert(inst.operand(1), id);
                out.push(inst);
                out.push(copy);
            }
            OP_LOAD if images.contains_key(&first) && twins.contains_key(&inst.operand(2)) => {
                let (image, smp) = (module.fresh(), module.fresh());
                let pointer = inst.operand(2);
                let mut load = inst.clone();
                load.words[1] = images[&first];
                load.words[2] = image;
                let sampler = sampler.expect("declared before the first combined type");
                out.push(load);
                out.push(Inst::new(at, OP_LOAD, &[sampler, smp, twins[&pointer]]));
                let operands = [first, inst.operand(1), image, smp];
                out.push(Inst::new(at, OP_SAMPLED_IMAGE, &operands));
            }
            OP_FUNCTION_CALL => {
                let mut operands: Vec<u32> = inst.operands().iter().take(3).copied().collect();
                for argument in inst.rest(3) {
                    operands.push(*argument);
                    operands.extend(twins.get(argument));
                }
                inst.become_inst(OP_FUNCTION_CALL, &operands);
                out.push(inst);
            }
            _ => out.push(inst),
        }
    }
    module.insts = describe(out, &twins);
    true
}

/// A variable whose type leads to a combined image sampler.
fn combined_variable_type(inst: &Inst, insts: &[Inst]) -> bool {
    inst.opcode() == OP_TYPE_SAMPLED_IMAGE
        && insts.iter().any(|pointer| {
            matches!(pointer.opcode(), OP_TYPE_POINTER | OP_TYPE_ARRAY | OP_TYPE_RUNTIME_ARRAY)
                && pointer.operands().contains(&inst.operand(0))
        })
}

/// Gives the twins names and bindings, and entry points that list their variables both.
fn describe(insts: Vec<Inst>, twins: &BTreeMap<u32, u32>) -> Vec<Inst> {
    let mut out = Vec::with_capacity(insts.len() + 2 * twins.len());
    for mut inst in insts {
        let twin = twins.get(&inst.operand(0)).copied();
        match (inst.opcode(), twin) {
            (OP_NAME | OP_DECORATE, Some(twin)) => {
                let binds = matches!(inst.operand(1), DESCRIPTOR_SET | BINDING);
                let mut copy = inst.clone();
                copy.words[1] = twin;
                let wanted = inst.opcode() == OP_NAME || binds;
                out.push(inst);
                if wanted {
                    out.push(copy);
                }
            }
            (OP_ENTRY_POINT, _) => {
                let name = 2 + super::string_words(inst.rest(2));
                let mut operands = inst.operands().to_vec();
                let listed: Vec<u32> = operands.iter().skip(name).copied().collect();
                operands.extend(listed.iter().filter_map(|id| twins.get(id)));
                inst.become_inst(OP_ENTRY_POINT, &operands);
                out.push(inst);
            }
            _ => out.push(inst),
        }
    }
    out
}
