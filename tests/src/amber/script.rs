//! The text of a script.

use super::values::{Tolerance, Type};
use indexmap::IndexMap;
use std::collections::BTreeMap;

/// A shader of a script.
pub enum Shader {
    Glsl(String),
    /// Text of SPIR-V, and the environment that it is for.
    SpirV {
        text: String,
        environment: Option<String>,
    },
}

/// A buffer as the script begins.
pub struct Buffer {
    pub ty: Type,
    pub bytes: Vec<u8>,
}

/// Buffers at a place.
pub struct Binding {
    /// Descriptor set and number; none for the immediates.
    pub place: Option<(u32, u32)>,
    /// Several for an array.
    pub buffers: Vec<String>,
    /// Bytes of the buffer in front.
    pub offset: usize,
}

/// A compute pipeline.
#[derive(Default)]
pub struct Pipeline {
    pub shader: String,
    pub entry: Option<String>,
    pub constants: BTreeMap<String, f64>,
    pub bindings: Vec<Binding>,
}

/// What a buffer must hold.
pub enum Check {
    /// Two buffers are equal.
    Same(String, String),
    /// Values from a byte offset on.
    Values { buffer: String, at: usize, tolerances: Vec<Tolerance>, values: Vec<String> },
}

/// What is done in order.
pub enum Step {
    Run { pipeline: String, groups: [u32; 3] },
    Expect(Check),
}

/// A whole script.
#[derive(Default)]
pub struct Script {
    pub shaders: IndexMap<String, Shader>,
    pub buffers: IndexMap<String, Buffer>,
    pub pipelines: IndexMap<String, Pipeline>,
    pub steps: Vec<Step>,
}

/// Reads a script.
///
/// # Errors
/// What of it is not understood.
pub fn parse(text: &str) -> Result<Script, String> {
    let mut script = Script::default();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let words = words(line);
        match words[..] {
            [] => {}
            [
                "DEVICE_FEATURE" | "DEVICE_EXTENSION" | "DEVICE_PROPERTY" | "INSTANCE_EXTENSION"
                | "SET",
                ..,
            ] => {}
            ["SHADER", "compute", name, ref rest @ ..] => {
                let body: Vec<&str> = until_end(&mut lines).collect();
                let body = body.join("\n");
                let shader = match *rest {
                    ["GLSL", ..] => Shader::Glsl(body.trim_start().to_owned()),
                    ["SPIRV-ASM"] => Shader::SpirV { text: body, environment: None },
                    ["SPIRV-ASM", "TARGET_ENV", environment] => {
                        Shader::SpirV { text: body, environment: Some(environment.to_owned()) }
                    }
                    _ => return Err(format!("not understood: {line}")),
                };
                script.shaders.insert(name.to_owned(), shader);
            }
            ["BUFFER", name, "DATA_TYPE", ty, ref rest @ ..] => {
                let (rest, std140) = match *rest {
                    ["STD140", ref rest @ ..] => (rest, true),
                    ["STD430", ref rest @ ..] => (rest, false),
                    _ => (rest, false),
                };
                let ty = Type::parse(ty).ok_or_else(|| format!("no type: {ty}"))?;
                let ty = Type { std140, ..ty };
                let bytes = contents(ty, rest, &mut lines);
                let bytes = bytes.ok_or_else(|| format!("not understood: {line}"))?;
                script.buffers.insert(name.to_owned(), Buffer { ty, bytes });
            }
            ["PIPELINE", "compute", name] => {
                script.pipelines.insert(name.to_owned(), pipeline(&mut lines)?);
            }
            ["RUN", pipeline, x, y, z] => {
                let number =
                    |word: &str| word.parse().map_err(|_| format!("not understood: {line}"));
                let groups = [number(x)?, number(y)?, number(z)?];
                script.steps.push(Step::Run { pipeline: pipeline.to_owned(), groups });
            }
            ["EXPECT", ref rest @ ..] => {
                let check = check(rest).ok_or_else(|| format!("not understood: {line}"))?;
                script.steps.push(Step::Expect(check));
            }
            _ => return Err(format!("not understood: {line}")),
        }
    }
    Ok(script)
}

/// The words of a line in front of a comment.
fn words(line: &str) -> Vec<&str> {
    line.split('#').next().unwrap_or_default().split_whitespace().collect()
}

/// Lines up to one that says `END`.
fn until_end<'l>(lines: &mut impl Iterator<Item = &'l str>) -> impl Iterator<Item = &'l str> {
    lines.by_ref().take_while(|line| line.trim() != "END")
}

