//! JSON into types of ours, strictly: an object is an object, a name a string, a key is given once; and an error says
//! at which value it is, by the names that lead there (`fragment.targets[0].format`).
//!
//! serde alone takes a list for a structure and an object for a name, keeps the last of two equal keys in a map, and
//! tells lines but not names.

use serde::Deserialize;
use serde::de::{self, DeserializeOwned, Deserializer, MapAccess, SeqAccess, Unexpected, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fmt;

/// Parses a text.
///
/// # Errors
/// The place by names, what is wrong there, and the line and column.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let node = Node { raw, path: String::new() };
    T::deserialize(node).map_err(|problem| problem.text(text))
}

/// What is wrong, and where once somebody who knows has said so.
#[derive(Debug)]
struct Problem {
    message: String,
    /// Names that lead to the value, and the address of its first byte.
    place: Option<(String, usize)>,
}

impl Problem {
    fn at(mut self, node: &Node<'_>) -> Problem {
        let place = || (node.path.clone(), node.raw.get().as_ptr() as usize);
        self.place.get_or_insert_with(place);
        self
    }

    fn text(self, source: &str) -> String {
        let Problem { message, place } = self;
        let Some((path, address)) = place else {
            return message;
        };
        let offset = address.saturating_sub(source.as_ptr() as usize);
        let before = source.get(..offset).unwrap_or("");
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
        let path = if path.is_empty() { "the whole" } else { &path };
        format!("{path}: {message}, at line {line} column {column}")
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

impl de::Error for Problem {
    fn custom<T: fmt::Display>(message: T) -> Problem {
        Problem {
            // serde's word for null.
            message: message.to_string().replace("unit value", "null"),
            place: None,
        }
    }
}

/// A value that is read, and the names that lead to it.
#[derive(Clone)]
struct Node<'de> {
    raw: &'de RawValue,
    path: String,
}

impl<'de> Node<'de> {
    fn first(&self) -> u8 {
        self.raw.get().bytes().next().unwrap_or(0)
    }

    fn member(&self, key: &str, raw: &'de RawValue) -> Node<'de> {
        let path = match self.path.as_str() {
            "" => key.to_owned(),
            path => format!("{path}.{key}"),
        };
        Node { raw, path }
    }

    /// A number, string, truth value or nothing; of an object or a list only that it is one.
    fn scalar(&self) -> Result<Value, Problem> {
        match self.first() {
            b'{' => Ok(Value::Object(Map::new())),
            b'[' => Ok(Value::Array(Vec::new())),
            _ => serde_json::from_str(self.raw.get())
                .map_err(|error| <Problem as de::Error>::custom(error).at(self)),
        }
    }

    /// That something else is expected here.
    fn wrong(&self, expected: &dyn de::Expected) -> Problem {
        let value = match self.scalar() {
            Ok(value) => value,
            Err(problem) => return problem,
        };
        let found = match &value {
            Value::Null => Unexpected::Unit,
            &Value::Bool(truth) => Unexpected::Bool(truth),
            Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(number), ..) => Unexpected::Unsigned(number),
                (_, Some(number), _) => Unexpected::Signed(number),
                (.., number) => Unexpected::Float(number.unwrap_or(f64::NAN)),
            },
            Value::String(text) => Unexpected::Str(text),
            Value::Array(_) => Unexpected::Seq,
            Value::Object(_) => Unexpected::Map,
        };
        let problem: Problem = de::Error::invalid_type(found, expected);
        problem.at(self)
    }
}

/// The members of an object in order, or the key that is there twice.
struct Members<'de>(Vec<(String, &'de RawValue)>, Option<String>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let (mut list, mut known) = (Vec::new(), BTreeSet::new());
                let mut twice = None;
                while let Some(key) = map.next_key::<String>()? {
                    if !known.insert(key.clone()) {
                        twice.get_or_insert(key.clone());
                    }
                    list.push((key, map.next_value()?));
                }
                Ok(Members(list, twice))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

impl<'de> Deserializer<'de> for Node<'de> {
    type Error = Problem;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        let whole = self.clone();
        let broken = |error: serde_json::Error| -> Problem { de::Error::custom(error) };
        let result = match self.first() {
            b'{' => {
                let Members(list, twice) = serde_json::from_str(self.raw.get())
                    .map_err(|error| broken(error).at(&whole))?;
                if let Some(key) = twice {
                    let problem: Problem = de::Error::custom(format!("`{key}` is given twice"));
                    return Err(problem.at(&whole));
                }
                visitor.visit_map(Object { rest: list.into_iter(), value: None, whole: self })
            }
            b'[' => {
                let list: Vec<&RawValue> = serde_json::from_str(self.raw.get())
                    .map_err(|error| broken(error).at(&whole))?;
                visitor.visit_seq(List { rest: list.into_iter().enumerate(), whole: self })
            }
            _ => {
                let value = self.scalar()?;
                value.deserialize_any(visitor).map_err(broken)
            }
        };
        result.map_err(|problem| problem.at(&whole))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match self.first() {
            b'n' => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        match self.first() {
            b'{' => self.deserialize_any(visitor),
            _ => Err(self.wrong(&"an object")),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        let Value::String(name) = self.scalar()? else {
            return Err(self.wrong(&format!("one of {}", names.join(", ")).as_str()));
        };
        let name: de::value::StringDeserializer<Problem> =
            de::IntoDeserializer::into_deserializer(name);
        visitor.visit_enum(name).map_err(|problem: Problem| problem.at(&self))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        visitor.visit_newtype_struct(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

struct Object<'de> {
    rest: std::vec::IntoIter<(String, &'de RawValue)>,
    value: Option<Node<'de>>,
    whole: Node<'de>,
}

impl<'de> MapAccess<'de> for Object<'de> {
    type Error = Problem;

    fn next_key_seed<K: de::DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Problem> {
        let Some((key, raw)) = self.rest.next() else {
            return Ok(None);
        };
        let value = self.whole.member(&key, raw);
        let key: de::value::StringDeserializer<Problem> =
            de::IntoDeserializer::into_deserializer(key);
        let result = seed.deserialize(key).map_err(|problem| problem.at(&value));
        self.value = Some(value);
        result.map(Some)
    }

    fn next_value_seed<S: de::DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<S::Value, Problem> {
        let value = self.value.take().expect("a key comes before its value");
        let place = value.clone();
        seed.deserialize(value).map_err(|problem| problem.at(&place))
    }
}

struct List<'de> {
    rest: std::iter::Enumerate<std::vec::IntoIter<&'de RawValue>>,
    whole: Node<'de>,
}

impl<'de> SeqAccess<'de> for List<'de> {
    type Error = Problem;

    fn next_element_seed<S: de::DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Problem> {
        let Some((index, raw)) = self.rest.next() else {
            return Ok(None);
        };
        let path = format!("{}[{index}]", self.whole.path);
        let value = Node { raw, path };
        let place = value.clone();
        let result = seed.deserialize(value);
        result.map(Some).map_err(|problem| problem.at(&place))
    }
}
