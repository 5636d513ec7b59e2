//! The text form of structured SSA, written. [`super::parse`](mod@super::parse) reads it and has the grammar.
//!
//! Values and blocks are numbered in program order, so that printing, reading and printing again
//! gives the same text whatever the entity numbers were. [`Names`] holds that numbering; messages
//! that name a value or an instruction use it too, so that they can be found in a dump.

use super::{
    Access, Bounds, Func, ImageAccess, Imm, Input, InputKind, Inst, Mem, Module, Op, Output,
    OutputKind, Part, Region, Resource, ResourceKind, Span, TexKind, Type, Value,
};
use cranelift_entity::{EntitySet, SecondaryMap};
use std::fmt::{self, Display, Formatter, Write};

const UNNAMED: u32 = u32::MAX;

/// The numbers that values and blocks have in a function's text.
pub struct Names {
    values: SecondaryMap<Value, u32>,
    blocks: SecondaryMap<Inst, u32>,
}

impl Names {
    /// Numbers everything that the body reaches, in program order.
    pub fn new(func: &Func) -> Self {
        let mut names = Names {
            values: SecondaryMap::with_default(UNNAMED),
            blocks: SecondaryMap::with_default(UNNAMED),
        };
        let (mut next_value, mut next_block) = (0, 0);
        // A function that the verifier has yet to refuse may name what does not exist, or twice.
        let mut seen = EntitySet::with_capacity(func.regions.len());
        let mut stack = vec![(func.body, 0)];
        while let Some((region, index)) = stack.pop() {
            if !func.regions.is_valid(region) || index == 0 && !seen.insert(region) {
                continue;
            }
            let data = &func.regions[region];
            if index == 0 {
                for &param in &data.params {
                    names.values[param] = next_value;
                    next_value += 1;
                }
            }
            for (index, &inst) in data.insts.iter().enumerate().skip(index) {
                let Some(data) = func.insts.get(inst) else {
                    continue;
                };
                for &result in &data.results {
                    names.values[result] = next_value;
                    next_value += 1;
                }
                if data.op == Op::Block {
                    names.blocks[inst] = next_block;
                    next_block += 1;
                }
                if !data.regions.is_empty() {
                    stack.push((region, index + 1));
                    stack.extend(data.regions.iter().rev().map(|&inner| (inner, 0)));
                    break;
                }
            }
        }
        names
    }

    /// `%n`; `%?n` with the entity number for a value that the body does not reach.
    pub fn value(&self, value: Value) -> impl Display + use<> {
        let (number, entity) = (self.values[value], value.as_u32());
        DisplayWith(move |f: &mut Formatter<'_>| match number {
            UNNAMED => write!(f, "%?{entity}"),
            number => write!(f, "%{number}"),
        })
    }

    /// `^n`; `^?n` with the entity number for what is no block or not reached.
    pub fn block(&self, block: Inst) -> impl Display + use<> {
        let (number, entity) = (self.blocks[block], block.as_u32());
        DisplayWith(move |f: &mut Formatter<'_>| match number {
            UNNAMED => write!(f, "^?{entity}"),
            number => write!(f, "^{number}"),
        })
    }

    /// An instruction as one line without its regions.
    pub fn inst(&self, func: &Func, inst: Inst) -> String {
        let mut line = String::new();
        let mut printer = Printer { func, names: self, out: &mut line };
        printer.head(inst).expect("writing to a string does not fail");
        line
    }
}

struct DisplayWith<F>(F);

impl<F: Fn(&mut Formatter<'_>) -> fmt::Result> Display for DisplayWith<F> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        (self.0)(f)
    }
}

impl Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, func) in self.funcs.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{func}")?;
        }
        Ok(())
    }
}

impl Display for Func {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let names = Names::new(self);
        Printer { func: self, names: &names, out: f }.func()
    }
}

struct Printer<'a> {
    func: &'a Func,
    names: &'a Names,
    out: &'a mut dyn Write,
}

