//! The editors that are in a service: what follows from them for all, and their sessions.
//!
//! An editor comes in two steps. It takes a *seat* before its pipe is there, so that a service does
//! not end just when somebody has come in. It *joins* when it has said in `initialize` what it is.

use std::path::{Path, PathBuf};
use std::time::Duration;

use beacon::process;
use editor::{Connection, EditorInfo, EditorService, EditorSession, ServiceHost, SessionEnd};
use front::{Editors, JoinedEditor};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};
use web::{EditorPipe, Links};
use workbench::Holder;

use crate::config::PrivacyLayer;
use crate::discovery::is_running;

/// Editors that may be in one service. It takes the commands' secret to come in, so this is only
/// against a plugin that forgets to leave.
pub(super) const MOST_SEATS: usize = 64;

/// How long an editor may take to read the last messages.
const LAST_WRITES: Duration = Duration::from_millis(500);

/// The last byte of a pipe whose editor has left as it should. It occurs nowhere in the language
/// server protocol, so `outrigger lsp` needs to understand nothing else of what goes by.
pub(crate) const CLEAN_END: u8 = 0;

/// The editors that are in a service, in the order in which they joined.
#[derive(Debug, Default)]
pub(super) struct Seats {
    seats: Vec<Seat>,
    /// How many were taken.
    taken: u64,
}

#[derive(Debug)]
struct Seat {
    holder: Holder,
    /// The smallest number from 1 that no other seat has. Unlike the holder it is used again, so
    /// that an editor that comes back finds what it left.
    number: usize,
    /// There once the editor has joined.
    editor: Option<Joined>,
    /// Dropped to end the session.
    _session: oneshot::Sender<()>,
}

/// What an editor that has joined brings along.
#[derive(Clone, Debug)]
pub(super) struct Joined {
    pub(super) name: String,
    /// Its process, and when that was started.
    pub(super) process: Option<(u32, Option<u64>)>,
    pub(super) folders: Vec<PathBuf>,
    /// What its settings say about what is shared.
    pub(super) privacy: PrivacyLayer,
}

impl Seats {
    /// Whether nobody is in it, or about to be.
    pub(super) fn is_empty(&self) -> bool {
        self.seats.is_empty()
    }

    /// Takes a seat. The receiver resolves when the session has to end. There is none if there are
    /// too many editors already.
    pub(super) fn take(&mut self) -> Option<(Holder, oneshot::Receiver<()>)> {
        if self.seats.len() >= MOST_SEATS {
            return None;
        }
        self.taken += 1;
        let holder = Holder::editor(self.taken);
        let (session, ended) = oneshot::channel();
        let is_free = |number: &usize| self.seats.iter().all(|seat| seat.number != *number);
        self.seats.push(Seat {
            number: (1..=MOST_SEATS).find(is_free).unwrap_or_default(),
            holder,
            editor: None,
            _session: session,
        });
        Some((holder, ended))
    }

    /// The editor on this seat has joined, or has not if it is `None`; says whether there is such a
    /// seat.
    pub(super) fn set(&mut self, holder: Holder, editor: Option<Joined>) -> bool {
        let Some(at) = self.seats.iter().position(|seat| seat.holder == holder) else {
            return false;
        };
        let mut seat = self.seats.remove(at);
        seat.editor = editor;
        self.seats.push(seat);
        true
    }

    /// The folder for documents of ours that only this editor shows: `folder` itself or, if there
    /// are several editors, one below it, so that they do not meet.
    pub(super) fn private_folder(
        &self,
        holder: Holder,
        folder: &Path,
    ) -> Result<PathBuf, private::Error> {
        let mut seats = self.seats.iter();
        match seats
            .find(|seat| seat.holder == holder)
            .map_or(1, |seat| seat.number)
        {
            1 => Ok(folder.to_owned()),
            number => private::ensure_folder(folder, &[&format!("editor-{number}")]),
        }
    }

    /// The folders of the editor on this seat, to change.
    pub(super) fn folders_mut(&mut self, holder: Holder) -> Option<&mut Vec<PathBuf>> {
        let mut seats = self.seats.iter_mut();
        let seat = seats.find(|seat| seat.holder == holder)?;
        seat.editor.as_mut().map(|editor| &mut editor.folders)
    }

    /// Frees the seat, if there is one, and says whether an editor had joined on it.
    pub(super) fn free(&mut self, holder: Holder) -> Option<bool> {
        let at = self.seats.iter().position(|seat| seat.holder == holder)?;
        Some(self.seats.remove(at).editor.is_some())
    }

