mod alu;
mod build;
mod control;
mod r600;
mod rules;
