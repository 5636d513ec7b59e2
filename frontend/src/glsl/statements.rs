//! Semantic analysis of statements (GLSL 4.60, chapter 6).

use super::ast;
use super::check::{Check, Symbol, invalid};
use super::tree::{Case, Expr, Kind, Stmt, StmtKind};
use super::types::{self, Ty};
use crate::lower::Result;
use crate::stop::Stop;
use gpucc_ir::Set;
use gpucc_ir::ssa::{Span, Stage};
use naga::Scalar;

impl<'a> Check<'a, '_> {
    /// Statements, in the scope that is open.
    pub fn statements(&mut self, all: &[ast::Stmt<'a>]) -> Result<Vec<Stmt>> {
        let mut made = Vec::with_capacity(all.len());
        for stmt in all {
            self.statement(stmt, &mut made)?;
        }
        Ok(made)
    }

    /// A statement as a block of its own.
    fn body(&mut self, stmt: &ast::Stmt<'a>) -> Result<Vec<Stmt>> {
        self.scoped(|check| check.without_scope(stmt))
    }

    /// A statement, or those of a block, in the scope that is open.
    fn without_scope(&mut self, stmt: &ast::Stmt<'a>) -> Result<Vec<Stmt>> {
        match &stmt.kind {
            ast::StmtKind::Block(all) => self.statements(all),
            _ => {
                let mut made = Vec::new();
                self.statement(stmt, &mut made)?;
                Ok(made)
            }
        }
    }

    /// A truth value.
    fn truth(&mut self, expr: &ast::Expr<'a>) -> Result<Expr> {
        let value = self.expr(expr)?;
        if value.ty != types::BOOL {
            let have = self.p.types.name(value.ty);
            return invalid(format!("a condition is a bool, and this is {have}"), value.span);
        }
        Ok(value)
    }

    fn statement(&mut self, stmt: &ast::Stmt<'a>, made: &mut Vec<Stmt>) -> Result<()> {
        self.current.size += 1;
        let span = stmt.span;
        let kind = match &stmt.kind {
            ast::StmtKind::Empty => return Ok(()),
            ast::StmtKind::Declaration(declaration) => {
                return self.local_declaration(declaration, made);
            }
            ast::StmtKind::Expr(expr) => {
                // What extensions print says nothing to the machine.
                if let ast::ExprKind::Call(callee, _) = &expr.kind
                    && matches!(callee.kind, ast::ExprKind::Name("debugPrintfEXT"))
                {
                    return Ok(());
                }
                StmtKind::Expr(self.expr(expr)?)
            }
            ast::StmtKind::Block(all) => {
                StmtKind::Block(self.scoped(|check| check.statements(all))?)
            }
            ast::StmtKind::If(condition, then, otherwise) => {
                let condition = self.truth(condition)?;
                let then = self.body(then)?;
                let otherwise = match otherwise {
                    Some(otherwise) => self.body(otherwise)?,
                    None => Vec::new(),
                };
                StmtKind::If(condition, then, otherwise)
            }
            ast::StmtKind::Switch(selector, all) => self.switch(selector, all)?,
            ast::StmtKind::Case(_) => return invalid("a label stands outside of a switch", span),
            ast::StmtKind::For(first, condition, step, body) => {
                let block = self.scoped(|check| {
                    let mut block = Vec::new();
                    check.statement(first, &mut block)?;
                    let condition = match condition {
                        Some(condition) => Some(check.condition(condition)?),
                        None => None,
                    };
                    let next = match step {
                        Some(step) => Some(check.expr(step)?),
                        None => None,
                    };
                    let body = check.loop_body(body)?;
                    let kind = StmtKind::Loop { condition, body, next, test_last: false };
                    block.push(Stmt { kind, span });
                    Ok(block)
                })?;
                StmtKind::Block(block)
            }
            ast::StmtKind::While(condition, body) => self.scoped(|check| {
                let condition = Some(check.condition(condition)?);
                let body = check.loop_body(body)?;
                Ok(StmtKind::Loop { condition, body, next: None, test_last: false })
            })?,
            ast::StmtKind::Do(body, condition) => {
                let body = self.scoped(|check| check.loop_body(body))?;
                let condition = Some(self.truth(condition)?);
                StmtKind::Loop { condition, body, next: None, test_last: true }
            }
            ast::StmtKind::Break => {
                if self.loops == 0 && self.switches == 0 {
                    return invalid("`break` stands outside of loops and switches", span);
                }
                StmtKind::Break
            }
            ast::StmtKind::Continue => {
                if self.loops == 0 {
                    return invalid("`continue` stands outside of loops", span);
                }
                StmtKind::Continue
            }
            ast::StmtKind::Return(value) => self.returned(value.as_ref(), span)?,
            ast::StmtKind::Discard | ast::StmtKind::Demote => {
                if self.stage != Stage::Fragment {
                    let stage = self.stage.name();
                    return invalid(
                        format!("`discard` stands in a {stage} shader (GLSL 4.60, 6.4)"),
                        span,
                    );
                }
                match stmt.kind {
                    ast::StmtKind::Discard => StmtKind::Discard,
                    _ => StmtKind::Demote,
                }
            }
            ast::StmtKind::Lacking => {
                let stop = Stop::unsupported("ray tracing shaders", super::READING);
                return Err(stop.needing(crate::Needs::RayTracing).at(span));
            }
        };
        made.push(Stmt { kind, span });
        Ok(())
    }

    fn returned(&mut self, value: Option<&ast::Expr<'a>>, span: Span) -> Result<StmtKind> {
        let result = self.current.result.unwrap_or(Ty::Void);
        Ok(StmtKind::Return(match value {
            None if result == Ty::Void => None,
            None => return invalid("this function returns a value", span),
            Some(value) => {
                let value = self.expr(value)?;
                if result == Ty::Void {
                    if value.ty != Ty::Void {
                        return invalid("this function returns no value", value.span);
                    }
                    Some(value)
                } else {
                    Some(self.coerce(value, result)?)
                }
            }
        }))
    }

    /// The body of a loop. What the head of `for` or `while` declares is of the body's own scope (GLSL 4.60, 4.2.2).
    fn loop_body(&mut self, body: &ast::Stmt<'a>) -> Result<Vec<Stmt>> {
        self.loops += 1;
        let switches = std::mem::take(&mut self.switches);
        let made = self.without_scope(body);
        self.switches = switches;
        self.loops -= 1;
        made
    }

    fn condition(&mut self, condition: &ast::Condition<'a>) -> Result<Expr> {
        match condition {
            ast::Condition::Expr(expr) => self.truth(expr),
            ast::Condition::Declaration(ty, declarator) => {
                let ty = self.type_of(ty)?;
                if ty != types::BOOL {
                    return invalid("a condition is a bool", declarator.span);
                }
                let init = declarator.init.as_ref().expect("a condition has a value");
                let value = self.truth(init)?;
                let number = self.local(declarator.name, ty, false);
                self.declare(declarator.name, Symbol::Local(number), declarator.span)?;
                let variable = Expr::new(Kind::Local(number), ty, declarator.span);
                let kind = Kind::Assign(Box::new(variable), Box::new(value));
                Ok(Expr::new(kind, ty, declarator.span))
            }
        }
    }

    fn switch(&mut self, selector: &ast::Expr<'a>, all: &[ast::Stmt<'a>]) -> Result<StmtKind> {
        let selector = self.expr(selector)?;
        if !selector.ty.is_integer() {
            let have = self.p.types.name(selector.ty);
            return invalid(
                format!("a switch takes an integer, and this is {have}"),
                selector.span,
            );
        }
        if let Some(ast::Stmt { kind: ast::StmtKind::Case(_), span }) = all.last()
            && self.dialect.stated
        {
            let message =
                "no statement stands behind the last label of its switch (GLSL 4.60, 6.2)";
            return invalid(message, *span);
        }
        let scalar = selector.ty.scalar().unwrap_or(Scalar::I32);
        self.switches += 1;
        let cases = self.scoped(|check| {
            let mut cases: Vec<Case> = Vec::new();
            let mut seen: Set<u64> = Set::default();
            let mut has_default = false;
            for stmt in all {
                let ast::StmtKind::Case(value) = &stmt.kind else {
                    let Some(last) = cases.last_mut() else {
                        return invalid(
                            "a statement stands before the first label of its switch",
                            stmt.span,
                        );
                    };
                    let mut body = std::mem::take(&mut last.body);
                    check.statement(stmt, &mut body)?;
                    cases.last_mut().expect("it is there").body = body;
                    continue;
                };
                let is_new = cases.last().is_none_or(|last| !last.body.is_empty());
                if is_new {
                    cases.push(Case {
                        values: Vec::new(),
                        is_default: false,
                        body: Vec::new(),
                        falls_through: false,
                    });
                }
                let case = cases.last_mut().expect("it is there");
                let Some(value) = value else {
                    if has_default {
                        return invalid("a switch has two default labels", stmt.span);
                    }
                    (has_default, case.is_default) = (true, true);
                    continue;
                };
                let value = check.expr(value)?;
                let known = value.known().map(|known| known[0].int() as u64);
                let (true, Some(known)) = (value.ty.is_integer(), known) else {
                    return invalid(
                        "a label of a switch is a constant integer (GLSL 4.60, 6.2)",
                        value.span,
                    );
                };
                let mask = if scalar.width == 8 { u64::MAX } else { (1 << (8 * scalar.width)) - 1 };
                if !seen.insert(known & mask) {
                    return invalid("a switch has this label twice", value.span);
                }
                cases.last_mut().expect("it is there").values.push(known & mask);
            }
            Ok(cases)
        });
        self.switches -= 1;
        let mut cases = cases?;
        let last = cases.len().saturating_sub(1);
        for (at, case) in cases.iter_mut().enumerate() {
            case.falls_through = at != last && !ends(&case.body);
            drop_break(&mut case.body);
        }
        Ok(StmtKind::Switch(selector, cases))
    }
}

/// Control does not reach the end of a list.
fn ends(body: &[Stmt]) -> bool {
    match body.last().map(|stmt| &stmt.kind) {
        Some(StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) | StmtKind::Discard) => {
            true
        }
        Some(StmtKind::Block(inner)) => ends(inner),
        Some(StmtKind::If(_, then, otherwise)) => ends(then) && ends(otherwise),
        _ => false,
    }
}

/// Takes out the `break` that a list ends in.
fn drop_break(body: &mut Vec<Stmt>) {
    match body.last_mut().map(|stmt| &mut stmt.kind) {
        Some(StmtKind::Break) => {
            body.pop();
        }
        Some(StmtKind::Block(inner)) => drop_break(inner),
        _ => {}
    }
}
