//! Abstract syntax: what the parser makes of the tokens, before names have meanings.

use gpucc_ir::ssa::Span;

/// An expression.
#[derive(Debug)]
pub struct Expr<'a> {
    pub kind: ExprKind<'a>,
    pub span: Span,
}

#[derive(Debug)]
pub enum ExprKind<'a> {
    /// A number as it is written.
    Number(&'a str),
    Bool(bool),
    /// A string, which extensions print.
    Text,
    Name(&'a str),
    /// `-`, `+`, `!`, `~`, `++`, `--`.
    Unary(&'a str, Box<Expr<'a>>),
    /// `++` or `--` behind its operand.
    Postfix(&'a str, Box<Expr<'a>>),
    Binary(&'a str, Box<Expr<'a>>, Box<Expr<'a>>),
    /// `=` and the operators that assign.
    Assign(&'a str, Box<Expr<'a>>, Box<Expr<'a>>),
    Choose(Box<Expr<'a>>, Box<Expr<'a>>, Box<Expr<'a>>),
    /// An empty index stands in the constructors of arrays.
    Index(Box<Expr<'a>>, Option<Box<Expr<'a>>>),
    Field(Box<Expr<'a>>, &'a str, Span),
    Call(Box<Expr<'a>>, Vec<Expr<'a>>),
    Comma(Box<Expr<'a>>, Box<Expr<'a>>),
    /// An initializer in braces.
    List(Vec<Expr<'a>>),
}

/// A qualifier of a layout: its name and value.
#[derive(Debug)]
pub struct LayoutItem<'a> {
    pub name: &'a str,
    pub value: Option<Expr<'a>>,
    pub span: Span,
}

/// Qualifiers in front of a type.
#[derive(Debug, Default)]
pub struct Qualifiers<'a> {
    /// Words in the order of the text.
    pub words: Vec<(&'a str, Span)>,
    pub layout: Vec<LayoutItem<'a>>,
    /// The instruction that a function is by `spirv_instruction` (GL_EXT_spirv_intrinsics), where no set has it.
    pub instruction: Option<u32>,
}

impl Qualifiers<'_> {
    pub fn has(&self, word: &str) -> bool {
        self.words.iter().any(|(own, _)| *own == word)
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.layout.is_empty()
    }
}

/// Lengths of arrays, outermost first; none is left to others.
pub type Lengths<'a> = Vec<Option<Expr<'a>>>;

/// A type as it is written.
#[derive(Debug)]
pub struct TypeSpec<'a> {
    pub base: Base<'a>,
    pub lengths: Lengths<'a>,
    pub span: Span,
}

#[derive(Debug)]
pub enum Base<'a> {
    Name(&'a str),
    Struct(Option<&'a str>, Vec<Member<'a>>),
}

/// A member of a structure or block.
#[derive(Debug)]
pub struct Member<'a> {
    pub qualifiers: Qualifiers<'a>,
    pub ty: TypeSpec<'a>,
    pub declared: Vec<Declarator<'a>>,
}

/// A name that is declared.
#[derive(Debug)]
pub struct Declarator<'a> {
    pub name: &'a str,
    pub span: Span,
    pub lengths: Lengths<'a>,
    pub init: Option<Expr<'a>>,
}

/// Variables, or a structure alone.
#[derive(Debug)]
pub struct Declaration<'a> {
    pub qualifiers: Qualifiers<'a>,
    pub ty: TypeSpec<'a>,
    pub declared: Vec<Declarator<'a>>,
}

/// A parameter of a function.
#[derive(Debug)]
pub struct Parameter<'a> {
    pub qualifiers: Qualifiers<'a>,
    pub ty: TypeSpec<'a>,
    pub name: Option<(&'a str, Span)>,
    pub lengths: Lengths<'a>,
}

/// A function, or its prototype.
#[derive(Debug)]
pub struct Function<'a> {
    pub qualifiers: Qualifiers<'a>,
    pub result: TypeSpec<'a>,
    pub name: &'a str,
    pub span: Span,
    pub parameters: Vec<Parameter<'a>>,
    pub body: Option<Vec<Stmt<'a>>>,
}

/// A block of uniforms, of a buffer, of inputs or outputs.
#[derive(Debug)]
pub struct Block<'a> {
    pub qualifiers: Qualifiers<'a>,
    pub name: &'a str,
    pub span: Span,
    pub members: Vec<Member<'a>>,
    pub instance: Option<Declarator<'a>>,
}

/// What stands outside of functions.
#[derive(Debug)]
pub enum Item<'a> {
    Declaration(Declaration<'a>),
    Function(Function<'a>),
    Block(Block<'a>),
    /// `layout(...) in;`, `invariant gl_Position;`, `precise x, y;`
    Qualified(Qualifiers<'a>, Vec<(&'a str, Span)>),
}

/// A statement.
#[derive(Debug)]
pub struct Stmt<'a> {
    pub kind: StmtKind<'a>,
    pub span: Span,
}

#[derive(Debug)]
pub enum StmtKind<'a> {
    Empty,
    Declaration(Declaration<'a>),
    Expr(Expr<'a>),
    Block(Vec<Stmt<'a>>),
    If(Expr<'a>, Box<Stmt<'a>>, Option<Box<Stmt<'a>>>),
    Switch(Expr<'a>, Vec<Stmt<'a>>),
    /// `case` with its value, or `default`.
    Case(Option<Expr<'a>>),
    /// First statement, condition, step, body.
    For(Box<Stmt<'a>>, Option<Condition<'a>>, Option<Expr<'a>>, Box<Stmt<'a>>),
    While(Condition<'a>, Box<Stmt<'a>>),
    Do(Box<Stmt<'a>>, Expr<'a>),
    Break,
    Continue,
    Return(Option<Expr<'a>>),
    Discard,
    Demote,
    /// A statement of stages or extensions that are not read.
    Lacking,
}

/// The condition of a loop.
#[derive(Debug)]
pub enum Condition<'a> {
    Expr(Expr<'a>),
    /// `while (bool b = ...)`
    Declaration(TypeSpec<'a>, Declarator<'a>),
}
