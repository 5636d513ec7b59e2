//! Inputs and outputs that naga's reader has no words for: several variables in the components of one
//! location, and blocks whose members have qualifiers of their own.

use super::QUALIFIERS;
use super::text::Work;
use std::collections::BTreeMap;

const LETTERS: [&str; 3] = ["xyzw", "rgba", "stpq"];

/// A variable within a location.
struct Part<'a> {
    /// Tokens of its declaration.
    first: usize,
    last: usize,
    /// The token of its direction.
    direction: usize,
    name: usize,
    /// `vec`, `ivec` or `uvec`.
    family: &'a str,
    component: usize,
    size: usize,
    /// Whether the text says a component.
    said: bool,
}

/// A scalar's or vector's family and size.
fn vector(ty: &str) -> Option<(&'static str, usize)> {
    let size = |rest: &str| rest.parse().ok().filter(|size| (2..=4).contains(size));
    match ty {
        "float" => Some(("vec", 1)),
        "int" => Some(("ivec", 1)),
        "uint" => Some(("uvec", 1)),
        _ => ["vec", "ivec", "uvec"]
            .into_iter()
            .find_map(|family| Some((family, size(ty.strip_prefix(family)?)?))),
    }
}

impl<'a> Work<'a> {
    /// Rewrites both.
    pub fn interfaces(&mut self) {
        if !self.uses("component").is_empty() {
            self.components();
        }
        let mut index = 0;
        while index + 2 < self.tokens.len() {
            let direction = matches!(self.word(index), "in" | "out");
            if direction && self.depth(index) == 0 && self.word(index + 2) == "{" {
                self.member_qualifiers(index);
            }
            index += 1;
        }
    }

    /// Variables that share a location become parts of one vector.
    fn components(&mut self) {
        let mut locations: BTreeMap<(&str, u32), Vec<Part<'a>>> = BTreeMap::new();
        // Locations with something else than a scalar or vector.
        let mut other: Vec<(&str, u32)> = Vec::new();
        for &at in self.uses("location") {
            let number = self.word(at + 2).parse::<u32>().ok();
            let Some(number) = number.filter(|_| self.word(at + 1) == "=" && self.depth(at) == 0)
            else {
                continue;
            };
            match self.part(at) {
                Ok(part) => {
                    let key = (self.word(part.direction), number);
                    locations.entry(key).or_default().push(part);
                }
                Err(direction) => other.push((direction, number)),
            }
        }
        for ((direction, number), parts) in locations {
            let family = parts[0].family;
            let fit =
                parts.iter().all(|part| part.family == family && part.component + part.size <= 4);
            let mut taken = [false; 4];
            let mut places =
                parts.iter().flat_map(|part| part.component..part.component + part.size);
            let apart = fit && places.all(|at| !std::mem::replace(&mut taken[at], true));
            let share = parts.iter().any(|part| part.said);
            if !share || !apart || other.contains(&(direction, number)) {
                continue;
            }
            if parts.iter().any(|part| self.is_hidden(part.name)) {
                continue;
            }
            self.merge(direction, number, &parts);
        }
    }

    /// The variable whose `location` stands at a token; else its direction.
    fn part(&self, at: usize) -> Result<Part<'a>, &'a str> {
        let first = self.declaration_start(at);
        let end = self.next(at, &[";", "{"]);
        let end = end.unwrap_or(at);
        let direction = (at..end).find(|&at| matches!(self.word(at), "in" | "out"));
        let direction = direction.ok_or("")?;
        let wrong = self.word(direction);
        let name = end - 1;
        let mut ty = direction + 1;
        while QUALIFIERS.contains(&self.word(ty)) {
            ty += 1;
        }
        let (family, size) = vector(self.word(ty)).ok_or(wrong)?;
        if self.word(end) != ";" || ty + 1 != name || !self.is_word(name) {
            return Err(wrong);
        }
        let said = (first..direction).find(|&at| self.word(at) == "component");
        let component = match said {
            Some(at) => self.word(at + 2).parse().map_err(|_| wrong)?,
            None => 0,
        };
        Ok(Part {
            first,
            last: end,
            direction,
            name,
            family,
            component,
            size,
            said: said.is_some(),
        })
    }

    /// Whether another declaration takes the name.
    fn is_hidden(&self, name: usize) -> bool {
        self.uses(self.word(name)).iter().any(|&at| {
            let before = at.checked_sub(1).map_or("", |before| self.word(before));
            let keyword = matches!(before, "return" | "else" | "do" | "case");
            at != name && at > 0 && self.is_word(at - 1) && !keyword
        })
    }

