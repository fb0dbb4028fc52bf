//! Editors with nothing but an LSP client: real ones, and scripted ones that behave as theirs does.
//!
//! Each ends with a file on disk that a real agent wrote after the person said yes in the editor.
//! What every client sends and understands is tried without a process in `crates/editor`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use testkit::{
    Agent, Call, Clients, Household, KAKOUNE_LSP, ScriptedEditor, Terminal, uri, wait_for,
};

use crate::PROGRAM;

const BEFORE: &str = "first line\nsecond line\nthird line\n";

/// The agent's change of every test, and the words that show it.
fn propose(house: &Household, terminal: &mut Terminal) -> String {
    let path = house.path("hello.txt");
    let turns = vec![
        vec![Call::read(&path)],
        vec![Call::edit(&path, "second line", "SECOND line")],
    ];
    house.ask(terminal, turns)
}

/// Eglot asks in the minibuffer.
#[test]
fn eglot_accepts_for_qwen() {
    let Some(clients) = Clients::find() else {
        return;
    };
    let house = prepare(&clients);
    // Warnings of Emacs's own compiler would open a window at any moment.
    let settings = "(setq native-comp-async-report-warnings-errors nil)\n\
        (require 'eglot)\n\
        (add-to-list 'eglot-server-programs '((text-mode conf-mode) . (\"outrigger\" \"lsp\")))\n\
        (add-hook 'text-mode-hook #'eglot-ensure)\n";
    write(&house.home().join(".emacs.d/init.el"), settings);
    let mut emacs = edit(&house, &["emacs", "-nw", "hello.txt"]);
    served(&house, &emacs);
    go_to_the_third_character(&house, &mut emacs);
    let mut terminal = house.start_connected(Agent::Qwen);
    let mark = propose(&house, &mut terminal);
    emacs.wait_until("the question", |screen| screen.contains("Choose an option"));
    // What is offered first stands there already.
    emacs.type_keys("\r");
    accepted(&house, &terminal, &mark);
}

/// Goes there until agents see it. Emacs tells where the cursor is when it idles after a command; what its
/// terminal answers at the start counts as one that moves nothing, and may come in between.
fn go_to_the_third_character(house: &Household, emacs: &mut Terminal) {
    let mut looks = 0;
    let is_seen = || {
        if looks % 50 == 0 {
            emacs.type_keys("\x1b<\x0e\x06\x06");
        }
        looks += 1;
        (house.status()["files"][0]["column"] == 3).then_some(())
    };
    let picture = || house.status().to_string();
    wait_for("the cursor in what agents see", is_seen, picture);
}

/// Kakoune keeps the question until the person wants it.
#[test]
fn kakoune_accepts_for_gemini() {
    let Some(clients) = Clients::find_with(&[KAKOUNE_LSP.0]) else {
        return;
    };
    let house = prepare(&clients);
    let settings = "evaluate-commands %sh{kak-lsp}\n\
        hook global BufCreate [^*].* %{\n\
        evaluate-commands %sh{ [ -n \"$kak_opt_filetype\" ] || echo set-option buffer filetype plaintext }\n\
        set-option -add buffer lsp_servers %{\n\
        [outrigger]\n\
        root_globs = [\".git\"]\n\
        command = \"outrigger\"\n\
        args = [\"lsp\"]\n\
        }\n\
        }\n\
        lsp-enable\n\
        set-option global autoreload yes\n";
    write(&house.home().join(".config/kak/kakrc"), settings);
    let mut kakoune = edit(&house, &["kak", "hello.txt"]);
    served(&house, &kakoune);
    // The second line, with its newline.
    kakoune.type_keys("jx");
    selected(&house, &kakoune, "second line");
    let mut terminal = house.start_connected(Agent::Gemini);
    let mark = propose(&house, &mut terminal);
    house.wait_for_proposal(&terminal, Agent::Gemini, "hello.txt");
    kakoune.type_keys(":lsp-show-message-request-next\r");
    kakoune.wait_until("the question", |screen| screen.contains("Accept"));
    kakoune.type_keys("Accept\r");
    accepted(&house, &terminal, &mark);
    // Its LSP client is a process apart, and ends when it is told to.
    kakoune.say(":quit!");
    kakoune.ended();
}

