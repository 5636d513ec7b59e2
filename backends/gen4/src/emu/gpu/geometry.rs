//! The geometry unit's threads: a primitive goes in, and vertices come out that begin and end objects. isa/gen4-pipeline.md 1.2,
//! 3.2, 4.4, 9.1.

use super::super::dispatch::{Job, Limits};
use super::super::functions::Entry;
use super::super::memory::Refused;
use super::super::message::{Register, Unit};
use super::super::rule::{Rule, Trap};
use super::super::run::Run;
use super::unit::UnitState;
use super::vertex::{Entries, Left, written};
use super::{Gpu, media};

/// Words of GS_STATE.
const WORDS: u32 = 7;
/// Its section of the URB, and the entries that a thread must have.
const SECTION: usize = 1;
const FEWEST: u32 = 4;
/// Threads at most.
const THREADS: u32 = 2;
/// What begins and ends an object among the entries that a thread writes.
const START: u32 = 2;
const END: u32 = 1;

/// A primitive for a thread: its topology's code, and the entries of its vertices in order.
#[derive(Clone, Debug)]
pub struct Given {
    pub topology: u32,
    pub vertices: Vec<Left>,
}

/// A vertex that a thread wrote: its entry, its topology's code, and whether it begins an object.
#[derive(Clone, Debug)]
pub struct Emitted {
    pub entry: Left,
    pub topology: u32,
    pub begins: bool,
}

impl Gpu {
    /// Runs a thread for each primitive; the vertices that it writes.
    ///
    /// # Errors
    /// The rule that the state or a thread breaks.
    pub fn geometry_threads(
        &mut self,
        primitives: &[Given],
        run: &mut Run<'_>,
    ) -> Result<Vec<Vec<Emitted>>, Trap> {
        let trap = |(rule, detail): Refused| Trap::new(rule, 0, detail);
        let (jobs, threads) = self.geometry_jobs(primitives).map_err(trap)?;
        let ended = self.threads(jobs, Limits { threads, entries: None }, run)?;
        ended.iter().map(|context| objects(&context.entries).map_err(trap)).collect()
    }

    fn geometry_jobs(&self, primitives: &[Given]) -> Result<(Vec<Job>, u32), Refused> {
        let missing = |what: &str| (Rule::Bases, format!("no {what} was sent"));
        let units = self.state.units.ok_or_else(|| missing("3DSTATE_PIPELINED_POINTERS"))?;
        let pointer = units.geometry.ok_or_else(|| missing("GS_STATE"))?;
        let tables = self.state.tables.ok_or_else(|| missing("3DSTATE_BINDING_TABLE_POINTERS"))?;
        let unit = UnitState::read(self, Unit::Geometry, pointer, WORDS)?;
        let refused = |what: &str| Err((Rule::ThreadState, format!("{what} of GS_STATE")));
        let entries = Entries::of(self, unit.words[4], SECTION, THREADS)?;
        if entries.count < FEWEST * entries.threads {
            return refused("the entries");
        }
        if unit.start != 1 {
            return refused("the first register");
        }
        if unit.urb.1 == 0 {
            return refused("a row of vertices");
        }
        // Bits 3:0 are viewports, 29 drops adjacent vertices, 30 reorders, which are not built; there are no others. P 1.2.
        if unit.words[6] != 0 {
            return refused("word 6");
        }
        let constants = media::constants(self, unit.constants.0, unit.constants.1)?;
        let job = |(number, primitive): (u32, &Given)| {
            let topology = primitive.topology;
            // Topologies with adjacency are of G45 on. P 1.4.
            if self.model.is_early() && (9..=12).contains(&topology) {
                return Err((Rule::NotBuilt, format!("topology {topology:#x} on the 965")));
            }
            let mut payload = vec![Register::UNDEFINED];
            let own = entries.pool().handle(number);
            for (word, value) in [(0, own), (2, topology), (3, unit.words[5] & !31)] {
                payload[0].words[word] = value;
                payload[0].undefined &= !(15 << (4 * word));
            }
            payload.extend(constants.iter().copied());
            for vertex in &primitive.vertices {
                payload.extend(vertex.rows(unit.urb)?);
            }
            let mut context = unit.context(payload[0], tables[SECTION]);
            (context.pool, context.handed) = (entries.pool(), number);
            context.give(entries.rows);
            unit.job(Unit::Geometry, payload, 0x0f, context)
        };
        let jobs: Result<Vec<Job>, Refused> = (0..).zip(primitives).map(job).collect();
        Ok((jobs?, entries.threads))
    }
}

