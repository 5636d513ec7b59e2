//! Constant expressions whose value naga has not, or has wrongly, become their values in the text that it reads.
//!
//! naga refuses calls of half the built-in functions in constant expressions, and of what it evaluates, `atanh` and
//! shifts of abstract integers by 64 bits and more are wrong. It takes a vector of zeros within a vector for one
//! component. The evaluator here reads expressions with WGSL's types, and what it cannot read is left to naga.

use super::builtins::{self, REPLACED};
use super::operators::{Type, apply, as_type, construct, element, member};
use super::value::{Fault, Found, Kind, Number, Shape, Value, convert, literal};
use crate::Options;
use crate::growth::Tokens;
use crate::places::Edit;
use crate::stop::Stop;
use gpucc_ir::Map;
use gpucc_ir::ssa::Span;

/// Constants within constants, brackets within brackets.
const DEPTH: u32 = 200;
/// Components of one value: larger tables are left to naga.
const MOST_ELEMENTS: usize = 1 << 12;

/// What a name of the module stands for, with the tokens that say so.
#[derive(Copy, Clone)]
enum Declared {
    /// `const`: its name.
    Constant(usize),
    /// `alias`: its type.
    Alias(usize),
    /// `struct`: its opening brace.
    Struct(usize),
    /// `override`: its name.
    Override(usize),
    /// A function or a variable.
    Other,
}

/// Names of a block of a function.
struct Scope<'a> {
    end: usize,
    /// Constants with their values; `None` hides a name.
    names: Map<&'a str, Option<Value>>,
}

/// A module of WGSL in tokens, with its names.
pub struct Reader<'t, 'a> {
    pub tokens: &'t Tokens<'a>,
    /// For a bracket the token of its partner.
    partners: Vec<Option<u32>>,
    declared: Map<&'a str, Declared>,
    values: Map<&'a str, Option<Value>>,
    scopes: Vec<Scope<'a>>,
    /// Values of overrides.
    options: &'t Options,
    /// Overrides may stand in what is read.
    overrides: bool,
    /// The value of an override was asked for.
    asked: bool,
    /// What is written, or is not, depends on values of overrides.
    pub is_bound: bool,
    depth: u32,
    /// Expressions that were read.
    steps: usize,
}

impl<'t, 'a> Reader<'t, 'a> {
    /// Reads the names of the module.
    pub fn new(tokens: &'t Tokens<'a>, options: &'t Options) -> Self {
        let mut partners = vec![None; tokens.len()];
        let mut open = Vec::new();
        let mut declared = Map::default();
        for at in 0..tokens.len() {
            let name = tokens.word(at + 1);
            match tokens.word(at) {
                "(" | "[" | "{" => open.push(at),
                ")" | "]" | "}" => {
                    if let Some(first) = open.pop() {
                        partners[first] = Some(at as u32);
                        partners[at] = Some(first as u32);
                    }
                }
                _ if !open.is_empty() => {}
                "const" => {
                    declared.insert(name, Declared::Constant(at + 1));
                }
                "alias" => {
                    declared.insert(name, Declared::Alias(at + 3));
                }
                "struct" => {
                    declared.insert(name, Declared::Struct(at + 2));
                }
                "override" => {
                    declared.insert(name, Declared::Override(at + 1));
                }
                "fn" => {
                    declared.insert(name, Declared::Other);
                }
                "var" => {
                    let at = if name == "<" { tokens.template_end(at + 2) + 1 } else { at + 1 };
                    declared.insert(tokens.word(at), Declared::Other);
                }
                _ => {}
            }
        }
        Reader {
            tokens,
            partners,
            declared,
            values: Map::default(),
            scopes: Vec::new(),
            options,
            overrides: false,
            asked: false,
            is_bound: false,
            depth: 0,
            steps: 0,
        }
    }

    /// The bracket that belongs to one; the end of the text for one that is not closed.
    pub fn partner(&self, bracket: usize) -> usize {
        let partner = self.partners.get(bracket).copied().flatten();
        partner.map_or(self.tokens.len(), |partner| partner as usize)
    }

