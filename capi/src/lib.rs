//! gpucc for C: `include/gpucc.h` is made of what is public here.
//!
//! The one crate with unsafe code. It has three kinds: what a caller's pointers lead to is copied ([`abi`]), handles are
//! boxes that the caller gives back ([`handle`]), and callbacks are called. Everything else is the facade's.
//!
//! - [`abi`]: texts, bytes, and structures with their size in front.
//! - [`callback`]: the caller's functions.
//! - [`entry`]: no unwinding crosses, and the message of what failed.
//! - [`status`]: the enums.
//! - [`input`] and [`state`]: what a compilation is told.
//! - [`compiler`]: compilers, parsed sources, compilations.
//! - [`outcome`], [`result`] and [`typed`]: what comes of it.
//! - [`device`], [`upload`] and [`draw`]: the emulated machine.
//! - [`sizes`]: the size of every structure.

// Names are those of the header.
#![allow(non_camel_case_types)]
#![deny(missing_docs)]

#[cfg(panic = "abort")]
compile_error!("a panic must become GPUCC_INTERNAL: build gpucc-capi with panic = \"unwind\"");

pub mod abi;
mod callback;
pub mod compiler;
#[cfg(feature = "emulator")]
pub mod device;
#[cfg(feature = "emulator")]
pub mod draw;
mod entry;
mod handle;
pub mod input;
pub mod outcome;
pub mod result;
pub mod sizes;
pub mod state;
pub mod status;
pub mod store;
pub mod typed;
#[cfg(feature = "emulator")]
pub mod upload;

pub use entry::gpucc_last_message;

/// The version of this interface; the shared library is named by it.
pub const GPUCC_ABI_VERSION: u32 = 1;

/// What the header promises of threads: any number of them may share a handle, and a device may go to another one.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<compiler::gpucc_compiler>();
    shared::<compiler::gpucc_parsed>();
    shared::<result::gpucc_result>();
};

#[cfg(feature = "emulator")]
const _: () = {
    const fn sent<T: Send>() {}
    sent::<device::gpucc_device>();
};
