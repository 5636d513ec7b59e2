//! Types: what values are made of, and their names.

use crate::lower::Result;
use crate::lower::types::{MAX_LEAVES, Parts, dense_bytes, held, width};
use crate::stop::Stop;
use gpucc_ir::Map;
use gpucc_ir::ssa::Type;
use naga::{Scalar, ScalarKind};
use std::cell::RefCell;

use super::layout::Laid;

/// A type.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    Void,
    Scalar(Scalar),
    Vector(Scalar, u8),
    /// Columns and rows.
    Matrix(Scalar, u8, u8),
    Array(ArrayId),
    Struct(StructId),
    /// A pointer to physical storage: a number of 64 bits.
    Reference(ReferenceId),
    Opaque(Opaque),
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct ArrayId(u32);
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct StructId(u32);
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReferenceId(u32);

/// What a program only names.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Opaque {
    Image(Image),
    Sampler {
        shadow: bool,
    },
    /// A counter of OpenGL.
    Counter,
    /// A type that is known and not read.
    Lacking(&'static str),
}

/// How an image is bound.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// With its sampler.
    Combined,
    Texture,
    Storage,
    /// What a pass before left at the pixel.
    Subpass,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    D1,
    D2,
    D3,
    Cube,
    Rect,
    Buffer,
}

impl Shape {
    /// Coordinates, layers apart.
    pub fn coords(self) -> usize {
        match self {
            Shape::D1 | Shape::Buffer => 1,
            Shape::D2 | Shape::Rect => 2,
            Shape::D3 | Shape::Cube => 3,
        }
    }
}

/// A texture, image or combined sampler.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Image {
    pub form: Form,
    pub texel: Scalar,
    pub shape: Shape,
    pub arrayed: bool,
    pub multisampled: bool,
    pub shadow: bool,
}

/// How an input or output is interpolated; none is left to the type.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Varying {
    pub flat: bool,
    pub linear: bool,
    pub centroid: bool,
    pub sample: bool,
}

/// A member of a structure or block.
#[derive(Clone, Debug)]
pub struct Member {
    pub name: String,
    pub ty: Ty,
    /// Bytes from the start of its block, where the text says them.
    pub offset: Option<u32>,
    pub align: Option<u32>,
    pub row_major: Option<bool>,
    pub location: Option<u32>,
    pub component: Option<u32>,
    pub varying: Varying,
    pub read_only: bool,
    pub write_only: bool,
    /// The name of the built-in variable that it is.
    pub builtin: bool,
}

impl Member {
    pub fn new(name: &str, ty: Ty) -> Member {
        Member {
            name: name.to_owned(),
            ty,
            offset: None,
            align: None,
            row_major: None,
            location: None,
            component: None,
            varying: Varying::default(),
            read_only: false,
            write_only: false,
            builtin: false,
        }
    }
}

/// A structure or block.
#[derive(Clone, Debug)]
pub struct Struct {
    pub name: String,
    pub members: Vec<Member>,
    /// Numbers of the members by their names.
    numbers: Map<String, u32>,
}

impl Struct {
    /// The number of a member.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }
}

/// A type of pointers (GL_EXT_buffer_reference).
#[derive(Clone, Debug)]
pub struct Reference {
    pub name: String,
    /// What it leads to, and how that lies; none before its block is declared.
    pub block: Option<(StructId, super::layout::Packing)>,
    /// Its pointers are multiples of this.
    pub align: u32,
}

/// The arrays and structures of a program.
#[derive(Debug, Default)]
pub struct Types {
    arrays: gpucc_ir::Set<(Ty, Option<u32>)>,
    pub structs: Vec<Struct>,
    pub references: Vec<Reference>,
    pub(super) laid: RefCell<Map<(StructId, super::layout::Rule, bool), std::rc::Rc<Laid>>>,
    counts: RefCell<Map<Ty, (u64, u64)>>,
    /// How deep types nest.
    depths: Vec<u32>,
    struct_depths: Vec<u32>,
    struct_facts: Vec<Facts>,
}

/// What is within a structure.
#[derive(Debug)]
struct Facts {
    /// Something opaque.
    opaque: bool,
    /// The alignment of its scalars and vectors.
    align: u64,
    /// Bytes of its largest scalar.
    widest: u64,
}

