//! The workbench against a model that is too simple to be wrong.

use super::*;
use crate::Scope;
use proptest::prelude::*;

/// What a front end can report, over few enough paths that they meet.
#[derive(Clone, Debug)]
enum Event {
    Open(&'static str),
    Focus(&'static str, u32, &'static str),
    Close(&'static str),
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
        2 => file.clone().prop_map(Event::Open),
        4 => (file.clone(), 0..3u32, selection).prop_map(|(f, line, s)| Event::Focus(f, line, s)),
        1 => file.prop_map(Event::Close),
        1 => (path.clone(), path.clone()).prop_map(|(from, to)| Event::Rename(from, to)),
        1 => path.prop_map(Event::Delete),
    ]
}

/// The same in the simplest way: a list, newest first, and the selection.
#[derive(Default)]
struct Model {
    documents: Vec<(PathBuf, bool, u32)>,
    selection: String,
}

impl Model {
    fn apply(&mut self, event: &Event) {
        let newest = self.documents.first().cloned();
        match *event {
            Event::Open(path) => {
                if !self.documents.iter().any(|at| at.0 == Path::new(path)) {
                    let below = usize::from(newest.as_ref().is_some_and(|at| at.1));
                    self.documents.insert(below, (path.into(), false, 0));
                }
            }
            Event::Focus(path, line, selection) => {
                self.documents.retain(|at| at.0 != Path::new(path));
                self.documents.insert(0, (path.into(), true, line));
                selection.clone_into(&mut self.selection);
                return;
            }
            Event::Close(path) => self.documents.retain(|at| at.0 != Path::new(path)),
            Event::Delete(path) => self.documents.retain(|at| !at.0.starts_with(path)),
            Event::Rename(from, to) => {
                let moved = |at: &Path| {
                    at.strip_prefix(from)
                        .ok()
                        .map(|below| join(Path::new(to), below))
                };
                let targets: Vec<_> = self
                    .documents
                    .iter()
                    .filter_map(|at| moved(&at.0))
                    .collect();
                self.documents
                    .retain(|at| moved(&at.0).is_some() || !targets.contains(&at.0));
                for at in &mut self.documents {
                    at.0 = moved(&at.0).unwrap_or_else(|| at.0.clone());
                }
                // The newest one stays the newest, unless another took its name.
                let stays = |at: &Path| moved(at).is_some() || !targets.contains(&at.to_owned());
                if !newest.is_some_and(|at| stays(&at.0)) {
                    self.selection.clear();
                }
                return;
            }
        }
        if self.documents.first() != newest.as_ref() {
            self.selection.clear();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_story_ends_as_the_simple_model_says(
        events in prop::collection::vec((event(), 0u64..40), 0..40),
        gone in prop::sample::select(vec!["/r/a", "/r/d/a", "/r/nothing"]),
    ) {
        let mut bench = workbench();
        let mut model = Model::default();
        let mut latest = 0;
        for (event, now) in events {
            model.apply(&event);
            match event {
                Event::Open(path) => bench.open(Place::direct(path), now),
                Event::Focus(path, line, selection) => {
                    let known = bench.documents().next().cloned();
                    bench.focus(look(path, line, selection), now);
                    let top = bench.documents().next().unwrap();
                    let moved = known.is_none_or(|known| known.path != top.path || !known.visited);
                    prop_assert!(!moved || top.focused_at() > latest);
                }
                Event::Close(path) => bench.close(Path::new(path)),
                Event::Rename(from, to) => bench.rename(Path::new(from), Place::direct(to)),
                Event::Delete(path) => bench.delete(Path::new(path)),
            }
            latest = bench.documents().map(Document::focused_at).fold(latest, u64::max);

            let known: Vec<_> = bench
                .documents()
                .map(|at| (at.path().to_owned(), at.visited, at.cursor.map_or(0, |at| at.line)))
                .collect();
            prop_assert_eq!(&known, &model.documents);
            prop_assert!(known.iter().all(|at| bench.order.find(&at.0).is_some()));

            let context = bench.context(|path| path != Path::new(gone));
            let shown = |at: &&(PathBuf, bool, u32)| {
                judge(&bench.roots, &bench.privacy, &at.0, &at.0) == Visibility::Shown && at.0 != Path::new(gone)
            };
            let expected: Vec<_> = model.documents.iter().filter(shown).take(10).map(|at| &at.0).collect();
            prop_assert_eq!(context.files.iter().map(|file| &file.path).collect::<Vec<_>>(), expected);
            let active = model.documents.first().filter(|at| at.1 && shown(at)).map(|at| Active {
                cursor: (at.2 > 0).then(|| Cursor::new(at.2, 1)),
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
            apply(&mut bench, &event, at as u64);
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

fn apply(bench: &mut Workbench, event: &Event, now: u64) {
    match *event {
        Event::Open(path) => bench.open(Place::direct(path), now),
        Event::Focus(path, line, selection) => bench.focus(look(path, line, selection), now),
        Event::Close(path) => bench.close(Path::new(path)),
        Event::Rename(from, to) => bench.rename(Path::new(from), Place::direct(to)),
        Event::Delete(path) => bench.delete(Path::new(path)),
    }
}
