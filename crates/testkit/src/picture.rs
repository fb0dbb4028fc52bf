//! Pictures of terminals for the documents.

use std::fmt::Write as _;
use std::path::PathBuf;

use crate::Terminal;

/// The variable that names the folder where pictures go, if they are wanted.
const PICTURES: &str = "OUTRIGGER_PICTURES";

const CELL_WIDTH: f32 = 7.2;
const CELL_HEIGHT: f32 = 15.0;
/// The distance of the text from the frame, and the height of the title.
const MARGIN: f32 = 12.0;
const TITLE: f32 = 26.0;

const FOREGROUND: &str = "#cdd6f4";
const BACKGROUND: &str = "#1e1e2e";
/// The sixteen colours that programs name by number.
const COLOURS: [&str; 16] = [
    "#45475a", "#f38ba8", "#a6e3a1", "#f9e2af", "#89b4fa", "#f5c2e7", "#94e2d5", "#bac2de",
    "#585b70", "#f38ba8", "#a6e3a1", "#f9e2af", "#89b4fa", "#f5c2e7", "#94e2d5", "#a6adc8",
];

/// The folder for pictures, if they are wanted.
pub fn pictures() -> Option<PathBuf> {
    std::env::var_os(PICTURES).map(PathBuf::from)
}

/// Draws what a terminal shows now, if pictures are wanted.
pub fn draw(terminal: &Terminal, name: &str) {
    if let Some(folder) = pictures() {
        let picture = svg(&terminal.look(), name);
        std::fs::write(folder.join(format!("{name}.svg")), picture).unwrap();
    }
}

/// A run of cells that look alike.
struct Run {
    column: u16,
    width: u16,
    text: String,
    look: Look,
}

#[derive(Clone, PartialEq, Eq)]
struct Look {
    ink: String,
    paper: String,
    bold: bool,
}

fn svg(screen: &vt100::Screen, title: &str) -> String {
    let (rows, columns) = screen.size();
    let (rows, columns) = (rows.get(), columns.get());
    let width = f32::from(columns) * CELL_WIDTH + 2.0 * MARGIN + 8.0;
    let height = f32::from(rows) * CELL_HEIGHT + TITLE + MARGIN + 4.0;
    let mut out = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:.0} {height:.0}' \
         font-family='ui-monospace, Menlo, Consolas, monospace' font-size='12'>\
         <style>text{{white-space:pre}}</style>\
         <rect x='4' y='4' width='{:.0}' height='{:.0}' rx='8' fill='{BACKGROUND}'/>\
         <text x='16' y='22' fill='#9399b2'>{title}</text>",
        width - 8.0,
        height - 8.0
    );
    for row in 0..rows {
        for run in runs(screen, row, columns) {
            draw_run(&mut out, row, &run);
        }
    }
    out.push_str("</svg>\n");
    out
}

fn draw_run(out: &mut String, row: u16, run: &Run) {
    let x = MARGIN + 4.0 + f32::from(run.column) * CELL_WIDTH;
    let y = TITLE + 4.0 + f32::from(row) * CELL_HEIGHT;
    let width = f32::from(run.width) * CELL_WIDTH;
    if run.look.paper != BACKGROUND {
        let _ = write!(
            out,
            "<rect x='{x:.1}' y='{y:.1}' width='{width:.1}' height='{CELL_HEIGHT}' fill='{}'/>",
            run.look.paper
        );
    }
    let text = run.text.trim_end();
    if !text.is_empty() {
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        let weight = if run.look.bold {
            " font-weight='bold'"
        } else {
            ""
        };
        let _ = write!(
            out,
            "<text x='{x:.1}' y='{:.1}' fill='{}'{weight}>{text}</text>",
            y + 11.5,
            run.look.ink
        );
    }
}

fn runs(screen: &vt100::Screen, row: u16, columns: u16) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for column in 0..columns {
        let Some(cell) = screen.cell(row, column) else {
            continue;
        };
        let look = look(cell);
        let text = if cell.has_contents() {
            cell.contents()
        } else {
            " "
        };
        match runs.last_mut().filter(|run| run.look == look) {
            Some(run) => {
                run.width += 1;
                if !cell.is_wide_continuation() {
                    run.text.push_str(text);
                }
            }
            None => runs.push(Run {
                column,
                width: 1,
                text: text.to_owned(),
                look,
            }),
        }
    }
    runs
}

fn look(cell: &vt100::Cell) -> Look {
    let mut ink = colour(cell.fgcolor(), FOREGROUND);
    let mut paper = colour(cell.bgcolor(), BACKGROUND);
    if cell.inverse() {
        std::mem::swap(&mut ink, &mut paper);
    }
    Look {
        ink,
        paper,
        bold: cell.bold(),
    }
}

fn colour(colour: vt100::Color, default: &str) -> String {
    match colour {
        vt100::Color::Default => default.to_owned(),
        vt100::Color::Rgb(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}"),
        vt100::Color::Idx(index @ 0..16) => COLOURS[usize::from(index)].to_owned(),
        // A cube of six steps for each colour, and then greys.
        vt100::Color::Idx(index @ 16..232) => {
            let index = index - 16;
            let step = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
            let [red, green, blue] = [index / 36, index / 6 % 6, index % 6].map(step);
            format!("#{red:02x}{green:02x}{blue:02x}")
        }
        vt100::Color::Idx(index) => {
            let grey = 8 + 10 * (index - 232);
            format!("#{grey:02x}{grey:02x}{grey:02x}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_alike_is_drawn_together() {
        let mut parser = vt100::Parser::default();
        parser.process(b"a <b> \x1b[31mred\x1b[0m\r\n\x1b[7;1minverse");
        let picture = svg(parser.screen(), "title");
        for part in [
            ">a &lt;b></text>",
            "fill='#f38ba8'>red</text>",
            "fill='#1e1e2e' font-weight='bold'>inverse</text>",
            "fill='#cdd6f4'/>",
            ">title</text>",
        ] {
            assert!(picture.contains(part), "no {part} in {picture}");
        }
    }
}
