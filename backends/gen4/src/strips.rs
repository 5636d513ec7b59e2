//! What follows each vertex that a geometry program emits. The entry of a vertex says whether it is the last one of its strip, and
//! that is known behind it. isa/gen4-pipeline.md 4.4.

use gpucc_ir::ssa::{Emits, Func, Imm, Inst, Op, Output, Region};
use std::collections::{BTreeMap, BTreeSet};

/// What follows a vertex.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Another one of its strip.
    Vertex,
    /// The end of its strip.
    End,
    /// One of both: its entry stays open until it is known.
    Unknown,
}

/// What is known of a program's vertices before it runs.
#[derive(Clone, Debug, Default)]
pub struct Strips {
    /// Of each vertex.
    next: BTreeMap<Inst, Next>,
    /// Ends of strips that a vertex before them knows of.
    told: BTreeSet<Inst>,
    /// More vertices may be emitted than there may be.
    pub counted: bool,
    /// Entries may stay open.
    pub deferred: bool,
}

impl Strips {
    /// Looks at a program.
    pub fn of(func: &Func) -> Strips {
        let Some(geometry) = func.geometry else { return Strips::default() };
        let mut strips = Strips {
            counted: most(func, func.body).is_none_or(|most| most > u64::from(geometry.most)),
            ..Strips::default()
        };
        let points = geometry.emits == Emits::Points;
        let emitting = emitting(func);
        for (region, ..) in func.regions_in_order() {
            // From the end on: what follows.
            let mut next = if region == func.body { Next::End } else { Next::Unknown };
            let mut end: Option<Inst> = None;
            for &inst in func.regions[region].insts.iter().rev() {
                let data = &func.insts[inst];
                match data.op {
                    Op::EmitVertex => {
                        // What follows may be one too many, which is dropped.
                        let known = points || !(strips.counted && next == Next::Vertex);
                        let own = match known {
                            true if points => Next::End,
                            true => next,
                            false => Next::Unknown,
                        };
                        strips.deferred |= own == Next::Unknown;
                        strips.next.insert(inst, own);
                        if let Some(end) = end.take().filter(|_| !strips.counted || points) {
                            strips.told.insert(end);
                        }
                        next = Next::Vertex;
                    }
                    Op::EndPrimitive => (next, end) = (Next::End, Some(inst)),
                    Op::Break | Op::Continue | Op::Next | Op::BreakIf | Op::Exit => {
                        next = Next::Unknown;
                    }
                    _ if data.regions.iter().any(|region| emitting.contains(region)) => {
                        (next, end) = (Next::Unknown, None);
                    }
                    _ => {}
                }
            }
        }
        strips
    }

    /// What follows a vertex.
    pub fn next(&self, vertex: Inst) -> Next {
        self.next.get(&vertex).copied().unwrap_or(Next::Unknown)
    }

    /// The end of a strip changes nothing: the vertex before it was its last one.
    pub fn is_told(&self, end: Inst) -> bool {
        !self.deferred || self.told.contains(&end)
    }
}

/// Regions that emit vertices or end strips, themselves or within them.
fn emitting(func: &Func) -> BTreeSet<Region> {
    let mut found = BTreeSet::new();
    // Inner regions stand behind those around them.
    for &(region, ..) in func.regions_in_order().iter().rev() {
        let emits = func.regions[region].insts.iter().any(|&inst| {
            let data = &func.insts[inst];
            matches!(data.op, Op::EmitVertex | Op::EndPrimitive)
                || data.regions.iter().any(|inner| found.contains(inner))
        });
        if emits {
            found.insert(region);
        }
    }
    found
}

/// Vertices that a region emits at most; none where loops do.
fn most(func: &Func, region: Region) -> Option<u64> {
    let mut sum = 0u64;
    for &inst in &func.regions[region].insts {
        let data = &func.insts[inst];
        let inner = || data.regions.iter().map(|&region| most(func, region));
        sum += match data.op {
            Op::EmitVertex => 1,
            Op::Loop if inner().any(|most| most != Some(0)) => return None,
            Op::If => inner().try_fold(0, |all, most| Some(u64::max(all, most?)))?,
            _ => inner().try_fold(0, |all, most| Some(all + most?))?,
        };
    }
    Some(sum)
}

/// A component of an output.
pub type Component = (Output, u8);

