//! The beginning: what an editor says of itself, and what we offer it.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::PathBuf;

use front::Front;
use serde_json::{Value, json};
use workbench::Holder;

use crate::buffer::Encoding;
use crate::reviews::Abilities;
use crate::rpc::{self, Incoming, ResponseError};
use crate::wire::{self, Options};
use crate::{sheet, uri};

/// What an editor says of itself when it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditorInfo {
    /// Its process, if it said so; it has left when that has ended.
    pub process: Option<u32>,
    /// Its folders; none if it has no folder open.
    pub folders: Vec<PathBuf>,
    /// Its name, if it said so.
    pub name: Option<String>,
    /// The person's settings for us in this editor.
    pub options: Options,
}

/// The companion that an editor has joined.
#[derive(Debug)]
pub struct EditorService {
    /// What the person can do and see.
    pub front: Front,
    /// Under which number the editor holds its documents.
    pub holder: Holder,
    /// Where agents find it.
    pub port: u16,
    /// What terminals of this editor should have in their environment.
    pub environment: BTreeMap<String, String>,
    /// The folders of this editor.
    pub folders: Vec<PathBuf>,
    /// A private folder for documents of ours, of this editor alone.
    pub private_folder: PathBuf,
    /// What the person should know about this companion, for the editor's log.
    pub notices: Vec<String>,
}

/// Whoever has the companion: the program.
pub trait ServiceHost: Send {
    /// Lets an editor in. An error is told to the person.
    fn join(
        &mut self,
        editor: EditorInfo,
    ) -> impl Future<Output = Result<EditorService, String>> + Send;

    /// A link to the page of the companion, good for one tab; nothing if it has none.
    fn page_link(&mut self) -> Option<String>;
}

/// What `initialize` says, as far as it matters here.
#[derive(Debug)]
pub(crate) struct Handshake {
    pub(crate) editor: EditorInfo,
    pub(crate) abilities: Abilities,
    pub(crate) encoding: Encoding,
}

impl EditorInfo {
    /// What an editor says of itself in this `initialize` request.
    pub fn read(content: &[u8]) -> Result<EditorInfo, ResponseError> {
        match rpc::parse(content) {
            Incoming::Request(_, name, params) if name == "initialize" => {
                Ok(Handshake::read(params.parse()?)?.editor)
            }
            _ => Err(ResponseError::new(rpc::INVALID_REQUEST, "initialize first")),
        }
    }
}

impl Handshake {
    pub(crate) fn read(asked: wire::Initialize) -> Result<Handshake, ResponseError> {
        let wants = &asked.capabilities;
        let has_utf8 = wants
            .general
            .position_encodings
            .iter()
            .any(|it| it == "utf-8");
        let experimental = wants.experimental.as_ref();
        let abilities = Abilities {
            plugin: experimental
                .is_some_and(|it| it.get("outrigger").is_some_and(|it| it != false)),
            show_document: (wants.window.show_document.as_ref()).is_some_and(|it| it.support),
            apply_edit: wants.workspace.apply_edit,
        };
        let options = match asked.initialization_options {
            None | Some(Value::Null) => Options::default(),
            Some(options) => serde_json::from_value(options).map_err(|error| {
                let message = format!("wrong initializationOptions: {error}");
                ResponseError::new(rpc::INVALID_PARAMS, message)
            })?,
        };
        let listed = asked.workspace_folders.unwrap_or_default();
        let uris = listed.iter().map(|folder| folder.uri.as_str());
        let paths = uris
            .chain(asked.root_uri.as_deref())
            .filter_map(uri::to_path)
            .chain(asked.root_path.map(PathBuf::from));
        let mut folders: Vec<PathBuf> = Vec::new();
        for folder in paths.filter(|path| path.is_absolute()) {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        let name = asked.client_info.map(|client| client.name);
        Ok(Handshake {
            editor: EditorInfo {
                process: asked.process_id,
                folders,
                name: name.filter(|name| !name.trim().is_empty()),
                options,
            },
            abilities,
            encoding: if has_utf8 {
                Encoding::Utf8
            } else {
                Encoding::Utf16
            },
        })
    }

    /// What we offer. Code actions, highlights and hovers are offered to learn where the person is;
    /// an editor with a plugin says so itself, and would only offer them to the person in vain.
    pub(crate) fn answer(&self) -> Value {
        let files = json!({ "filters": [{ "scheme": "file", "pattern": { "glob": "**" } }] });
        let mut capabilities = json!({
            "positionEncoding": self.encoding.name(),
            "textDocumentSync": { "openClose": true, "change": 2, "save": { "includeText": false } },
            "workspace": {
                "workspaceFolders": { "supported": true, "changeNotifications": true },
                "fileOperations": { "didRename": files, "didDelete": files },
            },
            "experimental": { "outrigger": { "version": 1 } },
        });
        if !self.abilities.plugin {
            capabilities["codeActionProvider"] = json!({ "codeActionKinds": ["quickfix"] });
            capabilities["documentHighlightProvider"] = true.into();
            capabilities["hoverProvider"] = true.into();
            capabilities["executeCommandProvider"] = json!({
                "commands": [sheet::ACCEPT, sheet::REJECT, sheet::KEEP_HUNK, sheet::DROP_HUNK],
            });
        }
        json!({
            "capabilities": capabilities,
            "serverInfo": { "name": "outrigger", "version": env!("CARGO_PKG_VERSION") },
        })
    }
}
