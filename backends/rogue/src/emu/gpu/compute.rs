//! The control stream of compute kernels: uploads of shared registers, kernels, fences. 4.3, 5.2.

use super::super::check::Stage;
use super::super::machine::Run;
use super::super::pds::{Action, Pds};
use super::super::register::{Common, INSTANCES, Lanes};
use super::super::rule::{Refused, Rule, Trap};
use super::super::task::{Sizes, Task};
use super::{Gpu, Words, reserved};

/// Workgroups that are under way together, at most.
const TOGETHER: usize = 4;
/// Kernels and links that one stream may have.
const MOST_BLOCKS: usize = 1 << 16;
/// Workgroups of one kernel.
const MOST_GROUPS: u64 = 1 << 26;

/// One kernel. 5.2.
#[derive(Clone, Debug)]
pub(in crate::emu) struct Kernel {
    pub fence: bool,
    /// The upload of shared registers.
    pub uploads: bool,
    /// State data: 0 none, 1 of the data sequencer, 2 shared registers.
    pub state: u32,
    /// It runs on every core, rather than on any.
    pub everywhere: bool,
    /// Words of the common store: coefficients, or shared registers.
    pub common: u32,
    /// Vertex inputs.
    pub inputs: u16,
    pub pds_temps: u32,
    pub pds_data: u32,
    pub data: u32,
    pub code: u32,
    pub groups: [u32; 3],
    pub size: [u32; 3],
}

/// A step for a block of a stream.
pub(super) fn spend(run: &mut Run<'_>) -> Result<(), Trap> {
    match run.steps.checked_sub(1) {
        Some(left) => {
            *run.steps = left;
            Ok(())
        }
        None => Err(place((Rule::Steps, "no steps are left".into()))),
    }
}

/// A trap of what has no place in a program.
pub(super) fn place((rule, detail): Refused) -> Trap {
    Trap::new(rule, 0, detail)
}

/// Executes a stream.
///
/// # Errors
/// As [`Gpu::compute`].
pub fn stream(gpu: &mut Gpu, mut at: u64, run: &mut Run<'_>) -> Result<(), Trap> {
    let mut shared = Common::new("sh", 0);
    let mut unfenced = false;
    for _ in 0..MOST_BLOCKS {
        spend(run)?;
        let mut words = Words { memory: &gpu.memory, at };
        let first = words.next().map_err(place)?;
        match first >> 30 {
            0 => {
                let kernel = kernel(first, &mut words).map_err(place)?;
                at = words.at;
                unfenced = !kernel.fence && (unfenced || !kernel.uploads);
                execute(gpu, &kernel, &mut shared, run)?;
            }
            1 => {
                reserved(first, 0x3fff_ff00, "a link").map_err(place)?;
                let low = words.masked(3, "a link").map_err(place)?;
                at = u64::from(first & 0xff) << 32 | u64::from(low);
            }
            2 => {
                reserved(first, 0x3fff_ffff, "an end").map_err(place)?;
                if unfenced {
                    return Err(place((Rule::Fence, "a stream ends behind a kernel".into())));
                }
                return Ok(());
            }
            other => return Err(place((Rule::Stream, format!("block {other}")))),
        }
    }
    Err(place((Rule::Stream, "the stream does not end".into())))
}

/// The words of a kernel behind the first one.
///
/// # Errors
/// Reserved bits and values, and what is not built.
pub(in crate::emu) fn kernel(first: u32, words: &mut Words<'_>) -> Result<Kernel, Refused> {
    let field = |word: u32, high: u32, low: u32| word >> low & ((1 << (high - low + 1)) - 1);
    if first >> 27 & 1 == 1 {
        return Err((Rule::NotBuilt, "an event of a kernel".into()));
    }
    let data = words.masked(1, "kernel word 1")?;
    if field(data, 3, 2) == 3 {
        return Err((Rule::Stream, "state data 3".into()));
    }
    let code = words.masked(0xe, "kernel word 2")?;
    let groups = if first >> 29 & 1 == 1 {
        let high = words.masked(0xffff_ff00, "kernel word 6")?;
        let low = words.masked(3, "kernel word 7")?;
        let from = u64::from(high) << 32 | u64::from(low);
        [words.memory.word(from)?, words.memory.word(from + 4)?, words.memory.word(from + 8)?]
    } else {
        [words.next()?, words.next()?, words.next()?].map(|count| count.wrapping_add(1))
    };
    let last = words.next()?;
    let size = [field(last, 26, 18), field(last, 17, 9), field(last, 8, 0)].map(|n| n + 1);
    if first >> 28 & 1 == 1 {
        return Err((Rule::NotBuilt, "offsets of a kernel".into()));
    }
    Ok(Kernel {
        fence: first & 1 == 1,
        uploads: data >> 1 & 1 == 1,
        state: field(data, 3, 2),
        everywhere: first >> 1 & 1 == 0,
        common: 16 * field(first, 26, 18),
        inputs: 4 * field(first, 17, 12) as u16,
        pds_temps: 4 * field(first, 11, 8),
        pds_data: 4 * field(first, 7, 2),
        data: data & !15,
        code: code & !15,
        groups,
        size,
    })
}

