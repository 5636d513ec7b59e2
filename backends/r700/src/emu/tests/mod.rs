mod alu;
mod build;
