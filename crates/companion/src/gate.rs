//! Access control: checked on the headers alone, before a single byte of a body is read.
//!
//! The order is Host, Origin, bearer. The first two stop web pages in the person's own
//! browser (by DNS rebinding or a plain cross-site request), the last one stops every
//! other program and user of the machine.

use axum::Json;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::token::Token;

/// Names under which a client can have reached a server on loopback.
///
/// The last one is what agents use inside a container to reach the host.
const HOSTS: [&str; 3] = ["127.0.0.1", "localhost", "host.docker.internal"];

/// Why a request is denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// The `Host` header does not name this server.
    #[error("invalid Host header")]
    Host,
    /// The request comes from a web page that is not ours.
    #[error("requests from other origins are denied")]
    Origin,
    /// No bearer, or a wrong one.
    #[error("missing or wrong bearer token; read it from the discovery file of this port")]
    Bearer,
}

impl IntoResponse for Denied {
    fn into_response(self) -> Response {
        let status = match self {
            Denied::Host | Denied::Origin => StatusCode::FORBIDDEN,
            Denied::Bearer => StatusCode::UNAUTHORIZED,
        };
        let why = self.to_string();
        (status, Json(serde_json::json!({ "error": why }))).into_response()
    }
}

/// Checks address and bearer token of a request, and says whose token it presents.
pub fn admit<K: Copy>(headers: &HeaderMap, port: u16, keys: &[(K, Token)]) -> Result<K, Denied> {
    check_address(headers, port)?;
    let presented = bearer(headers).ok_or(Denied::Bearer)?;
    // Every key is compared, so that the time does not tell which one was nearly right.
    keys.iter()
        .filter(|(_, token)| token.matches(presented))
        .fold(None, |_, (owner, _)| Some(*owner))
        .ok_or(Denied::Bearer)
}

/// Checks that a request is meant for this server and does not come from a foreign page.
pub fn check_address(headers: &HeaderMap, port: u16) -> Result<&str, Denied> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return Err(Denied::Host);
    };
    let host = host.to_str().map_err(|_| Denied::Host)?;
    let named = host
        .rsplit_once(':')
        .filter(|(_, given)| *given == port.to_string())
        .map(|(name, _)| name)
        .ok_or(Denied::Host)?;
    if !HOSTS.iter().any(|known| named.eq_ignore_ascii_case(known)) {
        return Err(Denied::Host);
    }
    for origin in headers.get_all(header::ORIGIN) {
        let ours = origin
            .to_str()
            .ok()
            .and_then(|origin| origin.strip_prefix("http://"))
            .is_some_and(|authority| authority.eq_ignore_ascii_case(host));
        if !ours {
            return Err(Denied::Origin);
        }
    }
    Ok(host)
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::{HeaderName, HeaderValue};

    fn headers(lines: &[(&str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in lines {
            map.append(
                HeaderName::from_bytes(name.as_bytes()).unwrap(),
                HeaderValue::from_str(value).unwrap(),
            );
        }
        map
    }

    #[test]
    fn only_our_own_address_passes() {
        use Denied::{Host, Origin};
        type Case = (
            &'static [(&'static str, &'static str)],
            Result<&'static str, Denied>,
        );
        let table: &[Case] = &[
            (&[("host", "127.0.0.1:7")], Ok("127.0.0.1:7")),
            (&[("host", "LOCALHOST:7")], Ok("LOCALHOST:7")),
            (
                &[("host", "host.docker.internal:7")],
                Ok("host.docker.internal:7"),
            ),
            (&[], Err(Host)),
            (&[("host", "127.0.0.1")], Err(Host)),
            (&[("host", "127.0.0.1:8")], Err(Host)),
            (&[("host", "127.0.0.1:7x")], Err(Host)),
            (&[("host", "127.0.0.1:+7")], Err(Host)),
            (&[("host", "evil.example:7")], Err(Host)),
            (&[("host", "127.0.0.1.evil.example:7")], Err(Host)),
            (&[("host", "[::1]:7")], Err(Host)),
            (
                &[("host", "127.0.0.1:7"), ("host", "evil.example")],
                Err(Host),
            ),
            (
                &[("host", "127.0.0.1:7"), ("origin", "http://127.0.0.1:7")],
                Ok("127.0.0.1:7"),
            ),
            (
                &[("host", "127.0.0.1:7"), ("origin", "http://localhost:7")],
                Err(Origin),
            ),
            (
                &[("host", "127.0.0.1:7"), ("origin", "https://127.0.0.1:7")],
                Err(Origin),
            ),
            (
                &[("host", "127.0.0.1:7"), ("origin", "http://127.0.0.1:8")],
                Err(Origin),
            ),
            (&[("host", "127.0.0.1:7"), ("origin", "null")], Err(Origin)),
            (&[("host", "127.0.0.1:7"), ("origin", "")], Err(Origin)),
        ];
        for (lines, expected) in table {
            assert_eq!(check_address(&headers(lines), 7), *expected, "{lines:?}");
        }
    }

    #[test]
    fn the_key_says_who_is_there() {
        let (a, b) = (Token::random().unwrap(), Token::random().unwrap());
        let keys = [('a', a.clone()), ('b', b.clone())];
        let admit = |value: &str| {
            admit(
                &headers(&[("host", "localhost:7"), ("authorization", value)]),
                7,
                &keys,
            )
        };
        assert_eq!(admit(&format!("Bearer {}", a.expose())), Ok('a'));
        assert_eq!(admit(&format!("bearer  {}", b.expose())), Ok('b'));
        for wrong in [
            "",
            "Bearer",
            "Bearer ",
            &format!("Basic {}", a.expose()),
            a.expose(),
            "Bearer x",
        ] {
            assert_eq!(admit(wrong), Err(Denied::Bearer), "{wrong}");
        }
        assert_eq!(
            super::admit(&headers(&[("host", "localhost:7")]), 7, &keys),
            Err(Denied::Bearer)
        );
    }
}
