//! What belongs to a message, or to the output of a tool, and is not text.

/// Something that is shown beside text. All of it is untrusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attachment {
    /// A picture.
    Image {
        /// Its type, one of those that [`Attachment::is_picture`] knows.
        mime_type: String,
        /// The picture in base64; absent if it is too large to be shown.
        data: Option<String>,
    },
    /// A name for something elsewhere. Nobody has looked whether it is there.
    Link {
        /// What to call it.
        name: String,
        /// Where it is, from where the agent is.
        uri: String,
    },
    /// A file that was handed over.
    File {
        /// Where it comes from.
        uri: String,
        /// What is in it; absent if that is not text.
        text: Option<String>,
    },
}

impl Attachment {
    /// Whether this type is a picture that browsers show and that holds nothing but pixels.
    pub fn is_picture(mime_type: &str) -> bool {
        let known = ["image/png", "image/jpeg", "image/gif", "image/webp"];
        known.contains(&mime_type)
    }

    /// What it is in a line, for whoever can show only text.
    pub fn describe(&self) -> String {
        match self {
            Self::Image { mime_type, data } => match data {
                // Four characters are three bytes.
                Some(data) => format!("a picture ({mime_type}, {} kB)", data.len() * 3 / 4096 + 1),
                None => format!("a picture that is too large to be shown ({mime_type})"),
            },
            Self::Link { name, uri } if name.is_empty() || name == uri => uri.clone(),
            Self::Link { name, uri } => format!("{name} ({uri})"),
            Self::File { uri, .. } => uri.clone(),
        }
    }

    /// About how many bytes it takes.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Image { data, .. } => data.as_ref().map_or(0, String::len),
            Self::Link { name, uri } => name.len() + uri.len(),
            Self::File { uri, text } => uri.len() + text.as_ref().map_or(0, String::len),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_a_line_for_whoever_shows_only_text() {
        let image = |data: Option<&str>| Attachment::Image {
            mime_type: "image/png".into(),
            data: data.map(str::to_owned),
        };
        let link = |name: &str| Attachment::Link {
            name: name.into(),
            uri: "file:///w/a.txt".into(),
        };
        let file = Attachment::File {
            uri: "file:///w/b.txt".into(),
            text: Some("one\ntwo".into()),
        };
        for (attachment, line) in [
            (image(Some("AAAA")), "a picture (image/png, 1 kB)"),
            (
                image(None),
                "a picture that is too large to be shown (image/png)",
            ),
            (link("a.txt"), "a.txt (file:///w/a.txt)"),
            (link(""), "file:///w/a.txt"),
            (file, "file:///w/b.txt"),
        ] {
            assert_eq!(attachment.describe(), line);
        }
    }
}
