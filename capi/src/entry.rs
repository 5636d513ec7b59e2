//! What every entry point does around its work: no unwinding crosses, and what failed can be asked for.

use crate::abi::{Reply, gpucc_text};
use crate::status::gpucc_status;
use gpucc::Failure;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    /// The last failure's message with a zero byte behind it.
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs an entry point.
pub(crate) fn entry(run: impl FnOnce() -> Reply<gpucc_status>) -> gpucc_status {
    match caught(run) {
        Ok(status) => status,
        Err(failure) => {
            let status = gpucc_status::of(&failure.kind);
            remember(&failure);
            status
        }
    }
}

/// Runs an entry point that gives a value rather than a status; nothing is given where it fails.
pub(crate) fn value<T>(nothing: T, run: impl FnOnce() -> Reply<T>) -> T {
    caught(run).unwrap_or_else(|failure| {
        remember(&failure);
        nothing
    })
}

fn caught<T>(run: impl FnOnce() -> Reply<T>) -> Reply<T> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| {
        let message = gpucc::panic_message(payload.as_ref());
        // A payload may panic when it is dropped.
        std::mem::forget(payload);
        Err(Failure::internal("the C interface", message))
    })
}

/// Keeps a failure's words for [`gpucc_last_message`].
pub(crate) fn remember(failure: &Failure) {
    let mut text = failure.summary().replace('\0', "\\0");
    for note in failure.diagnostics.iter().flat_map(|diagnostic| &diagnostic.notes) {
        text.push_str("; ");
        text.push_str(&note.replace('\0', "\\0"));
    }
    text.push('\0');
    // A thread that ends has no message any more.
    let _ = LAST.try_with(|last| *last.borrow_mut() = text);
}

/// The message of the last call of this thread that failed, until the next one fails; empty before the first.
#[unsafe(no_mangle)]
pub extern "C" fn gpucc_last_message() -> gpucc_text {
    let found = LAST.try_with(|last| {
        let last = last.borrow();
        match last.len() {
            0 => gpucc_text::NONE,
            length => gpucc_text { data: last.as_ptr().cast(), size: length - 1 },
        }
    });
    found.unwrap_or(gpucc_text::NONE)
}
