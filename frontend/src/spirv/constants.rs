//! Specialization: every specialization constant becomes the constant that it has in this
//! compilation, and what is computed from such constants is computed.
//!
//! An operation on vectors makes a constant for each component, with an id of its own.

use super::module::{Inst, Module};
use crate::Options;
use crate::special::Kind;
use crate::stop::Stop;
use std::collections::BTreeMap;

const OP_UNDEF: u32 = 1;
const OP_NAME: u32 = 5;
const OP_ENTRY_POINT: u32 = 15;
const OP_EXECUTION_MODE: u32 = 16;
const OP_TYPE_BOOL: u32 = 20;
const OP_TYPE_INT: u32 = 21;
const OP_TYPE_FLOAT: u32 = 22;
const OP_TYPE_VECTOR: u32 = 23;
const OP_TYPE_MATRIX: u32 = 24;
const OP_TYPE_ARRAY: u32 = 28;
const OP_TYPE_STRUCT: u32 = 30;
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

/// Components of a vector (SPIR-V 2.16.1).
const MOST_COMPONENTS: u32 = 16;
/// Parts of all composites that operations make.
const MOST_PARTS: usize = 1 << 22;
/// A lane of a shuffle that may have any value (SPIR-V, `OpVectorShuffle`).
const ANY_LANE: u32 = u32::MAX;

impl Kind {
    /// The words of a constant with this value.
    fn words(self, value: f64) -> Vec<u32> {
        let both = |bits: u64| vec![bits as u32, (bits >> 32) as u32];
        match self {
            Kind::Bool => vec![u32::from(value != 0.0)],
            Kind::Int(64) if value < 0.0 => both(value as i64 as u64),
            Kind::Int(64) => both(value as u64),
            // A negative value of an unsigned constant is its bits.
            Kind::Int(_) => vec![value as i64 as u32],
            Kind::Float(64) => both(value.to_bits()),
            Kind::Float(16) => vec![half::f16::from_f64(value).to_bits().into()],
            Kind::Float(_) => vec![(value as f32).to_bits()],
        }
    }
    /// Width in bits; of a truth value 1.
    fn bits(self) -> u32 {
        match self {
            Kind::Bool => 1,
            Kind::Int(bits) | Kind::Float(bits) => bits,
        }
    }
    /// The bits of a value of this width.
    fn cut(self, bits: u64) -> u64 {
        match self.bits() {
            64.. => bits,
            width => bits & ((1 << width) - 1),
        }
    }
}

/// A scalar: its bits, zeros above its width.
#[derive(Copy, Clone)]
struct Scalar {
    kind: Kind,
    bits: u64,
}

impl Scalar {
    /// Extended by its sign.
    fn signed(self) -> i64 {
        let above = 64 - self.kind.bits().clamp(1, 64);
        ((self.bits << above) as i64) >> above
    }

    /// The float that it is; none for other kinds.
    fn float(self) -> Option<f64> {
        Some(match self.kind {
            Kind::Float(16) => half::f16::from_bits(self.bits as u16).to_f64(),
            Kind::Float(32) => f32::from_bits(self.bits as u32).into(),
            Kind::Float(64) => f64::from_bits(self.bits),
            _ => return None,
        })
    }

    /// Opcode and operands of the constant.
    fn constant(self, ty: u32, id: u32) -> (u32, Vec<u32>) {
        match self.kind {
            Kind::Bool if self.bits != 0 => (OP_CONSTANT_TRUE, vec![ty, id]),
            Kind::Bool => (OP_CONSTANT_FALSE, vec![ty, id]),
            kind if kind.bits() == 64 => {
                (OP_CONSTANT, vec![ty, id, self.bits as u32, (self.bits >> 32) as u32])
            }
            _ => (OP_CONSTANT, vec![ty, id, self.bits as u32]),
        }
    }
}

/// A constant's value, as far as it is known here: scalars, composites of ids, and composites of zeros that nobody
/// has looked into.
#[derive(Clone)]
enum Value {
    Scalar(Scalar),
    Members(Vec<u32>),
    Null,
}

/// The types of a composite's parts.
enum Parts {
    /// So many of one.
    Alike(u32, u32),
    Each(Vec<u32>),
}

