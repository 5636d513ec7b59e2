//! Semantic analysis of expressions (GLSL 4.60, chapter 5).

use super::ast::{self, ExprKind};
use super::check::{Check, invalid};
use super::tree::{Binary, Class, Expr, Kind, Lanes, Num, Unary};
use super::types::{self, Ty, is_integer, vector};
use crate::lower::Result;
use crate::stop::Stop;
use gpucc_ir::ssa::{Span, Stage};
use naga::{Scalar, ScalarKind};

/// Elements of an array whose length its uses say.
const MOST_ELEMENTS: u32 = 1 << 20;

fn operator(text: &str) -> Option<Binary> {
    Some(
        match text
            .strip_suffix('=')
            .filter(|op| !matches!(*op, "" | "<" | ">" | "=" | "!"))
            .unwrap_or(text)
        {
            "+" => Binary::Add,
            "-" => Binary::Sub,
            "*" => Binary::Mul,
            "/" => Binary::Div,
            "%" => Binary::Rem,
            "<<" => Binary::Shl,
            ">>" => Binary::Shr,
            "&" => Binary::And,
            "|" => Binary::Or,
            "^" => Binary::Xor,
            "<" => Binary::Less,
            "<=" => Binary::LessEqual,
            ">" => Binary::Greater,
            ">=" => Binary::GreaterEqual,
            _ => return None,
        },
    )
}

/// The type of a product or another operation on operands of one scalar type; none where their shapes do not fit.
fn shape(op: Binary, a: Ty, b: Ty) -> Option<Ty> {
    if let (Binary::Mul, Some(scalar)) = (op, a.scalar()) {
        match (a, b) {
            (Ty::Matrix(_, columns, rows), Ty::Vector(_, lanes)) => {
                return (columns == lanes).then_some(Ty::Vector(scalar, rows));
            }
            (Ty::Vector(_, lanes), Ty::Matrix(_, columns, rows)) => {
                return (rows == lanes).then_some(Ty::Vector(scalar, columns));
            }
            (Ty::Matrix(_, columns, own), Ty::Matrix(_, other, rows)) => {
                return (columns == rows).then_some(Ty::Matrix(scalar, other, own));
            }
            _ => {}
        }
    }
    match (a, b) {
        (Ty::Scalar(_), b) => Some(b),
        (a, Ty::Scalar(_)) => Some(a),
        (a, b) => (a == b).then_some(a),
    }
}