fn contents<'l>(
    ty: Type,
    words_behind: &[&str],
    lines: &mut impl Iterator<Item = &'l str>,
) -> Option<Vec<u8>> {
    match *words_behind {
        ["DATA"] => {
            let lines: Vec<&str> = until_end(lines).collect();
            ty.encode(lines.iter().flat_map(|line| words(line)))
        }
        ["SIZE", size, "FILL", value] => {
            let count = size.parse::<usize>().ok()?.checked_mul(ty.values())?;
            ty.encode(std::iter::repeat_n(value, count))
        }
        ["SIZE", size, "SERIES_FROM", first, "INC_BY", step] => {
            let count = size.parse::<usize>().ok()?.checked_mul(ty.values())?;
            let (first, step): (f64, f64) = (first.parse().ok()?, step.parse().ok()?);
            let series: Vec<String> =
                (0..count).map(|number| (first + step * number as f64).to_string()).collect();
            ty.encode(series.iter().map(String::as_str))
        }
        _ => None,
    }
}

fn pipeline<'l>(lines: &mut impl Iterator<Item = &'l str>) -> Result<Pipeline, String> {
    let mut pipeline = Pipeline::default();
    while let Some(line) = lines.next() {
        let fail = || format!("not understood: {line}");
        match words(line)[..] {
            [] => {}
            ["END"] => return Ok(pipeline),
            ["ATTACH", shader, ref rest @ ..] => {
                pipeline.shader = shader.to_owned();
                let mut rest = rest;
                loop {
                    rest = match *rest {
                        [] => break,
                        ["TYPE", _, ref more @ ..] => more,
                        ["ENTRY_POINT", name, ref more @ ..] => {
                            pipeline.entry = Some(name.to_owned());
                            more
                        }
                        ["SPECIALIZE", id, "AS", _, value, ref more @ ..] => {
                            let value = value.parse().map_err(|_| fail())?;
                            pipeline.constants.insert(id.to_owned(), value);
                            more
                        }
                        _ => return Err(fail()),
                    };
                }
            }
            // How lanes are grouped is the machine's.
            ["SUBGROUP", _] => until_end(lines).for_each(drop),
            ["BIND", "BUFFER", buffer, "AS", "push_constant"] => pipeline.bindings.push(Binding {
                place: None,
                buffers: vec![buffer.to_owned()],
                offset: 0,
            }),
            ["BIND", what @ ("BUFFER" | "BUFFER_ARRAY"), ref rest @ ..] => {
                let place = rest.iter().position(|word| *word == "AS").ok_or_else(fail)?;
                let (names, rest) = rest.split_at(place);
                let is_one = what == "BUFFER_ARRAY" || names.len() == 1;
                let kinds = ["storage", "uniform", "storage_dynamic", "uniform_dynamic"];
                let (set, number, offset) = match *rest {
                    ["AS", kind, "DESCRIPTOR_SET", set, "BINDING", number]
                        if is_one && kinds.contains(&kind) =>
                    {
                        (set, number, "0")
                    }
                    ["AS", kind, "DESCRIPTOR_SET", set, "BINDING", number, "OFFSET", offset]
                        if is_one && kinds.contains(&kind) =>
                    {
                        (set, number, offset)
                    }
                    _ => return Err(fail()),
                };
                let number_of = |word: &str| word.parse::<u32>().map_err(|_| fail());
                pipeline.bindings.push(Binding {
                    place: Some((number_of(set)?, number_of(number)?)),
                    buffers: names.iter().map(|name| (*name).to_owned()).collect(),
                    offset: number_of(offset)? as usize,
                });
            }
            _ => return Err(fail()),
        }
    }
    Err("a pipeline has no END".to_owned())
}

fn check(words: &[&str]) -> Option<Check> {
    match *words {
        [first, "EQ_BUFFER", second] => Some(Check::Same(first.to_owned(), second.to_owned())),
        [buffer, "IDX", at, ref rest @ ..] => {
            let place = rest.iter().position(|word| *word == "EQ")?;
            let (tolerances, values) = rest.split_at(place);
            let tolerances = match *tolerances {
                [] => Vec::new(),
                ["TOLERANCE", ref list @ ..] => {
                    let one = |word: &&str| match word.strip_suffix('%') {
                        Some(percent) => percent.parse().ok().map(Tolerance::Percent),
                        None => word.parse().ok().map(Tolerance::Absolute),
                    };
                    list.iter().map(one).collect::<Option<_>>()?
                }
                _ => return None,
            };
            Some(Check::Values {
                buffer: buffer.to_owned(),
                at: at.parse().ok()?,
                tolerances,
                values: values[1..].iter().map(|word| (*word).to_owned()).collect(),
            })
        }
        _ => None,
    }
}