    fn word(&self, at: usize) -> &'a str {
        self.tokens.word(at)
    }

    /// The first of some tokens in no bracket, from a token on; the end of the text where the bracket around it
    /// closes first or another declaration begins, so that a walk over all declarations takes linear time.
    fn find(&self, from: usize, wanted: &[&str]) -> usize {
        let mut at = from;
        while at < self.tokens.len() && !wanted.contains(&self.word(at)) {
            at = match self.word(at) {
                "(" | "[" | "{" => self.partner(at) + 1,
                ")" | "]" | "}" => return self.tokens.len(),
                "const" | "const_assert" | "fn" | "for" | "let" | "override" | "var"
                    if at > from =>
                {
                    return self.tokens.len();
                }
                _ => at + 1,
            };
        }
        at.min(self.tokens.len())
    }

    /// The structures of the module.
    pub fn structures(&self) -> Vec<&'a str> {
        let all = self.declared.keys().copied();
        all.filter(|name| self.structure(name).is_some()).collect()
    }

    /// The opening brace of a structure.
    pub fn structure(&self, name: &str) -> Option<usize> {
        match self.declared.get(name) {
            Some(&Declared::Struct(open)) => Some(open),
            _ => None,
        }
    }

    /// The type that an alias stands for.
    pub fn alias(&self, name: &str) -> Option<usize> {
        match self.declared.get(name) {
            Some(&Declared::Alias(at)) => Some(at),
            _ => None,
        }
    }

    /// The language's meaning of a name, which no declaration hides.
    fn is_predeclared(&self, name: &str) -> bool {
        !self.declared.contains_key(name)
            && self.scopes.iter().all(|scope| !scope.names.contains_key(name))
    }

    fn named(&mut self, name: &'a str) -> Found<Value> {
        for scope in self.scopes.iter().rev() {
            if let Some(value) = scope.names.get(name) {
                return value.clone().ok_or(Fault::Unknown);
            }
        }
        let declared = self.declared.get(name).copied();
        if matches!(declared, Some(Declared::Override(_))) && !self.overrides {
            return Err(Fault::Unknown);
        }
        self.asked |= matches!(declared, Some(Declared::Override(_)));
        if let Some(value) = self.values.get(name) {
            return value.clone().ok_or(Fault::Unknown);
        }
        // A constant that names itself has no value.
        self.values.insert(name, None);
        // Names of functions do not reach the module's expressions.
        let scopes = std::mem::take(&mut self.scopes);
        let overrides = self.overrides;
        self.overrides = matches!(declared, Some(Declared::Override(_)));
        let value = self.nested(|reader| match declared {
            Some(Declared::Constant(at)) => reader.declaration(at),
            Some(Declared::Override(at)) => reader.overridden(at),
            _ => Err(Fault::Unknown),
        });
        (self.scopes, self.overrides) = (scopes, overrides);
        let value = value?;
        self.values.insert(name, Some(value.clone()));
        Ok(value)
    }

    /// The value of an override, whose name is given: that of the options, or that of its declaration.
    fn overridden(&mut self, name: usize) -> Found<Value> {
        let id = match name.checked_sub(6).map(|at| [0, 1, 2, 4, 5].map(|by| self.word(at + by))) {
            Some(["@", "id", "(", ")", "override"]) => self.word(name - 3),
            _ => "",
        };
        let options = self.options;
        let mut all = options.overrides.iter();
        let given =
            all.find(|(key, _)| key == self.word(name) || key == id).map(|&(_, value)| value);
        let end = self.find(name, &["=", ";"]);
        let default = if self.word(end) == "=" { None } else { options.overrides_default };
        let Some(given) = given.or(default) else {
            return self.declaration(name)?.concrete();
        };
        let kind = match self.word(name + 1) == ":" {
            true => match self.ty(name + 2)? {
                (Type::Numbers(Some(kind), Shape::Scalar), _) => kind,
                _ => return Err(Fault::Unknown),
            },
            false => self.declaration(name)?.concrete()?.numbers()?.0,
        };
        // A fraction for an integer is an error, which naga tells of.
        if kind.is_integer() && given.fract() != 0.0 {
            return Err(Fault::Unknown);
        }
        Ok(Value::scalar(kind, convert(Number::F(given), Kind::Float, kind)?))
    }

    fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Found<T>) -> Found<T> {
        // What stands in brackets is read once more for each call around it that has no value.
        self.steps += 1;
        if self.depth >= DEPTH || self.steps > 6 * self.tokens.len() + (1 << 16) {
            return Err(Fault::Unknown);
        }
        self.depth += 1;
        let result = f(self);
        self.depth -= 1;
        result
    }

    /// The value of the declaration of a constant, whose name is given.
    fn declaration(&mut self, name: usize) -> Found<Value> {
        let equals = self.find(name, &["=", ";"]);
        if self.word(equals) != "=" {
            return Err(Fault::Unknown);
        }
        let (value, end) = self.expression(equals + 1)?;
        if self.word(end) != ";" {
            return Err(Fault::Unknown);
        }
        match self.word(name + 1) == ":" {
            true => {
                let (ty, _) = self.ty(name + 2)?;
                as_type(&value, &ty)
            }
            false => Ok(value),
        }
    }

    /// The value of the expression that begins at a token, and the token behind it.
    pub fn expression(&mut self, at: usize) -> Found<(Value, usize)> {
        self.nested(|reader| reader.binary(at, 0))
    }

    /// The integer that the expression at a token is.
    pub fn integer(&mut self, at: usize) -> Option<i64> {
        self.expression(at).ok()?.0.integer().ok()
    }

    /// The operator at a token, its precedence and its length.
    fn operator(&self, at: usize) -> Option<(&'static str, u32, usize)> {
        const OPERATORS: [(&str, u32); 18] = [
            ("||", 1),
            ("&&", 2),
            ("<<", 7),
            (">>", 7),
            ("<=", 6),
            (">=", 6),
            ("==", 6),
            ("!=", 6),
            ("|", 3),
            ("^", 4),
            ("&", 5),
            ("<", 6),
            (">", 6),
            ("+", 8),
            ("-", 8),
            ("*", 9),
            ("/", 9),
            ("%", 9),
        ];
        let joined = self.tokens.start(at) + 1 == self.tokens.start(at + 1);
        let [first, second] = [self.word(at), self.word(at + 1)];
        let found = OPERATORS.iter().find(|(text, _)| match text.len() {
            1 => *text == first,
            _ => joined && text[..1] == *first && text[1..] == *second,
        });
        found.map(|&(text, precedence)| (text, precedence, text.len()))
    }

    fn binary(&mut self, at: usize, least: u32) -> Found<(Value, usize)> {
        let (mut left, mut at) = self.unary(at)?;
        while let Some((operator, precedence, length)) = self.operator(at) {
            if precedence < least {
                break;
            }
            let (right, end) = self.nested(|reader| reader.binary(at + length, precedence + 1))?;
            left = apply(operator, &left, &right)?;
            at = end;
        }
        Ok((left, at))
    }

    fn unary(&mut self, at: usize) -> Found<(Value, usize)> {
        let operator = self.word(at);
        if !matches!(operator, "-" | "!" | "~") {
            let (value, at) = self.primary(at)?;
            return self.postfix(value, at);
        }
        let (value, end) = self.nested(|reader| reader.unary(at + 1))?;
        let (kind, shape, parts) = value.numbers()?;
        let parts = parts.iter().map(|&part| {
            Ok(match (operator, kind, part) {
                ("-", Kind::I32, Number::I(value)) => {
                    Number::I(i64::from((value as i32).wrapping_neg()))
                }
                ("-", Kind::Int, Number::I(value)) => {
                    Number::I(value.checked_neg().ok_or(Fault::Unknown)?)
                }
                ("-", _, Number::F(value)) => Number::F(-value),
                ("!", Kind::Bool, Number::I(value)) => Number::I(1 - value),
                ("~", Kind::U32, Number::I(value)) => Number::I(i64::from(!(value as u32))),
                ("~", Kind::I32 | Kind::Int, Number::I(value)) => Number::I(!value),
                _ => return Err(Fault::Unknown),
            })
        });
        let parts = parts.collect::<Found<_>>()?;
        Ok((Value::Numbers { kind, shape, parts }, end))
    }

    fn primary(&mut self, at: usize) -> Found<(Value, usize)> {
        let word = self.word(at);
        let first = word.bytes().next().ok_or(Fault::Unknown)?;
        if first.is_ascii_digit() {
            return Ok((literal(word).ok_or(Fault::Unknown)?, at + 1));
        }
        match word {
            "(" => {
                let (value, end) = self.expression(at + 1)?;
                return match end == self.partner(at) {
                    true => Ok((value, end + 1)),
                    false => Err(Fault::Unknown),
                };
            }
            // `.5` is two tokens.
            "." if self.word(at + 1).starts_with(|digit: char| digit.is_ascii_digit()) => {
                let text = format!("0.{}", self.word(at + 1));
                return Ok((literal(&text).ok_or(Fault::Unknown)?, at + 2));
            }
            "true" | "false" => return Ok((Value::truth(word == "true"), at + 1)),
            _ if !self.tokens.is_word(at) => return Err(Fault::Unknown),
            _ => {}
        }
        if (self.alias(word).is_some() || self.is_predeclared(word))
            && let Some(found) = self.call(at)?
        {
            return Ok(found);
        }
        Ok((self.named(word)?, at + 1))
    }

    /// Members and elements of a value.
    fn postfix(&mut self, mut value: Value, mut at: usize) -> Found<(Value, usize)> {
        loop {
            match self.word(at) {
                "." => {
                    value = member(&value, self.word(at + 1))?;
                    at += 2;
                }
                "[" => {
                    let (index, end) = self.expression(at + 1)?;
                    if end != self.partner(at) {
                        return Err(Fault::Unknown);
                    }
                    value = element(&value, index.integer()?)?;
                    at = end + 1;
                }
                _ => return Ok((value, at)),
            }
        }
    }

    /// The call of a built-in function or of a constructor that begins at a token, if one does.
    fn call(&mut self, at: usize) -> Found<Option<(Value, usize)>> {
        let name = self.word(at);
        let mut open = at + 1;
        let mut ty = None;
        if name == "bitcast" {
            if self.word(open) != "<" {
                return Ok(None);
            }
            let (to, end) = self.ty(open + 1)?;
            (ty, open) = (Some(to), end + 1);
        } else if let Ok((to, end)) = self.ty(at) {
            (ty, open) = (Some(to), end);
        }
        if self.word(open) != "(" {
            return Ok(None);
        }
        let close = self.partner(open);
        let mut args = Vec::new();
        let mut from = open + 1;
        while from < close {
            let (value, end) = self.expression(from)?;
            args.push(value);
            if end != close && self.word(end) != "," || args.len() > MOST_ELEMENTS {
                return Err(Fault::Unknown);
            }
            from = end + 1;
        }
        let value = match (name, ty) {
            ("bitcast", Some(Type::Numbers(Some(kind), shape))) if args.len() == 1 => {
                builtins::reinterpreted(&args[0], kind, shape)?
            }
            (_, Some(ty)) => construct(&ty, args)?,
            (name, None) => builtins::call(name, &args)?,
        };
        Ok(Some((value, close + 1)))
    }

    /// The type that begins at a token, and the token behind it.
    fn ty(&mut self, at: usize) -> Found<(Type, usize)> {
        let name = self.word(at);
        if let Some(alias) = self.alias(name) {
            let (ty, _) = self.nested(|reader| reader.ty(alias))?;
            return Ok((ty, at + 1));
        }
        if !self.is_predeclared(name) {
            return Err(Fault::Unknown);
        }
        if let Some(kind) = Kind::named(name) {
            return Ok((Type::Numbers(Some(kind), Shape::Scalar), at + 1));
        }
        let template = self.word(at + 1) == "<";
        if name == "array" {
            if !template {
                return Ok((Type::Array(None), at + 1));
            }
            let (element, end) = self.nested(|reader| reader.ty(at + 2))?;
            let end = if self.word(end) == "," { self.tokens.template_end(end) } else { end };
            return Ok((Type::Array(Some(Box::new(element))), end + 1));
        }
        let (shape, suffix) = shape_named(name).ok_or(Fault::Unknown)?;
        let kind = match suffix {
            "" if template => {
                let kind = self.word(at + 2);
                let kind = match self.alias(kind) {
                    Some(alias) => Kind::named(self.word(alias)),
                    None => Kind::named(kind),
                };
                let close = at + 3 + usize::from(self.word(at + 3) == ",");
                if kind.is_none() || self.word(close) != ">" {
                    return Err(Fault::Unknown);
                }
                return Ok((Type::Numbers(kind, shape), close + 1));
            }
            "" => None,
            "i" => Some(Kind::I32),
            "u" => Some(Kind::U32),
            "f" => Some(Kind::F32),
            "h" => Some(Kind::F16),
            _ => return Err(Fault::Unknown),
        };
        Ok((Type::Numbers(kind, shape), at + 1))
    }
}

