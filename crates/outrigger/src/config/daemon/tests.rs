//! What follows from the text of each source.

use std::fmt::Write as _;

use clap::Parser as _;
use serde_json::json;

use super::super::document::Table;
use super::super::user_file::SourceFile;
use super::*;
use crate::args::Arguments;

type Variables<'a> = &'a [(&'a str, &'a str)];

/// The settings that follow from the text of each source.
fn settings(flags: &DaemonLayer, variables: Variables<'_>, table: &str) -> DaemonSettings {
    let variables = DaemonLayer::from_variables(&|name| {
        let found = variables.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| (*value).to_owned())
    });
    let file = SourceFile {
        path: Path::new("/c.toml"),
        table: Table::parse(table).unwrap(),
    };
    let file = DaemonLayer::from_table(&file);
    DaemonSettings::from_layers([&file, &variables, flags])
}

/// The address and the token.
fn target(
    url: Option<&str>,
    token_file: Option<&Path>,
    variables: Variables<'_>,
    table: &str,
) -> Result<(String, Option<String>), String> {
    let options = DaemonOptions {
        url: url.map(str::to_owned),
        token_file: token_file.map(Path::to_owned),
    };
    let flags = DaemonLayer::from_daemon_flags(&options, None);
    let target = settings(&flags, variables, table).target();
    let target = target.map_err(|failure| failure.to_string())?;
    let token = target.token.map(|token| token.expose().to_owned());
    Ok((target.address.to_string(), token))
}

#[cfg(target_os = "linux")]
#[test]
fn a_token_is_not_read_without_end() {
    let endless = Some(Path::new("/dev/zero"));
    let refused = target(None, endless, &[], "").unwrap_err();
    assert!(refused.contains("too large for a token"), "{refused}");
}

