//! Settings that an agent needs in the person's own file, put there if they agree.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use companion::agents::settings_with;
use private::Unreadable;
use serde_json::Value;

/// The ending of the copy of a file as it was.
const COPY: &str = "before-outrigger";

/// A larger file is not one of settings.
const LARGEST: u64 = 1 << 20;

/// Settings to put into the person's own file.
#[derive(Debug)]
pub(super) struct Switch {
    pub(super) file: PathBuf,
    pub(super) settings: Value,
    /// What the person does if they do not agree, in words.
    pub(super) by_hand: &'static str,
}

impl Switch {
    /// Puts the settings into the file, and returns the copy of what was there, if anything was.
    /// `home` is the only folder that a link may lead to.
    pub(super) fn apply(&self, home: Option<&Path>) -> Result<Option<PathBuf>, String> {
        let file = self.target(home)?;
        let shown = file.display();
        let before = match private::read_regular(&file, LARGEST) {
            Ok(bytes) => {
                let text = String::from_utf8(bytes);
                Some(text.map_err(|_| format!("{shown} is not UTF-8 text"))?)
            }
            Err(error) if error.is_absent() => None,
            Err(Unreadable::Io(error)) => return Err(format!("cannot read {shown}: {error}")),
            Err(_) => return Err(format!("{shown} is not a file of settings")),
        };
        let after = settings_with(before.as_deref().unwrap_or_default(), &self.settings)
            .map_err(|error| format!("cannot change {shown}: {error}"))?;
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)
                .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        }
        let copy = match before {
            Some(before) if before == after => return Ok(None),
            Some(before) => Some(keep(&file, &before)?),
            None => None,
        };
        private::replace(&file, after.as_bytes()).map_err(|error| error.to_string())?;
        Ok(copy)
    }

    /// The file behind a link, which people have who keep their settings elsewhere.
    fn target(&self, home: Option<&Path>) -> Result<PathBuf, String> {
        let is_link = fs::symlink_metadata(&self.file).is_ok_and(|it| it.is_symlink());
        if !is_link {
            return Ok(self.file.clone());
        }
        let shown = self.file.display();
        let target = self.file.canonicalize();
        let target = target.map_err(|error| format!("cannot follow {shown}: {error}"))?;
        let home = home.and_then(|home| home.canonicalize().ok());
        if home.is_some_and(|home| target.starts_with(home)) {
            Ok(target)
        } else {
            Err(format!("{shown} leads out of your home folder"))
        }
    }
}

/// Keeps what a file was, beside it. A copy from an earlier time is kept: it is older, and so nearer
/// to what the person wrote.
fn keep(file: &Path, text: &str) -> Result<PathBuf, String> {
    let mut name = file.file_name().map(OsString::from).unwrap_or_default();
    name.push(".");
    name.push(COPY);
    let copy = file.with_file_name(name);
    if !copy.exists() {
        private::replace(&copy, text.as_bytes()).map_err(|error| error.to_string())?;
    }
    Ok(copy)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn switch(file: PathBuf) -> Switch {
        Switch {
            file,
            settings: json!({ "ide": { "enabled": true } }),
            by_hand: "",
        }
    }

    #[test]
    fn a_file_is_made_where_there_is_none() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(".agent/settings.json");
        assert_eq!(switch(file.clone()).apply(Some(home.path())), Ok(None));
        assert!(
            fs::read_to_string(file)
                .unwrap()
                .contains("\"enabled\": true")
        );
    }

    #[test]
    fn what_was_there_is_kept_and_a_second_time_changes_nothing() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("settings.json");
        fs::write(&file, "{} // mine\n").unwrap();
        let copy = switch(file.clone())
            .apply(Some(home.path()))
            .unwrap()
            .unwrap();
        assert_eq!(fs::read_to_string(copy).unwrap(), "{} // mine\n");
        let after = fs::read_to_string(&file).unwrap();
        assert!(
            after.ends_with("// mine\n") && after.contains("\"enabled\": true"),
            "{after}"
        );
        assert_eq!(switch(file.clone()).apply(Some(home.path())), Ok(None));
        assert_eq!(fs::read_to_string(&file).unwrap(), after);
    }

    #[test]
    fn what_cannot_be_changed_stays_as_it_is() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("settings.json");
        for text in ["{ not settings", "[]", "{\"ide\":true}"] {
            fs::write(&file, text).unwrap();
            let refused = switch(file.clone()).apply(Some(home.path())).unwrap_err();
            assert!(refused.starts_with("cannot change"), "{refused}");
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_followed_inside_the_home_folder_only() {
        let home = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let (inside, outside) = (home.path().join("dotfile"), elsewhere.path().join("file"));
        let link = home.path().join("settings.json");
        for target in [&inside, &outside] {
            fs::write(target, "{}").unwrap();
            let _ = fs::remove_file(&link);
            std::os::unix::fs::symlink(target, &link).unwrap();
            let done = switch(link.clone()).apply(Some(home.path()));
            assert_eq!(done.is_ok(), *target == inside, "{done:?}");
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        }
        assert_eq!(fs::read_to_string(&outside).unwrap(), "{}");
        assert!(fs::read_to_string(&inside).unwrap().contains("ide"));
    }
}
