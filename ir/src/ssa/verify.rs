//! The verifier: what every pass may rely on and must keep.
//!
//! # Invariants
//! 1. Every region that the body reaches ends in a terminator, and holds no other.
//! 2. A region has one owner, an instruction one place.
//! 3. A value is used only within the region of its definition (nested regions included), after it.
//! 4. Operand and result counts and types are those of the op ([`Op`], [`super::Sig`]); constants fit their
//!    type.
//! 5. The immediate is of the op's kind, and what it names exists. Texel offsets are
//!    [`TEXEL_OFFSETS`], components below 4. Only storage buffers are written.
//! 6. `if` owns two regions without parameters, `block` one without parameters, `loop` two: the
//!    body's parameters have the types of the initial values. No other op owns regions.
//! 7. `yield` ends only regions of an `if`, of a `block` and the body of the function, with the
//!    types of the owner's results (none for the function).
//! 8. `break` and `continue` stand inside a loop's body with no `continuing` of that loop in
//!    between, and carry the types of its results and of the parameters of its `continuing`.
//! 9. `next` and `break_if` end `continuing` itself and nothing else, and carry the types of the
//!    body's parameters, `break_if` first its condition and the loop's results.
//! 10. `exit` names a `block` that encloses it, without a `continuing` in between whose loop the
//!     block encloses, and carries the types of its results. Likewise no `break` or `continue`
//!     leaves a `continuing`.
//! 11. Accesses to a variable stay within it: `lo < hi <= size`, and a constant address is in
//!     `lo..hi`, so that each value that moves lies at a multiple of its bytes, 4 at most.
//! 12. Stage inputs and outputs have 1 to 4 components, and ops name existing ones. Built-in ones
//!     have no more than the pipeline makes or takes. A location is one output's, or one input's for each place of the pixel. Clip and cull distances lie in one of the two
//!     rows of four. Quad ops stand in fragment programs only; barriers and workgroup variables in
//!     compute programs only.
//! 13. Nesting is at most [`MAX_NESTING`] deep.
//! 14. A workgroup has at least one invocation and at most [`MAX_WORKGROUP`].
//! 15. Unless the function is [`Trusted`](Bounds::Trusted), each access is proved in range, or its
//!     address is made of `index` results whose lengths keep it in range: see [`bounds`].
//! 16. A geometry program says what it takes and emits, and no other program does. It emits at most
//!     [`MAX_EMITTED`] vertices in 1 to [`MAX_INVOCATIONS`] invocations. Inputs of vertices are
//!     those of its primitive, and only geometry programs emit vertices and end primitives.
//!
//! Two walks, linear in the size of the function. `shape` has what 4 and 5 ask of each op.

pub mod bounds;
mod shape;

pub use shape::wrong_address;

use super::func::{
    Bounds, Func, Geometry, Imm, Inst, InstData, MemSpace, Region, Stage, Type, Value, ValueDef,
};
use super::op::{Flags, Op};
use super::print::Names;
use super::resource::{Builtin, InputKind, MOST_DISTANCES, OutputKind, Part};
use crate::Set;
use cranelift_entity::{EntityRef, EntitySet, SecondaryMap};
use smallvec::SmallVec;

/// Deepest nesting of regions: the front end's limit on source nesting times the constructs that
/// one level of source makes.
pub const MAX_NESTING: u32 = 1024;

/// Most invocations of a workgroup: well above what any machine runs, so that counting them never
/// overflows.
pub const MAX_WORKGROUP: u32 = 1 << 16;

/// Most vertices that an invocation of a geometry program emits: above what any API guarantees.
pub const MAX_EMITTED: u32 = 1024;

/// Most invocations of a geometry program for each primitive.
pub const MAX_INVOCATIONS: u32 = 128;

