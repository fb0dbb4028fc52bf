//! What a proposal looks like in each editor: who proposes, and how to decide, stand on the screen.
//! These are also the pictures of the documents.

use std::num::NonZero;

use testkit::{Agent, Call, Household, Terminal, picture};

use crate::emacs::driver::Emacs;
use crate::neovim::{self, NEW, nvim::Neovim};
use crate::{household, vim};

const BEFORE: &str = "def greet(name):\n    print(\"hello \" + name)\n\n\ndef main():\n    \
                      greet(\"world\")\n\n\nmain()\n";
const AFTER: &str = "def greet(name: str) -> None:\n    print(f\"Hello, {name}!\")\n\n\n\
                     def main():\n    greet(\"world\")\n\n\nif __name__ == \"__main__\":\n    main()\n";

/// Two texts beside each other.
const BESIDE: NonZero<u16> = NonZero::new(18).unwrap();
/// A text below another one.
const BELOW: NonZero<u16> = NonZero::new(30).unwrap();
const COLUMNS: NonZero<u16> = NonZero::new(140).unwrap();

#[test]
fn neovim_says_who_proposes_and_how_to_decide() {
    let Some(house) = neovim::household(NEW) else {
        return;
    };
    house.write("hello.py", BEFORE);
    let neovim = Neovim::start(&house, NEW, &["hello.py"]);
    let said = ["Qwen Code", "proposes", ":w accepts", ":q rejects"];
    look(&house, &neovim.terminal, BESIDE, "neovim", &said);
}

#[test]
fn vim_says_who_proposes_and_how_to_decide() {
    let Some(house) = household() else {
        return;
    };
    house.write("hello.py", BEFORE);
    let vim = vim::start(&house, &["-c", "syntax on", "hello.py"]);
    let said = ["Qwen Code", "proposes", ":w accepts", ":q rejects"];
    look(&house, &vim, BESIDE, "vim", &said);
}

#[test]
fn emacs_says_who_proposes_and_how_to_decide() {
    let Some(house) = household() else {
        return;
    };
    house.write("hello.py", BEFORE);
    let emacs = Emacs::start(&house, &["hello.py"]);
    let said = [
        "Qwen Code",
        "proposes",
        "C-c C-c accepts",
        "C-c C-k rejects",
    ];
    look(&house, &emacs.terminal, BELOW, "emacs", &said);
}

/// Lets the agent propose a change of `hello.py`, and waits until the editor has said all of this.
fn look(house: &Household, editor: &Terminal, rows: NonZero<u16>, name: &str, said: &[&str]) {
    let mut terminal = house.start_connected(Agent::Qwen);
    editor.resize(rows, COLUMNS);
    let path = house.path("hello.py");
    let turns = vec![vec![Call::read(&path)], vec![Call::write(&path, AFTER)]];
    house.ask(&mut terminal, turns);
    editor.wait_until("the proposal", |screen| {
        let new = screen.contains("-> None") && screen.contains("Hello, {name}!");
        new && said.iter().all(|part| screen.contains(part))
    });
    picture::draw(editor, name);
}