#[test]
fn flags_win_over_variables_over_the_file_over_the_default() {
    let table = "url = 'http://127.0.0.1:3'\ntoken = 'from-file'";
    let variables = [
        ("QWEN_IDE_DAEMON_URL", "http://127.0.0.1:2"),
        ("QWEN_SERVER_TOKEN", " from-env\n"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, "from-flag\n").unwrap();
    let expect = |url: &str, token: Option<&str>| Ok((url.to_owned(), token.map(str::to_owned)));
    let flag = target(Some("http://127.0.0.1:1"), Some(&file), &variables, table);
    assert_eq!(flag, expect("http://127.0.0.1:1", Some("from-flag")));
    assert_eq!(
        target(None, None, &variables, table),
        expect("http://127.0.0.1:2", Some("from-env"))
    );
    let empty = [("QWEN_IDE_DAEMON_URL", ""), ("QWEN_SERVER_TOKEN", " ")];
    assert_eq!(
        target(None, None, &empty, table),
        expect("http://127.0.0.1:3", Some("from-file"))
    );
    let by_file = format!("token-file = '{}'", file.display());
    assert_eq!(
        target(None, None, &[], &by_file),
        expect("http://127.0.0.1:4170", Some("from-flag"))
    );
    assert_eq!(
        target(None, None, &[], ""),
        expect("http://127.0.0.1:4170", None)
    );
}

#[test]
fn what_is_wrong_is_told_with_its_origin_and_without_the_token() {
    let refused = |url: Option<&str>, variables: &[(&str, &str)], table: &str| {
        target(url, None, variables, table).unwrap_err()
    };
    let error = refused(Some("http://example.com"), &[], "");
    assert!(
        error.contains("--url") && error.contains("; only a daemon on this machine"),
        "{error}"
    );
    let error = refused(None, &[("QWEN_SERVER_TOKEN", "my secret")], "");
    assert!(
        error.contains("QWEN_SERVER_TOKEN") && !error.contains("my secret"),
        "{error}"
    );
    let error = refused(None, &[], "token = 'a'\ntoken-file = 'b'");
    assert!(error.contains("/c.toml"), "{error}");
    assert!(target(None, Some(Path::new("/nonexistent")), &[], "").is_err());
}

/// What somebody says at the start of a companion: flags as they are typed, or the option `daemon` of
/// an editor.
fn start(said: &str) -> DaemonLayer {
    if said.is_empty() || said.starts_with("--") {
        let words = ["outrigger"].into_iter().chain(said.split_whitespace());
        return DaemonLayer::from_serve_flags(&Arguments::try_parse_from(words).unwrap().serve);
    }
    let said: serde_json::Value = serde_json::from_str(said).unwrap();
    editor_layer(&said)
}

fn editor_layer(said: &serde_json::Value) -> DaemonLayer {
    let options = json!({ "daemon": said });
    let options: editor::Options = serde_json::from_value(options).unwrap();
    DaemonLayer::from_editor(&options.daemon)
}

/// A start, variables as in a shell, and the table of the file with its lines after commas.
type Case = (&'static str, &'static str, &'static str);

fn of_case((said, variables, file): Case) -> DaemonSettings {
    let variables: Vec<_> = variables
        .split_whitespace()
        .filter_map(|it| it.split_once('='))
        .collect();
    settings(&start(said), &variables, &file.replace(", ", "\n"))
}

const URL: &str = "QWEN_IDE_DAEMON_URL=http://127.0.0.1:2";
const BOTH: &str = "QWEN_IDE_DAEMON_URL=http://127.0.0.1:2 QWEN_SERVER_TOKEN=t";
const FILE: &str = "url = 'http://127.0.0.1:3', token = 'a', mode = 'plan', model = 'm3'";

/// Every source of every setting, alone and against a weaker one.
const SOURCES: &[Case] = &[
    ("", "", ""),
    ("", "", "enabled = true"),
    ("", "", FILE),
    ("", URL, ""),
    ("", URL, "enabled = false"),
    ("", BOTH, FILE),
    ("--daemon", "", "enabled = false"),
    ("--daemon-url http://127.0.0.1:1", BOTH, FILE),
    ("--daemon-mode auto-edit --daemon-model m1", "", FILE),
    ("null", "", "enabled = true"),
    ("true", "", "enabled = false"),
    ("false", "", "enabled = true"),
    ("false", URL, ""),
    (r#"{"mode":"yolo","model":"m"}"#, "", FILE),
    (
        r#"{"url":"http://127.0.0.1:1","tokenFile":"/t"}"#,
        BOTH,
        FILE,
    ),
    (
        r#"{"enabled":false,"url":"http://127.0.0.1:1"}"#,
        "",
        "enabled = true",
    ),
];

#[test]
fn every_source_of_every_setting() {
    let mut shown = String::new();
    for case in SOURCES {
        writeln!(shown, "{} | {} | {}", case.0, case.1, case.2).unwrap();
        for setting in of_case(*case).shown() {
            let (name, value) = &setting.value;
            // Everything of the first case, and of the others what is not the default.
            if case.0.len() + case.1.len() + case.2.len() == 0 || setting.origin != Origin::Default
            {
                writeln!(shown, "  {name} = {value}  ({})", setting.origin).unwrap();
            }
        }
    }
    insta::assert_snapshot!(shown, @r#"
     |  | 
      daemon.enabled = false  (default)
      daemon.url = http://127.0.0.1:4170  (default)
      daemon.token = none  (default)
      daemon.mode = default  (default)
      daemon.model = the daemon's own  (default)
     |  | enabled = true
      daemon.enabled = true  (/c.toml:1:11)
     |  | url = 'http://127.0.0.1:3', token = 'a', mode = 'plan', model = 'm3'
      daemon.url = http://127.0.0.1:3  (/c.toml:1:7)
      daemon.token = set  (/c.toml:2:9)
      daemon.mode = plan  (/c.toml:3:8)
      daemon.model = m3  (/c.toml:4:9)
     | QWEN_IDE_DAEMON_URL=http://127.0.0.1:2 | 
      daemon.enabled = true  (variable QWEN_IDE_DAEMON_URL)
      daemon.url = http://127.0.0.1:2  (variable QWEN_IDE_DAEMON_URL)
     | QWEN_IDE_DAEMON_URL=http://127.0.0.1:2 | enabled = false
      daemon.enabled = false  (/c.toml:1:11)
      daemon.url = http://127.0.0.1:2  (variable QWEN_IDE_DAEMON_URL)
     | QWEN_IDE_DAEMON_URL=http://127.0.0.1:2 QWEN_SERVER_TOKEN=t | url = 'http://127.0.0.1:3', token = 'a', mode = 'plan', model = 'm3'
      daemon.enabled = true  (variable QWEN_IDE_DAEMON_URL)
      daemon.url = http://127.0.0.1:2  (variable QWEN_IDE_DAEMON_URL)
      daemon.token = set  (variable QWEN_SERVER_TOKEN)
      daemon.mode = plan  (/c.toml:3:8)
      daemon.model = m3  (/c.toml:4:9)
    --daemon |  | enabled = false
      daemon.enabled = true  (flag --daemon)
    --daemon-url http://127.0.0.1:1 | QWEN_IDE_DAEMON_URL=http://127.0.0.1:2 QWEN_SERVER_TOKEN=t | url = 'http://127.0.0.1:3', token = 'a', mode = 'plan', model = 'm3'
      daemon.enabled = true  (flag --daemon-url)
      daemon.url = http://127.0.0.1:1  (flag --daemon-url)
      daemon.token = set  (variable QWEN_SERVER_TOKEN)
      daemon.mode = plan  (/c.toml:3:8)
      daemon.model = m3  (/c.toml:4:9)
    --daemon-mode auto-edit --daemon-model m1 |  | url = 'http://127.0.0.1:3', token = 'a', mode = 'plan', model = 'm3'
      daemon.enabled = true  (flag --daemon-mode)
      daemon.url = http://127.0.0.1:3  (/c.toml:1:7)
      daemon.token = set  (/c.toml:2:9)
      daemon.mode = auto-edit  (flag --daemon-mode)
      daemon.model = m1  (flag --daemon-model)
    null |  | enabled = true
      daemon.enabled = true  (/c.toml:1:11)
    true |  | enabled = false
      daemon.enabled = true  (settings of the editor)
    false |  | enabled = true
      daemon.enabled = false  (settings of the editor)
    false | QWEN_IDE_DAEMON_URL=http://127.0.0.1:2 | 
      daemon.enabled = false  (settings of the editor)
      daemon.url = http://127.0.0.1:2  (variable QWEN_IDE_DAEMON_URL)
    {"mode":"yolo","model":"m"} |  | url = 'http://127.0.0.1:3', token = 'a', mode = 'plan', model = 'm3'
      daemon.url = http://127.0.0.1:3  (/c.toml:1:7)
      daemon.token = set  (/c.toml:2:9)
      daemon.mode = yolo  (settings of the editor)
      daemon.model = m  (settings of the editor)
    {"url":"http://127.0.0.1:1","tokenFile":"/t"} | QWEN_IDE_DAEMON_URL=http://127.0.0.1:2 QWEN_SERVER_TOKEN=t | url = 'http://127.0.0.1:3', token = 'a', mode = 'plan', model = 'm3'
      daemon.enabled = true  (settings of the editor)
      daemon.url = http://127.0.0.1:1  (settings of the editor)
      daemon.token = in /t  (settings of the editor)
      daemon.mode = plan  (/c.toml:3:8)
      daemon.model = m3  (/c.toml:4:9)
    {"enabled":false,"url":"http://127.0.0.1:1"} |  | enabled = true
      daemon.enabled = false  (settings of the editor)
      daemon.url = http://127.0.0.1:1  (settings of the editor)
    "#);
}

#[test]
fn a_mistake_is_told_and_stops_nothing_unless_it_was_just_typed() {
    let cases: &[Case] = &[
        ("", "", ""),
        // What is not used is not checked.
        ("", "", "url = 'x', mode = 'x'"),
        (r#""yes""#, "", ""),
        ("", URL, ""),
        ("", "", "enabled = true, mode = 'plan'"),
        ("", "", "enabled = true, mode = 'yolo'"),
        (
            "",
            "QWEN_IDE_DAEMON_URL=https://127.0.0.1:4170/?token=hunter2",
            "",
        ),
        ("", "QWEN_IDE_DAEMON_URL=nonsense", "mode = 'yolo'"),
        ("", "", "enabled = true, url = 'http://example.com'"),
        ("", "", "enabled = true, token = 'hunter 2'"),
        ("", "", "enabled = true, token = 'a', token-file = 'b'"),
        ("", "", "enabled = true, token-file = '/dev/null/t'"),
        ("", "", "enabled = true, mode = 'autoedit'"),
        ("", "", "enabled = true, model = ' '"),
        (r#"{"url":"http://10.0.0.1:1"}"#, "", ""),
        (r#"{"enabled":true,"mode":"wild"}"#, "", ""),
        (r#"{"enabled":true,"token":"hunter2"}"#, "", ""),
        // Conversations are on, and what the editor says of them is not understood.
        (r#""yes""#, URL, ""),
        (
            "--daemon-url http://127.0.0.1:1",
            "",
            "enabled = true, url = 'x'",
        ),
        ("--daemon-url x", "", ""),
    ];
    let mut told = String::new();
    for case in cases {
        writeln!(told, "{} | {} | {}", case.0, case.1, case.2).unwrap();
        let (what, said) = match of_case(*case).conversations() {
            Err(failure) => ("stops", Some(failure.to_string())),
            Ok(conversations) => {
                let what = match conversations {
                    Conversations::Off => "off",
                    Conversations::Unusable(_) => "goes on without",
                    Conversations::On(_) => "on",
                };
                (what, conversations.warning())
            }
        };
        let said = said.unwrap_or_default();
        assert!(!said.contains("hunter"), "{said}");
        writeln!(told, "  {what}. {said}").unwrap();
    }
    insta::assert_snapshot!(told, @r#"
     |  | 
      off. 
     |  | url = 'x', mode = 'x'
      off. 
    "yes" |  | 
      off. 
     | QWEN_IDE_DAEMON_URL=http://127.0.0.1:2 | 
      on. 
     |  | enabled = true, mode = 'plan'
      on. 
     |  | enabled = true, mode = 'yolo'
      on. conversations start in a mode that does not ask about everything (/c.toml:2:8). Mode yolo: the agent changes files and runs commands without asking. Nothing is reviewed.
     | QWEN_IDE_DAEMON_URL=https://127.0.0.1:4170/?token=hunter2 | 
      goes on without. there are no conversations with a daemon: wrong configuration (variable QWEN_IDE_DAEMON_URL): `https://127.0.0.1:4170` asks for TLS, which is not spoken to a daemon on this machine; use http:// and a daemon that was started without a certificate; forward a port (ssh -L) to reach one on another machine (restart the companion once it is corrected)
     | QWEN_IDE_DAEMON_URL=nonsense | mode = 'yolo'
      goes on without. there are no conversations with a daemon: wrong configuration (variable QWEN_IDE_DAEMON_URL): `nonsense` is not an address of the form http://127.0.0.1:4170; write it as the daemon prints it, for example http://127.0.0.1:4170 (restart the companion once it is corrected)
     |  | enabled = true, url = 'http://example.com'
      goes on without. there are no conversations with a daemon: wrong configuration (/c.toml:2:7): `example.com` is not a loopback address; only a daemon on this machine is used; forward a port (ssh -L) to reach another one (restart the companion once it is corrected)
     |  | enabled = true, token = 'hunter 2'
      goes on without. there are no conversations with a daemon: wrong configuration (/c.toml:2:9): the token has a character that cannot be sent in an HTTP header; `outrigger config` shows what is in force and where it comes from (restart the companion once it is corrected)
     |  | enabled = true, token = 'a', token-file = 'b'
      goes on without. there are no conversations with a daemon: wrong configuration (/c.toml:2:9): token and token-file are both set; `outrigger config` shows what is in force and where it comes from (restart the companion once it is corrected)
     |  | enabled = true, token-file = '/dev/null/t'
      goes on without. there are no conversations with a daemon: wrong configuration (/c.toml:2:14): cannot read /dev/null/t: Not a directory (os error 20); `outrigger config` shows what is in force and where it comes from (restart the companion once it is corrected)
     |  | enabled = true, mode = 'autoedit'
      goes on without. there are no conversations with a daemon: wrong configuration (/c.toml:2:8): there is no mode "autoedit"; known are plan, default, auto-edit, auto, yolo; did you mean `auto-edit`? (restart the companion once it is corrected)
     |  | enabled = true, model = ' '
      goes on without. there are no conversations with a daemon: wrong configuration (/c.toml:2:9): the name of the model is empty; `outrigger config` shows what is in force and where it comes from (restart the companion once it is corrected)
    {"url":"http://10.0.0.1:1"} |  | 
      goes on without. there are no conversations with a daemon: wrong configuration (settings of the editor): `10.0.0.1` is not a loopback address; only a daemon on this machine is used; forward a port (ssh -L) to reach another one (restart the companion once it is corrected)
    {"enabled":true,"mode":"wild"} |  | 
      goes on without. there are no conversations with a daemon: wrong configuration (settings of the editor): there is no mode "wild"; known are plan, default, auto-edit, auto, yolo; `outrigger config` shows what is in force and where it comes from (restart the companion once it is corrected)
    {"enabled":true,"token":"hunter2"} |  | 
      goes on without. there are no conversations with a daemon: wrong configuration (settings of the editor): `daemon.token` is not taken, because settings of editors are copied, shared and recorded: write the token to a file that only you can read, and name that in `daemon.tokenFile` (restart the companion once it is corrected)
    "yes" | QWEN_IDE_DAEMON_URL=http://127.0.0.1:2 | 
      goes on without. there are no conversations with a daemon: wrong configuration (settings of the editor): `daemon` has to be true, false or an object (restart the companion once it is corrected)
    --daemon-url http://127.0.0.1:1 |  | enabled = true, url = 'x'
      on. 
    --daemon-url x |  | 
      stops. wrong configuration (flag --daemon-url): `x` is not an address of the form http://127.0.0.1:4170; write it as the daemon prints it, for example http://127.0.0.1:4170
    "#);
}

#[test]
fn what_a_joining_editor_asks_for_is_compared_as_far_as_it_says_something() {
    let here = of_case(("--daemon", "", FILE));
    let nothing: &[&str] = &[];
    for (said, expected) in [
        (json!(true), nothing),
        (
            json!({ "url": "http://127.0.0.1:3/", "mode": "plan", "model": "m3" }),
            nothing,
        ),
        (json!({ "url": "http://127.0.0.1:4" }), &["another daemon"]),
        (json!({ "tokenFile": "/t" }), &["a token from elsewhere"]),
        (
            json!({ "mode": "yolo", "model": "m" }),
            &["mode plan, not yolo", "model m3, not m"],
        ),
    ] {
        let found = here.differences(&editor_layer(&said));
        assert_eq!(found, expected, "{said}");
    }
    let plain = settings(&DaemonLayer::default(), &[], "");
    let asked = json!({ "url": "http://127.0.0.1:4170", "mode": "default", "model": "m" });
    let found = plain.differences(&editor_layer(&asked));
    assert_eq!(found, ["the daemon's own model, not m"]);
}

#[test]
fn a_value_of_the_wrong_type_costs_conversations_and_stops_a_command_of_the_daemon() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    for (text, part) in [
        (
            "daemon = 3",
            "config.toml:1:10): `daemon` has to be a table",
        ),
        (
            "[daemon]\nenabled = 1",
            "config.toml:2:11): `enabled` has to be true or false",
        ),
        (
            "[daemon]\nenabled = true\nmode = 3\n",
            "config.toml:3:8): `mode` has to be a string",
        ),
        (
            "[daemon]\nenabled = true\nmodel = 3\n",
            "config.toml:3:9): `model` has to be a string",
        ),
        (
            "[daemon]\nenabled = true\ntoken = ['s3cret']\n",
            "config.toml:3:9): `token` has to be a string",
        ),
    ] {
        std::fs::write(&path, text).unwrap();
        let layer = user_file::layer(Some(&path)).unwrap().daemon;
        let none = DaemonLayer::default();
        let settings = DaemonSettings::from_layers([&layer, &none, &none]);
        let warning = settings.conversations().unwrap().warning().unwrap();
        let flags = DaemonOptions {
            url: None,
            token_file: None,
        };
        let refused = DaemonSettings::load(&flags, None, &|_| None, Some(&path));
        for said in [warning, refused.unwrap_err().to_string()] {
            assert!(said.contains(part), "{text}: {said}");
            assert!(!said.contains("s3cret"), "{said}");
        }
    }
    // Of conversations that nobody wants nothing is said, as with other mistakes about them.
    std::fs::write(&path, "[daemon]\nmode = 3\n").unwrap();
    let layer = user_file::layer(Some(&path)).unwrap().daemon;
    let none = DaemonLayer::default();
    let settings = DaemonSettings::from_layers([&layer, &none, &none]);
    assert_eq!(settings.conversations().unwrap().warning(), None);
}

#[test]
fn nothing_behind_the_port_of_an_address_is_shown() {
    for (url, shown) in [
        ("http://127.0.0.1:4170", "http://127.0.0.1:4170"),
        (" http://localhost:4170/ ", "http://localhost:4170"),
        ("http://127.0.0.1:4170/?token=s3cret", "not an address"),
        ("127.0.0.1:4170/s3cret", "not an address"),
        ("http://127.0.0.1:s3cret", "not an address"),
        ("http://me:s3cret@127.0.0.1:4170", "not an address"),
    ] {
        let table = format!("url = '{url}'");
        let settings = settings(&DaemonLayer::default(), &[], &table);
        let values = settings.shown().map(|setting| setting.value);
        let (_, value) = values
            .iter()
            .find(|(name, _)| *name == "daemon.url")
            .unwrap();
        assert!(value.starts_with(shown), "{url}: {value}");
        assert!(!format!("{values:?}").contains("s3cret"), "{values:?}");
    }
}
