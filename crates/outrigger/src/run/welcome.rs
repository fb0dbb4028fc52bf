//! What the person sees before the agent takes over the screen: where to review, and what comes next.

use std::io::IsTerminal as _;

use tokio::sync::oneshot;
use web::Links;

use super::preparation::Preparation;
use crate::browser;
use crate::output::{one_line, print_error};

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
    let is_terminal = std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
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
            let companion = one_line(companion);
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
    lines.extend(preparation.remarks.iter().map(one_line));
    let name = one_line(command);
    print_error(&format!("outrigger starts {name}\n"));
    for line in lines {
        print_error(&format!("  {line}\n"));
    }
    if unread {
        print_error(&format!("Press Enter to start {name}. "));
        until_enter().await;
    }
}

/// Resolves when the person has pressed Enter, or has closed the input.
async fn until_enter() {
    let (done, read) = oneshot::channel();
    // Not on a thread of the runtime, which would wait for it if the program has to end.
    std::thread::spawn(move || {
        let mut line = String::new();
        let _ = std::io::stdin().read_line(&mut line);
        let _ = done.send(());
    });
    let _ = read.await;
}
