// SPDX-License-Identifier: GPL-2.0-or-later
//! Plots as SVG: axes and marks, whose colours the page's style sheet gives.

use std::fmt::Write;

use super::html::escape;

/// Room left of the axes, right of, above and below them, in pixels.
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 44.0;

/// A direction of a plot.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    scale: Scale,
    label: &'static str,
    /// How a value is written.
    format: fn(f64) -> String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scale {
    Linear,
    Logarithmic,
    /// Linear, and without marks: rows that have words beside them.
    Rows,
}

impl Axis {
    /// Rows from 0 up.
    pub(super) fn rows(count: usize) -> Self {
        let format = |_| String::new();
        Self { low: 0.0, high: count.max(1) as f64, scale: Scale::Rows, label: "", format }
    }

    /// From `low` to `high`, a little more than nothing apart.
    pub(super) fn linear(
        low: f64,
        high: f64,
        label: &'static str,
        format: fn(f64) -> String,
    ) -> Self {
        let high = if high > low { high } else { low + low.abs().max(1.0) };
        Self { low, high, scale: Scale::Linear, label, format }
    }

    /// Decades from `low` to `high`, both above 0.
    pub(super) fn logarithmic(
        low: f64,
        high: f64,
        label: &'static str,
        format: fn(f64) -> String,
    ) -> Self {
        let low = low.max(f64::MIN_POSITIVE);
        Self { low, high: high.max(low * 10.0), scale: Scale::Logarithmic, label, format }
    }

    /// Where a value is between the axis' ends, from 0 to 1.
    fn place(&self, value: f64) -> f64 {
        let (low, high, value) = match self.scale {
            Scale::Linear | Scale::Rows => (self.low, self.high, value),
            Scale::Logarithmic => {
                (self.low.log10(), self.high.log10(), value.max(self.low).log10())
            }
        };
        ((value - low) / (high - low)).clamp(0.0, 1.0)
    }

    /// Values that are easy to read, six or so.
    fn ticks(&self) -> Vec<f64> {
        if self.scale == Scale::Rows {
            return Vec::new();
        }
        if self.scale == Scale::Logarithmic {
            let (first, last) = (self.low.log10().ceil() as i32, self.high.log10().floor() as i32);
            return (first..=last).map(|decade| 10_f64.powi(decade)).collect();
        }
        let rough = (self.high - self.low) / 6.0;
        let magnitude = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|factor| factor * magnitude)
            .find(|&step| step >= rough)
            .unwrap_or(rough);
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        (first..=last).map(|number| number as f64 * step).collect()
    }
}

/// A plot in the making.
pub(super) struct Plot {
    width: f64,
    height: f64,
    /// Where the axes begin.
    left: f64,
    x: Axis,
    y: Axis,
    marks: String,
    title: String,
    description: String,
}

impl Plot {
    /// A plot of so many pixels; `title` and `description` are for who cannot see it.
    pub(super) fn new(size: (f64, f64), x: Axis, y: Axis, title: &str, description: &str) -> Self {
        let (width, height) = size;
        Self {
            width,
            height,
            left: LEFT,
            x,
            y,
            marks: String::new(),
            title: title.to_owned(),
            description: description.to_owned(),
        }
    }

    /// With so much room left of the axes.
    pub(super) const fn with_room(mut self, left: f64) -> Self {
        self.left = left;
        self
    }

