//! Routes for files that are sent to a session once, and that prompts refer to.

use hyper::Method;
use hyper::header::CONTENT_TYPE;
use serde::Deserialize;

use super::{DaemonClient, query, session_path};
use crate::error::DaemonError;
use crate::http::encode;
use crate::wire::{
    Attachment, AttachmentContent, AttachmentId, ClientId, NewAttachment, SessionId,
};

impl DaemonClient {
    /// `POST /session/{id}/attachments`: sends a file to a session. A prompt refers to it with
    /// [`crate::wire::ContentBlock::attachment`].
    pub async fn upload_attachment(
        &self,
        session: &SessionId,
        new: &NewAttachment,
        client: Option<&ClientId>,
    ) -> Result<Attachment, DaemonError> {
        let tail = "/attachments".to_owned() + &query(&[("name", Some(new.name.clone()))]);
        let mut request = self.request(Method::POST, session_path(session, &tail));
        request.body = Some(new.content.clone());
        let request = request.header(CONTENT_TYPE, &new.mime_type);
        self.json(request.client(client)).await
    }

    /// `GET /session/{id}/attachments`: the files that a session has.
    pub async fn attachments(&self, session: &SessionId) -> Result<Vec<Attachment>, DaemonError> {
        #[derive(Deserialize)]
        struct Listed {
            attachments: Vec<Attachment>,
        }
        let request = self.get(session_path(session, "/attachments"));
        let listed: Listed = self.json(request).await?;
        Ok(listed.attachments)
    }

    /// `GET /session/{id}/attachments/{attachment}`: the content of a file.
    pub async fn attachment(
        &self,
        session: &SessionId,
        attachment: &AttachmentId,
    ) -> Result<AttachmentContent, DaemonError> {
        let request = self.get(attachment_path(session, attachment));
        let answer = self.http.fetch(request).await?;
        Ok(AttachmentContent {
            mime_type: answer.content_type,
            content: answer.body.to_vec(),
        })
    }

    /// `DELETE /session/{id}/attachments/{attachment}`. `false` if the session does not have it (any
    /// more).
    pub async fn remove_attachment(
        &self,
        session: &SessionId,
        attachment: &AttachmentId,
        client: Option<&ClientId>,
    ) -> Result<bool, DaemonError> {
        #[derive(Deserialize)]
        struct Removed {
            removed: bool,
        }
        let request = self.request(Method::DELETE, attachment_path(session, attachment));
        let removed: Removed = self.json(request.client(client)).await?;
        Ok(removed.removed)
    }
}

fn attachment_path(session: &SessionId, attachment: &AttachmentId) -> String {
    let tail = format!("/attachments/{}", encode(attachment.as_str()));
    session_path(session, &tail)
}
