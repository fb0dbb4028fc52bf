//! The companion inside an editor: keystrokes, many open files, and what a document costs.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::http::Connection;
use crate::process::{Companion, megabytes};
use crate::report::{Report, Row, Sample};

const KEYS: u32 = 300;
const KEY_PAUSE: Duration = Duration::from_nanos(1_000_000_000 / 15);
/// A buffer of 1 MB in lines of this length.
const LINE: &str = "a line of an ordinary source file, 50 bytes long.\n";
const LINES: usize = (1 << 20) / LINE.len();

/// Half of the files that are opened.
const HALF: u32 = 5_000;
const FILE_BYTES: usize = 2_000;

const DOCUMENTS: usize = 100;

const METHOD: &str = "editor: `outrigger lsp` at the end of a pipe, an editor with a plugin, the \
    default debounce. Keystroke: 300 at 15/s, one character near the end of a buffer of 1 MB \
    (didChange, then selectionChanged), from the write to the pipe to the context with that \
    cursor on an agent's stream. Files: 10,000 didOpen of 2 kB each, each half awaited \
    by a request behind it; processor time from /proc/PID/stat, compared between the halves. Memory: \
    growth of the resident memory with 100 documents of 1 MB, after one keystroke in each, as a \
    share of their text.";

pub(crate) async fn measure(program: &Path, report: &mut Report) {
    keystrokes(program, report).await;
    files(program, report);
    memory(program, report);
    report.method(METHOD);
}

async fn keystrokes(program: &Path, report: &mut Report) {
    let (companion, mut editor) = Editor::start(program);
    let uri = file(&companion, "large.txt");
    editor.open(&uri, &LINE.repeat(LINES));
    let mut listener = Connection::agent(&companion).await.listen().await;
    let mut sample = Sample::default();
    let mut pace = tokio::time::interval(KEY_PAUSE);
    for key in 0..KEYS {
        pace.tick().await;
        let line = u32::try_from(LINES).unwrap() - KEYS + key;
        let pressed = Instant::now();
        editor.press(&uri, line, 10);
        listener.cursor_on(line + 1).await;
        sample.push(pressed.elapsed());
    }
    let met = sample.percentile(50) < 1.0;
    let row = Row::new("keystroke", "keystroke in a buffer of 1 MB → notification");
    report.add(sample.describe(row).guide("< 1 ms (p50)", met));
}

fn files(program: &Path, report: &mut Report) {
    let (companion, mut editor) = Editor::start(program);
    let text = "x".repeat(FILE_BYTES);
    let uris: Vec<_> = (0..2 * HALF)
        .map(|number| file(&companion, &format!("{number}.txt")))
        .collect();
    let (before, _) = companion.memory();
    let began = Instant::now();
    let mut halves = Vec::new();
    for half in uris.chunks(HALF as usize) {
        let spent = companion.cpu();
        for uri in half {
            editor.open(uri, &text);
        }
        editor.wait();
        let spent = companion.cpu().saturating_sub(spent);
        halves.push(spent.as_secs_f64() * 1e6 / f64::from(HALF));
    }
    let took = began.elapsed().as_secs_f64() * 1e6 / f64::from(2 * HALF);
    let (after, _) = companion.memory();
    let (first, second) = (halves[0], halves[1]);
    let each = after.saturating_sub(before) * 1024 / u64::from(2 * HALF);
    let row = Row::new("open_files", "10,000 open files: time of a didOpen")
        .shown(format!(
            "{took:.0} µs; processor {first:.0} µs in the first half, {second:.0} µs in the \
             second; {each} bytes of memory for {FILE_BYTES} of text"
        ))
        .figure("us", took)
        .figure("first_half_cpu_us", first)
        .figure("second_half_cpu_us", second)
        .figure("bytes_each", each);
    report.add(row.guide("linear (second half ≤ 1.5 × first)", second <= 1.5 * first));
}

