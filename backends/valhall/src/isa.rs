//! The instruction set: one table of Valhall v9, and everything that reads and writes it.
