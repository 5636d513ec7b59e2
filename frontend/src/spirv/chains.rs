//! Access chains reach the types that they say. naga trusts them, and would mix up types of other sizes.

use super::module::Module;
use crate::stop::Stop;
use gpucc_ir::Map;
use gpucc_ir::ssa::Span;

const OP_TYPE_VECTOR: u32 = 23;
const OP_TYPE_MATRIX: u32 = 24;
const OP_TYPE_ARRAY: u32 = 28;
const OP_TYPE_RUNTIME_ARRAY: u32 = 29;
const OP_TYPE_STRUCT: u32 = 30;
const OP_TYPE_POINTER: u32 = 32;
const OP_CONSTANT: u32 = 43;
const OP_FUNCTION_PARAMETER: u32 = 55;
const OP_VARIABLE: u32 = 59;
const OP_ACCESS_CHAIN: u32 = 65;
const OP_IN_BOUNDS_ACCESS_CHAIN: u32 = 66;
const OP_COPY_OBJECT: u32 = 83;

/// What an id stands for.
#[derive(Copy, Clone)]
enum Known {
    /// A pointer's pointee.
    Pointer(u32),
    /// The type of every part of a vector, matrix or array.
    Parts(u32),
    /// The instruction of a structure.
    Struct(usize),
    /// The low word of a constant.
    Constant(u32),
    /// The type of a variable, or of what is made from one.
    Typed(u32),
}

/// Refuses an access chain whose result points to another type than the one that it reaches. SPIR-V 3.49.8.
pub fn check(module: &Module) -> Result<(), Stop> {
    let mut ids: Map<u32, Known> = Map::default();
    for (number, inst) in module.insts.iter().enumerate() {
        let [first, second, third] = [0, 1, 2].map(|at| inst.operand(at));
        match inst.opcode() {
            OP_TYPE_VECTOR | OP_TYPE_MATRIX | OP_TYPE_ARRAY | OP_TYPE_RUNTIME_ARRAY => {
                ids.insert(first, Known::Parts(second));
            }
            OP_TYPE_STRUCT => {
                ids.insert(first, Known::Struct(number));
            }
            OP_TYPE_POINTER => {
                ids.insert(first, Known::Pointer(third));
            }
            OP_CONSTANT => {
                ids.insert(second, Known::Constant(third));
            }
            OP_FUNCTION_PARAMETER | OP_VARIABLE | OP_COPY_OBJECT => {
                ids.insert(second, Known::Typed(first));
            }
            OP_ACCESS_CHAIN | OP_IN_BOUNDS_ACCESS_CHAIN => {
                let said = pointee(&ids, first);
                let reached = reached(module, &ids, third, inst.rest(3));
                if let (Some(said), Some(reached)) = (said, reached)
                    && said != reached
                {
                    let message = "the result of an access chain points to another type than the one that the chain reaches";
                    let start = inst.at as u32;
                    let end = start + 4 * inst.words.len() as u32;
                    return Err(Stop::invalid(message).at(Span { start, end }));
                }
                ids.insert(second, Known::Typed(first));
            }
            _ => {}
        }
    }
    Ok(())
}

fn pointee(ids: &Map<u32, Known>, ty: u32) -> Option<u32> {
    match ids.get(&ty) {
        Some(&Known::Pointer(pointee)) => Some(pointee),
        _ => None,
    }
}

/// The type behind a base and its indices; `None` where it is not known, which naga judges.
fn reached(module: &Module, ids: &Map<u32, Known>, base: u32, indices: &[u32]) -> Option<u32> {
    let Some(&Known::Typed(ty)) = ids.get(&base) else {
        return None;
    };
    let mut ty = pointee(ids, ty)?;
    for index in indices {
        ty = match (ids.get(&ty)?, ids.get(index)) {
            (&Known::Parts(part), _) => part,
            (&Known::Struct(number), Some(&Known::Constant(member))) => {
                *module.insts[number].rest(1).get(usize::try_from(member).ok()?)?
            }
            _ => return None,
        };
    }
    Some(ty)
}
