//! Calls as a driver makes them, for the other tests.

use gpucc_capi::abi::{gpucc_bytes, gpucc_text};
use gpucc_capi::compiler::{
    gpucc_compile, gpucc_compiler, gpucc_compiler_create, gpucc_compiler_destroy,
};
use gpucc_capi::input::{gpucc_config, gpucc_options, gpucc_request, gpucc_source};
use gpucc_capi::result::gpucc_result;
use gpucc_capi::status::gpucc_status;
use std::ptr::null_mut;

/// A structure of zeros with its size.
pub fn zeros<T: Copy>() -> T {
    assert!(size_of::<T>() >= 4 && align_of::<T>() >= 4);
    // SAFETY: the interface's structures have numbers, pointers and functions that may be null, and begin with their size.
    unsafe {
        let mut value = std::mem::MaybeUninit::<T>::zeroed();
        value.as_mut_ptr().cast::<u32>().write(size_of::<T>() as u32);
        value.assume_init()
    }
}

/// A text.
pub fn text(text: &str) -> gpucc_text {
    gpucc_text { data: text.as_ptr().cast(), size: text.len() }
}

/// Bytes.
pub fn bytes(bytes: &[u8]) -> gpucc_bytes {
    gpucc_bytes { data: bytes.as_ptr(), size: bytes.len() }
}

/// What a text of the interface says.
pub fn said(text: gpucc_text) -> String {
    if text.data.is_null() {
        return String::new();
    }
    // SAFETY: the interface gives so many bytes and a zero.
    let bytes = unsafe { std::slice::from_raw_parts(text.data.cast::<u8>(), text.size + 1) };
    assert_eq!(bytes[text.size], 0, "a zero byte stands behind a text");
    String::from_utf8(bytes[..text.size].to_vec()).expect("it is UTF-8")
}

/// The bytes of the interface.
pub fn copied(bytes: gpucc_bytes) -> Vec<u8> {
    if bytes.data.is_null() {
        return Vec::new();
    }
    // SAFETY: the interface gives so many bytes.
    unsafe { std::slice::from_raw_parts(bytes.data, bytes.size) }.to_vec()
}

/// A compiler that ends with its test.
pub struct Compiler(pub *mut gpucc_compiler);

// SAFETY: the interface lets any thread use a compiler.
unsafe impl Sync for Compiler {}

impl Compiler {
    /// For a target.
    pub fn new(target: &str) -> Compiler {
        let config = gpucc_config { target: text(target), ..zeros() };
        let mut compiler = null_mut();
        // SAFETY: they lead to what they say.
        let status = unsafe { gpucc_compiler_create(&config, &mut compiler) };
        assert_eq!(status, gpucc_status::GPUCC_OK);
        Compiler(compiler)
    }

    /// Compiles WGSL's only entry point.
    pub fn compile(
        &self,
        wgsl: &str,
        options: &gpucc_options,
    ) -> (gpucc_status, *mut gpucc_result) {
        let source = wgsl_source(wgsl);
        self.request(&gpucc_request { source: &source, options, ..zeros() })
    }

    /// Compiles.
    pub fn request(&self, request: &gpucc_request) -> (gpucc_status, *mut gpucc_result) {
        let mut result = null_mut();
        // SAFETY: they lead to what they say.
        let status = unsafe { gpucc_compile(self.0, request, &mut result) };
        (status, result)
    }
}

impl Drop for Compiler {
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more.
        unsafe { gpucc_compiler_destroy(self.0) };
    }
}

/// A source in WGSL.
pub fn wgsl_source(wgsl: &str) -> gpucc_source {
    gpucc_source { language: 1, data: bytes(wgsl.as_bytes()), ..zeros() }
}
