//! The C interface as its callers see it.

mod calls;
mod constants;
mod consumers;
mod draws;
mod header;
mod hostile;
mod results;
mod store;
mod threads;
mod uploads;
mod words;
