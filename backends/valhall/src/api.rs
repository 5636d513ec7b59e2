//! What a caller gives and gets: options, the compiled program with everything needed to run it, failures that say whose fault they are.
