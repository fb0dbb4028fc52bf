//! The page's files, which are compiled into the program: the page loads nothing from elsewhere.
//!
//! They are built from `page/` and committed, so that the program can be built with Rust alone.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// One file of the page.
pub(crate) struct Asset {
    content_type: &'static str,
    bytes: &'static [u8],
    tag: OnceLock<String>,
}

pub(crate) static INDEX: Asset = Asset::new(
    "text/html; charset=utf-8",
    include_bytes!("../assets/index.html"),
);

static OTHERS: [(&str, Asset); 5] = [
    (
        "app.js",
        Asset::new(
            "text/javascript; charset=utf-8",
            include_bytes!("../assets/app.js"),
        ),
    ),
    (
        "editor.js",
        Asset::new(
            "text/javascript; charset=utf-8",
            include_bytes!("../assets/editor.js"),
        ),
    ),
    (
        "app.css",
        Asset::new(
            "text/css; charset=utf-8",
            include_bytes!("../assets/app.css"),
        ),
    ),
    (
        "icon.svg",
        Asset::new("image/svg+xml", include_bytes!("../assets/icon.svg")),
    ),
    // The licences of the code in the scripts.
    (
        "licenses.md",
        Asset::new(
            "text/plain; charset=utf-8",
            include_bytes!("../assets/licenses.md"),
        ),
    ),
];

/// The file with this name below `/assets`.
pub(crate) fn find(name: &str) -> Option<&'static Asset> {
    let found = OTHERS.iter().find(|(known, _)| *known == name);
    found.map(|(_, asset)| asset)
}

impl Asset {
    const fn new(content_type: &'static str, bytes: &'static [u8]) -> Asset {
        Asset {
            content_type,
            bytes,
            tag: OnceLock::new(),
        }
    }

    /// The file, or `304 Not Modified`. The browser revalidates each time, because the next version
    /// of the program has another file at the same address.
    pub(crate) fn respond(&self, request: &HeaderMap) -> Response {
        let tag = self.tag();
        let caching = [
            (header::ETAG, tag),
            (header::CACHE_CONTROL, "no-cache"),
            (header::CONTENT_TYPE, self.content_type),
        ];
        let known = request.get_all(header::IF_NONE_MATCH).iter();
        let mut known = known.filter_map(|tags| tags.to_str().ok());
        if known.any(|tags| tags.split(',').any(|known| known.trim() == tag)) {
            return (StatusCode::NOT_MODIFIED, caching).into_response();
        }
        (caching, self.bytes).into_response()
    }

    /// The `ETag`: a hash of the content.
    fn tag(&self) -> &str {
        self.tag.get_or_init(|| {
            let mut hasher = DefaultHasher::new();
            self.bytes.hash(&mut hasher);
            format!("\"{:016x}\"", hasher.finish())
        })
    }
}