fn memory(program: &Path, report: &mut Report) {
    let (companion, mut editor) = Editor::start(program);
    // The first document pays for what all of them need once.
    let text = LINE.repeat(LINES);
    let uri = file(&companion, "first.txt");
    editor.open(&uri, &text);
    editor.wait();
    let (before, _) = companion.memory();
    for number in 0..DOCUMENTS {
        let uri = file(&companion, &format!("{number}.txt"));
        editor.open(&uri, &text);
        editor.press(&uri, 1_000, 10);
        editor.wait();
    }
    let (after, peak) = companion.memory();
    let texts = u32::try_from(DOCUMENTS * text.len() / 1024).unwrap();
    let growth = u32::try_from(after.saturating_sub(before)).unwrap();
    let share = f64::from(growth) / f64::from(texts);
    let row = Row::new(
        "document_memory",
        "memory of an open document, as a share of its text",
    )
    .shown(format!(
        "{:.0} % (100 of 1 MB: {} more, highest {})",
        share * 100.0,
        megabytes(growth.into()),
        megabytes(peak)
    ))
    .figure("share", share)
    .figure("growth_kb", growth)
    .figure("peak_rss_kb", peak);
    report.add(row.guide("≤ 110 %", share <= 1.1));
}

/// An editor with a plugin that has started the companion.
struct Editor {
    pipe: ChildStdin,
    answers: mpsc::Receiver<u64>,
    next_id: u64,
    version: u64,
}

impl Editor {
    fn start(program: &Path) -> (Companion, Editor) {
        let (starting, pipe, stdout) = Companion::start_piped(program, &["lsp"]);
        let (send, answers) = mpsc::channel();
        thread::spawn(move || read_answers(stdout, &send));
        let mut editor = Editor {
            pipe,
            answers,
            next_id: 0,
            version: 1,
        };
        let root = format!("file://{}", starting.workspace().display());
        let hello = json!({
            "processId": std::process::id(),
            "workspaceFolders": [{ "uri": root, "name": "workspace" }],
            "capabilities": { "experimental": { "outrigger": true } },
        });
        editor.ask("initialize", &hello);
        editor.tell("initialized", &json!({}));
        (starting.ready(), editor)
    }

    fn open(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "text", "version": 1, "text": text });
        self.tell("textDocument/didOpen", &json!({ "textDocument": document }));
    }

    /// Types one character and says where the cursor is then.
    fn press(&mut self, uri: &str, line: u32, character: u32) {
        self.version += 1;
        let at = json!({ "line": line, "character": character });
        let change = json!({ "range": { "start": at, "end": at }, "text": "k" });
        let document = json!({ "uri": uri, "version": self.version });
        let changed = json!({ "textDocument": document, "contentChanges": [change] });
        let cursor = json!({ "line": line, "character": character + 1 });
        let selection = json!([{ "anchor": cursor, "active": cursor }]);
        let selected = json!({ "textDocument": { "uri": uri }, "selections": selection });
        let both = [
            framed("textDocument/didChange", &changed, None),
            framed("outrigger/selectionChanged", &selected, None),
        ];
        self.pipe.write_all(&both.concat()).unwrap();
    }

    /// Waits until everything that was said has been taken in.
    fn wait(&mut self) {
        self.ask("outrigger/status", &Value::Null);
    }

    fn ask(&mut self, method: &str, params: &Value) {
        self.next_id += 1;
        let message = framed(method, params, Some(self.next_id));
        self.pipe.write_all(&message).unwrap();
        while self.answers.recv().unwrap() != self.next_id {}
    }

    fn tell(&mut self, method: &str, params: &Value) {
        self.pipe.write_all(&framed(method, params, None)).unwrap();
    }
}

/// Writes an empty file of the workspace; its URI.
fn file(companion: &Companion, name: &str) -> String {
    let path = companion.household.write(name, "");
    format!("file://{}", path.display())
}

fn framed(method: &str, params: &Value, id: Option<u64>) -> Vec<u8> {
    let mut message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
    if let Some(id) = id {
        message["id"] = id.into();
    }
    let content = message.to_string();
    format!("Content-Length: {}\r\n\r\n{content}", content.len()).into_bytes()
}

/// Passes on the ids of all answers, and reads the rest away.
fn read_answers(stdout: ChildStdout, answers: &mpsc::Sender<u64>) {
    let mut stdout = BufReader::new(stdout);
    let mut line = String::new();
    let mut length = 0;
    while stdout.read_line(&mut line).is_ok_and(|read| read > 0) {
        if let Some(value) = line.strip_prefix("Content-Length:") {
            length = value.trim().parse().unwrap();
        } else if line == "\r\n" {
            let mut content = vec![0; length];
            stdout.read_exact(&mut content).unwrap();
            let message: Value = serde_json::from_slice(&content).unwrap();
            let answered = message.get("method").is_none();
            if let (true, Some(id)) = (answered, message["id"].as_u64()) {
                // Nobody waits any more when the measurement is over.
                let _ = answers.send(id);
            }
        }
        line.clear();
    }
}
