//! Which uniforms, constants and specials one instruction may read together: one predicate, used to validate and to repair.