/// Kate 22.12 knows no questions: it tells the person where the sheet is, and another place decides.
#[test]
fn kate_tells_of_a_proposal_of_qwen() {
    let Some(clients) = Clients::find() else {
        return;
    };
    let house = prepare(&clients);
    let trace = house.home().join("trace");
    let folder = house.home().join(".config");
    let settings = json!({ "servers": { "outrigger": {
        "command": [PROGRAM, "lsp", "--record", trace],
        "rootIndicationFileNames": [".git"],
        "highlightingModeRegex": "^.*$",
    } } });
    write(
        &folder.join("kate/lspclient/settings.json"),
        &settings.to_string(),
    );
    let command = format!("{PROGRAM} lsp --record {}", trace.display());
    write(
        &folder.join("katerc"),
        &format!(
            "[General]\nStartup Session=manual\n\n[Kate Plugins]\nlspclientplugin=true\n\n\
             [lspclient]\nAllowedServerCommandLines={command}\n"
        ),
    );
    let screen = Screen::start();
    let mut environment = environment(&house);
    environment.push(("DISPLAY".into(), screen.name.clone()));
    let command = ["kate", "-b", "hello.txt"];
    let kate = Terminal::edit(&command, &house.workspace(), &environment);
    served(&house, &kate);
    wait_for(
        "the file in what agents see",
        || {
            house.status()["files"][0]["path"]
                .as_str()
                .map(str::to_owned)
        },
        || format!("{}\n{kate}", house.status()),
    );
    let mut terminal = house.start_connected(Agent::Qwen);
    let mark = propose(&house, &mut terminal);
    let request = house.model.requests_containing(&mark)[0].to_string();
    assert!(request.contains("hello.txt"), "no file in {request}");
    let proposal = house.wait_for_proposal(&terminal, Agent::Qwen, "hello.txt");
    let said = || fs::read_to_string(&trace).unwrap_or_default();
    wait_for(
        "the message",
        || said().contains("with `outrigger accept 1`").then_some(()),
        || format!("{}\n{kate}", said()),
    );
    house.accept(&proposal);
    accepted(&house, &terminal, &mark);
}

/// A screen for editors that need one.
struct Screen {
    server: Child,
    name: String,
}