/// Types within one another.
const NESTING: u32 = 120;

pub const FLOAT: Ty = Ty::Scalar(Scalar::F32);
pub const INT: Ty = Ty::Scalar(Scalar::I32);
pub const UINT: Ty = Ty::Scalar(Scalar::U32);
pub const BOOL: Ty = Ty::Scalar(Scalar::BOOL);

/// A scalar or vector.
pub fn vector(scalar: Scalar, lanes: usize) -> Ty {
    match lanes {
        0 | 1 => Ty::Scalar(scalar),
        lanes => Ty::Vector(scalar, lanes as u8),
    }
}

impl Ty {
    /// The scalars that it is made of, where they are all alike.
    pub fn scalar(self) -> Option<Scalar> {
        match self {
            Ty::Scalar(scalar) | Ty::Vector(scalar, _) | Ty::Matrix(scalar, ..) => Some(scalar),
            _ => None,
        }
    }

    /// Scalar type and lanes of a scalar or vector.
    pub fn lanes(self) -> Option<(Scalar, usize)> {
        match self {
            Ty::Scalar(scalar) => Some((scalar, 1)),
            Ty::Vector(scalar, lanes) => Some((scalar, lanes.into())),
            _ => None,
        }
    }

    /// The same shape of other scalars.
    pub fn with(self, scalar: Scalar) -> Ty {
        match self {
            Ty::Scalar(_) => Ty::Scalar(scalar),
            Ty::Vector(_, lanes) => Ty::Vector(scalar, lanes),
            Ty::Matrix(_, columns, rows) => Ty::Matrix(scalar, columns, rows),
            other => other,
        }
    }

    /// A scalar integer.
    pub fn is_integer(self) -> bool {
        matches!(self, Ty::Scalar(scalar) if is_integer(scalar))
    }
}

pub fn is_integer(scalar: Scalar) -> bool {
    matches!(scalar.kind, ScalarKind::Sint | ScalarKind::Uint)
}

impl ReferenceId {
    pub fn number(self) -> usize {
        self.0 as usize
    }
}

impl Types {
    fn depth(&self, ty: Ty) -> u32 {
        match ty {
            Ty::Array(id) => self.depths.get(id.0 as usize).copied().unwrap_or(0),
            Ty::Struct(id) => self.struct_depths.get(id.0 as usize).copied().unwrap_or(0),
            _ => 0,
        }
    }

    /// The array type of elements.
    pub fn array_of(&mut self, of: Ty, length: Option<u32>) -> Result<Ty> {
        let depth = self.depth(of) + 1;
        if depth > NESTING {
            let hint = "nest types less";
            return Err(Stop::limit("nesting of types", depth.into(), NESTING.into(), hint));
        }
        let (index, new) = self.arrays.insert_full((of, length));
        if new {
            self.depths.push(depth);
        }
        Ok(Ty::Array(ArrayId(index as u32)))
    }

    /// Elements of an array: their type, and how many there are.
    pub fn array(&self, id: ArrayId) -> (Ty, Option<u32>) {
        self.arrays[id.0 as usize]
    }

    /// Adds a structure.
    pub fn add(&mut self, name: &str, members: Vec<Member>) -> Result<Ty> {
        let depth = members.iter().map(|member| self.depth(member.ty)).max().unwrap_or(0) + 1;
        if depth > NESTING {
            let hint = "nest types less";
            return Err(Stop::limit("nesting of types", depth.into(), NESTING.into(), hint));
        }
        let opaque = members.iter().any(|member| self.is_opaque(member.ty));
        let most = |of: fn(&Types, Ty) -> u64| {
            members.iter().map(|member| of(self, member.ty)).max().unwrap_or(1)
        };
        let (align, widest) = (most(Types::alignment), most(Types::widest));
        self.struct_depths.push(depth);
        self.struct_facts.push(Facts { opaque, align, widest });
        let numbered = (0..).zip(&members).map(|(number, member)| (member.name.clone(), number));
        let numbers = numbered.collect();
        self.structs.push(Struct { name: name.to_owned(), members, numbers });
        Ok(Ty::Struct(StructId(self.structs.len() as u32 - 1)))
    }

