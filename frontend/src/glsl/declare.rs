//! Recursive descent: declarations, qualifiers, types, functions, blocks.

use super::ast::{
    Base, Block, Declaration, Declarator, Function, Item, LayoutItem, Lengths, Member, Parameter,
    Qualifiers, TypeSpec,
};
use super::parse::{Parser, join};
use super::token::{Kind, Token};
use super::types;
use crate::lower::Result;
use crate::stop::Stop;
use gpucc_ir::ssa::Span;

/// Words that stand in front of a type.
const QUALIFIERS: [&str; 42] = [
    "const",
    "in",
    "out",
    "inout",
    "uniform",
    "buffer",
    "shared",
    "attribute",
    "varying",
    "centroid",
    "flat",
    "smooth",
    "noperspective",
    "sample",
    "patch",
    "invariant",
    "precise",
    "coherent",
    "volatile",
    "restrict",
    "readonly",
    "writeonly",
    "highp",
    "mediump",
    "lowp",
    "subroutine",
    "devicecoherent",
    "queuefamilycoherent",
    "workgroupcoherent",
    "subgroupcoherent",
    "nonprivate",
    "nonuniformEXT",
    "pervertexNV",
    "pervertexEXT",
    "perprimitiveNV",
    "perprimitiveEXT",
    "perviewNV",
    "taskNV",
    "taskPayloadSharedEXT",
    "rayPayloadEXT",
    "rayPayloadInEXT",
    "hitAttributeEXT",
];
/// The same of stages that are not read, and of vendors.
const MORE: [&str; 14] = [
    "callableDataEXT",
    "callableDataInEXT",
    "shadercallcoherent",
    "__explicitInterpAMD",
    "spirv_decorate",
    "spirv_execution_mode",
    "rayPayloadNV",
    "rayPayloadInNV",
    "hitAttributeNV",
    "callableDataNV",
    "callableDataInNV",
    "tileImageEXT",
    "hitObjectAttributeNV",
    "shaderRecordNV",
];

fn is_qualifier(word: &str) -> bool {
    QUALIFIERS.contains(&word) || MORE.contains(&word)
}

/// Qualifiers that take arguments; what they take is not read.
fn is_call(word: &str) -> bool {
    word == "subroutine" || word.starts_with("spirv_")
}

