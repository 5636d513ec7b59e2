//! Who gives the texts that `#include` names: never this library itself, which reads no files.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// What an `#include` asks for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Include<'a> {
    /// The name between the quotes or angle brackets.
    pub name: &'a str,
    /// It stands in angle brackets: it is not looked for beside the text that includes it.
    pub angled: bool,
    /// The full name of the text that includes it.
    pub from: &'a str,
}

/// A text that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncludedText {
    /// What messages call it, and what [`Include::from`] says of what it includes in turn.
    pub name: String,
    /// The text.
    pub text: String,
}

type Find = dyn Fn(&Include<'_>) -> Result<IncludedText, String> + Send + Sync;

/// Finds what is included.
#[derive(Clone)]
pub struct Includes {
    /// The name of the source itself.
    main: String,
    find: Arc<Find>,
}

impl Includes {
    /// By a function, which gives a text or says why there is none. Equal requests must give equal texts.
    pub fn new(
        find: impl Fn(&Include<'_>) -> Result<IncludedText, String> + Send + Sync + 'static,
    ) -> Self {
        Includes { main: String::new(), find: Arc::new(find) }
    }

    /// By name, from texts in memory.
    pub fn of(texts: BTreeMap<String, String>) -> Self {
        Includes::new(move |include| match texts.get(include.name) {
            Some(text) => Ok(IncludedText { name: include.name.to_owned(), text: text.clone() }),
            None => Err("it is not among the texts that are given".to_owned()),
        })
    }

    /// The same for a source of this name.
    #[must_use]
    pub fn for_source(&self, name: &str) -> Self {
        Includes { main: name.to_owned(), find: Arc::clone(&self.find) }
    }

    /// The name of the source itself.
    pub(super) fn main(&self) -> &str {
        &self.main
    }

    /// Asks for a text, as an `#include` does.
    ///
    /// # Errors
    /// Why there is none.
    pub fn ask(&self, include: &Include<'_>) -> Result<IncludedText, String> {
        (self.find)(include)
    }
}

impl fmt::Debug for Includes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Includes").field("main", &self.main).finish_non_exhaustive()
    }
}
