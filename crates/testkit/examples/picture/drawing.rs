//! Screens of terminals as SVG, with their colours.

use std::fmt::Write as _;

/// The size of one character cell.
const CELL: (f32, f32) = (7.2, 15.0);
/// The colours of a terminal where the program names none.
const PLAIN: (&str, &str) = ("#cdd6f4", "#1e1e2e");

/// One screen of a picture.
pub(crate) struct Frame<'a> {
    /// Stands above it.
    pub(crate) title: &'a str,
    /// What the person saw.
    pub(crate) screen: &'a vt100::Screen,
    /// How many columns of it are worth showing.
    pub(crate) columns: u16,
    /// The first row to show has this text; all rows if it is empty.
    pub(crate) from: &'a str,
}

/// Draws screens below each other. What is the first of a pair of `names` on a screen is drawn as
/// the second.
pub(crate) fn draw(frames: &[Frame<'_>], names: &[(String, &str)]) -> String {
    let widest = frames.iter().map(|frame| frame.columns).max();
    let width = f32::from(widest.unwrap_or(0)) * CELL.0 + 32.0;
    let mut body = String::new();
    let mut top = 0.0;
    for frame in frames {
        let rows = rows(frame);
        let height = count(rows.len()).mul_add(CELL.1, 44.0);
        let _ = write!(
            body,
            "<rect x='4' y='{}' width='{}' height='{}' rx='8' fill='{}'/>\
             <text x='16' y='{}' fill='#9399b2'>{}</text>",
            top + 4.0,
            width - 8.0,
            height - 8.0,
            PLAIN.1,
            top + 22.0,
            frame.title,
        );
        for (number, row) in rows.iter().enumerate() {
            let y = count(number).mul_add(CELL.1, top + 42.0);
            for run in row {
                run.draw(&mut body, y, names);
            }
        }
        top += height;
    }
    format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {top}' font-family='ui-monospace, Menlo, Consolas, monospace' font-size='12' fill='{}'><style>text{{white-space:pre}}</style>{body}</svg>\n",
        PLAIN.0
    )
}

fn count(rows: usize) -> f32 {
    u16::try_from(rows).map_or(0.0, f32::from)
}

/// Cells of a row that look the same.
struct Run {
    column: u16,
    cells: u16,
    text: String,
    foreground: Option<String>,
    background: Option<String>,
}

impl Run {
    fn draw(&self, body: &mut String, y: f32, names: &[(String, &str)]) {
        let x = f32::from(self.column).mul_add(CELL.0, 16.0);
        let width = f32::from(self.cells) * CELL.0;
        if let Some(colour) = &self.background {
            let (top, height) = (y - 11.5, CELL.1);
            let _ = write!(
                body,
                "<rect x='{x:.1}' y='{top:.1}' width='{width:.1}' height='{height}' fill='{colour}'/>"
            );
        }
        let mut text = self.text.clone();
        for (name, shown) in names {
            text = text.replace(name, shown);
        }
        let text = text.trim_end();
        if text.is_empty() {
            return;
        }
        let fill = self.foreground.as_ref();
        let fill = fill.map_or_else(String::new, |colour| format!(" fill='{colour}'"));
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        let _ = write!(body, "<text x='{x:.1}' y='{y:.1}'{fill}>{text}</text>");
    }

    fn is_blank(&self) -> bool {
        self.background.is_none() && self.text.trim().is_empty()
    }
}

/// The rows of a frame that are worth showing.
fn rows(frame: &Frame<'_>) -> Vec<Vec<Run>> {
    let (rows, columns) = frame.screen.size();
    let columns = columns.get().min(frame.columns);
    let first = frame.screen.rows(0, columns);
    let first = first.into_iter().position(|row| row.contains(frame.from));
    let mut rows: Vec<_> = (0..rows.get())
        .map(|row| runs(frame.screen, row, columns))
        .skip(first.unwrap_or(0))
        .collect();
    while rows.last().is_some_and(|row| row.iter().all(Run::is_blank)) {
        rows.pop();
    }
    rows
}

fn runs(screen: &vt100::Screen, row: u16, columns: u16) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for column in 0..columns {
        let Some(cell) = screen.cell(row, column) else {
            continue;
        };
        let (mut foreground, mut background) = (css(cell.fgcolor()), css(cell.bgcolor()));
        if cell.inverse() {
            let plain = |colour: Option<String>, plain: &str| colour.or(Some(plain.to_owned()));
            let swapped = (plain(background, PLAIN.1), plain(foreground, PLAIN.0));
            (foreground, background) = swapped;
        }
        let text = if cell.has_contents() {
            cell.contents()
        } else if cell.is_wide_continuation() {
            ""
        } else {
            " "
        };
        match runs.last_mut() {
            Some(run) if run.foreground == foreground && run.background == background => {
                run.text.push_str(text);
                run.cells += 1;
            }
            _ => runs.push(Run {
                column,
                cells: 1,
                text: text.to_owned(),
                foreground,
                background,
            }),
        }
    }
    runs
}

/// The colours of a usual dark terminal.
fn css(colour: vt100::Color) -> Option<String> {
    const PALETTE: [&str; 16] = [
        "#45475a", "#f38ba8", "#a6e3a1", "#f9e2af", "#89b4fa", "#f5c2e7", "#94e2d5", "#bac2de",
        "#585b70", "#f38ba8", "#a6e3a1", "#f9e2af", "#89b4fa", "#f5c2e7", "#94e2d5", "#ffffff",
    ];
    match colour {
        vt100::Color::Default => None,
        vt100::Color::Idx(index @ 0..16) => Some(PALETTE[usize::from(index)].to_owned()),
        vt100::Color::Idx(index @ 16..232) => {
            // A cube of six steps for each of red, green and blue.
            let step = |part: u8| if part == 0 { 0 } else { part * 40 + 55 };
            let cube = index - 16;
            Some(hex(step(cube / 36), step(cube / 6 % 6), step(cube % 6)))
        }
        vt100::Color::Idx(grey) => {
            let level = (grey - 232) * 10 + 8;
            Some(hex(level, level, level))
        }
        vt100::Color::Rgb(red, green, blue) => Some(hex(red, green, blue)),
    }
}

fn hex(red: u8, green: u8, blue: u8) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}