    pub fn structure(&self, id: StructId) -> &Struct {
        &self.structs[id.0 as usize]
    }

    pub fn reference(&self, id: ReferenceId) -> &Reference {
        &self.references[id.0 as usize]
    }

    /// Adds a type of pointers to a block that is not declared yet.
    pub fn add_reference(&mut self, name: &str) -> Ty {
        let name = name.to_owned();
        self.references.push(Reference { name, block: None, align: 16 });
        Ty::Reference(ReferenceId(self.references.len() as u32 - 1))
    }

    /// The first structure of a name.
    pub fn of_name(&self, name: &str) -> Option<Ty> {
        let at = self.structs.iter().position(|known| known.name == name)?;
        Some(Ty::Struct(StructId(at as u32)))
    }

    pub fn structure_mut(&mut self, id: StructId) -> &mut Struct {
        self.counts.get_mut().clear();
        self.laid.get_mut().clear();
        &mut self.structs[id.0 as usize]
    }

    /// What an array's elements are, all dimensions taken off.
    pub fn innermost(&self, ty: Ty) -> Ty {
        let mut ty = ty;
        while let Ty::Array(id) = ty {
            ty = self.array(id).0;
        }
        ty
    }

    /// Something within is opaque.
    pub fn is_opaque(&self, ty: Ty) -> bool {
        match self.innermost(ty) {
            Ty::Opaque(_) => true,
            Ty::Struct(id) => self.facts(id).is_some_and(|facts| facts.opaque),
            _ => false,
        }
    }

    /// The alignment of a type's scalars and vectors, in bytes.
    pub fn alignment(&self, ty: Ty) -> u64 {
        let rows = match self.innermost(ty) {
            Ty::Vector(_, count) => count,
            Ty::Matrix(_, _, rows) => rows,
            Ty::Struct(id) => return self.facts(id).map_or(1, |facts| facts.align),
            _ => 1,
        };
        self.widest(ty) * u64::from(rows).next_power_of_two()
    }

    /// Bytes of the largest scalar within a type: whatever the layout, its places are multiples of that.
    pub fn widest(&self, ty: Ty) -> u64 {
        match self.innermost(ty) {
            Ty::Scalar(scalar) | Ty::Vector(scalar, _) | Ty::Matrix(scalar, ..) => {
                if scalar.kind == ScalarKind::Bool { 4 } else { scalar.width.into() }
            }
            Ty::Reference(_) => 8,
            Ty::Struct(id) => self.facts(id).map_or(1, |facts| facts.widest),
            _ => 1,
        }
    }

    fn facts(&self, id: StructId) -> Option<&Facts> {
        self.struct_facts.get(id.0 as usize)
    }

    /// An array has no length; members of structures have one.
    pub fn is_unsized(&self, ty: Ty) -> bool {
        let mut ty = ty;
        while let Ty::Array(id) = ty {
            let (of, length) = self.array(id);
            if length.is_none() {
                return true;
            }
            ty = of;
        }
        false
    }

    /// Scalars and bytes of private memory, saturating; of what has no length none.
    pub fn count(&self, ty: Ty) -> (u64, u64) {
        let of = |scalar, n: u64| (n, n * dense_bytes(scalar));
        match ty {
            // Each is a word of a buffer.
            Ty::Opaque(Opaque::Counter) => (0, 4),
            Ty::Void | Ty::Opaque(_) => (0, 0),
            Ty::Scalar(scalar) => of(scalar, 1),
            Ty::Reference(_) => of(Scalar::U64, 1),
            Ty::Vector(scalar, lanes) => of(scalar, lanes.into()),
            Ty::Matrix(scalar, columns, rows) => of(scalar, u64::from(columns) * u64::from(rows)),
            Ty::Array(_) | Ty::Struct(_) => {
                if let Some(&known) = self.counts.borrow().get(&ty) {
                    return known;
                }
                let found = match ty {
                    Ty::Array(id) => {
                        let (of, length) = self.array(id);
                        let (leaves, bytes) = self.count(of);
                        let n = u64::from(length.unwrap_or(0));
                        (leaves.saturating_mul(n), bytes.saturating_mul(n))
                    }
                    Ty::Struct(id) => {
                        self.structure(id).members.iter().fold((0u64, 0u64), |all, member| {
                            let own = self.count(member.ty);
                            (all.0.saturating_add(own.0), all.1.saturating_add(own.1))
                        })
                    }
                    _ => (0, 0),
                };
                self.counts.borrow_mut().insert(ty, found);
                found
            }
        }
    }

