//! What no document settles, and what this emulator does: the page marks such things [A], and so do the files that do them.
//!
//! Bits and operands.
//! - PHASE_BIT: bit 7 of a bitwise group's phase 0 is 1 in the vendor's words and 0 in the public compiler's; both are read.
//! - VENDOR_BITS: bit 1 of a load's last byte and the bits above the port of a tiled store's mask are set in the vendor's
//!   words; they change nothing.
//! - BITWISE_FT1: without a logical operation the mask's feedthrough goes on to the shift, and a bypassed mask is S1 (the
//!   public compiler shifts S1 so; the page says S0).
//! - SHARED_WRITE: groups that are not atomic write shared registers too: the vendor's words do, the page says otherwise.
//! - COEFFICIENT_PORT: coefficients on S1 are refused, as the page says; the public compiler emits some.
//! - SLOTS: special registers 36 to 43 are the internal registers.
//!
//! Arithmetic (`value`, `integer`, `pack`, `special`).
//! - ROUNDING: sums, products and fused products are rounded once, to nearest or toward zero by the core; denormals count as
//!   zeros in arithmetic and in tests of floats.
//! - SPECIAL: rcp, rsq, log and exp are rounded once; fred and fsinc are a pair of ours whose composition is the function.
//! - DERIVATIVE: a coarse derivative is that of the quad's first pixel.
//! - SIGNS_64: the sign of add64_32's pair is taken of the pair (the public compiler's borrow needs it).
//! - COUNTS: shifts and masks take their counts modulo 32; the highest bit of 0 is all ones.
//! - PACKED: elements lie from the lowest bit on; those that a pack does not fill hold anything.
//! - REPEAT: a repeated group is its iterations one after the other; constants stay; an unpack's element steps and its
//!   source stays; a pack's element steps and its destination stays.
//!
//! Flow.
//! - ALLINST: a branch of all instances is taken when none executes it; beside a condition, and of any instance, it stops.
//! - BRANCH: instances that execute a branch agree, unless it leads to the next group.
//! - START: every instance of a task executes at first.
//! - MUTEX: a mutex is a task's, and is released before the task ends; a sleeper wakes by the next release that wakes.
//!
//! Messages.
//! - ARRIVAL: a message's effects happen at any time before its wait; its results are there behind the wait. Registers that
//!   it reads are not written until then.
//! - VISIBILITY: tests of alpha and feedback are on the first data fence.
//! - ALIGNED: an access is aligned to its size.
//! - DEPTHS: a depth that goes back is what it is, where a driver says that depths may lie beyond 0 and 1.
//! - SAMPLES: of pixels of several samples a program runs for each, by quads of the same sample. Saved masks are the bit of the
//!   instance's own sample. A sample has words of its own in output registers and tile buffers.
//! - HELPERS: stores and atomic operations of pixels that are not covered do not happen.
//! - TILE_BUFFER: special registers 54 to 61 and 119 to 126 are offsets of the pixel's words within a tile of 32 by 32
//!   pixels of eight words each.
//! - PLANE: A x + B y + C is rounded once, and its quotient by the reciprocal of w once more.
//! - TEXELS: see `texture`. Levels beside a quad's are those of its first pixel, but for operations with a level a pixel.
//!
//! Launch.
//! - SEQUENCER: a branch counts words from itself; the condition of an instruction is what the last branch set, at first
//!   IF0; IF0 is the last instance of a task, IF1 a coefficient task (the public driver's programs need it).
//! - SUM_64: the page gives the sum of 64 bits neither a condition nor a difference: those bits are reserved.
//! - POINTS: the number of a primitive is the constant of its set, as an integer; a place in a point is two sets, from 0 to 1 to the
//!   right and down.
//! - OUTPUT_WORDS: the fields of DOUTW's operand lie where those of DOUTD's do.
//! - IDENTIFIERS: a coefficient task has the workgroup's number in temporaries 0, 1 and 3, an instance its own in 0 and 1.
//! - STENCIL: of the operations on stencils the first is for what passes, the second for failed depths, the third for failed
//!   stencils. Faces go clockwise or not as they are seen on the screen.
//! - RASTER: pixels, weights and centroids are those of the rasteriser that every machine shares.
//!
//! Not built, and said so by L2: filter coefficients and halves of texture operations, programs that run for a pixel of several samples, several viewports, scissors, depth biases, clip planes, indirect draws, captured outputs,
//! events and offsets of kernels, turned and twiddled targets, least levels of textures, several planes, comparisons and
//! anisotropy of samplers, wrapped varyings.
//! Nothing public says enough of these, and L3 says so: operations of lower precision, of halves, of 8 and 16 bits, gamma,
//! iterate-and-sample, arc tangents, the second logarithm, add64, tests of the carry, four of the shifts, nine of the packed formats, moved
//! masks, phases, cuts and streams of the vertex buffer.
