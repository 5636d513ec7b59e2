//! What naga does not know of declarations: groups of decorations, buffers that are only written, images
//! without a format, constants that are no finite numbers.

use crate::spirv::module::{Inst, Module};
use crate::spirv::ops::*;
use gpucc_ir::Map;
use std::collections::BTreeSet;

/// Groups of decorations: each member gets its own.
pub fn groups(module: &mut Module) {
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
pub fn buffers_are_read(module: &mut Module) {
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
pub fn formats(module: &mut Module, notes: &mut Vec<String>) {
    let mut scalars: Map<u32, (u32, u32)> = Map::default();
    let texels = module.insts.iter().any(|inst| inst.opcode() == OP_IMAGE_TEXEL_POINTER);
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
                notes.push(format!("storage images without a format are taken for {name}"));
            }
            _ => {}
        }
    }
}

/// Constants that are no finite numbers: naga refuses them as literals, so that each function that uses
/// one makes it of its bits.
pub fn not_finite(module: &mut Module, globals: &mut Vec<Inst>, functions: &mut Vec<Inst>) {
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
    let initial =
        globals.iter().any(|inst| inst.opcode() == OP_VARIABLE && ids.contains(&inst.operand(3)));
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
    for word in inst.words.get_mut(ids.start.min(end)..end).unwrap_or_default() {
        if let Some(new) = renamed.get(word) {
            *word = *new;
        }
    }
}
