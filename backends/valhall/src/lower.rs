//! Structured SSA becomes machine IR.