    /// Scalars of a value.
    pub fn leaf_count(&self, ty: Ty) -> Result<usize> {
        let leaves = self.count(ty).0;
        if leaves > MAX_LEAVES {
            let hint = "index the variable instead of copying it whole";
            return Err(Stop::limit("scalars of one value", leaves, MAX_LEAVES, hint));
        }
        Ok(leaves as usize)
    }

    /// The scalar types of a value's scalars, in order.
    pub fn scalars(&self, ty: Ty) -> Result<Vec<Scalar>> {
        let mut all = Vec::with_capacity(self.leaf_count(ty)?);
        self.scalars_into(ty, &mut all);
        Ok(all)
    }

    fn scalars_into(&self, ty: Ty, all: &mut Vec<Scalar>) {
        match ty {
            Ty::Void | Ty::Opaque(_) => {}
            Ty::Scalar(scalar) => all.push(scalar),
            Ty::Reference(_) => all.push(Scalar::U64),
            Ty::Vector(scalar, lanes) => all.extend(std::iter::repeat_n(scalar, lanes.into())),
            Ty::Matrix(scalar, columns, rows) => {
                let n = usize::from(columns) * usize::from(rows);
                all.extend(std::iter::repeat_n(scalar, n));
            }
            Ty::Array(id) => {
                let (of, length) = self.array(id);
                for _ in 0..length.unwrap_or(0) {
                    self.scalars_into(of, all);
                }
            }
            Ty::Struct(id) => {
                for member in &self.structure(id).members {
                    self.scalars_into(member.ty, all);
                }
            }
        }
    }

    /// The widths of a value's scalars, in order.
    pub fn widths(&self, ty: Ty) -> Result<Vec<Type>> {
        Ok(self.scalars(ty)?.into_iter().map(width).collect())
    }

    /// The type of the elements of a vector, matrix or array, and how many there are; none of other types.
    pub fn elements(&self, ty: Ty) -> Option<(Ty, Option<u32>)> {
        match ty {
            Ty::Vector(scalar, lanes) => Some((Ty::Scalar(scalar), Some(lanes.into()))),
            Ty::Matrix(scalar, columns, rows) => {
                Some((Ty::Vector(scalar, rows), Some(columns.into())))
            }
            Ty::Array(id) => Some(self.array(id)),
            _ => None,
        }
    }

    /// The first scalar of a type in memory, and whether others stand beside it.
    pub fn held(&self, ty: Ty) -> (gpucc_ir::ssa::Scalar, bool) {
        held(ty, |ty| match ty {
            Ty::Array(id) => Parts::Of(vec![self.array(id).0]),
            Ty::Struct(id) => {
                let members = &self.structure(id).members;
                Parts::Of(members.iter().map(|member| member.ty).collect())
            }
            other => other.scalar().map_or(Parts::None, Parts::Scalars),
        })
    }

