// SPDX-License-Identifier: GPL-2.0-or-later
//! The few words of HTML that a report is made of.

use std::fmt::Write;

/// Text as it may stand in HTML, between tags and within quotes.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // What a terminal or a browser would act on, not show.
            control if control.is_control() && control != '\n' && control != '\t' => {
                escaped.push('\u{fffd}');
            }
            other => escaped.push(other),
        }
    }
    escaped
}

/// A table, its first column a heading of the row.
pub(super) fn table(caption: &str, head: &[&str], rows: &[Vec<String>]) -> String {
    let mut html =
        format!("<div class=\"wide\"><table><caption>{}</caption><thead><tr>", escape(caption));
    for cell in head {
        let _ = write!(html, "<th scope=\"col\">{}</th>", escape(cell));
    }
    html.push_str("</tr></thead><tbody>");
    for row in rows {
        html.push_str("<tr>");
        for (number, cell) in row.iter().enumerate() {
            let cell = escape(cell);
            let _ = match number {
                0 => write!(html, "<th scope=\"row\">{cell}</th>"),
                _ => write!(html, "<td>{cell}</td>"),
            };
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></div>");
    html
}

/// What a picture shows, as a table that is unfolded on request.
pub(super) fn behind(summary: &str, table: &str) -> String {
    format!("<details><summary>{}</summary>{table}</details>", escape(summary))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_says_is_no_markup() {
        let hostile = "<script>alert('x')</script>\"&\u{1b}[0m";
        let expected = "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&quot;&amp;\u{fffd}[0m";
        assert_eq!(escape(hostile), expected);
        assert!(
            table(hostile, &[hostile], &[vec![hostile.into()]]).matches("<script").count() == 0
        );
    }
}
