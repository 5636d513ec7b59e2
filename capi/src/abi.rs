//! Texts, bytes, and structures with their size in front: what a caller's pointers lead to is checked and copied here.

use gpucc::Failure;
use std::ffi::c_char;
use std::mem::MaybeUninit;

/// What an entry point does, or why it does not.
pub(crate) type Reply<T> = Result<T, Failure>;

/// Text in UTF-8. Texts that gpucc gives have a zero byte behind them.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_text {
    /// Its bytes; null where there are none.
    pub data: *const c_char,
    /// How many, without a zero byte behind them.
    pub size: usize,
}

/// Bytes.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_bytes {
    /// The bytes; null where there are none.
    pub data: *const u8,
    /// How many.
    pub size: usize,
}

impl gpucc_text {
    /// No text.
    pub(crate) const NONE: gpucc_text = gpucc_text { data: std::ptr::null(), size: 0 };
}

impl gpucc_bytes {
    /// No bytes.
    pub(crate) const NONE: gpucc_bytes = gpucc_bytes { data: std::ptr::null(), size: 0 };

    /// Bytes that live elsewhere.
    pub(crate) fn of(bytes: &[u8]) -> gpucc_bytes {
        match bytes {
            [] => gpucc_bytes::NONE,
            _ => gpucc_bytes { data: bytes.as_ptr(), size: bytes.len() },
        }
    }
}

/// Elements of one array of a caller's: more than any pipeline has.
const MOST: usize = 1 << 14;

/// Bytes of a text that is no source: names and values of macros. What a call copies is bounded with [`MOST`] by 1 GiB for each
/// text that the elements of an array have.
const LONGEST: usize = 1 << 16;

/// Bytes of a structure of a later version: what Linux takes of its own (`copy_struct_from_user`), a page.
const LARGEST: usize = 4096;

/// A structure that callers fill.
///
/// # Safety
/// It is `repr(C)` without padding, every pattern of bits is a value of it, and its first field is its size, a `u32`.
pub(crate) unsafe trait Input: Copy {
    /// Its name.
    const NAME: &'static str;
    /// The size that it had in the first version of the interface: a number that never changes, whatever is added.
    const OLDEST: usize;
    /// What is not zero though it must be.
    fn reserved(&self) -> Option<&'static str>;
}

/// Copies a structure of the caller's; what a shorter one lacks is zero. What a longer one has beyond ours must be zero: a
/// later header's fields at their defaults.
///
/// # Safety
/// A pointer that is not null leads to a structure of as many readable bytes as its first word says, or to four.
///
/// # Errors
/// A null pointer, a size that no version has, a field that is not known or reserved and not zero.
pub(crate) unsafe fn read<T: Input>(from: *const T) -> Reply<T> {
    let name = T::NAME;
    if from.is_null() {
        return Err(Failure::usage(format!("the pointer to {name} is null")));
    }
    if !from.is_aligned() {
        return Err(Failure::usage(format!("the pointer to {name} is not aligned")));
    }
    // SAFETY: it is aligned, and four bytes can be read.
    let size = unsafe { from.cast::<u32>().read() } as usize;
    if size < T::OLDEST || size > LARGEST || !size.is_multiple_of(8) {
        let (least, known) = (T::OLDEST, size_of::<T>());
        let message = format!(
            "{name}.struct_size is {size}: multiples of 8 from {least} to {LARGEST} are taken, and {known} bytes are known"
        );
        return Err(Failure::usage(message).note("set struct_size to sizeof the structure"));
    }
    let own = size.min(size_of::<T>());
    // SAFETY: `size` bytes can be read; `own` is no more than that.
    let beyond = unsafe { std::slice::from_raw_parts(from.cast::<u8>().add(own), size - own) };
    if beyond.iter().any(|&byte| byte != 0) {
        let message = format!("{name} has fields that this gpucc does not know, and they are set");
        return Err(Failure::usage(message).note(format!("it knows the first {own} bytes")));
    }
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: `own` bytes can be read, and the value has room for them; it is not the caller's memory. Every pattern of bits
    // is a `T`, zeros too.
    let value = unsafe {
        std::ptr::copy_nonoverlapping(from.cast::<u8>(), value.as_mut_ptr().cast::<u8>(), own);
        value.assume_init()
    };
    match value.reserved() {
        None => Ok(value),
        Some(field) => Err(Failure::usage(format!("{name}.{field} is reserved and must be zero"))),
    }
}

