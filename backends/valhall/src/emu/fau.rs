//! Which uniforms, constants and special values one instruction may read. isa 1.3, read here on its own.

use super::decode::Refused;
use super::inst::{Inst, Op, Place, Select};
use super::rule::Rule;

/// Refuses what the FAU ports cannot deliver to `inst`, whose word names `page`.
pub fn check(inst: &Inst, page: u32) -> Result<(), Refused> {
    let message = inst.slot.is_some();
    let narrow = matches!(inst.op, Op::Atest | Op::Blend { .. });
    let mut slots: Vec<u16> = Vec::new();
    let mut words: Vec<(u8, u32)> = Vec::new();
    let mut specials: Vec<(u8, u8)> = Vec::new();
    let mut constant = false;
    let note = |list: &mut Vec<(u8, u32)>, word| {
        if !list.contains(&word) {
            list.push(word);
        }
    };
    for source in &inst.sources {
        match source.place {
            Place::Reg(_) => {}
            Place::Uniform(word) => {
                if !slots.contains(&(word / 2)) {
                    slots.push(word / 2);
                }
                note(&mut words, (0, u32::from(word)));
                if source.wide {
                    note(&mut words, (0, u32::from(word) + 1));
                }
            }
            Place::Constant(value) => {
                constant = true;
                note(&mut words, (1, value));
            }
            Place::Special(page, number, word) => {
                exists(page, number)?;
                // They pass through the same 64 bits.
                let id = u32::from(page) << 8 | u32::from(number) << 1 | u32::from(word);
                note(&mut words, (2, id));
                if !specials.contains(&(page, number)) {
                    specials.push((page, number));
                }
                if source.neg || source.abs || matches!(source.select, Select::Float(_)) {
                    let detail = "a special value has a float modifier".to_string();
                    return Err((Rule::FauModifier, detail));
                }
                if message && (page == 3 || (page, number) == (0, 2)) {
                    let detail = format!("{} reads a value of the execution engine", inst.name);
                    return Err((Rule::FauMessage, detail));
                }
            }
        }
    }
    if page != 0 && constant {
        let detail = format!("a small constant with page {page}");
        return Err((Rule::FauPage, detail));
    }
    if page != 0 && slots.is_empty() && specials.is_empty() {
        let detail = format!("page {page} and nothing of it is read");
        return Err((Rule::FauPage, detail));
    }
    let most = if message && !narrow { 2 } else { 1 };
    if slots.len() > most {
        let detail = format!("uniforms of {} slots", slots.len());
        return Err((Rule::FauSlots, detail));
    }
    let most = if message && !narrow { 3 } else { 2 };
    if words.len() > most {
        let detail = format!("{} words of uniforms and constants", words.len());
        return Err((Rule::FauBits, detail));
    }
    if specials.len() > 1 {
        let detail = format!("{} special values", specials.len());
        return Err((Rule::FauSpecial, detail));
    }
    if !specials.is_empty() && !slots.is_empty() && most == 2 {
        let detail = "a special value beside a uniform".to_string();
        return Err((Rule::FauSpecial, detail));
    }
    Ok(())
}

/// isa 1.2.
fn exists(page: u8, number: u8) -> Result<(), Refused> {
    let known = match page {
        0 => matches!(number, 2 | 4 | 5 | 6 | 8..=15),
        1 => matches!(number, 1 | 3 | 7),
        3 => matches!(number, 1 | 3 | 15),
        _ => false,
    };
    if known {
        return Ok(());
    }
    let detail = format!("page {page} has no special value {number}");
    Err((Rule::FauReserved, detail))
}
