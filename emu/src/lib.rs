#![forbid(unsafe_code)]
//! What every emulator shares: buffers, images, samplers, a rasteriser and blending. Knows no machine.
//!
//! - [`mod@format`]: texel and vertex formats.
//! - [`device`]: the verbs that run a program on an emulated machine, bindings as bytes, and launches.
//! - [`draw`]: a draw through [`raster`] and [`blend`]; the programs stand behind one trait.
//! - [`world`]: bindings, as the interpreter sees them.
//! - [`image`], [`sampler`]: what a sampled value is, exactly.
//! - [`trap`]: how a machine lists its rules, and the error that names the broken one.

pub mod blend;
pub mod device;
pub mod draw;
pub mod format;
pub mod image;
pub mod raster;
pub mod sampler;
pub mod trap;
pub mod world;
