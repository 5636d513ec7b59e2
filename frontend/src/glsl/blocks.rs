//! Semantic analysis of blocks, and of qualifiers that stand alone.

use super::ast;
use super::check::{ANY, Check, Symbol, invalid};
use super::layout::{Packing, Rule};
use super::qualifiers::{Layout, varying};
use super::tree::{Class, Global};
use super::types::Ty;
use super::variables;
use crate::lower::Result;
use crate::lower::quads::Quads;
use crate::special::Kind;
use crate::stop::Stop;
use gpucc_ir::ssa::{Corners, Emits, Span, Stage};

impl<'a> Check<'a, '_> {
    /// `layout(...) in;`, `invariant gl_Position;`
    pub fn qualified(
        &mut self,
        qualifiers: &ast::Qualifiers<'a>,
        names: &[(&'a str, Span)],
    ) -> Result<()> {
        let at = qualifiers.words.first().map_or(Span::NONE, |(_, span)| *span);
        let layout = self.layout(qualifiers)?;
        let at = qualifiers.layout.first().map_or(at, |item| item.span);
        if let Some(what) = layout.lacking {
            return Err(super::lacking(what).at(at));
        }
        if layout.reference {
            return names
                .iter()
                .try_for_each(|&(name, span)| self.pointer_type(name, span).map(|_| ()));
        }
        for &(name, span) in names {
            let found = match self.symbol(name) {
                Some(&Symbol::Global(number)) => Some(number),
                Some(&Symbol::Member(number, _)) => Some(number),
                Some(_) => continue,
                None => match variables::find(name, self.stage) {
                    Some(variable) => Some(self.builtin(variable, span)?),
                    None => None,
                },
            };
            let Some(number) = found else {
                return invalid(format!("`{name}` is not declared"), span);
            };
            self.p.globals[number as usize].invariant |= qualifiers.has("invariant");
        }
        self.p.early_tests |= layout.early_tests;
        if layout.quads != Quads::None {
            self.p.quads = layout.quads;
        }
        self.primitives(qualifiers, &layout, at)?;
        let slot = match (qualifiers.has("uniform"), qualifiers.has("buffer")) {
            (true, _) => Some(0),
            (_, true) => Some(1),
            _ => None,
        };
        if let Some(slot) = slot {
            let default = &mut self.defaults[slot];
            default.0 = layout.rule.unwrap_or(default.0);
            default.1 = layout.row_major.unwrap_or(default.1);
        }
        for axis in 0..3 {
            if let Some(size) = layout.local_size[axis] {
                if std::mem::replace(&mut self.sized[axis], true) && self.p.workgroup[axis] != size
                {
                    let message = "the workgroup has another size already (GLSL 4.60, 4.4.1.1)";
                    return invalid(message, at);
                }
                self.p.workgroup[axis] = size;
            }
            if let Some(id) = layout.local_size_id[axis] {
                self.specials.push((id, String::new()));
                let number = id.to_string();
                if let Some((_, value)) =
                    self.options.overrides.iter().find(|(own, _)| *own == number)
                {
                    if !Kind::Int(32).admits(*value) {
                        return Err(Kind::Int(32).wrong(&number, *value).at(at));
                    }
                    self.p.workgroup[axis] = *value as i64 as u32;
                }
            }
        }
        let sizes = layout.local_size.iter().chain(&layout.local_size_id).any(Option::is_some);
        if sizes && self.stage != Stage::Compute {
            return invalid(
                "a workgroup size stands outside of a compute shader (GLSL 4.60, 4.4.1.1)",
                at,
            );
        }
        if sizes {
            self.p.workgroup = crate::lower::entry::workgroup_size(self.p.workgroup)
                .map_err(|stop| stop.at(at))?;
        }
        Ok(())
    }

    /// What a geometry shader takes and emits. Inputs that have no length yet have that of the primitive.
    fn primitives(
        &mut self,
        qualifiers: &ast::Qualifiers<'a>,
        layout: &Layout<'a>,
        at: Span,
    ) -> Result<()> {
        let said = &mut self.p.primitives;
        let before = *said;
        let misplaced = layout.max_vertices.is_some() && !qualifiers.has("out")
            || layout.invocations.is_some() && !qualifiers.has("in");
        if misplaced {
            let message = "`max_vertices` qualifies `out`, and `invocations` `in` (GLSL 4.60, 4.4.1.2 and 4.4.2.2)";
            return invalid(message, at);
        }
        let (takes, emits) = match (layout.primitive, qualifiers.has("in")) {
            (None, _) => (None, None),
            (Some(word), true) => (Corners::by_word(word), None),
            (Some(word), false) => (None, Emits::by_word(word)),
        };
        if let (Some(word), None, None) = (layout.primitive, takes, emits) {
            let message = format!(
                "`{word}` stands on the other side of a geometry shader (GLSL 4.60, 4.4.1.2 and 4.4.2.2)"
            );
            return invalid(message, at);
        }
        said.takes = takes.or(said.takes);
        said.emits = emits.or(said.emits);
        said.most = layout.max_vertices.or(said.most);
        said.invocations = layout.invocations.or(said.invocations);
        let twice = before.takes.is_some_and(|before| Some(before) != said.takes)
            || before.emits.is_some_and(|before| Some(before) != said.emits)
            || before.most.is_some_and(|before| Some(before) != said.most)
            || before.invocations.is_some_and(|before| Some(before) != said.invocations);
        if twice {
            let message =
                "a geometry shader says something else already (GLSL 4.60, 4.4.1.2 and 4.4.2.2)";
            return invalid(message, at);
        }
        if takes.is_none() {
            return Ok(());
        }
        for number in 0..self.p.globals.len() {
            let global = &self.p.globals[number];
            if global.class == Class::Input && global.builtin.is_none() {
                let (ty, name, span) = (global.ty, global.name.clone(), global.span);
                let ty = self.of_vertices(ty, &name, span)?;
                let global = &mut self.p.globals[number];
                (global.ty, global.grows) = (ty, false);
            }
        }
        Ok(())
    }

    /// A block.
    pub fn block(&mut self, block: &ast::Block<'a>) -> Result<()> {
        let qualifiers = &block.qualifiers;
        let layout = self.layout(qualifiers)?;
        if let Some(what) = layout.lacking {
            return Err(super::lacking(what).at(block.span));
        }
        let storage = self.storage(qualifiers, block.span)?;
        if block.name == "gl_PerVertex" {
            return self.per_vertex(block);
        }
        self.check_name(block.name, block.span)?;
        let known = self.blocks.insert((storage, block.name));
        if !known && self.dialect.stated {
            let message =
                format!("`{}` names two blocks of one interface (GLSL 4.60, 4.3.9)", block.name);
            return invalid(message, block.span);
        }
        if !layout.reference {
            let variable = self.scopes[0].contains_key(block.name);
            if self.dialect.stated && (variable || self.functions.contains_key(block.name)) {
                return invalid(format!("`{}` is declared already", block.name), block.span);
            }
            self.blocks.insert((ANY, block.name));
        }
        for member in &block.members {
            let of_storage = |word: &str| {
                let other = ["uniform", "buffer", "in", "out", "attribute", "varying"];
                word != storage && other.contains(&word)
            };
            if let Some(&(word, at)) =
                member.qualifiers.words.iter().find(|(word, _)| of_storage(word))
            {
                let message = format!(
                    "`{word}` qualifies no member of a block of `{storage}` (GLSL 4.60, 4.3.9)"
                );
                return invalid(message, at);
            }
            if let ast::Base::Struct(..) = member.ty.base {
                let message = "a structure is not defined within a block (GLSL 4.60, 4.3.9)";
                return invalid(message, member.ty.span);
            }
            for one in &member.declared {
                self.check_name(one.name, one.span)?;
            }
        }
        let pointers = match layout.reference {
            true if storage != "buffer" || block.instance.is_some() => {
                let message = "a block of pointers is a buffer without a name of its own (GL_EXT_buffer_reference)";
                return invalid(message, block.span);
            }
            true => Some(self.pointer_type(block.name, block.span)?),
            false => None,
        };
        let mut members = self.members(&block.members, true)?;
        if members.is_empty() {
            return invalid(format!("the block `{}` has no members", block.name), block.span);
        }
        let is_buffer = storage == "buffer";
        for (at, member) in members.iter().enumerate() {
            if self.p.types.is_opaque(member.ty) {
                let message = format!(
                    "`{}`: a texture or sampler stands in a block (GLSL 4.60, 4.3.9)",
                    member.name
                );
                return invalid(message, block.span);
            }
            let last = at + 1 == members.len();
            let tail_only = match self.p.types.elements(member.ty) {
                Some((of, None)) => !self.p.types.is_unsized(of),
                _ => !self.p.types.is_unsized(member.ty),
            };
            let between = matches!(storage, "in" | "out") && tail_only;
            if self.p.types.is_unsized(member.ty) && !(is_buffer && last && tail_only) && !between {
                let message = format!(
                    "`{}`: an array without a length ends a buffer (GLSL 4.60, 4.1.9)",
                    member.name
                );
                return invalid(message, block.span);
            }
        }
        let defaults = self.defaults[usize::from(is_buffer)];
        let rule = layout.rule.unwrap_or(defaults.0);
        let class = match storage {
            "uniform" if layout.push => Class::Push(layout.rule.unwrap_or(Rule::Std430)),
            "uniform" => Class::Uniform(rule),
            "buffer" => Class::Storage(rule),
            "shared" if self.dialect.has("shared_memory_block") => {
                Class::SharedBlock(layout.rule.unwrap_or(Rule::Std430))
            }
            "shared" => {
                let message = format!(
                    "the block `{}` of shared memory needs GL_EXT_shared_memory_block",
                    block.name
                );
                return invalid(message, block.span);
            }
            "in" => Class::Input,
            "out" => Class::Output,
            _ => {
                return invalid(
                    format!("the block `{}` is neither uniform, buffer, in nor out", block.name),
                    block.span,
                );
            }
        };
        if matches!(class, Class::Input | Class::Output) {
            if self.stage == Stage::Compute {
                return invalid(
                    "a compute shader has no inputs and outputs of its own (GLSL 4.60, 4.3.4)",
                    block.span,
                );
            }
            // Those of fragment shaders are written by texts that other readers take.
            if self.stage == Stage::Vertex && class == Class::Input {
                let message = format!(
                    "`{}` is an `in` block of a vertex shader, which has none (GLSL 4.60, 4.3.9)",
                    block.name
                );
                return invalid(message, block.span);
            }
            let own = varying(qualifiers);
            for member in &mut members {
                let varying = &mut member.varying;
                varying.flat |= own.flat;
                varying.linear |= own.linear;
                varying.centroid |= own.centroid;
                varying.sample |= own.sample;
            }
            let inputs = members.iter().filter(|one| class == Class::Input && !one.varying.flat);
            for member in inputs {
                self.check_flat(member.ty, &member.name, block.span)?;
            }
        }
        if let Some(align) = layout.align {
            for member in &mut members {
                member.align = member.align.or(Some(align));
            }
        }
        let whole_read_only = !members.is_empty() && members.iter().all(|member| member.read_only);
        let base = self.p.types.add(block.name, members).map_err(|stop| stop.at(block.span))?;
        if let Class::Uniform(rule)
        | Class::Storage(rule)
        | Class::Push(rule)
        | Class::SharedBlock(rule) = class
        {
            self.check_offsets(base, rule, block.span)?;
        }
        if let Some(pointers) = pointers {
            let row_major = layout.row_major.unwrap_or(defaults.1);
            let packing = Packing::of(layout.rule.unwrap_or(Rule::Std430), row_major);
            let Ty::Struct(own) = base else {
                return Err(Stop::internal("a block is a structure"));
            };
            let known = &mut self.p.types.references[pointers];
            if known.block.is_some() {
                let message = format!("`{}` is declared already", block.name);
                return invalid(message, block.span);
            }
            known.block = Some((own, packing));
            known.align = layout.reference_align.unwrap_or(16);
            return Ok(());
        }
        let ty = match &block.instance {
            Some(instance) => self.array(base, &instance.lengths, instance.span)?,
            None => base,
        };
        let ty = match class {
            Class::Input => self.of_vertices(ty, block.name, block.span)?,
            _ => ty,
        };
        self.check_size(ty, block.span)?;
        let mut global = Global::new(block.name, ty, class.clone(), block.span);
        global.row_major = layout.row_major.unwrap_or(defaults.1);
        global.read_only = qualifiers.has("readonly") || whole_read_only;
        global.write_only = qualifiers.has("writeonly");
        global.located.location = layout.location;
        let number = self.p.globals.len() as u32;
        if matches!(class, Class::Uniform(_) | Class::Storage(_)) {
            self.bind(number, &mut global, &layout);
        }
        self.p.globals.push(global);
        self.order.push(number);
        match &block.instance {
            Some(instance) => {
                self.check_name(instance.name, instance.span)?;
                self.declare(instance.name, Symbol::Global(number), instance.span)?;
            }
            None => {
                let declared = block.members.iter().flat_map(|member| &member.declared);
                let found: Vec<(&'a str, Span)> =
                    declared.map(|one| (one.name, one.span)).collect();
                for (index, (name, span)) in (0..).zip(found) {
                    self.declare(name, Symbol::Member(number, index), span)?;
                }
            }
        }
        Ok(())
    }

    /// The number of the type of pointers that a name is, which may be declared before its block is.
    fn pointer_type(&mut self, name: &'a str, span: Span) -> Result<usize> {
        if let Some(Symbol::Type(Ty::Reference(id))) = self.symbol(name) {
            return Ok(id.number());
        }
        let ty = self.p.types.add_reference(name);
        self.declare(name, Symbol::Type(ty), span)?;
        Ok(self.p.types.references.len() - 1)
    }

    /// Offsets are multiples of alignments (GLSL 4.60, 4.4.5). Vulkan lets members stand in any order.
    fn check_offsets(&self, ty: Ty, rule: Rule, span: Span) -> Result<()> {
        let Ty::Struct(id) = ty else {
            return Ok(());
        };
        let laid = self.p.types.laid(id, rule, false);
        for (member, &at) in self.p.types.structure(id).members.iter().zip(&laid.offsets) {
            if member.align.is_none() && member.offset.is_some_and(|offset| offset != at) {
                let name = &member.name;
                let message = format!(
                    "the offset of `{name}` is no multiple of its alignment (GLSL 4.60, 4.4.5)"
                );
                return invalid(message, span);
            }
        }
        Ok(())
    }

    /// `in gl_PerVertex { vec4 gl_Position; float gl_ClipDistance[2]; } gl_in[];` says lengths of arrays.
    fn taken_vertices(&mut self, block: &ast::Block<'a>) -> Result<()> {
        let ty = self.vertices(block.span)?;
        let Ty::Struct(vertex) = self.p.types.innermost(ty) else {
            return Err(Stop::internal("a vertex is a structure"));
        };
        for member in &block.members {
            let base = self.type_of(&member.ty)?;
            for declared in &member.declared {
                let ty = self.array(base, &declared.lengths, declared.span)?;
                let Some(index) = self.p.types.structure(vertex).find(declared.name) else {
                    let message = format!("`{}` is no member of gl_PerVertex here", declared.name);
                    return invalid(message, declared.span);
                };
                let own = self.p.types.structure(vertex).members[index as usize].ty;
                let fits = match (self.p.types.elements(own), self.p.types.elements(ty)) {
                    (Some((of, None)), Some((element, _))) => of == element,
                    _ => own == ty,
                };
                if !fits {
                    let message = format!(
                        "`{}` is declared with another type (GLSL 4.60, 7.1.4)",
                        declared.name
                    );
                    return invalid(message, declared.span);
                }
                self.check_size(ty, declared.span)?;
                self.p.types.structure_mut(vertex).members[index as usize].ty = ty;
            }
        }
        Ok(())
    }

    /// `out gl_PerVertex { vec4 gl_Position; };` chooses among the built-in outputs, and says lengths of arrays.
    fn per_vertex(&mut self, block: &ast::Block<'a>) -> Result<()> {
        if self.stage == Stage::Geometry && block.qualifiers.has("in") {
            return self.taken_vertices(block);
        }
        for member in &block.members {
            let base = self.type_of(&member.ty)?;
            for declared in &member.declared {
                let ty = self.array(base, &declared.lengths, declared.span)?;
                if variables::find(declared.name, self.stage).is_none() {
                    let message = format!("`{}` is no member of gl_PerVertex here", declared.name);
                    return invalid(message, declared.span);
                }
                self.redeclare(declared, ty, &member.qualifiers)?;
            }
        }
        Ok(())
    }
}
