//! What a file of a program tells in front of its code. Pipeline page 5.5.

enums! {}

words! {
    /// Registers of an instance, of the common store, and the size of the code in words.
    header "Program header" 64 "5.5" {
        TEMPS [7:0] Unsigned; INPUTS [15:8] Unsigned; COEFFICIENTS [27:16] Unsigned; SHAREDS [39:28] Unsigned;
        SIZE [55:40] Unsigned;
    }
}
