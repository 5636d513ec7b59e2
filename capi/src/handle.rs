//! Handles: boxes that the caller holds and gives back.

use crate::abi::Reply;
use gpucc::Failure;

/// What a handle leads to.
///
/// # Safety
/// The handle is null, or [`give`] made it, [`take`] has not had it, and does not get it while `'a` lasts.
///
/// # Errors
/// Null.
pub(crate) unsafe fn look<'a, T>(handle: *const T, what: &str) -> Reply<&'a T> {
    // SAFETY: the caller's; nobody has it exclusively, for only devices are changed.
    unsafe { handle.as_ref() }.ok_or_else(|| Failure::usage(format!("the {what} is null")))
}

/// What a handle leads to, to change it.
///
/// # Safety
/// As [`look`]; no other thread uses the handle while `'a` lasts.
///
/// # Errors
/// Null.
#[cfg(feature = "emulator")]
pub(crate) unsafe fn change<'a, T>(handle: *mut T, what: &str) -> Reply<&'a mut T> {
    // SAFETY: the caller's.
    unsafe { handle.as_mut() }.ok_or_else(|| Failure::usage(format!("the {what} is null")))
}

/// A handle of a value.
pub(crate) fn give<T>(value: T) -> *mut T {
    Box::into_raw(Box::new(value))
}

/// Ends a handle; null is nothing.
///
/// # Safety
/// The handle is null or [`give`] made it, and nobody uses it any more.
pub(crate) unsafe fn take<T>(handle: *mut T) {
    if !handle.is_null() {
        // SAFETY: `give` made it, and it comes back once.
        drop(unsafe { Box::from_raw(handle) });
    }
}
