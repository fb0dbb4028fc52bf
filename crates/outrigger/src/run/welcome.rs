//! What the person sees before the agent takes over the screen: where to review, and what comes next.

use std::io::IsTerminal as _;

use tokio::sync::oneshot;
use web::Links;

use super::preparation::Preparation;
use super::switch::Switch;
use crate::browser;
use crate::output::{self, ask, print_error_line};

/// Who the agent is connected to, and how its edits are reviewed.
pub(super) enum Review<'a> {
    /// In the page of the companion that we run for it.
    Page {
        links: &'a Links,
        /// Whether the page may be opened.
        open: bool,
    },
    /// Where the companion that runs already shows it.
    Elsewhere {
        /// What it calls itself, an editor for example.
        companion: &'a str,
    },
}

/// Says what there is to know, and opens the page. Resolves when the person has read what needs to be
/// read, because the agents draw over the whole screen.
pub(super) async fn welcome(command: &str, preparation: &Preparation, review: Review<'_>) {
    let is_terminal = output::is_terminal() && std::io::stdin().is_terminal();
    if !is_terminal {
        // Nobody is there to read it.
        return;
    }
    let mut lines = Vec::new();
    let mut unread = false;
    match review {
        Review::Page { links, open } => {
            let seen = browser::would_be_seen(&|name| std::env::var(name).ok(), is_terminal);
            let opened = open && seen && links.fresh().is_ok_and(|it| browser::open(&it).is_ok());
            if opened {
                lines.push("the page opens in your browser: its edits appear there".to_owned());
            } else if let Ok(link) = links.fresh() {
                lines.push(format!("its edits appear in this page: {link}"));
                unread = true;
            }
        }
        Review::Elsewhere { companion } => {
            lines.push(format!(
                "its edits appear in {companion}, which serves this folder"
            ));
        }
    }
    if let Some(profile) = preparation.profile {
        lines.extend(profile.first_question.map(str::to_owned));
        lines.push(
            "then tell it what to do; accept or reject what it wants to change, there or with `outrigger accept`"
                .to_owned(),
        );
    }
    unread |= !preparation.remarks.is_empty();
    lines.extend(preparation.remarks.iter().cloned());
    print_error_line(format_args!("outrigger starts {command}"));
    for line in lines {
        print_error_line(format_args!("  {line}"));
    }
    if let Some(switch) = &preparation.switch {
        let agreed = ask_to(switch).await;
        // Whoever has answered has read what stands above.
        unread = !agreed;
    }
    if unread {
        ask(format_args!("Press Enter to start {command}."));
        line().await;
    }
}

/// Asks whether the settings may be put into the person's file, and does it; whether it is done.
async fn ask_to(switch: &Switch) -> bool {
    print_error_line(format_args!(
        "  its IDE mode is off; Outrigger can switch it on in {}, and changes nothing else there",
        switch.file.display()
    ));
    ask("Switch it on? [Y/n]");
    let answer = line().await;
    // The end of the input is no consent.
    let agreed = answer.is_some_and(|it| matches!(it.trim(), "" | "y" | "Y" | "yes"));
    let home = std::env::home_dir();
    match agreed.then(|| switch.apply(home.as_deref())) {
        Some(Ok(copy)) => {
            if let Some(copy) = copy {
                print_error_line(format_args!("  the file as it was: {}", copy.display()));
            }
            return true;
        }
        Some(Err(why)) => print_error_line(format_args!("  {why}")),
        None => {}
    }
    print_error_line(format_args!("  {}", switch.by_hand));
    false
}

/// The line that the person types; `None` at the end of the input.
async fn line() -> Option<String> {
    let (done, read) = oneshot::channel();
    // Not on a thread of the runtime, which would wait for it if the program has to end.
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = std::io::stdin().read_line(&mut line);
        let _ = done.send(read.is_ok_and(|length| length > 0).then_some(line));
    });
    read.await.ok().flatten()
}
