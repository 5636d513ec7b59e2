//! The strict emulator: warps of 16 lanes, message slots, descriptors in memory; written from the manual, not from the compiler.
