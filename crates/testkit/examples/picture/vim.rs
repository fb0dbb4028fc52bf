//! The Vim plugin: a proposal beside the original, in Vim's own diff.

use std::fs;
use std::path::Path;
use std::process::Command;

use testkit::{Agent, Call, Clients, Household, Terminal};

use crate::companion::{AFTER, BEFORE};
use crate::drawing::{self, Frame};

/// No more than a person would set; the background is the terminal's own.
const SETTINGS: &str = "set nocompatible noswapfile lines=16 laststatus=2 shortmess+=I\n\
    set fillchars+=eob:\\  background=dark\nfiletype plugin on\nsyntax on\n\
    colorscheme habamax\nhighlight Normal ctermbg=NONE\n\
    set statusline=%f%m%=%{outrigger#Statusline()}\n";

pub(crate) fn draw(program: &Path, clients: &Clients) -> String {
    let house = Household::new(program, clients);
    house.write("hello.py", BEFORE);
    fs::create_dir(house.path(".git")).expect("the workspace is new");
    let packages = house.home().join(".vim/pack/editors/start");
    fs::create_dir_all(&packages).expect("the home is new");
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/vim");
    let copied = Command::new("cp")
        .arg("-r")
        .args([&plugin, &packages])
        .status();
    assert!(copied.is_ok_and(|it| it.success()), "the plugin is there");
    fs::write(house.home().join(".vimrc"), SETTINGS).expect("the home is new");

    let mut environment = house.environment();
    for (name, value) in &mut environment {
        if name == "PATH" {
            let folder = program.parent().expect("a program is in a folder");
            *value = format!("{}:{value}", folder.display());
        }
    }
    let command = ["vim", "-N", "hello.py"];
    let vim = Terminal::edit(&command, &house.workspace(), &environment);
    vim.wait_until("the companion", |screen| screen.contains("[outrigger: 0]"));
    let mut agent = house.start_connected(Agent::Qwen);
    let path = house.path("hello.py");
    house.ask(
        &mut agent,
        vec![vec![Call::read(&path)], vec![Call::write(&path, AFTER)]],
    );
    vim.wait_until("the diff", |screen| {
        screen.contains("__name__") && screen.contains(":w accepts")
    });
    let frame = Frame {
        title: "vim",
        screen: &vim.look(),
        columns: 140,
        from: "",
    };
    drawing::draw(&[frame], &[])
}
