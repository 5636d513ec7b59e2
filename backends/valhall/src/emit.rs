//! Machine IR after allocation becomes words.
