//! Amber scripts of Vulkan's conformance tests: shaders in GLSL or in the text of SPIR-V, buffers and images with what is in
//! them, dispatches and draws, and what must be there then. Some files are scripts of VkRunner.
//!
//! The text of SPIR-V is assembled by `spirv-as`: where it is absent, no script runs.

mod text;

use crate::cts::FileResult;
pub use crate::script::can_assemble;
use crate::{script, vkscript};
use gpucc::Compiler;
use std::path::{Path, PathBuf};

/// Folders of the corpus that hold scripts, with the ends of their names.
const FOLDERS: [(&str, &str); 2] =
    [("exec/amber-vk-gl-cts", "amber"), ("exec/vkrunner", "shader_test")];

/// Runs every script whose name contains `filter`.
///
/// # Errors
/// A folder that cannot be read.
pub fn run(compiler: &Compiler, corpus: &Path, filter: &str) -> std::io::Result<Vec<FileResult>> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for (folder, end) in FOLDERS {
        for entry in std::fs::read_dir(corpus.join(folder))? {
            let path = entry?.path();
            let is_script = path.extension().is_some_and(|found| found == end);
            if is_script && path.to_string_lossy().contains(filter) {
                paths.push(path);
            }
        }
    }
    paths.sort();
    Ok(paths.iter().map(|path| file(compiler, path)).collect())
}

fn file(compiler: &Compiler, path: &Path) -> FileResult {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut result = FileResult { name, ..FileResult::default() };
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            result.refused = Some((2, error.to_string()));
            return result;
        }
    };
    let runner = path.extension().is_some_and(|end| end != "amber");
    of_text(compiler, &text, runner, &mut result);
    result
}

/// Runs the text of a script. `runner`: it is one of VkRunner, not one for Amber.
fn of_text(compiler: &Compiler, text: &str, runner: bool, result: &mut FileResult) {
    let script = match vkscript::is(text) {
        true => vkscript::parse(text, runner),
        false => text::parse(text),
    };
    match script {
        Ok(script) => script::run(compiler, &script, result),
        Err(failure) => result.refused = Some((failure.exit_code(), failure.summary().to_owned())),
    }
}

#[cfg(test)]
mod tests;
