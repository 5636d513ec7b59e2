mod alu;
mod build;
mod control;
mod coverage;
pub(crate) mod executed;
mod memory;
mod r600;
mod rules;
mod samples;