/// A broken invariant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{func}: invariant {invariant}: {what}{}{line}", if .line.is_empty() { "" } else { ": " })]
pub struct Broken {
    /// Function name.
    pub func: String,
    /// Where, if it is an instruction's fault.
    pub inst: Option<Inst>,
    /// The instruction as it stands in the function's text, or nothing.
    pub line: String,
    /// Number in the list above.
    pub invariant: u8,
    /// What is wrong.
    pub what: String,
}

/// Checks every invariant.
///
/// # Errors
/// The first that is broken.
pub fn verify(func: &Func) -> Result<(), Broken> {
    let mut verifier = Verifier::new(func);
    verifier.seen_insts = vec![false; func.insts.len()];
    verifier.seen_regions = EntitySet::with_capacity(func.regions.len());
    verifier.visible = vec![false; func.values.len()];
    verifier.func()?;
    match func.bounds {
        Bounds::Marked => bounds::check(func),
        Bounds::Trusted => Ok(()),
    }
}

/// A region that encloses the current place.
struct Scope {
    region: Region,
    owner: Option<Inst>,
}

struct Verifier<'f> {
    func: &'f Func,
    owners: SecondaryMap<Region, Option<Inst>>,
    /// By number.
    seen_insts: Vec<bool>,
    seen_regions: EntitySet<Region>,
    /// By number: defined in a region around the place, and before it.
    visible: Vec<bool>,
    scopes: Vec<Scope>,
}

type Check = Result<(), Broken>;

impl<'f> Verifier<'f> {
    fn new(func: &'f Func) -> Verifier<'f> {
        Verifier {
            func,
            owners: SecondaryMap::new(),
            seen_insts: Vec::new(),
            seen_regions: EntitySet::new(),
            visible: Vec::new(),
            scopes: Vec::new(),
        }
    }
}

impl Verifier<'_> {
    fn broken(&self, inst: Option<Inst>, invariant: u8, what: impl Into<String>) -> Broken {
        Broken {
            func: self.func.name.clone(),
            inst,
            line: inst.map_or_else(String::new, |inst| Names::new(self.func).inst(self.func, inst)),
            invariant,
            what: what.into(),
        }
    }

    fn require(&self, ok: bool, inst: Inst, invariant: u8, what: impl FnOnce() -> String) -> Check {
        if ok { Ok(()) } else { Err(self.broken(Some(inst), invariant, what())) }
    }

    fn components(&self, kind: &str, name: &str, count: u8, most: u8) -> Check {
        if (1..=most).contains(&count) {
            return Ok(());
        }
        let what = format!("{kind} {name} has {count} components, where it has 1 to {most}");
        Err(self.broken(None, 12, what))
    }

    /// Takes a location, which nothing else has.
    fn location(&self, taken: &mut Set<(u32, u8)>, kind: &str, place: (u32, u8)) -> Check {
        if taken.insert(place) {
            return Ok(());
        }
        Err(self.broken(None, 12, format!("two {kind}s have location {}", place.0)))
    }

    /// What a geometry program says of itself.
    fn geometry(&self) -> Result<Option<Geometry>, Broken> {
        let geometry = self.func.geometry;
        if geometry.is_some() != (self.func.stage == Stage::Geometry) {
            let what = "what it takes and emits is said of geometry programs, and of each of them";
            return Err(self.broken(None, 16, what));
        }
        let fits = |it: Geometry| {
            it.most <= MAX_EMITTED && (1..=MAX_INVOCATIONS).contains(&it.invocations)
        };
        if !geometry.is_none_or(fits) {
            let what = format!(
                "a geometry program emits more than {MAX_EMITTED} vertices, or has not 1 to {MAX_INVOCATIONS} invocations"
            );
            return Err(self.broken(None, 16, what));
        }
        Ok(geometry)
    }

