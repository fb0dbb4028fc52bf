//! Runs one schedule, then lets everything come to rest and judges.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::agent::{Agent, Product, replace};
use crate::editor::Editor;
use crate::ledger::{Ledger, Listed, Outcome, Violation};
use crate::page::Page;
use crate::schedule::{AGENTS, Choice, FILES, Fault, Files, Step, Way, steps};
use crate::world::{Frozen, PROMISE, Starved, World, memory, wait_until};

/// The most that a companion may have resident after a schedule, in bytes. The texts of a schedule
/// are a few kilobytes; a debug build has about 30 MiB of its own code resident.
const MOST_MEMORY: u64 = 64 << 20;

/// What a run needs to know.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The program under test.
    pub program: PathBuf,
    /// Kinds of faults that are left out; the other steps stay the same.
    pub without: Vec<String>,
    /// A mistake of the harness's own, to see that it is found.
    pub sabotage: Option<Sabotage>,
}

/// What the harness does behind the back of its own model, to prove that the model notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sabotage {
    /// The journal is removed before the companion is killed and started once more.
    LoseJournal,
    /// A process is left behind.
    LeaveProcess,
}

/// What became of a schedule.
#[derive(Debug)]
pub struct Report {
    /// Its seed.
    pub seed: u64,
    /// What was done, step by step, with the time since the start.
    pub steps: Vec<String>,
    /// The promises that were not kept.
    pub violations: Vec<Violation>,
    /// What the companions wrote to stderr.
    pub log: String,
    /// How many proposals and decisions were acknowledged.
    pub acknowledged: (usize, usize),
    /// How long it took.
    pub time: Duration,
    /// What the companion had resident at the end, in bytes.
    pub memory: u64,
}

/// Runs the schedule of a seed.
pub fn run(seed: u64, settings: &Settings) -> io::Result<Report> {
    let mut run = Run::new(settings)?;
    for step in steps(seed) {
        run.step(step);
    }
    run.end_faults();
    let memory = run.judge();
    let ledger = locked(&run.ledger);
    Ok(Report {
        seed,
        acknowledged: ledger.acknowledged(),
        steps: std::mem::take(&mut run.steps),
        violations: std::mem::take(&mut run.violations),
        log: run.world.log(),
        time: run.began.elapsed(),
        memory: memory.unwrap_or_default(),
    })
}

struct Run<'a> {
    settings: &'a Settings,
    began: Instant,
    steps: Vec<String>,
    violations: Vec<Violation>,
    ledger: Arc<Mutex<Ledger>>,
    /// Faults that take their time.
    pending: Vec<JoinHandle<()>>,
    /// Holds back those that meet the next step in the middle, until that step acts.
    triggers: Vec<Sender<()>>,
    /// The process that one of them kills.
    killed: Option<Pid>,
    /// Whether the journal cannot be written because of the disk.
    disk_is_bad: bool,
    /// Whether there were two companions at the last look.
    has_rivals: bool,
    /// Where the companion listened last.
    port: Option<u16>,
    editor: Option<Editor>,
    page: Page,
    agents: Vec<Arc<Agent>>,
    /// Makes every text another one.
    texts: usize,
    /// The last field: everything else is gone before the machine is.
    world: World,
}

/// A proposal as the person sees it.
struct Shown {
    id: u64,
    session: String,
    /// The names of proposals that are in the text. One that was accepted before can be among them.
    names: Vec<String>,
    /// What would be accepted.
    text: String,
    revision: u64,
}

