//! Semantic analysis: names, types, conversions, overloads. Syntax in, the typed tree out.
//!
//! Scopes are those of GLSL 4.60, 4.2. What the language computes while compiling is computed here
//! ([`super::constant`]); everything else is left to the machine.

use super::ast;
use super::constant::fold;
use super::token::Dialect;
use super::tree::{Expr, Function, Kind, Local, Num, Program};
use super::types::{self, Ty};
use super::variables::{self, VARIABLES, Variable};
use crate::Options;
use crate::lower::Result;
use crate::stop::Stop;
use gpucc_ir::nearest::nearest;
use gpucc_ir::ssa::{Span, Stage};
use gpucc_ir::{Map, Set};
use naga::{Scalar, ScalarKind};
use std::rc::Rc;

/// What a name means.
#[derive(Clone, Debug)]
pub(super) enum Symbol {
    Local(u32),
    Global(u32),
    /// A member of a block without a name.
    Member(u32, u32),
    Const(Expr),
    Type(Ty),
}

/// The function that is checked.
#[derive(Debug, Default)]
pub(super) struct Current {
    pub locals: Vec<Local>,
    pub calls: Set<u32>,
    pub callees: Vec<u32>,
    pub globals: Set<u32>,
    pub compared: Set<u32>,
    pub size: u64,
    pub result: Option<Ty>,
    pub number: u32,
}

/// A texture that is handed on: from a variable to a parameter.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Root {
    Global(u32),
    Parameter(u32, u32),
}

/// The storage under which the names of all blocks stand.
pub(super) const ANY: &str = "";

pub(super) struct Check<'a, 'o> {
    pub p: Program,
    pub dialect: &'o Dialect,
    pub options: &'o Options,
    pub stage: Stage,
    pub scopes: Vec<Map<&'a str, Symbol>>,
    pub functions: Map<&'a str, Vec<u32>>,
    pub current: Current,
    pub loops: u32,
    pub switches: u32,
    /// Built-in variables that are used.
    pub builtins: Map<&'static str, u32>,
    /// Signatures of built-in functions that are called.
    pub signatures: Map<&'static str, Rc<[super::builtins::Signature]>>,
    /// Globals in the order of the text.
    pub order: Vec<u32>,
    /// Specialization constants: number and name.
    pub specials: Vec<(u32, String)>,
    /// Textures that are handed to parameters.
    pub handed: Vec<(Root, Root)>,
    /// Default layouts: of uniform blocks and of buffers, and whether matrices are by rows.
    pub defaults: [(super::layout::Rule, bool); 2],
    /// Bindings, locations and formats that are inferred.
    pub inferred: usize,
    /// A note about the number of devices was given.
    pub one_device: bool,
    /// Elements that constant indices reach, of members without a length of blocks between stages.
    pub reached: Map<(types::StructId, u32), u32>,
    /// Bindings that the text says.
    pub taken: std::collections::BTreeSet<u32>,
    /// Blocks and handles that say none.
    pub unbound: Vec<u32>,
    /// Textures within structures: the variable and numbers of members, and the variable that each is.
    pub parts: Map<(u32, Vec<u32>), u32>,
    /// Axes whose workgroup size the text says.
    pub sized: [bool; 3],
    /// Storage and names of blocks. Each name stands under [`ANY`] too, but for blocks of pointers, which are types.
    pub blocks: Set<(&'static str, &'a str)>,
    /// Those of the variable that is being declared.
    pub waiting: Vec<super::tree::Global>,
}

pub(super) fn invalid<T>(message: impl Into<String>, span: Span) -> Result<T> {
    Err(Stop::invalid(message).at(span))
}

/// A message about a name that nothing declares, with the one that is meant where one is alike.
pub(super) fn unknown<'n, T>(
    message: String,
    name: &str,
    known: impl IntoIterator<Item = &'n str>,
    span: Span,
) -> Result<T> {
    let stop = Stop::invalid(message).at(span);
    Err(match nearest(name, known) {
        Some(meant) => stop.with_note(format!("did you mean `{meant}`?")),
        None => stop,
    })
}