    /// Ends the sessions of all editors.
    pub(super) fn clear(&mut self) {
        self.seats.clear();
    }

    /// The seats of editors whose process has ended, although somebody keeps their pipe open.
    pub(super) fn ended(&self) -> Vec<Holder> {
        let ended = self.seats.iter().filter(|seat| {
            let editor = seat.editor.as_ref();
            let process = editor.and_then(|editor| editor.process);
            process.is_some_and(|(pid, started)| !is_running(pid, started))
        });
        ended.map(|seat| seat.holder).collect()
    }

    fn joined(&self) -> impl Iterator<Item = &Joined> {
        self.seats.iter().filter_map(|seat| seat.editor.as_ref())
    }

    /// Who is in it, for people. `own` is the name without editors.
    pub(super) fn list(&self, own: &str) -> Editors {
        let joined: Vec<_> = self
            .joined()
            .map(|editor| JoinedEditor {
                name: editor.name.clone(),
                process: editor.process.map(|(pid, _)| pid),
            })
            .collect();
        Editors {
            name: joined.last().map_or(own, |last| &last.name).to_owned(),
            joined,
        }
    }

    /// The folders to serve: `own`, then those of each editor, each once. `None` if there is none:
    /// somebody may come back to those that were served last.
    pub(super) fn folders(&self, own: &[PathBuf]) -> Option<Vec<PathBuf>> {
        let mut folders: Vec<PathBuf> = Vec::new();
        let brought = self.joined().flat_map(|editor| &editor.folders);
        for folder in own.iter().chain(brought) {
            if !folders.contains(folder) {
                folders.push(folder.clone());
            }
        }
        (!folders.is_empty()).then_some(folders)
    }

    /// What the settings of each editor say about what is shared. Each is an origin of its own: it
    /// takes back nothing that somebody else ignores.
    pub(super) fn privacy(&self) -> Vec<PrivacyLayer> {
        self.joined().map(|editor| editor.privacy.clone()).collect()
    }
}

impl Joined {
    /// The process that an editor names, if it is one of this machine.
    pub(super) fn process(pid: Option<u32>) -> Option<(u32, Option<u64>)> {
        let pid = pid.filter(|pid| process::exists(*pid))?;
        Some((pid, process::started(pid)))
    }
}

/// What the session of an editor asks of the service.
pub(super) enum EditorRequest {
    /// The editor wants to join.
    Join(
        Holder,
        Box<EditorInfo>,
        oneshot::Sender<Result<EditorService, String>>,
    ),
    /// The editor has left. The sender is dropped when everything that follows from it has happened.
    Leave(Holder, SessionEnd, oneshot::Sender<()>),
}

/// The session of one editor, from its pipe to its end.
pub(super) struct Session {
    pub(super) holder: Holder,
    pub(super) requests: mpsc::Sender<EditorRequest>,
    pub(super) links: Links,
    /// Where the pipe comes from.
    pub(super) pipe: oneshot::Receiver<EditorPipe>,
    /// Resolves when the session has to end.
    pub(super) ended: oneshot::Receiver<()>,
}

impl Session {
    pub(super) async fn run(mut self) {
        let Ok(pipe) = (&mut self.pipe).await else {
            return self.leave(SessionEnd::Abrupt).await;
        };
        let (from, to) = tokio::io::split(pipe);
        let (connection, tasks) = Connection::over(BufReader::new(from), to);
        let host = Host {
            holder: self.holder,
            requests: self.requests.clone(),
            links: self.links.clone(),
        };
        let end = tokio::select! {
            end = EditorSession::new(connection, host).run() => end,
            _ = &mut self.ended => SessionEnd::Abrupt,
        };
        self.leave(end).await;
        // The last reply should arrive; an editor that does not read is not waited for.
        let abort = tasks.writing.abort_handle();
        if let Ok(Ok(mut to)) = tokio::time::timeout(LAST_WRITES, tasks.writing).await {
            if end != SessionEnd::Abrupt {
                let _ = to.write_all(&[CLEAN_END]).await;
            }
            let _ = to.shutdown().await;
        }
        abort.abort();
        tasks.reading.abort();
    }

    /// A service that has ended meanwhile has no seat to free.
    async fn leave(&self, end: SessionEnd) {
        let (done, left) = oneshot::channel();
        let leave = EditorRequest::Leave(self.holder, end, done);
        if self.requests.send(leave).await.is_ok() {
            let _ = left.await;
        }
    }
}

