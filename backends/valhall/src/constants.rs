//! Finds the cheapest form of every constant: table entry, modifiers, FAU word, immediate.
