mod alu;
mod build;
mod control;
mod rules;
