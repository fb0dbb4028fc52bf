//! The workbench against a model that is too simple to be wrong.

use std::collections::BTreeSet;

use super::*;
use crate::Scope;
use proptest::prelude::*;

/// What a front end can report, over few enough paths that they meet.
#[derive(Clone, Debug)]
enum Event {
    Open(&'static str),
    Focus(&'static str, u32, &'static str),
    Close(&'static str),
    Leave,
    Rename(&'static str, &'static str),
    Delete(&'static str),
}

fn event() -> impl Strategy<Value = Event> {
    let files = vec![
        "/r/a", "/r/b", "/r/d/a", "/r/d/e/a", "/r/e/b", "/r/.env", "/r/x.log", "/o/a",
    ];
    let path = prop::sample::select([files.clone(), vec!["/r/d", "/r/e", "/r/d/e"]].concat());
    let file = prop::sample::select(files);
    let selection = prop::sample::select(vec!["", "s", "t"]);
    prop_oneof![
        4 => file.clone().prop_map(Event::Open),
        8 => (file.clone(), 0..3u32, selection).prop_map(|(f, line, s)| Event::Focus(f, line, s)),
        3 => file.prop_map(Event::Close),
        1 => Just(Event::Leave),
        2 => (path.clone(), path.clone()).prop_map(|(from, to)| Event::Rename(from, to)),
        2 => path.prop_map(Event::Delete),
    ]
}

/// The commands and two editors.
fn holder() -> impl Strategy<Value = Holder> {
    prop::sample::select(vec![Holder::COMMANDS, Holder::editor(1), Holder::editor(2)])
}

#[derive(Clone, Debug, PartialEq)]
struct Known {
    path: PathBuf,
    visited: bool,
    line: u32,
    holders: BTreeSet<Holder>,
}

/// The same in the simplest way: a list, newest first, the selection and whose it is.
#[derive(Default)]
struct Model {
    documents: Vec<Known>,
    selection: String,
    reporter: Option<Holder>,
}

impl Model {
    fn holders(&self, path: &Path) -> BTreeSet<Holder> {
        let known = self.documents.iter().find(|at| at.path == path);
        known.map(|at| at.holders.clone()).unwrap_or_default()
    }

    fn apply(&mut self, holder: Holder, event: &Event) {
        let newest = self.documents.first().map(|at| at.path.clone());
        match *event {
            Event::Open(path) => {
                let known = self
                    .documents
                    .iter_mut()
                    .find(|at| at.path == Path::new(path));
                if let Some(known) = known {
                    known.holders.insert(holder);
                } else {
                    let below = usize::from(self.documents.first().is_some_and(|at| at.visited));
                    let opened = Known {
                        path: path.into(),
                        visited: false,
                        line: 0,
                        holders: [holder].into(),
                    };
                    self.documents.insert(below, opened);
                }
            }
            Event::Focus(path, line, selection) => {
                let mut holders = self.holders(Path::new(path));
                holders.insert(holder);
                self.documents.retain(|at| at.path != Path::new(path));
                let focused = Known {
                    path: path.into(),
                    visited: true,
                    line,
                    holders,
                };
                self.documents.insert(0, focused);
                selection.clone_into(&mut self.selection);
                self.reporter = Some(holder);
                return;
            }
            Event::Close(path) => {
                for at in &mut self.documents {
                    if at.path == Path::new(path) {
                        at.holders.remove(&holder);
                        at.holders.remove(&Holder::COMMANDS);
                    }
                }
                if self.reporter == Some(holder) && newest.as_deref() == Some(Path::new(path)) {
                    self.selection.clear();
                }
                self.documents.retain(|at| !at.holders.is_empty());
            }
            Event::Leave => {
                for at in &mut self.documents {
                    at.holders.remove(&holder);
                }
                if self.reporter == Some(holder) {
                    self.selection.clear();
                    self.reporter = None;
                }
                self.documents.retain(|at| !at.holders.is_empty());
            }
            Event::Delete(path) => self.documents.retain(|at| !at.path.starts_with(path)),
            Event::Rename(from, to) => {
                let moved = |at: &Path| {
                    at.strip_prefix(from)
                        .ok()
                        .map(|below| join(Path::new(to), below))
                };
                let all = self.documents.clone();
                let targets: Vec<_> = all.iter().filter_map(|at| moved(&at.path)).collect();
                self.documents
                    .retain(|at| moved(&at.path).is_some() || !targets.contains(&at.path));
                for at in &mut self.documents {
                    if let Some(path) = moved(&at.path) {
                        // Whoever had the file open that was there before has this one open now.
                        let taken = |other: &&Known| other.path == path && moved(&path).is_none();
                        at.holders
                            .extend(all.iter().filter(taken).flat_map(|it| &it.holders));
                        at.path = path;
                    }
                }
                // The newest one stays the newest, unless another took its name.
                let stays = |at: &Path| moved(at).is_some() || !targets.contains(&at.to_owned());
                if !newest.is_some_and(|at| stays(&at)) {
                    self.selection.clear();
                }
                return;
            }
        }
        if self.documents.first().map(|at| &at.path) != newest.as_ref() {
            self.selection.clear();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_story_ends_as_the_simple_model_says(
        events in prop::collection::vec((holder(), event(), 0u64..40), 0..40),
        gone in prop::sample::select(vec!["/r/a", "/r/d/a", "/r/nothing"]),
    ) {
        let mut bench = workbench();
        let mut model = Model::default();
        let mut latest = 0;
        for (holder, event, now) in events {
            model.apply(holder, &event);
            let known = bench.documents().next().cloned();
            apply(&mut bench, holder, &event, now);
            if let (Event::Focus(..), Some(top)) = (&event, bench.documents().next()) {
                let moved = known.is_none_or(|known| known.path != top.path || !known.visited);
                prop_assert!(!moved || top.focused_at() > latest);
            }
            latest = bench.documents().map(Document::focused_at).fold(latest, u64::max);

            let known: Vec<_> = bench
                .documents()
                .map(|at| Known {
                    path: at.path().to_owned(),
                    visited: at.visited,
                    line: at.cursor.map_or(0, |at| at.line),
                    holders: at.holders.iter().copied().collect(),
                })
                .collect();
            prop_assert_eq!(&known, &model.documents);
            prop_assert!(known.iter().all(|at| bench.order.find(&at.path).is_some()));

            let context = bench.context(|path| path != Path::new(gone));
            let shown = |at: &&Known| {
                judge(&bench.roots, &bench.privacy, &at.path, &at.path) == Visibility::Shown
                    && at.path != Path::new(gone)
            };
            let expected: Vec<_> = model.documents.iter().filter(shown).take(10).map(|at| &at.path).collect();
            prop_assert_eq!(context.files.iter().map(|file| &file.path).collect::<Vec<_>>(), expected);
            let active = model.documents.first().filter(|at| at.visited && shown(at)).map(|at| Active {
                cursor: (at.line > 0).then(|| Cursor::new(at.line, 1)),
                selection: (!model.selection.is_empty()).then(|| model.selection.clone()),
            });
            prop_assert_eq!(context.files.first().and_then(|file| file.active.clone()), active.clone());
            prop_assert!(context.files.iter().skip(1).all(|file| file.active.is_none()));
            let times: Vec<_> = context.files.iter().map(|file| file.focused_at).collect();
            prop_assert!(times.is_sorted_by(|a, b| a >= b));
            prop_assert!(active.is_none() || times.len() < 2 || times[0] > times[1]);
        }
    }

    #[test]
    fn nothing_below_a_closed_folder_is_ever_in_a_context(
        events in prop::collection::vec((event(), prop::option::weighted(0.2, 0..CLOSED.len())), 0..40),
    ) {
        let mut bench = workbench();
        let mut closed = None;
        for (at, (event, closing)) in events.into_iter().enumerate() {
            if let Some((scope, privacy)) = closing.map(|it| &CLOSED[it]) {
                bench.set_privacy(privacy.clone());
                closed.clone_from(scope);
            }
            apply(&mut bench, ME, &event, at as u64);
            let context = bench.context(|_| true);
            let is_closed = |path: &Path| match &closed {
                None => false,
                Some(Scope::Everywhere) => true,
                Some(Scope::Below(root)) => path.starts_with(root),
            };
            prop_assert!(context.files.iter().all(|file| !is_closed(&file.path)), "{context:?} {closed:?}");
            // What is in front and closed is no reason to call an older file active.
            let newest = bench.documents().next().filter(|newest| is_closed(newest.path()));
            prop_assert!(newest.is_none() || context.files.iter().all(|file| file.active.is_none()));
            // Every document that is only closed is counted as such.
            let count = bench.held_back_files().filter(|(_, reason)| *reason == Reason::Closed).count();
            prop_assert_eq!(bench.held_back().closed, count);
        }
    }
}

/// What can be closed, with the rules that close it. Made once, because it takes a while.
static CLOSED: LazyLock<[(Option<Scope>, Privacy); 5]> = LazyLock::new(|| {
    let scopes = [
        None,
        Some(Scope::Everywhere),
        Some(Scope::Below("/r".into())),
        Some(Scope::Below("/r/d".into())),
        Some(Scope::Below("/r/e".into())),
    ];
    scopes.map(|scope| {
        let fault = scope.clone().map(|scope| Fault {
            source: "f".into(),
            position: None,
            message: "m".into(),
            scope,
        });
        let privacy = Privacy::new(&[ROOT.into()], &[], fault.as_slice());
        (scope, privacy)
    })
});

fn apply(bench: &mut Workbench, holder: Holder, event: &Event, now: u64) {
    match *event {
        Event::Open(path) => bench.open(holder, Place::direct(path), now),
        Event::Focus(path, line, selection) => {
            bench.focus(holder, look(path, line, selection), now);
        }
        Event::Close(path) => bench.close(holder, Path::new(path)),
        Event::Leave => bench.leave(holder),
        Event::Rename(from, to) => bench.rename(Path::new(from), Place::direct(to)),
        Event::Delete(path) => bench.delete(Path::new(path)),
    }
}
