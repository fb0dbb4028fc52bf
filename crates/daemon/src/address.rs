//! Where a daemon may be: on this machine, and nowhere else.
//!
//! A bearer token goes out with every request, so the address decides who gets to see it. The rule
//! is therefore narrower than what a browser would accept: plain HTTP, a loopback address written
//! out in full or the name `localhost`, an optional port, and nothing behind it. Names are never
//! looked up; `localhost` *means* `127.0.0.1` and `::1` here, whatever a hosts file says.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

/// The port of `http` if the address has none.
const HTTP_PORT: u16 = 80;

/// The validated address of a daemon. It is always a loopback address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    host: Host,
    port: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Host {
    Localhost,
    Ip(IpAddr),
}

/// Why a text is not the address of a daemon.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Not a URL of the form `http://host:port`.
    #[error("`{0}` is not an address of the form http://127.0.0.1:4170")]
    Unreadable(String),
    /// The scheme is not `http`.
    #[error("`{0}` does not start with http://")]
    Scheme(String),
    /// The scheme is `https`. The connection never leaves the machine, and who listens there is
    /// checked in another way; a certificate for a loopback address proves nothing.
    #[error("`{0}` asks for TLS, which is not spoken to a daemon on this machine")]
    Tls(String),
    /// It contains a user name or a password.
    #[error("the daemon's address must not contain a user name or password")]
    Credentials,
    /// It has a path, a query or a fragment, which may hold a secret and is left out here.
    #[error("something follows `{0}`, where the address must end")]
    Tail(String),
    /// The port is not a number from 1 to 65535.
    #[error("`{0}` is not a port")]
    Port(String),
    /// An IPv4 address mapped into IPv6.
    #[error("`{0}` is an IPv4 address written as IPv6")]
    Mapped(Ipv6Addr),
    /// The address of another machine, or of all interfaces of this one.
    #[error("`{0}` is not a loopback address")]
    NotLoopback(String),
}

impl AddressError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable(_) | Self::Port(_) => {
                "write it as the daemon prints it, for example http://127.0.0.1:4170"
            }
            Self::Scheme(_) => "the daemon is reached over plain HTTP on this machine: use http://",
            Self::Tls(_) => {
                "use http:// and a daemon that was started without a certificate; \
                 forward a port (ssh -L) to reach one on another machine"
            }
            Self::Credentials => "give the token in its own setting, not in the address",
            Self::Tail(_) => "remove everything behind the port",
            Self::Mapped(_) => "write the IPv4 address itself, for example http://127.0.0.1:4170",
            Self::NotLoopback(_) => {
                "only a daemon on this machine is used; forward a port (ssh -L) to reach another one"
            }
        }
    }
}

impl Address {
    /// `127.0.0.1` with `port`.
    pub fn local(port: u16) -> Address {
        Address {
            host: Host::Ip(Ipv4Addr::LOCALHOST.into()),
            port,
        }
    }

    /// The port number.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Host and port, as in a `Host` header.
    pub fn authority(&self) -> String {
        match self.host {
            Host::Localhost => format!("localhost:{}", self.port),
            Host::Ip(ip) => SocketAddr::new(ip, self.port).to_string(),
        }
    }

    /// Host and port in each of the usual ways to write a loopback address. The sanitiser hides all
    /// of them.
    pub(crate) fn spellings(&self) -> Vec<String> {
        let hosts = ["localhost", "127.0.0.1", "[::1]"];
        let usual = hosts.iter().map(|host| format!("{host}:{}", self.port));
        usual.chain([self.authority()]).collect()
    }

    /// The socket addresses to try, in order. Each is a loopback address, by construction.
    pub(crate) fn targets(&self) -> Vec<SocketAddr> {
        let ips = match self.host {
            Host::Localhost => vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()],
            Host::Ip(ip) => vec![ip],
        };
        ips.into_iter()
            .map(|ip| SocketAddr::new(ip, self.port))
            .collect()
    }
}

impl Default for Address {
    /// The address that `qwen serve` listens on by default.
    fn default() -> Self {
        Self::local(4170)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}", self.authority())
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        // First, because every other error repeats the text and would show a password. No valid
        // address contains this character.
        if text.contains('@') {
            return Err(AddressError::Credentials);
        }
        // What stands behind host and port may be a secret, and no error repeats it.
        let ends = ['/', '?', '#', '\\'];
        let parts = text.split_once("://");
        let parts = parts.filter(|(scheme, _)| !scheme.contains(ends));
        let (scheme, rest) = parts.ok_or_else(|| {
            let shown = text.split(ends).next().unwrap_or_default();
            AddressError::Unreadable(shown.into())
        })?;
        let end = rest.find(ends).unwrap_or(rest.len());
        let (authority, tail) = rest.split_at(end);
        let shown = format!("{scheme}://{authority}");
        let unreadable = || AddressError::Unreadable(shown.clone());
        if scheme.eq_ignore_ascii_case("https") {
            return Err(AddressError::Tls(shown));
        }
        if !scheme.eq_ignore_ascii_case("http") {
            return Err(AddressError::Scheme(shown));
        }
        if !matches!(tail, "" | "/") {
            return Err(AddressError::Tail(shown));
        }
        let (host, port) = if let Some(inner) = authority.strip_prefix('[') {
            let (ip, port) = inner.split_once(']').ok_or_else(unreadable)?;
            let ip: Ipv6Addr = ip.parse().map_err(|_| unreadable())?;
            (
                loopback_v6(ip)?,
                port.strip_prefix(':').or(port.is_empty().then_some("")),
            )
        } else {
            let (name, port) = authority.split_once(':').unwrap_or((authority, ""));
            (
                host(name).ok_or_else(|| not_loopback(name, unreadable))?,
                Some(port),
            )
        };
        let port = match port.ok_or_else(unreadable)? {
            "" if authority.ends_with(':') => return Err(AddressError::Port(String::new())),
            "" => HTTP_PORT,
            digits => parse_port(digits).ok_or_else(|| AddressError::Port(digits.into()))?,
        };
        Ok(Self { host, port })
    }
}

/// `localhost`, or a loopback IPv4 address in dotted decimal form.
///
/// The parser of the standard library rejects short, octal and hexadecimal forms.
fn host(name: &str) -> Option<Host> {
    if name.eq_ignore_ascii_case("localhost") {
        return Some(Host::Localhost);
    }
    let ip: Ipv4Addr = name.parse().ok()?;
    ip.is_loopback().then_some(Host::Ip(ip.into()))
}

fn loopback_v6(ip: Ipv6Addr) -> Result<Host, AddressError> {
    if ip.to_ipv4_mapped().is_some() {
        return Err(AddressError::Mapped(ip));
    }
    if ip.is_loopback() {
        return Ok(Host::Ip(ip.into()));
    }
    Err(AddressError::NotLoopback(ip.to_string()))
}

fn not_loopback(name: &str, unreadable: impl FnOnce() -> AddressError) -> AddressError {
    if name.is_empty() {
        return unreadable();
    }
    AddressError::NotLoopback(name.into())
}

fn parse_port(digits: &str) -> Option<u16> {
    // `parse` alone would accept a leading plus sign.
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|port| plain && *port != 0)
}

#[cfg(test)]
mod tests;