/// `vec3f` is three of suffix `f`.
fn shape_named(name: &str) -> Option<(Shape, &str)> {
    let size = |text: &str| match text {
        "2" => Some(2),
        "3" => Some(3),
        "4" => Some(4),
        _ => None,
    };
    if let Some(rest) = name.strip_prefix("vec") {
        return Some((Shape::Vector(size(rest.get(..1)?)?), &rest[1..]));
    }
    let rest = name.strip_prefix("mat")?;
    if rest.get(1..2)? != "x" {
        return None;
    }
    Some((Shape::Matrix(size(&rest[..1])?, size(rest.get(2..3)?)?), &rest[3..]))
}

/// The values of what naga does not evaluate.
///
/// # Errors
/// The user's, where a call has no value by the language.
pub fn values(reader: &mut Reader<'_, '_>) -> Result<Vec<Edit>, Stop> {
    let mut walk = Walk { reader, edits: Vec::new(), waiting: Vec::new(), constant: 0 };
    walk.run()?;
    Ok(walk.edits)
}

struct Walk<'r, 't, 'a> {
    reader: &'r mut Reader<'t, 'a>,
    edits: Vec<Edit>,
    /// Names that count from a token on.
    waiting: Vec<(usize, &'a str, Option<Value>)>,
    /// Where the declaration of a constant ends.
    constant: usize,
}

