//! The caller's functions.

use crate::abi::{self, gpucc_text};
use gpucc::{Cancel, Include, IncludedText, Includes};
use std::ffi::{c_char, c_void};

/// Asked now and then, on any of a call's threads, whether the call is to end: 0 for no. It must return at once. As every
/// function of the caller's, it must neither unwind nor jump out, and must not end handles.
pub type gpucc_cancel_fn = Option<unsafe extern "C" fn(user: *mut c_void) -> u32>;

/// Is told each message about a source before the call returns that compiles or reads it, on that call's thread: threads
/// that share a compiler call it at the same time. `severity` is a gpucc_severity. The message lives until the function
/// returns.
pub type gpucc_log_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, severity: u32, message: gpucc_text)>;

/// Gives a text that GLSL includes, on another thread than the caller's, which waits. `name` stands between the quotes or,
/// if `angled` is 1, the brackets; `from` is the name of the text that includes it. Returns 0 where there is none, and then
/// `text` may say why. `found` is what messages call the text. Both live until the next call of the function, or until the
/// call returns that the caller waits for. Equal requests must give equal texts.
pub type gpucc_include_fn = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        name: gpucc_text,
        from: gpucc_text,
        angled: u32,
        found: *mut gpucc_text,
        text: *mut gpucc_text,
    ) -> u32,
>;

/// The pointer that a caller's function gets back.
#[derive(Copy, Clone)]
pub(crate) struct User(pub *mut c_void);

// SAFETY: nothing here looks behind it. The header says on which threads the function is called that gets it.
unsafe impl Send for User {}
// SAFETY: the same.
unsafe impl Sync for User {}

impl User {
    /// The pointer; a method, so that closures take the whole.
    fn get(self) -> *mut c_void {
        self.0
    }
}

/// A text for the caller's function, with a zero byte behind it. Zero bytes within it become U+FFFD.
struct Lent(String);

impl Lent {
    fn new(text: &str) -> Lent {
        Lent(text.replace('\0', "\u{fffd}") + "\0")
    }

    /// The text; it lives as long as this does.
    fn text(&self) -> gpucc_text {
        gpucc_text { data: self.0.as_ptr().cast::<c_char>(), size: self.0.len() - 1 }
    }
}

/// The function as the facade asks it.
pub(crate) fn cancel(ask: gpucc_cancel_fn, user: *mut c_void) -> Option<Cancel> {
    let (ask, user) = (ask?, User(user));
    // SAFETY: the header lets it be called on any thread while the call lasts that it was given to.
    Some(Cancel::new(move || unsafe { ask(user.get()) } != 0))
}

/// The function as the facade asks it.
pub(crate) fn includes(find: gpucc_include_fn, user: *mut c_void) -> Option<Includes> {
    let (find, user) = (find?, User(user));
    Some(Includes::new(move |include: &Include<'_>| {
        let (mut found, mut text) = (gpucc_text::NONE, gpucc_text::NONE);
        let (name, from) = (Lent::new(include.name), Lent::new(include.from));
        // SAFETY: the header lets it be called on any thread while the call lasts that it was given to; the texts live as
        // long as it does.
        let given = unsafe {
            find(
                user.get(),
                name.text(),
                from.text(),
                u32::from(include.angled),
                &mut found,
                &mut text,
            )
        };
        let most = gpucc::longest_source() as usize;
        // SAFETY: they live until the function is called again.
        let text = unsafe { abi::long_text(text, most, "the included text") };
        let text = text.map_err(|failure| failure.summary().to_owned())?;
        match given {
            1.. => {
                // SAFETY: the same.
                let found = unsafe { abi::optional_text(found, "its name") };
                let found = found.map_err(|failure| failure.summary().to_owned())?;
                Ok(IncludedText { name: found.unwrap_or_else(|| include.name.to_owned()), text })
            }
            0 if text.is_empty() => Err("it is not among the texts that are given".to_owned()),
            0 => Err(text),
        }
    }))
}

/// Where messages go.
#[derive(Copy, Clone)]
pub(crate) struct Log {
    pub tell: gpucc_log_fn,
    pub user: User,
}

impl Log {
    /// Tells one message.
    pub(crate) fn tell(&self, severity: u32, message: &str) {
        if let Some(tell) = self.tell {
            let message = Lent::new(message);
            // SAFETY: the header lets it be called by whatever thread uses the compiler.
            unsafe { tell(self.user.get(), severity, message.text()) };
        }
    }
}