/// The module with constants in their place, which have the values that the options give; `None` where it has none.
///
/// # Errors
/// A value for a constant that the module does not have.
pub fn specialize(module: &Module, options: &Options) -> Result<Option<Module>, Stop> {
    let (given, named) = given(module, options)?;
    if !module.insts.iter().any(asks) {
        return Ok(None);
    }
    let mut table = Table { bound: module.header[3], ..Table::default() };
    let mut insts = Vec::with_capacity(module.insts.len());
    for mut inst in module.insts.iter().cloned() {
        table.constant(&mut inst, &given);
        if let Some((id, kind, value)) = table.wrong {
            let named = named.get(&id).map_or("", String::as_str);
            return Err(kind.wrong(named, value));
        }
        if table.parts > MOST_PARTS {
            let (needed, most) = (table.parts as u64, MOST_PARTS as u64);
            let hint = "make smaller composites of specialization constants";
            return Err(Stop::limit("parts of computed constants", needed, most, hint));
        }
        insts.append(&mut table.made);
        insts.push(inst);
    }
    insts.retain(|inst| inst.opcode() != OP_DECORATE || inst.operand(1) != SPEC_ID);
    let mut special = Module { header: module.header, insts };
    special.header[3] = table.bound;
    workgroup_sizes(&mut special, &table);
    Ok(Some(special))
}

/// Whether an instruction is a specialization constant, or asks for the value of a constant.
fn asks(inst: &Inst) -> bool {
    match inst.opcode() {
        OP_SPEC_CONSTANT_TRUE..=OP_SPEC_CONSTANT_OP | OP_EXECUTION_MODE_ID => true,
        OP_DECORATE => match inst.operand(1) {
            BUILT_IN => inst.operand(2) == WORKGROUP_SIZE,
            decoration => decoration == SPEC_ID,
        },
        _ => false,
    }
}

/// Whether the module has constants whose values the options may give.
pub fn is_open(module: &Module) -> bool {
    let given = |inst: &Inst| inst.opcode() == OP_DECORATE && inst.operand(1) == SPEC_ID;
    module.insts.iter().any(given)
}

/// What there is by a constant's id.
type ById<T> = BTreeMap<u32, T>;