impl<'a> Walk<'_, '_, 'a> {
    fn run(&mut self) -> Result<(), Stop> {
        let mut at = 0;
        while at < self.reader.tokens.len() {
            while let Some(index) = self.waiting.iter().position(|&(from, ..)| from <= at) {
                let (_, name, value) = self.waiting.remove(index);
                self.hide(name, value);
            }
            while self.reader.scopes.last().is_some_and(|scope| scope.end <= at) {
                self.reader.scopes.pop();
            }
            at = self.token(at)?;
        }
        Ok(())
    }

    fn hide(&mut self, name: &'a str, value: Option<Value>) {
        if let Some(scope) = self.reader.scopes.last_mut() {
            scope.names.insert(name, value);
        }
    }

    /// A name counts behind its declaration; one that does not end declares nothing.
    fn wait(&mut self, end: usize, name: &'a str, value: Option<Value>) {
        if end < self.reader.tokens.len() {
            self.waiting.push((end, name, value));
        }
    }

    fn open(&mut self, end: usize) {
        self.reader.scopes.push(Scope { end, names: Map::default() });
    }

    /// Does what a token asks for; gives the token to go on with.
    fn token(&mut self, at: usize) -> Result<usize, Stop> {
        let word = self.reader.word(at);
        let inside = !self.reader.scopes.is_empty();
        match word {
            "fn" if !inside => self.function(at),
            "{" if inside => self.open(self.reader.partner(at)),
            "for" if inside => {
                let body = self.reader.find(at + 1, &["{", ";"]);
                if self.reader.word(body) == "{" {
                    self.open(self.reader.partner(body));
                }
            }
            "const" => return Ok(self.declare(at, inside)),
            "let" | "var" if inside => {
                let name = match self.reader.word(at + 1) {
                    "<" => self.reader.tokens.template_end(at + 2) + 1,
                    _ => at + 1,
                };
                let end = self.reader.find(at, &[";"]);
                self.wait(end, self.reader.word(name), None);
            }
            // naga takes a bracket behind the word for one around the whole.
            "const_assert" if self.reader.word(at + 1) == "(" => {
                let end = self.reader.find(at, &[";"]);
                if self.reader.partner(at + 1) + 1 < end {
                    let tokens = self.reader.tokens;
                    for (token, added) in [(at + 1, "("), (end, ")")] {
                        let at = tokens.start(token) as usize;
                        self.edits.push(Edit { at, removed: 0, added: added.to_owned() });
                    }
                }
            }
            "<" | ">" => return self.shifted(at),
            _ if self.reader.tokens.is_word(at) && (at == 0 || self.reader.word(at - 1) != ".") => {
                return self.name(at, inside);
            }
            _ => {}
        }
        Ok(at + 1)
    }

