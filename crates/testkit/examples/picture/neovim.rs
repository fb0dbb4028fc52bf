//! The Neovim plugin: a proposal beside the original, in Neovim's own diff.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use testkit::{Agent, Call, Clients, Household, Terminal};

use crate::companion::{AFTER, BEFORE};
use crate::drawing::{self, Frame};

/// A small screen, and the status line that the documentation shows.
const SETTINGS: &str = "set noswapfile lines=16 fillchars=eob:\\  shortmess+=I\n\
    set statusline=%f\\ %m%=%{v:lua.require'outrigger'.statusline()}\n";

pub(crate) fn draw(program: &Path, clients: &Clients) -> String {
    let house = Household::new(program, clients);
    house.write("hello.py", BEFORE);
    fs::create_dir(house.path(".git")).expect("the workspace is new");
    let packages = house
        .home()
        .join(".local/share/nvim/site/pack/editors/start");
    fs::create_dir_all(&packages).expect("the home is new");
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/nvim");
    symlink(plugin, packages.join("outrigger")).expect("the home is new");
    let settings = house.home().join(".config/nvim/init.vim");
    fs::create_dir_all(settings.with_file_name("")).expect("the home is new");
    fs::write(settings, SETTINGS).expect("the home is new");

    let mut environment = house.with_program(house.environment());
    environment.push(("COLORTERM".into(), "truecolor".into()));
    let [_, newer] = clients.neovims();
    let command = [newer.to_str().expect("a plain path"), "hello.py"];
    let neovim = Terminal::edit(&command, &house.workspace(), &environment);
    neovim.wait_until("the companion", |screen| screen.contains("no agent"));
    let mut agent = house.start_connected(Agent::Qwen);
    let path = house.path("hello.py");
    house.ask(
        &mut agent,
        vec![vec![Call::read(&path)], vec![Call::write(&path, AFTER)]],
    );
    neovim.wait_until("the diff", |screen| {
        screen.contains("__name__") && screen.contains(":w accepts") && screen.contains("1 pending")
    });
    let frame = Frame {
        title: "nvim",
        screen: &neovim.look(),
        columns: 140,
        from: "",
    };
    drawing::draw(&[frame], &[])
}
