//! The typed tree: what a program means, every name resolved and every conversion written out.

use super::layout::Rule;
use super::types::{Image, Ty, Types, Varying};
use crate::lower::primitives::Said;
use crate::lower::quads::Quads;
use gpucc_ir::Set;
use gpucc_ir::ssa::Span;
use std::rc::Rc;

/// A scalar that is known.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Num {
    F(f64),
    I(i64),
    U(u64),
    B(bool),
}

/// Lanes of a vector that are chosen.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Lanes {
    pub lanes: [u8; 4],
    pub count: u8,
}

impl Lanes {
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.lanes[..self.count.into()].iter().map(|&lane| lane.into())
    }

    /// No lane stands twice.
    pub fn is_distinct(&self) -> bool {
        let all = &self.lanes[..self.count.into()];
        (1..all.len()).all(|at| !all[..at].contains(&all[at]))
    }
}

/// An expression with its type.
#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: Kind,
    pub ty: Ty,
    pub span: Span,
}

/// Arithmetic and bits, lane by lane; products of matrices.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    And,
    Or,
    Xor,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Unary {
    Negate,
    Not,
    BitNot,
}

#[derive(Clone, Debug)]
pub enum Kind {
    Const(Rc<[Num]>),
    Local(u32),
    Global(u32),
    Member(Box<Expr>, u32),
    Index(Box<Expr>, Box<Expr>),
    Swizzle(Box<Expr>, Lanes),
    /// Scalars of other types, lane by lane.
    Convert(Box<Expr>),
    /// The scalars of the parts in a row, as many as the type has.
    Construct(Vec<Expr>),
    /// A scalar in every lane.
    Splat(Box<Expr>),
    /// A scalar on the diagonal of a matrix.
    Diagonal(Box<Expr>),
    /// A part of a larger matrix, or a smaller one within the unit matrix.
    Resize(Box<Expr>),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// All scalars are equal, or not.
    Equal(bool, Box<Expr>, Box<Expr>),
    AndAlso(Box<Expr>, Box<Expr>),
    OrElse(Box<Expr>, Box<Expr>),
    Choose(Box<Expr>, Box<Expr>, Box<Expr>),
    Assign(Box<Expr>, Box<Expr>),
    /// An operation on a variable and a value; gives what was there before where it says so.
    Update(Binary, Box<Expr>, Box<Expr>, bool),
    Comma(Box<Expr>, Box<Expr>),
    Call(u32, Vec<Expr>),
    Builtin(&'static str, Vec<Expr>),
    Texture(Box<Texture>),
    /// A texture and a sampler.
    Combine(Box<Expr>, Box<Expr>),
    /// The length of an array that a buffer holds.
    Length(Box<Expr>),
    /// The block that a pointer leads to.
    Deref(Box<Expr>),
    /// A pointer as a number of 64 bits, or as two of 32; such a number as a pointer.
    Recast(Box<Expr>),
}

impl Expr {
    pub fn new(kind: Kind, ty: Ty, span: Span) -> Expr {
        Expr { kind, ty, span }
    }

    pub fn known(&self) -> Option<&Rc<[Num]>> {
        match &self.kind {
            Kind::Const(known) => Some(known),
            _ => None,
        }
    }
}

/// What a texture function does.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Sampling {
    Sample,
    Gather,
    Fetch,
    /// The level that a sample would take.
    Level,
}

/// A call of a texture function.
#[derive(Clone, Debug)]
pub struct Texture {
    pub what: Sampling,
    pub image: Image,
    pub texture: Expr,
    pub place: Expr,
    /// The place's last component divides the others.
    pub projects: bool,
    pub reference: Option<Expr>,
    pub bias: Option<Expr>,
    pub level: Option<Expr>,
    pub gradients: Option<(Expr, Expr)>,
    pub offset: Option<Expr>,
    /// Four offsets of a gather.
    pub offsets: Option<Expr>,
    pub component: u8,
    /// The shadow functions of old give four components.
    pub spreads: bool,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum StmtKind {
    /// A variable gets its first value.
    Local(u32, Expr),
    Expr(Expr),
    Block(Vec<Stmt>),
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    Switch(Expr, Vec<Case>),
    Loop {
        condition: Option<Expr>,
        body: Vec<Stmt>,
        next: Option<Expr>,
        /// The condition is tested behind the body.
        test_last: bool,
    },
    Break,
    Continue,
    Return(Option<Expr>),
    Discard,
    Demote,
}

/// Statements between labels of a switch.
#[derive(Clone, Debug)]
pub struct Case {
    pub values: Vec<u64>,
    pub is_default: bool,
    pub body: Vec<Stmt>,
    pub falls_through: bool,
}

/// Where a parameter's value goes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Direction {
    In,
    Out,
    InOut,
}

