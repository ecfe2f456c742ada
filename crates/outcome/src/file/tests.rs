// SPDX-License-Identifier: GPL-2.0-or-later
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use proptest::prelude::*;

use super::*;
use crate::{Bench, Better, CpuOutcome, Figure, OffBy, Regret, StateOutcome, WakeupLatency};

fn read_text(text: &str) -> FromFile {
    read(&mut text.as_bytes(), "file").unwrap()
}

fn refused(text: &str) -> String {
    read(&mut text.as_bytes(), "file").unwrap_err().to_string()
}

/// An outcome that knows everything that can be known.
fn full() -> Outcome {
    let state = |name: &str, usage| StateOutcome {
        name: name.into(),
        usage,
        time_ns: 1_000 * usage,
        above: Some(2),
        below: Some(1),
        rejected: Some(0),
    };
    let cpu = |cpu| CpuOutcome {
        cpu,
        ticks: Some(3),
        sleep_length_queries: Some(4),
        modelled_joules: Some(0.25),
        wakeup_latency: Some(WakeupLatency::new([(1_000, 2), (5_000, 1)])),
        regret: Some(Regret { too_shallow_ns: 10, too_deep_ns: 20, joules: Some(0.5) }),
        off_by: Some(vec![OffBy { states: -1, stays: 3 }, OffBy { states: 0, stays: 9 }]),
        states: vec![state("POLL", 5), state("C1, \"quoted\"", 7)],
    };
    let mut outcome =
        Outcome::of_cpus(Bench::Published, Some("teo"), Some("machine"), vec![cpu(0), cpu(4)]);
    outcome.workload = Some("video".into());
    outcome.iteration = 2;
    outcome.order = Some(9);
    outcome.duration_ns = Some(1_000_000_000);
    outcome.energy.measured_joules = Some(12.5);
    outcome.energy.modelled_joules = Some(1.5);
    let unit = "MB/s".to_owned();
    outcome.figures =
        vec![Figure { name: "rate".into(), value: 8.5, unit, better: Some(Better::Higher) }];
    outcome
}

fn json(outcome: &Outcome) -> String {
    serde_json::to_string(outcome).unwrap()
}

#[test]
fn json_is_read_in_every_form() {
    let (one, outcome) = (json(&full()), full());
    let pretty = serde_json::to_string_pretty(&outcome).unwrap();
    for (form, text, expected) in [
        ("one", one.clone(), 1),
        ("one over several lines", pretty, 1),
        ("a list", format!("[{one},\n{one}]"), 2),
        ("lines", format!("{one}\n\n{one}\n{one}"), 3),
        ("lines of lists", format!("\n[{one},{one}]\r\n[]\r\n{one}\r\n"), 3),
        ("after a byte order mark", format!("\u{feff}{one}"), 1),
        ("a document", format!("{{\"outcomes\": [{one}]}}"), 1),
    ] {
        let read = read_text(&text);
        assert_eq!(read.outcomes, vec![outcome.clone(); expected], "{form}");
        assert_eq!(read.notes, [], "{form}");
    }
}

#[test]
fn lines_that_were_being_written_are_left_out() {
    let one = json(&full());
    for end in ["", "\n"] {
        let text = format!("{one}\n{one}\n{}{end}", &one[..one.len() / 2]);
        let read = read_text(&text);
        assert_eq!(read.outcomes.len(), 2);
        assert_eq!(read.notes.len(), 1);
        assert!(read.notes[0].to_string().starts_with("line 3: is cut off"), "{:?}", read.notes);
    }
    let cut_before_another = format!("{one}\n{}\n{one}\n", &one[..40]);
    assert!(refused(&cut_before_another).starts_with("file:2: column 40: "));
}

#[test]
fn errors_in_json_name_the_line() {
    let one = json(&full());
    let wrong = one.replace("\"iteration\":2", "\"iteration\":-2");
    let error = refused(&format!("{one}\n{wrong}\n"));
    assert!(error.starts_with("file:2: column "), "{error}");
    assert!(error.contains("`-2`") && error.contains("docs/outcomes.md"), "{error}");
    let error = refused("{\n \"bench\": \"replay\"\n}\n");
    assert!(error.contains("file:3: column 1: missing field `iteration`"), "{error}");
    let error = refused(&one[..100]);
    assert!(error.starts_with("file:1: ") && error.contains("the file is cut off"), "{error}");
}