impl Kernel {
    /// Its program of the data sequencer with the temporaries that the chip gives it.
    fn program<'a>(&self, gpu: &'a Gpu, temps: &[(usize, u32)]) -> Pds<'a> {
        let mut given = [None; 32];
        for (at, word) in temps {
            given[*at] = Some(*word);
        }
        Pds {
            memory: &gpu.memory,
            data: gpu.bases.pds + u64::from(self.data),
            constants: self.pds_data,
            code: gpu.bases.pds + u64::from(self.code),
            temps: given,
            persistent: [None; 32],
            count: self.pds_temps.min(32),
            if0: true,
            if1: false,
        }
    }
}

fn execute(
    gpu: &mut Gpu,
    kernel: &Kernel,
    shared: &mut Common,
    run: &mut Run<'_>,
) -> Result<(), Trap> {
    if kernel.fence {
        let actions = kernel.program(gpu, &[]).run(run.steps).map_err(place)?;
        return match actions.iter().all(|action| *action == Action::Fence) {
            true => Ok(()),
            false => Err(place((Rule::Stream, "a fence's program does more than fence".into()))),
        };
    }
    if kernel.uploads {
        // One task of every core, which has no state itself.
        if kernel.state != 0 || !kernel.everywhere || kernel.groups != [1; 3] {
            let what = "an upload has state data, several workgroups or one core";
            return Err(place((Rule::Stream, what.into())));
        }
        *shared = Common::new("sh", kernel.common as usize);
        let actions = kernel.program(gpu, &[]).run(run.steps).map_err(place)?;
        return upload(&actions, shared).map_err(place);
    }
    let mut none = Common::new("sh", 0);
    let shared = match kernel.state {
        0 => &mut none,
        2 => shared,
        other => return Err(place((Rule::NotBuilt, format!("state data {other}")))),
    };
    let invocations = kernel.size.iter().product::<u32>();
    let whole = invocations.is_multiple_of(INSTANCES as u32);
    if !whole || invocations > gpu.core.most_invocations {
        let what = format!("{invocations} invocations on {}", gpu.core.name);
        return Err(place((Rule::Workgroup, what)));
    }
    let total = kernel.groups.iter().fold(1u64, |total, n| total.saturating_mul((*n).into()));
    if total > MOST_GROUPS {
        return Err(place((Rule::NotBuilt, format!("{total} workgroups"))));
    }
    let mut first = 0;
    while first < total {
        let last = total.min(first + TOGETHER as u64);
        some_groups(gpu, kernel, shared, first..last, run)?;
        first = last;
    }
    Ok(())
}

/// Words to shared registers or coefficients, by a program without instances.
pub(super) fn upload(actions: &[Action], common: &mut Common) -> Result<(), Refused> {
    for action in actions {
        match action {
            Action::Words { common: true, register, words, .. } => {
                for (step, word) in words.iter().enumerate() {
                    let at = *register as usize + step;
                    if at >= common.count() {
                        let what = format!("register {at} of {}", common.count());
                        return Err((Rule::PdsTarget, what));
                    }
                    common.set(at, *word);
                }
            }
            Action::Fence => {}
            other => return Err((Rule::PdsTarget, format!("{other:?} by an upload"))),
        }
    }
    last_transfer(actions)
}

/// The last transfer of a program says that it is. 5.1.
pub(super) fn last_transfer(actions: &[Action]) -> Result<(), Refused> {
    let mut transfers = actions.iter().rev().filter_map(|action| match action {
        Action::Words { last, .. } => Some(*last),
        _ => None,
    });
    let right = transfers.next().is_none_or(|last| last) && transfers.all(|last| !last);
    if right {
        return Ok(());
    }
    Err((Rule::PdsEnd, "the last transfer, and none before it, is marked".into()))
}

