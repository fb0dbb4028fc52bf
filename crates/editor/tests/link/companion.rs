//! A companion inside the test's own process, and the host that hands it to the link.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use ::editor::{EditorInfo, EditorService, ServiceHost};
use front::{Front, ServiceCommand, ServiceCommands, ServiceFacts};
use testkit::InProcessCompanion;
use tokio::sync::mpsc;

/// A companion, and what an editor asks of the program around it.
pub(crate) struct EditorCompanion {
    companion: InProcessCompanion,
    /// What the editor said of itself, for each time that it was asked to start.
    pub(crate) editors: Arc<Mutex<Vec<EditorInfo>>>,
    /// The folders that the link asked for, each time that it did.
    pub(crate) moves: Arc<Mutex<Vec<Vec<PathBuf>>>>,
    /// Holds the folder that is private to the companion.
    private: tempfile::TempDir,
}

impl Deref for EditorCompanion {
    type Target = InProcessCompanion;

    fn deref(&self) -> &InProcessCompanion {
        &self.companion
    }
}

impl EditorCompanion {
    pub(crate) fn start() -> EditorCompanion {
        let private = tempfile::tempdir().unwrap();
        std::fs::create_dir(private.path().join("state")).unwrap();
        EditorCompanion::start_with(private)
    }

    /// The same, with a private folder that is reached through a link.
    pub(crate) fn start_linked() -> EditorCompanion {
        let private = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(private.path().join("real/state")).unwrap();
        std::os::unix::fs::symlink("real", private.path().join("link")).unwrap();
        std::os::unix::fs::symlink("link/state", private.path().join("state")).unwrap();
        EditorCompanion::start_with(private)
    }

    fn start_with(private: tempfile::TempDir) -> EditorCompanion {
        let moves = Arc::default();
        let service = program(Arc::clone(&moves));
        EditorCompanion {
            companion: InProcessCompanion::builder().service(service).start(),
            editors: Arc::default(),
            moves,
            private,
        }
    }

    /// A folder that is private to the companion.
    pub(crate) fn state(&self) -> PathBuf {
        self.private.path().canonicalize().unwrap().join("state")
    }

    /// What would be told to agents now. Unlike what was published, it needs no waiting.
    pub(crate) async fn context(&self) -> workbench::Context {
        let look = |state: &mut ::companion::desk::State| state.workbench().context(Path::is_file);
        self.desk.ask(look).await.unwrap()
    }

    /// The host that starts this companion for an editor.
    pub(crate) fn host(&self) -> Starter {
        Starter {
            editors: self.editors.clone(),
            front: self.front.clone(),
            port: self.port,
            roots: vec![self.root()],
            folder: self.state(),
        }
    }
}

/// A program that writes down the folders it is asked to serve.
fn program(moves: Arc<Mutex<Vec<Vec<PathBuf>>>>) -> ServiceCommands {
    let (commands, mut inbox) = mpsc::channel(8);
    tokio::spawn(async move {
        while let Some(command) = inbox.recv().await {
            // Whoever asked may have left.
            match command {
                ServiceCommand::SetFolders(_, folders) => moves.lock().unwrap().push(folders),
                ServiceCommand::Facts(answer) => drop(answer.send(ServiceFacts::default())),
                other => panic!("an editor does not ask for {other:?}"),
            }
        }
    });
    commands
}

/// Hands an editor the companion of the test.
pub(crate) struct Starter {
    editors: Arc<Mutex<Vec<EditorInfo>>>,
    front: Front,
    port: u16,
    roots: Vec<PathBuf>,
    folder: PathBuf,
}

impl ServiceHost for Starter {
    async fn join(&mut self, editor: EditorInfo) -> Result<EditorService, String> {
        if editor.name.as_deref() == Some("unlucky") {
            return Err("there is no room".into());
        }
        self.editors.lock().unwrap().push(editor);
        let root = self.roots[0].to_str().unwrap().to_owned();
        let environment = BTreeMap::from([
            ("QWEN_CODE_IDE_SERVER_PORT".into(), self.port.to_string()),
            ("QWEN_CODE_IDE_WORKSPACE_PATH".into(), root),
        ]);
        Ok(EditorService {
            front: self.front.clone(),
            holder: workbench::Holder::editor(1),
            notices: Vec::new(),
            port: self.port,
            environment,
            folders: self.roots.clone(),
            private_folder: self.folder.clone(),
        })
    }

    fn page_link(&mut self) -> Option<String> {
        Some(format!("http://127.0.0.1:{}/#5ca1ab1e", self.port))
    }
}
