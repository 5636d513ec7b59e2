//! What no document settles, and what this emulator does. ERRATA.md has the same for readers where an encoding is meant.
//!
//! - NEGATE: the negative, or the absolute value, of the least signed number of the execution type's size is that number.
//! - NAN: every operation that makes a NaN makes 0x7fc00000.
//! - SUMS: mac, line, pln, dp2, dp3, dp4 and dph are exact sums of products with one rounding, toward zero, at the end;
//!   an accumulator keeps the exact sum. The hardware may round between (10.3.1.2). What cancels is +0.
//! - FLOAT_TO_INT: a float result is rounded to a float before it becomes an integer.
//! - LOW_HALF: the low half of the first dword of a product is unsigned, the high half of mach has the type's sign.
//! - CHANNELS: an accumulator that is not named has the channels of the instruction, whatever the destination's byte.
//! - OWN_READ: on the 965 an instruction that reads a reply may itself write the reply's register; the manual asks for
//!   another destination (14.2.44, errata). The public compiler does so in nearly every program for the 965, and an
//!   instruction that reads a register waits for it.
//! - POP: the stack stands as the first source, the number of masks as the second; the destination is null or the stack.
//! - INDEX: the second half of a compressed instruction has the next index of a0 (11.5.2: bit 1 of its byte number).
//! - HALF_BRANCH: a branch with SecHalf is refused; what its masks mean for the other half is not said (11.5.2).
//! - MATH: extended math is rounded once toward zero where no errors are set, as all arithmetic is (10.3.1; 6.2 promises an error,
//!   no rounding); POW may
//!   be off by 64 times what EXP may.
//! - MEDIA_R0: r0 of a root thread has its URB handle in word 0, the interface descriptor's pointer in 2, samplers' in 3,
//!   the binding table's in 4, scratch and the thread's number in 5; words 1, 6 and 7 are undefined. Word 2 is the global
//!   offset of a data port message whose header keeps it.
//! - SCRATCH: a thread's scratch begins at the state's base plus its number times the size; within it a stateless message
//!   is bounded, with another base it reaches all memory from there.
//! - COMMIT: a write is committed as its message is sent where it asks for it; that the thread waits for the reply is not
//!   asked.
//! - STALE: other caches do not show old bytes; a read of what the render cache holds ends the run. What the sampler's
//!   cache holds of a texture stays until MI_FLUSH, G45's texture flush, or a thread's flush.
//! - TEXEL_LAYOUT: volume 1 is not there; levels, layers and slices lie as the public driver lays them (`functions/texture`), and a
//!   cube's faces are six slices in the order +x -x +y -y +z -z, which is also the order of the numbers of faces.
//! - LEVEL: the level of four pixels is that of the upper left one and its neighbours, to 8 bits behind the point; the manual says
//!   which neighbours must be valid (4.8.1) and that the rest depends on the implementation (4.2.1.1).
//! - TEXEL_FRACTION: linear filters tell 256 places of a texel apart; Address Rounding Enable changes nothing.
//! - REFERENCE: the reference of a comparison with a unorm texel is brought between 0 and 1. A texel that is NaN is 0 in an
//!   ordered comparison where the manual's erratum gives 1.
//! - LAYER: a sample's layer is rounded to the nearest, clamped, and then added to the surface's first.
//! - SIZE_OF_LEVEL: resinfo gives no size below 1 of a level that is there, and 0 of one that is not.
//! - LOADED_ALPHA: loads of formats without alpha whose channels have 8 bits give alpha 0, inside the surface too.
//! - BOUNDS: an access beyond a surface, which reads 0 and writes nothing (5.10), ends the run.
//! - VERTEX_ID: numbers of vertices count from 0 without indices, and are the index before the base with them.
//! - VERTEX_LIMIT: a greatest index of 0 is none.
//! - SETUP_ORDER: a triangle's vertices are rotated until the topmost, of those the leftmost, comes first.
//! - SETUP_MASK: a setup thread has eight channels.
//! - SUBSPANS: pixel threads get subspans in the order of rows; those that they have no pixels for are undefined.
//! - HANDLES: an entry's handle is the unit where it begins in its section, and its ID counts the entries that its unit handed out.
