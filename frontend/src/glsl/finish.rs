//! What the language leaves open: bindings, locations, the block of uniforms that stand in none.

use super::check::{Check, Root, invalid};
use super::layout::Rule;
use super::tree::{Bound, Class, Global, Program};
use super::types::{Form, Member, Opaque, Ty};
use super::variables::{VARIABLES, What};
use crate::Diagnostic;
use crate::growth::{MOST_LOCATIONS, too_many_locations};
use crate::lower::Result;
use crate::stop::Stop;
use gpucc_ir::ssa::Stage;
use gpucc_ir::{Map, Set};
use naga::ScalarKind;
use std::collections::BTreeSet;

/// Notes of what is inferred; of more their number is told.
const MOST_NOTES: usize = 100;
/// Places of uniforms that one note lists.
const MOST_PLACES: usize = 32;

impl<'a> Check<'a, '_> {
    /// The program, once everything is read.
    pub fn finish(mut self) -> Result<Program> {
        let main = self.functions.get("main").and_then(|all| all.first()).copied();
        let Some(main) = main.filter(|&main| self.p.functions[main as usize].body.is_some()) else {
            return Err(Stop::invalid("no function `main` is defined (GLSL 4.60, 6.1)"));
        };
        self.p.main = main;
        self.overrides()?;
        let init = std::mem::take(&mut self.current);
        self.p.functions[0].calls = init.calls;
        self.p.functions[0].callees = init.callees;
        self.p.functions[0].globals = init.globals;
        self.p.functions[0].size = init.size;
        self.colours()?;
        self.lengths()?;
        self.loose()?;
        self.bindings();
        self.locations()?;
        self.comparisons();
        self.formats();
        if let more @ 1.. = self.inferred.saturating_sub(MOST_NOTES) {
            let message = format!("{more} more bindings, locations and formats are inferred");
            self.p.notes.push(Diagnostic::note("inferred", message));
        }
        self.p.invariant = self.p.globals.iter().any(|global| {
            global.invariant && global.builtin.is_some_and(|own| own.name == "gl_Position")
        });
        Ok(self.p)
    }

    /// A text writes one kind of colours: `gl_FragColor`, `gl_FragData`, or outputs of its own (GLSL 4.60, 7.1.5).
    fn colours(&self) -> Result<()> {
        let has = |name: &&str| self.builtins.contains_key(*name);
        let mut kinds = ["gl_FragColor", "gl_FragData"].into_iter().filter(has);
        let (first, second) = (kinds.next(), kinds.next());
        let Some(first) = first.filter(|_| self.dialect.stated) else {
            return Ok(());
        };
        let used = self.p.functions.iter().flat_map(|function| &function.globals);
        let mut used = used.map(|&number| &self.p.globals[number as usize]);
        let own = used.find(|one| one.class == Class::Output && one.builtin.is_none());
        match second.or(own.map(|own| &*own.name)) {
            None => Ok(()),
            Some(other) => {
                let message =
                    format!("`{first}` and `{other}` are written by one text (GLSL 4.60, 7.1.5)");
                invalid(message, self.p.functions[self.p.main as usize].span)
            }
        }
    }

    /// Refuses values of constants that the program does not have.
    fn overrides(&self) -> Result<()> {
        for (wanted, _) in &self.options.overrides {
            let known = |(id, name): &(u32, String)| id.to_string() == *wanted || name == wanted;
            if self.specials.iter().any(known) {
                continue;
            }
            let all: Vec<String> = self
                .specials
                .iter()
                .map(|(id, name)| match &**name {
                    "" => id.to_string(),
                    name => name.to_owned(),
                })
                .collect();
            let known = if all.is_empty() {
                "the shader has no overrides".to_owned()
            } else {
                format!("the shader's overrides are: {}", all.join(", "))
            };
            let message = format!("no override is named or numbered `{wanted}`");
            return Err(Stop::invalid(message).with_note(known));
        }
        Ok(())
    }

    /// Lengths of arrays that their uses say.
    fn lengths(&mut self) -> Result<()> {
        // A member that nothing reaches has one element.
        let mut members: Vec<_> =
            self.reached.iter().map(|(&member, &reached)| (member, reached)).collect();
        for global in &self.p.globals {
            let Ty::Struct(id) = self.p.types.innermost(global.ty) else {
                continue;
            };
            if matches!(global.class, Class::Input | Class::Output) {
                let all = (0..).zip(&self.p.types.structure(id).members);
                let unreached = all.filter(|(_, member)| self.p.types.is_unsized(member.ty));
                members.extend(unreached.map(|(index, _)| ((id, index), 1)));
            }
        }
        for ((id, index), reached) in members {
            let ty = self.p.types.structure(id).members[index as usize].ty;
            if let Some((of, None)) = self.p.types.elements(ty) {
                let ty = self.p.types.array_of(of, Some(reached))?;
                self.p.types.structure_mut(id).members[index as usize].ty = ty;
            }
        }
        for at in 0..self.p.globals.len() {
            let global = &self.p.globals[at];
            let (Ty::Array(id), true) = (global.ty, global.grows) else {
                continue;
            };
            let handles =
                matches!(global.class, Class::Handle | Class::Uniform(_) | Class::Storage(_));
            if handles {
                continue;
            }
            let (of, _) = self.p.types.array(id);
            let length = global.reached.max(1);
            self.p.globals[at].ty = self.p.types.array_of(of, Some(length))?;
        }
        Ok(())
    }

    /// Uniforms outside of blocks, in order, those of the fixed pipeline first.
    fn loose(&mut self) -> Result<()> {
        let mut all: Vec<u32> = VARIABLES
            .iter()
            .filter(|variable| variable.what == What::State)
            .filter_map(|variable| self.builtins.get(variable.name).copied())
            .collect();
        let state = all.len();
        let is_loose =
            |number: &&u32| matches!(self.p.globals[**number as usize].class, Class::Loose(_));
        all.extend(self.order.iter().filter(is_loose));
        if all.is_empty() {
            return Ok(());
        }
        let mut members = Vec::with_capacity(all.len());
        for (index, &number) in all.iter().enumerate() {
            let global = &mut self.p.globals[number as usize];
            global.class = Class::Loose(index as u32);
            let name = match index < state {
                true => global.name.replacen("gl_", "gpucc_", 1),
                false => global.name.clone(),
            };
            let mut member = Member::new(&name, global.ty);
            member.row_major = Some(global.row_major);
            members.push(member);
        }
        let ty = self.p.types.add("gpucc_Uniforms", members)?;
        let binding = self.free();
        self.p.loose = Some((ty, Bound { set: 0, binding }));
        let message =
            "uniforms without a block are members of the block `gpucc_Uniforms`, in order";
        let places = self.offsets(ty);
        self.p.notes.push(Diagnostic::note("uniforms", format!("{message}: {places}")));
        self.note_binding("gpucc_Uniforms", binding);
        Ok(())
    }

    /// Where the members of the block of uniforms lie, as a driver fills it.
    fn offsets(&self, ty: Ty) -> String {
        let Ty::Struct(id) = ty else { return String::new() };
        let laid = self.p.types.laid(id, LOOSE, false);
        let members = &self.p.types.structure(id).members;
        let place = |(at, own): (&u32, &Member)| format!("`{}` at byte {at}", own.name);
        let mut all: Vec<String> =
            laid.offsets.iter().zip(members).take(MOST_PLACES).map(place).collect();
        if let more @ 1.. = members.len().saturating_sub(MOST_PLACES) {
            all.push(format!("{more} more"));
        }
        all.join(", ")
    }

    fn free(&mut self) -> u32 {
        let free = (0..).find(|number| !self.taken.contains(number)).unwrap_or(0);
        self.taken.insert(free);
        free
    }

    fn note_binding(&mut self, what: &str, free: u32) {
        let message = format!("`{what}` has no binding: it gets binding {free} of set 0");
        self.infer("binding", message);
    }

    /// Blocks and handles without a binding: the next free one of set 0.
    fn bindings(&mut self) {
        let mut next = 0;
        for number in std::mem::take(&mut self.unbound) {
            while self.taken.contains(&next) {
                next += 1;
            }
            let binding = next;
            self.taken.insert(binding);
            let global = &mut self.p.globals[number as usize];
            global.bound.binding = binding;
            let name = global.name.clone();
            self.note_binding(&name, binding);
        }
    }

    /// The type of an input without the vertices of a geometry shader.
    fn of_one_vertex(&self, global: &Global) -> Ty {
        match (self.stage, &global.class, global.ty) {
            (Stage::Geometry, Class::Input, Ty::Array(id)) => self.p.types.array(id).0,
            (.., ty) => ty,
        }
    }

    /// Locations that a type takes.
    fn locations_of(&self, ty: Ty) -> u32 {
        let types = &self.p.types;
        if types.count(ty).0 > u64::from(4 * MOST_LOCATIONS) {
            return MOST_LOCATIONS + 1;
        }
        match ty {
            Ty::Struct(id) => types
                .structure(id)
                .members
                .iter()
                .map(|member| self.locations_of(member.ty))
                .fold(0, u32::saturating_add),
            Ty::Matrix(scalar, columns, rows) if scalar.width == 8 && rows > 2 => {
                2 * u32::from(columns)
            }
            Ty::Matrix(_, columns, _) => columns.into(),
            Ty::Vector(scalar, lanes) if scalar.width == 8 && lanes > 2 => 2,
            Ty::Array(id) => {
                let (of, length) = types.array(id);
                self.locations_of(of).saturating_mul(length.unwrap_or(1))
            }
            _ => 1,
        }
    }

    /// Inputs and outputs without a location: the next free ones, those of old first, then in the order of the text.
    fn locations(&mut self) -> Result<()> {
        let old = VARIABLES
            .iter()
            .filter(|variable| {
                matches!(variable.what, What::Attribute | What::Varying | What::Colour)
            })
            .filter(|variable| variable.stages.contains(&self.stage))
            .filter_map(|variable| self.builtins.get(variable.name).copied());
        let all: Vec<u32> = old.chain(self.order.iter().copied()).collect();
        let mut taken: [BTreeSet<u32>; 2] = Default::default();
        let mut without = Vec::new();
        for number in all {
            let global = &self.p.globals[number as usize];
            let side = match global.class {
                Class::Input => 0,
                Class::Output => 1,
                _ => continue,
            };
            let size = self.locations_of(self.of_one_vertex(global));
            if size > MOST_LOCATIONS {
                return Err(too_many_locations(size.into()).at(global.span));
            }
            if let Some(block) = self.stated(global) {
                taken[side].extend(block);
                continue;
            }
            match global.located.location {
                Some(at) => taken[side].extend(at..at.saturating_add(size)),
                None => without.push((side, number, size)),
            }
        }
        for (side, number, size) in without {
            let fits = |at: &u32| (*at..at + size).all(|at| !taken[side].contains(&at));
            let free = (0..MOST_LOCATIONS).find(fits);
            let global = &mut self.p.globals[number as usize];
            let Some(free) = free else {
                return Err(too_many_locations(u64::from(MOST_LOCATIONS) + 1).at(global.span));
            };
            taken[side].extend(free..free + size);
            global.located.location = Some(free);
            let colour = self.stage == Stage::Fragment && side == 1 && global.builtin.is_some();
            if colour {
                if global.name == "gl_SecondaryFragColorEXT" {
                    (global.located.location, global.located.index) = (Some(0), 1);
                }
                continue;
            }
            let what = ["input", "output"][side];
            let name = match global.builtin {
                Some(_) => global.name.replacen("gl_", "gpucc_", 1),
                None => global.name.clone(),
            };
            let message = format!("the {what} `{name}` has no location: it gets {free}");
            self.infer("location", message);
        }
        Ok(())
    }

    /// Locations of a block whose members say them.
    fn stated(&self, global: &Global) -> Option<Vec<u32>> {
        let Ty::Struct(id) = self.p.types.innermost(global.ty) else {
            return None;
        };
        let members = &self.p.types.structure(id).members;
        members.iter().any(|member| member.location.is_some()).then(|| {
            let mut all = Vec::new();
            let mut next = global.located.location.unwrap_or(0);
            for member in members {
                let at = member.location.unwrap_or(next);
                next = at
                    .saturating_add(self.locations_of(member.ty))
                    .min(at.saturating_add(MOST_LOCATIONS));
                all.extend(at..next);
            }
            all
        })
    }

    /// Images without a format: the widest of their kind.
    fn formats(&mut self) {
        for at in 0..self.p.globals.len() {
            let global = &self.p.globals[at];
            if let Ty::Opaque(Opaque::Image(image)) = self.p.types.innermost(global.ty)
                && image.form == Form::Storage
                && global.format.is_none()
            {
                let name = widest(image.texel.kind, global.compared).1;
                let message = format!("`{}` has no format: it is taken for {name}", global.name);
                self.infer("format", message);
            }
        }
    }

    /// Tells what was inferred, as far as somebody would read it.
    pub fn infer(&mut self, code: &'static str, message: String) {
        self.inferred += 1;
        if self.inferred <= MOST_NOTES {
            self.p.notes.push(Diagnostic::note(code, message));
        }
    }

    /// Textures that comparisons use, through parameters too.
    fn comparisons(&mut self) {
        let mut from: Map<Root, Vec<Root>> = Map::default();
        for &(root, parameter) in &self.handed {
            from.entry(parameter).or_default().push(root);
        }
        let mut pending: Vec<Root> = Vec::new();
        for (number, function) in (0..).zip(&self.p.functions) {
            pending.extend(function.compared.iter().map(|&local| Root::Parameter(number, local)));
        }
        let mut seen: Set<Root> = Set::default();
        while let Some(root) = pending.pop() {
            if !seen.insert(root) {
                continue;
            }
            match root {
                Root::Global(number) => self.p.globals[number as usize].compared = true,
                parameter => pending.extend(from.get(&parameter).into_iter().flatten()),
            }
        }
    }
}

/// Whether the texels of a format, by WebGPU's name (none for r64i), are of a kind.
pub fn holds(format: &str, kind: ScalarKind) -> bool {
    let own = match format {
        "" => ScalarKind::Sint,
        _ if format.ends_with("sint") => ScalarKind::Sint,
        _ if format.ends_with("uint") => ScalarKind::Uint,
        _ => ScalarKind::Float,
    };
    own == kind
}

/// The format that an image without one is taken for, and GLSL's name of it.
pub fn widest(kind: ScalarKind, changes: bool) -> (&'static str, &'static str) {
    match (kind, changes) {
        (ScalarKind::Sint, true) => ("r32sint", "r32i"),
        (ScalarKind::Uint, true) => ("r32uint", "r32ui"),
        (ScalarKind::Sint, false) => ("rgba32sint", "rgba32i"),
        (ScalarKind::Uint, false) => ("rgba32uint", "rgba32ui"),
        _ => ("rgba32float", "rgba32f"),
    }
}

/// The rule of the block of uniforms that stand in none.
pub const LOOSE: Rule = Rule::Std140;
