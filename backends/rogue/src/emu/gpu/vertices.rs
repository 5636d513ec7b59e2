//! The control stream of draws: state, vertex programs, and the vertices of each draw. 4.1, 5.3.

use super::super::check::Stage;
use super::super::machine::Run;
use super::super::pds::{Action, Pds};
use super::super::register::{Common, INSTANCES};
use super::super::rule::{Refused, Rule, Trap};
use super::super::task::{Sizes, Task};
use super::compute::{last_transfer, place, spend, temporaries, upload};
use super::ppp::State;
use super::{Gpu, Words, reserved};

/// Blocks that a stream may have.
const MOST_BLOCKS: usize = 1 << 16;
/// Vertices of one draw with all its instances.
const MOST_VERTICES: u64 = 1 << 22;

/// Tasks that are under way together.
const TOGETHER: usize = 64;

/// A draw as far as its vertices.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The words that each vertex wrote, in the order of the draw, one instance behind the other.
    pub vertices: Vec<Vec<Option<u32>>>,
    /// Which vertices make primitives together: those of an instance, and of a strip where an index cuts.
    pub runs: Vec<std::ops::Range<usize>>,
    /// The topology's number. 5.3.
    pub topology: u32,
    /// The vertex that flat values come from.
    pub flat: u32,
    /// State of primitives and pixels.
    pub state: State,
}

/// VDM_STATE.
#[derive(Copy, Clone, Debug, Default)]
pub(in crate::emu) struct Vertex {
    /// The index that cuts strips.
    pub cut: Option<u32>,
    pub flat: u32,
    pub data: u32,
    pub code: u32,
    /// Words of a vertex.
    pub size: u32,
    pub inputs: u16,
    pub pds_temps: u32,
    pub pds_data: u32,
}

/// INDEX_LIST.
#[derive(Copy, Clone, Debug)]
pub(in crate::emu) struct List {
    pub indices: Option<(u64, u32)>,
    pub topology: u32,
    pub count: u32,
    pub instances: u32,
    pub offset: u32,
    pub start: u32,
    pub start_instance: u32,
}

const fn field(word: u32, high: u32, low: u32) -> u32 {
    word >> low & ((1 << (high - low + 1)) - 1)
}

/// Executes a stream as far as its vertices.
///
/// # Errors
/// As [`Gpu::vertices`].
pub fn stream(gpu: &mut Gpu, mut at: u64, run: &mut Run<'_>) -> Result<Vec<Drawn>, Trap> {
    let mut shared = Common::new("sh", 0);
    let (mut state, mut vertex) = (State::default(), None);
    let mut draws = Vec::new();
    for _ in 0..MOST_BLOCKS {
        spend(run)?;
        let mut words = Words { memory: &gpu.memory, at };
        let first = words.next().map_err(place)?;
        match first >> 29 {
            0 => {
                reserved(first, 0x1fff_0000, "an update").map_err(place)?;
                let low = words.masked(3, "an update's address").map_err(place)?;
                let address = u64::from(first & 0xff) << 32 | u64::from(low);
                let count = match field(first, 15, 8) {
                    0 => 256,
                    count => count,
                };
                state.update(&gpu.memory, address, count).map_err(place)?;
            }
            1 => shared = shared_registers(gpu, first, &mut words, run.steps).map_err(place)?,
            2 => vertex = Some(vertex_state(first, &mut words).map_err(place)?),
            3 => {
                let list = list(first, &mut words).map_err(place)?;
                let next = words.at;
                let Some(vertex) = &vertex else {
                    return Err(place((Rule::Stream, "a draw without a vertex program".into())));
                };
                let drawn = draw(gpu, vertex, &list, &mut shared, state.clone(), run)?;
                draws.push(drawn);
                at = next;
                continue;
            }
            4 => {
                if first & 0x1fff_ff00 != 0 {
                    return Err(place((Rule::NotBuilt, "links that compare or return".into())));
                }
                let low = words.masked(3, "a link").map_err(place)?;
                at = u64::from(first & 0xff) << 32 | u64::from(low);
                continue;
            }
            6 => {
                reserved(first, 0x1fff_ffff, "an end").map_err(place)?;
                return Ok(draws);
            }
            other => return Err(place((Rule::Stream, format!("block {other}")))),
        }
        at = words.at;
    }
    Err(place((Rule::Stream, "the stream does not end".into())))
}

/// PDS_STATE.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(in crate::emu) struct Upload {
    /// Shared registers.
    pub common: u32,
    pub pds_temps: u32,
    pub pds_data: u32,
    pub data: u32,
    pub code: u32,
}

/// The words of a state behind the first one.
///
/// # Errors
/// Reserved bits and values.
pub(in crate::emu) fn upload_state(first: u32, words: &mut Words<'_>) -> Result<Upload, Refused> {
    reserved(first, 0x0c00_0000, "a state")?;
    let data = words.masked(3, "the data of a state")?;
    if field(data, 3, 2) == 3 {
        return Err((Rule::Stream, "state data 3".into()));
    }
    Ok(Upload {
        common: 16 * field(first, 24, 16),
        pds_temps: 4 * field(first, 9, 6),
        pds_data: 4 * field(first, 5, 0),
        data: data & !15,
        code: words.masked(15, "the code of a state")?,
    })
}