    fn x(&self, value: f64) -> f64 {
        self.left + self.x.place(value) * (self.width - self.left - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        self.height - BOTTOM - self.y.place(value) * (self.height - TOP - BOTTOM)
    }

    /// A line through points.
    pub(super) fn line(&mut self, points: &[(f64, f64)], class: &str, label: &str) {
        let mut path = String::new();
        for (number, &(x, y)) in points.iter().enumerate() {
            let command = if number == 0 { 'M' } else { 'L' };
            let _ = write!(path, "{command}{:.1} {:.1}", self.x(x), self.y(y));
        }
        let label = escape(label);
        let _ = write!(
            self.marks,
            "<path class=\"line {class}\" d=\"{path}\"><title>{label}</title></path>"
        );
    }

    /// A box from one corner to the other.
    pub(super) fn bar(&mut self, from: (f64, f64), to: (f64, f64), class: &str, label: &str) {
        let (left, right) = (self.x(from.0).min(self.x(to.0)), self.x(from.0).max(self.x(to.0)));
        let (top, bottom) = (self.y(from.1).min(self.y(to.1)), self.y(from.1).max(self.y(to.1)));
        let label = escape(label);
        let _ = write!(
            self.marks,
            "<rect class=\"{class}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" \
             height=\"{:.1}\"><title>{label}</title></rect>",
            (right - left).max(0.3),
            (bottom - top).max(0.3)
        );
    }

    /// A vertical line over the whole height, with a word at its top.
    pub(super) fn rule(&mut self, x: f64, class: &str, label: &str) {
        let at = self.x(x);
        let (top, bottom) = (TOP, self.height - BOTTOM);
        let label = escape(label);
        let _ = write!(
            self.marks,
            "<path class=\"rule {class}\" d=\"M{at:.1} {top:.1}V{bottom:.1}\"><title>{label}</title>\
             </path>"
        );
    }

    /// A point, a different shape for each number.
    pub(super) fn point(&mut self, at: (f64, f64), shape: usize, class: &str, label: &str) {
        let (x, y) = (self.x(at.0), self.y(at.1));
        let d = match shape % 4 {
            0 => format!("M{:.1} {y:.1}a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0", x - 4.5),
            1 => format!("M{:.1} {:.1}h8v8h-8z", x - 4.0, y - 4.0),
            2 => format!("M{x:.1} {:.1}l5 9h-10z", y - 5.0),
            _ => format!("M{x:.1} {:.1}l5 5l-5 5l-5 -5z", y - 5.0),
        };
        let label = escape(label);
        let _ = write!(
            self.marks,
            "<path class=\"point {class}\" d=\"{d}\"><title>{label}</title></path>"
        );
    }

    /// A word beside a place, `right` of it or left.
    pub(super) fn word(&mut self, at: (f64, f64), right: bool, text: &str) {
        let (offset, anchor) = if right { (8.0, "start") } else { (-8.0, "end") };
        let _ = write!(
            self.marks,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
            self.x(at.0) + offset,
            self.y(at.1) + 4.0,
            escape(text)
        );
    }

    /// A word left of the axes.
    pub(super) fn row(&mut self, y: f64, text: &str) {
        let (x, y) = (self.left - 8.0, self.y(y) + 4.0);
        let text = escape(text);
        let _ =
            write!(self.marks, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"end\">{text}</text>");
    }

    /// The picture.
    pub(super) fn svg(&self) -> String {
        let (width, height) = (self.width, self.height);
        let (left, right) = (self.left, width - RIGHT);
        let (top, bottom) = (TOP, height - BOTTOM);
        let mut svg = format!(
            "<svg class=\"plot\" viewBox=\"0 0 {width} {height}\" role=\"img\"><title>{}</title>\
             <desc>{}</desc>",
            escape(&self.title),
            escape(&self.description)
        );
        for tick in self.x.ticks() {
            let at = self.x(tick);
            let _ = write!(
                svg,
                "<path class=\"grid\" d=\"M{at:.1} {top}V{bottom}\"/><text x=\"{at:.1}\" \
                 y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                bottom + 15.0,
                escape(&(self.x.format)(tick))
            );
        }
        for tick in self.y.ticks() {
            let at = self.y(tick);
            let _ = write!(
                svg,
                "<path class=\"grid\" d=\"M{left} {at:.1}H{right}\"/><text x=\"{:.1}\" \
                 y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                left - 6.0,
                at + 4.0,
                escape(&(self.y.format)(tick))
            );
        }
        let _ = write!(
            svg,
            "{}<path class=\"axis\" d=\"M{left} {top}V{bottom}H{right}\"/><text class=\"label\" \
             x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text><text class=\"label\" \
             transform=\"translate(12 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text></svg>",
            self.marks,
            (left + right) / 2.0,
            height - 8.0,
            escape(self.x.label),
            (top + bottom) / 2.0,
            escape(self.y.label)
        );
        svg
    }
}

/// A time in nanoseconds, in the unit that suits it.
pub(super) fn time(nanoseconds: f64) -> String {
    let (value, unit) = match nanoseconds.abs() {
        size if size < 1e3 => (nanoseconds, "ns"),
        size if size < 1e6 => (nanoseconds / 1e3, "µs"),
        size if size < 1e9 => (nanoseconds / 1e6, "ms"),
        _ => (nanoseconds / 1e9, "s"),
    };
    let digits = if value == value.trunc() { 0 } else { 2 };
    format!("{value:.digits$} {unit}")
}

/// A count, in thousands or millions where it is large.
pub(super) fn count(value: f64) -> String {
    match value.abs() {
        size if size >= 1e6 => format!("{} M", trimmed(value / 1e6)),
        size if size >= 1e4 => format!("{} k", trimmed(value / 1e3)),
        _ => trimmed(value),
    }
}

/// A share, from 0 to 1, in per cent.
pub(super) fn per_cent(share: f64) -> String {
    format!("{} %", trimmed(100.0 * share))
}

/// Up to three decimals.
pub(super) fn trimmed(value: f64) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within_the_axis() {
        let axis = Axis::linear(-7.0, 23.0, "", trimmed);
        assert_eq!(axis.ticks(), [-5.0, 0.0, 5.0, 10.0, 15.0, 20.0]);
        let axis = Axis::logarithmic(500.0, 2e6, "", time);
        assert_eq!(axis.ticks(), [1e3, 1e4, 1e5, 1e6]);
    }

    #[test]
    fn values_outside_are_drawn_at_the_edge() {
        let axis = Axis::logarithmic(1e3, 1e5, "", time);
        assert_eq!([0.0, 1e3, 1e4, 1e9].map(|value| axis.place(value)), [0.0, 0.0, 0.5, 1.0]);
    }

    #[test]
    fn times_have_the_unit_that_suits_them() {
        let times = [1.0, 1_500.0, 2e6, 12.25e9].map(time);
        assert_eq!(times, ["1 ns", "1.50 µs", "2 ms", "12.25 s"]);
        assert_eq!([999.0, 12_345.0, 3.2e6].map(count), ["999", "12.345 k", "3.2 M"]);
    }
}
