//! Reading files in a folder of the daemon, for when that folder is not ours to read.
//!
//! The daemon keeps reads inside its folder. This does not rely on it: an answer about another path
//! than the one that was asked for, or outside of the folder that was asked for, is refused with
//! [`DaemonError::ForeignPath`]. That includes links, which the daemon follows: its answer names what
//! the link points to, and whoever wants that asks for it.
//!
//! There are routes that write files, too. They are not here on purpose.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{WorkspaceClient, query};
use crate::error::DaemonError;
use crate::wire::{
    ByteRange, FileBytes, FileStat, FileText, FolderListing, GlobMatches, GlobRequest,
    RelativePath, TextRange,
};

impl WorkspaceClient {
    /// `GET /file`: a text file, or a part of it.
    pub async fn read_text(
        &self,
        path: &RelativePath,
        range: &TextRange,
    ) -> Result<FileText, DaemonError> {
        let number = |number: Option<u64>| number.map(|it| it.to_string());
        let parts = [
            ("path", Some(path.to_string())),
            ("line", number(range.line)),
            ("limit", number(range.limit)),
            ("maxBytes", range.max_bytes.map(|it| it.to_string())),
            ("cursor", range.cursor.clone()),
        ];
        let answer: FileText = self.about(path, "/file", &parts).await?;
        let length = u32::try_from(answer.content.len()).unwrap_or(u32::MAX);
        if range.max_bytes.is_some_and(|most| length > most) {
            let why = "it sends more of a file than was asked for";
            return Err(self.client.http.invalid_response(why));
        }
        Ok(answer)
    }

    /// `GET /file/bytes`: a file of any kind, or a part of it.
    pub async fn read_bytes(
        &self,
        path: &RelativePath,
        range: ByteRange,
    ) -> Result<FileBytes, DaemonError> {
        let parts = [
            ("path", Some(path.to_string())),
            ("offset", Some(range.offset.to_string())),
            ("maxBytes", range.max_bytes.map(|it| it.to_string())),
        ];
        let answer: FileBytes = self.about(path, "/file/bytes", &parts).await?;
        let length = u64::try_from(answer.content.len()).unwrap_or(u64::MAX);
        if answer.offset != range.offset || range.max_bytes.is_some_and(|most| length > most) {
            let why = "it sends other bytes of a file than those that were asked for";
            return Err(self.client.http.invalid_response(why));
        }
        Ok(answer)
    }

    /// `GET /stat`: what is at a path.
    pub async fn stat(&self, path: &RelativePath) -> Result<FileStat, DaemonError> {
        let parts = [("path", Some(path.to_string()))];
        self.about(path, "/stat", &parts).await
    }

    /// `GET /list`: what is in a folder; with `include_ignored` also what the agent does not look at.
    pub async fn list(
        &self,
        folder: &RelativePath,
        include_ignored: bool,
    ) -> Result<FolderListing, DaemonError> {
        let parts = [
            ("path", Some(folder.to_string())),
            ("includeIgnored", include_ignored.then(|| "1".into())),
        ];
        let listing: FolderListing = self.about(folder, "/list", &parts).await?;
        let foreign =
            |name: &&str| name.contains('/') || *name == "." || folder.join(name).is_err();
        let mut names = listing.entries.iter().map(|entry| entry.name.as_str());
        match names.find(foreign) {
            Some(name) => Err(self.foreign(folder.as_str(), name)),
            None => Ok(listing),
        }
    }

    /// `GET /glob`: the files and folders that fit a pattern.
    pub async fn glob(&self, request: &GlobRequest) -> Result<GlobMatches, DaemonError> {
        let folder = request.folder.as_ref();
        let parts = [
            ("pattern", Some(request.pattern.clone())),
            ("cwd", folder.map(RelativePath::to_string)),
            (
                "includeIgnored",
                request.include_ignored.then(|| "1".into()),
            ),
            ("maxResults", request.max_results.map(|it| it.to_string())),
        ];
        let path = self.file_path("/glob") + &query(&parts);
        let answer: Value = self.client.json(self.client.get(path)).await?;
        let is_inside = |text: &str| {
            let path = RelativePath::new(text);
            path.is_ok_and(|path| {
                !path.is_root() && folder.is_none_or(|folder| folder.contains(&path))
            })
        };
        let matches = answer["matches"].as_array().into_iter().flatten();
        let mut paths = matches.filter_map(Value::as_str);
        if let Some(path) = paths.find(|path| !is_inside(path)) {
            let asked = folder.map_or(".", RelativePath::as_str);
            return Err(self.foreign(asked, path));
        }
        self.typed(answer, "/glob")
    }

    /// An answer about `path`, and about nothing else.
    async fn about<T: DeserializeOwned>(
        &self,
        path: &RelativePath,
        route: &str,
        parts: &[(&str, Option<String>)],
    ) -> Result<T, DaemonError> {
        let request = self.client.get(self.file_path(route) + &query(parts));
        let answer: Value = self.client.json(request).await?;
        match answer["path"].as_str() {
            Some(answered) if answered != path.as_str() => {
                Err(self.foreign(path.as_str(), answered))
            }
            _ => self.typed(answer, route),
        }
    }

    fn typed<T: DeserializeOwned>(&self, answer: Value, route: &str) -> Result<T, DaemonError> {
        let unreadable = |error| {
            let why = format!("the answer of {route} cannot be read: {error}");
            self.client.http.invalid_response(why)
        };
        serde_json::from_value(answer).map_err(unreadable)
    }

    fn foreign(&self, asked: &str, answered: &str) -> DaemonError {
        DaemonError::ForeignPath {
            address: self.client.http.address.clone(),
            asked: asked.into(),
            answered: answered.into(),
        }
    }
}
