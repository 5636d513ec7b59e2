//! Semantic analysis of functions: prototypes and definitions (GLSL 4.60, 6.1).

use super::ast;
use super::check::{ANY, Check, Current, Symbol, invalid};
use super::tree::{Direction, Expr, Function, Kind, Local, Parameter, Stmt, StmtKind};
use super::types::{self, Ty};
use crate::lower::Result;
use crate::stop::Stop;
use gpucc_ir::Set;
use gpucc_ir::ssa::Span;
use naga::ScalarKind;

/// Functions of one name: each call looks at all of them.
const MOST_OVERLOADS: usize = 1024;

/// An instruction of SPIR-V that a function may be (GL_EXT_spirv_intrinsics).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Instruction {
    /// OpAssumeTrueKHR: takes a truth value.
    Assume,
    /// OpExpectKHR: gives its first operand.
    Expect,
}

impl Instruction {
    const fn of(number: u32) -> Option<Instruction> {
        match number {
            5630 => Some(Instruction::Assume),
            5631 => Some(Instruction::Expect),
            _ => None,
        }
    }
}

impl<'a> Check<'a, '_> {
    /// A function or its prototype.
    pub fn function(&mut self, function: &ast::Function<'a>) -> Result<()> {
        let (name, span) = (function.name, function.span);
        self.check_name(name, span)?;
        let kept = self.dialect.es && self.dialect.version >= 300;
        if kept && super::builtins::row(name).is_some() {
            let message = format!(
                "`{name}` is a built-in function, which ES does not let be another (GLSL ES 3.20, 6.1)"
            );
            return invalid(message, span);
        }
        let instruction = function.qualifiers.instruction.and_then(Instruction::of);
        for (word, at) in &function.qualifiers.words {
            if word.starts_with("subroutine") {
                return Err(super::lacking("subroutines").at(*at));
            }
            let known = *word == "spirv_instruction" && instruction.is_some();
            if word.starts_with("spirv_") && !known {
                return Err(super::lacking("instructions of SPIR-V by name").at(*at));
            }
        }
        let result = self.type_of(&function.result)?;
        if self.p.types.is_opaque(result) || self.p.types.is_unsized(result) {
            return invalid(
                format!("`{name}` returns a texture or an array without a length"),
                function.result.span,
            );
        }
        let mut parameters = Vec::with_capacity(function.parameters.len());
        for parameter in &function.parameters {
            let base = self.type_of(&parameter.ty)?;
            let ty = self.array(base, &parameter.lengths, parameter.ty.span)?;
            if ty == Ty::Void {
                return invalid("a parameter is not void", parameter.ty.span);
            }
            self.check_size(ty, parameter.ty.span)?;
            let has = |word| parameter.qualifiers.has(word);
            let of_storage = ["uniform", "buffer", "shared", "attribute", "varying"];
            let wrong = |&&(word, _): &&(&str, Span)| {
                of_storage.contains(&word) || has("const") && matches!(word, "out" | "inout")
            };
            if let Some(&(word, at)) = parameter.qualifiers.words.iter().find(wrong) {
                let message = match has("const") {
                    true => {
                        format!("a parameter is not both `const` and `{word}` (GLSL 4.60, 6.1.1)")
                    }
                    false => format!("a parameter is not `{word}` (GLSL 4.60, 6.1.1)"),
                };
                return invalid(message, at);
            }
            let direction = match (has("in"), has("out"), has("inout")) {
                (_, _, true) | (true, true, _) => Direction::InOut,
                (_, true, _) => Direction::Out,
                _ => Direction::In,
            };
            let opaque = self.p.types.is_opaque(ty);
            if opaque && matches!(self.p.types.innermost(ty), Ty::Struct(_)) {
                let stop = super::lacking("structures with textures and samplers as parameters");
                return Err(stop.at(parameter.ty.span));
            }
            if opaque && direction != Direction::In {
                return invalid(
                    "a texture or sampler is an `in` parameter (GLSL 4.60, 4.1.7)",
                    parameter.ty.span,
                );
            }
            if self.p.types.is_unsized(ty) && !opaque {
                return invalid(
                    "a parameter is an array without a length (GLSL 4.60, 4.1.9)",
                    parameter.ty.span,
                );
            }
            parameters.push(Parameter { ty, direction, is_const: has("const") });
        }
        if name == "main" && (result != Ty::Void || !parameters.is_empty()) {
            return invalid("`main` takes and returns nothing (GLSL 4.60, 6.1)", span);
        }
        if matches!(
            self.scopes[0].get(name),
            Some(Symbol::Type(_) | Symbol::Global(_) | Symbol::Const(_))
        ) || self.dialect.stated && self.blocks.contains(&(ANY, name))
        {
            return invalid(format!("`{name}` is declared already in this scope"), span);
        }
        let known = self.functions.get(name).into_iter().flatten().copied().find(|&known| {
            let own = &self.p.functions[known as usize].parameters;
            own.len() == parameters.len() && own.iter().zip(&parameters).all(|(a, b)| a.ty == b.ty)
        });
        let number = match known {
            Some(number) => {
                let old = &self.p.functions[number as usize];
                if old.result != result {
                    return invalid(format!("`{name}` is declared with another result"), span);
                }
                let same =
                    old.parameters.iter().zip(&parameters).all(|(a, b)| a.direction == b.direction);
                if !same {
                    return invalid(
                        format!("`{name}` is declared with other directions of its parameters"),
                        span,
                    );
                }
                number
            }
            None => {
                let made = Function {
                    name: name.to_owned(),
                    span,
                    result,
                    parameters: parameters.clone(),
                    locals: Vec::new(),
                    body: None,
                    calls: Set::default(),
                    globals: Set::default(),
                    compared: Set::default(),
                    size: 0,
                    callees: Vec::new(),
                };
                let others = self.functions.get(name).map_or(0, Vec::len);
                if others >= MOST_OVERLOADS {
                    let (needed, most) = (others as u64 + 1, MOST_OVERLOADS as u64);
                    let hint = "give the functions names of their own";
                    return Err(Stop::limit("functions of one name", needed, most, hint).at(span));
                }
                self.p.functions.push(made);
                let number = self.p.functions.len() as u32 - 1;
                self.functions.entry(name).or_default().push(number);
                number
            }
        };
        if let Some(instruction) = instruction {
            return self.instruction(number, instruction, &parameters, function);
        }
        let Some(body) = &function.body else {
            return Ok(());
        };
        if self.p.functions[number as usize].body.is_some() {
            return invalid(format!("`{name}` is defined twice"), span);
        }
        let outer = std::mem::replace(
            &mut self.current,
            Current { result: Some(result), number, ..Current::default() },
        );
        let made = self.scoped(|check| {
            for (parameter, written) in parameters.iter().zip(&function.parameters) {
                let (own, at) = written.name.unwrap_or(("", span));
                let local = check.local(own, parameter.ty, parameter.is_const);
                if !own.is_empty() {
                    check.check_name(own, at)?;
                    check.declare(own, Symbol::Local(local), at)?;
                }
            }
            // Parameters are of the body's own scope (GLSL 4.60, 4.2.2), but hidden by its names in GLSL ES 1.00, 4.2.2.
            match check.dialect.stated && !(check.dialect.es && check.dialect.version == 100) {
                true => check.statements(body),
                false => check.scoped(|check| check.statements(body)),
            }
        });
        let mut current = std::mem::replace(&mut self.current, outer);
        for local in current.locals.iter_mut().filter(|local| local.grows) {
            if let Some((of, None)) = self.p.types.elements(local.ty) {
                local.ty = self.p.types.array_of(of, Some(local.reached.max(1)))?;
            }
        }
        let own = &mut self.p.functions[number as usize];
        own.parameters = parameters;
        own.span = span;
        own.locals = current.locals;
        own.calls = current.calls;
        own.callees = current.callees;
        own.globals = current.globals;
        own.compared = current.compared;
        own.size = current.size;
        own.body = Some(made?);
        Ok(())
    }

    /// Gives a function that is an instruction the body that does the same.
    fn instruction(
        &mut self,
        number: u32,
        instruction: Instruction,
        parameters: &[Parameter],
        function: &ast::Function<'a>,
    ) -> Result<()> {
        let own = &mut self.p.functions[number as usize];
        let fits = match (instruction, parameters) {
            (Instruction::Assume, [truth]) => truth.ty == types::BOOL && own.result == Ty::Void,
            (Instruction::Expect, [value, expected]) => {
                let whole =
                    value.ty.scalar().is_some_and(|scalar| scalar.kind != ScalarKind::Float);
                value.ty == expected.ty
                    && value.ty == own.result
                    && whole
                    && value.ty.lanes().is_some()
            }
            _ => false,
        };
        let inward = parameters.iter().all(|parameter| parameter.direction == Direction::In);
        if !fits || !inward || function.body.is_some() {
            let message = format!("`{}` is declared otherwise than its instruction is", own.name);
            return invalid(message, function.span);
        }
        let local = |parameter: &Parameter| Local {
            name: String::new(),
            ty: parameter.ty,
            is_const: false,
            reached: 0,
            grows: false,
        };
        own.locals = parameters.iter().map(local).collect();
        let first = || Expr::new(Kind::Local(0), own.result, function.span);
        own.body = Some(match instruction {
            Instruction::Assume => Vec::new(),
            Instruction::Expect => {
                let kind = StmtKind::Return(Some(first()));
                vec![Stmt { kind, span: function.span }]
            }
        });
        Ok(())
    }
}
