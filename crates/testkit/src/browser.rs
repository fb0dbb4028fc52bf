//! A real Chromium with nobody in front of it, and the person's hands and eyes on its pages.
//!
//! It is driven by `chromedriver`, in a home of its own, and can reach nothing but this machine.

use std::fmt::{self, Display, Formatter};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use fantoccini::wd::{TimeoutConfiguration, WindowHandle};
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::waiting::wait_within;
use crate::{PATIENCE, wait_for};

/// What keeps Chromium to itself: no sandbox, because the tests may run as root in a container; no
/// network but loopback; nothing in the background.
const FLAGS: [&str; 12] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-background-timer-throttling",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
];

/// What chromedriver says when it is ready, before its port.
const READY: &str = "started successfully on port ";

/// The texts of the elements that match and of which every line is drawn, in the window, and covered
/// by nothing. What is in closed details has a box all the same, so that is asked first.
const IN_SIGHT: &str = "const isInSight = element => { \
        const text = document.createRange(); \
        text.selectNodeContents(element); \
        const lines = [...text.getClientRects()]; \
        const isRead = ({ x, y, width, height }) => \
            element.contains(document.elementFromPoint(x + width / 2, y + height / 2)); \
        const isDrawn = { visibilityProperty: true, opacityProperty: true }; \
        return element.checkVisibility(isDrawn) && lines.length > 0 && lines.every(isRead); \
    }; \
    return [...document.querySelectorAll(arguments[0])].filter(isInSight).map(it => it.textContent)";

/// How often starting the driver is tried.
const TRIES: usize = 5;

/// How a browser looks at pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Whether the person prefers dark pages.
    pub dark: bool,
    /// The width of a page.
    pub width: u32,
    /// The height of a page.
    pub height: u32,
}

impl Look {
    /// A window on a desk, with light pages.
    pub const DESK: Look = Look {
        dark: false,
        width: 1280,
        height: 860,
    };

    /// A phone, with light pages.
    pub const PHONE: Look = Look {
        dark: false,
        width: 390,
        height: 844,
    };

    /// The same with dark pages.
    #[must_use]
    pub const fn in_the_dark(self) -> Look {
        Look { dark: true, ..self }
    }
}

/// A browser. Dropping it ends it.
pub struct Browser {
    client: Client,
    runtime: Runtime,
    driver: Child,
    /// Its home, which is removed after its end.
    _home: TempDir,
}

/// A tab of a browser.
#[derive(Clone, Debug)]
pub struct Tab(WindowHandle);