    fn func(mut self) -> Check {
        let mut taken = Set::default();
        let geometry = self.geometry()?;
        for input in self.func.inputs.values() {
            let most = match input.kind {
                InputKind::Builtin(builtin) => builtin.components(),
                InputKind::Location { location, sampling, .. } => {
                    self.location(&mut taken, "input", (location, sampling as u8))?;
                    4
                }
                InputKind::Corner { vertex, part } => {
                    if geometry.is_none_or(|geometry| vertex >= geometry.takes.count()) {
                        let what = format!("input {} is of no vertex of a primitive", input.name);
                        return Err(self.broken(None, 16, what));
                    }
                    match part {
                        Part::Builtin(builtin) => builtin.components(),
                        Part::Location(location) => {
                            self.location(&mut taken, "input", (location, vertex))?;
                            4
                        }
                    }
                }
            };
            self.components("input", &input.name, input.components, most)?;
        }
        let size = self.func.workgroup_size.map(u64::from);
        let size = size.iter().try_fold(1, |product: u64, n| product.checked_mul(*n));
        if !size.is_some_and(|size| (1..=u64::from(MAX_WORKGROUP)).contains(&size)) {
            let what = format!(
                "a workgroup of {:?} does not have 1 to {MAX_WORKGROUP} invocations",
                self.func.workgroup_size
            );
            return Err(self.broken(None, 14, what));
        }
        if self.func.stage != Stage::Compute
            && self.func.mems.values().any(|mem| mem.space == MemSpace::Workgroup)
        {
            return Err(self.broken(None, 12, "a workgroup variable outside of compute"));
        }
        for (mem, data) in &self.func.mems {
            let words = match data.space {
                MemSpace::Constant => data.size as usize / 4,
                MemSpace::Private | MemSpace::Workgroup => 0,
            };
            if data.words.len() != words {
                let what = format!("{mem} comes with {} words, not {words}", data.words.len());
                return Err(self.broken(None, 11, what));
            }
        }
        taken.clear();
        for output in self.func.outputs.values() {
            let most = match output.kind {
                OutputKind::Builtin(builtin) => builtin.components(),
                OutputKind::Location { location, blend_src, .. } => {
                    self.location(&mut taken, "output", (location, blend_src))?;
                    4
                }
            };
            self.components("output", &output.name, output.components, most)?;
            if let OutputKind::Builtin(Builtin::ClipDistance(first) | Builtin::CullDistance(first)) =
                output.kind
                && (first >= MOST_DISTANCES || first % 4 + output.components > 4)
            {
                let what = format!("output {} lies in neither row of distances", output.name);
                return Err(self.broken(None, 12, what));
            }
        }
        self.region(self.func.body, None)
    }

    /// Walks a region and those within it; recursion is bounded by [`MAX_NESTING`].
    fn region(&mut self, region: Region, owner: Option<Inst>) -> Check {
        let func = self.func;
        if !func.regions.is_valid(region) {
            return Err(self.broken(owner, 2, format!("{region} does not exist")));
        }
        if !self.seen_regions.insert(region) {
            return Err(self.broken(owner, 2, format!("{region} has two owners")));
        }
        if self.scopes.len() as u32 >= MAX_NESTING {
            return Err(self.broken(owner, 13, format!("regions nest deeper than {MAX_NESTING}")));
        }
        self.owners[region] = owner;
        self.scopes.push(Scope { region, owner });
        for (index, &param) in func.regions[region].params.iter().enumerate() {
            if !func.values.is_valid(param)
                || func.values[param].def != ValueDef::Param(region, index as u16)
            {
                return Err(self.broken(
                    owner,
                    3,
                    format!("parameter {index} of {region} is another's value"),
                ));
            }
            self.define(param);
        }
        let insts = &func.regions[region].insts;
        let Some((&last, straight)) = insts.split_last() else {
            return Err(self.broken(owner, 1, format!("{region} is empty")));
        };
        for &inst in straight {
            let misplaced = func.insts.is_valid(inst) && func.insts[inst].op.is_terminator();
            if misplaced {
                return Err(self.broken(
                    Some(inst),
                    1,
                    "a terminator before the end of its region",
                ));
            }
            self.inst(inst)?;
        }
        if !func.insts.is_valid(last) || !func.insts[last].op.is_terminator() {
            return Err(self.broken(owner, 1, format!("{region} does not end in a terminator")));
        }
        self.inst(last)?;
        self.scopes.pop();
        // What was defined here is out of sight.
        for &param in &func.regions[region].params {
            self.visible[param.index()] = false;
        }
        for &inst in insts {
            for &result in &func.insts[inst].results {
                self.visible[result.index()] = false;
            }
        }
        Ok(())
    }

