//! A loopback proxy for clients that cannot be told a token.
//!
//! It adds `Authorization` to each request and names the server behind it in `Host` and `Origin`
//! where the client named the proxy. Any other `Host` or `Origin` goes through as it is: what the
//! server does about a foreign one is the server's business, and worth testing.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// A running proxy; it ends with the test process.
pub struct Proxy {
    port: u16,
}

/// Where requests go and what is added to them.
struct Route {
    /// The proxy's own authority, as a client writes it.
    from: String,
    /// The server's authority.
    to: String,
    token: String,
}

impl Proxy {
    /// Starts a proxy in front of the server on `port`.
    pub fn start(port: u16, token: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = listener.local_addr().unwrap().port();
        let route = Arc::new(Route {
            from: format!("127.0.0.1:{own}"),
            to: format!("127.0.0.1:{port}"),
            token: token.to_owned(),
        });
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let route = route.clone();
                thread::spawn(move || route.carry(client));
            }
        });
        Self { port: own }
    }

    /// The address of a path on the server, through the proxy.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

impl Route {
    /// Carries one request; `Connection: close` makes sure that it is the only one.
    fn carry(&self, client: TcpStream) -> io::Result<()> {
        let mut server = TcpStream::connect(&self.to)?;
        let mut request = BufReader::new(client.try_clone()?);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if request.read_line(&mut head)? == 0 {
                return Ok(());
            }
        }
        server.write_all(self.rewrite(&head).as_bytes())?;
        let mut upstream = server.try_clone()?;
        thread::spawn(move || {
            // The end of the client's half is the end of the exchange for either side.
            let _ = io::copy(&mut request, &mut upstream);
            let _ = upstream.shutdown(Shutdown::Write);
        });
        let mut client = client;
        let copied = io::copy(&mut server, &mut client);
        let _ = client.shutdown(Shutdown::Both);
        copied.map(drop)
    }

    fn rewrite(&self, head: &str) -> String {
        let mut lines = head.trim_end().split("\r\n");
        let mut rewritten = format!("{}\r\n", lines.next().unwrap_or_default());
        for line in lines {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            let value = match name.to_ascii_lowercase().as_str() {
                "connection" | "authorization" => continue,
                "host" | "origin" => value.replace(&self.from, &self.to),
                _ => value.to_owned(),
            };
            rewritten += &format!("{name}:{value}\r\n");
        }
        let token = &self.token;
        rewritten + &format!("Connection: close\r\nAuthorization: Bearer {token}\r\n\r\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_proxys_own_name_is_replaced() {
        let route = Route {
            from: "127.0.0.1:1".into(),
            to: "127.0.0.1:2".into(),
            token: "t".into(),
        };
        let added = "Connection: close\r\nAuthorization: Bearer t\r\n\r\n";
        for (given, sent) in [
            ("Host: 127.0.0.1:1\r\n", "Host: 127.0.0.1:2\r\n"),
            ("host: evil.example\r\n", "host: evil.example\r\n"),
            (
                "Origin: http://127.0.0.1:1\r\n",
                "Origin: http://127.0.0.1:2\r\n",
            ),
            ("Connection: keep-alive\r\nX: 1\r\n", "X: 1\r\n"),
        ] {
            assert_eq!(
                route.rewrite(&format!("POST /mcp HTTP/1.1\r\n{given}\r\n")),
                format!("POST /mcp HTTP/1.1\r\n{sent}{added}")
            );
        }
    }
}
