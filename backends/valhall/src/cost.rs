//! Cycles of each unit and lower bounds.