    fn function(&mut self, at: usize) {
        let open = at + 2;
        let close = self.reader.partner(open);
        let body = self.reader.find(close + 1, &["{", ";"]);
        if self.reader.word(open) != "(" || self.reader.word(body) != "{" {
            return;
        }
        self.open(self.reader.partner(body));
        for name in open + 1..close {
            if self.reader.word(name + 1) == ":" {
                self.hide(self.reader.word(name), None);
            }
        }
    }

    /// A declaration; gives the token to go on with.
    fn declare(&mut self, at: usize, inside: bool) -> usize {
        let name = self.reader.word(at + 1);
        self.reader.overrides = false;
        let value = match inside {
            true => self.reader.declaration(at + 1),
            false => self.reader.named(name),
        };
        let end = self.reader.find(at, &[";"]);
        self.constant = end;
        // Of a type that has no name: uses stand for themselves.
        let split = matches!(value, Ok(Value::Split { .. }));
        if inside {
            self.wait(end, name, value.ok());
        }
        if !split {
            return at + 2;
        }
        let equals = self.reader.find(at, &["=", ";"]);
        self.replace(equals + 1, end, "0".to_owned());
        end
    }

    fn replace(&mut self, from: usize, end: usize, added: String) {
        let tokens = self.reader.tokens;
        let (at, last) = (tokens.start(from) as usize, end - 1);
        let removed = tokens.start(last) as usize + tokens.word(last).len() - at;
        self.edits.push(Edit { at, removed, added });
    }

