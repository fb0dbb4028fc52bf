//! Draws the picture of the README: a real agent proposes an edit, and a part of it is accepted
//! from another terminal.
//!
//! ```text
//! cargo build && cargo run -p outrigger-testkit --example picture -- target/debug/outrigger docs/images/companion.svg
//! ```

use std::fmt::Write as _;
use std::path::Path;

use testkit::{Agent, Call, Clients, Household, Terminal};

/// The size of one character cell.
const CELL: (f32, f32) = (7.2, 15.0);
/// How many columns of each screen are worth showing.
const SHOWN: u16 = 84;

const BEFORE: &str = "def greet(name):\n    print(\"hello \" + name)\n\n\ndef main():\n    greet(\"world\")\n\n\nmain()\n";
const AFTER: &str = "def greet(name: str) -> None:\n    print(f\"Hello, {name}!\")\n\n\ndef main():\n    greet(\"world\")\n\n\nif __name__ == \"__main__\":\n    main()\n";

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (Some(program), Some(picture)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: picture PROGRAM FILE.svg");
        std::process::exit(2);
    };
    let program = std::fs::canonicalize(program).expect("the program is built");
    let Some(clients) = Clients::find() else {
        return;
    };
    let house = Household::with_companion(&program, &clients);
    house.write("hello.py", BEFORE);
    house.focus("hello.py", 2, 5, "");
    let mut agent = house.start_connected(Agent::Qwen);
    let path = house.path("hello.py");
    let mark = house.ask(
        &mut agent,
        vec![vec![Call::read(&path)], vec![Call::write(&path, AFTER)]],
    );
    let proposal = house.wait_for_proposal(&agent, Agent::Qwen, "hello.py");
    agent.wait_until("the agent's question", |screen| {
        screen.contains("Apply this change")
    });
    let asking = agent.look();

    let mut environment = house.environment();
    for (name, value) in &mut environment {
        if name == "PATH" {
            let folder = program.parent().expect("a program is in a folder");
            *value = format!("{}:{value}", folder.display());
        }
    }
    environment.push(("PS1".into(), "$ ".into()));
    let mut shell = Terminal::start(&["sh"], &house.workspace(), &environment);
    shell.wait_until("a prompt", |screen| screen.contains('$'));
    shell.say(&format!("outrigger show {}", proposal.id));
    shell.wait_until("the diff", |screen| screen.contains("__name__"));
    shell.say(&format!("outrigger accept {} --hunks 1", proposal.id));
    shell.wait_until("the verdict", |screen| screen.contains("accepted"));
    house.wait_until_done(&agent, &mark);
    shell.say("head -2 hello.py; tail -1 hello.py");
    shell.wait_until("the file", |screen| screen.contains("\nmain()\n$"));
    let deciding = shell.look();
    agent.quit();

    let names = [
        (house.workspace().display().to_string(), "~/project"),
        (mark, "Type the signature, please, and make it importable."),
    ];
    let screens = [("qwen", &asking), ("another terminal", &deciding)];
    let drawing = draw(&screens, &names);
    std::fs::write(Path::new(&picture), drawing).expect("the picture can be written");
}

/// Draws screens below each other, each with a title.
fn draw(screens: &[(&str, &vt100::Screen)], names: &[(String, &str)]) -> String {
    let width = f32::from(SHOWN) * CELL.0 + 32.0;
    let mut body = String::new();
    let mut top = 0.0;
    for (title, screen) in screens {
        let rows = rows(screen, names);
        let height = count(rows.len()).mul_add(CELL.1, 44.0);
        let _ = write!(
            body,
            "<rect x='4' y='{}' width='{}' height='{}' rx='8' fill='#1e1e2e'/>\
             <text x='16' y='{}' fill='#9399b2'>{title}</text>",
            top + 4.0,
            width - 8.0,
            height - 8.0,
            top + 22.0,
        );
        for (row, text) in rows.iter().enumerate() {
            let y = count(row).mul_add(CELL.1, top + 42.0);
            let _ = write!(body, "<text x='16' y='{y}' fill='#cdd6f4'>{text}</text>");
        }
        top += height;
    }
    format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {top}' font-family='ui-monospace, Menlo, Consolas, monospace' font-size='12' xml:space='preserve'>{body}</svg>\n"
    )
}

fn count(rows: usize) -> f32 {
    u16::try_from(rows).map_or(0.0, f32::from)
}

/// The rows of a screen as SVG text, from the person's first words on.
fn rows(screen: &vt100::Screen, names: &[(String, &str)]) -> Vec<String> {
    let (rows, columns) = screen.size();
    let mut drawn: Vec<String> = (0..rows.get())
        .map(|row| draw_row(screen, row, columns.get().min(SHOWN)))
        .collect();
    // The last name is what the person said to the agent.
    let said = |row: &String| {
        row.starts_with('$') || names.last().is_some_and(|(said, _)| row.contains(said))
    };
    let first = drawn.iter().position(said).unwrap_or(0);
    let last = drawn
        .iter()
        .rposition(|row| !row.is_empty())
        .map_or(0, |last| last + 1);
    for row in &mut drawn {
        for (name, shown) in names {
            *row = row.replace(name, shown);
        }
    }
    drawn[first..last].to_vec()
}

/// One row: runs of cells that look the same share an element.
fn draw_row(screen: &vt100::Screen, row: u16, columns: u16) -> String {
    let mut text = String::new();
    let mut run = String::new();
    let mut colour = vt100::Color::Default;
    for column in 0..columns {
        let Some(cell) = screen.cell(row, column) else {
            continue;
        };
        if cell.fgcolor() != colour {
            flush(&mut text, &mut run, colour);
            colour = cell.fgcolor();
        }
        run.push_str(if cell.has_contents() {
            cell.contents()
        } else {
            " "
        });
    }
    flush(&mut text, &mut run, colour);
    text.trim_end().to_owned()
}

fn flush(text: &mut String, run: &mut String, colour: vt100::Color) {
    let escaped = run.replace('&', "&amp;").replace('<', "&lt;");
    run.clear();
    if escaped.trim().is_empty() {
        text.push_str(&escaped);
        return;
    }
    match css(colour) {
        Some(css) => {
            let _ = write!(text, "<tspan fill='{css}'>{escaped}</tspan>");
        }
        None => text.push_str(&escaped),
    }
}

/// The colours of a usual dark terminal.
fn css(colour: vt100::Color) -> Option<String> {
    const PALETTE: [&str; 16] = [
        "#45475a", "#f38ba8", "#a6e3a1", "#f9e2af", "#89b4fa", "#f5c2e7", "#94e2d5", "#bac2de",
        "#585b70", "#f38ba8", "#a6e3a1", "#f9e2af", "#89b4fa", "#f5c2e7", "#94e2d5", "#ffffff",
    ];
    match colour {
        vt100::Color::Default => None,
        vt100::Color::Idx(index) => PALETTE.get(usize::from(index)).map(|css| (*css).to_owned()),
        vt100::Color::Rgb(r, g, b) => Some(format!("#{r:02x}{g:02x}{b:02x}")),
    }
}