    fn merge(&mut self, direction: &str, number: u32, parts: &[Part<'a>]) {
        let size = parts.iter().map(|part| part.component + part.size).max();
        let size = size.unwrap_or(1);
        let whole = format!("gpucc_{direction}{number}");
        let ty = match (parts[0].family, size) {
            ("vec", 1) => "float".to_owned(),
            ("ivec", 1) => "int".to_owned(),
            ("uvec", 1) => "uint".to_owned(),
            (family, size) => format!("{family}{size}"),
        };
        let qualifiers: Vec<&str> = (parts[0].first..parts[0].name)
            .map(|at| self.word(at))
            .filter(|word| {
                matches!(*word, "flat" | "smooth" | "noperspective" | "centroid" | "sample")
            })
            .collect();
        let qualifiers = qualifiers.join(" ");
        for part in parts {
            self.blank(part.first, part.last);
        }
        let at = self.tokens[parts[0].first].start;
        self.insert(
            at,
            format!("layout(location = {number}) {qualifiers} {direction} {ty} {whole}; "),
        );
        for part in parts {
            for &at in &self.uses(self.word(part.name)).to_vec() {
                let member = at > 0 && self.word(at - 1) == ".";
                if at == part.name || member {
                    continue;
                }
                let own = &LETTERS[0][part.component..part.component + part.size];
                let field = self.word(at + 2);
                let chosen: Option<String> = (self.word(at + 1) == ".")
                    .then(|| {
                        let place = |c| LETTERS.iter().find_map(|letters| letters.find(c));
                        let letter = |c| own.chars().nth(place(c)?);
                        field.chars().map(letter).collect()
                    })
                    .flatten();
                match chosen {
                    Some(chosen) => self.replace_text(at, at + 2, &format!("{whole}.{chosen}")),
                    None if size == 1 => self.replace_text(at, at, &whole),
                    None => self.replace_text(at, at, &format!("{whole}.{own}")),
                }
            }
        }
    }

    /// A block whose members have qualifiers becomes a variable for each member.
    fn member_qualifiers(&mut self, index: usize) {
        let open = index + 2;
        let Some(close) = self.closing(open) else {
            return;
        };
        let qualified = |word: &str| QUALIFIERS.contains(&word) || word == "layout";
        if !(open..close).any(|at| qualified(self.word(at))) {
            return;
        }
        let named = self.is_word(close + 1);
        let end = close + 1 + usize::from(named);
        let first = self.declaration_start(index);
        let located = (first..index).any(|at| self.word(at) == "location");
        if self.word(end) != ";" || self.word(index + 1) == "gl_PerVertex" || located {
            return;
        }
        let (block, direction) = (self.word(index + 1), self.word(index));
        let instance = self.word(close + 1);
        let own = |member: &str| match named {
            true => format!("gpucc_{block}_{member}"),
            false => member.to_owned(),
        };
        let mut declared = String::new();
        let mut members = Vec::new();
        let mut at = open + 1;
        while at < close {
            let Some(end) = (at..close).find(|&end| self.word(end) == ";") else {
                return;
            };
            let mut ty = at;
            let mut layout = "";
            if self.word(ty) == "layout" {
                let Some(closed) = self.closing(ty + 1) else {
                    return;
                };
                layout = self.between(ty, closed + 1);
                ty = closed + 1;
            }
            let mut qualifiers = Vec::new();
            while QUALIFIERS.contains(&self.word(ty)) || self.word(ty) == direction {
                if self.word(ty) != direction {
                    qualifiers.push(self.word(ty));
                }
                ty += 1;
            }
            let name = self.after_index(ty + 1);
            if !self.is_word(ty) || !self.is_word(name) || self.after_index(name + 1) != end {
                return;
            }
            let member = self.word(name);
            declared.push_str(&format!(
                "{layout} {} {direction} {}{} {}{}; ",
                qualifiers.join(" "),
                self.word(ty),
                self.between(ty + 1, name),
                own(member),
                self.between(name + 1, end),
            ));
            members.push(member);
            at = end + 1;
        }
        let mut uses = Vec::new();
        if named {
            for &at in self.uses(instance) {
                if at == close + 1 || at > 0 && self.word(at - 1) == "." {
                    continue;
                }
                let member = self.word(at + 2);
                if self.word(at + 1) != "." || !members.contains(&member) {
                    return;
                }
                uses.push((at, own(member)));
            }
        }
        for (at, own) in uses {
            self.replace_text(at, at + 2, &own);
        }
        self.blank(first, end);
        let at = self.tokens[first].start;
        self.insert(at, declared);
    }
}
