//! `gpucc asm` and `gpucc disasm`.

use super::args::{AsmArgs, DisasmArgs};
use super::data::hex_bytes;
use super::files::{self, Outputs};
use super::names::shown;
use gpucc::flow::{Flow, Steps};
use gpucc::named::Figure;
use gpucc::{Assembler, AssemblyError, Failure};
use std::path::{Path, PathBuf};

/// How machine code is written as text.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Spelling {
    Raw,
    Tokens,
    Pairs,
}

fn spelling(hex: bool, bytes: bool) -> Spelling {
    match (hex, bytes) {
        (true, _) => Spelling::Tokens,
        (false, true) => Spelling::Pairs,
        (false, false) => Spelling::Raw,
    }
}

fn input(file: &Option<PathBuf>) -> &Path {
    file.as_deref().unwrap_or(Path::new("-"))
}

fn unit<'a>(assembler: &dyn Assembler, format: &'a Option<String>) -> Result<&'a str, Failure> {
    let units = assembler.units();
    match format {
        None => Ok(units[0]),
        Some(name) if units.contains(&name.as_str()) => Ok(name),
        Some(name) => Err(Failure::usage(format!("there is no unit '{name}'"))
            .note(format!("units are {}", units.join(", ")))),
    }
}

/// The text of lines that are answered one by one: what is no UTF-8 is replaced and fails in its own line, if it counts there. A
/// byte-order mark is dropped.
fn lines(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned()
}

/// Runs `gpucc disasm`.
pub fn disasm(args: &DisasmArgs) -> Result<u8, Failure> {
    let (target, _) = super::target(&args.target)?;
    let assembler = gpucc::assembler(target)?;
    let unit = unit(assembler, &args.format)?;
    let spelling = spelling(args.hex, args.bytes);
    let path = input(&args.file);
    let mut outputs = Outputs::default();
    outputs.keep(path);
    if args.lines {
        if spelling == Spelling::Raw {
            return Err(Failure::usage(
                "--lines reads text: add --hex (tokens) or --bytes (byte pairs)",
            ));
        }
        let text = lines(&files::read(path)?);
        let mut out = String::with_capacity(text.len() * 2);
        let mut failed = false;
        for line in text.lines() {
            if !line.trim().is_empty() {
                match code_of(line, spelling, assembler.token_bytes())
                    .map_err(|problem| problem.to_string())
                    .and_then(|code| {
                        assembler.disassemble(unit, &code).map_err(|error| error.to_string())
                    }) {
                    Ok(text) => out.push_str(&one_line(&text)),
                    Err(problem) => {
                        failed = true;
                        out.push_str("error: ");
                        out.push_str(&problem.replace('\n', " "));
                    }
                }
            }
            out.push('\n');
        }
        outputs.put(args.output.as_deref(), out.into_bytes(), false);
        outputs.commit()?;
        return Ok(u8::from(failed));
    }
    let bytes = files::read(path)?;
    let code = if spelling == Spelling::Raw {
        bytes
    } else {
        let text = files::text(path, bytes)?;
        code_of(&text, spelling, assembler.token_bytes())
            .map_err(|problem| Failure::invalid(format!("{}: {problem}", shown(path))))?
    };
    let wrong = |error| wrong(path, &error);
    let mut text = match args.stats {
        true => figures(&assembler.steps(&code).map_err(wrong)?, code.len()),
        false => assembler.disassemble(unit, &code).map_err(wrong)?,
    };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    outputs.put(args.output.as_deref(), text.into_bytes(), false);
    outputs.commit()?;
    Ok(0)
}

/// Runs `gpucc asm`.
pub fn asm(args: &AsmArgs) -> Result<u8, Failure> {
    let (target, _) = super::target(&args.target)?;
    let assembler = gpucc::assembler(target)?;
    let unit = unit(assembler, &args.format)?;
    let spelling = spelling(args.hex, args.bytes);
    let path = input(&args.file);
    let bytes = files::read(path)?;
    let text = match args.lines {
        true => lines(&bytes),
        false => files::text(path, bytes)?,
    };
    let mut outputs = Outputs::default();
    outputs.keep(path);
    if args.lines {
        if spelling == Spelling::Raw {
            return Err(Failure::usage(
                "--lines writes text: add --hex (tokens) or --bytes (byte pairs)",
            ));
        }
        let mut out = String::with_capacity(text.len());
        let mut failed = false;
        for line in text.lines() {
            if !line.trim().is_empty() {
                match assembler.assemble(unit, &line.replace(" ; ", "\n")) {
                    Ok(code) => {
                        out.push_str(&spell(&code, spelling, assembler.token_bytes()));
                    }
                    Err(error) => {
                        failed = true;
                        out.push_str("error: ");
                        out.push_str(&error.to_string().replace('\n', " "));
                    }
                }
            }
            out.push('\n');
        }
        outputs.put(args.output.as_deref(), out.into_bytes(), false);
        outputs.commit()?;
        return Ok(u8::from(failed));
    }
    let code = assembler.assemble(unit, &text).map_err(|error| wrong(path, &error))?;
    match spelling {
        Spelling::Raw => outputs.put(args.output.as_deref(), code, true),
        Spelling::Tokens => {
            let text = assembler.hex_lines(&code);
            outputs.put(args.output.as_deref(), text.into_bytes(), false);
        }
        Spelling::Pairs => {
            let mut text = spell(&code, spelling, assembler.token_bytes());
            text.push('\n');
            outputs.put(args.output.as_deref(), text.into_bytes(), false);
        }
    }
    outputs.commit()?;
    Ok(0)
}