    /// The name of a type for messages.
    pub fn name(&self, ty: Ty) -> String {
        let prefix = |scalar: Scalar| match (scalar.kind, scalar.width) {
            (ScalarKind::Bool, _) => "b",
            (ScalarKind::Sint, 1) => "i8",
            (ScalarKind::Sint, 2) => "i16",
            (ScalarKind::Sint, 8) => "i64",
            (ScalarKind::Sint, _) => "i",
            (ScalarKind::Uint, 1) => "u8",
            (ScalarKind::Uint, 2) => "u16",
            (ScalarKind::Uint, 8) => "u64",
            (ScalarKind::Uint, _) => "u",
            (_, 2) => "f16",
            (_, 8) => "d",
            _ => "",
        };
        match ty {
            Ty::Void => "void".to_owned(),
            Ty::Scalar(scalar) => match (scalar.kind, scalar.width) {
                (ScalarKind::Bool, _) => "bool".to_owned(),
                (ScalarKind::Sint, 4) => "int".to_owned(),
                (ScalarKind::Uint, 4) => "uint".to_owned(),
                (ScalarKind::Sint, n) => format!("int{}_t", n * 8),
                (ScalarKind::Uint, n) => format!("uint{}_t", n * 8),
                (_, 2) => "float16_t".to_owned(),
                (_, 8) => "double".to_owned(),
                _ => "float".to_owned(),
            },
            Ty::Vector(scalar, lanes) => format!("{}vec{lanes}", prefix(scalar)),
            Ty::Matrix(scalar, columns, rows) if columns == rows => {
                format!("{}mat{columns}", prefix(scalar))
            }
            Ty::Matrix(scalar, columns, rows) => format!("{}mat{columns}x{rows}", prefix(scalar)),
            Ty::Array(id) => {
                let (of, length) = self.array(id);
                let length = length.map_or(String::new(), |length| length.to_string());
                format!("{}[{length}]", self.name(of))
            }
            Ty::Struct(id) => match &*self.structure(id).name {
                "" => "a structure".to_owned(),
                name => name.to_owned(),
            },
            Ty::Reference(id) => self.reference(id).name.clone(),
            Ty::Opaque(Opaque::Lacking(name)) => name.to_owned(),
            Ty::Opaque(Opaque::Counter) => "atomic_uint".to_owned(),
            Ty::Opaque(Opaque::Sampler { shadow: false }) => "sampler".to_owned(),
            Ty::Opaque(Opaque::Sampler { shadow: true }) => "samplerShadow".to_owned(),
            Ty::Opaque(Opaque::Image(image)) => {
                let form = match image.form {
                    Form::Combined => "sampler",
                    Form::Texture => "texture",
                    Form::Storage => "image",
                    Form::Subpass => "subpassInput",
                };
                let shape = match (image.form, image.shape) {
                    (Form::Subpass, _) => "",
                    (_, Shape::D1) => "1D",
                    (_, Shape::D2) => "2D",
                    (_, Shape::D3) => "3D",
                    (_, Shape::Cube) => "Cube",
                    (_, Shape::Rect) => "2DRect",
                    (_, Shape::Buffer) => "Buffer",
                };
                let ms = if image.multisampled { "MS" } else { "" };
                let array = if image.arrayed { "Array" } else { "" };
                let shadow = if image.shadow { "Shadow" } else { "" };
                format!("{}{form}{shape}{ms}{array}{shadow}", prefix(image.texel))
            }
        }
    }
}

/// A built-in type by its name.
pub fn named(name: &str) -> Option<Ty> {
    Some(match name {
        "void" => Ty::Void,
        "bool" => BOOL,
        "int" | "int32_t" => INT,
        "uint" | "uint32_t" => UINT,
        "float" | "float32_t" => FLOAT,
        "double" | "float64_t" => Ty::Scalar(Scalar::F64),
        "float16_t" => Ty::Scalar(Scalar::F16),
        "int64_t" => Ty::Scalar(Scalar::I64),
        "uint64_t" => Ty::Scalar(Scalar::U64),
        "int16_t" => Ty::Scalar(Scalar { kind: ScalarKind::Sint, width: 2 }),
        "uint16_t" => Ty::Scalar(Scalar { kind: ScalarKind::Uint, width: 2 }),
        "int8_t" => Ty::Scalar(Scalar { kind: ScalarKind::Sint, width: 1 }),
        "uint8_t" => Ty::Scalar(Scalar { kind: ScalarKind::Uint, width: 1 }),
        "atomic_uint" => Ty::Opaque(Opaque::Counter),
        "sampler" => Ty::Opaque(Opaque::Sampler { shadow: false }),
        "samplerShadow" => Ty::Opaque(Opaque::Sampler { shadow: true }),
        "accelerationStructureEXT" => Ty::Opaque(Opaque::Lacking("acceleration structures")),
        "accelerationStructureNV" => Ty::Opaque(Opaque::Lacking("acceleration structures")),
        "rayQueryEXT" => Ty::Opaque(Opaque::Lacking("ray queries")),
        "hitObjectNV" => Ty::Opaque(Opaque::Lacking("ray tracing")),
        "floate5m2_t" | "floate4m3_t" | "bfloat16_t" => {
            Ty::Opaque(Opaque::Lacking("floats of other formats than IEEE's"))
        }
        "samplerExternalOES" => image("sampler2D")?,
        _ if name.starts_with("coopmat")
            || name.starts_with("fcoopmat")
            || name.starts_with("coopvec") =>
        {
            Ty::Opaque(Opaque::Lacking("cooperative matrices"))
        }
        _ if name.starts_with("tensor") => Ty::Opaque(Opaque::Lacking("tensors")),
        _ => return composite(name).or_else(|| image(name)),
    })
}

