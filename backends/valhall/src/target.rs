//! What the shared passes ask of this machine.
