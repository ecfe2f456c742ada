// SPDX-License-Identifier: GPL-2.0-or-later
//! Machines that come with this crate.
//!
//! ```
//! use idlelab_platform::embedded;
//!
//! assert!(embedded::names().any(|name| name == "rk3399"));
//! assert_eq!(embedded::nearest("rk3339"), Some("rk3399"));
//! let board = embedded::get("rk3399").expect("it is embedded");
//! assert_eq!(board.tick_rate.map(|rate| rate.hertz()), Some(100));
//! ```
mod list;

use crate::{Platform, PlatformError, Warning};
use list::FILES;

/// The names of all embedded machines, in alphabetical order.
pub fn names() -> impl ExactSizeIterator<Item = &'static str> {
    FILES.iter().map(|&(name, _)| name)
}

/// The machine of this name.
#[must_use]
pub fn get(name: &str) -> Option<Platform> {
    load(name)?.ok().map(|(platform, _)| platform)
}

/// The description of this name, as TOML: a start for one's own.
#[must_use]
pub fn text(name: &str) -> Option<&'static str> {
    FILES.iter().find(|&&(other, _)| other == name).map(|&(_, text)| text)
}

/// The machine of this name with what is odd about it.
#[must_use]
pub fn load(name: &str) -> Option<Result<(Platform, Vec<Warning>), PlatformError>> {
    text(name).map(|text| Platform::from_toml(&format!("{name}.toml"), text))
}

/// The embedded machine that a mistyped name most likely means.
#[must_use]
pub fn nearest(name: &str) -> Option<&'static str> {
    crate::nearest::nearest(name, names())
}

#[cfg(test)]
mod tests;