/// What follows of a program's bytes, a figure a line.
fn figures(steps: &Steps, bytes: usize) -> String {
    let Flow { instructions, pressure, paths } = Flow::of(steps);
    let mut lines = vec![
        ("steps", format!("{} in {bytes} bytes", instructions.len())),
        ("live registers", format!("{} at most, at {:#x}", pressure.live, pressure.offset)),
    ];
    if pressure.live > 0 {
        lines.push(("alive there", pressure.registers.join(" ")));
    }
    lines.push(("shortest path", format!("{} cycles", Figure(paths.shortest))));
    lines.push(("longest path", format!("{} cycles, each loop once", Figure(paths.longest))));
    for trip in &paths.loops {
        let (from, to) = (trip.offset, trip.end);
        lines
            .push(("loop", format!("{from:#x} to {to:#x}: {} cycles a trip", Figure(trip.cycles))));
    }
    lines.iter().map(|(name, value)| format!("{name:<16}{value}\n")).collect()
}

fn wrong(path: &Path, error: &AssemblyError) -> Failure {
    match error {
        AssemblyError::Code { offset, message } => {
            Failure::invalid(format!("{}: at offset {offset:#x}: {message}", shown(path)))
        }
        AssemblyError::Text { line, column, message } => {
            Failure::invalid(format!("{}:{line}:{column}: {message}", shown(path)))
        }
    }
}

/// Several lines of text as one.
fn one_line(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(" ; ")
}

/// Machine code out of text; the error names the token or offset.
fn code_of(text: &str, spelling: Spelling, token_bytes: usize) -> Result<Vec<u8>, String> {
    if spelling == Spelling::Pairs {
        return hex_bytes(text).map_err(|failure| failure.summary().to_owned());
    }
    let mut code = Vec::with_capacity(text.len() / 2);
    for (index, token) in text.split_whitespace().enumerate() {
        let token = token.trim_end_matches(',');
        let digits = token.strip_prefix("0x").or_else(|| token.strip_prefix("0X")).unwrap_or(token);
        let value = u128::from_str_radix(digits, 16)
            .ok()
            .filter(|_| digits.len() <= 2 * token_bytes && !digits.starts_with('+'))
            .ok_or_else(|| {
                format!(
                    "token {}: `{}` is not a number of {} hexadecimal digits",
                    index + 1,
                    token.chars().take(40).collect::<String>(),
                    2 * token_bytes
                )
            })?;
        code.extend_from_slice(&value.to_le_bytes()[..token_bytes]);
    }
    Ok(code)
}

/// Machine code as text on one line.
fn spell(code: &[u8], spelling: Spelling, token_bytes: usize) -> String {
    let parts: Vec<String> = match spelling {
        Spelling::Raw | Spelling::Pairs => code.iter().map(|byte| format!("{byte:02x}")).collect(),
        Spelling::Tokens => code
            .chunks(token_bytes)
            .map(|token| {
                let digits: String = token.iter().rev().map(|byte| format!("{byte:02x}")).collect();
                format!("0x{digits}")
            })
            .collect(),
    };
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_numbers_and_bytes_follow_least_significant_first() {
        let code = code_of("0x81000400 0x2", Spelling::Tokens, 4).expect("two tokens");
        assert_eq!(code, [0, 4, 0, 0x81, 2, 0, 0, 0]);
        assert_eq!(spell(&code, Spelling::Tokens, 4), "0x81000400 0x00000002");
        assert_eq!(code_of("00 04 00 81", Spelling::Pairs, 4).expect("pairs"), [0, 4, 0, 0x81]);
        for bad in ["0x123456789", "xyz", "+1", "0x"] {
            assert!(code_of(bad, Spelling::Tokens, 4).is_err(), "{bad}");
        }
    }
}
