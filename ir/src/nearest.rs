//! The known name that a misspelt one most likely means.

/// Longer names are not compared: the time is the product of two lengths.
const LONGEST: usize = 64;
/// At this similarity (Jaro and Winkler: 0 to 1) two names are one name and its misspelling.
const ALIKE: f64 = 0.85;

/// The known name that is most like `name`, whatever the case of letters; the first of equals. `None` where none is
/// alike.
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    if name.len() > LONGEST {
        return None;
    }
    let name = name.to_ascii_lowercase();
    let mut best = None;
    for candidate in known.into_iter().filter(|candidate| candidate.len() <= LONGEST) {
        let other = candidate.to_ascii_lowercase();
        let mut alike = strsim::jaro_winkler(&name, &other);
        // Two letters that changed places in a short word leave little that Jaro calls equal.
        if name.len() == other.len() && name.len() > 2 && strsim::osa_distance(&name, &other) == 1 {
            alike = alike.max(ALIKE);
        }
        if alike >= ALIKE && best.is_none_or(|(most, _)| alike > most) {
            best = Some((alike, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_too_many_or_too_few_and_other_case_are_alike_and_another_word_is_not() {
        let known = ["brightness", "contrast", "color"];
        assert_eq!(nearest("brightnes", known), Some("brightness"));
        assert_eq!(nearest("colour", known), Some("color"));
        assert_eq!(nearest("CONTRAST", known), Some("contrast"));
        assert_eq!(nearest("gnv", ["gvn", "dce"]), Some("gvn"));
        assert_eq!(nearest("position", known), None);
        assert_eq!(nearest("", known), None);
    }

    #[test]
    fn the_most_alike_wins_and_of_equals_the_first() {
        assert_eq!(nearest("value2", ["value1", "value2a", "value3"]), Some("value2a"));
        assert_eq!(nearest("value2", ["value1", "value3"]), Some("value1"));
    }

    #[test]
    fn names_that_are_too_long_are_not_compared() {
        let long = "a".repeat(LONGEST + 1);
        assert_eq!(nearest(&long, [long.as_str()]), None);
        assert_eq!(nearest("a", [long.as_str()]), None);
    }
}