/// The values that the options give, and the names that they give them by.
fn given(module: &Module, options: &Options) -> Result<(ById<f64>, ById<String>), Stop> {
    let (mut given, mut named) = (BTreeMap::new(), BTreeMap::new());
    if options.overrides.is_empty() {
        return Ok((given, named));
    }
    let mut names = BTreeMap::new();
    let mut ids = BTreeMap::new();
    for inst in &module.insts {
        match inst.opcode() {
            OP_NAME => {
                names.insert(inst.operand(0), super::string(inst.rest(1)));
            }
            OP_DECORATE if inst.operand(1) == SPEC_ID => {
                ids.insert(inst.operand(0), inst.operand(2));
            }
            _ => {}
        }
    }
    for (wanted, value) in &options.overrides {
        let found = ids.iter().find(|(id, number)| {
            number.to_string() == *wanted || names.get(id).is_some_and(|name| name == wanted)
        });
        let Some((id, _)) = found else {
            let mut known: Vec<String> = ids
                .iter()
                .map(|(id, number)| match names.get(id) {
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
        named.insert(*id, wanted.clone());
    }
    Ok((given, named))
}

#[derive(Default)]
struct Table {
    kinds: BTreeMap<u32, Kind>,
    /// Component type and number of components of vector types.
    vectors: BTreeMap<u32, (u32, u32)>,
    /// Of vectors, matrices, arrays and structures.
    composites: BTreeMap<u32, Parts>,
    values: BTreeMap<u32, Value>,
    /// The type of each constant.
    types: BTreeMap<u32, u32>,
    /// A constant of zeros, by its type.
    nulls: BTreeMap<u32, u32>,
    /// Constants of components, which stand in front of their vector.
    made: Vec<Inst>,
    /// The next id that is free.
    bound: u32,
    /// Parts that operations made so far.
    parts: usize,
    /// Where the instruction stands that is read.
    at: usize,
    /// A constant with a value that it cannot have: its id, what it is, the value.
    wrong: Option<(u32, Kind, f64)>,
}

impl Table {
    /// Notes a value that a constant cannot have.
    fn admit(&mut self, id: u32, kind: Kind, value: f64) {
        if !kind.admits(value) {
            self.wrong.get_or_insert((id, kind, value));
        }
    }

    /// Notes a constant, and makes a plain one of a specialization constant.
    fn constant(&mut self, inst: &mut Inst, given: &BTreeMap<u32, f64>) {
        let (ty, id) = (inst.operand(0), inst.operand(1));
        self.at = inst.at;
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
            OP_TYPE_VECTOR => {
                self.vectors.insert(ty, (inst.operand(1), inst.operand(2)));
                self.composites.insert(ty, Parts::Alike(inst.operand(1), inst.operand(2)));
                return;
            }
            OP_TYPE_MATRIX => {
                self.composites.insert(ty, Parts::Alike(inst.operand(1), inst.operand(2)));
                return;
            }
            OP_TYPE_ARRAY => {
                if let Some(length) = self.word(inst.operand(2)) {
                    self.composites.insert(ty, Parts::Alike(inst.operand(1), length));
                }
                return;
            }
            OP_TYPE_STRUCT => {
                self.composites.insert(ty, Parts::Each(inst.rest(1).to_vec()));
                return;
            }
            OP_CONSTANT_TRUE => Value::Scalar(Scalar { kind: Kind::Bool, bits: 1 }),
            OP_CONSTANT_FALSE => Value::Scalar(Scalar { kind: Kind::Bool, bits: 0 }),
            // What is undefined may be zero.
            OP_CONSTANT_NULL | OP_UNDEF => self.zero(ty),
            OP_CONSTANT => match self.literal(inst) {
                Some(scalar) => Value::Scalar(scalar),
                None => return,
            },
            OP_CONSTANT_COMPOSITE => Value::Members(inst.rest(2).to_vec()),
            OP_SPEC_CONSTANT_TRUE | OP_SPEC_CONSTANT_FALSE => {
                let own = f64::from(u8::from(inst.opcode() == OP_SPEC_CONSTANT_TRUE));
                let value = given.get(&id).copied().unwrap_or(own);
                self.admit(id, Kind::Bool, value);
                let on = value != 0.0;
                let opcode = if on { OP_CONSTANT_TRUE } else { OP_CONSTANT_FALSE };
                inst.become_inst(opcode, &[ty, id]);
                Value::Scalar(Scalar { kind: Kind::Bool, bits: on.into() })
            }
            OP_SPEC_CONSTANT => {
                let mut operands = inst.operands().to_vec();
                let kind = self.kinds.get(&ty).copied();
                if let (Some(&value), Some(kind)) = (given.get(&id), kind) {
                    self.admit(id, kind, value);
                    operands = [vec![ty, id], kind.words(value)].concat();
                }
                inst.become_inst(OP_CONSTANT, &operands);
                match self.literal(inst) {
                    Some(scalar) => Value::Scalar(scalar),
                    None => return,
                }
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
                    Value::Null => inst.become_inst(OP_CONSTANT_NULL, &[ty, id]),
                    Value::Scalar(scalar) => {
                        let (opcode, operands) = scalar.constant(ty, id);
                        inst.become_inst(opcode, &operands);
                    }
                    Value::Members(members) => {
                        let operands: Vec<u32> = [ty, id].iter().chain(members).copied().collect();
                        inst.become_inst(OP_CONSTANT_COMPOSITE, &operands);
                    }
                }
                value
            }
            _ => return,
        };
        self.note(ty, id, value);
    }

    fn note(&mut self, ty: u32, id: u32, value: Value) {
        self.types.insert(id, ty);
        self.values.insert(id, value);
    }

    /// Zeros of a type.
    fn zero(&self, ty: u32) -> Value {
        match self.kinds.get(&ty) {
            Some(&kind) => Value::Scalar(Scalar { kind, bits: 0 }),
            None => Value::Null,
        }
    }

    /// An id that nobody has; none where there are no more.
    fn fresh(&mut self) -> Option<u32> {
        let id = self.bound;
        self.bound = self.bound.checked_add(1)?;
        Some(id)
    }

    /// A constant of zeros.
    fn null(&mut self, ty: u32) -> Option<u32> {
        if let Some(&known) = self.nulls.get(&ty) {
            return Some(known);
        }
        let id = self.fresh()?;
        self.made.push(Inst::new(self.at, OP_CONSTANT_NULL, &[ty, id]));
        self.note(ty, id, self.zero(ty));
        self.nulls.insert(ty, id);
        Some(id)
    }

    /// Gives a composite of zeros its members.
    fn open(&mut self, id: u32) -> Option<()> {
        if !matches!(self.values.get(&id)?, Value::Null) {
            return Some(());
        }
        let members = match self.composites.get(self.types.get(&id)?)? {
            &Parts::Alike(of, count) => {
                self.charge(count as usize)?;
                vec![self.null(of)?; count as usize]
            }
            Parts::Each(types) => {
                let types = types.clone();
                self.charge(types.len())?;
                types.into_iter().map(|ty| self.null(ty)).collect::<Option<_>>()?
            }
        };
        self.values.insert(id, Value::Members(members));
        Some(())
    }

    /// Counts parts that an operation makes; none where they are too many.
    fn charge(&mut self, parts: usize) -> Option<()> {
        self.parts += parts;
        // An instruction has 16 bits for its length.
        if parts > usize::from(u16::MAX) - 3 {
            self.parts += MOST_PARTS;
        }
        (self.parts <= MOST_PARTS).then_some(())
    }

    /// The scalar that `OpConstant` says.
    fn literal(&self, inst: &Inst) -> Option<Scalar> {
        let kind = *self.kinds.get(&inst.operand(0))?;
        let bits = u64::from(inst.operand(2)) | u64::from(inst.operand(3)) << 32;
        Some(Scalar { kind, bits: kind.cut(bits) })
    }

    fn scalar(&self, id: u32) -> Option<Scalar> {
        match self.values.get(&id)? {
            Value::Scalar(scalar) => Some(*scalar),
            Value::Members(_) | Value::Null => None,
        }
    }

    /// The value of a constant of one word.
    fn word(&self, id: u32) -> Option<u32> {
        let scalar = self.scalar(id)?;
        (scalar.kind.bits() <= 32).then_some(scalar.bits as u32)
    }

    fn members(&mut self, id: u32) -> Option<&[u32]> {
        self.open(id)?;
        match self.values.get(&id)? {
            Value::Members(members) => Some(members),
            Value::Scalar(_) | Value::Null => None,
        }
    }

    /// A composite with another object at the end of a path.
    fn inserted(&mut self, object: u32, composite: u32, path: &[u32]) -> Option<Value> {
        let mut levels = vec![composite];
        for &index in path {
            let level = *levels.last()?;
            levels.push(*self.members(level)?.get(index as usize)?);
        }
        levels.pop();
        let mut inner = object;
        for (&index, &level) in path.iter().zip(&levels).rev() {
            let mut members = self.members(level)?.to_vec();
            self.charge(members.len())?;
            *members.get_mut(index as usize)? = inner;
            if level == composite {
                return Some(Value::Members(members));
            }
            let (ty, id) = (*self.types.get(&level)?, self.fresh()?);
            let operands = [&[ty, id][..], &members].concat();
            self.made.push(Inst::new(self.at, OP_CONSTANT_COMPOSITE, &operands));
            self.note(ty, id, Value::Members(members));
            inner = id;
        }
        None
    }

    /// What an `OpSpecConstantOp` gives; `None` for what is not known here, which the reader refuses.
    fn computed(&mut self, inst: &Inst) -> Option<Value> {
        let (ty, opcode, rest) = (inst.operand(0), inst.operand(2), inst.rest(3));
        match opcode {
            // OpVectorShuffle
            79 => {
                let (&[a, b], lanes) = rest.split_first_chunk::<2>()?;
                let all = [self.members(a)?.to_vec(), self.members(b)?.to_vec()].concat();
                let any = self.null(self.vectors.get(&ty)?.0)?;
                let picked = lanes.iter().map(|&lane| match lane {
                    ANY_LANE => Some(any),
                    lane => all.get(lane as usize).copied(),
                });
                return Some(Value::Members(picked.collect::<Option<_>>()?));
            }
            // OpCompositeExtract
            81 => {
                let (&composite, path) = rest.split_first()?;
                let member = path.iter().try_fold(composite, |id, index| {
                    self.members(id)?.get(*index as usize).copied()
                })?;
                let value = self.values.get(&member).cloned()?;
                if let Value::Members(members) = &value {
                    self.charge(members.len())?;
                }
                return Some(value);
            }
            // OpCompositeInsert
            82 => {
                let (&[object, composite], path) = rest.split_first_chunk::<2>()?;
                return match path {
                    [] => self.values.get(&object).cloned(),
                    path => self.inserted(object, composite, path),
                };
            }
            // OpSelect of whole composites.
            169 if !self.kinds.contains_key(&ty)
                && rest.first().is_some_and(|&id| self.scalar(id).is_some()) =>
            {
                let &[condition, yes, no] = rest else {
                    return None;
                };
                let chosen = if self.scalar(condition)?.bits != 0 { yes } else { no };
                let value = self.values.get(&chosen).cloned()?;
                if let Value::Members(members) = &value {
                    self.charge(members.len())?;
                }
                return Some(value);
            }
            _ => {}
        }
        if let Some(&kind) = self.kinds.get(&ty) {
            let operands: Option<Vec<Scalar>> = rest.iter().map(|&id| self.scalar(id)).collect();
            return Some(Value::Scalar(operation(opcode, kind, &operands?)?));
        }
        let &(component, count) = self.vectors.get(&ty)?;
        let kind = *self.kinds.get(&component)?;
        if count > MOST_COMPONENTS {
            return None;
        }
        let mut members = Vec::new();
        for lane in 0..count as usize {
            let mut operands = Vec::with_capacity(rest.len());
            for &id in rest {
                // A condition may choose whole vectors.
                let part = self.members(id).map(|members| members.get(lane).copied());
                operands.push(match part {
                    Some(part) => self.scalar(part?)?,
                    None => self.scalar(id)?,
                });
            }
            let scalar = operation(opcode, kind, &operands)?;
            let id = self.fresh()?;
            let (opcode, words) = scalar.constant(component, id);
            self.made.push(Inst::new(inst.at, opcode, &words));
            self.note(component, id, Value::Scalar(scalar));
            members.push(id);
        }
        Some(Value::Members(members))
    }
}

/// An operation on scalars that has a result of a kind (SPIR-V, `OpSpecConstantOp`).
fn operation(opcode: u32, kind: Kind, operands: &[Scalar]) -> Option<Scalar> {
    let a = *operands.first()?;
    let other = operands.get(1).copied();
    let b = || other.map(|scalar| scalar.bits);
    let sb = || other.map(Scalar::signed);
    let sa = a.signed();
    let width = u64::from(a.kind.bits());
    // What is undefined (a division by zero, a shift by the width or more) is what it is while a program runs.
    let shift = || b().map(|by| by % width);
    let bits = match opcode {
        // OpUConvert, OpSConvert
        113 => a.bits,
        114 => sa as u64,
        // OpFConvert
        115 => {
            let value = a.float()?;
            match kind {
                Kind::Float(16) => half::f16::from_f64(value).to_bits().into(),
                Kind::Float(32) => (value as f32).to_bits().into(),
                Kind::Float(64) => value.to_bits(),
                _ => return None,
            }
        }
        // OpQuantizeToF16
        116 if kind == Kind::Float(32) => {
            half::f16::from_f32(f32::from_bits(a.bits as u32)).to_f32().to_bits().into()
        }
        126 => a.bits.wrapping_neg(),
        128 => a.bits.wrapping_add(b()?),
        130 => a.bits.wrapping_sub(b()?),
        132 => a.bits.wrapping_mul(b()?),
        134 => a.bits.checked_div(b()?).unwrap_or(a.bits),
        135 => sa.checked_div(sb()?).unwrap_or(sa) as u64,
        137 => a.bits.checked_rem(b()?).unwrap_or(0),
        138 => sa.checked_rem(sb()?).unwrap_or(0) as u64,
        139 => {
            let by = sb()?;
            let rest = sa.checked_rem(by).unwrap_or(0);
            let other = rest != 0 && (rest < 0) != (by < 0);
            rest.wrapping_add(if other { by } else { 0 }) as u64
        }
        164 | 170 => (a.bits == b()?).into(),
        165 | 171 => (a.bits != b()?).into(),
        166 | 197 => a.bits | b()?,
        167 | 199 => a.bits & b()?,
        168 => (a.bits == 0).into(),
        169 => operands.get(if a.bits != 0 { 1 } else { 2 })?.bits,
        172 => (a.bits > b()?).into(),
        173 => (sa > sb()?).into(),
        174 => (a.bits >= b()?).into(),
        175 => (sa >= sb()?).into(),
        176 => (a.bits < b()?).into(),
        177 => (sa < sb()?).into(),
        178 => (a.bits <= b()?).into(),
        179 => (sa <= sb()?).into(),
        194 => a.bits >> shift()?,
        195 => (sa >> shift()?) as u64,
        196 => a.bits << shift()?,
        198 => a.bits ^ b()?,
        200 => !a.bits,
        _ => return None,
    };
    Some(Scalar { kind, bits: kind.cut(bits) })
}

/// Writes workgroup sizes that are constants as `LocalSize`.
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
    let size: Option<Vec<u32>> = table.values.get(&id).and_then(|value| match value {
        Value::Members(members) => members.iter().map(|member| table.word(*member)).collect(),
        Value::Scalar(_) | Value::Null => None,
    });
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
