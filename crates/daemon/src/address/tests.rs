use super::*;

fn kind(text: &str) -> String {
    match text.parse::<Address>() {
        Ok(address) => address.to_string(),
        Err(error) => {
            assert!(!error.hint().is_empty());
            let name = format!("{error:?}");
            name.split('(').next().unwrap().to_lowercase()
        }
    }
}

/// Every address that the published adapter was tried with, and more; where we differ, we refuse.
#[test]
fn the_loopback_rule_over_many_addresses() {
    let cases = [
        ("http://127.0.0.1:4170", "http://127.0.0.1:4170"),
        ("http://127.0.0.1:4170/", "http://127.0.0.1:4170"),
        ("https://127.0.0.1:4170", "tls"),
        ("HTTPS://localhost:4170", "tls"),
        ("https://example.com", "tls"),
        ("HTTP://localhost:4170", "http://localhost:4170"),
        ("http://LOCALHOST:4170", "http://localhost:4170"),
        ("http://localhost", "http://localhost:80"),
        ("http://localhost.:4170", "notloopback"),
        ("http://127.0.0.1.:4170", "notloopback"),
        ("http://[::1]:4170", "http://[::1]:4170"),
        ("http://[::1]", "http://[::1]:80"),
        ("http://[0:0:0:0:0:0:0:1]:4170", "http://[::1]:4170"),
        ("http://[::ffff:127.0.0.1]:4170", "mapped"),
        ("http://[::ffff:7f00:1]:4170", "mapped"),
        ("http://[::ffff:10.0.0.1]:4170", "mapped"),
        ("http://[::127.0.0.1]:4170", "notloopback"),
        ("http://127.1:4170", "notloopback"),
        ("http://127.0.0.2:4170", "http://127.0.0.2:4170"),
        ("http://127.255.255.255", "http://127.255.255.255:80"),
        ("http://2130706433:4170", "notloopback"),
        ("http://0x7f000001:4170", "notloopback"),
        ("http://0177.0.0.1:4170", "notloopback"),
        ("http://0.0.0.0:4170", "notloopback"),
        ("http://[::]:4170", "notloopback"),
        ("http://[fe80::1]:4170", "notloopback"),
        ("http://10.0.0.1:4170", "notloopback"),
        ("http://example.com", "notloopback"),
        ("http://localhost.example.com", "notloopback"),
        ("http://127.0.0.1.example.com", "notloopback"),
        ("http://foo.localhost:4170", "notloopback"),
        ("http://host.docker.internal:4170", "notloopback"),
        ("http://user@127.0.0.1:4170", "credentials"),
        ("http://:pass@127.0.0.1:4170", "credentials"),
        ("http://@127.0.0.1:4170", "credentials"),
        ("http://127.0.0.1:4170@evil.example", "credentials"),
        ("http://127.0.0.1:4170/base/path", "tail"),
        ("http://127.0.0.1:4170//", "tail"),
        ("http://127.0.0.1:4170/?q=1#frag", "tail"),
        ("http://127.0.0.1:4170?q", "tail"),
        ("http://127.0.0.1:4170#frag", "tail"),
        ("http://127.0.0.1\\@evil.example", "credentials"),
        ("http://127.0.0.1\\evil.example", "tail"),
        ("http://127.0.0.1:99999", "port"),
        ("http://127.0.0.1:0", "port"),
        ("http://127.0.0.1:+80", "port"),
        ("http://127.0.0.1:", "port"),
        ("http://127.0.0.1:4170:1", "port"),
        ("http://127.0.0.256:4170", "notloopback"),
        ("ftp://127.0.0.1", "scheme"),
        ("ws://127.0.0.1:4170", "scheme"),
        ("file:///tmp/x", "scheme"),
        ("unix:/tmp/s", "unreadable"),
        ("127.0.0.1:4170", "unreadable"),
        ("localhost:4170", "unreadable"),
        ("", "unreadable"),
        ("http://", "unreadable"),
        ("http://:4170", "unreadable"),
        ("http:127.0.0.1:4170", "unreadable"),
        ("http:\\\\127.0.0.1:4170", "unreadable"),
        ("  http://127.0.0.1:4170  ", "http://127.0.0.1:4170"),
        ("http://127.0.0.1:4170\n", "http://127.0.0.1:4170"),
        ("http://127。0。0。1:4170", "notloopback"),
        ("http://[::1%25lo]:4170", "unreadable"),
        ("http://[::1]x:4170", "unreadable"),
        ("http://[::1", "unreadable"),
    ];
    for (text, expected) in cases {
        assert_eq!(kind(text), expected, "{text:?}");
    }
}

#[test]
fn localhost_is_pinned_and_never_looked_up() {
    let address: Address = "http://localhost:4170".parse().unwrap();
    let targets = address.targets();
    assert_eq!(
        targets,
        [
            "127.0.0.1:4170".parse().unwrap(),
            "[::1]:4170".parse().unwrap()
        ]
    );
    assert_eq!(address.authority(), "localhost:4170");
}

#[test]
fn why_there_is_no_tls_is_said() {
    let error = "https://127.0.0.1:4170".parse::<Address>().unwrap_err();
    assert_eq!(
        format!("{error}; {}", error.hint()),
        "`https://127.0.0.1:4170` asks for TLS, which is not spoken to a daemon on this machine; \
         use http:// and a daemon that was started without a certificate; \
         forward a port (ssh -L) to reach one on another machine"
    );
}

#[test]
fn an_error_never_repeats_a_password() {
    for text in [
        "http://me:hunter2@evil.example/x",
        "https://me:hunter2@h",
        "me:hunter2@h",
        "http://127.0.0.1:4170/?token=hunter2",
        "http://127.0.0.1:4170/hunter2",
        "http://127.0.0.1:4170#hunter2",
        "https://127.0.0.1:4170/hunter2",
        "ftp://127.0.0.1:4170?token=hunter2",
        "127.0.0.1:4170?token=hunter2",
        "127.0.0.1:4170/hunter2",
        "http://:4170/hunter2",
        "127.0.0.1:4170/hunter2://x",
        "http:\\\\127.0.0.1\\hunter2",
    ] {
        let error = text.parse::<Address>().unwrap_err();
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
}
