//! `outrigger lsp`: a companion inside an editor's language server.

use std::fs::File;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use editor::{
    Connection, EditorInfo, EditorService, EditorSession, ServiceHost, SessionEnd, Trace,
};
use front::Front;
use tokio::io::BufReader;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use web::{Links, Owner};

use crate::args::{GlobalArgs, LspArgs};
use crate::config::Layer;
use crate::failure::{CommandResult, Failure};
use crate::service::{Service, ServiceOptions};
use crate::{runtime, signals};

/// How long the editor may take to read the last messages.
const LAST_WRITES: Duration = Duration::from_millis(500);

pub(crate) fn lsp(global: &GlobalArgs, args: &LspArgs) -> CommandResult {
    let trace = match &args.record {
        Some(path) => {
            let file = create_private(path);
            let file = file.map_err(|error| {
                Failure::other(format!("cannot write {}", path.display()), error)
            })?;
            Some(Trace::new(file))
        }
        None => None,
    };
    let runtime = runtime::start()?;
    let end = runtime.block_on(async {
        let stop = signals::wait();
        signals::ignore_suspension();
        let (stdin, stdout) = (BufReader::new(tokio::io::stdin()), tokio::io::stdout());
        let (connection, writing) = Connection::over(stdin, stdout, trace);
        let (ended, service_ended) = oneshot::channel();
        let mut host = EditorHost {
            global,
            log: args.log.as_deref(),
            running: None,
            ended: Some(ended),
        };
        let end = tokio::select! {
            end = EditorSession::new(connection, &mut host).run() => end,
            // The companion ends by itself when the editor's process is gone, or when it is told to.
            Ok(()) = service_ended => SessionEnd::Abrupt,
            () = stop => SessionEnd::Abrupt,
        };
        host.stop().await;
        // The last reply should arrive; an editor that does not read is not waited for.
        let _ = tokio::time::timeout(LAST_WRITES, writing).await;
        end
    });
    // A pending read of stdin must not keep the program from ending.
    runtime.shutdown_background();
    Ok(match end {
        SessionEnd::Clean => ExitCode::SUCCESS,
        SessionEnd::Abrupt => ExitCode::FAILURE,
    })
}

/// A trace holds the person's texts, so only they may read it.
fn create_private(path: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Starts the companion of an editor, once the editor has said what it is for.
struct EditorHost<'a> {
    global: &'a GlobalArgs,
    log: Option<&'a str>,
    running: Option<RunningService>,
    /// Told when the companion has ended.
    ended: Option<oneshot::Sender<()>>,
}

/// A companion in a task of its own.
struct RunningService {
    front: Front,
    links: Links,
    task: JoinHandle<()>,
}

impl ServiceHost for &mut EditorHost<'_> {
    async fn start(&mut self, editor: EditorInfo) -> Result<EditorService, String> {
        self.start_service(editor)
            .map_err(|failure| failure.to_string())
    }

    fn page_link(&mut self) -> Option<String> {
        self.running.as_ref()?.links.fresh().ok()
    }
}

impl EditorHost<'_> {
    fn start_service(&mut self, editor: EditorInfo) -> Result<EditorService, Failure> {
        let mut dirs = editor.folders;
        dirs.retain(|root| root.is_dir());
        let layer = Layer::from_editor(editor.name, &editor.options, self.log)?;
        let options = ServiceOptions {
            parent: editor.process.filter(|pid| beacon::process::exists(*pid)),
            owner: Owner::Editor,
            ..ServiceOptions::load(self.global, &dirs, layer)?
        };
        runtime::log_to_stderr(options.config.log.value);
        for warning in options.config.warnings() {
            tracing::warn!("{warning}");
        }
        let mut service = Service::start(options)?;
        let front = service.front().clone();
        let discovery = service.discovery();
        let remover = discovery.remover();
        runtime::on_panic(move || remover.remove());
        let started = EditorService {
            front: front.clone(),
            port: discovery.record().port,
            environment: discovery.environment(),
            folders: discovery.record().roots.clone(),
            private_folder: discovery.folder().to_owned(),
        };
        let ended = self.ended.take();
        self.running = Some(RunningService {
            front,
            links: service.links().clone(),
            task: tokio::spawn(async move {
                service.run(std::future::pending()).await;
                if let Some(ended) = ended {
                    // The editor may have left first.
                    let _ = ended.send(());
                }
            }),
        });
        Ok(started)
    }

    /// Ends the companion and waits until its files are gone.
    async fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            // One that is ending already does not hear it.
            let _ = running.front.stop().await;
            let _ = running.task.await;
        }
    }
}