/// [`read`], where null stands for nothing.
///
/// # Safety
/// As [`read`].
///
/// # Errors
/// As [`read`].
pub(crate) unsafe fn read_optional<T: Input>(from: *const T) -> Reply<Option<T>> {
    if from.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's.
    unsafe { read(from) }.map(Some)
}

/// Copies an array of structures, which have the size of the first.
///
/// # Safety
/// The pointer leads to `count` structures as [`read`] has them, one behind the other.
///
/// # Errors
/// As [`read`]; too many, sizes that differ, null though there are some.
pub(crate) unsafe fn read_all<T: Input>(from: *const T, count: usize) -> Reply<Vec<T>> {
    let name = T::NAME;
    if count == 0 {
        return Ok(Vec::new());
    }
    if count > MOST {
        return Err(Failure::usage(format!("{count} structures {name} are more than {MOST}")));
    }
    // SAFETY: there is one.
    let first = unsafe { read(from) }?;
    // SAFETY: `read` has read it.
    let size = unsafe { from.cast::<u32>().read() };
    let mut all = vec![first];
    for index in 1..count {
        // Wraps for no array that exists.
        let at = from.cast::<u8>().wrapping_add(index * size as usize).cast::<T>();
        // SAFETY: there are `count`, each of `size` bytes, and the address of one is aligned as that of the first is.
        if unsafe { at.cast::<u32>().read() } != size {
            let message = format!("{name}[{index}].struct_size is not that of the first element");
            return Err(Failure::usage(message));
        }
        // SAFETY: the same.
        all.push(unsafe { read(at) }?);
    }
    Ok(all)
}

/// The caller's numbers.
///
/// # Safety
/// The pointer leads to `count` values.
///
/// # Errors
/// More than `most`; null though there are some. Nothing is copied then.
pub(crate) unsafe fn numbers(
    from: *const u32,
    count: usize,
    most: usize,
    what: &str,
) -> Reply<Vec<u32>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    if from.is_null() || !from.is_aligned() || count > most {
        let message = format!("{what}: null, not aligned, or more than {most}");
        return Err(Failure::usage(message));
    }
    // SAFETY: there are `count`, aligned, and fewer than memory has.
    Ok(unsafe { std::slice::from_raw_parts(from, count) }.to_vec())
}

/// The caller's bytes, as long as the caller leaves them.
///
/// # Safety
/// The pointer leads to that many bytes, which nobody changes while `'a` lasts.
///
/// # Errors
/// Null though there are some; more than memory has.
pub(crate) unsafe fn bytes<'a>(from: gpucc_bytes, what: &str) -> Reply<&'a [u8]> {
    if from.size == 0 {
        return Ok(&[]);
    }
    if from.data.is_null() || from.size > isize::MAX as usize {
        let message = format!("{what}: null, or more bytes than memory has");
        return Err(Failure::usage(message));
    }
    // SAFETY: not null, within memory, and there for `'a`.
    Ok(unsafe { std::slice::from_raw_parts(from.data, from.size) })
}

/// A text of the caller's.
///
/// # Safety
/// As [`bytes`].
///
/// # Errors
/// As [`bytes`]; not UTF-8; longer than any name.
pub(crate) unsafe fn text(from: gpucc_text, what: &str) -> Reply<String> {
    // SAFETY: the caller's.
    unsafe { long_text(from, LONGEST, what) }
}

