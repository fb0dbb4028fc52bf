//! The picture of the README: a real agent proposes an edit, and a part of it is accepted from
//! another terminal.

use std::path::Path;

use testkit::{Agent, Call, Clients, Household, Terminal};

use crate::drawing::{self, Frame};

pub(crate) const BEFORE: &str = "def greet(name):\n    print(\"hello \" + name)\n\n\ndef main():\n    greet(\"world\")\n\n\nmain()\n";
pub(crate) const AFTER: &str = "def greet(name: str) -> None:\n    print(f\"Hello, {name}!\")\n\n\ndef main():\n    greet(\"world\")\n\n\nif __name__ == \"__main__\":\n    main()\n";
/// What the person says to the agent in a picture, instead of a test's mark.
pub(crate) const SAID: &str = "Type the signature, please, and make it importable.";

pub(crate) fn draw(program: &Path, clients: &Clients) -> String {
    let house = Household::with_companion(program, clients);
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

    let mut environment = house.with_program(house.environment());
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
        (mark.clone(), SAID),
    ];
    let frame = |title, screen, from| Frame {
        title,
        screen,
        columns: 84,
        from,
    };
    drawing::draw(
        &[
            frame("qwen", &asking, mark.as_str()),
            frame("another terminal", &deciding, "$"),
        ],
        &names,
    )
}