/// Checks a program.
///
/// # Errors
/// What breaks the rules of the language, and what is valid and not read.
pub fn check<'a>(
    items: &[ast::Item<'a>],
    dialect: &Dialect,
    stage: Stage,
    options: &Options,
) -> Result<Program> {
    use super::layout::Rule;
    let init = Function {
        name: String::new(),
        span: Span::NONE,
        result: Ty::Void,
        parameters: Vec::new(),
        locals: Vec::new(),
        body: None,
        calls: Set::default(),
        globals: Set::default(),
        compared: Set::default(),
        size: 0,
        callees: Vec::new(),
    };
    let mut check = Check {
        p: Program { functions: vec![init], workgroup: [1; 3], ..Program::default() },
        dialect,
        options,
        stage,
        scopes: vec![Map::default()],
        functions: Map::default(),
        current: Current::default(),
        loops: 0,
        switches: 0,
        builtins: Map::default(),
        signatures: Map::default(),
        order: Vec::new(),
        specials: Vec::new(),
        handed: Vec::new(),
        defaults: [(Rule::Std140, false), (Rule::Std430, false)],
        inferred: 0,
        one_device: false,
        reached: Map::default(),
        taken: Default::default(),
        unbound: Vec::new(),
        parts: Map::default(),
        sized: [false; 3],
        blocks: Set::default(),
        waiting: Vec::new(),
    };
    for item in items {
        match item {
            ast::Item::Declaration(declaration) => check.global_declaration(declaration)?,
            ast::Item::Function(function) => check.function(function)?,
            ast::Item::Block(block) => check.block(block)?,
            ast::Item::Qualified(qualifiers, names) => check.qualified(qualifiers, names)?,
        }
    }
    check.finish()
}

