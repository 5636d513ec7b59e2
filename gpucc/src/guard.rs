//! Panics of ours become internal errors that name the stage; they never reach the caller.

use crate::Failure;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs a stage.
pub fn guarded<T>(stage: &str, run: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|payload| Err(Failure::internal(stage, panic_message(payload.as_ref()))))
}

/// The words of a panic.
pub fn panic_message(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "a panic without a message".to_owned()
    }
}
