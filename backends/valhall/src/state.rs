//! What a driver programs: shader program descriptor, resource tables, FAU map, flags.
