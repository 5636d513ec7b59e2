//! Whether the caller of a compilation still wants its result: asked where the budget is charged.
//!
//! The question belongs to one call. It is kept by thread, and threads that the call starts are given it
//! ([`handed`]), so that passes and back ends need not carry it.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Asks the caller whether to stop. Equal to itself alone.
#[derive(Clone)]
pub struct Cancel(Arc<dyn Fn() -> bool + Send + Sync>);

impl Cancel {
    /// Stops when the function says true. It is asked on any of the call's threads, some thousand times in a second of
    /// work, so it should be cheap; it must not panic.
    pub fn new(wanted: impl Fn() -> bool + Send + Sync + 'static) -> Cancel {
        Cancel(Arc::new(wanted))
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cancel")
    }
}

/// The question of one call, and whether it was answered by yes.
#[derive(Clone)]
pub struct Watch {
    cancel: Cancel,
    fired: Arc<AtomicBool>,
}

thread_local! {
    static WATCH: RefCell<Option<Watch>> = const { RefCell::new(None) };
}

/// Puts the question of this thread back when its scope ends, by a panic too.
struct Outer(Option<Watch>);

impl Drop for Outer {
    fn drop(&mut self) {
        WATCH.set(self.0.take());
    }
}

/// Runs `work` under a question. Says whether it was answered by yes: whatever `work` gave then is not a result.
pub fn watched<T>(cancel: Option<&Cancel>, work: impl FnOnce() -> T) -> (T, bool) {
    let Some(cancel) = cancel else {
        return (work(), false);
    };
    let watch = Watch { cancel: cancel.clone(), fired: Arc::default() };
    let done = under(Some(watch.clone()), work);
    (done, watch.fired.load(Ordering::Relaxed))
}

/// The question of this thread, for one that it starts.
pub fn handed() -> Option<Watch> {
    WATCH.with_borrow(Clone::clone)
}

/// Runs `work` under the question that another thread has [`handed`] over.
pub fn under<T>(watch: Option<Watch>, work: impl FnOnce() -> T) -> T {
    let _outer = Outer(WATCH.replace(watch));
    work()
}

/// Whether the call is to end. Once it is, it stays so.
#[inline]
pub fn wanted() -> bool {
    WATCH.with_borrow(Option::is_some) && is_yes()
}

fn is_yes() -> bool {
    // The question is asked while nothing of it is borrowed: it may compile.
    let Some(watch) = handed() else {
        return false;
    };
    let fired = watch.fired.load(Ordering::Relaxed) || (watch.cancel.0)();
    if fired {
        watch.fired.store(true, Ordering::Relaxed);
    }
    fired
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;

    #[test]
    fn a_charge_asks_and_a_yes_stays_with_its_call_and_its_threads() {
        let asked = Arc::new(AtomicBool::new(false));
        let answer = Arc::clone(&asked);
        let cancel = Cancel::new(move || answer.load(Ordering::Relaxed));
        let charge = || Budget::default().work("things", 1).is_ok();
        assert_eq!(watched(Some(&cancel), charge), (true, false));
        asked.store(true, Ordering::Relaxed);
        assert_eq!(watched(Some(&cancel), charge), (false, true));
        let (on_another, fired) = watched(Some(&cancel), || {
            let watch = handed();
            std::thread::scope(|scope| {
                scope.spawn(|| under(watch, charge)).join().expect("it does not panic")
            })
        });
        assert!(!on_another && fired);
        let (roomy, fired) = watched(Some(&cancel), || crate::stack::roomy(charge));
        assert!(!roomy && fired);
        // Behind the call nobody asks any more.
        assert!(charge());
        assert_eq!(watched(None, charge), (true, false));
    }
}
