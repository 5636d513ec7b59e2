//! The rules of a finished program, folded over it before it leaves.
