//! Specialization: every specialization constant becomes the constant that it has in this
//! compilation, and what is computed from such constants is computed.
//!
//! naga keeps specialization constants as overrides, but knows neither `OpSpecConstantOp` nor arrays
//! of such sizes nor workgroup sizes by `LocalSizeId` or `WorkgroupSize`.

use super::module::{Inst, Module};
use crate::Options;
use crate::stop::Stop;
use std::collections::BTreeMap;

const OP_NAME: u32 = 5;
const OP_ENTRY_POINT: u32 = 15;
const OP_EXECUTION_MODE: u32 = 16;
const OP_TYPE_BOOL: u32 = 20;
const OP_TYPE_INT: u32 = 21;
const OP_TYPE_FLOAT: u32 = 22;
const OP_CONSTANT_TRUE: u32 = 41;
const OP_CONSTANT_FALSE: u32 = 42;
const OP_CONSTANT: u32 = 43;
const OP_CONSTANT_COMPOSITE: u32 = 44;
const OP_CONSTANT_NULL: u32 = 46;
const OP_SPEC_CONSTANT_TRUE: u32 = 48;
const OP_SPEC_CONSTANT_FALSE: u32 = 49;
const OP_SPEC_CONSTANT: u32 = 50;
const OP_SPEC_CONSTANT_COMPOSITE: u32 = 51;
const OP_SPEC_CONSTANT_OP: u32 = 52;
const OP_DECORATE: u32 = 71;
const OP_EXECUTION_MODE_ID: u32 = 331;

const SPEC_ID: u32 = 1;
const BUILT_IN: u32 = 11;
const WORKGROUP_SIZE: u32 = 25;
const LOCAL_SIZE: u32 = 17;
const LOCAL_SIZE_ID: u32 = 38;
const GL_COMPUTE: u32 = 5;

#[derive(Copy, Clone, PartialEq, Eq)]
enum Kind {
    Bool,
    /// Of so many bits.
    Int(u32),
    /// Of so many bits.
    Float(u32),
}

impl Kind {
    /// The words of a constant with this value.
    fn words(self, value: f64) -> Vec<u32> {
        let both = |bits: u64| vec![bits as u32, (bits >> 32) as u32];
        match self {
            Kind::Bool => vec![u32::from(value != 0.0)],
            Kind::Int(64) => both(value as i64 as u64),
            // A negative value of an unsigned constant is its bits.
            Kind::Int(_) => vec![value as i64 as u32],
            Kind::Float(64) => both(value.to_bits()),
            Kind::Float(16) => vec![half::f16::from_f64(value).to_bits().into()],
            Kind::Float(_) => vec![(value as f32).to_bits()],
        }
    }
    /// Values are computed with in one word.
    fn is_word(self) -> bool {
        matches!(self, Kind::Bool | Kind::Int(32) | Kind::Float(32))
    }
}

/// A constant's value, as far as it is known here: scalars of at most 32 bits and composites of ids.
#[derive(Clone)]
enum Value {
    Word(u32),
    Members(Vec<u32>),
}

/// Replaces them, with the values that the options give.
///
/// # Errors
/// A value for a constant that the module does not have.
pub fn specialize(module: &mut Module, options: &Options) -> Result<(), Stop> {
    let mut table = Table::default();
    let mut ids: BTreeMap<u32, u32> = BTreeMap::new();
    for inst in &module.insts {
        match inst.opcode() {
            OP_NAME => {
                let name = super::string(&inst.words[2.min(inst.words.len())..]);
                table.names.insert(inst.operand(0), name);
            }
            OP_DECORATE if inst.operand(1) == SPEC_ID => {
                ids.insert(inst.operand(0), inst.operand(2));
            }
            _ => {}
        }
    }
    let given = given(&table, &ids, options)?;
    for inst in &mut module.insts {
        table.constant(inst, &given);
    }
    module.insts.retain(|inst| inst.opcode() != OP_DECORATE || inst.operand(1) != SPEC_ID);
    workgroup_sizes(module, &table);
    Ok(())
}

/// The values that the options give, by the constant's id.
fn given(
    table: &Table,
    ids: &BTreeMap<u32, u32>,
    options: &Options,
) -> Result<BTreeMap<u32, f64>, Stop> {
    let mut given = BTreeMap::new();
    for (wanted, value) in &options.overrides {
        let found = ids.iter().find(|(id, number)| {
            number.to_string() == *wanted || table.names.get(id).is_some_and(|name| name == wanted)
        });
        let Some((id, _)) = found else {
            let mut known: Vec<String> = ids
                .iter()
                .map(|(id, number)| match table.names.get(id) {
                    Some(name) if !name.is_empty() => format!("{name} ({number})"),
                    _ => number.to_string(),
                })
                .collect();
            known.sort();
            let known = if known.is_empty() {
                "the module has no specialization constants".to_owned()
            } else {
                format!("the module's specialization constants are: {}", known.join(", "))
            };
            let message = format!("no specialization constant is named or numbered `{wanted}`");
            return Err(Stop::invalid(message).with_note(known));
        };
        given.insert(*id, *value);
    }
    Ok(given)
}