impl Run<'_> {
    fn new(settings: &Settings) -> io::Result<Run<'_>> {
        let mut world = World::new(&settings.program)?;
        let machine = world.machine();
        for file in 0..FILES {
            machine.write(&name(file), text_of_file(file, "first"));
        }
        let ledger = Arc::<Mutex<Ledger>>::default();
        let started = world.start();
        let mut agents = Vec::new();
        for number in 0..AGENTS {
            agents.push(Arc::new(Agent::start(number, &world, ledger.clone())?));
        }
        let mut run = Run {
            settings,
            began: Instant::now(),
            steps: Vec::new(),
            violations: Vec::new(),
            ledger,
            pending: Vec::new(),
            triggers: Vec::new(),
            killed: None,
            disk_is_bad: false,
            has_rivals: false,
            port: world.record().map(|record| record.port),
            editor: None,
            page: Page::open(),
            agents,
            texts: 0,
            world,
        };
        if let Err(why) = started {
            run.violate("a companion starts", why);
        }
        run.open_page();
        Ok(run)
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        locked(&self.ledger)
    }

    fn violate(&mut self, promise: &'static str, what: impl Into<String>) {
        let what = what.into();
        self.violations.push(Violation { promise, what });
    }

    fn note(&mut self, what: &str, result: &str) {
        let at = self.began.elapsed().as_secs_f64();
        self.steps.push(format!("{at:7.3} {what}: {result}"));
    }

    fn step(&mut self, step: Step) {
        // A decision acts after the person has looked.
        if !matches!(step, Step::Decide { .. } | Step::Fault(_)) {
            self.act();
        }
        let result = match step {
            Step::Propose { agent, file } => self.propose(agent, file),
            Step::Decide { by, how, which } => self.decide(by, how, which),
            Step::Draft { which } => self.draft(which),
            Step::Close { agent, file } => {
                let path = self.world.machine().path(&name(file));
                self.agents[agent].close(&path.to_string_lossy()).to_owned()
            }
            Step::Leave { agent } => self.agents[agent].leave().to_owned(),
            Step::Edit { file } => {
                let text = text_of_file(file, &self.unique("edit"));
                replace(&self.world.machine().path(&name(file)), &text);
                String::new()
            }
            Step::Wait(time) => {
                thread::sleep(time);
                String::new()
            }
            Step::EditorJoins => self.join_editor(),
            Step::EditorQuits => self.end_editor(Editor::quit),
            Step::Start => self.start(),
            Step::Restart => {
                self.ledger().restarting();
                let done = self.world.run(&["restart"], "");
                format!("{:?} {}", done.code, done.stderr.trim_end())
            }
            Step::Stop => self.stop(),
            Step::Fault(fault) => self.fault(fault),
            Step::DiskRecovers => {
                self.recover_disk();
                String::new()
            }
        };
        if self.has_rivals {
            // What was just proposed may be at the older one.
            self.look_for_rivals();
        }
        self.note(&step.to_string(), &result);
    }

    fn unique(&mut self, what: &str) -> String {
        self.texts += 1;
        format!("{what} {}", self.texts)
    }

    fn propose(&mut self, agent: usize, file: usize) -> String {
        let unique = self.unique("proposal");
        let path = self.world.machine().path(&name(file));
        let present = fs::read_to_string(&path).unwrap_or_default();
        // Two places, so that there are two hunks.
        let mut lines: Vec<_> = present.lines().collect();
        lines.resize(lines.len().max(26), "");
        for at in [2, 25] {
            lines[at] = &unique;
        }
        let text = lines.join("\n") + "\n";
        let told = self.agents[agent].propose(&path.to_string_lossy(), &unique, &text);
        format!("{unique}, {told}")
    }

    /// The proposals as the person sees them at this moment.
    fn shown(&self, which: usize) -> Result<Shown, String> {
        let failed = |error: io::Error| format!("cannot list: {error}");
        let list = self
            .page
            .ask("GET", "/api/proposals", None)
            .map_err(failed)?;
        let list = list.body.as_array().cloned().unwrap_or_default();
        if list.is_empty() {
            return Err("nothing is listed".to_owned());
        }
        let proposal = &list[which % list.len()];
        let id = proposal["id"].as_u64().unwrap_or_default();
        let path = format!("/api/proposals/{id}");
        let detail = self.page.ask("GET", &path, None).map_err(failed)?.body;
        let text = |name: &str| detail[name].as_str().map(str::to_owned);
        let (Some(proposed), Some(session)) = (text("proposed"), text("session")) else {
            return Err(format!("cannot show: {detail}"));
        };
        let names = proposed.lines().filter(|line| line.starts_with("proposal"));
        let names = names.map(str::to_owned).collect();
        Ok(Shown {
            id,
            session,
            text: text("current").unwrap_or(proposed),
            names,
            revision: detail["revision"].as_u64().unwrap_or_default(),
        })
    }

    fn decide(&mut self, by: Way, how: Choice, which: usize) -> String {
        if by == Way::Editor && self.editor.is_none() {
            return "there is no editor".to_owned();
        }
        self.open_page();
        let shown = match self.shown(which) {
            Ok(shown) => shown,
            Err(why) => return why,
        };
        let other = format!("{}{}\n", shown.text, self.unique("other text"));
        let outcome = match how {
            Choice::Accept => Outcome::Accepted(Some(shown.text.clone())),
            Choice::Reject => Outcome::Rejected,
            Choice::FirstHunk => Outcome::Accepted(None),
            Choice::OtherText => Outcome::Accepted(Some(other.clone())),
        };
        let attempt = self
            .ledger()
            .deciding(&shown.session, &shown.names, outcome);
        self.act();
        let told = match by {
            Way::Page => self.decide_by_page(how, &shown, &other),
            Way::Command => self.decide_by_command(how, &shown, &other),
            Way::Editor => self.decide_by_editor(how, &shown, &other),
        };
        let Some(attempt) = attempt else {
            let what = format!("{:?} of session {}", shown.names, shown.session);
            self.violate("only what was proposed is listed", what);
            return format!("{told:?}");
        };
        match &told {
            Told::Done => self.ledger().decided(attempt),
            Told::Refused(_) => self.ledger().refused(attempt),
            Told::Nothing(_) => {}
        }
        format!("{:?}, {told:?}", shown.names)
    }

    fn decide_by_page(&self, how: Choice, shown: &Shown, other: &str) -> Told {
        let id = shown.id;
        let answer = if how == Choice::Reject {
            let path = format!("/api/proposals/{id}/reject");
            self.page.ask("POST", &path, Some(&Value::Null))
        } else {
            let mut body = json!({ "revision": shown.revision });
            match how {
                Choice::FirstHunk => body["hunks"] = json!([1]),
                Choice::OtherText => body["content"] = json!(other),
                Choice::Accept | Choice::Reject => {}
            }
            let path = format!("/api/proposals/{id}/accept");
            self.page.ask("POST", &path, Some(&body))
        };
        match answer {
            Ok(response) if response.status == 200 => Told::Done,
            Ok(response) if response.status < 500 => Told::Refused(response.body.to_string()),
            Ok(response) => Told::Nothing(response.body.to_string()),
            Err(error) => Told::Nothing(error.to_string()),
        }
    }

    fn decide_by_command(&self, how: Choice, shown: &Shown, other: &str) -> Told {
        let id = shown.id.to_string();
        let done = match how {
            Choice::Accept => self.world.run(&["accept", &id], ""),
            Choice::Reject => self.world.run(&["reject", &id], ""),
            Choice::FirstHunk => self.world.run(&["accept", &id, "--hunks", "1"], ""),
            Choice::OtherText => self
                .world
                .run(&["accept", &id, "--content-from", "-"], other),
        };
        match done.code {
            Some(0) => Told::Done,
            code => Told::Nothing(format!("{code:?} {}", done.stderr.trim_end())),
        }
    }

    fn decide_by_editor(&mut self, how: Choice, shown: &Shown, other: &str) -> Told {
        let mut verdict = json!({ "id": shown.id, "accepted": how != Choice::Reject });
        match how {
            Choice::FirstHunk => verdict["hunks"] = json!([1]),
            Choice::OtherText => verdict["text"] = json!(other),
            Choice::Accept | Choice::Reject => {}
        }
        verdict["revision"] = json!(shown.revision);
        match self
            .editor
            .as_mut()
            .and_then(|editor| editor.decide(verdict))
        {
            Some(Ok(_)) => Told::Done,
            Some(Err(error)) => Told::Refused(error.to_string()),
            None => Told::Nothing(String::new()),
        }
    }

    fn draft(&mut self, which: usize) -> String {
        self.open_page();
        let shown = match self.shown(which) {
            Ok(shown) => shown,
            Err(why) => return why,
        };
        let content = format!("{}\n{}", self.unique("draft"), shown.text);
        let body = json!({ "content": content, "revision": shown.revision });
        let path = format!("/api/proposals/{}/draft", shown.id);
        match self.page.ask("PUT", &path, Some(&body)) {
            Ok(response) => response.status.to_string(),
            Err(error) => error.to_string(),
        }
    }

    /// The person opens the page of the companion that is written down.
    fn open_page(&self) {
        if let Some(record) = self.world.record() {
            self.page.set_key(record.port, &record.page);
        }
    }

    fn join_editor(&mut self) -> String {
        if self.editor.is_some() {
            return "one is there".to_owned();
        }
        self.wait_for_faults();
        let before = self.world.companion();
        self.editor = Editor::join(self.world.machine());
        if before.is_some() && self.world.companion() != before {
            // The older of two has given way already.
            self.ledger().stopping(hangs);
        }
        self.look_for_rivals();
        let joined = self.editor.is_some();
        format!("joined: {joined}")
    }

    fn end_editor(&mut self, end: impl FnOnce(Editor)) -> String {
        let Some(editor) = self.editor.take() else {
            return "none is there".to_owned();
        };
        if self.world.companion_of_editors().is_some() {
            // A companion that belongs to editors may end with it.
            self.ledger().stopping(hangs);
        }
        end(editor);
        String::new()
    }

    fn start(&mut self) -> String {
        self.wait_for_faults();
        match self.start_companion() {
            Ok(how) => how.to_owned(),
            Err(why) => why,
        }
    }

    /// Starts the companion, unless it runs, and notices if it has another port than before.
    fn start_companion(&mut self) -> Result<&'static str, String> {
        let started = self.world.start();
        let port = self.world.record().map(|record| record.port);
        if port != self.port {
            self.ledger().port_lost();
            self.port = port;
        }
        self.look_for_rivals();
        started
    }

    /// Who starts a companion while the one that runs cannot be found, because its record or its lock
    /// was removed, has two for a moment. Then the older one ends in good order.
    fn look_for_rivals(&mut self) {
        self.has_rivals = self.world.has_rivals();
        if self.has_rivals {
            self.ledger().stopping(hangs);
        }
    }

    fn stop(&mut self) -> String {
        self.wait_for_faults();
        if self.world.companion().is_none() {
            return "it does not run".to_owned();
        }
        self.ledger().stopping(hangs);
        let done = self.world.run(&["stop"], "");
        let ended = done.code == Some(0) && self.world.wait_for_end();
        self.end_editor(Editor::kill);
        format!("{:?}, ended: {ended} {}", done.code, done.stderr.trim_end())
    }

    fn fault(&mut self, fault: Fault) -> String {
        if self
            .settings
            .without
            .iter()
            .any(|kind| kind == fault.kind())
        {
            return "left out".to_owned();
        }
        match fault {
            Fault::Kill { after } => {
                self.wait_for_faults();
                let Some(pid) = self.world.companion() else {
                    return "it does not run".to_owned();
                };
                self.killed = Some(pid);
                let ledger = self.ledger.clone();
                self.amid_next_step(after, move || {
                    let mut ledger = locked(&ledger);
                    ledger.crashed();
                    let _ = kill_process(pid, Signal::KILL);
                });
            }
            Fault::KillEditor => return self.end_editor(Editor::kill),
            Fault::Freeze(time) => {
                if let Some(pid) = self.world.companion() {
                    let frozen = Frozen::new(pid);
                    self.later(time, move || drop(frozen));
                }
            }
            Fault::NoDescriptors(time) => {
                if let Some(starved) = self.world.companion().and_then(Starved::new) {
                    self.ledger().blocked();
                    let ledger = self.ledger.clone();
                    self.later(time, move || {
                        drop(starved);
                        locked(&ledger).unblocked();
                    });
                }
            }
            Fault::FullDisk { .. } | Fault::ReadOnlyState | Fault::ReadOnlyDiscovery => {
                return self.spoil_disk(fault);
            }
            Fault::Remove(files) => {
                self.wait_for_faults();
                match files {
                    Files::Record | Files::State => self.ledger().journal_hidden(),
                    Files::Journal => self.ledger().journal_removed(),
                    Files::Locks | Files::Discovery => {}
                }
                self.world.remove(files);
                if self.world.companion().is_none() {
                    // Nobody is there who could write them again.
                    self.ledger().restarting();
                }
            }
            Fault::Age { files, days } => self.world.age(files, days),
            Fault::Cut { agent, after } => {
                let (ledger, cut) = (self.ledger.clone(), self.agents[agent].clone());
                self.amid_next_step(after, move || {
                    let mut ledger = locked(&ledger);
                    ledger.cut(agent);
                    cut.link().cut();
                });
            }
            Fault::Unplug { agent, time } => {
                let unplugged = self.agents[agent].clone();
                unplugged.link().unplug(true);
                self.ledger().cut(agent);
                unplugged.link().cut();
                self.later(time, move || unplugged.link().unplug(false));
            }
            Fault::Stall { agent, time } => {
                let stalled = self.agents[agent].clone();
                stalled.link().stall(true);
                self.later(time, move || stalled.link().stall(false));
            }
        }
        String::new()
    }

    fn spoil_disk(&mut self, fault: Fault) -> String {
        let discovery = self.world.discovery_folders();
        let state = self.world.folders_of_state();
        let Some(disk) = self.world.disk() else {
            return "not possible here".to_owned();
        };
        let spoiled = match fault {
            Fault::FullDisk { pages } => disk.fill(pages),
            Fault::ReadOnlyDiscovery => discovery.iter().try_for_each(|it| disk.make_read_only(it)),
            _ => state.iter().try_for_each(|it| disk.make_read_only(it)),
        };
        if fault != Fault::ReadOnlyDiscovery && !std::mem::replace(&mut self.disk_is_bad, true) {
            self.ledger().blocked();
        }
        spoiled.map_or_else(|error| error.to_string(), |()| String::new())
    }

    fn recover_disk(&mut self) {
        if let Some(disk) = self.world.disk() {
            disk.recover();
        }
        if std::mem::take(&mut self.disk_is_bad) {
            self.ledger().unblocked();
        }
    }

    /// Does something a while after the next step has begun to act.
    fn amid_next_step(&mut self, time: Duration, what: impl FnOnce() + Send + 'static) {
        let (trigger, triggered) = mpsc::channel();
        self.triggers.push(trigger);
        self.pending.push(thread::spawn(move || {
            // An error is the trigger: whoever waits for us lets go of the sender.
            let _ = triggered.recv();
            thread::sleep(time);
            what();
        }));
    }

    /// A step begins to act.
    fn act(&mut self) {
        self.triggers.clear();
    }

    /// Does something after a while, beside the steps that follow.
    fn later(&mut self, time: Duration, what: impl FnOnce() + Send + 'static) {
        self.pending.push(thread::spawn(move || {
            thread::sleep(time);
            what();
        }));
    }

    fn wait_for_faults(&mut self) {
        self.act();
        for fault in self.pending.drain(..) {
            let _ = fault.join();
        }
        if let Some(killed) = self.killed.take() {
            // A signal is sent before the process is gone.
            wait_until(PROMISE, || self.world.companion() != Some(killed));
        }
    }

    /// All faults end, and the companion is started again if it is dead.
    fn end_faults(&mut self) {
        self.wait_for_faults();
        self.recover_disk();
        // Starting means what a person would do: run it, and look whether one is found.
        let started = self.start_companion();
        self.note("everything comes to rest", &format!("{started:?}"));
        if let Err(why) = started {
            self.violate("a companion starts", why);
        }
        self.sabotage();
    }

    fn sabotage(&mut self) {
        match self.settings.sabotage {
            Some(Sabotage::LoseJournal) => {
                if let Some(pid) = self.world.companion() {
                    self.world.remove(Files::Journal);
                    let _ = kill_process(pid, Signal::KILL);
                    self.world.wait_for_end();
                    let _ = self.world.start();
                }
            }
            Some(Sabotage::LeaveProcess) => {
                let mut left = std::process::Command::new("sleep");
                left.arg("60")
                    .env_clear()
                    .envs(self.world.machine().environment());
                // It is ended with everything else of this machine.
                let _ = left.spawn();
            }
            None => {}
        }
    }

    /// Checks every promise; what the companion had resident.
    ///
    /// Where nobody is found, the rest is not checked: it would say the same in other words.
    fn judge(&mut self) -> Option<u64> {
        let is_found = self.check_commands();
        if self.check_page() && self.check_agents(is_found) {
            let listed = self.check_listed();
            let broken = self.ledger().judge(&listed);
            self.violations.extend(broken);
        }
        let resident = self.world.companion().and_then(memory);
        if let Some(resident) = resident.filter(|it| *it > MOST_MEMORY) {
            let what = format!("{} MiB are resident", resident >> 20);
            self.violate("memory stays flat", what);
        }
        self.check_end(is_found);
        resident
    }

    /// Commands find the companion.
    fn check_commands(&mut self) -> bool {
        let (world, mut last) = (&self.world, String::new());
        let found = wait_until(PROMISE, || {
            let done = world.run(&["status", "--json"], "");
            let status: Value = serde_json::from_str(&done.stdout).unwrap_or_default();
            last = format!("{:?} {} {}", done.code, done.stdout, done.stderr);
            let companions = status["companions"].as_array();
            companions.is_some_and(|it| it.len() == 1)
        });
        if !found {
            self.violate("commands find one companion", last);
        }
        found
    }

    /// The page is served, with the key that is written down.
    fn check_page(&mut self) -> bool {
        self.open_page();
        let (page, mut last) = (&self.page, String::new());
        let served = wait_until(PROMISE, || match page.ask("GET", "/api/status", None) {
            Ok(response) => {
                last = format!("{} {}", response.status, response.body);
                response.status == 200
            }
            Err(error) => {
                last = error.to_string();
                false
            }
        });
        if !served {
            self.violate("the page is served", last);
        }
        served
    }

    /// A new agent is let in, and every agent is back and hears what there is to hear.
    fn check_agents(&mut self, is_found: bool) -> bool {
        let newcomer = Agent::start(AGENTS, &self.world, Arc::default());
        if !newcomer.is_ok_and(|agent| wait_until(PROMISE, || agent.is_streaming())) {
            self.violate("a new agent connects", self.tell_discovery());
        }
        let agents = self.agents.clone();
        let back = wait_until(PROMISE, || agents.iter().all(|agent| agent.is_streaming()));
        if !back {
            self.violate("agents come back", self.tell_discovery());
            return false;
        }
        let ledger = self.ledger.clone();
        // What is still owed after this is named by the judgement.
        wait_until(PROMISE, || locked(&ledger).is_settled());
        if !is_found {
            return true;
        }
        // Verdicts go before contexts on a stream: whoever has heard this has heard them all.
        let marker = self.world.machine().write("marker.txt", "");
        let done = self.world.run(&["focus", &marker], "");
        let is_heard = wait_until(PROMISE, || agents.iter().all(|agent| agent.sees(&marker)));
        if !is_heard {
            let what = format!("{:?} {}", done.code, done.stderr);
            self.violate("agents hear what is in front", what);
        }
        true
    }

    /// What is listed, which the page shows as well.
    fn check_listed(&mut self) -> Vec<Listed> {
        let (page, mut last, mut listed) = (&self.page, String::new(), Vec::new());
        let agrees = wait_until(PROMISE, || {
            let Ok(response) = page.ask("GET", "/api/proposals", None) else {
                return false;
            };
            listed = response.body.as_array().cloned().unwrap_or_default();
            let ids: BTreeSet<_> = listed.iter().filter_map(|it| it["id"].as_u64()).collect();
            let shown = page.shown();
            last = format!("listed {ids:?}, shown {shown:?}");
            shown == Some(ids)
        });
        if !agrees {
            self.violate("the page shows what is listed", last);
        }
        let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
        let listed = listed.iter().map(|it| Listed {
            session: text(&it["session"]),
            path: text(&it["path"]),
        });
        listed.collect()
    }

    /// After a clean end nothing is left.
    fn check_end(&mut self, is_found: bool) {
        self.end_editor(Editor::quit);
        if is_found {
            let done = self.world.run(&["stop"], "");
            if done.code != Some(0) {
                self.violate("a companion can be stopped", format!("{done:?}"));
            }
        } else if let Some(pid) = self.world.companion() {
            let _ = kill_process(pid, Signal::TERM);
        }
        let forgot_files = self.ledger().forgot_files();
        let (world, mut left) = (&self.world, String::new());
        let clean = wait_until(PROMISE, || {
            let (processes, files) = (world.processes(), world.discovery_files());
            let locks = world.held_locks();
            left = format!("processes {processes:?}, files {files:?}, locks {locks:?}");
            processes.is_empty() && (files.is_empty() || forgot_files) && locks.is_empty()
        });
        if !clean {
            self.violate("nothing is left after a clean end", left);
        }
    }

    fn tell_discovery(&self) -> String {
        let mut told = String::new();
        for file in self.world.discovery_files() {
            let _ = write!(told, "{} ", file.display());
        }
        format!("discovery files: {told}")
    }
}

/// What the person was told.
enum Told {
    Done,
    Refused(String),
    /// Nothing, or that something went wrong on the way.
    Nothing(String),
}

impl std::fmt::Debug for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Told::Done => write!(f, "acknowledged"),
            Told::Refused(why) => write!(f, "refused: {why}"),
            Told::Nothing(why) => write!(f, "no answer: {why}"),
        }
    }
}

fn hangs(agent: usize) -> bool {
    Product::of(agent).hangs_without_companion()
}

fn name(file: usize) -> String {
    format!("file-{file}.txt")
}

/// A file with a line in the middle that an edit changes, away from what agents propose.
fn text_of_file(file: usize, edit: &str) -> String {
    let mut text = String::new();
    for line in 0..30 {
        let _ = match line {
            13 => writeln!(text, "{edit}"),
            _ => writeln!(text, "line {line} of file {file}"),
        };
    }
    text
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
