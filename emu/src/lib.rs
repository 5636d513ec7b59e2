#![forbid(unsafe_code)]
//! What every emulator shares: buffers, images, samplers, a rasteriser and blending. Knows no machine.
//!
//! - [`format`]: texel and vertex formats.
//! - [`world`]: bindings, as the interpreter sees them.
//! - [`image`], [`sampler`]: what a sampled value is, exactly.

pub mod format;
pub mod image;
pub mod sampler;
pub mod world;
