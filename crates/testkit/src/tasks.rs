//! What the person of a household asks an agent for. Each returns the mark that stands for it.

use crate::{Call, Household, Terminal};

impl Household {
    /// Asks for a file that does not exist yet.
    #[track_caller]
    pub fn ask_to_create(&self, terminal: &mut Terminal, name: &str, text: &str) -> String {
        self.ask(terminal, vec![vec![Call::write(self.path(name), text)]])
    }

    /// Asks for another text in a file; the agents insist on reading it first.
    #[track_caller]
    pub fn ask_to_rewrite(&self, terminal: &mut Terminal, name: &str, text: &str) -> String {
        let path = self.path(name);
        let turns = vec![vec![Call::read(&path)], vec![Call::write(&path, text)]];
        self.ask(terminal, turns)
    }

    /// Asks for one piece of a file to be replaced by another.
    #[track_caller]
    pub fn ask_to_edit(&self, terminal: &mut Terminal, name: &str, old: &str, new: &str) -> String {
        let path = self.path(name);
        let turns = vec![vec![Call::read(&path)], vec![Call::edit(&path, old, new)]];
        self.ask(terminal, turns)
    }
}