#[derive(Clone, Debug)]
pub struct Parameter {
    pub ty: Ty,
    pub direction: Direction,
    pub is_const: bool,
}

/// A variable of a function.
#[derive(Clone, Debug)]
pub struct Local {
    pub name: String,
    pub ty: Ty,
    pub is_const: bool,
    /// Elements that constant indices reach, of an array whose length its uses say.
    pub reached: u32,
    pub grows: bool,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    pub span: Span,
    pub result: Ty,
    pub parameters: Vec<Parameter>,
    /// Parameters first.
    pub locals: Vec<Local>,
    pub body: Option<Vec<Stmt>>,
    pub calls: Set<u32>,
    pub globals: Set<u32>,
    /// Parameters whose textures are compared.
    pub compared: Set<u32>,
    /// Functions called with how often, for the size of what is inlined.
    pub size: u64,
    pub callees: Vec<u32>,
}

/// Group and binding.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bound {
    pub set: u32,
    pub binding: u32,
}

/// A location of an input or output.
#[derive(Copy, Clone, Debug, Default)]
pub struct Located {
    pub location: Option<u32>,
    pub component: Option<u32>,
    pub index: u32,
    pub varying: Varying,
}

/// What a variable outside of functions is.
#[derive(Clone, Debug, PartialEq)]
pub enum Class {
    Private,
    Const,
    Shared,
    /// A block of shared memory, which begins where all others do (GL_EXT_shared_memory_block).
    SharedBlock(Rule),
    Input,
    Output,
    /// A member of the block of uniforms that stand in none.
    Loose(u32),
    Uniform(Rule),
    Storage(Rule),
    Push(Rule),
    /// A texture, image or sampler.
    Handle,
    /// A structure of textures and samplers alone, which are variables of their own.
    Parts,
    Counter,
}

/// A variable outside of functions.
#[derive(Clone, Debug)]
pub struct Global {
    pub name: String,
    pub span: Span,
    pub ty: Ty,
    pub class: Class,
    pub init: Option<Expr>,
    pub bound: Bound,
    pub located: Located,
    /// A built-in variable.
    pub builtin: Option<&'static super::variables::Variable>,
    pub row_major: bool,
    pub read_only: bool,
    pub write_only: bool,
    /// The format of an image.
    pub format: Option<&'static str>,
    /// Elements that constant indices reach, of an array whose length its uses say.
    pub reached: u32,
    pub grows: bool,
    pub invariant: bool,
    /// Another declaration gave it its place: `gl_FragCoord` again.
    pub compared: bool,
}

/// A whole program.
#[derive(Debug, Default)]
pub struct Program {
    pub types: Types,
    pub functions: Vec<Function>,
    pub globals: Vec<Global>,
    pub main: u32,
    pub workgroup: [u32; 3],
    pub early_tests: bool,
    pub quads: Quads,
    /// What a geometry shader takes and emits.
    pub primitives: Said,
    /// Bit n: member n of the primitive's vertices is used.
    pub of_vertices: u8,
    /// Members of the block of uniforms that stand in none.
    pub loose: Option<(Ty, Bound)>,
    pub invariant: bool,
    /// Integers of 8 bits are there.
    pub has_bytes: bool,
    pub notes: Vec<crate::Diagnostic>,
}

impl Global {
    pub fn new(name: &str, ty: Ty, class: Class, span: Span) -> Global {
        Global {
            name: name.to_owned(),
            span,
            ty,
            class,
            init: None,
            bound: Bound::default(),
            located: Located::default(),
            builtin: None,
            row_major: false,
            read_only: false,
            write_only: false,
            format: None,
            reached: 0,
            grows: false,
            invariant: false,
            compared: false,
        }
    }
}
