//! Recursive descent: expressions and statements. Declarations stand in [`super::declare`].
//!
//! Whether a statement declares something follows from its tokens alone, so the parser knows no names: a word that a
//! word follows, brackets left out, is a type. Nesting is bounded by [`NESTING`], and chains of operators by the
//! pre-scan.

use super::ast::{Condition, Declarator, Expr, ExprKind, Item, Stmt, StmtKind};
use super::token::{Kind, Token};
use crate::lower::Result;
use crate::stop::Stop;
use gpucc_ir::ssa::Span;

/// Constructs within one another.
const NESTING: u64 = 512;
/// Nodes of one expression that may stand in one another: what recursion over it visits.
const CHAIN: u64 = 8192;

/// Words that cannot be names.
const RESERVED: [&str; 22] = [
    "if", "else", "for", "while", "do", "switch", "case", "default", "break", "continue", "return",
    "discard", "struct", "in", "out", "inout", "uniform", "const", "true", "false", "void",
    "layout",
];

/// The parser of one text.
pub struct Parser<'t, 'a> {
    pub(super) tokens: &'t [Token<'a>],
    pub(super) at: usize,
    depth: u64,
    chain: u64,
}

/// How strongly binary operators bind.
fn strength(operator: &str) -> Option<u8> {
    Some(match operator {
        "||" => 1,
        "^^" => 2,
        "&&" => 3,
        "|" => 4,
        "^" => 5,
        "&" => 6,
        "==" | "!=" => 7,
        "<" | ">" | "<=" | ">=" => 8,
        "<<" | ">>" => 9,
        "+" | "-" => 10,
        "*" | "/" | "%" => 11,
        _ => return None,
    })
}

/// What stands outside of functions.
///
/// # Errors
/// The first token that does not fit, or nesting beyond the limit.
pub fn parse<'a>(tokens: &[Token<'a>]) -> Result<Vec<Item<'a>>> {
    let mut parser = Parser { tokens, at: 0, depth: 0, chain: 0 };
    let mut items = Vec::new();
    while parser.peek().kind != Kind::End {
        if parser.take(";") {
            continue;
        }
        parser.item(&mut items)?;
    }
    Ok(items)
}

pub(super) fn join(a: Span, b: Span) -> Span {
    Span { start: a.start, end: b.end }
}

