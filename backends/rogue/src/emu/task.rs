//! A task: 32 instances of one program, which go on together group by group. 3.3, 5.6.

use super::check::Stage;
use super::inst::Mode;
use super::message::Message;
use super::register::{INSTANCES, Lanes, PerLane};
use super::rule::{Refused, Rule};

/// What the state words give a program. 3.3, 5.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Temporaries an instance.
    pub temps: u16,
    /// Vertex inputs an instance.
    pub inputs: u16,
}

/// What a fragment task is beside its registers.
#[derive(Clone, Debug, Default)]
pub struct Fragments {
    /// Columns of the pixels.
    pub x: [u32; INSTANCES],
    /// Rows of the pixels.
    pub y: [u32; INSTANCES],
    /// Where each instance evaluates, within its pixel: at the sample, and at the centroid.
    pub places: [[[f32; 2]; 2]; INSTANCES],
    /// The primitive faces away.
    pub back: bool,
    /// Which sample each instance is of.
    pub sample: [u32; INSTANCES],
    /// The layer.
    pub layer: u32,
    /// Instances whose pixel the primitive covers; the others help.
    pub covered: Lanes,
    /// Which samples of its pixel each instance covers.
    pub samples: [u32; INSTANCES],
    /// Samples a pixel.
    pub count: u32,
    /// What iterators give, in place of planes.
    pub given: Option<Iterated>,
    /// Feedback that was given: instances that survive, and those whose depth was given.
    pub survive: Lanes,
    /// Instances that gave feedback.
    pub fed: Lanes,
    /// The depth that was given.
    pub depth: [Option<u32>; INSTANCES],
    /// Some instance has written an output.
    pub written: Lanes,
    /// Instances that have stored to memory that others see.
    pub stored: Lanes,
    /// Words that tiled stores have written, by instance: where, and what.
    pub tiled: Vec<(usize, u64, u32)>,
    /// An emission has no wait behind it.
    pub emitting: bool,
    /// Pixels that were emitted: the two state words, by instance.
    pub emitted: Vec<(usize, [u32; 2])>,
}

/// What iterators give of each set of coefficients that is iterated as its words of state say it.
#[derive(Clone, Debug, Default)]
pub struct Iterated {
    /// By set and instance.
    pub sets: Vec<[u32; INSTANCES]>,
    /// Where a set is evaluated so; where it is [`None`], all places of a pixel have the same.
    pub modes: Vec<Option<Mode>>,
    /// Sets of which the middles of pixels are known beside samples: what they are there.
    pub middles: Vec<Option<[u32; INSTANCES]>>,
    /// Sets whose planes are of values over w. 5.1.
    pub perspective: Vec<bool>,
    /// The reciprocal of w of each instance: in the middle of its pixel, at its sample.
    pub reciprocals: [[f32; INSTANCES]; 2],
}

impl Iterated {
    /// Of so many sets, all without perspective.
    pub fn new(sets: usize) -> Iterated {
        Iterated {
            sets: vec![[0; INSTANCES]; sets],
            modes: vec![None; sets],
            middles: vec![None; sets],
            perspective: vec![false; sets],
            reciprocals: [[1.0; INSTANCES]; 2],
        }
    }

