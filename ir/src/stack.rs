//! Room for recursion over nested regions, whatever stack the caller has.
//!
//! Passes, printer and interpreter recurse over regions, which nest at most
//! [`MAX_NESTING`](crate::ssa::verify::MAX_NESTING) deep. A caller's thread may have 1 MiB or less, so
//! deep functions, and those that passes may nest deep, are worked on by a thread of their own.

use crate::ssa::{Func, Op};
use std::cell::Cell;

/// Virtual stack of such a thread; only pages that are touched cost memory.
pub const BYTES: usize = 64 << 20;
/// Nesting up to which the caller's thread is used.
const SHALLOW: u32 = 16;

thread_local! {
    static ROOMY: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` with [`BYTES`] of stack: on a thread of its own, unless this is such a thread already. A
/// panic of `work` goes on in the caller.
///
/// # Panics
/// When the system starts no more threads.
pub fn roomy<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if ROOMY.get() {
        return work();
    }
    let watch = crate::cancel::handed();
    let joined = std::thread::scope(|scope| {
        std::thread::Builder::new()
            .name("gpucc".to_owned())
            .stack_size(BYTES)
            .spawn_scoped(scope, || {
                ROOMY.set(true);
                crate::cancel::under(watch, work)
            })
            .expect("the system starts a thread")
            .join()
    });
    joined.unwrap_or_else(|payload| std::panic::resume_unwind(payload))
}

/// Runs `work`, which recurses over the regions of a function, with room for them.
pub fn for_regions<T: Send>(func: &Func, work: impl FnOnce() -> T + Send) -> T {
    let deepest = func.regions_in_order().iter().map(|&(.., depth)| depth).max();
    match deepest.unwrap_or(0) {
        0..=SHALLOW => work(),
        _ => roomy(work),
    }
}

/// Instructions up to which passes over a function run on the caller's thread.
const SMALL: usize = 256;
/// The same for its nesting.
const FLAT: u32 = 4;

/// Runs `work`, which runs passes over a function, with room for them. A thread takes longer to start than a small function
/// to compile, so this one will do where nothing can nest deep: what leaves a region early becomes nested conditions.
pub fn for_passes<T: Send>(func: &Func, work: impl FnOnce() -> T + Send) -> T {
    let leaves = |region| {
        let last = func.regions[region].insts.last();
        last.is_some_and(|&last| matches!(func.insts[last].op, Op::Break | Op::BreakIf | Op::Exit))
    };
    let fits = func.insts.len() <= SMALL && {
        let order = func.regions_in_order();
        order.iter().all(|&(region, _, depth)| depth <= FLAT && !leaves(region))
    };
    if fits { work() } else { roomy(work) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depth(n: u64) -> u64 {
        let pad = std::hint::black_box([n; 64]);
        if n == 0 { 0 } else { 1 + depth(n - 1) + pad[63] - n }
    }

    #[test]
    fn deep_recursion_has_room_on_a_small_thread_and_nests() {
        let small = std::thread::Builder::new().stack_size(256 << 10);
        let thread = small.spawn(|| roomy(|| depth(20_000) + roomy(|| depth(20_000))));
        assert_eq!(thread.expect("it starts").join().expect("it returns"), 40_000);
    }

    #[test]
    fn a_panic_comes_back_to_the_caller() {
        let result = std::panic::catch_unwind(|| roomy(|| -> u32 { panic!("no luck") }));
        let payload = result.expect_err("it panics");
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"no luck"));
    }
}
