//! Ordered lists of names and values: JSON objects whose keys a machine chooses.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// A name: a constant of a back end's, or text that was read.
pub type Name = Cow<'static, str>;

/// Values by name, in the order in which they were put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named<T>(pub Vec<(Name, T)>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Named(Vec::new())
    }
}

impl<T> Named<T> {
    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&T> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value)
    }
    /// Gives a name a value, behind the others where it is new.
    pub fn set(&mut self, name: impl Into<Name>, value: T) {
        let name = name.into();
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }
    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }
    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// Names and values in order.
    pub fn iter(&self) -> std::slice::Iter<'_, (Name, T)> {
        self.0.iter()
    }
}

impl<N: Into<Name>, T> FromIterator<(N, T)> for Named<T> {
    /// Of two values of one name the last counts.
    fn from_iter<I: IntoIterator<Item = (N, T)>>(items: I) -> Self {
        let items = items.into_iter();
        let mut named = Named(Vec::with_capacity(items.size_hint().0));
        for (name, value) in items {
            named.set(name, value);
        }
        named
    }
}

impl<'a, T> IntoIterator for &'a Named<T> {
    type Item = &'a (Name, T);
    type IntoIter = std::slice::Iter<'a, (Name, T)>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Pairs<T> {
            type Value = Named<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named<T>, A::Error> {
                let mut named = Named::default();
                while let Some((name, value)) = map.next_entry::<String, T>()? {
                    named.set(name, value);
                }
                Ok(named)
            }
        }
        deserializer.deserialize_map(Pairs(PhantomData))
    }
}

/// A figure: whole numbers are written without a fraction, and people are shown hundredths of others.
#[derive(Copy, Clone, Debug, Default, PartialEq, PartialOrd)]
pub struct Figure(pub f64);

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.fract() == 0.0 && self.0.abs() < 1e15 {
            serializer.serialize_i64(self.0 as i64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Figure {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        f64::deserialize(deserializer).map(Figure)
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:.2}", self.0);
        f.pad(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_order_and_whole_figures_have_no_fraction() {
        let mut named: Named<Figure> =
            [("b", Figure(2.0)), ("a", Figure(0.5))].into_iter().collect();
        named.set("c", Figure(-3.0));
        named.set("b", Figure(4.0));
        let text = serde_json::to_string(&named).expect("plain data");
        assert_eq!(text, r#"{"b":4,"a":0.5,"c":-3}"#);
        let back: Named<Figure> = serde_json::from_str(&text).expect("it was written so");
        assert_eq!(back, named);
        assert_eq!(back.get("a"), Some(&Figure(0.5)));
        assert_eq!(back.get("d"), None);
        let shown = [120.0, 8.0 / 3.0, 0.5].map(|figure| Figure(figure).to_string());
        assert_eq!(shown, ["120", "2.67", "0.5"]);
    }
}
