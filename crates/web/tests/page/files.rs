//! The page's own files.

use crate::companion::CompanionWithPage;

#[tokio::test]
async fn the_page_is_served_from_the_program_and_not_sent_twice() {
    let companion = CompanionWithPage::start();
    for (path, kind) in [
        ("/", "text/html; charset=utf-8"),
        ("/assets/app.js", "text/javascript; charset=utf-8"),
        ("/assets/editor.js", "text/javascript; charset=utf-8"),
        ("/assets/app.css", "text/css; charset=utf-8"),
        ("/assets/icon.svg", "image/svg+xml"),
        ("/assets/licenses.md", "text/plain; charset=utf-8"),
    ] {
        let first = companion.stranger().get(path).await;
        assert_eq!(first.status, 200, "{path}");
        assert_eq!(first.header("content-type"), kind);
        assert_eq!(first.header("cache-control"), "no-cache");
        assert!(!first.body.is_empty());
        let tag = first.header("etag");
        assert!(tag.starts_with('"') && tag.ends_with('"'), "{tag}");

        for known in [tag.to_owned(), format!("\"other\", {tag}")] {
            let again = companion.stranger().with("if-none-match", &known);
            let again = again.get(path).await;
            assert_eq!((again.status.as_u16(), again.body.as_str()), (304, ""));
            assert_eq!(again.header("etag"), tag);
        }
        let changed = companion.stranger().with("if-none-match", "\"other\"");
        assert_eq!(changed.get(path).await.status, 200);
    }
}

#[tokio::test]
async fn the_page_asks_for_nothing_from_elsewhere() {
    let companion = CompanionWithPage::start();
    let index = companion.stranger().get("/").await.body;
    let addresses = index.split(['"', '\'']).filter(|part| part.contains("//"));
    assert_eq!(addresses.collect::<Vec<_>>(), [""; 0]);
    let script = index.split_once("<script").map_or("", |(_, rest)| rest);
    let inside = script.split_once('>').map_or("", |(_, rest)| rest);
    assert!(inside.trim_start().starts_with("</script>"), "{index}");
}

#[tokio::test]
async fn every_file_that_was_built_is_served() {
    let companion = CompanionWithPage::start();
    let built = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/assets")).unwrap();
    for file in built {
        let name = file.unwrap().file_name().into_string().unwrap();
        let path = match name.as_str() {
            "index.html" => "/".to_owned(),
            name => format!("/assets/{name}"),
        };
        assert_eq!(companion.stranger().get(&path).await.status, 200, "{path}");
    }
}