/// Lets the editor of one session in.
struct Host {
    holder: Holder,
    requests: mpsc::Sender<EditorRequest>,
    links: Links,
}

impl ServiceHost for Host {
    async fn join(&mut self, editor: EditorInfo) -> Result<EditorService, String> {
        let ending = || "the companion is about to end; try again".to_owned();
        let (answer, answered) = oneshot::channel();
        let join = EditorRequest::Join(self.holder, Box::new(editor), answer);
        let sent = self.requests.send(join).await;
        sent.map_err(|_| ending())?;
        answered.await.map_err(|_| ending())?
    }

    fn page_link(&mut self) -> Option<String> {
        self.links.fresh().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn editor(name: &str, folders: &[&str], patterns: &[&str]) -> Joined {
        Joined {
            name: name.into(),
            process: None,
            folders: folders.iter().map(PathBuf::from).collect(),
            privacy: PrivacyLayer::of_editor(&editor::Options {
                ignore: patterns.iter().map(|it| (*it).to_owned()).collect(),
                ..editor::Options::default()
            }),
        }
    }

    /// Name, folders and patterns after each step, in words.
    fn said(seats: &Seats) -> String {
        let folders = seats.folders(&["/own".into()]).unwrap_or_default();
        let folders: Vec<_> = folders.iter().map(|it| it.display().to_string()).collect();
        let patterns = seats.privacy().into_iter().flat_map(|it| it.patterns());
        let patterns: Vec<_> = patterns.collect();
        let name = seats.list("Outrigger").name;
        format!("{name}: {} ({})", folders.join(" "), patterns.join(" "))
    }

    #[test]
    fn each_editor_brings_its_part_and_takes_it_along() {
        let mut seats = Seats::default();
        assert_eq!(said(&seats), "Outrigger: /own ()");
        let (one, _) = seats.take().unwrap();
        assert_eq!(said(&seats), "Outrigger: /own ()");
        assert!(!seats.is_empty(), "somebody is about to join");
        seats.set(one, Some(editor("Neovim", &["/a", "/own"], &["x"])));
        assert_eq!(said(&seats), "Neovim: /own /a (x)");
        let (two, _) = seats.take().unwrap();
        seats.set(two, Some(editor("Emacs", &["/a", "/b"], &["y"])));
        assert_eq!(said(&seats), "Emacs: /own /a /b (x y)");
        *seats.folders_mut(one).unwrap() = vec!["/c".into()];
        assert_eq!(said(&seats), "Emacs: /own /c /a /b (x y)");
        assert_eq!(seats.free(one), Some(true));
        assert_eq!(said(&seats), "Emacs: /own /a /b (y)");
        let (three, _) = seats.take().unwrap();
        seats.set(three, Some(editor("Kate", &[], &[])));
        assert_eq!(said(&seats), "Kate: /own /a /b (y)");
        assert_eq!(seats.free(three), Some(true));
        assert_eq!(said(&seats), "Emacs: /own /a /b (y)");
        assert_eq!((seats.free(two), seats.free(two)), (Some(true), None));
        assert!(seats.is_empty());
        assert_eq!(said(&seats), "Outrigger: /own ()");
    }

    #[test]
    fn without_editors_and_folders_of_its_own_a_service_keeps_those_it_had() {
        let mut seats = Seats::default();
        let (one, _) = seats.take().unwrap();
        seats.set(one, Some(editor("Neovim", &["/a"], &[])));
        assert_eq!(seats.folders(&[]), Some(vec!["/a".into()]));
        seats.free(one);
        assert_eq!(seats.folders(&[]), None);
    }

    #[test]
    fn a_session_ends_with_its_seat() {
        let mut seats = Seats::default();
        let (one, mut ended) = seats.take().unwrap();
        assert_eq!(ended.try_recv(), Err(oneshot::error::TryRecvError::Empty));
        assert_eq!(seats.free(one), Some(false));
        assert_eq!(ended.try_recv(), Err(oneshot::error::TryRecvError::Closed));
        assert_eq!(seats.take().map(|(holder, _)| holder.get()), Some(2));
        assert_eq!(
            seats.seats[0].number, 1,
            "the place of the one that has left"
        );
        seats.clear();
        let all: Vec<_> = std::iter::from_fn(|| seats.take()).collect();
        assert_eq!(all.len(), MOST_SEATS);
    }
}