impl Browser {
    /// Starts a browser with one empty tab.
    ///
    /// # Panics
    /// When `chromium` and `chromedriver` are not installed, or do not start.
    #[track_caller]
    pub fn start(look: Look) -> Self {
        let home = tempfile::tempdir().unwrap();
        let (driver, port) = start_driver(&home);
        let mut flags: Vec<_> = FLAGS.map(str::to_owned).into();
        flags.push(format!(
            "--user-data-dir={}",
            home.path().join("profile").display()
        ));
        if look.dark {
            flags.push("--force-dark-mode".into());
        }
        // A window cannot be as narrow as a phone; what is shown in it can.
        let metrics = json!({ "width": look.width, "height": look.height, "pixelRatio": 1, "touch": false, "mobile": false });
        let options = json!({ "args": flags, "mobileEmulation": { "deviceMetrics": metrics } });
        let capabilities = json!({ "goog:chromeOptions": options });
        let Value::Object(capabilities) = capabilities else {
            unreachable!("it is one")
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let client = runtime
            .block_on(async {
                let client = ClientBuilder::new(HttpConnector::new())
                    .capabilities(capabilities)
                    .connect(&format!("http://127.0.0.1:{port}"))
                    .await?;
                let patience = TimeoutConfiguration::new(Some(PATIENCE), Some(PATIENCE), None);
                client.update_timeouts(patience).await.ok();
                Ok::<_, fantoccini::error::NewSessionError>(client)
            })
            .unwrap_or_else(|error| panic!("chromium does not start: {error}"));
        Self {
            client,
            runtime,
            driver,
            _home: home,
        }
    }

    /// Opens `url` in the current tab.
    #[track_caller]
    pub fn open(&self, url: &str) {
        self.wait(self.client.goto(url));
    }

    /// The address of the current tab.
    #[track_caller]
    pub fn address(&self) -> String {
        self.wait(self.client.current_url()).to_string()
    }

    /// The title of the current tab.
    #[track_caller]
    pub fn title(&self) -> String {
        self.wait(self.client.title())
    }

    /// The current tab.
    #[track_caller]
    pub fn tab(&self) -> Tab {
        Tab(self.wait(self.client.window()))
    }

    /// How many tabs there are.
    #[track_caller]
    pub fn tabs(&self) -> usize {
        self.wait(self.client.windows()).len()
    }

    /// Opens `url` in a new tab, which is the current one then.
    #[track_caller]
    pub fn open_tab(&self, url: &str) -> Tab {
        let opened = self.wait(self.client.new_window(true));
        let tab = Tab(opened.handle);
        self.switch_to(&tab);
        self.open(url);
        tab
    }

    /// Makes another tab the current one.
    #[track_caller]
    pub fn switch_to(&self, tab: &Tab) {
        self.wait(self.client.switch_to_window(tab.0.clone()));
    }

    /// Waits until something on the page matches.
    #[track_caller]
    pub fn wait_for(&self, css: &str) {
        self.wait_until(css, || self.count(css) > 0);
    }

    /// Waits until nothing on the page matches.
    #[track_caller]
    pub fn wait_for_no(&self, css: &str) {
        self.wait_until(&format!("no {css}"), || self.count(css) == 0);
    }

    /// Waits until the page satisfies `condition`.
    #[track_caller]
    pub fn wait_until(&self, what: &str, condition: impl Fn() -> bool) {
        wait_for(what, || condition().then_some(()), || self.to_string());
    }

    /// The same for something of which one attempt alone may take long.
    #[track_caller]
    pub fn wait_long_until(&self, what: &str, condition: impl Fn() -> bool) {
        let met = || condition().then_some(());
        wait_within(5 * PATIENCE, what, met, || self.to_string());
    }

    /// How many things on the page match.
    #[track_caller]
    pub fn count(&self, css: &str) -> usize {
        self.wait(self.client.find_all(Locator::Css(css))).len()
    }

    /// Clicks what matches, as soon as it can be clicked.
    #[track_caller]
    pub fn click(&self, css: &str) {
        self.wait_until(&format!("a click on {css}"), || {
            let clicked = async { self.client.find(Locator::Css(css)).await?.click().await };
            self.runtime.block_on(clicked).is_ok()
        });
    }

    /// Presses keys, one after the other, wherever the focus is.
    #[track_caller]
    pub fn press(&self, keys: &str) {
        self.wait(async { self.client.active_element().await?.send_keys(keys).await });
    }

    /// The texts of all that match, in order.
    #[track_caller]
    pub fn texts(&self, css: &str) -> Vec<String> {
        let script =
            "return [...document.querySelectorAll(arguments[0])].map(it => it.textContent)";
        let texts = self.run(script, vec![css.into()]);
        serde_json::from_value(texts).unwrap()
    }

    /// The texts of all that match and can be read as the page stands there, in order: nothing that is
    /// hidden, closed, scrolled away or covered.
    #[track_caller]
    pub fn texts_in_sight(&self, css: &str) -> Vec<String> {
        let texts = self.run(IN_SIGHT, vec![css.into()]);
        serde_json::from_value(texts).unwrap()
    }

    /// Runs a script in the page; what it returns.
    #[track_caller]
    pub fn run(&self, script: &str, arguments: Vec<Value>) -> Value {
        self.wait(self.client.execute(script, arguments))
    }

    /// Runs a script in the page that calls its last argument when it is done; with what.
    #[track_caller]
    pub fn run_until_done(&self, script: &str, arguments: Vec<Value>) -> Value {
        self.wait(self.client.execute_async(script, arguments))
    }

    /// A picture of the page, as PNG.
    #[track_caller]
    pub fn picture(&self) -> Vec<u8> {
        self.wait(self.client.screenshot())
    }

    #[track_caller]
    fn wait<T>(&self, asked: impl Future<Output = Result<T, fantoccini::error::CmdError>>) -> T {
        match self.runtime.block_on(asked) {
            Ok(value) => value,
            Err(error) => panic!("{error}"),
        }
    }
}

impl Display for Browser {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let script = "return location.href + '\\n' + document.body.innerText";
        let shown = self.client.execute(script, Vec::new());
        let shown = self.runtime.block_on(shown);
        let shown = shown.map_or_else(
            |error| error.to_string(),
            |text| text.as_str().unwrap_or_default().to_owned(),
        );
        write!(f, "--- page ---\n{shown}\n--- end of page ---")
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver ends what it has started; asked politely it also waits for that.
        let client = self.client.clone();
        let closed = async { tokio::time::timeout(PATIENCE, client.close()).await };
        let _ = self.runtime.block_on(closed);
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Starts the driver on a port of its own choice. It takes the same port on both loopback
/// addresses and gives up if one of them is in use, so it may take more than one try.
#[track_caller]
fn start_driver(home: &TempDir) -> (Child, u16) {
    let mut said = String::new();
    for _ in 0..TRIES {
        let (mut driver, lines) = spawn_driver(home);
        while let Ok(line) = lines.recv_timeout(PATIENCE) {
            if let Some((_, port)) = line.split_once(READY) {
                let port = port.trim_end().trim_end_matches('.');
                return (driver, port.parse().unwrap());
            }
            said += &line;
        }
        let _ = driver.kill();
        let _ = driver.wait();
    }
    panic!("chromedriver does not start: {said}");
}

/// Starts the driver; what it says, line by line.
#[track_caller]
fn spawn_driver(home: &TempDir) -> (Child, Receiver<String>) {
    let mut command = Command::new("chromedriver");
    command.arg("--port=0").env_clear();
    command.env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command.env("HOME", home.path()).env("TMPDIR", home.path());
    command.stdin(Stdio::null()).stderr(Stdio::null());
    let mut driver = command
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| {
            panic!("cannot start chromedriver: {error}; run `cargo xtask test`")
        });
    let mut stdout = BufReader::new(driver.stdout.take().unwrap());
    let (send, lines) = mpsc::channel();
    thread::spawn(move || {
        let mut line = String::new();
        // Read to the end even if nobody listens: it may never block on a full pipe.
        while stdout.read_line(&mut line).is_ok_and(|size| size > 0) {
            let _ = send.send(std::mem::take(&mut line));
        }
    });
    (driver, lines)
}
