// SPDX-License-Identifier: GPL-2.0-or-later
//! Every recording comes back from memory and from its file as it was.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up fails")]

mod arbitrary;

use idlelab_recording::{Periods, Recording, parquet};
use proptest::collection::vec;
use proptest::prelude::*;

fn file(recording: &Recording) -> Vec<u8> {
    let mut file = Vec::new();
    parquet::write(recording, &mut file).unwrap();
    file
}

proptest! {
    #[test]
    fn periods_come_back_from_memory(rows in vec(arbitrary::period(), 0..40)) {
        let mut periods = Periods::default();
        rows.iter().for_each(|period| periods.push(period));
        prop_assert_eq!(periods.len(), rows.len());
        for (number, period) in rows.iter().enumerate() {
            prop_assert_eq!(periods.get(number), Some(*period));
        }
        prop_assert_eq!(periods.get(rows.len()), None);
        prop_assert_eq!(periods.iter().collect::<Vec<_>>(), rows);
    }

    #[test]
    fn periods_are_changed_in_their_place(
        rows in vec((arbitrary::period(), arbitrary::period()), 0..40),
    ) {
        let (before, after): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        let (mut periods, mut expected) = (Periods::default(), Periods::default());
        before.iter().for_each(|period| periods.push(period));
        after.iter().for_each(|period| expected.push(period));
        periods.change(|number, period| {
            assert_eq!(period, before[number]);
            after[number]
        });
        prop_assert_eq!(periods, expected);
    }

    #[test]
    fn recordings_come_back_from_a_file(recording in arbitrary::recording()) {
        let written = file(&recording);
        prop_assert_eq!(&file(&recording), &written, "the same bytes each time");
        prop_assert_eq!(parquet::read(written).unwrap(), recording);
    }
}
