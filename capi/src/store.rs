//! Results that last: keys of requests, and blobs of results for a driver's cache.

use crate::abi::{self, Reply, gpucc_bytes};
use crate::compiler::{Asked, gpucc_compiler};
use crate::entry::{entry, value};
use crate::handle::{give, look};
use crate::input::gpucc_request;
use crate::result::{Made, gpucc_result, without_ssa};
use crate::status::gpucc_status;
use gpucc::{Failure, Key, Rejected, Stage, StoredEntry};
use std::time::Duration;

/// The name of a request and of what it gives. It stays the same on every host and thread, and in every process of the same
/// build of gpucc; another build has other keys.
#[repr(C)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct gpucc_key {
    /// A hash.
    pub bytes: [u8; 32],
}

/// A key of the caller's.
///
/// # Safety
/// The pointer is null or leads to a key.
unsafe fn key(from: *const gpucc_key) -> Reply<Key> {
    // SAFETY: the caller's; bytes have no alignment.
    let found = unsafe { from.as_ref() }.ok_or_else(|| Failure::usage("the key is null"))?;
    Ok(Key(found.bytes))
}

/// The key of what gpucc_compile makes of a request, without compiling it. Included texts count, so the request's include
/// function is asked.
///
/// # Safety
/// The pointers lead to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_request_key(
    compiler: *const gpucc_compiler,
    request: *const gpucc_request,
    key: *mut gpucc_key,
) -> gpucc_status {
    entry(|| {
        // SAFETY: the caller's.
        let (compiler, asked) = unsafe { (look(compiler, "compiler")?, Asked::read(request)?) };
        let bytes = asked.key(&compiler.compiler)?.0;
        // SAFETY: the caller's.
        unsafe { abi::write(key, gpucc_key { bytes }, "the place of the key") }?;
        Ok(gpucc_status::GPUCC_OK)
    })
}

/// The keys of what gpucc_compile_pair makes of two requests.
///
/// # Safety
/// The pointers lead to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_pair_keys(
    compiler: *const gpucc_compiler,
    vertex: *const gpucc_request,
    fragment: *const gpucc_request,
    vertex_key: *mut gpucc_key,
    fragment_key: *mut gpucc_key,
) -> gpucc_status {
    entry(|| {
        // SAFETY: the caller's.
        let (compiler, mut vertex, mut fragment) =
            unsafe { (look(compiler, "compiler")?, Asked::read(vertex)?, Asked::read(fragment)?) };
        (vertex.stage, fragment.stage) = (Some(Stage::Vertex), Some(Stage::Fragment));
        let read = fragment.key(&compiler.compiler)?;
        // What the vertex stage writes depends on what the fragment stage reads.
        let written = vertex.key(&compiler.compiler)?.beside(&read);
        // SAFETY: the caller's.
        unsafe {
            abi::write(vertex_key, gpucc_key { bytes: written.0 }, "the place of the vertex key")?;
            abi::write(fragment_key, gpucc_key { bytes: read.0 }, "the place of the fragment key")?;
        }
        Ok(gpucc_status::GPUCC_OK)
    })
}

/// The key of the request that a result is of, as gpucc_request_key and gpucc_pair_keys give it: of compiled results, and of
/// those that failed. A loaded result has the key that it was loaded with. Kernels have none, nor has a request (of a pair: where
/// either has none) whose source was not taken or could not be preprocessed. These are GPUCC_USAGE, with zeros as the key.
///
/// # Safety
/// The pointers lead to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_result_key(
    result: *const gpucc_result,
    key: *mut gpucc_key,
) -> gpucc_status {
    entry(|| {
        // SAFETY: the caller's, here and below.
        unsafe { abi::write(key, gpucc_key { bytes: [0; 32] }, "the place of the key") }?;
        // SAFETY: the same.
        let bytes = unsafe { look(result, "result") }?.key()?.0;
        // SAFETY: the same.
        unsafe { abi::write(key, gpucc_key { bytes }, "") }?;
        Ok(gpucc_status::GPUCC_OK)
    })
}

/// A result as bytes, which gpucc_result_load reads: equal for equal requests. They live as long as the result. `key` is
/// that of its request: of gpucc_request_key for a result of gpucc_compile, of gpucc_pair_keys for one of
/// gpucc_compile_pair. Another key makes a blob that is found where it does not belong. A second call must give the same
/// key. The interpreter's results, those of kernels and those that failed have no bytes.
///
/// # Safety
/// The pointers lead to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_result_blob(
    result: *const gpucc_result,
    key: *const gpucc_key,
) -> gpucc_bytes {
    value(gpucc_bytes::NONE, || {
        // SAFETY: the caller's.
        let (result, key) = unsafe { (look(result, "result")?, self::key(key)?) };
        Ok(gpucc_bytes::of(result.blob(key)?))
    })
}

/// The result in a blob, in place of gpucc_compile with the same request. GPUCC_USAGE means that the blob is another
/// build's, another request's, or damaged: compile. A loaded result runs on devices. It has no SSA, so it cannot be
/// verified.
///
/// # Safety
/// The pointers lead to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_result_load(
    compiler: *const gpucc_compiler,
    request: *const gpucc_request,
    key: *const gpucc_key,
    blob: gpucc_bytes,
    result: *mut *mut gpucc_result,
) -> gpucc_status {
    entry(|| {
        // SAFETY: the caller's.
        unsafe { abi::write(result, std::ptr::null_mut(), "the place of the result") }?;
        // SAFETY: the caller's, for as long as this call lasts.
        let (compiler, asked, key, blob) = unsafe {
            let compiler = look(compiler, "compiler")?;
            (compiler, Asked::read(request)?, self::key(key)?, abi::bytes(blob, "the blob")?)
        };
        asked.is_for(&compiler.compiler)?;
        asked.admit()?;
        let mut stored = compiler.compiler.load(&key, blob)?;
        let (Some(StoredEntry { binary, properties }), true) =
            (stored.entries.pop(), stored.entries.is_empty())
        else {
            return Err(Rejected::Forged("it has not one entry point".into()).into());
        };
        if !asked.is_answered(&binary.entry, binary.stage) {
            let why = "it is of another entry point than the request's";
            return Err(Rejected::Forged(why.into()).into());
        }
        let program = binary
            .program
            .ok_or_else(|| Failure::from(Rejected::Forged("it has no code".into())))?;
        let source = asked.text().clone();
        let mut options = asked.options;
        (options.cancel, options.includes) = (None, None);
        let made = Made {
            compiler: compiler.compiler.clone(),
            options,
            compiled: without_ssa(program),
            source,
            warnings: stored.warnings,
            frontend: Duration::ZERO,
            properties: Some(properties),
        };
        let made = gpucc_result::new(made, compiler).under(Some(key));
        // SAFETY: the caller's.
        unsafe { abi::write(result, give(made), "") }?;
        Ok(gpucc_status::GPUCC_OK)
    })
}
