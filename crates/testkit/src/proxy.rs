//! A loopback proxy that stands between a client and the server under test.
//!
//! One kind is for clients that cannot be told a token: it adds `Authorization` to each request. The
//! other keeps all that the server ever sent, for those who want to know what must not be in it.
//! Both name the server behind them in `Host` and `Origin` where the client named the proxy. Any
//! other `Host` or `Origin` goes through as it is: what the server does about a foreign one is the
//! server's business, and worth testing.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A running proxy; it ends with the test process.
pub struct Proxy {
    port: u16,
    delivered: Delivered,
}

/// What the server has sent, exchange by exchange. `None` if nobody wants to know.
type Delivered = Option<Arc<Mutex<Vec<Vec<u8>>>>>;

/// Where requests go and what is done about them.
struct Route {
    /// The proxy's own authority, as a client writes it.
    from: String,
    /// The server's authority.
    to: String,
    /// What is added to each request. Without it clients show their own.
    token: Option<String>,
    delivered: Delivered,
}

impl Proxy {
    /// Starts a proxy in front of the server on `port` that shows this token.
    pub fn start(port: u16, token: &str) -> Self {
        Self::between(port, Some(token.to_owned()), None)
    }

    /// Starts a proxy in front of the server on `port` that keeps all that is delivered.
    pub fn recording(port: u16) -> Self {
        Self::between(port, None, Some(Arc::default()))
    }

    fn between(port: u16, token: Option<String>, delivered: Delivered) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = listener.local_addr().unwrap().port();
        let route = Arc::new(Route {
            from: format!("127.0.0.1:{own}"),
            to: format!("127.0.0.1:{port}"),
            token,
            delivered: delivered.clone(),
        });
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let route = route.clone();
                thread::spawn(move || route.carry(client));
            }
        });
        Self {
            port: own,
            delivered,
        }
    }

    /// The address of a path on the server, through the proxy.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// All that clients have received so far, of a proxy that keeps it.
    pub fn delivered(&self) -> String {
        let delivered = self.delivered.as_ref().unwrap().lock().unwrap();
        String::from_utf8_lossy(&delivered.join(&b'\n')).into_owned()
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
        let copied = self.deliver(&mut server, &mut client);
        let _ = client.shutdown(Shutdown::Both);
        copied
    }

    /// Delivers what the server sends, to its end. What is kept is kept before it is delivered, so
    /// nobody has ever seen more.
    fn deliver(&self, server: &mut TcpStream, client: &mut TcpStream) -> io::Result<()> {
        let Some(delivered) = &self.delivered else {
            return io::copy(server, client).map(drop);
        };
        let place = {
            let mut exchanges = delivered.lock().unwrap();
            exchanges.push(Vec::new());
            exchanges.len() - 1
        };
        let mut bytes = [0; 8192];
        loop {
            let size = server.read(&mut bytes)?;
            if size == 0 {
                return Ok(());
            }
            delivered.lock().unwrap()[place].extend_from_slice(&bytes[..size]);
            client.write_all(&bytes[..size])?;
        }
    }

    fn rewrite(&self, head: &str) -> String {
        let mut lines = head.trim_end().split("\r\n");
        let mut rewritten = format!("{}\r\n", lines.next().unwrap_or_default());
        for line in lines {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            let value = match name.to_ascii_lowercase().as_str() {
                "connection" => continue,
                "authorization" if self.token.is_some() => continue,
                "host" | "origin" => value.replace(&self.from, &self.to),
                _ => value.to_owned(),
            };
            rewritten += &format!("{name}:{value}\r\n");
        }
        rewritten += "Connection: close\r\n";
        if let Some(token) = &self.token {
            rewritten += &format!("Authorization: Bearer {token}\r\n");
        }
        rewritten + "\r\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(token: Option<&str>) -> Route {
        Route {
            from: "127.0.0.1:1".into(),
            to: "127.0.0.1:2".into(),
            token: token.map(str::to_owned),
            delivered: None,
        }
    }

    #[test]
    fn only_the_proxys_own_name_is_replaced() {
        let added = "Connection: close\r\nAuthorization: Bearer t\r\n\r\n";
        for (given, sent) in [
            ("Host: 127.0.0.1:1\r\n", "Host: 127.0.0.1:2\r\n"),
            ("host: evil.example\r\n", "host: evil.example\r\n"),
            (
                "Origin: http://127.0.0.1:1\r\n",
                "Origin: http://127.0.0.1:2\r\n",
            ),
            ("Connection: keep-alive\r\nX: 1\r\n", "X: 1\r\n"),
            ("Authorization: Bearer mine\r\n", ""),
        ] {
            assert_eq!(
                route(Some("t")).rewrite(&format!("POST /mcp HTTP/1.1\r\n{given}\r\n")),
                format!("POST /mcp HTTP/1.1\r\n{sent}{added}")
            );
        }
    }

    #[test]
    fn without_a_token_clients_show_their_own() {
        let head = "GET / HTTP/1.1\r\nAuthorization: Bearer mine\r\n";
        assert_eq!(
            route(None).rewrite(&format!("{head}\r\n")),
            format!("{head}Connection: close\r\n\r\n")
        );
    }
}
