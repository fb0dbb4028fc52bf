//! Which user is at the other end of a loopback connection.
//!
//! Every user of a machine can connect to 127.0.0.1, and the secret in a link can be read from the
//! argument list of the program that opens it. Linux tells whose a socket is; elsewhere nobody
//! knows.

use std::net::SocketAddr;

/// Who is at the other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// This user, or the administrator, who can read everything of ours anyway. Relays from another
    /// system, such as that of Windows into its Linux, run as administrator.
    ThisUser,
    /// Somebody else.
    AnotherUser,
    /// The system does not tell.
    Unknown,
}

/// Who is at the other end of a connection whose ends are `ours` and `theirs`. It reads a file of
/// the system, which takes longer the more connections the machine has.
pub fn peer(ours: SocketAddr, theirs: SocketAddr) -> Peer {
    platform::owner(ours, theirs).map_or(Peer::Unknown, |owner| {
        if owner == 0 || owner == platform::this_user() {
            Peer::ThisUser
        } else {
            Peer::AnotherUser
        }
    })
}

#[cfg(target_os = "linux")]
mod platform {
    use std::fs::File;
    use std::io::{BufRead, BufReader};
    use std::net::{IpAddr, SocketAddr};

    pub(super) fn this_user() -> u32 {
        rustix::process::geteuid().as_raw()
    }

    /// The owner of the socket at the other end.
    pub(super) fn owner(ours: SocketAddr, theirs: SocketAddr) -> Option<u32> {
        let table = if theirs.is_ipv4() { "tcp" } else { "tcp6" };
        let rows = BufReader::new(File::open(format!("/proc/net/{table}")).ok()?);
        let (ours, theirs) = (written(ours), written(theirs));
        rows.lines()
            .map_while(Result::ok)
            .find_map(|row| owner_in(&row, &theirs, &ours))
    }

    /// The owner that a row of the table names, if it is the row of the socket at `local` that is
    /// connected to `remote`.
    pub(super) fn owner_in(row: &str, local: &str, remote: &str) -> Option<u32> {
        let mut fields = row.split_ascii_whitespace().skip(1);
        let is_it = fields.next()? == local && fields.next()? == remote;
        // Between them: state, queues, timer, retransmissions.
        let owner = fields.nth(4)?;
        is_it.then(|| owner.parse().ok())?
    }

    /// An address as the table has it: each group of four bytes as one number of this machine.
    pub(super) fn written(address: SocketAddr) -> String {
        let bytes = match address.ip() {
            IpAddr::V4(ip) => ip.octets().to_vec(),
            IpAddr::V6(ip) => ip.octets().to_vec(),
        };
        let groups = bytes.chunks_exact(4).map(|group| {
            let group = group.try_into().unwrap_or_default();
            format!("{:08X}", u32::from_ne_bytes(group))
        });
        format!("{}:{:04X}", groups.collect::<String>(), address.port())
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use std::net::SocketAddr;

    pub(super) fn this_user() -> u32 {
        0
    }

    pub(super) fn owner(_ours: SocketAddr, _theirs: SocketAddr) -> Option<u32> {
        None
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn ones_own_connections_are_known() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else {
                // A machine without IPv6.
                assert_ne!(address, "127.0.0.1:0");
                continue;
            };
            let theirs = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (ours, from) = listener.accept().unwrap();
            assert_eq!(peer(ours.local_addr().unwrap(), from), Peer::ThisUser);
            drop(theirs);
        }
    }

    #[test]
    fn a_row_names_the_owner_of_its_own_socket() {
        let (ours, theirs) = ("127.0.0.1:4170", "127.0.0.1:45006");
        let [ours, theirs] = [ours, theirs].map(|it| platform::written(it.parse().unwrap()));
        assert_eq!(
            (ours.as_str(), theirs.as_str()),
            if cfg!(target_endian = "little") {
                ("0100007F:104A", "0100007F:AFCE")
            } else {
                ("7F000001:104A", "7F000001:AFCE")
            }
        );
        let row = |local: &str, remote: &str| {
            format!(
                "   7: {local} {remote} 01 00000000:00000000 00:00000000 00000000  1000        0 50812 1 0"
            )
        };
        for (row, expected) in [
            (row(&theirs, &ours), Some(1000)),
            // The other end of the same connection, which is ours.
            (row(&ours, &theirs), None),
            (row(&theirs, "0100007F:0001"), None),
            (
                "  sl  local_address rem_address   st tx_queue".to_owned(),
                None,
            ),
            (String::new(), None),
        ] {
            assert_eq!(platform::owner_in(&row, &theirs, &ours), expected, "{row}");
        }
    }
}
