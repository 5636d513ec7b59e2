//! The clipper's threads: what must be clipped goes in, a fan comes out. isa/gen4-pipeline.md 3, 4.3, 9.4.

use super::super::Model;
use super::super::dispatch::{Job, Limits};
use super::super::functions::Entry;
use super::super::memory::Refused;
use super::super::message::{Register, Unit};
use super::super::rule::{Rule, Trap};
use super::super::run::Run;
use super::unit::UnitState;
use super::vertex::{Entries, Left, written};
use super::{Gpu, Object, media};

/// Words of CLIP_STATE.
const WORDS: u32 = 11;
/// Its section of the URB, and the entries that it must have for a thread.
const SECTION: usize = 2;
const FEWEST: u32 = 5;
/// What begins and ends an object among the entries that a thread writes.
const START: u32 = 2;
const END: u32 = 1;

impl Gpu {
    /// Runs the clipper's thread of an object; `planes` are those of the six fixed ones that it needs, as word 2 of r0 has them
    /// from bit 26 on, and `flags` those that vertices have in their headers. Gives the triangles that it writes.
    ///
    /// # Errors
    /// The rule that the state or the thread breaks.
    pub fn clip_thread(
        &mut self,
        object: &Object,
        planes: u32,
        flags: u32,
        run: &mut Run<'_>,
    ) -> Result<Vec<Object>, Trap> {
        let trap = |(rule, detail): Refused| Trap::new(rule, 0, detail);
        let job = self.clip_job(object, planes, flags).map_err(trap)?;
        let limits = Limits { threads: 1, entries: None };
        let ended = self.threads(vec![job], limits, run)?;
        let entries = ended.iter().flat_map(|context| &context.entries);
        let provoking = self.provoking(6).map_err(trap)?;
        fans(entries, provoking).map_err(trap)
    }

    fn clip_job(&self, object: &Object, planes: u32, flags: u32) -> Result<Job, Refused> {
        let missing = || (Rule::Bases, "no CLIP_STATE was sent".to_string());
        let pointer = self.state.units.and_then(|units| units.clip).ok_or_else(missing)?;
        let unit = UnitState::read(self, Unit::Clip, pointer, WORDS)?;
        let refused = |what: &str| Err((Rule::ThreadState, format!("{what} of CLIP_STATE")));
        let entries = Entries::of(self, unit.words[4], SECTION, 2)?;
        // Each thread has as many of them as the other. P 1.2, 7.15.
        let few = entries.count < FEWEST * entries.threads;
        if few || !entries.count.is_multiple_of(entries.threads) {
            return refused("the entries");
        }
        if unit.start != 1 || !unit.single_program_flow {
            return refused("the first register or the program flow");
        }
        let mut payload = vec![Register::UNDEFINED];
        // Flag 6 of the 965 says that 1/w is negative; the others are user planes.
        let user = match self.model {
            Model::I965 | Model::Gm965 => flags & 0x7f,
            Model::G45 => flags & 0xff,
        };
        let own = entries.pool().handle(0);
        for (word, value) in [(0, own), (2, object.topology | user << 14 | planes << 26)] {
            payload[0].words[word] = value;
            payload[0].undefined &= !(15 << (4 * word));
        }
        payload.extend(media::constants(self, unit.constants.0, unit.constants.1)?);
        for vertex in &object.vertices {
            payload.extend(vertex.rows(unit.urb)?);
        }
        let mut context =
            unit.context(payload[0], self.state.tables.map_or(0, |tables| tables[SECTION]));
        context.pool = entries.pool();
        context.give(entries.rows);
        unit.job(Unit::Clip, payload, 0x0f, context)
    }
}

/// The triangles of fans and polygons, by the marks of their entries.
fn fans<'a>(
    entries: impl Iterator<Item = &'a Entry>,
    provoking: usize,
) -> Result<Vec<Object>, Refused> {
    let mut objects = Vec::new();
    let mut fan: Option<Vec<Left>> = None;
    for entry in entries.filter(|entry| entry.used) {
        let (topology, marks) = (entry.primitive >> 2, entry.primitive & 3);
        let refused =
            |what: &str| Err((Rule::ClipOutput, format!("{what} at {marks} of {topology:#x}")));
        if !matches!(topology, 6 | 0xe) {
            return Err((Rule::NotBuilt, format!("topology {topology:#x} of a clip thread")));
        }
        if (marks & START != 0) == fan.is_some() {
            return refused("no object begins, or one within another");
        }
        let vertices = fan.get_or_insert_default();
        vertices.push(written(entry)?);
        if let [first, .., before, last] = vertices.as_slice() {
            let vertices = vec![first.clone(), before.clone(), last.clone()];
            objects.push(Object { topology: 6, vertices, provoking });
        }
        if marks & END != 0 {
            fan = None;
        }
    }
    match fan {
        None => Ok(objects),
        Some(_) => Err((Rule::ClipOutput, "an object does not end".into())),
    }
}