#[derive(Default)]
struct Table {
    names: BTreeMap<u32, String>,
    kinds: BTreeMap<u32, Kind>,
    values: BTreeMap<u32, Value>,
}

impl Table {
    /// Notes a constant, and makes a plain one of a specialization constant.
    fn constant(&mut self, inst: &mut Inst, given: &BTreeMap<u32, f64>) {
        let (ty, id) = (inst.operand(0), inst.operand(1));
        let value = match inst.opcode() {
            OP_TYPE_BOOL => {
                self.kinds.insert(ty, Kind::Bool);
                return;
            }
            OP_TYPE_INT => {
                self.kinds.insert(ty, Kind::Int(inst.operand(1)));
                return;
            }
            OP_TYPE_FLOAT => {
                self.kinds.insert(ty, Kind::Float(inst.operand(1)));
                return;
            }
            OP_CONSTANT_TRUE => Value::Word(1),
            OP_CONSTANT_FALSE => Value::Word(0),
            OP_CONSTANT_NULL if self.is_word(ty) => Value::Word(0),
            OP_CONSTANT if self.is_word(ty) => Value::Word(inst.operand(2)),
            OP_CONSTANT_COMPOSITE => Value::Members(inst.rest(2).to_vec()),
            OP_SPEC_CONSTANT_TRUE | OP_SPEC_CONSTANT_FALSE => {
                let own = f64::from(u8::from(inst.opcode() == OP_SPEC_CONSTANT_TRUE));
                let on = given.get(&id).copied().unwrap_or(own) != 0.0;
                let opcode = if on { OP_CONSTANT_TRUE } else { OP_CONSTANT_FALSE };
                inst.become_inst(opcode, &[ty, id]);
                Value::Word(on.into())
            }
            OP_SPEC_CONSTANT => {
                let mut operands = inst.operands().to_vec();
                let kind = self.kinds.get(&ty);
                if let (Some(value), Some(kind)) = (given.get(&id), kind) {
                    operands = [vec![ty, id], kind.words(*value)].concat();
                }
                inst.become_inst(OP_CONSTANT, &operands);
                if !self.is_word(ty) {
                    return;
                }
                Value::Word(inst.operand(2))
            }
            OP_SPEC_CONSTANT_COMPOSITE => {
                let operands = inst.operands().to_vec();
                inst.become_inst(OP_CONSTANT_COMPOSITE, &operands);
                Value::Members(inst.rest(2).to_vec())
            }
            OP_SPEC_CONSTANT_OP => {
                let Some(value) = self.computed(inst) else {
                    return;
                };
                match &value {
                    Value::Word(_) if !self.is_word(ty) => return,
                    Value::Word(word) => match self.kinds.get(&ty) {
                        Some(Kind::Bool) if *word != 0 => {
                            inst.become_inst(OP_CONSTANT_TRUE, &[ty, id]);
                        }
                        Some(Kind::Bool) => inst.become_inst(OP_CONSTANT_FALSE, &[ty, id]),
                        _ => inst.become_inst(OP_CONSTANT, &[ty, id, *word]),
                    },
                    Value::Members(members) => {
                        let operands: Vec<u32> = [ty, id].iter().chain(members).copied().collect();
                        inst.become_inst(OP_CONSTANT_COMPOSITE, &operands);
                    }
                }
                value
            }
            _ => return,
        };
        self.values.insert(id, value);
    }

    fn is_word(&self, ty: u32) -> bool {
        self.kinds.get(&ty).is_some_and(|kind| kind.is_word())
    }

    fn word(&self, id: u32) -> Option<u32> {
        match self.values.get(&id)? {
            Value::Word(word) => Some(*word),
            Value::Members(_) => None,
        }
    }

    fn members(&self, id: u32) -> Option<&[u32]> {
        match self.values.get(&id)? {
            Value::Word(_) => None,
            Value::Members(members) => Some(members),
        }
    }