impl<'a> Parser<'_, 'a> {
    pub(super) fn peek(&self) -> Token<'a> {
        self.ahead(0)
    }

    /// A token further on; the last one is repeated.
    pub(super) fn ahead(&self, by: usize) -> Token<'a> {
        self.tokens[(self.at + by).min(self.tokens.len() - 1)]
    }

    pub(super) fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        self.at += 1;
        token
    }

    pub(super) fn is(&self, text: &str) -> bool {
        let token = self.peek();
        token.text == text && token.kind != Kind::End
    }

    pub(super) fn take(&mut self, text: &str) -> bool {
        let found = self.is(text);
        self.at += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, text: &str) -> Result<Span> {
        if self.is(text) {
            Ok(self.next().span)
        } else {
            Err(self.unexpected(&format!("`{text}`")))
        }
    }

    pub(super) fn unexpected(&self, wanted: &str) -> Stop {
        let token = self.peek();
        let found = match token.kind {
            Kind::End => "the end of the text".to_owned(),
            _ => format!("`{}`", token.text),
        };
        Stop::invalid(format!("{wanted} is expected, and {found} stands here")).at(token.span)
    }

    /// A name that is declared or used.
    pub(super) fn name(&mut self) -> Result<(&'a str, Span)> {
        let token = self.peek();
        if token.kind != Kind::Word || RESERVED.contains(&token.text) {
            return Err(self.unexpected("a name"));
        }
        self.at += 1;
        Ok((token.text, token.span))
    }

    pub(super) fn is_name(&self, by: usize) -> bool {
        let token = self.ahead(by);
        token.kind == Kind::Word && !RESERVED.contains(&token.text)
    }

    /// Runs a part of the grammar one level deeper.
    pub(super) fn deeper<T>(&mut self, part: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= NESTING {
            let hint = "nest less";
            let needed = self.depth + 1;
            return Err(Stop::limit("nesting", needed, NESTING, hint).at(self.peek().span));
        }
        self.depth += 1;
        let result = part(self);
        self.depth -= 1;
        result
    }

    fn link(&mut self) -> Result<()> {
        self.chain += 1;
        if self.chain > CHAIN {
            let what = "operators in one expression";
            return Err(
                Stop::limit(what, self.chain, CHAIN, "split the expression").at(self.peek().span)
            );
        }
        Ok(())
    }

    /// An expression with commas.
    pub(super) fn expression(&mut self) -> Result<Expr<'a>> {
        let outer = self.chain;
        let result = self.deeper(|parser| {
            let mut left = parser.assignment()?;
            while parser.take(",") {
                parser.link()?;
                let right = parser.assignment()?;
                let span = join(left.span, right.span);
                left = Expr { kind: ExprKind::Comma(Box::new(left), Box::new(right)), span };
            }
            Ok(left)
        });
        if outer == 0 {
            self.chain = 0;
        }
        result
    }

    /// An expression without commas outside of brackets.
    pub(super) fn assignment(&mut self) -> Result<Expr<'a>> {
        self.deeper(|parser| {
            let left = parser.binary(0)?;
            let token = parser.peek();
            if parser.take("?") {
                let middle = parser.expression()?;
                parser.expect(":")?;
                let right = parser.assignment()?;
                let span = join(left.span, right.span);
                let kind = ExprKind::Choose(Box::new(left), Box::new(middle), Box::new(right));
                return Ok(Expr { kind, span });
            }
            let assigns = token.kind == Kind::Symbol
                && matches!(
                    token.text,
                    "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "<<=" | ">>=" | "&=" | "^=" | "|="
                );
            if !assigns {
                return Ok(left);
            }
            parser.at += 1;
            let right = parser.assignment()?;
            let span = join(left.span, right.span);
            Ok(Expr { kind: ExprKind::Assign(token.text, Box::new(left), Box::new(right)), span })
        })
    }

    fn binary(&mut self, least: u8) -> Result<Expr<'a>> {
        let mut left = self.unary()?;
        loop {
            let token = self.peek();
            let Some(bound) = strength(token.text).filter(|bound| *bound > least) else {
                return Ok(left);
            };
            self.at += 1;
            self.link()?;
            let right = self.deeper(|parser| parser.binary(bound))?;
            let span = join(left.span, right.span);
            left =
                Expr { kind: ExprKind::Binary(token.text, Box::new(left), Box::new(right)), span };
        }
    }

    fn unary(&mut self) -> Result<Expr<'a>> {
        let token = self.peek();
        if token.kind == Kind::Symbol && matches!(token.text, "-" | "+" | "!" | "~" | "++" | "--") {
            self.at += 1;
            let operand = self.deeper(Self::unary)?;
            let span = join(token.span, operand.span);
            return Ok(Expr { kind: ExprKind::Unary(token.text, Box::new(operand)), span });
        }
        let mut base = self.primary()?;
        loop {
            let token = self.peek();
            match token.text {
                "[" => {
                    self.at += 1;
                    let index = match self.is("]") {
                        true => None,
                        false => Some(Box::new(self.expression()?)),
                    };
                    let span = join(base.span, self.expect("]")?);
                    base = Expr { kind: ExprKind::Index(Box::new(base), index), span };
                }
                "." => {
                    self.at += 1;
                    let field = self.next();
                    if field.kind != Kind::Word {
                        self.at -= 1;
                        return Err(self.unexpected("the name of a member"));
                    }
                    let span = join(base.span, field.span);
                    base = Expr {
                        kind: ExprKind::Field(Box::new(base), field.text, field.span),
                        span,
                    };
                }
                "(" => {
                    self.at += 1;
                    let mut arguments = Vec::new();
                    if self.is("void") && self.ahead(1).text == ")" {
                        self.at += 1;
                    }
                    while !self.is(")") {
                        arguments.push(self.assignment()?);
                        if !self.take(",") {
                            break;
                        }
                        if self.is(")") {
                            return Err(self.unexpected("an argument"));
                        }
                    }
                    let span = join(base.span, self.expect(")")?);
                    base = Expr { kind: ExprKind::Call(Box::new(base), arguments), span };
                }
                "++" | "--" => {
                    self.at += 1;
                    let span = join(base.span, token.span);
                    base = Expr { kind: ExprKind::Postfix(token.text, Box::new(base)), span };
                }
                _ => return Ok(base),
            }
            self.link()?;
        }
    }

    fn primary(&mut self) -> Result<Expr<'a>> {
        let token = self.peek();
        let kind = match token.kind {
            Kind::Number => ExprKind::Number(token.text),
            Kind::Symbol if token.text.starts_with('"') => ExprKind::Text,
            Kind::Word if token.text == "true" => ExprKind::Bool(true),
            Kind::Word if token.text == "false" => ExprKind::Bool(false),
            // EXT_gpu_shader4.
            Kind::Word if token.text == "unsigned" && self.ahead(1).text == "int" => {
                self.at += 1;
                ExprKind::Name("uint")
            }
            Kind::Word if self.is_name(0) => ExprKind::Name(token.text),
            Kind::Symbol if token.text == "(" => {
                self.at += 1;
                let inner = self.expression()?;
                let end = self.expect(")")?;
                return Ok(Expr { kind: inner.kind, span: join(token.span, end) });
            }
            _ => return Err(self.unexpected("an expression")),
        };
        self.at += 1;
        Ok(Expr { kind, span: token.span })
    }

    /// An initializer: an expression, or values in braces.
    pub(super) fn initializer(&mut self) -> Result<Expr<'a>> {
        if !self.is("{") {
            return self.assignment();
        }
        self.deeper(|parser| {
            let start = parser.expect("{")?;
            let mut all = Vec::new();
            while !parser.is("}") {
                all.push(parser.initializer()?);
                if !parser.take(",") {
                    break;
                }
            }
            let span = join(start, parser.expect("}")?);
            Ok(Expr { kind: ExprKind::List(all), span })
        })
    }

    /// Statements up to the brace that closes them.
    pub(super) fn block(&mut self) -> Result<Vec<Stmt<'a>>> {
        self.expect("{")?;
        let mut all = Vec::new();
        while !self.is("}") {
            all.push(self.statement()?);
        }
        self.expect("}")?;
        Ok(all)
    }

    fn statement(&mut self) -> Result<Stmt<'a>> {
        self.deeper(Self::statement_here)
    }

    /// Attributes of control flow, which say nothing here.
    pub(super) fn attributes(&mut self) -> Result<()> {
        while self.is("[") && self.ahead(1).text == "[" {
            while !self.is("]") {
                if self.peek().kind == Kind::End {
                    return Err(self.unexpected("`]]`"));
                }
                self.at += 1;
            }
            self.expect("]")?;
            self.expect("]")?;
        }
        Ok(())
    }

    fn statement_here(&mut self) -> Result<Stmt<'a>> {
        self.attributes()?;
        let token = self.peek();
        let span = token.span;
        let kind = match token.text {
            ";" => {
                self.at += 1;
                StmtKind::Empty
            }
            "{" => StmtKind::Block(self.block()?),
            "if" => {
                self.at += 1;
                self.expect("(")?;
                let condition = self.expression()?;
                self.expect(")")?;
                let then = Box::new(self.statement()?);
                let otherwise = match self.take("else") {
                    true => Some(Box::new(self.statement()?)),
                    false => None,
                };
                StmtKind::If(condition, then, otherwise)
            }
            "switch" => {
                self.at += 1;
                self.expect("(")?;
                let selector = self.expression()?;
                self.expect(")")?;
                StmtKind::Switch(selector, self.block()?)
            }
            "case" => {
                self.at += 1;
                let value = self.expression()?;
                self.expect(":")?;
                StmtKind::Case(Some(value))
            }
            "default" => {
                self.at += 1;
                self.expect(":")?;
                StmtKind::Case(None)
            }
            "for" => self.for_loop()?,
            "while" => {
                self.at += 1;
                self.expect("(")?;
                let condition = self.condition()?;
                self.expect(")")?;
                StmtKind::While(condition, Box::new(self.statement()?))
            }
            "do" => {
                self.at += 1;
                let body = Box::new(self.statement()?);
                self.expect("while")?;
                self.expect("(")?;
                let condition = self.expression()?;
                self.expect(")")?;
                self.expect(";")?;
                StmtKind::Do(body, condition)
            }
            "break" | "continue" | "discard" => {
                self.at += 1;
                self.expect(";")?;
                match token.text {
                    "break" => StmtKind::Break,
                    "continue" => StmtKind::Continue,
                    _ => StmtKind::Discard,
                }
            }
            "demote" | "terminateInvocation" | "ignoreIntersectionEXT" | "terminateRayEXT"
                if self.ahead(1).text == ";" =>
            {
                self.at += 2;
                match token.text {
                    "demote" => StmtKind::Demote,
                    "terminateInvocation" => StmtKind::Discard,
                    _ => StmtKind::Lacking,
                }
            }
            "return" => {
                self.at += 1;
                let value = match self.is(";") {
                    true => None,
                    false => Some(self.expression()?),
                };
                self.expect(";")?;
                StmtKind::Return(value)
            }
            "precision" if self.ahead(1).kind == Kind::Word => {
                self.precision()?;
                StmtKind::Empty
            }
            // Variables that are there become so (GLSL 4.60, 4.9).
            "precise" if self.is_name(1) && matches!(self.ahead(2).text, ";" | ",") => {
                self.at += 1;
                let named = self.expression()?;
                self.expect(";")?;
                StmtKind::Expr(named)
            }
            _ if self.declares() => StmtKind::Declaration(self.declaration()?),
            _ => {
                let value = self.expression()?;
                self.expect(";")?;
                StmtKind::Expr(value)
            }
        };
        let end = self.tokens[self.at.saturating_sub(1).min(self.tokens.len() - 1)].span;
        Ok(Stmt { kind, span: join(span, end) })
    }

    fn for_loop(&mut self) -> Result<StmtKind<'a>> {
        self.at += 1;
        self.expect("(")?;
        let span = self.peek().span;
        let kind = if self.take(";") {
            StmtKind::Empty
        } else if self.declares() {
            StmtKind::Declaration(self.declaration()?)
        } else {
            let value = self.expression()?;
            self.expect(";")?;
            StmtKind::Expr(value)
        };
        let first = Box::new(Stmt { kind, span });
        let condition = match self.is(";") {
            true => None,
            false => Some(self.condition()?),
        };
        self.expect(";")?;
        let step = match self.is(")") {
            true => None,
            false => Some(self.expression()?),
        };
        self.expect(")")?;
        let body = Box::new(self.statement()?);
        Ok(StmtKind::For(first, condition, step, body))
    }

    fn condition(&mut self) -> Result<Condition<'a>> {
        if !self.declares() {
            return Ok(Condition::Expr(self.expression()?));
        }
        self.qualifiers()?;
        let ty = self.type_spec()?;
        let (name, span) = self.name()?;
        self.expect("=")?;
        let init = Some(self.initializer()?);
        let declarator = Declarator { name, span, lengths: Vec::new(), init };
        Ok(Condition::Declaration(ty, declarator))
    }
}
