//! What tests against foreign facts share.

#[path = "../../../../tests/src/shared.rs"]
mod foreign;

/// The text of a file of `../shared`; where it is absent, the test says that it skips.
pub fn shared(file: &str) -> Option<String> {
    foreign::text_or_skip(file)
}