    /// What an `OpSpecConstantOp` gives; `None` for what is not known here, which naga refuses.
    fn computed(&self, inst: &Inst) -> Option<Value> {
        let rest = inst.rest(3);
        match inst.operand(2) {
            // OpVectorShuffle
            79 => {
                let (&[a, b], lanes) = rest.split_first_chunk::<2>()?;
                let all = [self.members(a)?, self.members(b)?].concat();
                let picked = lanes.iter().map(|lane| all.get(*lane as usize).copied());
                return Some(Value::Members(picked.collect::<Option<_>>()?));
            }
            // OpCompositeExtract
            81 => {
                let (&composite, path) = rest.split_first()?;
                let member = path.iter().try_fold(composite, |id, index| {
                    self.members(id)?.get(*index as usize).copied()
                })?;
                return self.values.get(&member).cloned();
            }
            // OpCompositeInsert, one level deep
            82 => {
                let &[object, composite, index] = rest else {
                    return None;
                };
                let mut members = self.members(composite)?.to_vec();
                *members.get_mut(index as usize)? = object;
                return Some(Value::Members(members));
            }
            _ => {}
        }
        let word = |index: usize| self.word(*rest.get(index)?);
        let (a, b) = (word(0)?, word(1).unwrap_or(0));
        let signed = |word: u32| word as i32;
        Some(Value::Word(match inst.operand(2) {
            // OpUConvert, OpSConvert, OpFConvert between types of 32 bits
            113..=115 => a,
            116 => half::f16::from_f32(f32::from_bits(a)).to_f32().to_bits(),
            126 => a.wrapping_neg(),
            128 => a.wrapping_add(b),
            130 => a.wrapping_sub(b),
            132 => a.wrapping_mul(b),
            134 => a.checked_div(b)?,
            135 => signed(a).checked_div(signed(b))? as u32,
            137 => a.checked_rem(b)?,
            138 => signed(a).checked_rem(signed(b))? as u32,
            139 => {
                let rest = signed(a).checked_rem(signed(b))?;
                let other = rest != 0 && (rest < 0) != (signed(b) < 0);
                rest.wrapping_add(if other { signed(b) } else { 0 }) as u32
            }
            164 | 170 => (a == b).into(),
            165 | 171 => (a != b).into(),
            166 => a | b,
            167 => a & b,
            168 => (a == 0).into(),
            169 => {
                if a != 0 {
                    b
                } else {
                    word(2)?
                }
            }
            172 => (a > b).into(),
            173 => (signed(a) > signed(b)).into(),
            174 => (a >= b).into(),
            175 => (signed(a) >= signed(b)).into(),
            176 => (a < b).into(),
            177 => (signed(a) < signed(b)).into(),
            178 => (a <= b).into(),
            179 => (signed(a) <= signed(b)).into(),
            194 => a.checked_shr(b)?,
            195 => signed(a).checked_shr(b)? as u32,
            196 => a.checked_shl(b)?,
            197 => a | b,
            198 => a ^ b,
            199 => a & b,
            200 => !a,
            _ => return None,
        }))
    }
}

/// Writes workgroup sizes that are constants as `LocalSize`: naga reads no other.
fn workgroup_sizes(module: &mut Module, table: &Table) {
    for inst in &mut module.insts {
        if inst.opcode() == OP_EXECUTION_MODE_ID && inst.operand(1) == LOCAL_SIZE_ID {
            let size: Option<Vec<u32>> = inst.rest(2).iter().map(|id| table.word(*id)).collect();
            if let Some(size) = size {
                let operands = [&[inst.operand(0), LOCAL_SIZE][..], &size].concat();
                inst.become_inst(OP_EXECUTION_MODE, &operands);
            }
        }
    }
    // The decoration wins over the mode, in every entry point.
    let decorated = module.insts.iter().find(|inst| {
        inst.opcode() == OP_DECORATE
            && inst.operand(1) == BUILT_IN
            && inst.operand(2) == WORKGROUP_SIZE
    });
    let Some(id) = decorated.map(|inst| inst.operand(0)) else {
        return;
    };
    let size: Option<Vec<u32>> = table
        .members(id)
        .and_then(|members| members.iter().map(|member| table.word(*member)).collect());
    let Some(size) = size.filter(|size| size.len() == 3) else {
        return;
    };
    let entries: Vec<(u32, usize)> = module
        .insts
        .iter()
        .filter(|inst| inst.opcode() == OP_ENTRY_POINT && inst.operand(0) == GL_COMPUTE)
        .map(|inst| (inst.operand(1), inst.at))
        .collect();
    let is_mode = |inst: &Inst| inst.opcode() == OP_EXECUTION_MODE && inst.operand(1) == LOCAL_SIZE;
    module
        .insts
        .retain(|inst| !is_mode(inst) && (inst.opcode() != OP_DECORATE || inst.operand(0) != id));
    let last = module.insts.iter().rposition(|inst| inst.opcode() == OP_ENTRY_POINT);
    let place = last.map_or(0, |last| last + 1);
    let mut seen = std::collections::BTreeSet::new();
    let modes: Vec<Inst> = entries
        .into_iter()
        .filter(|(function, _)| seen.insert(*function))
        .map(|(function, at)| {
            let operands = [&[function, LOCAL_SIZE][..], &size].concat();
            Inst::new(at, OP_EXECUTION_MODE, &operands)
        })
        .collect();
    module.insts.splice(place..place, modes);
}
