//! The Emacs package: a proposal below the file that it would change.

use std::path::Path;

use testkit::{Agent, Call, Clients, Household, Terminal};

use crate::companion::{AFTER, BEFORE, SAID};
use crate::drawing::{self, Frame};

pub(crate) fn draw(program: &Path, clients: &Clients) -> String {
    let house = Household::new(program, clients);
    house.write("hello.py", BEFORE);
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/emacs");
    let setup = format!(
        "(setq outrigger-program \"{}\" inhibit-startup-screen t)",
        program.display()
    );
    let command = [
        "emacs",
        "-nw",
        "-Q",
        &format!("--directory={}", package.display()),
        &format!("--eval={setup}"),
        "--load=outrigger",
        "--eval=(setq frame-background-mode 'dark)",
        "--eval=(frame-set-background-mode (selected-frame))",
        "--eval=(menu-bar-mode -1)",
        "--funcall=outrigger-mode",
        "hello.py",
    ];
    let mut emacs = Terminal::edit(&command, &house.workspace(), &house.environment());
    emacs.wait_until("the companion in the mode line", |screen| {
        screen.contains("Outr") && !screen.contains("Outr-")
    });
    let mut agent = house.start_connected(Agent::Qwen);
    let path = house.path("hello.py");
    let mark = house.ask(
        &mut agent,
        vec![vec![Call::read(&path)], vec![Call::write(&path, AFTER)]],
    );
    emacs.wait_until("the diff", |screen| screen.contains("+if __name__"));
    agent.wait_until("the agent's question", |screen| {
        screen.contains("Apply this change")
    });
    let asking = agent.look();
    emacs.type_keys("\x1bxoutrigger-show\r");
    emacs.wait_until("the number of agents", |screen| screen.contains("Outr1!1"));
    let reviewing = emacs.look();
    agent.quit();

    let names = [
        (house.workspace().display().to_string(), "~/project"),
        (mark.clone(), SAID),
    ];
    let frame = |title, screen, from| Frame {
        title,
        screen,
        columns: 100,
        from,
    };
    drawing::draw(
        &[
            frame("emacs", &reviewing, ""),
            frame("qwen, in another terminal", &asking, mark.as_str()),
        ],
        &names,
    )
}
