//! The first five minutes: a person who has an agent and a model, and nothing else, gets to the first
//! reviewed edit with three actions. They start the agent, say what they want, and accept.
//!
//! Gemini CLI takes two more the very first time: it asks whether the folder is trusted, which is not
//! ours to answer, and the person agrees to a change of its settings, because it reads no defaults that
//! are not the administrator's. From then on it is three.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::{Agent, Call, Clients, Household, Key, Look, Terminal, until};

use crate::PROGRAM;
use crate::page::Page;

#[test]
fn three_actions_to_the_first_reviewed_edit_of_qwen() {
    let Some(clients) = Clients::find() else {
        return;
    };
    let house = Household::unused(PROGRAM, &clients);
    let settings = Agent::Qwen.settings_file(&house.home());
    let before = chosen(&settings);
    three_actions(&house, &Desktop::of(&house), Agent::Qwen);
    assert_eq!(chosen(&settings), before, "settings of the person's");
}

#[test]
fn gemini_is_switched_on_with_one_key_and_then_takes_three_actions() {
    let Some(clients) = Clients::find() else {
        return;
    };
    let house = Household::unused(PROGRAM, &clients);
    let desktop = Desktop::of(&house);
    let settings = Agent::Gemini.settings_file(&house.home());
    let before = fs::read(&settings).unwrap();
    let mut wanted = chosen(&settings);
    wanted["ide"] = json!({ "enabled": true, "hasSeenNudge": true });

    // What is going to happen is told first, and the agent waits for the answer.
    let mut terminal = desktop.run(&house, Agent::Gemini);
    terminal.wait_until("the question", |screen| {
        screen.contains("whether you trust") && screen.contains("Switch it on? [Y/n]")
    });
    desktop.opened();
    assert_eq!(fs::read(&settings).unwrap(), before, "changed unasked");
    terminal.press(Key::Enter);
    trust_the_folder(&mut terminal);
    house.wait_for_session(&terminal, Agent::Gemini);
    assert_eq!(chosen(&settings), wanted);
    let copy = settings.with_extension("json.before-outrigger");
    assert_eq!(fs::read(copy).unwrap(), before);
    quit(&house, terminal);

    three_actions(&house, &desktop, Agent::Gemini);
    assert_eq!(chosen(&settings), wanted, "settings of the person's");
}

/// Whoever wants no program to change their settings is told what to do in Gemini CLI.
#[test]
fn gemini_can_be_switched_on_by_hand() {
    let Some(clients) = Clients::find() else {
        return;
    };
    let house = Household::unused(PROGRAM, &clients);
    let desktop = Desktop::of(&house);
    let settings = Agent::Gemini.settings_file(&house.home());
    let before = chosen(&settings);

    let mut terminal = desktop.run(&house, Agent::Gemini);
    terminal.wait_until("the question", |screen| {
        screen.contains("Switch it on? [Y/n]")
    });
    desktop.opened();
    terminal.type_keys("n\r");
    terminal.wait_until("what to do", |screen| {
        let told = ["don't ask again", "`/ide enable`", "Press Enter to start"];
        told.iter().all(|part| screen.contains(part))
    });
    terminal.press(Key::Enter);
    terminal.wait_until("the question that leads nowhere", |screen| {
        screen.contains("Do you want to connect Outrigger to Gemini CLI?")
    });
    assert_eq!(chosen(&settings), before, "settings of the person's");
    terminal.choose(3);
    trust_the_folder(&mut terminal);
    // It sends a command that is typed before it has loaded its commands to the model.
    terminal.type_keys("/ide");
    terminal.wait_until("its commands", |screen| {
        screen.contains("Manage IDE integration")
    });
    terminal.say(" enable");
    house.wait_for_session(&terminal, Agent::Gemini);
    quit(&house, terminal);
}

/// What Gemini CLI asks in a folder that it does not know.
const TRUST: &str = "Do you trust the files in this folder?";