/// Runs workgroups side by side.
fn some_groups(
    gpu: &mut Gpu,
    kernel: &Kernel,
    shared: &mut Common,
    which: std::ops::Range<u64>,
    run: &mut Run<'_>,
) -> Result<(), Trap> {
    let mut coefficients = Vec::new();
    let mut tasks = Vec::new();
    let mut before = Vec::new();
    for number in which {
        let own = coefficients.len();
        let (common, start) = coefficient_task(gpu, kernel, number, run.steps).map_err(place)?;
        coefficients.push(common);
        if let Some((entry, temps)) = start {
            let sizes = Sizes { temps, inputs: kernel.inputs };
            let mut task = Task::new(Stage::Compute, entry, sizes, 1, 0);
            (task.coefficients, task.number) = (own, own as u32);
            before.push(task);
        }
        instances(gpu, kernel, own, &mut tasks, run.steps).map_err(place)?;
    }
    gpu.core(shared, coefficients, |machine| {
        machine.run(&mut before, run)?;
        machine.run(&mut tasks, run)
    })
}

/// The coefficients of a workgroup, and what starts before its instances.
#[allow(clippy::type_complexity)]
fn coefficient_task(
    gpu: &Gpu,
    kernel: &Kernel,
    number: u64,
    steps: &mut u64,
) -> Result<(Common, Option<(u32, u16)>), Refused> {
    let [x, y, _] = kernel.groups.map(u64::from);
    let id = [number % x, number / x % y, number / x / y].map(|n| n as u32);
    // The number of the workgroup: x, y and z in temporaries 0, 1 and 3. 4.3.
    let mut program = kernel.program(gpu, &[(0, id[0]), (1, id[1]), (3, id[2])]);
    program.if1 = true;
    let actions = program.run(steps)?;
    let mut common = Common::new("cf", kernel.common as usize);
    let mut start = None;
    let mut transfers = Vec::new();
    for action in actions {
        match action {
            Action::Start { entry, temps, .. } => start = Some((entry, temporaries(gpu, temps)?)),
            other => transfers.push(other),
        }
    }
    upload(&transfers, &mut common)?;
    Ok((common, start))
}

/// Temporaries that a program asks for.
///
/// # Errors
/// More than the core has.
pub(super) fn temporaries(gpu: &Gpu, count: u32) -> Result<u16, Refused> {
    if count > gpu.core.temporaries() {
        let what = format!("{count} temporaries on {}", gpu.core.name);
        return Err((Rule::Temporaries, what));
    }
    Ok(count as u16)
}

/// The tasks of a workgroup: 32 instances each, whose program of the data sequencer runs for each of them.
fn instances(
    gpu: &Gpu,
    kernel: &Kernel,
    own: usize,
    tasks: &mut Vec<Task>,
    steps: &mut u64,
) -> Result<(), Refused> {
    let [width, height, _] = kernel.size;
    let invocations = kernel.size.iter().product::<u32>();
    for first in (0..invocations).step_by(INSTANCES) {
        let count = (invocations - first).min(INSTANCES as u32);
        let valid: Lanes = if count == 32 { u32::MAX } else { (1 << count) - 1 };
        let mut inputs = Vec::new();
        let mut start = None;
        for lane in 0..count {
            let index = first + lane;
            let id = [index % width, index / width % height, index / width / height];
            // The number within the workgroup: x in temporary 0, y and z in temporary 1 [A].
            let mut program = kernel.program(gpu, &[(0, id[0]), (1, id[1] | id[2] << 16)]);
            program.if0 = lane + 1 == count;
            let actions = program.run(steps)?;
            last_transfer(&actions)?;
            for action in actions {
                match action {
                    Action::Words { common: false, register, words, .. } => {
                        inputs.push((lane as usize, register as usize, words));
                    }
                    Action::Start { entry, temps, .. } if lane + 1 == count => {
                        start = Some((entry, temporaries(gpu, temps)?));
                    }
                    Action::Fence => {}
                    other => return Err((Rule::PdsTarget, format!("{other:?} by an instance"))),
                }
            }
        }
        let Some((entry, temps)) = start else { continue };
        let sizes = Sizes { temps, inputs: kernel.inputs };
        let mut task = Task::new(Stage::Compute, entry, sizes, valid, 0);
        for (lane, register, words) in inputs {
            for (step, word) in words.into_iter().enumerate() {
                if register + step >= usize::from(kernel.inputs) {
                    let what = format!("input {} of {}", register + step, kernel.inputs);
                    return Err((Rule::PdsTarget, what));
                }
                task.inputs.set(register + step, lane, word);
            }
        }
        let together = invocations.div_ceil(INSTANCES as u32);
        task.crowded = together > 1 && !gpu.core.holds(together, temps.into());
        (task.coefficients, task.number, task.first) = (own, tasks.len() as u32, first);
        tasks.push(task);
    }
    Ok(())
}
