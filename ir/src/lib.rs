#![forbid(unsafe_code)]
//! Structured SSA, its interpreter, and the machine IR shared by all back ends.
//!
//! This crate names no machine and no source language: the front end builds what is here, the
//! passes rewrite it, the back ends lower it, and the interpreter says what it means.

pub mod budget;
pub mod cancel;
pub mod driver;
pub mod mach;
pub mod nearest;
pub mod ssa;
pub mod stack;

/// The insertion-ordered map of the workspace: iteration order is insertion order, whatever the hasher.
pub type Map<K, V> = indexmap::IndexMap<K, V, rustc_hash::FxBuildHasher>;
/// The insertion-ordered set of the workspace.
pub type Set<K> = indexmap::IndexSet<K, rustc_hash::FxBuildHasher>;
