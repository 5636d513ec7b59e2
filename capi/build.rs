//! The shared library's name at run time is that of its interface's version.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // cargo-c gives one by itself.
    let by_cargo_c = std::env::var_os("CARGO_FEATURE_CAPI").is_some();
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") && !by_cargo_c {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libgpucc.so.1");
    }
}
