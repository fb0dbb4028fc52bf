//! The name of this machine.

/// The name of this machine, if it has one.
#[cfg(unix)]
pub fn machine_name() -> Option<String> {
    let names = rustix::system::uname();
    let name = names.nodename().to_str().ok()?;
    (!name.is_empty()).then(|| name.to_owned())
}

/// The name of this machine, if it has one.
#[cfg(not(unix))]
pub fn machine_name() -> Option<String> {
    // Windows sets this for every process of a person.
    std::env::var("COMPUTERNAME")
        .ok()
        .filter(|name| !name.is_empty())
}
