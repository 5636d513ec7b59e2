//! What no document describes well enough to be run: what is missing of the rows of the table that say so. ERRATA.md
//! lists the same for readers.

pub const DOORBELL: &str = "what DOORBELL does";
pub const EUREKA: &str = "what EUREKA does";
pub const KABOOM: &str = "what KABOOM does";
pub const JUMP_EX: &str = "the stack of JUMP_EX";
pub const PAIR: &str = "how one handle names the textures of a pair";
pub const VARYING: &str = "the descriptor of a varying in a software buffer";
pub const WEIGHTS: &str = "what TEX_WEIGHTS returns";
pub const TILE: &str = "the descriptor of a pixel within the tile";
pub const EXPONENT: &str = "the exponents of what has none, and of subnormals";
pub const CLASS: &str = "the numbers of the classes";
pub const SINCOS: &str = "FSINCOS_OFFSET";
pub const LOG_TABLE: &str = "what stands in FLOG_TABLE";
pub const EXP_TABLE: &str = "what stands in FEXP_TABLE";
pub const ATAN_TABLE: &str = "what stands in the tables of the arc tangent";
pub const APPROX: &str = "the bits of an approximation";
pub const POW: &str = "the special cases of FPOW_SC";
pub const SLICE: &str = "what a slice of a product is";
pub const RSCALE16: &str = "this form of FMA_RSCALE: Arm names it n_add, others scale16";
pub const SEGMENT: &str = "what an addition to a segment keeps of it";