    fn define(&mut self, value: Value) {
        self.visible[value.index()] = true;
    }

    fn inst(&mut self, inst: Inst) -> Check {
        let func = self.func;
        if !func.insts.is_valid(inst) {
            return Err(self.broken(None, 2, format!("{inst} does not exist")));
        }
        if std::mem::replace(&mut self.seen_insts[inst.index()], true) {
            return Err(self.broken(Some(inst), 2, "stands in two places"));
        }
        let data = &func.insts[inst];
        for &arg in &data.args {
            if self.visible.get(arg.index()) != Some(&true) {
                return Err(self.broken(Some(inst), 3, format!("{arg} is not visible here")));
            }
        }
        for (index, &result) in data.results.iter().enumerate() {
            if !func.values.is_valid(result)
                || func.values[result].def != ValueDef::Result(inst, index as u16)
            {
                return Err(self.broken(
                    Some(inst),
                    3,
                    format!("result {index} is another's value"),
                ));
            }
        }
        if data.op.is_terminator() {
            self.terminator(inst, data)?;
        } else if data.op.flags().has(Flags::REGIONS) {
            self.construct(inst, data)?;
        } else {
            self.require(data.regions.is_empty(), inst, 6, || "owns regions".into())?;
            self.shape(inst, data)?;
        }
        for &result in &data.results {
            self.define(result);
        }
        Ok(())
    }

    fn types(&self, values: &[Value]) -> SmallVec<[Type; 8]> {
        let mut types = SmallVec::new();
        for &value in values {
            types.push(self.func.ty(value));
        }
        types
    }

    fn same(&self, inst: Inst, invariant: u8, what: &str, got: &[Value], want: &[Value]) -> Check {
        let equal = got.len() == want.len()
            && got.iter().zip(want).all(|(&got, &want)| self.func.ty(got) == self.func.ty(want));
        self.require(equal, inst, invariant, || {
            format!("carries {:?} where {what} is {:?}", self.types(got), self.types(want))
        })
    }

    fn construct(&mut self, inst: Inst, data: &InstData) -> Check {
        let func = self.func;
        let expected = if data.op == Op::Block { 1 } else { 2 };
        self.require(data.regions.len() == expected, inst, 6, || {
            format!("owns {} regions, not {expected}", data.regions.len())
        })?;
        self.require(matches!(data.imm, Imm::None), inst, 5, || "takes no immediate".into())?;
        for &region in &data.regions {
            self.require(func.regions.is_valid(region), inst, 6, || {
                format!("{region} does not exist")
            })?;
        }
        match data.op {
            Op::If => self.require(
                data.args.len() == 1 && func.ty(data.args[0]) == Type::B1,
                inst,
                4,
                || "takes one condition".into(),
            )?,
            Op::Loop => {
                let params = &func.regions[data.regions[0]].params;
                self.same(inst, 6, "the body's parameters", &data.args, params)?;
            }
            _ => self.require(data.args.is_empty(), inst, 4, || "takes no operands".into())?,
        }
        if data.op != Op::Loop {
            for &region in &data.regions {
                self.require(func.regions[region].params.is_empty(), inst, 6, || {
                    format!("{region} has parameters")
                })?;
            }
        }
        for &region in &data.regions {
            self.region(region, Some(inst))?;
        }
        Ok(())
    }

