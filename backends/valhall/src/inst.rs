//! The machine instruction: a row of the table with its modifiers, and operands apart for the allocator.
