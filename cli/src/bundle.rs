//! The file to report for a bug of gpucc: message, command line, source and IR.

use super::files;
use super::names::{printable, shown};
use gpucc::{Failure, FailureKind, SourceText};
use std::fmt::Write;
use std::sync::Mutex;

static LAST_PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Remembers where a panic happened instead of printing it at once.
pub fn install_hook() {
    std::panic::set_hook(Box::new(|info| {
        let place = info
            .location()
            .map(|place| format!("{}:{}:{}", place.file(), place.line(), place.column()));
        if let Ok(mut last) = LAST_PANIC.lock() {
            *last = place;
        }
    }));
}

/// For bugs of gpucc: writes the bundle and adds a note with its path.
pub fn attach(failure: &mut Failure, source: &SourceText) {
    if !matches!(failure.kind, FailureKind::Internal { .. }) {
        return;
    }
    let mut text = format!("{} internal error\n\n", gpucc::PRODUCER);
    for diagnostic in &failure.diagnostics {
        let _ = writeln!(text, "{}", diagnostic.message);
    }
    let place = LAST_PANIC.lock().ok().and_then(|mut last| last.take());
    if let Some(place) = place {
        let _ = writeln!(text, "panicked at {place}");
    }
    text.push_str("\ncommand line:\n");
    for arg in std::env::args_os() {
        let _ = writeln!(text, "  {}", arg.to_string_lossy());
    }
    let _ = writeln!(text, "\nsource {}:", printable(&source.name));
    text.push_str(source.text.as_deref().unwrap_or("(binary, please attach)\n"));
    if let Some(ir) = &failure.ir {
        text.push_str("\n\nIR:\n");
        text.push_str(ir);
    }
    // The same bug gives the same name.
    let mut hash: u64 = 0xCBF2_9CE4_8422_2325;
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    }
    let path = std::env::temp_dir().join(format!("gpucc-bug-{hash:016x}.txt"));
    let mut outputs = files::Outputs::default();
    outputs.put(Some(&path), text.into_bytes(), false);
    let note = match outputs.commit() {
        Ok(()) => format!("please report it with {}", shown(&path)),
        Err(_) => "please report it with the shader and the command line".to_owned(),
    };
    if let Some(first) = failure.diagnostics.first_mut() {
        first.notes.push(note);
    }
}