/// Components of outputs that some vertex takes from other regions than its own: they stand in registers.
pub fn far(func: &Func) -> BTreeSet<Component> {
    let within = stores(func);
    let written = &within[&func.body];
    let mut far = BTreeSet::new();
    for (region, ..) in func.regions_in_order() {
        let mut near = BTreeSet::new();
        for &inst in &func.regions[region].insts {
            let data = &func.insts[inst];
            match (data.op, &data.imm) {
                (Op::Output, &Imm::Output(output, component)) => {
                    near.insert((output, component));
                }
                (Op::EmitVertex, _) => far.extend(written.difference(&near).copied()),
                _ => {
                    for inner in &data.regions {
                        near.retain(|place| !within[inner].contains(place));
                    }
                }
            }
        }
    }
    far
}

/// What each region writes, with the regions in it.
fn stores(func: &Func) -> BTreeMap<Region, BTreeSet<Component>> {
    let mut within: BTreeMap<Region, BTreeSet<Component>> = BTreeMap::new();
    // Inner regions stand behind those around them.
    for &(region, ..) in func.regions_in_order().iter().rev() {
        let mut found = BTreeSet::new();
        for &inst in &func.regions[region].insts {
            let data = &func.insts[inst];
            if let Imm::Output(output, component) = data.imm {
                found.insert((output, component));
            }
            for inner in &data.regions {
                found.extend(&within[inner]);
            }
        }
        within.insert(region, found);
    }
    within
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(emits: &str, most: u32, body: &str) -> Func {
        let text = format!(
            "func \"main\" geometry points to {most} {emits} {{
  in0 = \"p\" f32 x 4 corner 0 builtin position
  out0 = \"position\" f32 x 4 builtin position
}} body {{
  %0: b32 = input in0.0
  %1: b1 = flt %0, %0
{body}
  yield
}}
"
        );
        let parsed = gpucc_ir::ssa::parse(&text);
        let mut module = parsed.unwrap_or_else(|error| panic!("{error}: {text}"));
        let func = module.funcs.remove(0);
        gpucc_ir::ssa::verify(&func).expect("it is well formed");
        func
    }

    fn strips(emits: &str, most: u32, body: &str) -> (Vec<Next>, Strips) {
        let func = program(emits, most, body);
        let strips = Strips::of(&func);
        let all = func.regions_in_order();
        let insts = all.iter().flat_map(|&(region, ..)| &func.regions[region].insts);
        let emits = insts.filter(|&&inst| func.insts[inst].op == Op::EmitVertex);
        (emits.map(|&inst| strips.next(inst)).collect(), strips)
    }

    #[test]
    fn what_follows_in_a_region_is_known_and_what_follows_its_end_is_not() {
        use Next::{End, Unknown, Vertex};
        let straight = "emit_vertex emit_vertex end_primitive emit_vertex emit_vertex";
        let (next, known) = strips("line_strip", 4, straight);
        assert_eq!(next, [Vertex, End, Vertex, End]);
        assert!(!known.deferred && !known.counted);
        // The third one may be dropped, so that the second one is the last.
        let (next, known) = strips("line_strip", 3, straight);
        assert_eq!(next, [Unknown, End, Unknown, End]);
        assert!(known.deferred && known.counted);
        let (next, known) = strips("points", 3, straight);
        assert_eq!(next, [End; 4]);
        assert!(!known.deferred && known.counted);
        let arms =
            "emit_vertex if %1 { emit_vertex yield } else { end_primitive yield } emit_vertex";
        let (next, known) = strips("line_strip", 3, arms);
        assert_eq!(next, [Unknown, End, Unknown]);
        assert!(known.deferred && !known.counted);
    }

    #[test]
    fn a_component_is_far_where_another_region_may_have_written_it_last() {
        let components = |body: &str| {
            let found = far(&program("points", 4, body));
            found.into_iter().map(|(_, component)| component).collect::<Vec<_>>()
        };
        assert!(
            components("output out0.0, %0 emit_vertex output out0.0, %0 emit_vertex").is_empty()
        );
        let inner = "output out0.0, %0 output out0.1, %0 if %1 { output out0.1, %0 yield } else { yield } emit_vertex";
        assert_eq!(components(inner), [1]);
        assert_eq!(components("output out0.2, %0 if %1 { emit_vertex yield } else { yield }"), [2]);
    }
}
