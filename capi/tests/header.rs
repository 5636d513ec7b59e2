//! The header is what cbindgen makes of the sources. `BLESS=1` writes it.

use gpucc_capi::sizes::{SIZES, emulator};
use std::fmt::Write as _;
use std::path::Path;

/// What stands behind cbindgen's part: sizes as the compiler of C must see them, and two conveniences.
fn trailer() -> String {
    let mut text = String::from(
        "/* A text that ends with a zero byte. */\n\
         static inline gpucc_text gpucc_text_of(const char *text) {\n    \
             gpucc_text made = {text, 0};\n    \
             while (text && text[made.size]) {\n        \
                 made.size++;\n    \
             }\n    \
             return made;\n\
         }\n\n\
         /* Bytes. */\n\
         static inline gpucc_bytes gpucc_bytes_of(const void *data, size_t size) {\n    \
             gpucc_bytes made = {(const uint8_t *)data, size};\n    \
             return made;\n\
         }\n\n\
         #if UINTPTR_MAX > 0xFFFFFFFFu\n\
         #ifdef __cplusplus\n\
         #define GPUCC_SIZE(type, size) static_assert(sizeof(type) == size, #type)\n\
         #else\n\
         #define GPUCC_SIZE(type, size) _Static_assert(sizeof(type) == size, #type)\n\
         #endif\n",
    );
    for (name, size) in SIZES.iter().chain(emulator::SIZES) {
        let _ = writeln!(text, "GPUCC_SIZE({name}, {size});");
    }
    text.push_str("#undef GPUCC_SIZE\n#endif\n");
    text
}

/// Without the sections that Rust's readers ask for.
fn without_rust(text: &str) -> String {
    let mut kept = String::new();
    let mut within = false;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let next = lines.peek().copied().unwrap_or_default();
        within |= line == "//" && next == "// # Safety";
        within &= line.starts_with("//");
        if !within {
            kept.push_str(line.trim_end());
            kept.push('\n');
        }
    }
    kept
}

#[test]
fn the_header_is_what_cbindgen_makes_of_the_sources() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("it is TOML");
    config.trailer = Some(trailer());
    let made = cbindgen::Builder::new().with_crate(root).with_config(config).generate();
    let mut bytes = Vec::new();
    made.expect("the sources can be read").write(&mut bytes);
    let made = without_rust(&String::from_utf8(bytes).expect("it is text"));
    let path = root.join("include/gpucc.h");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &made).expect("it can be written");
    }
    let found = std::fs::read_to_string(&path).expect("it is there");
    assert!(found == made, "capi/include/gpucc.h is old: BLESS=1 cargo test -p gpucc-capi header");
    for (name, _) in SIZES.iter().chain(emulator::SIZES) {
        assert!(made.contains(&format!("}} {name};\n")), "{name} is not in the header");
    }
}