/// The number behind `id =` in the parentheses of `spirv_instruction`; none where a set has the instruction.
fn instruction(tokens: &[Token<'_>]) -> Option<u32> {
    let behind = |name| {
        let mut rest =
            tokens.windows(3).filter(|three| three[0].text == name && three[1].text == "=");
        rest.next().map(|three| three[2].text)
    };
    behind("id")?.parse().ok().filter(|_| behind("set").is_none())
}

impl<'a> Parser<'_, 'a> {
    /// Leaves out what stands in parentheses.
    fn brackets(&mut self) -> Result<()> {
        let mut open = 0u32;
        loop {
            match self.peek().text {
                "(" => open += 1,
                ")" => open -= 1,
                "" => return Err(self.unexpected("`)`")),
                _ => {}
            }
            self.at += 1;
            if open == 0 {
                return Ok(());
            }
        }
    }

    /// A qualifier and no name: in front of a type or of another qualifier.
    fn qualifies(&self, by: usize) -> bool {
        let token = self.ahead(by);
        if token.kind != Kind::Word {
            return false;
        }
        let next = self.ahead(by + 1);
        match token.text {
            "layout" => next.text == "(",
            "const" | "in" | "out" | "inout" | "uniform" | "attribute" | "varying" => true,
            word if is_call(word) && next.text == "(" => true,
            word if is_qualifier(word) => {
                next.kind == Kind::Word
                    || next.text == "{" && self.ahead(by + 1).kind == Kind::Symbol
            }
            _ => false,
        }
    }

    /// True where a declaration begins, by the tokens alone.
    pub(super) fn declares(&self) -> bool {
        if self.qualifies(0) || self.is("struct") || self.is("void") {
            return true;
        }
        if !self.is_name(0) {
            return false;
        }
        if self.is("unsigned") && self.ahead(1).text == "int" {
            return self.ahead(2).text != "(";
        }
        // `vec4[2] a` against `a[2] = ...`
        let mut at = 1;
        while self.ahead(at).text == "[" && self.ahead(at).kind == Kind::Symbol {
            let mut open = 0u32;
            loop {
                let token = self.ahead(at);
                match token.text {
                    "[" => open += 1,
                    "]" => open -= 1,
                    ";" | "{" | "}" | "" => return false,
                    _ => {}
                }
                at += 1;
                if open == 0 {
                    break;
                }
            }
        }
        self.is_name(at)
    }

    pub(super) fn precision(&mut self) -> Result<()> {
        self.at += 1;
        let word = self.peek();
        if !matches!(word.text, "highp" | "mediump" | "lowp") {
            return Err(self.unexpected("a precision"));
        }
        self.at += 1;
        let ty = self.type_spec()?;
        let rounded = match ty.base {
            Base::Name(name) => {
                matches!(name, "float" | "int" | "atomic_uint")
                    || ["sampler", "image", "texture", "subpass"].iter().any(|it| name.contains(it))
            }
            Base::Struct(..) => false,
        };
        if !rounded {
            let message =
                "a default precision is that of float, of int, or of a texture (GLSL 4.60, 4.7.4)";
            return Err(Stop::invalid(message).at(ty.span));
        }
        self.expect(";")?;
        Ok(())
    }

    /// Qualifiers, as many as stand here.
    pub(super) fn qualifiers(&mut self) -> Result<Qualifiers<'a>> {
        let mut found = Qualifiers::default();
        loop {
            let token = self.peek();
            let before_end = is_qualifier(token.text)
                && token.kind == Kind::Word
                && self.ahead(1).text == ";"
                && !found.is_empty();
            if !self.qualifies(0) && !before_end {
                return Ok(found);
            }
            self.at += 1;
            if token.text == "layout" {
                self.layout(&mut found)?;
            } else {
                found.words.push((token.text, token.span));
                if is_call(token.text) && self.is("(") {
                    let from = self.at;
                    self.brackets()?;
                    if token.text == "spirv_instruction" {
                        found.instruction = instruction(&self.tokens[from..self.at]);
                    }
                }
            }
        }
    }

    fn layout(&mut self, found: &mut Qualifiers<'a>) -> Result<()> {
        self.expect("(")?;
        while !self.is(")") {
            let token = self.next();
            if token.kind != Kind::Word {
                self.at -= 1;
                return Err(self.unexpected("a layout qualifier"));
            }
            let value = match self.take("=") {
                true => Some(self.assignment()?),
                false => None,
            };
            found.layout.push(LayoutItem { name: token.text, value, span: token.span });
            if !self.take(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok(())
    }

    /// A type with its lengths.
    pub(super) fn type_spec(&mut self) -> Result<TypeSpec<'a>> {
        let start = self.peek().span;
        let base = if self.take("struct") {
            let name = match self.is_name(0) {
                true => Some(self.name()?.0),
                false => None,
            };
            self.expect("{")?;
            let members = self.deeper(Self::members)?;
            Base::Struct(name, members)
        } else if self.is("void") {
            self.at += 1;
            Base::Name("void")
        } else {
            let (name, _) = self.name()?;
            match name {
                "unsigned" if self.take("int") => Base::Name("uint"),
                _ => Base::Name(name),
            }
        };
        // Types with parameters are not read.
        if let Base::Name(name) = base
            && self.is("<")
            && (name.starts_with("coopmat")
                || name.starts_with("tensor")
                || name.starts_with("coopvec"))
        {
            while !self.is(">") && self.peek().kind != Kind::End {
                self.at += 1;
            }
            self.expect(">")?;
        }
        let lengths = self.lengths()?;
        let end = self.tokens[self.at.saturating_sub(1).min(self.tokens.len() - 1)].span;
        Ok(TypeSpec { base, lengths, span: join(start, end) })
    }

    pub(super) fn lengths(&mut self) -> Result<Lengths<'a>> {
        let mut lengths = Vec::new();
        while self.take("[") {
            lengths.push(match self.is("]") {
                true => None,
                false => Some(self.expression()?),
            });
            self.expect("]")?;
        }
        Ok(lengths)
    }

    /// Members up to the brace that closes them.
    fn members(&mut self) -> Result<Vec<Member<'a>>> {
        let mut all = Vec::new();
        while !self.take("}") {
            let qualifiers = self.qualifiers()?;
            let ty = self.type_spec()?;
            let mut declared = Vec::new();
            loop {
                let (name, span) = self.name()?;
                declared.push(Declarator { name, span, lengths: self.lengths()?, init: None });
                if !self.take(",") {
                    break;
                }
            }
            self.expect(";")?;
            all.push(Member { qualifiers, ty, declared });
        }
        Ok(all)
    }

    /// A declaration of variables within a function, or of a structure.
    pub(super) fn declaration(&mut self) -> Result<Declaration<'a>> {
        let qualifiers = self.qualifiers()?;
        let ty = self.type_spec()?;
        self.variables(qualifiers, ty)
    }

    fn variables(
        &mut self,
        qualifiers: Qualifiers<'a>,
        ty: TypeSpec<'a>,
    ) -> Result<Declaration<'a>> {
        let mut declared = Vec::new();
        while !self.is(";") {
            let (name, span) = self.name()?;
            declared.push(self.declarator(name, span)?);
            if !self.take(",") {
                break;
            }
        }
        self.expect(";")?;
        Ok(Declaration { qualifiers, ty, declared })
    }

    fn declarator(&mut self, name: &'a str, span: Span) -> Result<Declarator<'a>> {
        let lengths = self.lengths()?;
        let init = match self.take("=") {
            true => Some(self.initializer()?),
            false => None,
        };
        Ok(Declarator { name, span, lengths, init })
    }

    /// What stands outside of functions.
    pub(super) fn item(&mut self, items: &mut Vec<Item<'a>>) -> Result<()> {
        if self.is("precision") {
            return self.precision();
        }
        let qualifiers = self.qualifiers()?;
        // `layout(...) in;` and `invariant a, b;`
        if !qualifiers.is_empty() {
            if self.take(";") {
                items.push(Item::Qualified(qualifiers, Vec::new()));
                return Ok(());
            }
            let names_type = types::named(self.peek().text).is_some();
            if self.is_name(0) && !names_type && matches!(self.ahead(1).text, ";" | ",") {
                let mut names = vec![self.name()?];
                while self.take(",") {
                    names.push(self.name()?);
                }
                self.expect(";")?;
                items.push(Item::Qualified(qualifiers, names));
                return Ok(());
            }
            if self.is_name(0) && self.ahead(1).text == "{" {
                let (name, span) = self.name()?;
                self.expect("{")?;
                let members = self.deeper(Self::members)?;
                let instance = match self.is_name(0) {
                    true => {
                        let (name, span) = self.name()?;
                        Some(Declarator { name, span, lengths: self.lengths()?, init: None })
                    }
                    false => None,
                };
                self.expect(";")?;
                items.push(Item::Block(Block { qualifiers, name, span, members, instance }));
                return Ok(());
            }
        }
        let ty = self.type_spec()?;
        if self.is_name(0) && self.ahead(1).text == "(" {
            let (name, span) = self.name()?;
            let function = self.function(qualifiers, ty, name, span)?;
            items.push(Item::Function(function));
            return Ok(());
        }
        let declaration = self.variables(qualifiers, ty)?;
        items.push(Item::Declaration(declaration));
        Ok(())
    }

    fn function(
        &mut self,
        qualifiers: Qualifiers<'a>,
        result: TypeSpec<'a>,
        name: &'a str,
        span: Span,
    ) -> Result<Function<'a>> {
        self.expect("(")?;
        let mut parameters = Vec::new();
        if self.is("void") && self.ahead(1).text == ")" {
            self.at += 1;
        }
        while !self.is(")") {
            let qualifiers = self.qualifiers()?;
            let ty = self.type_spec()?;
            let name = match self.is_name(0) {
                true => Some(self.name()?),
                false => None,
            };
            let lengths = self.lengths()?;
            parameters.push(Parameter { qualifiers, ty, name, lengths });
            if !self.take(",") {
                break;
            }
        }
        self.expect(")")?;
        self.attributes()?;
        let body = match self.take(";") {
            true => None,
            false => Some(self.block()?),
        };
        Ok(Function { qualifiers, result, name, span, parameters, body })
    }
}
