//! The text form of structured SSA, read: `.ir` files.
//!
//! # Grammar
//! White space separates and means nothing else; `;` begins a comment to the end of the line.
//! ```text
//! module    = { func }
//! func      = "func" STRING stage [ corners "to" N strip [ "invocations" N ] ] [ "workgroup" N N N ] [ "early_fragment_tests" ] [ "invariant" ]
//!             [ "trusted" ] "{" { resource | input | output | mem } "}" "body" "{" { inst } "}"
//! resource  = "res"N "=" STRING "group" N "binding" N kind [ "count" N ] "as" scalar [ "mixed" ]
//! kind      = "uniform" BYTES | "storage" BYTES [ "stride" N ] access | "immediate" BYTES
//!           | "texture" dim [ "arrayed" ] sampletype [ "multisampled" ]
//!           | "storage_texture" dim [ "arrayed" ] sampletype FORMAT access
//!           | "sampler" [ "comparison" ]
//! access    = [ "load" ] [ "store" ] [ "atomic" ]
//! input     = "in"N "=" STRING scalar "x" N ( builtin | "location" N interpolation sampling
//!                                           | "corner" N ( builtin | "location" N ) )
//! output    = "out"N "=" STRING scalar "x" N ( builtin | "location" N interpolation [ "blend_src" N ] )
//! builtin   = "builtin" NAME [ N ]            ; the number of a clip_distance
//! mem       = "mem"N "=" STRING ( "private" | "workgroup" ) BYTES
//! inst      = [ typed { "," typed } "=" ] OP fixed [ "^"N ] operands [ "!" N ":" N ] [ "#" N "." N ] regions
//! typed     = "%"N ":" ( "b1" | "b16" | "b32" | "b64" )
//! regions   = if: "{" insts "}" "else" "{" insts "}"
//!           | loop: "body" [ params ] "{" insts "}" "continuing" [ params ] "{" insts "}"
//!           | block: "{" insts "}"
//! params    = "(" typed { "," typed } ")"
//! ```
//! `fixed` is what an instruction needs beside its operands: `const 0x3f800000`, `buffer_load res0,
//! %1`, `mem_load mem0[0..16], %1`, `buffer_atomic add res0, %1, %2`, `input in0.1`, `tex sample res0
//! res1 compare offset 1 0 0, %1, ...`, `tex_query size res0`, `exit ^0, %1`, `barrier workgroup`.
//! A `trusted` function promises that its accesses are in range; any other one marks them with `index`.
//! Resources, inputs, outputs and variables are numbered from 0 in order. Values may have any numbers
//! but are defined before they are used; a block's label is known inside it.
//!
//! Reading takes linear time, never panics, and refuses nesting beyond [`MAX_NESTING`]. What it
//! accepts is well formed as text; [`super::verify`](fn@super::verify) says whether it is a program.

mod declare;

use super::lex::{Lexer, ParseError, Token};
use super::verify::MAX_NESTING;
use super::{
    Access, AtomicOp, Bounds, Bundle, Corners, Emits, Func, Geometry, Imm, Input, Inst, InstData,
    Mem, Module, Op, Output, Region, Resource, Scan, Shuffle, Span, Stage, TexKind, TexOp,
    TexQuery, Type, Value,
};
use crate::Map;
use cranelift_entity::EntityRef;
use smallvec::SmallVec;

type Result<T> = std::result::Result<T, ParseError>;

/// Reads a module.
///
/// ```
/// let text = "func \"main\" compute {
/// } body {
///   %0: b32 = const 0x3f800000 ; 1.0
///   %1: b32 = fadd %0, %0
///   yield
/// }
/// ";
/// let module = gpucc_ir::ssa::parse(text).unwrap();
/// assert_eq!(module.to_string(), text);
/// assert_eq!(gpucc_ir::ssa::parse("func \"x\" compute {\n  %").unwrap_err().line, 2);
/// ```
pub fn parse(text: &str) -> Result<Module> {
    read(Parser::new(text)?)
}

