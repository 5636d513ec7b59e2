//! Runs code that may recurse deeply or panic on a thread of its own.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Virtual stack of the quarantine thread; only pages that are touched cost memory. naga recurses over the
/// nesting of text, which the pre-scan bounds.
pub const STACK_BYTES: usize = 128 << 20;
/// The same for SPIR-V: naga recurses over the structured constructs of a function.
pub const SPIRV_STACK_BYTES: usize = 256 << 20;

thread_local! {
    static QUARANTINED: Cell<bool> = const { Cell::new(false) };
}

/// How quarantined code ended other than by returning.
#[derive(Debug)]
pub enum Escape {
    /// It panicked with this message.
    Panic(String),
    /// No thread could be started.
    NoThread(String),
}

/// Runs `work` on a thread with a large stack and catches its panic.
pub fn run<T: Send>(stack: usize, work: impl FnOnce() -> T + Send) -> Result<T, Escape> {
    let watch = gpucc_ir::cancel::handed();
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("gpucc-frontend".to_owned())
            .stack_size(stack)
            .spawn_scoped(scope, || {
                QUARANTINED.set(true);
                gpucc_ir::cancel::under(watch, || catch(work))
            })
            .map_err(|error| Escape::NoThread(error.to_string()))?;
        match thread.join() {
            Ok(result) => result,
            Err(payload) => Err(Escape::Panic(message(payload.as_ref()))),
        }
    })
}

/// [`run`] on the caller's thread, for work that needs little stack.
pub fn catch_silently<T>(work: impl FnOnce() -> T) -> Result<T, Escape> {
    let outer = QUARANTINED.replace(true);
    let result = catch(work);
    QUARANTINED.set(outer);
    result
}

/// Catches a panic on the current thread.
pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, Escape> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| Escape::Panic(message(payload.as_ref())))
}

fn message(payload: &(dyn std::any::Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        return (*text).to_owned();
    }
    match payload.downcast_ref::<String>() {
        Some(text) => text.clone(),
        None => "no message".to_owned(),
    }
}

/// Keeps panics that are caught in quarantine off the standard error stream, by a process-wide
/// panic hook that passes every other panic on to the hook installed before. For programs and
/// tests; the library itself never touches the hook. Calling it again changes nothing.
pub fn silence_quarantined_panics() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let outer = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUARANTINED.get() {
                outer(info);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_comes_back_as_its_message() {
        silence_quarantined_panics();
        match run(STACK_BYTES, || -> u32 { panic!("no {}", "luck") }) {
            Err(Escape::Panic(text)) => assert_eq!(text, "no luck"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn deep_recursion_that_would_break_a_small_stack_returns() {
        fn depth(n: u64) -> u64 {
            let pad = std::hint::black_box([n; 64]);
            if n == 0 { 0 } else { 1 + depth(n - 1) + pad[63] - n }
        }
        assert_eq!(run(SPIRV_STACK_BYTES, || depth(100_000)).expect("it returns"), 100_000);
    }
}