/// PDS_STATE: shared registers of the vertex program.
fn shared_registers(
    gpu: &Gpu,
    first: u32,
    words: &mut Words<'_>,
    steps: &mut u64,
) -> Result<Common, Refused> {
    let state = upload_state(first, words)?;
    let mut program = Pds {
        memory: &gpu.memory,
        data: gpu.bases.pds + u64::from(state.data),
        constants: state.pds_data,
        code: gpu.bases.pds + u64::from(state.code),
        temps: [None; 32],
        persistent: [None; 32],
        count: state.pds_temps.min(32),
        if0: true,
        if1: false,
    };
    let mut shared = Common::new("sh", state.common as usize);
    upload(&program.run(steps)?, &mut shared)?;
    Ok(shared)
}

/// The words of a vertex program's state behind the first one.
///
/// # Errors
/// Reserved bits and values, and what is not built.
pub(in crate::emu) fn vertex_state(first: u32, words: &mut Words<'_>) -> Result<Vertex, Refused> {
    reserved(first, 0x03ff_8018, "a vertex program's state")?;
    if field(first, 2, 1) == 3 {
        return Err((Rule::Stream, "flat vertex 3".into()));
    }
    let has = |bit: u32| first >> bit & 1 == 1;
    let cut = if has(28) { words.next()? } else { u32::MAX };
    if !has(27) || !has(26) {
        return Err((Rule::NotBuilt, "part of a vertex program's state".into()));
    }
    let data = words.masked(15, "the data of a vertex program")?;
    let code = words.masked(15, "the code of a vertex program")?;
    let size = words.masked(!0xff, "the size of a vertex")?;
    let last = words.masked(0xc000_0000, "the sizes of a vertex program")?;
    Ok(Vertex {
        cut: has(5).then_some(cut),
        flat: field(first, 2, 1),
        data,
        code,
        size,
        inputs: 4 * field(last, 15, 10) as u16,
        pds_temps: 4 * field(last, 9, 6),
        pds_data: 4 * field(last, 5, 0),
    })
}

/// The words of an index list behind the first one.
///
/// # Errors
/// Reserved bits and values, and what is not built.
pub(in crate::emu) fn list(first: u32, words: &mut Words<'_>) -> Result<List, Refused> {
    reserved(first, 0x0039_f000, "an index list")?;
    if !matches!(field(first, 11, 8), 0 | 1 | 3 | 5 | 6 | 9 | 11 | 12) {
        return Err((Rule::Stream, format!("topology {}", field(first, 11, 8))));
    }
    let has = |bit: u32| first >> bit & 1 == 1;
    if has(23) || has(22) {
        return Err((Rule::NotBuilt, "an indirect draw".into()));
    }
    let size = match field(first, 18, 17) {
        3 => return Err((Rule::Stream, "index size 3".into())),
        log => 1 << log,
    };
    let indices = if has(28) {
        let low = words.next()?;
        Some((u64::from(first & 0xff) << 32 | u64::from(low), size))
    } else {
        None
    };
    let mut optional = |present: bool, other: u32| if present { words.next() } else { Ok(other) };
    Ok(List {
        indices,
        topology: field(first, 11, 8),
        count: optional(has(27), 0)?,
        instances: optional(has(26), 1)?,
        offset: optional(has(25), 0)?,
        start: optional(has(24), 0)?,
        start_instance: optional(has(24), 0)?,
    })
}

impl List {
    /// The index at a place of the list, as it stands in memory.
    fn raw(&self, gpu: &Gpu, at: u32) -> Result<u32, Refused> {
        let at = at.wrapping_add(self.start);
        let Some((address, size)) = self.indices else { return Ok(at) };
        let address = address.wrapping_add(u64::from(at) * u64::from(size));
        let bytes = gpu.memory.read(address, size as usize)?;
        Ok(bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte)))
    }

    /// The number of a vertex.
    fn index(&self, gpu: &Gpu, at: u32) -> Result<u32, Refused> {
        Ok(self.raw(gpu, at)?.wrapping_add(self.offset))
    }
}

/// The vertices of a draw, as places in its list and instances, and which of them belong together.
#[allow(clippy::type_complexity)]
fn runs(
    gpu: &Gpu,
    vertex: &Vertex,
    list: &List,
) -> Result<(Vec<(u32, u32)>, Vec<std::ops::Range<usize>>), Refused> {
    let (mut all, mut runs) = (Vec::new(), Vec::new());
    let instances = if list.count == 0 { 0 } else { list.instances };
    for instance in 0..instances {
        let mut first = all.len();
        for at in 0..list.count {
            let cut = match (vertex.cut, list.indices) {
                (Some(cut), Some(_)) => list.raw(gpu, at)? == cut,
                _ => false,
            };
            if cut {
                runs.push(first..all.len());
                first = all.len();
            } else {
                all.push((at, instance));
            }
        }
        runs.push(first..all.len());
    }
    Ok((all, runs))
}