/// [`text`] of at most so many bytes.
///
/// # Safety
/// As [`bytes`].
///
/// # Errors
/// As [`text`].
pub(crate) unsafe fn long_text(from: gpucc_text, most: usize, what: &str) -> Reply<String> {
    if from.size > most {
        return Err(Failure::usage(format!("{what} has more than {most} bytes")));
    }
    let from = gpucc_bytes { data: from.data.cast(), size: from.size };
    // SAFETY: the caller's; they are copied at once.
    let bytes = unsafe { bytes(from, what) }?;
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(error) => Err(Failure::usage(format!("{what} is not UTF-8: {error}"))),
    }
}

/// [`text`], where an empty one stands for nothing.
///
/// # Safety
/// As [`bytes`].
///
/// # Errors
/// As [`text`].
pub(crate) unsafe fn optional_text(from: gpucc_text, what: &str) -> Reply<Option<String>> {
    // SAFETY: the caller's.
    let text = unsafe { text(from, what) }?;
    Ok(Some(text).filter(|text| !text.is_empty()))
}

/// Writes what the caller asks for.
///
/// # Safety
/// A pointer that is not null can be written to.
///
/// # Errors
/// Null, or not aligned.
pub(crate) unsafe fn write<T>(to: *mut T, value: T, what: &str) -> Reply<()> {
    if to.is_null() || !to.is_aligned() {
        return Err(Failure::usage(format!("{what} is null or not aligned")));
    }
    // SAFETY: aligned, and the caller's to write; what stood there may be undefined, so it is not dropped.
    unsafe { to.write(value) };
    Ok(())
}

/// The member of an enum, by its number.
///
/// # Errors
/// A number that has none.
pub(crate) fn choice<T: Copy>(number: u32, all: &[T], what: &str) -> Reply<T> {
    let found = all.get(number as usize).copied();
    found.ok_or_else(|| Failure::usage(format!("{what}: there is no {number}")))
}

/// A truth.
///
/// # Errors
/// Neither 0 nor 1.
pub(crate) fn truth(number: u32, what: &str) -> Reply<bool> {
    choice(number, &[false, true], what)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A structure that has grown by `later`.
    #[repr(C)]
    #[derive(Copy, Clone, Debug, PartialEq)]
    struct Grown {
        struct_size: u32,
        first: u32,
        later: u64,
    }

    // SAFETY: numbers without padding, the size in front.
    unsafe impl Input for Grown {
        const NAME: &'static str = "grown";
        const OLDEST: usize = 8;
        fn reserved(&self) -> Option<&'static str> {
            None
        }
    }

    /// What is read of these words.
    fn read_of(words: &[u64]) -> Reply<Grown> {
        // SAFETY: the words have as many bytes as the first says.
        unsafe { read(words.as_ptr().cast()) }
    }

    fn head(size: u64) -> u64 {
        size | 7 << 32
    }

    #[test]
    fn an_older_structure_takes_zeros_and_a_later_one_must_have_them() {
        let grown = |struct_size, later| Grown { struct_size, first: 7, later };
        assert_eq!(read_of(&[head(8)]).expect("older"), grown(8, 0));
        assert_eq!(read_of(&[head(16), 3]).expect("ours"), grown(16, 3));
        assert_eq!(read_of(&[head(32), 3, 0, 0]).expect("later, at its defaults"), grown(32, 3));
        for words in [&[head(32), 3, 0, 1][..], &[head(32), 3, 1 << 63, 0]] {
            let failure = read_of(words).expect_err("a later field is set");
            assert!(failure.summary().contains("does not know"), "{}", failure.summary());
        }
        for size in [0, 4, 12, 4104, 0xffff_fff8] {
            read_of(&[head(size), 0]).expect_err("no version has this size");
        }
    }

    #[test]
    fn an_array_of_later_structures_is_read_by_their_size() {
        let words = [head(24), 1, 0, head(24), 2, 0];
        // SAFETY: there are two of 24 bytes.
        let all = unsafe { read_all(words.as_ptr().cast::<Grown>(), 2) }.expect("later");
        assert_eq!(all.iter().map(|one| one.later).collect::<Vec<_>>(), [1, 2]);
    }
}