/// The primitives of a draw for threads, in order: what the fetcher's lists and strips of lines make. How a strip of triangles
/// turns every second one round for this unit is in no document at hand, and so is which vertices a strip with adjacency gives.
///
/// # Errors
/// The topology is another one.
pub(super) fn assembled(topology: u32, vertices: &[Left]) -> Result<Vec<Given>, Refused> {
    let (corners, step) = match topology {
        1 => (1, 1),
        2 => (2, 2),
        3 => (2, 1),
        4 => (3, 3),
        9 => (4, 4),
        0xb => (6, 6),
        _ => return Err((Rule::NotBuilt, format!("topology {topology:#x} of GS"))),
    };
    let given = |vertices: &[Left]| Given { topology, vertices: vertices.to_vec() };
    Ok(vertices.windows(corners).step_by(step).map(given).collect())
}

/// The vertices of a thread's entries, by their marks: points, and strips of lines and triangles.
fn objects(entries: &[Entry]) -> Result<Vec<Emitted>, Refused> {
    let mut made = Vec::new();
    let mut open: Option<u32> = None;
    for entry in entries {
        if !entry.complete {
            let what = format!("entry {:#x} is not complete", entry.handle);
            return Err((Rule::UrbComplete, what));
        }
        if !entry.used {
            continue;
        }
        let (topology, marks) = (entry.primitive >> 2, entry.primitive & 3);
        let refused =
            |what: &str| Err((Rule::ClipOutput, format!("{what} at {marks} of {topology:#x}")));
        if !matches!(topology, 1 | 3 | 5) {
            return Err((Rule::NotBuilt, format!("topology {topology:#x} of a geometry thread")));
        }
        let begins = marks & START != 0;
        match open {
            None if !begins => return refused("no object begins"),
            Some(_) if begins => return refused("an object begins within another"),
            Some(other) if other != topology => return refused("another topology"),
            _ => {}
        }
        open = (marks & END == 0).then_some(topology);
        made.push(Emitted { entry: written(entry)?, topology, begins });
    }
    match open {
        None => Ok(made),
        Some(_) => Err((Rule::ClipOutput, "an object does not end".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(primitive: u32, used: bool) -> Entry {
        let mut entry = Entry::new(0, 1);
        entry.rows[0] = Register::new([7; 8]);
        (entry.complete, entry.used, entry.primitive) = (true, used, primitive);
        entry
    }

    #[test]
    fn lists_and_strips_of_lines_are_assembled_and_strips_of_triangles_are_not() {
        let vertices: Vec<Left> = (0..7u8).map(|n| vec![n].into()).collect();
        let first = |topology: u32| -> Vec<u8> {
            let given = assembled(topology, &vertices).unwrap();
            given.iter().map(|one| one.vertices[0].clone().into_bytes()[0]).collect()
        };
        assert_eq!(first(1), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(first(2), [0, 2, 4]);
        assert_eq!(first(3), [0, 1, 2, 3, 4, 5]);
        assert_eq!(first(4), [0, 3]);
        assert_eq!((first(9), first(0xb)), (vec![0], vec![0]));
        for topology in [0, 5, 6, 7, 0xa, 0xc, 0xf] {
            assert_eq!(assembled(topology, &vertices).unwrap_err().0, Rule::NotBuilt);
        }
    }

    #[test]
    fn objects_begin_and_end_by_their_marks() {
        let [start, inner, end] = [5 << 2 | 2, 5 << 2, 5 << 2 | 1];
        let begins = |marks: &[u32]| {
            let mut entries: Vec<Entry> = marks.iter().map(|&marks| entry(marks, true)).collect();
            entries.push(entry(0, false));
            objects(&entries).map(|made| made.iter().map(|one| one.begins).collect::<Vec<_>>())
        };
        assert_eq!(begins(&[start, inner, end]).unwrap(), [true, false, false]);
        assert_eq!(begins(&[start, end, start, end]).unwrap(), [true, false, true, false]);
        assert_eq!(begins(&[1 << 2 | 3, 1 << 2 | 3]).unwrap(), [true, true]);
        for wrong in [&[inner][..], &[start, start], &[start], &[start, 3 << 2 | 1]] {
            assert_eq!(begins(wrong).unwrap_err().0, Rule::ClipOutput, "{wrong:?}");
        }
        assert_eq!(begins(&[14 << 2 | 3]).unwrap_err().0, Rule::NotBuilt);
        let mut open = entry(start, true);
        open.complete = false;
        assert_eq!(objects(&[open]).unwrap_err().0, Rule::UrbComplete);
    }
}
