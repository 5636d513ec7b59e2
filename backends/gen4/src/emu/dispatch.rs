//! Threads in flight: a list of jobs is run with so many at a time, in an order that a seed gives.

use super::Model;
use super::functions::{Context, Functions};
use super::message::{Register, Sender, Unit};
use super::rule::{Rule, Trap};
use super::run::Run;
use super::thread::{Start, Status, Thread};
use std::collections::VecDeque;

/// Instructions of a thread before another one has its turn, at most.
const TURN: u64 = 64;

/// A thread that is to be started.
#[derive(Clone, Debug)]
pub struct Job {
    pub unit: Unit,
    /// r0 without what its place among the threads gives, and the rest.
    pub payload: Vec<Register>,
    pub program: u32,
    pub dispatched: u16,
    pub single_program_flow: bool,
    pub registers: u32,
    /// Scratch of all threads: base and bytes of each.
    pub scratch: (u32, u32),
    pub context: Context,
}

/// How many threads there may be.
#[derive(Copy, Clone, Debug)]
pub struct Limits {
    pub threads: u32,
    /// URB entries, at least one, where a thread has one of its own until it ends.
    pub entries: Option<u32>,
}

/// Numbers that a seed fixes (SplitMix64).
#[derive(Clone, Debug, Default)]
pub struct Order(pub u64);

impl Order {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) % limit.max(1)
    }
}

struct Flight {
    job: usize,
    slot: u32,
    thread: Thread,
    waits: bool,
}

/// Runs jobs in their order of starting; gives what became of each.
///
/// # Errors
/// The rule that a thread breaks.
pub fn run(
    model: Model,
    functions: &mut Functions<'_>,
    jobs: Vec<Job>,
    limits: Limits,
    order: &mut Order,
    run: &mut Run<'_>,
) -> Result<Vec<Context>, Trap> {
    let mut ended: Vec<Option<Context>> = jobs.iter().map(|_| None).collect();
    let mut jobs: VecDeque<(usize, Job)> = jobs.into_iter().enumerate().collect();
    let mut slots: VecDeque<u32> = (0..limits.threads.max(1)).collect();
    let mut entries = limits.entries;
    let mut flight: Vec<Flight> = Vec::new();
    loop {
        while entries != Some(0)
            && let Some(slot) = slots.pop_front()
        {
            let Some((job, next)) = jobs.pop_front() else {
                slots.push_front(slot);
                break;
            };
            entries = entries.map(|count| count - 1);
            let thread = start(model, functions, next, slot);
            flight.push(Flight { job, slot, thread, waits: false });
        }
        if flight.is_empty() {
            break;
        }
        let waiting: usize = flight.iter().filter(|one| one.waits).count();
        if waiting == flight.len() {
            let what = format!("{waiting} threads wait");
            return Err(Trap::new(Rule::Deadlock, flight[0].thread.offset(), what));
        }
        let pick = order.below(flight.len() as u64) as usize;
        let turn = 1 + order.below(TURN);
        let status = turns(&mut flight[pick], functions, turn, run)?;
        deliver(functions, &mut flight)?;
        if status == Status::Done {
            let one = flight.swap_remove(pick);
            functions.gateway.forget(one.slot);
            slots.push_back(one.slot);
            let context = functions.contexts.remove(&one.slot);
            entries = entries.map(|count| count + 1);
            ended[one.job] = context;
        }
    }
    Ok(ended.into_iter().flatten().collect())
}

/// Lets a thread execute some instructions.
fn turns(
    one: &mut Flight,
    functions: &mut Functions<'_>,
    turn: u64,
    run: &mut Run<'_>,
) -> Result<Status, Trap> {
    let mut status = Status::Running;
    for _ in 0..turn {
        status = one.thread.step(functions, run)?;
        one.waits = status == Status::Waiting;
        if status != Status::Running {
            break;
        }
    }
    Ok(status)
}

/// What the gateway has goes to its threads.
fn deliver(functions: &mut Functions<'_>, flight: &mut [Flight]) -> Result<(), Trap> {
    for delivery in std::mem::take(&mut functions.deliveries) {
        let Some(one) = flight.iter_mut().find(|one| one.slot == delivery.thread) else { continue };
        if let Some((register, value, mask)) = delivery.data {
            one.thread.receive(register, &value, mask)?;
        }
        if delivery.notify {
            one.thread.notify();
            one.waits = false;
        }
    }
    Ok(())
}

/// Starts a thread in a place of its own.
fn start(model: Model, functions: &mut Functions<'_>, mut job: Job, slot: u32) -> Thread {
    let (base, bytes) = job.scratch;
    let base = base.wrapping_add(slot.wrapping_mul(bytes));
    job.context.scratch = (base, bytes);
    if let Some(header) = job.payload.first_mut() {
        header.words[5] = base & !0x3ff | slot & 0xff;
        header.undefined &= !(15 << 20);
        job.context.header = *header;
    }
    let alternate_floats = job.context.alternate;
    functions.contexts.insert(slot, job.context);
    let dispatched = job.dispatched;
    let sender = Sender { unit: job.unit, thread: slot, dispatched };
    let start = Start {
        payload: &job.payload,
        program: job.program,
        dispatched,
        single_program_flow: job.single_program_flow,
        alternate_floats,
        registers: job.registers,
        sender,
    };
    Thread::start(model, start)
}