/// Words of a vertex beside those that vary: its position, point size, viewport and layer, and eight planes.
const OTHER_WORDS: u32 = 4 + 3 + 8;

/// A vertex is one that the core has. 4.1, 5.4.
fn fits(gpu: &Gpu, vertex: &Vertex, state: &State) -> Result<(), Refused> {
    let core = &gpu.core;
    let counts = state.counts[..2].iter().flat_map(|word| word.to_le_bytes().map(u32::from));
    let varying: u32 = counts.sum();
    if varying > core.most_varyings || vertex.size > core.most_varyings + OTHER_WORDS {
        let what = format!("{varying} varying words of {} on {}", vertex.size, core.name);
        return Err((Rule::State, what));
    }
    if state.outputs >> 20 & 1 == 1 && !core.render_targets {
        return Err((Rule::State, format!("vertices name layers on {}", core.name)));
    }
    Ok(())
}

/// Runs the vertices of a draw, 32 a task.
fn draw(
    gpu: &mut Gpu,
    vertex: &Vertex,
    list: &List,
    shared: &mut Common,
    state: State,
    run: &mut Run<'_>,
) -> Result<Drawn, Trap> {
    fits(gpu, vertex, &state).map_err(place)?;
    let total = u64::from(list.count) * u64::from(list.instances);
    if total > MOST_VERTICES {
        return Err(place((Rule::NotBuilt, format!("{total} vertices"))));
    }
    let (all, runs) = runs(gpu, vertex, list).map_err(place)?;
    let mut vertices = Vec::with_capacity(all.len().min(1 << 16));
    for batch in all.chunks(INSTANCES * TOGETHER) {
        let mut tasks = Vec::new();
        for chunk in batch.chunks(INSTANCES) {
            let number = tasks.len() as u32;
            tasks.push(task(gpu, vertex, list, chunk, (number, run.steps)).map_err(place)?);
        }
        gpu.core(shared, Vec::new(), |machine| machine.run(&mut tasks, run))?;
        for at in 0..batch.len() {
            let outputs = &tasks[at / INSTANCES].vertices.outputs;
            let words = (0..vertex.size as usize).map(|word| outputs.peek(word, at % INSTANCES));
            vertices.push(words.collect());
        }
    }
    Ok(Drawn { vertices, runs, topology: list.topology, flat: vertex.flat, state })
}

/// One task: the program of the data sequencer runs for each vertex, and its last one starts the task.
fn task(
    gpu: &Gpu,
    vertex: &Vertex,
    list: &List,
    chunk: &[(u32, u32)],
    (number, steps): (u32, &mut u64),
) -> Result<Task, Refused> {
    let mut inputs = Vec::new();
    let mut start = None;
    for (lane, (at, instance)) in chunk.iter().enumerate() {
        let mut temps = [None; 32];
        temps[0] = Some(list.index(gpu, *at)?);
        temps[1] = Some(instance.wrapping_add(list.start_instance));
        let mut persistent = [None; 32];
        (persistent[0], persistent[1]) = (Some(list.offset), Some(list.start_instance));
        let mut program = Pds {
            memory: &gpu.memory,
            data: gpu.bases.pds + u64::from(vertex.data),
            constants: vertex.pds_data,
            code: gpu.bases.pds + u64::from(vertex.code),
            temps,
            persistent,
            count: vertex.pds_temps.min(32),
            if0: lane + 1 == chunk.len(),
            if1: false,
        };
        let actions = program.run(steps)?;
        last_transfer(&actions)?;
        for action in actions {
            match action {
                Action::Words { common: false, register, words, .. } => {
                    inputs.push((lane, register as usize, words));
                }
                Action::Start { entry, temps, .. } if lane + 1 == chunk.len() => {
                    start = Some((entry, temporaries(gpu, temps)?));
                }
                other => return Err((Rule::PdsTarget, format!("{other:?} by a vertex"))),
            }
        }
    }
    let Some((entry, temps)) = start else {
        return Err((Rule::PdsEnd, "no program starts for the vertices".into()));
    };
    let valid = if chunk.len() == INSTANCES { u32::MAX } else { (1 << chunk.len()) - 1 };
    let sizes = Sizes { temps, inputs: vertex.inputs };
    let mut task = Task::new(Stage::Vertex, entry, sizes, valid, vertex.size as usize);
    task.number = number;
    for (lane, register, words) in inputs {
        for (step, word) in words.into_iter().enumerate() {
            if register + step >= usize::from(vertex.inputs) {
                let what = format!("input {} of {}", register + step, vertex.inputs);
                return Err((Rule::PdsTarget, what));
            }
            task.inputs.set(register + step, lane, word);
        }
    }
    Ok(task)
}
