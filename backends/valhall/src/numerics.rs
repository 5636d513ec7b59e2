//! The numeric model of Valhall, to the bit.