/// Trusts the folder, and waits until Gemini CLI can be talked to.
fn trust_the_folder(terminal: &mut Terminal) {
    terminal.wait_until("its own question", |screen| screen.contains(TRUST));
    terminal.press(Key::Enter);
    // It starts itself again when the folder has become trusted; what it showed before may stay.
    terminal.wait_until("the input box", |screen| {
        let restarted = screen.rsplit_once("restarting to apply the trust changes");
        let now = restarted.map_or(screen, |(_, now)| now);
        !now.contains(TRUST) && now.contains("Type your message")
    });
}

fn quit(house: &Household, terminal: Terminal) {
    terminal.quit();
    until("the companion ends with its agent", || {
        house.served_by().is_none().then_some(())
    });
}

/// Starts an agent, says what is wanted, and accepts; nothing else.
fn three_actions(house: &Household, desktop: &Desktop, agent: Agent) {
    house.write("poem.txt", "one\ntwo\nthree\n");
    // One: start it.
    let mut terminal = desktop.run(house, agent);
    let page = Page::open_link(house, Look::DESK, &desktop.opened());
    // Two: say what is wanted. Agents change only what they have read.
    let path = house.path("poem.txt");
    let turns = vec![
        vec![Call::read(&path)],
        vec![Call::edit(&path, "two", "TWO")],
    ];
    house.wait_for_prompt(&terminal);
    house.wait_for_session(&terminal, agent);
    let mark = house.ask(&mut terminal, turns);
    let proposal = house.wait_for_proposal(&terminal, agent, "poem.txt");
    assert_eq!(house.read("poem.txt").unwrap(), b"one\ntwo\nthree\n");
    let session = &house.sessions()[0];
    let version = match agent {
        Agent::Qwen => "0.24.4",
        Agent::Gemini => "0.61.0",
    };
    assert_eq!(session["version"], version, "{session}");
    assert_eq!(session["note"], Value::Null, "it asks");
    // Three: accept it.
    page.show(&proposal);
    page.wait_until_shown("one\nTWO\nthree\n");
    page.act("accept");
    house.wait_for_file(&terminal, "poem.txt", "one\nTWO\nthree\n");
    house.wait_until_done(&terminal, &mark);

    assert!(!house.workspace().join(".qwen").exists());
    assert!(!house.workspace().join(".gemini").exists());
    quit(house, terminal);
}

/// What the person has chosen in a settings file: all but the version of its format, which the
/// agents add to a file that has none.
fn chosen(settings: &PathBuf) -> Value {
    let mut settings: Value = serde_json::from_slice(&fs::read(settings).unwrap()).unwrap();
    settings.as_object_mut().unwrap().remove("$version");
    settings
}

/// A machine with a screen, whose browser writes down what it is asked to open.
struct Desktop {
    commands: PathBuf,
    opened: PathBuf,
}

impl Desktop {
    fn of(house: &Household) -> Desktop {
        let commands = house.home().join("desktop");
        fs::create_dir(&commands).unwrap();
        let opened = house.temporary().join("opened");
        let script = format!(
            "#!/bin/sh\necho \"$1\" > {0}.new; mv {0}.new {0}\n",
            opened.display()
        );
        let browser = commands.join("xdg-open");
        fs::write(&browser, script).unwrap();
        fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).unwrap();
        Desktop { commands, opened }
    }

    /// Types the one command, and waits for nothing.
    fn run(&self, house: &Household, agent: Agent) -> Terminal {
        let mut environment = house.with_program(house.environment_for(agent));
        for (name, value) in &mut environment {
            if name == "PATH" {
                *value = format!("{}:{value}", self.commands.display());
            }
        }
        // Gemini starts itself once more when a folder becomes trusted.
        environment.retain(|(name, _)| name != "GEMINI_CLI_NO_RELAUNCH");
        environment.push(("DISPLAY".into(), ":7".into()));
        let command = [&["outrigger", "run", "--"], agent.command()].concat();
        Terminal::start(&command, &house.workspace(), &environment)
    }

    /// The link that the browser was asked to open.
    #[track_caller]
    fn opened(&self) -> String {
        let link = until("the page is opened", || {
            fs::read_to_string(&self.opened).ok()
        });
        fs::remove_file(&self.opened).unwrap();
        link.trim_end().to_owned()
    }
}