    /// A call, a constant or a constructor; gives the token to go on with.
    fn name(&mut self, at: usize, inside: bool) -> Result<usize, Stop> {
        let reader = &mut *self.reader;
        let word = reader.word(at);
        reader.overrides = at >= self.constant;
        if REPLACED.contains(&word) && reader.is_predeclared(word) {
            reader.asked = false;
            let found = reader.call(at).and_then(|call| {
                let (value, end) = call.ok_or(Fault::Unknown)?;
                match value {
                    Value::Split { .. } => reader.postfix(value, end),
                    _ => Ok((value, end)),
                }
            });
            reader.is_bound |= reader.asked;
            return match found {
                Ok((value, end)) => {
                    self.replace(at, end, value.text());
                    Ok(end)
                }
                // Drivers of old let programs make infinities of bits, and so does naga outside of constants.
                Err(Fault::Invalid(_)) if word == "bitcast" && inside && at >= self.constant => {
                    Ok(at + 1)
                }
                Err(Fault::Invalid(why)) => {
                    let start = reader.tokens.start(at);
                    let end = start + word.len() as u32;
                    Err(Stop::invalid(why).at(Span { start, end }))
                }
                Err(Fault::Unknown) => Ok(at + 1),
            };
        }
        // A constant whose type has no name, which no override is.
        let member = reader.word(at + 1) == ":";
        if !member && let Ok(value @ Value::Split { .. }) = reader.named(word) {
            reader.asked = false;
            let part = reader.postfix(value.clone(), at + 1);
            reader.is_bound |= reader.asked;
            if let Ok((value, end)) = part {
                self.replace(at, end, value.text());
                return Ok(end);
            }
            self.replace(at, at + 1, value.text());
            return Ok(at + 1);
        }
        // naga takes a vector of zeros in a constructor for one component.
        let ty = reader.ty(at);
        if let Ok((Type::Numbers(kind, shape @ (Shape::Vector(_) | Shape::Matrix(..))), open)) = ty
            && reader.word(open) == "("
            && reader.word(open + 1) == ")"
        {
            let kind = kind.unwrap_or(Kind::Int);
            let zero = if kind.is_float() { Number::F(0.0) } else { Number::I(0) };
            let parts = vec![zero; shape.len()];
            self.replace(at, open + 2, Value::Numbers { kind, shape, parts }.text());
            return Ok(open + 2);
        }
        Ok(at + 1)
    }

