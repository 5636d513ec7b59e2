//! Rows of the table that no document describes well enough to be run, and what is missing of each. ERRATA.md lists
//! the same for readers.

/// Beginnings of names, and what no document defines of the instructions that have them.
pub const MISSING: &[(&str, &str)] = &[
    ("DOORBELL", "what DOORBELL does"),
    ("EUREKA", "what EUREKA does"),
    ("KABOOM", "what KABOOM does"),
    ("JUMP_EX", "the stack of JUMP_EX"),
    // The longer names first.
    (
        "VAR_TEX_BUF_DUAL",
        "how one handle names the textures of a pair",
    ),
    (
        "VAR_TEX_DUAL",
        "how one handle names the textures of a pair",
    ),
    ("TEX_DUAL", "how one handle names the textures of a pair"),
    (
        "VAR_TEX_SINGLE",
        "the descriptor of a varying in a software buffer",
    ),
    (
        "VAR_TEX_GATHER",
        "the descriptor of a varying in a software buffer",
    ),
    (
        "VAR_TEX_GRADIENT",
        "the descriptor of a varying in a software buffer",
    ),
    (
        "LD_VAR_FLAT",
        "the descriptor of a varying in a software buffer",
    ),
    (
        "LD_VAR_IMM",
        "the descriptor of a varying in a software buffer",
    ),
    ("LD_VAR", "the descriptor of a varying in a software buffer"),
    ("TEX_WEIGHTS", "what TEX_WEIGHTS returns"),
    ("LD_TILE", "the descriptor of a pixel within the tile"),
    ("ST_TILE", "the descriptor of a pixel within the tile"),
    ("ILOGB", "the exponents of what has none, and of subnormals"),
    ("LOGB", "the exponents of what has none, and of subnormals"),
    ("FPCLASS", "the numbers of the classes"),
    ("FSINCOS_OFFSET", "FSINCOS_OFFSET"),
    ("FLOG_TABLE", "what stands in FLOG_TABLE"),
    ("FEXP_TABLE", "what stands in FEXP_TABLE"),
    (
        "FATAN_ASSIST",
        "what stands in the tables of the arc tangent",
    ),
    ("FRCP_APPROX", "the bits of an approximation"),
    ("FRSQ_APPROX", "the bits of an approximation"),
    ("FRCBRT_APPROX", "the bits of an approximation"),
    ("FPOW_SC", "the special cases of FPOW_SC"),
    ("FMUL_SLICE", "what a slice of a product is"),
    ("FMUL_CSLICE", "what a slice of a product is"),
    (
        "FMA_RSCALE_SCALE16",
        "this form of FMA_RSCALE: Arm names it n_add, others scale16",
    ),
    ("SEG_ADD", "what an addition to a segment keeps of it"),
];

/// What no document defines of the row, where that is so.
pub fn of(name: &str) -> Option<&'static str> {
    let begins = |start: &str| {
        let rest = name.strip_prefix(start)?;
        // The name of a row or all of its first words.
        (rest.is_empty() || rest.starts_with(['.', '_'])).then_some(())
    };
    let found = MISSING.iter().find(|(start, _)| begins(start).is_some())?;
    // The hardware's own varyings are described.
    let buffer = name.starts_with("LD_VAR_BUF") || name.starts_with("LD_VAR_SPECIAL");
    (!buffer).then_some(found.1)
}