impl Screen {
    /// The server chooses a number that nobody has, and says it once it is ready.
    fn start() -> Screen {
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-nolisten", "tcp"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut number = String::new();
        let mut output = BufReader::new(server.stdout.take().unwrap());
        output.read_line(&mut number).unwrap();
        let name = format!(":{}", number.trim());
        Screen { server, name }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Helix shows the sheet, sends its selection with a question for code actions, and takes single
/// hunks back; it could not be installed.
#[test]
fn a_client_like_helix_accepts_one_hunk_for_gemini() {
    let Some(clients) = Clients::find() else {
        return;
    };
    let house = prepare(&clients);
    let mut helix = ScriptedEditor::start(house.command(&["lsp"]));
    let capabilities = json!({
        "general": { "positionEncodings": ["utf-8", "utf-32", "utf-16"] },
        "window": { "showDocument": { "support": true } },
        "workspace": { "applyEdit": true },
    });
    helix.initialize(
        "helix",
        &house.workspace(),
        std::process::id(),
        &capabilities,
    );
    let path = house.path("hello.txt");
    helix.open(&path, BEFORE);
    code_actions(&mut helix, &uri(&path), [1, 0, 1, 6]);
    let mut terminal = house.start_connected(Agent::Gemini);
    let write = Call::write(&path, "FIRST line\nsecond line\nTHIRD line\n");
    let mark = house.ask(&mut terminal, vec![vec![Call::read(&path)], vec![write]]);
    let request = house.model.requests_containing(&mark)[0].to_string();
    assert!(request.contains("second"), "no selection in {request}");

    let show = helix.hear("window/showDocument");
    helix.reply(&show, json!({ "success": true }));
    let sheet = show["params"]["uri"].as_str().unwrap();
    let file = PathBuf::from(sheet.strip_prefix("file://").unwrap());
    let proposed = fs::read_to_string(&file).unwrap();
    helix.open(&file, &proposed);
    let actions = code_actions(&mut helix, sheet, [0, 0, 0, 0]);
    let drop = actions.as_array().unwrap().iter();
    let drop = drop.rev().find(|it| it["title"] == "Drop this hunk");
    let command = &drop.unwrap()["command"];
    let params = json!({ "command": command["command"], "arguments": command["arguments"] });
    helix.request("workspace/executeCommand", params);
    let edit = helix.hear("workspace/applyEdit");
    let change = &edit["params"]["edit"]["changes"][sheet][0];
    let place = |end: &str| {
        let at = &change["range"][end];
        let number = |name: &str| u32::try_from(at[name].as_u64().unwrap()).unwrap();
        (number("line"), number("character"))
    };
    let text = change["newText"].as_str().unwrap();
    helix.change(&file, place("start"), place("end"), text);
    helix.reply(&edit, json!({ "applied": true }));
    // `:w` in the sheet; what it writes does not matter, the text is known.
    helix.notify(
        "textDocument/didSave",
        json!({ "textDocument": { "uri": sheet } }),
    );
    house.wait_for_file(
        &terminal,
        "hello.txt",
        "first line\nsecond line\nTHIRD line\n",
    );
    house.wait_until_done(&terminal, &mark);
}

/// Zed and others without `showDocument` answer the question.
#[test]
fn a_client_like_zed_rejects_for_qwen() {
    let Some(clients) = Clients::find() else {
        return;
    };
    let house = prepare(&clients);
    let mut zed = ScriptedEditor::start(house.command(&["lsp"]));
    let capabilities = json!({
        "general": { "positionEncodings": ["utf-16"] },
        "workspace": { "applyEdit": true },
    });
    zed.initialize("Zed", &house.workspace(), std::process::id(), &capabilities);
    zed.open(&house.path("hello.txt"), BEFORE);
    let mut terminal = house.start_connected(Agent::Qwen);
    propose(&house, &mut terminal);
    let question = zed.hear("window/showMessageRequest");
    zed.reply(&question, json!({ "title": "Reject" }));
    house.wait_for_no_proposals();
    house.wait_for_prompt(&terminal);
    assert_eq!(house.read("hello.txt").unwrap(), BEFORE.as_bytes());
}

fn code_actions(editor: &mut ScriptedEditor, document: &str, at: [u32; 4]) -> Value {
    let [l1, c1, l2, c2] = at;
    let range = json!({
        "start": { "line": l1, "character": c1 },
        "end": { "line": l2, "character": c2 },
    });
    let params = json!({
        "textDocument": { "uri": document },
        "range": range,
        "context": { "diagnostics": [] },
    });
    editor.request("textDocument/codeAction", params)
}

/// A workspace with a repository and one file.
fn prepare(clients: &Clients) -> Household {
    let house = Household::new(PROGRAM, clients);
    fs::create_dir(house.path(".git")).unwrap();
    house.write("hello.txt", BEFORE);
    house
}

/// Starts an editor in a terminal, with the program on its path.
fn edit(house: &Household, command: &[&str]) -> Terminal {
    Terminal::edit(command, &house.workspace(), &environment(house))
}

fn environment(house: &Household) -> Vec<(String, String)> {
    let programs = house.program().parent().unwrap().display().to_string();
    let servers = house.clients().kakoune_lsp().display().to_string();
    let mut environment = house.environment();
    for (name, value) in &mut environment {
        if name == "PATH" {
            *value = format!("{programs}:{servers}:{value}");
        }
    }
    environment
}

/// Waits until the editor has started a companion.
fn served(house: &Household, editor: &Terminal) {
    wait_for("the companion", || house.served_by(), || editor.to_string());
}

/// Waits until agents see exactly as much selected as `text` has.
fn selected(house: &Household, editor: &Terminal, text: &str) {
    let length = u64::try_from(text.chars().count()).unwrap();
    wait_for(
        "the selection in what agents see",
        || (house.status()["files"][0]["selected"] == length).then_some(()),
        || format!("{length} expected, {}\n{editor}", house.status()),
    );
}

/// The agent writes what it proposed.
fn accepted(house: &Household, terminal: &Terminal, mark: &str) {
    let after = BEFORE.replace("second", "SECOND");
    house.wait_for_file(terminal, "hello.txt", after);
    house.wait_until_done(terminal, mark);
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