#[test]
fn what_a_replay_says_of_itself_is_passed_on() {
    let one = json(&full());
    let document = |check: &str| {
        format!("{{\"self_check\": {check}, \"notes\": [\"1 lost\"], \"outcomes\": [{one}]}}")
    };
    let sound = r#"{"decisions": 5, "reproduced": 5, "accounting": {"disagreements": 0}}"#;
    let texts = |text: &str| -> Vec<String> {
        read_text(text).notes.iter().map(ToString::to_string).collect()
    };
    assert_eq!(texts(&document(sound)), ["1 lost"]);
    for unsound in [
        r#"{"decisions": 5, "reproduced": 4, "accounting": null}"#,
        r#"{"decisions": null, "reproduced": null, "accounting": {"disagreements": 1}}"#,
    ] {
        assert!(texts(&document(unsound))[0].contains("do not trust"), "{unsound}");
    }
}

#[test]
fn counts_are_outcomes_of_their_pairs() {
    let mut outcome = full();
    outcome.governor = None;
    outcome.duration_ns = None;
    let text = format!(
        "{{\"counts\": [{{\"label\": \"old\", \"window_ns\": 5, \"outcome\": {}, \
         \"findings\": [{{\"code\": \"x\", \"cpus\": \"\", \"text\": \"cpu3: was offline\"}}]}}]}}",
        json(&outcome)
    );
    let read = read_text(&text);
    assert_eq!(read.outcomes[0].governor.as_deref(), Some("old"));
    assert_eq!(read.outcomes[0].duration_ns, Some(5));
    assert_eq!(read.notes[0].text, "old: cpu3: was offline");
    assert_eq!(read.notes.len(), 2, "{:?}", read.notes);
}

fn csv_text(outcomes: &[Outcome]) -> String {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    rows(outcomes, |_| None).for_each(|row| writer.serialize(row).unwrap());
    String::from_utf8(writer.into_inner().unwrap()).unwrap()
}

#[test]
fn csv_gives_back_what_it_was_given() {
    let mut no_states = full();
    no_states.states.clear();
    no_states.per_cpu.clear();
    no_states.idles = None;
    let given = [full(), full(), no_states];
    let text = csv_text(&given);
    // Two states of all and of two CPUs, twice; one line of the last; the header.
    assert_eq!(text.lines().count(), 2 * 2 * 3 + 1 + 1);
    assert_eq!(read_text(&text).outcomes, given);
    let twice = read_text(&format!("{text}{text}"));
    assert_eq!(twice.outcomes.len(), 6, "put together by cat");
}

#[test]
fn csv_without_sums_is_summed_up() {
    let text = "bench,governor,platform,cpu,state,name,usage,time_ns,above,below\n\
                replay,teo,p,all,0,POLL,5,50,0,2\n\
                replay,teo,p,all,1,C1,7,70,3,0\n\
                replay,menu,p,all,1,C1,9,90,,0\n\
                replay,menu,p,all,0,POLL,1,10,0,0\n";
    let read = read_text(text);
    let [teo, menu] = &read.outcomes[..] else { panic!("{read:?}") };
    assert_eq!(
        (teo.idles, teo.misses, teo.above, teo.below),
        (Some(12), Some(5), Some(3), Some(2))
    );
    assert_eq!((menu.idles, menu.misses, menu.below), (Some(10), None, Some(0)));
    assert_eq!(menu.states[1].name, "C1", "in the order of their numbers");
}

#[test]
fn wrong_csv_is_refused_by_its_line() {
    let header = "bench,governor,platform,cpu,state,name,usage,time_ns\n";
    for (line, expected) in [
        ("replay,teo,p,all,0,POLL,5,50,6\n", "file:2: has 9 values; the header has 8 columns"),
        ("replay,teo,p,most,0,POLL,5,50\n", "file:2: \"most\" is no CPU"),
        ("replay,teo,p,all,0,POLL,,50\n", "file:2: state 0 has no `usage`"),
        ("replay,teo,p,all,1,C1,5,50\n", "file:2: state 0 is missing, state 1 is there"),
        ("guess,teo,p,all,0,POLL,5,50\n", "file:2: unknown variant `guess`"),
    ] {
        let error = refused(&format!("{header}{line}"));
        assert!(error.contains(expected), "{line}{error}");
    }
    let count = "label,cpu,state,name,usage,time_ns\nold,all,0,C1,5,50\n";
    assert!(refused(count).contains("count --format json"));
    let cut = format!("{header}replay,teo,p,all,0,POLL,5,50\nreplay,teo,p,all,1");
    let read = read_text(&cut);
    assert_eq!(read.outcomes[0].states.len(), 1);
    assert_eq!(read.notes[0].to_string(), "line 3: is cut off: left out with its 5 of 8 values");
}

