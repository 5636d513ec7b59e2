//! What ends a run on a strict emulator: which rule of the machine was broken, where, and why. Each
//! machine lists its own rules with [`crate::rules`].

use std::fmt;

/// The rules of one machine.
pub trait Law: Copy + Eq + fmt::Debug + fmt::Display {
    /// The book that [`Law::manual`] is a section of.
    const BOOK: &'static str;
    /// The rule that a run stays within its step limit: ours, not the machine's.
    const STEPS: Self;

    /// Where the book says so.
    fn manual(self) -> &'static str;
}

/// Makes the enumeration `Rule` of a machine: `rules! { "its book"; Variant = "handle and what must
/// hold", "section"; … }`. A variant `Steps` must be among them. See [`Law`].
#[macro_export]
macro_rules! rules {
    ($book:literal; $( $variant:ident = $name:literal, $manual:literal; )+) => {
        /// A rule of the machine. The name starts with a short handle; its source follows.
        #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule { $( #[doc = concat!($name, " (", $manual, ")")] $variant, )+ }

        impl Rule {
            /// Every rule.
            pub const ALL: &'static [Rule] = &[$(Rule::$variant,)+];

            /// What must hold.
            pub const fn name(self) -> &'static str {
                match self { $(Rule::$variant => $name,)+ }
            }
        }

        impl ::std::fmt::Display for Rule {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl $crate::trap::Law for Rule {
            const BOOK: &'static str = $book;
            const STEPS: Rule = Rule::Steps;

            fn manual(self) -> &'static str {
                match self { $(Rule::$variant => $manual,)+ }
            }
        }
    };
}

/// What ends a run: which rule, where, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap<R> {
    /// The rule that was broken.
    pub rule: R,
    /// What happened.
    pub detail: String,
    /// Byte offset within the program of the instruction or group.
    pub offset: u32,
    /// Thread of the launch, where one is to blame.
    pub lane: Option<u32>,
}

impl<R> Trap<R> {
    /// A trap that no single lane is to blame for.
    pub fn new(rule: R, offset: u32, detail: impl Into<String>) -> Trap<R> {
        Trap { rule, detail: detail.into(), offset, lane: None }
    }

    /// Names the lane.
    #[must_use]
    pub fn at_lane(self, lane: u32) -> Trap<R> {
        Trap { lane: Some(lane), ..self }
    }
}

impl<R: Law> fmt::Display for Trap<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Trap { rule, detail, offset, lane } = self;
        let (book, manual) = (R::BOOK, rule.manual());
        write!(f, "{rule} [{book} {manual}]: {detail}, at byte {offset:#x}")?;
        match lane {
            Some(lane) => write!(f, ", thread {lane}"),
            None => Ok(()),
        }
    }
}

impl<R: Law> std::error::Error for Trap<R> {}
