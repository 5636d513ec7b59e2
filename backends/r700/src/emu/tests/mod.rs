mod alu;
mod build;
mod control;
