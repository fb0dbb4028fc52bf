//! `outrigger lsp`: a companion inside an editor's language server.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use editor::{Connection, Hello, Host, Left, Link, Opened, Recorder};
use tokio::io::BufReader;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use web::{Links, Order};
use workbench::Agent;

use crate::args::{AgentName, Global, Lsp, Serve};
use crate::failure::Failure;
use crate::house::{Departure, House};
use crate::serve;

/// How long the editor may take to read our last words.
const FAREWELL: Duration = Duration::from_millis(500);

pub(crate) fn lsp(global: &Global, args: &Lsp) -> Result<ExitCode, Failure> {
    let recorder = match &args.record {
        Some(path) => {
            let file = create_private(path);
            let file = file.map_err(|error| {
                Failure::other(format!("cannot write {}", path.display()), error)
            })?;
            Some(Recorder::new(file))
        }
        None => None,
    };
    let runtime = crate::runtime()?;
    let (died, death) = oneshot::channel();
    let left = runtime.block_on(async {
        let stop = crate::signals::wait();
        crate::signals::outlast_suspension();
        let pipes = (BufReader::new(tokio::io::stdin()), tokio::io::stdout());
        let (connection, writing) = Connection::over(pipes.0, pipes.1, recorder);
        let mut program = Program {
            global,
            log: args.log.clone(),
            orders: None,
            links: None,
            living: None,
            died: Some(died),
        };
        let left = tokio::select! {
            left = Link::new(connection, &mut program).run() => left,
            // The companion ends by itself when the editor's process is gone, or when it is told to.
            Ok(()) = death => Left::Abruptly,
            () = stop => Left::Abruptly,
        };
        program.close().await;
        // The last answer should arrive; an editor that does not read is not waited for.
        let _ = tokio::time::timeout(FAREWELL, writing).await;
        left
    });
    // A pending read of stdin must not keep the program from ending.
    runtime.shutdown_background();
    Ok(match left {
        Left::Properly => ExitCode::SUCCESS,
        Left::Abruptly => ExitCode::FAILURE,
    })
}

/// A trace holds the person's texts, so it is for them alone.
fn create_private(path: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// The program as the editor link sees it.
struct Program<'a> {
    global: &'a Global,
    log: Option<String>,
    orders: Option<mpsc::Sender<Order>>,
    links: Option<Links>,
    living: Option<JoinHandle<Departure>>,
    /// Told when the companion has ended.
    died: Option<oneshot::Sender<()>>,
}

impl Host for &mut Program<'_> {
    async fn open(&mut self, hello: Hello) -> Result<Opened, String> {
        self.open_house(hello)
            .map_err(|failure| failure.to_string())
    }

    async fn set_roots(&mut self, roots: Vec<PathBuf>) {
        if let Some(orders) = &self.orders {
            // A companion that is ending needs no other folders.
            let _ = orders.send(Order::SetRoots(roots)).await;
        }
    }

    fn page(&mut self) -> Option<String> {
        self.links.as_ref()?.fresh().ok()
    }
}

impl Program<'_> {
    fn open_house(&mut self, hello: Hello) -> Result<Opened, Failure> {
        let args = Serve {
            dirs: hello
                .roots
                .into_iter()
                .filter(|root| root.is_dir())
                .collect(),
            parent: hello.process.filter(|pid| beacon::process::exists(*pid)),
            agents: hello
                .options
                .agents
                .iter()
                .flatten()
                .filter_map(|name| agent(name))
                .collect(),
            ignore: hello.options.ignore,
            daemon: hello.options.daemon,
            name: hello.name,
            log: self.log.clone(),
            ..Serve::default()
        };
        let mut plan = serve::plan(self.global, &args, None)?;
        plan.restartable = false;
        crate::log_to_stderr(plan.config.log.value);
        for warning in &plan.config.warnings {
            tracing::warn!("{warning}");
        }
        let mut house = House::open(plan)?;
        let (desk, chat) = (house.desk().clone(), house.chat().cloned());
        let keeper = house.keeper();
        let remover = keeper.remover();
        crate::on_panic(move || remover.remove());
        let opened = Opened {
            desk,
            port: keeper.record().port,
            environment: keeper.environment(),
            roots: keeper.record().roots.clone(),
            folder: keeper.folder().to_owned(),
            chat,
        };
        self.orders = Some(house.orders());
        self.links = Some(house.links().clone());
        let died = self.died.take();
        self.living = Some(tokio::spawn(async move {
            let departure = house.live(std::future::pending()).await;
            if let Some(died) = died {
                // The link may have left before us.
                let _ = died.send(());
            }
            departure
        }));
        Ok(opened)
    }

    /// Ends the companion and waits until its files are gone.
    async fn close(&mut self) {
        if let Some(orders) = self.orders.take() {
            let _ = orders.send(Order::Stop).await;
        }
        if let Some(living) = self.living.take() {
            let _ = living.await;
        }
    }
}

/// An agent that a plugin names; one that we do not know is not let in anyway.
fn agent(name: &str) -> Option<AgentName> {
    match Agent::from_slug(name)? {
        Agent::Qwen => Some(AgentName::Qwen),
        Agent::Gemini => Some(AgentName::Gemini),
        Agent::Unnamed => None,
    }
}
