// SPDX-License-Identifier: GPL-2.0-or-later
//! Plain text that pastes into a mail.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// The most columns of a line: what survives quoting in a mail.
pub const WIDTH: usize = 100;

/// A table: the first column to the left, figures to the right.
pub(crate) fn lay_out(columns: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    aligned(columns, rows, CellAlignment::Right)
}

/// A table with all columns to the left, as tabs make it.
pub(crate) fn lay_out_left(columns: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    aligned(columns, rows, CellAlignment::Left)
}

fn aligned(
    columns: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
    figures: CellAlignment,
) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(columns);
    table.add_rows(rows);
    for (index, column) in table.column_iter_mut().enumerate() {
        let alignment = if index == 0 { CellAlignment::Left } else { figures };
        column.set_cell_alignment(alignment);
        column.set_padding((0, 2));
    }
    let mut text = String::new();
    for line in table.lines() {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Stands for a blank at which [`paragraph`] does not wrap.
pub(crate) const NO_BREAK: char = '\u{a0}';

/// A heading and what it says, wrapped at blanks to [`WIDTH`] with the heading's column kept free.
/// A word that is too long by itself wraps at commas, as lists of CPUs have, and else, as a path
/// does, loses its beginning.
pub(crate) fn paragraph(head: &str, indent: usize, body: &str) -> String {
    let room = WIDTH.saturating_sub(indent).max(1);
    let mut lines: Vec<String> = Vec::new();
    for word in body.split(' ').filter(|word| !word.is_empty()) {
        let splits = word.chars().count() > room;
        let pieces = word.split_inclusive(move |c| splits && c == ',');
        for (at, piece) in pieces.enumerate() {
            let piece = keep_end(piece, room);
            let gap = if at == 0 { " " } else { "" };
            match lines.last_mut() {
                Some(line) if line.chars().count() + gap.len() + piece.chars().count() <= room => {
                    line.push_str(gap);
                    line.push_str(&piece);
                }
                _ => lines.push(piece),
            }
        }
    }
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        let head = if at == 0 { head } else { "" };
        let line = line.replace(NO_BREAK, " ");
        text.push_str(&format!("{head:<indent$}{line}\n"));
    }
    text
}

fn keep_end(word: &str, room: usize) -> String {
    match word.chars().count() {
        length if length > room => {
            let kept = word.chars().skip(length - room.saturating_sub(3));
            "...".chars().chain(kept).collect()
        }
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_wrap_at_blanks_and_hang() {
        let body = "word ".repeat(30);
        let text = paragraph("note", 12, &body);
        let lines: Vec<&str> = text.lines().collect();
        // 88 columns hold 17 words of 5 columns, the last without its blank, and 3 are left over.
        assert_eq!(lines[0], format!("note        {}", ["word"; 17].join(" ")));
        assert_eq!(lines[1], format!("            {}", ["word"; 13].join(" ")));
    }

    #[test]
    fn what_belongs_together_stays_together() {
        let text = paragraph("states", 8, &format!("{} C1{NO_BREAK}2/2", "x".repeat(88)));
        assert_eq!(text.lines().nth(1), Some("        C1 2/2"));
    }

    #[test]
    fn a_long_list_wraps_at_commas() {
        let list: Vec<String> = (0..60).map(|cpu| (2 * cpu).to_string()).collect();
        let text = paragraph("states", 12, &format!("cpu{}: C1", list.join(",")));
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines.len() > 1 && lines[0].ends_with(',') && lines.iter().all(|l| l.len() <= WIDTH)
        );
        let rejoined: String = lines.iter().map(|line| &line[12..]).collect();
        assert_eq!(rejoined, format!("cpu{}: C1", list.join(",")));
    }

    #[test]
    fn a_word_wider_than_a_mail_keeps_its_end() {
        let text = paragraph("before", 12, &format!("{}/teo.before", "x".repeat(200)));
        assert_eq!(text.trim_end().chars().count(), WIDTH);
        assert!(text.starts_with("before      ...xxx") && text.ends_with("/teo.before\n"));
    }
}
