//! What the silicon cannot do, with the manual's section: the one source of exit code 3.