    /// A shift of an abstract integer by 64 bits and more; gives the token to go on with.
    fn shifted(&mut self, at: usize) -> Result<usize, Stop> {
        let reader = &mut *self.reader;
        let shift = reader.operator(at).filter(|(operator, ..)| matches!(*operator, "<<" | ">>"));
        let Some((_, precedence, length)) = shift else {
            return Ok(at + 1);
        };
        reader.asked = false;
        let by = reader.unary(at + length);
        reader.is_bound |= reader.asked;
        let Ok((by, _)) = by else {
            return Ok(at + length);
        };
        let long = by.numbers().is_ok_and(|(_, _, by)| by.iter().any(|by| by.int() >= 64));
        let Some(from) = self.operand_before(at).filter(|_| long) else {
            return Ok(at + length);
        };
        // Where no expression holds both operands (`a(8) >> 64u` with a constant `a`), reading ends before the shift.
        let whole = self.reader.binary(from, precedence);
        self.reader.is_bound |= self.reader.asked;
        if let Ok((value, end)) = whole
            && end > at
            && value.numbers().is_ok_and(|(kind, ..)| kind == Kind::Int)
        {
            // What was replaced within it.
            let start = self.reader.tokens.start(from) as usize;
            self.edits.retain(|edit| edit.at < start || edit.removed == 0);
            self.replace(from, end, value.text());
            return Ok(end);
        }
        Ok(at + length)
    }

    /// The first token of the unary expression that ends before a token.
    fn operand_before(&self, end: usize) -> Option<usize> {
        let reader = &*self.reader;
        let mut at = end.checked_sub(1)?;
        loop {
            while matches!(reader.word(at), ")" | "]") {
                at = reader.partners[at]? as usize;
                // What is called or indexed stands before its bracket.
                let before = at.checked_sub(1)?;
                let ends =
                    matches!(reader.word(before), ")" | "]") || reader.tokens.is_word(before);
                if !ends
                    || matches!(
                        reader.word(before),
                        "return" | "if" | "switch" | "while" | "case" | "const_assert"
                    )
                {
                    break;
                }
                at = before;
            }
            if at > 0 && reader.word(at - 1) == "." {
                at = at.checked_sub(2)?;
                continue;
            }
            break;
        }
        // A minus behind an operand is a difference.
        while at > 0 && matches!(reader.word(at - 1), "-" | "~") {
            let operand = at.checked_sub(2).is_some_and(|before| {
                let word = reader.word(before);
                matches!(word, ")" | "]")
                    || word.starts_with(|c: char| c.is_alphanumeric() || c == '_')
                        && word != "return"
            });
            if operand {
                break;
            }
            at -= 1;
        }
        Some(at)
    }
}