impl<'a> Check<'a, '_> {
    /// The meaning of an expression.
    pub fn expr(&mut self, expr: &ast::Expr<'a>) -> Result<Expr> {
        self.current.size += 1;
        let span = expr.span;
        match &expr.kind {
            ExprKind::Number(text) => self.literal(text, span),
            ExprKind::Bool(value) => Ok(self.number(Num::B(*value), types::BOOL, span)),
            ExprKind::Text => invalid("a string stands where a value is expected", span),
            ExprKind::Name(name) => self.named(name, span),
            ExprKind::Unary(op, inner) => self.unary(op, inner, span),
            ExprKind::Postfix(op, inner) => self.step(op, inner, true, span),
            ExprKind::Binary(op, a, b) => self.binary(op, a, b, span),
            ExprKind::Assign(op, a, b) => self.assign(op, a, b, span),
            ExprKind::Choose(condition, a, b) => self.choose(condition, a, b, span),
            ExprKind::Index(base, index) => self.index(base, index.as_deref(), span),
            ExprKind::Field(base, name, at) => self.field(base, name, *at, span),
            ExprKind::Call(callee, arguments) => self.call(callee, arguments, span),
            ExprKind::Comma(a, b) => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                for side in [&a, &b] {
                    if self.p.types.is_opaque(side.ty) {
                        let rule = "a texture or sampler is no operand of `,` (GLSL 4.60, 4.1.7)";
                        return invalid(rule, side.span);
                    }
                }
                let ty = b.ty;
                Ok(Expr::new(Kind::Comma(Box::new(a), Box::new(b)), ty, span))
            }
            ExprKind::List(_) => {
                invalid("braces stand in initializers alone (GLSL 4.60, 4.1.14)", span)
            }
        }
    }

    fn literal(&self, text: &str, span: Span) -> Result<Expr> {
        let wrong = || invalid(format!("`{text}` is no number of GLSL (GLSL 4.60, 4.1.3)"), span);
        let lower = text.to_ascii_lowercase();
        let hex = lower.starts_with("0x");
        let is_float = !hex && (lower.contains(['.', 'e']) || lower.ends_with('f'));
        if is_float {
            let (digits, scalar) = if let Some(rest) = lower.strip_suffix("lf") {
                (rest, Scalar::F64)
            } else if let Some(rest) = lower.strip_suffix("hf") {
                (rest, Scalar::F16)
            } else {
                (lower.strip_suffix('f').unwrap_or(&lower), Scalar::F32)
            };
            let well_formed =
                digits.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | '+' | '-'));
            return match digits.parse::<f64>() {
                Ok(value) if well_formed => {
                    Ok(self.number(Num::F(value), Ty::Scalar(scalar), span))
                }
                _ => wrong(),
            };
        }
        let (digits, kind, width) = if let Some(rest) = lower.strip_suffix("ul") {
            (rest, ScalarKind::Uint, 8)
        } else if let Some(rest) = lower.strip_suffix("us") {
            (rest, ScalarKind::Uint, 2)
        } else if let Some(rest) = lower.strip_suffix('u') {
            (rest, ScalarKind::Uint, 4)
        } else if let Some(rest) = lower.strip_suffix('l') {
            (rest, ScalarKind::Sint, 8)
        } else if let Some(rest) = lower.strip_suffix('s') {
            (rest, ScalarKind::Sint, 2)
        } else {
            (&*lower, ScalarKind::Sint, 4)
        };
        let value = if let Some(digits) = digits.strip_prefix("0x") {
            u64::from_str_radix(digits, 16)
        } else if digits.len() > 1 && digits.starts_with('0') {
            u64::from_str_radix(digits, 8)
        } else {
            digits.parse()
        };
        let Ok(value) = value else {
            return wrong();
        };
        if width < 8 && value >> (8 * u32::from(width)) != 0 {
            return invalid(
                format!("`{text}` has more bits than its type (GLSL 4.60, 4.1.3)"),
                span,
            );
        }
        let scalar = Scalar { kind, width };
        let num = match kind {
            ScalarKind::Uint => Num::U(value),
            _ => Num::I(value as i64).convert(scalar),
        };
        Ok(self.number(num, Ty::Scalar(scalar), span))
    }

    fn unary(&mut self, op: &str, inner: &ast::Expr<'a>, span: Span) -> Result<Expr> {
        if matches!(op, "++" | "--") {
            return self.step(op, inner, false, span);
        }
        let value = self.operand(inner)?;
        let scalar = value.ty.scalar();
        let (own, fits) = match (op, scalar) {
            ("+", Some(scalar)) => (None, scalar.kind != ScalarKind::Bool),
            ("-", Some(scalar)) => (Some(Unary::Negate), scalar.kind != ScalarKind::Bool),
            ("~", Some(scalar)) => {
                (Some(Unary::BitNot), is_integer(scalar) && value.ty.lanes().is_some())
            }
            ("!", Some(_)) => (Some(Unary::Not), value.ty == types::BOOL),
            _ => (None, false),
        };
        if !fits {
            let have = self.p.types.name(value.ty);
            return invalid(format!("`{op}` does not take {have} (GLSL 4.60, 5.9)"), span);
        }
        let ty = value.ty;
        Ok(match own {
            None => Expr { span, ..value },
            Some(own) => self.folded(Kind::Unary(own, Box::new(value)), ty, span),
        })
    }

    /// `++` and `--`.
    fn step(&mut self, op: &str, inner: &ast::Expr<'a>, post: bool, span: Span) -> Result<Expr> {
        let value = self.expr(inner)?;
        self.check_written(&value)?;
        let scalar = value.ty.scalar().filter(|scalar| scalar.kind != ScalarKind::Bool);
        let Some(scalar) = scalar else {
            let have = self.p.types.name(value.ty);
            return invalid(format!("`{op}` does not take {have} (GLSL 4.60, 5.9)"), span);
        };
        let own = if op == "++" { Binary::Add } else { Binary::Sub };
        let one = self.number(Num::I(1).convert(scalar), Ty::Scalar(scalar), span);
        let ty = value.ty;
        Ok(Expr::new(Kind::Update(own, Box::new(value), Box::new(one), post), ty, span))
    }

    /// Both operands with one scalar type, and the type of the result.
    fn operands(
        &self,
        op: Binary,
        a: Expr,
        b: Expr,
        text: &str,
        span: Span,
    ) -> Result<(Expr, Expr, Ty)> {
        let wrong = || {
            let (left, right) = (self.p.types.name(a.ty), self.p.types.name(b.ty));
            invalid(format!("`{text}` does not take {left} and {right} (GLSL 4.60, 5.9)"), span)
        };
        let (Some(left), Some(right)) = (a.ty.scalar(), b.ty.scalar()) else {
            return wrong();
        };
        let shifts = matches!(op, Binary::Shl | Binary::Shr);
        let bits = matches!(op, Binary::And | Binary::Or | Binary::Xor | Binary::Rem);
        if shifts {
            let lanes = match (a.ty.lanes(), b.ty.lanes()) {
                (Some((_, n)), Some((_, m))) => m == 1 || n == m,
                _ => false,
            };
            if !is_integer(left) || !is_integer(right) || !lanes {
                return wrong();
            }
            let ty = a.ty;
            return Ok((a, b, ty));
        }
        let Some(scalar) = self.common(left, right) else {
            return wrong();
        };
        if scalar.kind == ScalarKind::Bool || bits && !is_integer(scalar) {
            return wrong();
        }
        let Some(ty) = shape(op, a.ty.with(scalar), b.ty.with(scalar)) else {
            return wrong();
        };
        let compares =
            matches!(op, Binary::Less | Binary::LessEqual | Binary::Greater | Binary::GreaterEqual);
        if compares && !matches!(ty, Ty::Scalar(_)) {
            return wrong();
        }
        let (left, right) = (a.ty.with(scalar), b.ty.with(scalar));
        let (a, b) = (self.converted(a, left), self.converted(b, right));
        Ok((a, b, if compares { types::BOOL } else { ty }))
    }

    fn binary(
        &mut self,
        text: &str,
        a: &ast::Expr<'a>,
        b: &ast::Expr<'a>,
        span: Span,
    ) -> Result<Expr> {
        let (a, b) = (self.operand(a)?, self.operand(b)?);
        if let Some(op) = operator(text) {
            if let Some(found) = self.pointer_sum(op, &a, &b, span)? {
                return Ok(found);
            }
            let (a, b, ty) = self.operands(op, a, b, text, span)?;
            return Ok(self.folded(Kind::Binary(op, Box::new(a), Box::new(b)), ty, span));
        }
        if matches!(text, "==" | "!=") {
            return self.equal(text, a, b, span);
        }
        for side in [&a, &b] {
            if side.ty != types::BOOL {
                let have = self.p.types.name(side.ty);
                return invalid(
                    format!("`{text}` takes bools, and this is {have} (GLSL 4.60, 5.9)"),
                    side.span,
                );
            }
        }
        let (a, b) = (Box::new(a), Box::new(b));
        let kind = match text {
            "&&" => Kind::AndAlso(a, b),
            "||" => Kind::OrElse(a, b),
            _ => Kind::Equal(false, a, b),
        };
        Ok(self.folded(kind, types::BOOL, span))
    }

    /// Two operands, one of them converted to the type of the other; the names of their types where neither can be.
    fn of_one_type(
        &mut self,
        a: Expr,
        b: Expr,
    ) -> std::result::Result<(Expr, Expr), (String, String)> {
        let (left, right) = (a.ty, b.ty);
        if self.cost(left, right).is_some() {
            Ok((self.converted(a, right), b))
        } else if self.cost(right, left).is_some() {
            Ok((a, self.converted(b, left)))
        } else {
            Err((self.p.types.name(left), self.p.types.name(right)))
        }
    }

    fn equal(&mut self, text: &str, a: Expr, b: Expr, span: Span) -> Result<Expr> {
        let (a, b) = self.of_one_type(a, b).or_else(|(left, right)| {
            invalid(format!("`{text}` does not take {left} and {right} (GLSL 4.60, 5.9)"), span)
        })?;
        if a.ty == Ty::Void || self.p.types.is_opaque(a.ty) || self.p.types.is_unsized(a.ty) {
            let have = self.p.types.name(a.ty);
            return invalid(format!("{have} cannot be compared (GLSL 4.60, 5.9)"), span);
        }
        if matches!(a.ty, Ty::Array(_)) {
            self.of_whole_arrays("comparing arrays", span)?;
        }
        Ok(self.folded(Kind::Equal(text == "==", Box::new(a), Box::new(b)), types::BOOL, span))
    }

    /// An operand of an operator, or a first value: refuses what a buffer declares `writeonly` (GLSL 4.60, 4.10). Arguments of functions and the targets
    /// of `+=` are read too, and the compilers that others have take them.
    pub(super) fn operand(&mut self, of: &ast::Expr<'a>) -> Result<Expr> {
        let expr = self.expr(of)?;
        let mut at = &expr;
        let hidden = loop {
            at = match &at.kind {
                Kind::Member(base, index) => {
                    let Ty::Struct(id) = base.ty else { return Ok(expr) };
                    let member = &self.p.types.structure(id).members[*index as usize];
                    if member.write_only {
                        break &member.name;
                    }
                    base
                }
                Kind::Index(base, _) | Kind::Swizzle(base, _) => base,
                Kind::Global(number) => {
                    let global = &self.p.globals[*number as usize];
                    if global.write_only && matches!(global.class, Class::Storage(_)) {
                        break &global.name;
                    }
                    return Ok(expr);
                }
                _ => return Ok(expr),
            };
        };
        invalid(format!("`{hidden}` is writeonly, and it is read (GLSL 4.60, 4.10)"), expr.span)
    }

    /// Refuses what is no variable, or one that is not written (GLSL 4.60, 5.8).
    pub fn check_written(&self, expr: &Expr) -> Result<()> {
        let mut at = expr;
        loop {
            match &at.kind {
                Kind::Swizzle(base, lanes) => {
                    if !lanes.is_distinct() {
                        return invalid("a component is written twice (GLSL 4.60, 5.5)", at.span);
                    }
                    at = base;
                }
                Kind::Member(base, index) => {
                    if let Ty::Struct(id) = base.ty {
                        let member = &self.p.types.structure(id).members[*index as usize];
                        if member.read_only {
                            return invalid(
                                format!("`{}` is readonly (GLSL 4.60, 4.10)", member.name),
                                expr.span,
                            );
                        }
                    }
                    at = base;
                }
                Kind::Index(base, _) => at = base,
                // `readonly` of the whole block says nothing: the compiler that others have writes through it.
                Kind::Deref(_) => return Ok(()),
                Kind::Local(number) => {
                    let local = &self.current.locals[*number as usize];
                    if local.is_const || self.p.types.is_opaque(local.ty) {
                        return invalid(
                            format!("`{}` is not written: it is a constant", local.name),
                            expr.span,
                        );
                    }
                    return Ok(());
                }
                Kind::Global(number) => {
                    let global = &self.p.globals[*number as usize];
                    let why = match global.class {
                        Class::Private | Class::Shared | Class::Output => return Ok(()),
                        Class::SharedBlock(_) => return Ok(()),
                        Class::Storage(_) if !global.read_only => return Ok(()),
                        Class::Storage(_) => "readonly",
                        Class::Input => "an input",
                        Class::Const => "a constant",
                        _ => "a uniform",
                    };
                    let name = &global.name;
                    return invalid(
                        format!("`{name}` is not written: it is {why} (GLSL 4.60, 5.8)"),
                        expr.span,
                    );
                }
                _ => {
                    return invalid(
                        "this is no variable, and a value is written to it (GLSL 4.60, 5.8)",
                        expr.span,
                    );
                }
            }
        }
    }

    fn assign(
        &mut self,
        text: &str,
        a: &ast::Expr<'a>,
        b: &ast::Expr<'a>,
        span: Span,
    ) -> Result<Expr> {
        let target = self.expr(a)?;
        self.check_written(&target)?;
        let value = self.operand(b)?;
        let ty = target.ty;
        if text == "=" {
            if self.p.types.is_unsized(ty) {
                return invalid("an array without a length is written whole", span);
            }
            let value = self.coerce(value, ty)?;
            if matches!(ty, Ty::Array(_)) {
                self.of_whole_arrays("assigning arrays", span)?;
            }
            return Ok(Expr::new(Kind::Assign(Box::new(target), Box::new(value)), ty, span));
        }
        let Some(op) = operator(text) else {
            return Err(Stop::internal("an operator that assigns"));
        };
        let moved = self.pointer_sum(op, &target, &value, span)?;
        if moved.is_some_and(|moved| moved.ty == ty) {
            return Ok(Expr::new(
                Kind::Update(op, Box::new(target), Box::new(value), false),
                ty,
                span,
            ));
        }
        let (left, right, result) = self.operands(op, target.clone(), value, text, span)?;
        if result != ty || left.ty != ty {
            let (have, want) = (self.p.types.name(result), self.p.types.name(ty));
            return invalid(
                format!("`{text}` gives {have}, and the variable is {want} (GLSL 4.60, 5.8)"),
                span,
            );
        }
        Ok(Expr::new(Kind::Update(op, Box::new(target), Box::new(right), false), ty, span))
    }

    fn choose(
        &mut self,
        condition: &ast::Expr<'a>,
        a: &ast::Expr<'a>,
        b: &ast::Expr<'a>,
        span: Span,
    ) -> Result<Expr> {
        let condition = self.expr(condition)?;
        if condition.ty != types::BOOL {
            let have = self.p.types.name(condition.ty);
            return invalid(format!("a condition is a bool, and this is {have}"), condition.span);
        }
        let (a, b) = (self.expr(a)?, self.expr(b)?);
        let (a, b) = self.of_one_type(a, b).or_else(|(left, right)| {
            invalid(format!("`?:` chooses between {left} and {right} (GLSL 4.60, 5.9)"), span)
        })?;
        let ty = a.ty;
        if self.p.types.is_opaque(ty) {
            return invalid("`?:` chooses between textures or samplers (GLSL 4.60, 4.1.7)", span);
        }
        Ok(self.folded(Kind::Choose(Box::new(condition), Box::new(a), Box::new(b)), ty, span))
    }

    fn index(
        &mut self,
        base: &ast::Expr<'a>,
        index: Option<&ast::Expr<'a>>,
        span: Span,
    ) -> Result<Expr> {
        let base = self.expr(base)?;
        let Some(index) = index else {
            return invalid("an index is missing", span);
        };
        let mut index = self.expr(index)?;
        if !index.ty.is_integer() {
            let have = self.p.types.name(index.ty);
            return invalid(
                format!("an index is an integer, and this is {have} (GLSL 4.60, 5.7)"),
                index.span,
            );
        }
        if let Some(found) = self.pointer_sum(Binary::Add, &base, &index, span)? {
            return Ok(found);
        }
        // `nonuniformEXT(i)` says nothing here.
        if let Kind::Builtin("nonuniformEXT", arguments) = &mut index.kind
            && let Some(inner) = arguments.pop()
        {
            index = inner;
        }
        let Some((of, length)) = self.p.types.elements(base.ty) else {
            let have = self.p.types.name(base.ty);
            return invalid(format!("{have} has no elements (GLSL 4.60, 5.7)"), span);
        };
        let known = index.known().map(|known| known[0].int());
        let first = if self.dialect.es { 300 } else { 130 };
        if matches!(self.p.types.innermost(of), Ty::Opaque(opaque) if opaque != types::Opaque::Counter)
            && known.is_none()
            && self.dialect.stated
            && self.dialect.version >= first
            && !self.dialect.since(400, 320, &["gpu_shader5"])
        {
            let message = "an array of textures takes constant indices before version 400, and 320 es (GLSL 4.60, 4.1.7)";
            return invalid(message, index.span);
        }
        if let Kind::Global(number) = base.kind
            && self.p.globals[number as usize].grows
        {
            self.reach(number, known, index.span)?;
        } else if let Kind::Local(number) = base.kind
            && self.current.locals[number as usize].grows
        {
            let most = i64::from(MOST_ELEMENTS);
            let Some(known) = known.filter(|known| (0..most).contains(known)) else {
                return invalid(
                    "an array without a length takes constant indices (GLSL 4.60, 4.1.9)",
                    index.span,
                );
            };
            let local = &mut self.current.locals[number as usize];
            local.reached = local.reached.max(known as u32 + 1);
        } else if let (Kind::Member(block, member), None) = (&base.kind, length)
            && let Ty::Struct(id) = block.ty
            && !self.in_buffer(&base)
        {
            let most = i64::from(crate::growth::MOST_LOCATIONS);
            let Some(known) = known.filter(|known| (0..most).contains(known)) else {
                return invalid(
                    "an array without a length takes constant indices (GLSL 4.60, 4.1.9)",
                    index.span,
                );
            };
            let reached = self.reached.entry((id, *member)).or_default();
            *reached = (*reached).max(known as u32 + 1);
        } else if let Some(known) = known {
            let behind = length.is_some_and(|length| known >= length.into());
            if known < 0 || behind {
                let have = self.p.types.name(base.ty);
                return invalid(
                    format!("the index {known} is out of the range of {have} (GLSL 4.60, 5.7)"),
                    index.span,
                );
            }
        }
        Ok(self.folded(Kind::Index(Box::new(base), Box::new(index)), of, span))
    }

    /// Values of arrays came with versions 120 and 300 es.
    pub fn of_whole_arrays(&self, what: &str, span: Span) -> Result<()> {
        if self.dialect.stated && !self.dialect.since(120, 300, &[]) {
            return invalid(format!("{what} needs version 120, or 300 es (GLSL 4.60, 5.7)"), span);
        }
        Ok(())
    }

    /// True for parts of buffers.
    fn in_buffer(&self, expr: &Expr) -> bool {
        super::addresses::is_followed(expr)
            || super::calls::root(expr).is_some_and(|number| {
                matches!(self.p.globals[number as usize].class, Class::Storage(_))
            })
    }

    /// An index of an array whose length its uses say.
    fn reach(&mut self, number: u32, known: Option<i64>, span: Span) -> Result<()> {
        let most = i64::from(MOST_ELEMENTS);
        let global = &self.p.globals[number as usize];
        let full = match self.p.types.elements(global.ty) {
            Some((_, Some(length))) => Some(length),
            _ => None,
        };
        let handles = matches!(global.class, Class::Handle | Class::Uniform(_) | Class::Storage(_));
        let reached = match (known, full) {
            _ if handles => 0,
            (Some(known), _) if known < 0 || full.is_some_and(|full| known >= full.into()) => {
                return invalid(
                    format!("the index {known} is out of range (GLSL 4.60, 5.7)"),
                    span,
                );
            }
            (Some(known), None) if known >= most => {
                let hint = "declare the array's length";
                let what = "elements of an array without a length";
                return Err(Stop::limit(what, known as u64, most as u64, hint).at(span));
            }
            (Some(known), _) => known as u32 + 1,
            (None, Some(full)) => full,
            (None, None) => {
                return invalid(
                    "an array without a length takes constant indices (GLSL 4.60, 4.1.9)",
                    span,
                );
            }
        };
        let global = &mut self.p.globals[number as usize];
        global.reached = global.reached.max(reached);
        Ok(())
    }

    fn field(&mut self, base: &ast::Expr<'a>, name: &str, at: Span, span: Span) -> Result<Expr> {
        let base = self.expr(base)?;
        let base = self.followed(base)?;
        if let Ty::Struct(id) = base.ty {
            let Some(index) = self.p.types.structure(id).find(name) else {
                let have = self.p.types.name(base.ty);
                return invalid(format!("{have} has no member `{name}`"), at);
            };
            return self.member(base, index, span);
        }
        let Some((scalar, count)) = base.ty.lanes() else {
            let have = self.p.types.name(base.ty);
            return invalid(format!("{have} has no member `{name}`"), at);
        };
        let mut lanes = [0; 4];
        let sets = ["xyzw", "rgba", "stpq"];
        let set = sets.iter().find(|set| name.chars().all(|letter| set.contains(letter)));
        let Some(set) = set.filter(|_| (1..=4).contains(&name.len())) else {
            return invalid(format!("`{name}` names no components (GLSL 4.60, 5.5)"), at);
        };
        for (lane, letter) in lanes.iter_mut().zip(name.chars()) {
            *lane = set.find(letter).unwrap_or(0) as u8;
            if usize::from(*lane) >= count {
                let have = self.p.types.name(base.ty);
                return invalid(format!("{have} has no component `{letter}` (GLSL 4.60, 5.5)"), at);
            }
        }
        let chosen = Lanes { lanes, count: name.len() as u8 };
        let ty = vector(scalar, name.len());
        Ok(self.folded(Kind::Swizzle(Box::new(base), chosen), ty, span))
    }

    /// What only fragment shaders may do.
    pub fn of_fragments(&self, what: &str, span: Span) -> Result<()> {
        match self.stage {
            Stage::Fragment => Ok(()),
            stage => invalid(format!("{what} in a {} shader", stage.name()), span),
        }
    }
}