impl Printer<'_> {
    fn func(&mut self) -> fmt::Result {
        let func = self.func;
        let [x, y, z] = func.workgroup_size;
        write!(self.out, "func {} {}", Quoted(&func.name), func.stage.word())?;
        if let Some(geometry) = &func.geometry {
            let (takes, emits) = (geometry.takes.word(), geometry.emits.word());
            write!(self.out, " {takes} to {} {emits}", geometry.most)?;
            if geometry.invocations != 1 {
                write!(self.out, " invocations {}", geometry.invocations)?;
            }
        }
        if func.workgroup_size != [1; 3] {
            write!(self.out, " workgroup {x} {y} {z}")?;
        }
        if func.early_fragment_tests {
            write!(self.out, " early_fragment_tests")?;
        }
        if func.invariant {
            write!(self.out, " invariant")?;
        }
        if func.bounds == Bounds::Trusted {
            write!(self.out, " trusted")?;
        }
        writeln!(self.out, " {{")?;
        for resource in func.resources.keys() {
            self.resource(resource)?;
        }
        for input in func.inputs.keys() {
            self.input(input)?;
        }
        for output in func.outputs.keys() {
            self.output(output)?;
        }
        for (mem, data) in &func.mems {
            write!(
                self.out,
                "  {mem} = {} {} {}",
                Quoted(&data.name),
                data.space.word(),
                data.size
            )?;
            if !data.words.is_empty() {
                let words: Vec<String> = data.words.iter().map(|w| format!("{w:#x}")).collect();
                write!(self.out, " [{}]", words.join(", "))?;
            }
            writeln!(self.out)?;
        }
        writeln!(self.out, "}} body {{")?;
        self.body()?;
        writeln!(self.out, "}}")
    }

    fn resource(&mut self, resource: Resource) -> fmt::Result {
        let data = &self.func.resources[resource];
        write!(
            self.out,
            "  {resource} = {} group {} binding {} ",
            Quoted(&data.name),
            data.group,
            data.binding
        )?;
        match data.kind {
            ResourceKind::Uniform { size } => write!(self.out, "uniform {size}")?,
            ResourceKind::Storage { size, stride, access } => {
                write!(self.out, "storage {size}")?;
                if stride != 0 {
                    write!(self.out, " stride {stride}")?;
                }
                self.access(access)?;
            }
            ResourceKind::Immediate { size } => write!(self.out, "immediate {size}")?,
            ResourceKind::Texture { dim, arrayed, sample, multisampled } => {
                write!(self.out, "texture {}", dim.word())?;
                if arrayed {
                    write!(self.out, " arrayed")?;
                }
                write!(self.out, " {}", sample.word())?;
                if multisampled {
                    write!(self.out, " multisampled")?;
                }
            }
            ResourceKind::StorageTexture { dim, arrayed, format, sample, access } => {
                write!(self.out, "storage_texture {}", dim.word())?;
                if arrayed {
                    write!(self.out, " arrayed")?;
                }
                write!(self.out, " {} {}", sample.word(), format.0)?;
                self.access(access)?;
            }
            ResourceKind::Sampler { comparison } => {
                write!(self.out, "sampler")?;
                if comparison {
                    write!(self.out, " comparison")?;
                }
            }
        }
        if let Some(count) = data.count {
            write!(self.out, " count {count}")?;
        }
        let mixed = if data.mixed { " mixed" } else { "" };
        writeln!(self.out, " as {}{mixed}", data.scalar.word())
    }

    fn access(&mut self, access: ImageAccess) -> fmt::Result {
        for (set, word) in
            [(access.load, " load"), (access.store, " store"), (access.atomic, " atomic")]
        {
            if set {
                self.out.write_str(word)?;
            }
        }
        Ok(())
    }

    fn input(&mut self, input: Input) -> fmt::Result {
        let data = &self.func.inputs[input];
        write!(
            self.out,
            "  {input} = {} {} x {} ",
            Quoted(&data.name),
            data.scalar.word(),
            data.components
        )?;
        match data.kind {
            InputKind::Builtin(builtin) => self.builtin(builtin)?,
            InputKind::Location { location, interpolation, sampling } => write!(
                self.out,
                "location {location} {} {}",
                interpolation.word(),
                sampling.word()
            )?,
            InputKind::Corner { vertex, part } => {
                write!(self.out, "corner {vertex} ")?;
                match part {
                    Part::Builtin(builtin) => self.builtin(builtin)?,
                    Part::Location(location) => write!(self.out, "location {location}")?,
                }
            }
        }
        writeln!(self.out)
    }

    fn output(&mut self, output: Output) -> fmt::Result {
        let data = &self.func.outputs[output];
        write!(
            self.out,
            "  {output} = {} {} x {} ",
            Quoted(&data.name),
            data.scalar.word(),
            data.components
        )?;
        match data.kind {
            OutputKind::Builtin(builtin) => self.builtin(builtin)?,
            OutputKind::Location { location, blend_src, interpolation } => {
                write!(self.out, "location {location} {}", interpolation.word())?;
                if blend_src != 0 {
                    write!(self.out, " blend_src {blend_src}")?;
                }
            }
        }
        writeln!(self.out)
    }

    fn builtin(&mut self, builtin: super::Builtin) -> fmt::Result {
        write!(self.out, "builtin {}", builtin.word())?;
        match builtin.number() {
            Some(number) => write!(self.out, " {number}"),
            None => Ok(()),
        }
    }

    /// The regions, without recursion: a dump of what a pass got wrong must not overflow the stack.
    fn body(&mut self) -> fmt::Result {
        let func = self.func;
        // Where to go on: region, next instruction, and which of its owner's regions it is.
        let mut stack: Vec<(Region, usize, usize)> = vec![(func.body, 0, 0)];
        while let Some((region, index, which)) = stack.pop() {
            let insts = &func.regions[region].insts;
            if let Some(&inst) = insts.get(index) {
                stack.push((region, index + 1, which));
                self.indent(stack.len())?;
                self.head(inst)?;
                if let Some(&first) = func.insts[inst].regions.first() {
                    self.open(inst, 0)?;
                    stack.push((first, 0, 0));
                } else {
                    writeln!(self.out)?;
                }
                continue;
            }
            // The region is over: its owner's next region, or back to the owner's region.
            let Some(&(outer, next, _)) = stack.last() else {
                return Ok(());
            };
            let owner = func.regions[outer].insts[next - 1];
            self.indent(stack.len())?;
            write!(self.out, "}}")?;
            match func.insts[owner].regions.get(which + 1) {
                Some(&sibling) => {
                    self.open(owner, which + 1)?;
                    stack.push((sibling, 0, which + 1));
                }
                None => writeln!(self.out)?,
            }
        }
        Ok(())
    }

    fn indent(&mut self, depth: usize) -> fmt::Result {
        // Deeper than this the text would grow with the square of the nesting.
        for _ in 0..depth.min(40) {
            self.out.write_str("  ")?;
        }
        Ok(())
    }

    /// What stands between an owner's head and the instructions of one of its regions.
    fn open(&mut self, owner: Inst, which: usize) -> fmt::Result {
        let data = &self.func.insts[owner];
        match (data.op, which) {
            (Op::If, 1) => self.out.write_str(" else")?,
            (Op::Loop, 0) => self.params(" body", data.regions[0])?,
            (Op::Loop, 1) => self.params(" continuing", data.regions[1])?,
            _ => {}
        }
        writeln!(self.out, " {{")
    }

    fn params(&mut self, word: &str, region: Region) -> fmt::Result {
        self.out.write_str(word)?;
        let params = &self.func.regions[region].params;
        if params.is_empty() {
            return Ok(());
        }
        self.out.write_str(" (")?;
        self.typed(params)?;
        self.out.write_str(")")
    }

    fn typed(&mut self, values: &[Value]) -> fmt::Result {
        for (index, &value) in values.iter().enumerate() {
            if index > 0 {
                self.out.write_str(", ")?;
            }
            let ty = self.func.values.get(value).map_or("?", |data| data.ty.word());
            write!(self.out, "{}: {ty}", self.names.value(value))?;
        }
        Ok(())
    }

    /// Results, op, what it needs beside operands, operands, position, bundle.
    fn head(&mut self, inst: Inst) -> fmt::Result {
        let data = &self.func.insts[inst];
        if !data.results.is_empty() {
            self.typed(&data.results)?;
            self.out.write_str(" = ")?;
        }
        self.out.write_str(data.op.name())?;
        let operand_follows_comma = self.imm(inst)?;
        for (index, &arg) in data.args.iter().enumerate() {
            let comma = index > 0 || operand_follows_comma;
            write!(self.out, "{} {}", if comma { "," } else { "" }, self.names.value(arg))?;
        }
        if data.op == Op::Block {
            write!(self.out, " {}", self.names.block(inst))?;
        }
        if data.span != Span::NONE {
            write!(self.out, " !{}:{}", data.span.start, data.span.end)?;
        }
        if let Some(bundle) = data.bundle {
            write!(self.out, " #{}.{}", bundle.id(), bundle.lane())?;
        }
        if let Imm::Bits(bits) = data.imm
            && let Some(result) = data.results.first()
            && let Some(result) = self.func.values.get(*result)
        {
            self.reading(result.ty, bits)?;
        }
        Ok(())
    }

    /// Prints the fixed part; true when an operand after it is separated by a comma.
    fn imm(&mut self, inst: Inst) -> Result<bool, fmt::Error> {
        match self.func.insts[inst].imm {
            Imm::None => return Ok(false),
            Imm::Bits(bits) => write!(self.out, " {bits:#x}")?,
            Imm::Resource(resource) => write!(self.out, " {resource}")?,
            Imm::Mem(access) => self.mem(access)?,
            Imm::BufferAtomic(resource, op) | Imm::ImageAtomic(resource, op) => {
                write!(self.out, " {} {resource}", op.word())?;
            }
            Imm::MemAtomic(access, op) => {
                write!(self.out, " {}", op.word())?;
                self.mem(access)?;
            }
            Imm::Input(input, component) => write!(self.out, " {input}.{component}")?,
            Imm::Output(output, component) => write!(self.out, " {output}.{component}")?,
            Imm::Tex(tex) => {
                write!(self.out, " {} {}", tex.kind.word(), tex.texture)?;
                if let Some(sampler) = tex.sampler.expand() {
                    write!(self.out, " {sampler}")?;
                }
                if tex.projected {
                    write!(self.out, " projected")?;
                }
                if tex.texel {
                    write!(self.out, " texel")?;
                }
                if tex.compare {
                    write!(self.out, " compare")?;
                }
                if tex.kind == TexKind::Gather || tex.component != 0 {
                    write!(self.out, " component {}", tex.component)?;
                }
                if tex.offset != [0; 3] {
                    let [x, y, z] = tex.offset;
                    write!(self.out, " offset {x} {y} {z}")?;
                }
            }
            Imm::Shuffle(which) => write!(self.out, " {}", which.word())?,
            Imm::Reduce(scan, op) => write!(self.out, " {} {}", scan.word(), op.name())?,
            Imm::Query(resource, query) => write!(self.out, " {} {resource}", query.word())?,
            Imm::Label(block) => write!(self.out, " {}", self.names.block(block))?,
            Imm::Barrier { storage, workgroup, texture } => {
                for (set, word) in
                    [(storage, " storage"), (workgroup, " workgroup"), (texture, " texture")]
                {
                    if set {
                        self.out.write_str(word)?;
                    }
                }
            }
        }
        Ok(true)
    }

    fn mem(&mut self, Access { mem, lo, hi }: Access) -> fmt::Result {
        let mem: Mem = mem;
        write!(self.out, " {mem}[{lo}..{hi}]")
    }

    /// A constant as people read it, in a comment.
    fn reading(&mut self, ty: Type, bits: u64) -> fmt::Result {
        match ty {
            Type::B1 => Ok(()),
            Type::B16 => write!(self.out, " ; {:?}", super::numerics::f16_to_f64(bits as u16)),
            Type::B32 => {
                let int = bits as u32 as i32;
                if (-0x10_0000..0x10_0000).contains(&int) {
                    write!(self.out, " ; {int}")
                } else {
                    write!(self.out, " ; {:?}", f32::from_bits(bits as u32))
                }
            }
            Type::B64 => write!(self.out, " ; {:?}", f64::from_bits(bits)),
        }
    }
}

/// A string in quotes with `\"`, `\\` and `\u{...}` for control characters.
pub(crate) struct Quoted<'a>(pub &'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                c if c.is_control() => write!(f, "\\u{{{:x}}}", u32::from(c))?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}