/// Reads a module whose instructions' positions are those in this text, whatever positions it gives.
///
/// # Errors
/// As of [`parse`].
pub fn parse_in_place(text: &str) -> Result<Module> {
    let mut parser = Parser::new(text)?;
    parser.in_place = true;
    read(parser)
}

fn read(mut parser: Parser<'_>) -> Result<Module> {
    let mut module = Module::default();
    while parser.token != Token::End {
        module.funcs.push(parser.func()?);
    }
    Ok(module)
}

/// An instruction whose regions are being read.
struct Owner {
    inst: Inst,
    /// The region that it stands in.
    outer: Region,
    opened: u8,
    /// Numbers and places of its results.
    results: SmallVec<[(u32, usize); 2]>,
}

struct Parser<'t> {
    lexer: Lexer<'t>,
    token: Token<'t>,
    at: usize,
    /// Where the token before this one ended.
    ended: usize,
    /// Instructions are where they stand in the text.
    in_place: bool,
    values: Map<u32, Value>,
    blocks: Map<u32, Inst>,
    ops: Map<&'static str, Op>,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Result<Self> {
        if u32::try_from(text.len()).is_err() {
            return Err(ParseError {
                line: 1,
                column: 1,
                message: "the text is longer than 4 GiB".into(),
            });
        }
        let mut parser = Parser {
            lexer: Lexer::new(text),
            token: Token::End,
            at: 0,
            ended: 0,
            in_place: false,
            values: Map::default(),
            blocks: Map::default(),
            ops: Op::ALL.iter().map(|&op| (op.name(), op)).collect(),
        };
        parser.advance()?;
        Ok(parser)
    }

    fn advance(&mut self) -> Result<Token<'t>> {
        self.ended = self.lexer.at;
        let next = self.lexer.next()?;
        self.at = self.lexer.start;
        Ok(std::mem::replace(&mut self.token, next))
    }

    fn error<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(self.lexer.error_at(self.at, message))
    }

    fn expected<T>(&self, what: &str) -> Result<T> {
        self.error(format!("expected {what}, found {}", self.token))
    }

    fn eat(&mut self, punct: char) -> Result<bool> {
        let found = self.token == Token::Punct(punct);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn punct(&mut self, punct: char) -> Result<()> {
        if self.eat(punct)? { Ok(()) } else { self.expected(&format!("'{punct}'")) }
    }

    fn eat_word(&mut self, word: &str) -> Result<bool> {
        let found = self.token == Token::Word(word);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn word(&mut self, word: &str) -> Result<()> {
        if self.eat_word(word)? { Ok(()) } else { self.expected(&format!("'{word}'")) }
    }

    /// A word that names a member of an enumeration.
    fn member<T>(&mut self, what: &str, find: impl Fn(&str) -> Option<T>) -> Result<T> {
        if let Token::Word(word) = self.token
            && let Some(member) = find(word)
        {
            self.advance()?;
            return Ok(member);
        }
        self.expected(what)
    }

    fn number(&mut self) -> Result<u64> {
        match self.token {
            Token::Number { value, negative: false } => {
                self.advance()?;
                Ok(value)
            }
            _ => self.expected("a number"),
        }
    }

    /// A number that fits.
    fn small<T: TryFrom<u64>>(&mut self) -> Result<T> {
        let at = self.at;
        let value = self.number()?;
        T::try_from(value).map_err(|_| {
            let bits = 8 * size_of::<T>();
            self.lexer.error_at(at, format!("{value} does not fit into {bits} bits"))
        })
    }

    fn string(&mut self) -> Result<String> {
        match self.advance()? {
            Token::Text(text) => Ok(text),
            other => {
                self.token = other;
                self.expected("a string")
            }
        }
    }

    /// An entity word such as `res3` that exists already.
    fn entity<E: EntityRef>(&mut self, prefix: &str, known: usize) -> Result<E> {
        match self.entity_number(prefix) {
            Some(number) if number < known => {
                self.advance()?;
                Ok(E::new(number))
            }
            Some(_) => self.error(format!("{} is not declared", self.token)),
            None => self.expected(&format!("'{prefix}' and a number")),
        }
    }

    fn entity_number(&self, prefix: &str) -> Option<usize> {
        match self.token {
            Token::Word(word) => word.strip_prefix(prefix)?.parse().ok(),
            _ => None,
        }
    }

    // Functions and declarations.

    fn func(&mut self) -> Result<Func> {
        self.word("func")?;
        let name = self.string()?;
        let stage = self.member("vertex, geometry, fragment or compute", Stage::by_word)?;
        let mut func = Func::new(name, stage);
        if stage == Stage::Geometry {
            let takes = self.member("what it takes", Corners::by_word)?;
            self.word("to")?;
            let most = self.small()?;
            let emits = self.member("what it emits", Emits::by_word)?;
            let invocations = if self.eat_word("invocations")? { self.small()? } else { 1 };
            func.geometry = Some(Geometry { takes, emits, most, invocations });
        }
        if self.eat_word("workgroup")? {
            for size in &mut func.workgroup_size {
                *size = self.small()?;
            }
        }
        func.early_fragment_tests = self.eat_word("early_fragment_tests")?;
        func.invariant = self.eat_word("invariant")?;
        if self.eat_word("trusted")? {
            func.bounds = Bounds::Trusted;
        }
        self.punct('{')?;
        while !self.eat('}')? {
            self.declaration(&mut func)?;
        }
        self.word("body")?;
        self.values.clear();
        self.blocks.clear();
        self.body(&mut func)?;
        Ok(func)
    }

    // Regions and instructions.

    /// The function's body and all regions in it, without recursion.
    fn body(&mut self, func: &mut Func) -> Result<()> {
        self.punct('{')?;
        let mut region = func.body;
        // The owners of the regions that are open, outermost first.
        let mut owners: Vec<Owner> = Vec::new();
        loop {
            let mut owner = if self.eat('}')? {
                let Some(owner) = owners.pop() else {
                    return Ok(());
                };
                owner
            } else {
                let owner = self.inst(func, region)?;
                func.regions[region].insts.push(owner.inst);
                owner
            };
            if self.open(func, &owner)? {
                if owners.len() as u32 == MAX_NESTING - 1 {
                    return self.error(format!("regions are nested more than {MAX_NESTING} deep"));
                }
                owner.opened += 1;
                region = *func.insts[owner.inst].regions.last().expect("a region was opened");
                owners.push(owner);
                continue;
            }
            // Results are visible only after the regions.
            for (index, (number, at)) in owner.results.into_iter().enumerate() {
                let value = func.insts[owner.inst].results[index];
                self.define(number, at, value)?;
            }
            region = owner.outer;
        }
    }

    /// Opens the next region of an owner; false when it has all of them.
    fn open(&mut self, func: &mut Func, owner: &Owner) -> Result<bool> {
        let word = match (func.insts[owner.inst].op, owner.opened) {
            (Op::If, 0) | (Op::Block, 0) => "",
            (Op::If, 1) => "else",
            (Op::Loop, 0) => "body",
            (Op::Loop, 1) => "continuing",
            _ => return Ok(false),
        };
        if !word.is_empty() {
            self.word(word)?;
        }
        let region = func.new_region();
        func.insts[owner.inst].regions.push(region);
        if func.insts[owner.inst].op == Op::Loop && self.eat('(')? {
            loop {
                let (number, at, ty) = self.typed()?;
                if func.regions[region].params.len() == usize::from(u16::MAX) {
                    return self.error("more than 65535 parameters");
                }
                let param = func.add_param(region, ty);
                self.define(number, at, param)?;
                if !self.eat(',')? {
                    break;
                }
            }
            self.punct(')')?;
        }
        self.punct('{')?;
        Ok(true)
    }

    /// An instruction up to its regions.
    fn inst(&mut self, func: &mut Func, outer: Region) -> Result<Owner> {
        let begin = self.at;
        let mut results: SmallVec<[(u32, usize); 2]> = SmallVec::new();
        let mut types: SmallVec<[Type; 2]> = SmallVec::new();
        if matches!(self.token, Token::Value(_)) {
            loop {
                let (number, at, ty) = self.typed()?;
                results.push((number, at));
                types.push(ty);
                if !self.eat(',')? {
                    break;
                }
            }
            self.punct('=')?;
        }
        if types.len() > usize::from(u16::MAX) {
            return self.error("more than 65535 results");
        }
        let Token::Word(word) = self.token else {
            return self.expected("an operation");
        };
        let Some(&op) = self.ops.get(word) else {
            return self.expected("an operation");
        };
        self.advance()?;
        let (imm, comma) = self.imm(func, op)?;
        let inst = func.new_inst(
            InstData {
                op,
                args: SmallVec::new(),
                imm,
                regions: Default::default(),
                results: SmallVec::new(),
                span: Span::NONE,
                bundle: None,
            },
            &types,
        );
        if op == Op::Block {
            match self.token {
                Token::Block(number) => {
                    if self.blocks.insert(number, inst).is_some() {
                        return self.error(format!("^{number} is defined twice"));
                    }
                    self.advance()?;
                }
                _ => return self.expected("the block's label"),
            }
        }
        if comma {
            while self.eat(',')? {
                let arg = self.value()?;
                func.insts[inst].args.push(arg);
            }
        } else if matches!(self.token, Token::Value(_)) && self.operand_follows(op) {
            loop {
                let arg = self.value()?;
                func.insts[inst].args.push(arg);
                if !self.eat(',')? {
                    break;
                }
            }
        }
        if self.eat('!')? {
            let start = self.small()?;
            self.punct(':')?;
            let end = self.small()?;
            func.insts[inst].span = Span { start, end };
        }
        if self.eat('#')? {
            let id = self.small()?;
            self.punct('.')?;
            let lane = self.small()?;
            let Some(bundle) = Bundle::new(id, lane) else {
                return self.error("the number of a vector operation is too large");
            };
            func.insts[inst].bundle = Some(bundle);
        }
        if self.in_place {
            func.insts[inst].span = Span { start: begin as u32, end: self.ended as u32 };
        }
        Ok(Owner { inst, outer, opened: 0, results })
    }

    /// `yield` and its like may stand before a `%` of the next instruction only in broken text
    /// (they end their region), and every other op without a fixed part takes operands, but for
    /// these.
    fn operand_follows(&self, op: Op) -> bool {
        !matches!(
            op,
            Op::Demote
                | Op::EmitVertex
                | Op::EndPrimitive
                | Op::IsHelper
                | Op::Block
                | Op::Unreachable
                | Op::Barrier
                | Op::SubgroupBarrier
                | Op::Clock
                | Op::DeviceClock
        )
    }

    /// `%n: type`, with where it stands.
    fn typed(&mut self) -> Result<(u32, usize, Type)> {
        let at = self.at;
        let Token::Value(number) = self.token else {
            return self.expected("a value");
        };
        self.advance()?;
        self.punct(':')?;
        let ty = self.member("b1, b16, b32 or b64", Type::by_word)?;
        Ok((number, at, ty))
    }

    fn define(&mut self, number: u32, at: usize, value: Value) -> Result<()> {
        match self.values.insert(number, value) {
            None => Ok(()),
            Some(_) => Err(self.lexer.error_at(at, format!("%{number} is defined twice"))),
        }
    }

    fn value(&mut self) -> Result<Value> {
        let Token::Value(number) = self.token else {
            return self.expected("a value");
        };
        let Some(&value) = self.values.get(&number) else {
            return self.error(format!("%{number} is not defined before this use"));
        };
        self.advance()?;
        Ok(value)
    }

    fn res(&mut self, func: &Func) -> Result<Resource> {
        self.entity("res", func.resources.len())
    }

    fn mem_access(&mut self, func: &Func) -> Result<Access> {
        let mem: Mem = self.entity("mem", func.mems.len())?;
        self.punct('[')?;
        let lo = self.small()?;
        if self.token != Token::Range {
            return self.expected("'..'");
        }
        self.advance()?;
        let hi = self.small()?;
        self.punct(']')?;
        Ok(Access { mem, lo, hi })
    }

    fn component<E: EntityRef>(&mut self, prefix: &str, known: usize) -> Result<(E, u8)> {
        let entity = self.entity(prefix, known)?;
        self.punct('.')?;
        Ok((entity, self.small()?))
    }

    /// The fixed part, and whether operands after it begin with a comma.
    fn imm(&mut self, func: &Func, op: Op) -> Result<(Imm, bool)> {
        let imm = match op {
            Op::Const => Imm::Bits(self.number()?),
            Op::BufferLoad | Op::BufferStore | Op::BufferSize | Op::ImageStore => {
                Imm::Resource(self.res(func)?)
            }
            Op::MemLoad | Op::MemStore => Imm::Mem(self.mem_access(func)?),
            Op::BufferAtomic | Op::ImageAtomic => {
                let atomic = self.member("an atomic operation", AtomicOp::by_word)?;
                let resource = self.res(func)?;
                if op == Op::BufferAtomic {
                    Imm::BufferAtomic(resource, atomic)
                } else {
                    Imm::ImageAtomic(resource, atomic)
                }
            }
            Op::MemAtomic => {
                let atomic = self.member("an atomic operation", AtomicOp::by_word)?;
                Imm::MemAtomic(self.mem_access(func)?, atomic)
            }
            Op::Input => {
                let (input, component): (Input, u8) = self.component("in", func.inputs.len())?;
                Imm::Input(input, component)
            }
            Op::Output => {
                let (output, component): (Output, u8) =
                    self.component("out", func.outputs.len())?;
                Imm::Output(output, component)
            }
            Op::Tex => Imm::Tex(self.tex(func)?),
            Op::Shuffle => Imm::Shuffle(self.member("which lane", Shuffle::by_word)?),
            Op::Reduce => {
                let scan = self.member("all, inclusive or exclusive", Scan::by_word)?;
                Imm::Reduce(scan, self.member("an operation", Op::by_name)?)
            }
            Op::TexQuery => {
                let query =
                    self.member("size, levels, layers, samples or sampler", TexQuery::by_word)?;
                Imm::Query(self.res(func)?, query)
            }
            Op::Exit => match self.token {
                Token::Block(number) => match self.blocks.get(&number) {
                    Some(&block) => {
                        self.advance()?;
                        Imm::Label(block)
                    }
                    None => return self.error(format!("no block ^{number} before this")),
                },
                _ => return self.expected("a block's label"),
            },
            Op::Barrier => Imm::Barrier {
                storage: self.eat_word("storage")?,
                workgroup: self.eat_word("workgroup")?,
                texture: self.eat_word("texture")?,
            },
            _ => return Ok((Imm::None, false)),
        };
        Ok((imm, true))
    }

    fn tex(&mut self, func: &Func) -> Result<TexOp> {
        let kind = self.member("a kind of texture access", TexKind::by_word)?;
        let texture = self.res(func)?;
        let sampler = if self.entity_number("res").is_some() {
            Some(self.res(func)?).into()
        } else {
            None.into()
        };
        let projected = self.eat_word("projected")?;
        let texel = self.eat_word("texel")?;
        let compare = self.eat_word("compare")?;
        let component = if self.eat_word("component")? { self.small()? } else { 0 };
        let mut offset = [0; 3];
        if self.eat_word("offset")? {
            for axis in &mut offset {
                *axis = self.signed()?;
            }
        }
        Ok(TexOp { kind, texture, sampler, compare, component, offset, projected, texel })
    }

    fn signed(&mut self) -> Result<i8> {
        let Token::Number { value, negative } = self.token else {
            return self.expected("a number");
        };
        let signed = i64::try_from(value).map(|value| if negative { -value } else { value });
        match signed.ok().and_then(|value| i8::try_from(value).ok()) {
            Some(value) => {
                self.advance()?;
                Ok(value)
            }
            None => self.expected("a number from -128 to 127"),
        }
    }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
