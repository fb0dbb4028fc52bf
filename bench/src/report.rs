//! What came out: a table for people, figures for programs.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value};

/// All figures of one run.
#[derive(Default)]
pub(crate) struct Report {
    rows: Vec<Row>,
    methods: Vec<&'static str>,
}

/// One line of the table.
pub(crate) struct Row {
    /// The name for programs.
    key: String,
    /// The name for people.
    what: String,
    /// The figures as people read them.
    shown: String,
    /// The guide, and whether it was met.
    guide: Option<(&'static str, bool)>,
    figures: Map<String, Value>,
}

impl Row {
    pub(crate) fn new(key: impl Into<String>, what: impl Into<String>) -> Row {
        Row {
            key: key.into(),
            what: what.into(),
            shown: String::new(),
            guide: None,
            figures: Map::new(),
        }
    }

    /// The figures in words.
    pub(crate) fn shown(mut self, shown: impl Into<String>) -> Row {
        self.shown = shown.into();
        self
    }

    /// One figure, named with its unit.
    pub(crate) fn figure(mut self, name: &str, value: impl Into<Value>) -> Row {
        self.figures.insert(name.to_owned(), value.into());
        self
    }

    /// What is hoped for on an idle machine, and whether it was so.
    pub(crate) fn guide(mut self, guide: &'static str, met: bool) -> Row {
        self.guide = Some((guide, met));
        self
    }
}

impl Report {
    pub(crate) fn add(&mut self, row: Row) {
        eprintln!("  {}: {}", row.what, row.shown);
        self.rows.push(row);
    }

    /// How the figures that were added last were come by.
    pub(crate) fn method(&mut self, method: &'static str) {
        self.methods.push(method);
    }

    /// All figures as JSON.
    pub(crate) fn json(&self) -> String {
        let rows = self.rows.iter().map(|row| {
            let mut figures = row.figures.clone();
            if let Some((guide, met)) = row.guide {
                figures.insert("guide".into(), guide.into());
                figures.insert("guide_met".into(), met.into());
            }
            (row.key.clone(), Value::Object(figures))
        });
        let mut text = format!("{:#}", Value::Object(rows.collect()));
        text.push('\n');
        text
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| What | Measured | Guide |")?;
        writeln!(f, "|---|---|---|")?;
        for row in &self.rows {
            let guide = match row.guide {
                Some((guide, true)) => format!("{guide}: met"),
                Some((guide, false)) => format!("{guide}: **missed**"),
                None => String::new(),
            };
            writeln!(f, "| {} | {} | {guide} |", row.what, row.shown)?;
        }
        writeln!(f, "\nMethod:\n")?;
        for method in &self.methods {
            writeln!(f, "- {method}")?;
        }
        Ok(())
    }
}

/// Durations, to be summed up by rank.
#[derive(Default)]
pub(crate) struct Sample(Vec<Duration>);

impl Sample {
    pub(crate) fn push(&mut self, took: Duration) {
        self.0.push(took);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The smallest duration that `percent` of all do not exceed, in milliseconds.
    pub(crate) fn percentile(&self, percent: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        sorted.get(rank - 1).map_or(f64::NAN, |took| millis(*took))
    }

    /// Adds both percentiles to a row and shows them.
    pub(crate) fn describe(&self, row: Row) -> Row {
        let (p50, p99) = (self.percentile(50), self.percentile(99));
        row.shown(format!("p50 {p50:.2} ms, p99 {p99:.2} ms"))
            .figure("p50_ms", p50)
            .figure("p99_ms", p99)
            .figure("samples", self.len())
    }
}

pub(crate) fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