    /// A set of an instance whose plane is divided by a number, or by none. Another than the reciprocal of w gives another value.
    /// Nobody knows w at centroids: there it is that of the middle, above as below.
    ///
    /// # Errors
    /// There is no such set, or nobody has evaluated it there.
    pub fn value(
        &self,
        set: usize,
        lane: usize,
        by: Option<f32>,
        mode: Mode,
    ) -> Result<u32, Refused> {
        let known = self.sets.get(set);
        let known = known.ok_or_else(|| (Rule::Bounds, format!("coefficient set {set}")))?[lane];
        let word = match (self.middles[set], self.modes[set]) {
            (Some(middles), _) if mode != Mode::Sample => middles[lane],
            (Some(_), _) | (None, None) => known,
            (None, Some(at)) if at == mode => known,
            (None, Some(at)) => {
                let what = format!("set {set}, which is known at {at:?}, at {mode:?}");
                return Err((Rule::Iterator, what));
            }
        };
        let reciprocal = self.reciprocals[usize::from(mode == Mode::Sample)][lane];
        let own = self.perspective[set].then_some(reciprocal);
        if own.map(f32::to_bits) == by.map(f32::to_bits) {
            return Ok(word);
        }
        let [own, by] = [own, by].map(|number| f64::from(number.unwrap_or(1.0)));
        Ok(((f64::from(f32::from_bits(word)) * own / by) as f32).to_bits())
    }
}

/// What a vertex task is beside its registers.
#[derive(Clone, Debug)]
pub struct Vertices {
    /// The vertex buffer, by instance.
    pub outputs: PerLane,
    /// Instances that are emitted.
    pub emitted: Lanes,
    /// Instances whose task ended.
    pub ended: Lanes,
}

/// What a task waits for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// Nothing.
    Ready,
    /// The mutex, to lock it.
    Locking(u8),
    /// Somebody who wakes the sleepers of the mutex.
    Sleeping(u8),
    /// It is done.
    Done,
}

/// One task.
#[derive(Clone, Debug)]
pub struct Task {
    /// The stage of its program.
    pub stage: Stage,
    /// The next group, from the code's base.
    pub pc: u32,
    /// The link register.
    pub link: Option<u32>,
    /// Instances that exist.
    pub valid: Lanes,
    /// Instances whose execution bit is on.
    pub executing: Lanes,
    /// p0, and where it was written.
    pub p0: Lanes,
    /// Instances that have written p0.
    pub p0_defined: Lanes,
    /// Instances whose p0 a message under way writes.
    pub p0_pending: Lanes,
    /// Temporaries.
    pub temps: PerLane,
    /// Vertex inputs.
    pub inputs: PerLane,
    /// i0 to i7.
    pub internals: PerLane,
    /// Pixel outputs.
    pub outputs: PerLane,
    /// idx0 and idx1.
    pub indices: PerLane,
    /// Which coefficients are its own.
    pub coefficients: usize,
    /// Messages under way.
    pub messages: Vec<Message>,
    /// Of fragments.
    pub fragments: Fragments,
    /// Of vertices.
    pub vertices: Vertices,
    /// What it waits for.
    pub status: Status,
    /// Its number.
    pub number: u32,
    /// The store does not hold the other tasks of its workgroup beside it.
    pub crowded: bool,
    /// The overlap check may be left out. 1.1.
    pub unchecked: bool,
    /// The number of its first instance within its workgroup.
    pub first: u32,
    /// The reciprocal of w that an iterator has kept.
    pub kept: [Option<f32>; INSTANCES],
}

impl Task {
    /// A task that nobody has given inputs.
    pub fn new(stage: Stage, entry: u32, sizes: Sizes, valid: Lanes, vertex_size: usize) -> Task {
        Task {
            stage,
            pc: entry,
            link: None,
            valid,
            executing: valid,
            p0: 0,
            p0_defined: 0,
            p0_pending: 0,
            temps: PerLane::new("r", usize::from(sizes.temps)),
            inputs: PerLane::new("vi", usize::from(sizes.inputs)),
            internals: PerLane::new("i", 8),
            outputs: PerLane::new("po", 8),
            indices: PerLane::new("idx", 2),
            coefficients: 0,
            messages: Vec::new(),
            fragments: Fragments { count: 1, covered: valid, ..Fragments::default() },
            vertices: Vertices {
                outputs: PerLane::new("vertex output ", vertex_size),
                emitted: 0,
                ended: 0,
            },
            status: Status::Ready,
            number: 0,
            crowded: false,
            unchecked: false,
            first: 0,
            kept: [None; INSTANCES],
        }
    }
}
