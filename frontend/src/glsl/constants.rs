//! Specialization constants become constants of the values that the options give: naga sizes no array by
//! others.

use super::text::Work;
use std::collections::BTreeMap;

impl<'a> Work<'a> {
    /// Takes `layout(constant_id = 3) const int n = 4;` for `const int n = VALUE;`, and sizes of
    /// workgroups likewise. What `overrides` have for others stays in them.
    pub fn constants(&mut self, overrides: &mut Vec<(String, f64)>) {
        let mut values: BTreeMap<&'a str, String> = BTreeMap::new();
        for index in 0..self.tokens.len() {
            if self.word(index) != "constant_id" || self.word(index + 1) != "=" {
                continue;
            }
            let id = self.word(index + 2);
            let first = self.declaration_start(index);
            let layout = (first..index).rfind(|&at| self.word(at) == "layout");
            let close = layout.and_then(|layout| self.closing(layout + 1));
            let (Some(layout), Some(close)) = (layout, close) else {
                continue;
            };
            let [constant, ty, name, equals] = [1, 2, 3, 4].map(|k| self.word(close + k));
            let end = self.next(close, &[";"]);
            let Some(end) = end.filter(|_| constant == "const" && equals == "=") else {
                continue;
            };
            self.blank(layout, close);
            let given = overrides.iter().position(|(wanted, _)| wanted == id || wanted == name);
            let text = match given {
                None => self.between(close + 5, end).to_owned(),
                Some(given) => {
                    let text = literal(ty, overrides.remove(given).1);
                    self.replace_text(close + 5, end - 1, &text);
                    text
                }
            };
            values.insert(id, text);
        }
        for index in 0..self.tokens.len() {
            let Some(size) = self.word(index).strip_suffix("_id") else {
                continue;
            };
            if !size.starts_with("local_size_") || self.word(index + 1) != "=" {
                continue;
            }
            let id = self.word(index + 2);
            let given = overrides.iter().position(|(wanted, _)| wanted == id);
            let value = match (values.get(id), given) {
                (Some(value), _) => value.clone(),
                (None, Some(given)) => literal("uint", overrides.remove(given).1),
                (None, None) => "1".to_owned(),
            };
            let value = value.trim_end_matches(['u', 'U']);
            self.replace_exactly(index, size);
            self.replace_exactly(index + 2, value);
        }
    }
}

/// A number as a literal of a type.
fn literal(ty: &str, value: f64) -> String {
    match ty {
        "bool" => (value != 0.0).to_string(),
        "int" => (value as i32).to_string(),
        "uint" => format!("{}u", value as u32),
        "double" => format!("{value:?}lf"),
        _ => format!("{:?}", value as f32),
    }
}
