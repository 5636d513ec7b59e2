//! Slots, waits, reconvergence, discard and end: what stands in the flow field.