/// Governor, iteration, joules, idles, misses, above, below.
type Seen = (&'static str, u32, f64, u64, u64, u64, u64);

fn seen(outcome: &Outcome) -> (String, u32, f64, u64, u64, u64, u64) {
    (
        outcome.governor.clone().unwrap(),
        outcome.iteration,
        outcome.energy.measured_joules.unwrap(),
        outcome.idles.unwrap(),
        outcome.misses.unwrap(),
        outcome.above.unwrap(),
        outcome.below.unwrap(),
    )
}

const TWO_RUNS: [Seen; 2] =
    [("teo", 0, 150.5, 8_000, 500, 200, 300), ("menu", 0, 148.0, 9_000, 900, 50, 850)];

#[test]
fn a_table_is_read_however_it_was_pasted() {
    for (how, text) in [
        (
            "tabs, some doubled",
            "gov\titer\tJoules\tidles\tidle_misses\tratio\t\tbelows\taboves\n\
             teo\t0\t150.5\t8000\t500\t0.062\t300\t200\n\
             menu\t0\t148\t9000\t900\t0.1\t850\t50\n",
        ),
        (
            "single blanks",
            "gov iter Joules idles misses belows aboves\n\
             teo 0 150.5 8000 500 300 200\n\
             menu 0 148 9000 900 850 50\n",
        ),
        (
            "quoted twice, with text around",
            "On Monday someone wrote:\n\
             > > I measured this 5 times:\n\
             > >\n\
             > > governor  iter  energy (J)   idles  idle_misses  above  below\n\
             > > teo       0        150.50   8,000          500    200    300\n\
             > > -------------------------------------------------------------\n\
             > > menu      0        148.00   9,000          900     50    850\n\
             >\n\
             > So menu has 900 misses of 9000 and teo 500 of 8000, see above.\n\
             Thanks\n",
        ),
        (
            "bars",
            "| Governor | Run | Joules | Idles | Misses | Above | Below |\n\
             |----------|----:|-------:|------:|-------:|------:|------:|\n\
             | teo      |   0 |  150.5 |  8000 |    500 |   200 |   300 |\n\
             | menu     |   0 |  148.0 |  9000 |    900 |    50 |   850 |\n",
        ),
        (
            "commas",
            "kernel,iteration,Joules,idles,misses,above,below\n\
             teo,0,150.5,8000,500,200,300\n\
             menu,0,148.0,9000,900,50,850\n",
        ),
        (
            "a heading without cells",
            "device gov iter Joules idles idle_misses belows aboves\n\
             teo 0 150.5 8000 500 300 200\n\
             menu 0 148 9000 900 850 50\n",
        ),
        (
            "rows wrapped",
            "gov   iter   Joules   idles   idle_misses   belows   aboves\n\
             teo   0      150.5    8000    500\n\
             300      200\n\
             menu  0      148.0    9000    900\n\
             850      50\n",
        ),
        (
            "the header wrapped",
            "gov   iter   Joules   idles   idle_misses\n\
             belows   aboves\n\
             teo   0      150.5    8000    500    300      200\n\
             menu  0      148.0    9000    900    850      50\n",
        ),
        (
            "misses left to be added up, and a mean of the runs",
            "gov iter Joules idles belows aboves\n\
             teo 0 150.5 8000 300 200\n\
             teo mean 150.5 8000 300 200\n\
             menu 0 148 9000 850 50\n",
        ),
    ] {
        let read = read_text(text);
        let found: Vec<_> = read.outcomes.iter().map(seen).collect();
        let expected = TWO_RUNS.map(|(name, a, b, c, d, e, f)| (name.to_owned(), a, b, c, d, e, f));
        assert_eq!(found, expected, "{how}: {:?}", read.notes);
        assert!(read.outcomes.iter().all(|outcome| outcome.bench == Bench::Published), "{how}");
    }
}

#[test]
fn repetitions_are_counted_by_governor() {
    let read = read_text(
        "gov iter Joules idles\n\
         teo 1 10 100\n\
         teo 2 11 100\n\
         menu 1 12 100\n\
         teo 1 13 100\n\
         teo 2 14 100\n",
    );
    let iterations: Vec<u32> = read.outcomes.iter().map(|outcome| outcome.iteration).collect();
    assert_eq!(iterations, [1, 2, 1, 3, 4]);
    assert_eq!(read.notes.len(), 1);
    assert!(read.notes[0].to_string().starts_with("line 5: a governor comes again"));

    // Without numbers, they are counted; a label that is left out is that of the line before.
    let read = read_text(
        "gov         Joules  idles  misses  above\n\
         teo         10      100    5       1\n\
         11      100    5       1\n\
         menu, new   12      100    5       1\n",
    );
    let runs: Vec<_> = read.outcomes.iter().map(|o| (o.governor.as_deref(), o.iteration)).collect();
    assert_eq!(runs, [(Some("teo"), 0), (Some("teo"), 1), (Some("menu, new"), 0)]);
}

#[test]
fn what_idlelab_has_no_word_for_is_a_figure() {
    let read = read_text(
        "Random reads, 30 s\n\
         device      gov  iter  iops   latency (us)  state1  idles  idle_miss_ratio\n\
         /dev/disk0  teo  0     35620  27.9          812     900    0.25\n\
         /dev/disk1  teo  0     1204   -             60      70     0.50\n",
    );
    let [first, second] = &read.outcomes[..] else { panic!("{read:?}") };
    assert_eq!(first.workload.as_deref(), Some("Random reads, 30 s, /dev/disk0"));
    assert_eq!(first.duration_ns, Some(30_000_000_000));
    let figures: Vec<_> = first
        .figures
        .iter()
        .map(|figure| (figure.name.as_str(), figure.value, figure.unit.as_str(), figure.better))
        .collect();
    assert_eq!(
        figures,
        [
            ("iops", 35_620.0, "", Some(Better::Higher)),
            ("latency", 27.9, "us", Some(Better::Lower)),
            ("state1", 812.0, "", None),
            ("idle_miss_ratio", 0.25, "", Some(Better::Lower)),
        ]
    );
    assert_eq!(second.figures.len(), 3, "what is not known is no figure");
    assert_eq!((first.misses, second.misses), (None, None));
}

#[test]
fn numbers_that_contradict_each_other_are_said() {
    let read = read_text(
        "gov iter idles misses miss% above below\n\
         teo 0 1000 100 10.0 40 60\n\
         teo 1 1000 100 12.0 40 61\n\
         teo 2 100 1000 1000.0 400 600\n\
         teo 3 1000.5 100 10.0 40 60\n\
         teo 4 1000 100 10.0 40\n",
    );
    assert_eq!(read.outcomes.len(), 3);
    let notes: Vec<String> = read.notes.iter().map(ToString::to_string).collect();
    for expected in [
        "line 3: 40 above and 61 below are not the 100 misses beside them",
        "line 3: `miss` is 12, but 100 of 1000 are 10.000",
        "line 4: has more misses (1000) than idle periods (100)",
        "line 5: `idles` is 1000.5 where a count was expected: left out",
        "line 6: does not fit the table's header: left out",
    ] {
        assert!(notes.iter().any(|note| note == expected), "{expected}: {notes:?}");
    }
    assert_eq!(notes.len(), 5, "{notes:?}");
}

#[test]
fn a_table_of_states_is_one_outcome() {
    let read = read_text(
        "menu:\n\
         State         Usage  Above  Below  Above%  Below%   Time (us)\n\
         POLL            100      0     90    0.0%   90.0%       1,500\n\
         haltpoll idle   300     30      0   10.0%    0.0%     250,000\n\
         Total           400     30     90    7.5%   22.5%  <<< Misses 30.0 %\n\
         \n\
         teo:\n\
         State  Ratio  Avg(ms)  Count  Over-pred  Under-pred\n\
         C1     60.0   0.5      200    4          7\n",
    );
    let [menu, teo] = &read.outcomes[..] else { panic!("{read:?}") };
    assert_eq!(menu.governor.as_deref(), Some("menu"));
    assert_eq!((menu.idles, menu.above, menu.below), (Some(400), Some(30), Some(90)));
    assert_eq!(menu.states[1].name, "haltpoll idle");
    assert_eq!(menu.states[1].time_ns, 250_000_000);
    assert_eq!((teo.above, teo.below, teo.states[0].time_ns), (Some(4), Some(7), 100_000_000));
}

#[test]
fn columns_of_times_are_figures() {
    let read = read_text(
        "Idle stats (own run)\n\n\
         State\told (sec)\tnew(sec)\n\
         0.00\t1.25\t\t\t4.5\n\
         1.00\t20.00\t\t\t0.00\n\
         \t\t\n\
         total\t21.25\t\t\t4.50\n",
    );
    let [old, new] = &read.outcomes[..] else { panic!("{read:?}") };
    assert_eq!((old.governor.as_deref(), new.governor.as_deref()), (Some("old"), Some("new")));
    assert_eq!((old.idles, old.misses), (None, None));
    let figure =
        |value, name: &str| Figure { name: name.into(), value, unit: "sec".into(), better: None };
    assert_eq!(new.figures, [figure(4.5, "time in state 0"), figure(0.0, "time in state 1")]);
}

#[test]
fn prose_holds_no_outcome() {
    for text in ["", "Hello,\nthe test above is idle\n1 2 3 4 5\n", "[PATCH] cpuidle: x", "\0\0\0"]
    {
        let error = refused(text);
        assert!(error.starts_with("file: no outcome found ("), "{error}");
    }
    let sentence = "gov iter Joules idles\nteo 0 10 100\n\nthe test above is idle\nteo 1 11 100\n";
    assert_eq!(read_text(sentence).outcomes.len(), 2, "a sentence ends no table");
}

fn parquet_file(outcomes: &[Outcome]) -> Vec<u8> {
    let mut file = Vec::new();
    let standing = |name: &str| (name == "teo").then(|| "reconstructed".to_owned());
    write_parquet(rows(outcomes, standing), &mut file).unwrap();
    file
}

/// One that knows next to nothing, with sums that are not those of its states.
fn sparse() -> Outcome {
    let mut outcome = full();
    outcome.governor = None;
    outcome.idles = Some(u64::MAX);
    outcome.misses = None;
    outcome.figures.clear();
    outcome.wakeup_latency = None;
    outcome.off_by = None;
    outcome.states.clear();
    outcome.per_cpu.truncate(1);
    outcome.per_cpu[0].regret = None;
    outcome
}

#[test]
fn parquet_gives_back_what_it_was_given() {
    let mut published = sparse();
    published.per_cpu.clear();
    let given = [full(), full(), sparse(), published, sparse()];
    let file = parquet_file(&given);
    let found = read(&mut &file[..], "file").unwrap();
    assert_eq!(found, FromFile { outcomes: given.to_vec(), notes: Vec::new() });
    assert_eq!(file, parquet_file(&given), "the same outcomes give the same bytes");
    assert_eq!(read_text(&csv_text(&given)).outcomes, given);
}

#[test]
fn damaged_parquet_is_refused() {
    let file = parquet_file(&[full()]);
    let error = |bytes: &[u8]| read(&mut &bytes[..], "file").unwrap_err().to_string();
    for length in (4..file.len()).step_by(100) {
        assert!(error(&file[..length]).contains("is no whole Parquet file"), "{length}");
    }
    let at = file.windows(4).position(|bytes| bytes == b"POLL").unwrap();
    let mut flipped = file.clone();
    flipped[at] ^= 1;
    assert!(error(&flipped).starts_with("file: is damaged: its checksum is "));
    // As if another program had written it, so that no checksum is held against it.
    let mut foreign = file.clone();
    let at = foreign.windows(8).rposition(|bytes| bytes == b"idlelab ").unwrap();
    foreign[at..at + 8].copy_from_slice(b"another ");
    assert_eq!(read(&mut &foreign[..], "file").unwrap().outcomes, [full()]);
    for at in 0..foreign.len() {
        for byte in [0x00, 0x7f, 0x80, 0xff] {
            let mut damaged = foreign.clone();
            damaged[at] = byte;
            let _ = read(&mut &damaged[..], "file");
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&mut &bytes[..], "file");
    }

    #[test]
    fn no_lines_make_it_panic(
        words in proptest::collection::vec(
            proptest::sample::select(vec![
                "gov", "iter", "Joules", "idles", "misses", "above", "State", "Time(us)", "teo",
                "0", "18446744073709551616", "-1", "1e308", "12.5%", "\n", "\n", "\t", "  ", "|",
                ",", " ", " ", "> ", "total", "\u{b5}s", "---", "bench,cpu,usage", "{\"", "<<<",
            ]),
            0..80,
        )
    ) {
        let _ = read(&mut words.concat().as_bytes(), "file");
    }
}