impl<'a> Check<'a, '_> {
    /// Whether implicit conversions exist.
    fn converts(&self) -> bool {
        match (self.dialect.es, self.dialect.stated, self.dialect.version) {
            (true, ..) => self.dialect.has("implicit_conversions"),
            (_, true, 110) => false,
            _ => true,
        }
    }

    /// How far an implicit conversion leads; none where there is none (GLSL 4.60, 4.1.10).
    fn scalar_cost(&self, from: Scalar, to: Scalar) -> Option<u32> {
        if from == to {
            return Some(0);
        }
        if !self.converts() {
            return None;
        }
        use ScalarKind::{Float, Sint, Uint};
        let newer = self.dialect.version >= 400
            || self.dialect.has("gpu_shader5")
            || self.dialect.has("integer_functions")
            || self.dialect.has("gpu_shader4")
            || self.dialect.has("implicit_conversions");
        match (from.kind, to.kind) {
            (Float, Float) if from.width < to.width => Some(1),
            (Sint, Sint) | (Uint, Uint) if from.width < to.width => Some(1),
            (Sint, Uint) if from.width <= to.width && (newer || to.width > 4) => Some(2),
            // Not in ARB_gpu_shader_int64, but in the later extension of all widths.
            (Uint, Sint) if from.width < to.width && !self.dialect.has("gpu_shader_int64") => {
                Some(2)
            }
            (Sint | Uint, Float) if from.width <= 4 && to.width == 4 => Some(3),
            (Sint | Uint, Float) if to.width == 8 => Some(4),
            (Sint | Uint, Float) if from.width <= 2 && to.width == 2 => Some(5),
            _ => None,
        }
    }

    /// The same of types.
    pub fn cost(&self, from: Ty, to: Ty) -> Option<u32> {
        if from == to {
            return Some(0);
        }
        match (from, to) {
            (Ty::Scalar(a), Ty::Scalar(b)) => self.scalar_cost(a, b),
            (Ty::Vector(a, n), Ty::Vector(b, m)) if n == m => self.scalar_cost(a, b),
            (Ty::Matrix(a, c, r), Ty::Matrix(b, d, s)) if (c, r) == (d, s) => {
                self.scalar_cost(a, b)
            }
            _ => None,
        }
    }

    pub fn folded(&self, kind: Kind, ty: Ty, span: Span) -> Expr {
        fold(&self.p.types, Expr::new(kind, ty, span))
    }

    /// Scalars of another type, lane by lane.
    pub fn converted(&self, expr: Expr, ty: Ty) -> Expr {
        if expr.ty == ty {
            return expr;
        }
        let span = expr.span;
        self.folded(Kind::Convert(Box::new(expr)), ty, span)
    }

    /// An expression as a value of a type, converted where the language does it.
    pub fn coerce(&self, expr: Expr, ty: Ty) -> Result<Expr> {
        if self.cost(expr.ty, ty).is_none() {
            let (have, want) = (self.p.types.name(expr.ty), self.p.types.name(ty));
            let message = format!(
                "a value of type {want} is expected, and this is {have} (GLSL 4.60, 4.1.10)"
            );
            return invalid(message, expr.span);
        }
        Ok(self.converted(expr, ty))
    }

    /// The type that two operands become.
    pub fn common(&self, a: Scalar, b: Scalar) -> Option<Scalar> {
        match (self.scalar_cost(a, b), self.scalar_cost(b, a)) {
            (Some(0), _) => Some(a),
            (Some(_), _) => Some(b),
            (_, Some(_)) => Some(a),
            _ => None,
        }
    }

    pub fn number(&self, num: Num, ty: Ty, span: Span) -> Expr {
        Expr::new(Kind::Const(vec![num].into()), ty, span)
    }

    pub fn symbol(&self, name: &str) -> Option<&Symbol> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    pub fn declare(&mut self, name: &'a str, symbol: Symbol, span: Span) -> Result<()> {
        let outermost = self.scopes.len() == 1;
        let scope = self.scopes.last_mut().expect("there is a scope");
        // A block's name is no other's (GLSL 4.60, 4.3.9).
        let of_block = outermost && self.dialect.stated && self.blocks.contains(&(ANY, name));
        if scope.insert(name, symbol).is_some() || of_block {
            return invalid(format!("`{name}` is declared already in this scope"), span);
        }
        Ok(())
    }

    /// Refuses names that the language keeps (GLSL 4.60, 3.7).
    pub fn check_name(&self, name: &str, span: Span) -> Result<()> {
        if name.starts_with("gl_") {
            return invalid(
                format!("`{name}`: names that begin with gl_ are reserved (GLSL 4.60, 3.7)"),
                span,
            );
        }
        Ok(())
    }

    /// Runs a part within a scope of its own.
    pub fn scoped<T>(&mut self, part: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.scopes.push(Map::default());
        let result = part(self);
        self.scopes.pop();
        result
    }

    /// A variable of the current function.
    pub fn local(&mut self, name: &str, ty: Ty, is_const: bool) -> u32 {
        self.current.locals.push(Local {
            name: name.to_owned(),
            ty,
            is_const,
            reached: 0,
            grows: false,
        });
        self.current.locals.len() as u32 - 1
    }

    /// The use of a variable outside of functions.
    pub fn global(&mut self, number: u32, span: Span) -> Expr {
        self.current.globals.insert(number);
        Expr::new(Kind::Global(number), self.p.globals[number as usize].ty, span)
    }

    /// What a name in an expression means.
    pub fn named(&mut self, name: &'a str, span: Span) -> Result<Expr> {
        match self.symbol(name).cloned() {
            Some(Symbol::Local(number)) => {
                let ty = self.current.locals[number as usize].ty;
                return Ok(Expr::new(Kind::Local(number), ty, span));
            }
            Some(Symbol::Global(number)) => return Ok(self.global(number, span)),
            Some(Symbol::Member(number, member)) => {
                let block = self.global(number, span);
                return self.member(block, member, span);
            }
            Some(Symbol::Const(expr)) => return Ok(Expr { span, ..expr }),
            Some(Symbol::Type(_)) => {
                return invalid(format!("`{name}` is a type, and a value is expected"), span);
            }
            None => {}
        }
        if let Some(expr) = self.builtin_variable(name, span)? {
            return Ok(expr);
        }
        match types::named(name) {
            Some(Ty::Opaque(types::Opaque::Lacking(what))) => Err(super::lacking(what).at(span)),
            Some(_) => invalid(format!("`{name}` is a type, and a value is expected"), span),
            None => {
                let own = self.scopes.iter().flat_map(|scope| scope.keys().copied());
                let of_stage = |variable: &&Variable| variable.stages.contains(&self.stage);
                let built_in = VARIABLES.iter().filter(of_stage).map(|variable| variable.name);
                unknown(format!("`{name}` is not declared"), name, own.chain(built_in), span)
            }
        }
    }

    fn builtin_variable(&mut self, name: &str, span: Span) -> Result<Option<Expr>> {
        use variables::What;
        let Some(variable) = variables::find(name, self.stage) else {
            return Ok(None);
        };
        match variable.what {
            What::Number(value) => return Ok(Some(self.number(Num::I(value), types::INT, span))),
            What::WorkgroupSize => {
                let size = self.p.workgroup.map(|n| Num::U(n.into()));
                let ty = Ty::Vector(Scalar::U32, 3);
                return Ok(Some(Expr::new(Kind::Const(size.to_vec().into()), ty, span)));
            }
            What::Zero => {
                let text = "gl_DeviceIndex is 0: there is one device";
                let note = crate::Diagnostic::note("device-index", text);
                if !std::mem::replace(&mut self.one_device, true) {
                    self.p.notes.push(note);
                }
                return Ok(Some(self.number(Num::I(0), types::INT, span)));
            }
            // It is volatile under this model, and says what became of the invocation (SPIR-V 1.6, HelperInvocation).
            What::Helper if self.dialect.memory_model => {
                let kind = Kind::Builtin("helperInvocationEXT", Vec::new());
                return Ok(Some(Expr::new(kind, types::BOOL, span)));
            }
            // Its distances from the planes are what leaves.
            What::ClipVertex => {
                let planes = variables::find("gl_ClipPlane", self.stage);
                let planes = planes.ok_or_else(|| Stop::internal("there are no planes"))?;
                let planes = self.builtin(planes, span)?;
                self.current.globals.insert(planes);
            }
            _ => {}
        }
        let number = self.builtin(variable, span)?;
        Ok(Some(self.global(number, span)))
    }

    /// The global that a built-in variable is.
    pub fn builtin(&mut self, variable: &'static variables::Variable, span: Span) -> Result<u32> {
        use super::tree::{Class, Global};
        use variables::What;
        if let Some(&known) = self.builtins.get(variable.name) {
            return Ok(known);
        }
        let ty = match variable.what {
            What::Vertices => self.vertices(span)?,
            _ => variables::type_of(variable, &mut self.p.types)?,
        };
        let class = match variable.what {
            What::Out(_) | What::Colour => Class::Output,
            What::Varying if self.stage == Stage::Vertex => Class::Output,
            What::State => Class::Loose(0),
            What::LackingOut | What::ClipVertex => Class::Output,
            _ => Class::Input,
        };
        let mut global = Global::new(variable.name, ty, class, span);
        global.builtin = Some(variable);
        global.grows = variable.length > 1
            && matches!(
                variable.what,
                What::Varying | What::Colour | What::Out(_) | What::Distances(_)
            );
        let number = self.p.globals.len() as u32;
        self.p.globals.push(global);
        self.builtins.insert(variable.name, number);
        Ok(number)
    }

    /// A member of a structure.
    pub fn member(&mut self, base: Expr, index: u32, span: Span) -> Result<Expr> {
        let Ty::Struct(id) = base.ty else {
            return Err(Stop::internal("a member of what is no structure"));
        };
        let ty = self.p.types.structure(id).members[index as usize].ty;
        let of_vertices = super::calls::root(&base).is_some_and(|number| {
            let built = self.p.globals[number as usize].builtin;
            built.is_some_and(|variable| variable.what == variables::What::Vertices)
        });
        if of_vertices {
            self.p.of_vertices |= 1 << index;
        }
        if matches!(self.p.types.innermost(ty), Ty::Opaque(_)) {
            let part = Expr::new(Kind::Member(Box::new(base), index), ty, span);
            return Ok(self.part(part));
        }
        Ok(self.folded(Kind::Member(Box::new(base), index), ty, span))
    }
}