    fn terminator(&self, inst: Inst, data: &InstData) -> Check {
        let func = self.func;
        self.require(data.results.is_empty() && data.regions.is_empty(), inst, 4, || {
            "a terminator has no results and no regions".into()
        })?;
        let label = matches!(data.imm, Imm::Label(_));
        self.require(
            label == (data.op == Op::Exit) && (label || matches!(data.imm, Imm::None)),
            inst,
            5,
            || "has the wrong kind of immediate".into(),
        )?;
        let scope = self.scopes.last().expect("a terminator stands in a region");
        let owner = scope.owner;
        let in_continuing = owner
            .filter(|&o| func.insts[o].op == Op::Loop && func.insts[o].regions[1] == scope.region);
        match data.op {
            Op::Yield => match owner {
                None => self.require(data.args.is_empty(), inst, 7, || {
                    "the function has no results".into()
                }),
                Some(owner) => {
                    let owner = &func.insts[owner];
                    self.require(owner.op != Op::Loop, inst, 7, || {
                        "ends a region of a loop".into()
                    })?;
                    self.same(inst, 7, "the owner's results", &data.args, &owner.results)
                }
            },
            Op::Break | Op::Continue => {
                let target = self
                    .innermost_loop()
                    .ok_or_else(|| self.broken(Some(inst), 8, "stands in no loop's body"))?;
                let target = &func.insts[target];
                if data.op == Op::Break {
                    self.same(inst, 8, "the loop's results", &data.args, &target.results)
                } else {
                    let params = &func.regions[target.regions[1]].params;
                    self.same(inst, 8, "the parameters of continuing", &data.args, params)
                }
            }
            Op::Next | Op::BreakIf => {
                let Some(target) = in_continuing else {
                    return Err(self.broken(Some(inst), 9, "does not end continuing"));
                };
                let target = &func.insts[target];
                let params = &func.regions[target.regions[0]].params;
                if data.op == Op::Next {
                    return self.same(inst, 9, "the body's parameters", &data.args, params);
                }
                let condition = data.args.first().is_some_and(|&c| func.ty(c) == Type::B1);
                self.require(condition && data.args.len() > target.results.len(), inst, 9, || {
                    "takes a condition, the loop's results and the body's parameters".into()
                })?;
                let (results, next) = data.args[1..].split_at(target.results.len());
                self.same(inst, 9, "the loop's results", results, &target.results)?;
                self.same(inst, 9, "the body's parameters", next, params)
            }
            Op::Exit => {
                let Imm::Label(block) = data.imm else {
                    return Err(self.broken(Some(inst), 5, "names no block"));
                };
                self.require(self.encloses(block), inst, 10, || {
                    format!("{block} is no block that may be left from here")
                })?;
                self.same(inst, 10, "the block's results", &data.args, &func.insts[block].results)
            }
            _ => self.require(data.args.is_empty(), inst, 4, || "takes no operands".into()),
        }
    }

    /// The loop that `break` and `continue` target here: none across a `continuing`.
    fn innermost_loop(&self) -> Option<Inst> {
        for scope in self.scopes.iter().rev() {
            let Some(owner) = scope.owner else { continue };
            let data = &self.func.insts[owner];
            if data.op == Op::Loop {
                return (data.regions[0] == scope.region).then_some(owner);
            }
        }
        None
    }

    fn encloses(&self, block: Inst) -> bool {
        for scope in self.scopes.iter().rev() {
            let Some(owner) = scope.owner else { continue };
            let data = &self.func.insts[owner];
            if owner == block {
                return data.op == Op::Block;
            }
            if data.op == Op::Loop && data.regions[1] == scope.region {
                return false;
            }
        }
        false
    }
}

#[cfg(test)]
mod bounds_tests;
#[cfg(test)]
mod mutations;
#[cfg(test)]
mod tests;