/// Vectors and matrices.
fn composite(name: &str) -> Option<Ty> {
    let split = name.find("vec").or_else(|| name.find("mat"))?;
    let (prefix, rest) = name.split_at(split);
    let scalar = match prefix {
        "" | "f32" => Scalar::F32,
        "i" | "i32" => Scalar::I32,
        "u" | "u32" => Scalar::U32,
        "b" => Scalar::BOOL,
        "d" | "f64" => Scalar::F64,
        "f16" => Scalar::F16,
        "i64" => Scalar::I64,
        "u64" => Scalar::U64,
        "i16" => Scalar { kind: ScalarKind::Sint, width: 2 },
        "u16" => Scalar { kind: ScalarKind::Uint, width: 2 },
        "i8" => Scalar { kind: ScalarKind::Sint, width: 1 },
        "u8" => Scalar { kind: ScalarKind::Uint, width: 1 },
        _ => return None,
    };
    let digit = |byte: u8| (b'2'..=b'4').contains(&byte).then(|| byte - b'0');
    match rest.as_bytes() {
        [b'v', b'e', b'c', n] => Some(Ty::Vector(scalar, digit(*n)?)),
        [b'm', b'a', b't', n] if scalar.kind == ScalarKind::Float => {
            let n = digit(*n)?;
            Some(Ty::Matrix(scalar, n, n))
        }
        [b'm', b'a', b't', columns, b'x', rows] if scalar.kind == ScalarKind::Float => {
            Some(Ty::Matrix(scalar, digit(*columns)?, digit(*rows)?))
        }
        _ => None,
    }
}

/// Textures, images, combined samplers.
fn image(name: &str) -> Option<Ty> {
    let forms = [
        ("sampler", Form::Combined),
        ("texture", Form::Texture),
        ("image", Form::Storage),
        ("subpassInput", Form::Subpass),
    ];
    for (word, form) in forms {
        let Some(at) = name.find(word) else {
            continue;
        };
        let texel = match &name[..at] {
            "" => Scalar::F32,
            "i" => Scalar::I32,
            "u" => Scalar::U32,
            "i64" => Scalar::I64,
            "u64" => Scalar::U64,
            "f16" => Scalar::F16,
            _ => return None,
        };
        let mut rest = &name[at + word.len()..];
        let mut cut = |suffix: &str| match rest.strip_suffix(suffix) {
            Some(shorter) => {
                rest = shorter;
                true
            }
            None => false,
        };
        let shadow = cut("Shadow");
        let arrayed = cut("Array");
        let multisampled = cut("MS");
        let shape = match rest {
            "" if form == Form::Subpass => Shape::D2,
            _ if form == Form::Subpass => return None,
            "1D" => Shape::D1,
            "2D" => Shape::D2,
            "3D" => Shape::D3,
            "Cube" => Shape::Cube,
            "2DRect" => Shape::Rect,
            "Buffer" => Shape::Buffer,
            _ => return None,
        };
        let fits = match shape {
            Shape::D1 | Shape::Cube => !multisampled,
            Shape::D2 => !(multisampled && shadow),
            Shape::D3 | Shape::Buffer => !shadow && !arrayed && !multisampled,
            Shape::Rect => !arrayed && !multisampled,
        };
        if !fits || shadow && (texel.kind != ScalarKind::Float || form == Form::Storage) {
            return None;
        }
        return Some(Ty::Opaque(Opaque::Image(Image {
            form,
            texel,
            shape,
            arrayed,
            multisampled,
            shadow,
        })));
    }
    None
}
