//! What the rules of discovery need to know about the machine they run on.
//!
//! [`Surroundings::capture`] is the only place in this crate that reads the real environment
//! variables and the `.env` files that extend them. The rules take a [`Surroundings`], so that each
//! of them can be tested against a machine that exists only in a table.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fmt};

/// The variables that decide where an agent looks. No others are kept, because an environment
/// often contains secrets.
const VARIABLES: [&str; 8] = [
    "DARWIN_USER_TEMP_DIR",
    "QWEN_HOME",
    "QWEN_RUNTIME_DIR",
    "SystemRoot",
    "TEMP",
    "TMP",
    "TMPDIR",
    "windir",
];

/// The largest `.env` file that is read; files that people write by hand are smaller.
const DOTENV_LIMIT: u64 = 1 << 20;

/// The kind of operating system, as far as the rules differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// Linux and every other Unix that is not macOS.
    Unix,
    /// macOS, where each user has a temporary folder of their own.
    MacOs,
    /// Windows.
    Windows,
}

impl System {
    /// The system that this program was built for.
    pub const fn current() -> System {
        if cfg!(windows) {
            System::Windows
        } else if cfg!(target_os = "macos") {
            System::MacOs
        } else {
            System::Unix
        }
    }
}

/// The machine as the rules of discovery see it.
#[derive(Clone, PartialEq, Eq)]
pub struct Surroundings {
    /// The kind of operating system.
    pub system: System,
    /// The home folder, if there is one.
    pub home: Option<PathBuf>,
    /// The environment variables that matter to the rules.
    pub vars: BTreeMap<String, String>,
    /// The current folder, against which relative paths in variables are resolved.
    pub folder: PathBuf,
    /// The temporary folder of agents whose environment names none: `/tmp`. Not used on
    /// Windows, where it depends on `SystemRoot`.
    pub tmp: PathBuf,
    /// The text of `~/.qwen/.env`, if there is such a file.
    pub qwen_dotenv: Option<String>,
    /// The text of `~/.env`, if there is such a file.
    pub home_dotenv: Option<String>,
}

impl Surroundings {
    /// A machine without any variables or `.env` files.
    pub fn new(home: Option<PathBuf>, folder: PathBuf) -> Surroundings {
        Surroundings {
            system: System::current(),
            home,
            vars: BTreeMap::new(),
            folder,
            tmp: PathBuf::from("/tmp"),
            qwen_dotenv: None,
            home_dotenv: None,
        }
    }

    /// Reads this machine's variables and `.env` files.
    pub fn capture() -> Surroundings {
        let home = env::home_dir().filter(|home| home.is_absolute());
        let dotenv = |below: &str| {
            home.as_ref()
                .and_then(|home| read_dotenv(&home.join(below)))
        };
        Surroundings {
            vars: VARIABLES
                .into_iter()
                // An agent on Node cannot use a value that is not Unicode either.
                .filter_map(|name| Some((name.to_owned(), env::var(name).ok()?)))
                .collect(),
            qwen_dotenv: dotenv(".qwen/.env"),
            home_dotenv: dotenv(".env"),
            ..Surroundings::new(home.clone(), env::current_dir().unwrap_or_default())
        }
    }

    /// The value of a variable, unless it is empty.
    pub(crate) fn var(&self, name: &str) -> Option<&str> {
        self.vars
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }
}

/// Shows everything but the text of the `.env` files, because they often contain secrets.
impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = |text: &Option<String>| text.as_ref().map(String::len);
        f.debug_struct("Surroundings")
            .field("system", &self.system)
            .field("home", &self.home)
            .field("vars", &self.vars)
            .field("folder", &self.folder)
            .field("tmp", &self.tmp)
            .field("qwen_dotenv bytes", &length(&self.qwen_dotenv))
            .field("home_dotenv bytes", &length(&self.home_dotenv))
            .finish()
    }
}

/// Reads a `.env` file, which may be a symlink into a dotfiles repository. Only regular files are
/// opened: some password managers put a pipe there whose reader makes them prompt the person.
fn read_dotenv(path: &Path) -> Option<String> {
    let bytes = private::read_regular(path, DOTENV_LIMIT).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_in_dotenv_files_do_not_show() {
        let surroundings = Surroundings {
            qwen_dotenv: Some("API_KEY=hunter2".into()),
            home_dotenv: Some("OTHER_KEY=hunter2".into()),
            ..Surroundings::new(None, "/".into())
        };
        assert!(!format!("{surroundings:?}").contains("hunter2"));
    }

    #[test]
    fn only_regular_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".env");
        assert_eq!(read_dotenv(&path), None);
        std::fs::write(&path, "A=ä\nB=1").unwrap();
        assert!(read_dotenv(&path).is_some());
        assert_eq!(read_dotenv(folder.path()), None);
        let large = "A=1\n".repeat(1 << 20);
        std::fs::write(&path, large).unwrap();
        assert_eq!(read_dotenv(&path), None);
    }

    #[test]
    fn the_real_machine_can_be_captured() {
        let surroundings = Surroundings::capture();
        assert!(surroundings.folder.is_absolute());
        assert!(
            surroundings
                .vars
                .keys()
                .all(|name| VARIABLES.contains(&name.as_str()))
        );
    }
}
