//! Where bindings, inputs, outputs and driver values stand.
