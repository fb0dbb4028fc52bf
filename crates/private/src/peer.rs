//! Which user, and which process of this user, is at the other end of a loopback connection.
//!
//! Every user of a machine can connect to 127.0.0.1, and the secret in a link can be read from the
//! argument list of the program that opens it. Linux tells whose a socket is, and which process
//! holds it; elsewhere nobody knows.

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
    let socket = platform::socket(ours, theirs);
    socket.map_or(Peer::Unknown, |socket| user(socket.owner))
}

/// Who listens at `theirs`, to which this process has just connected from `ours`. Unlike [`peer`] it
/// knows also while nobody has accepted the connection: then the socket at the other end belongs to
/// nobody yet, and whoever listens will get it. It reads a file of the system.
pub fn listening_peer(ours: SocketAddr, theirs: SocketAddr) -> Peer {
    let Some(server) = platform::server(ours, theirs) else {
        return Peer::Unknown;
    };
    if server.accepted.inode != 0 {
        return user(server.accepted.owner);
    }
    let listeners = server.listeners.into_iter().map(user);
    // Several may listen, on one address and on all of them. The least trusted one counts.
    listeners.fold(Peer::Unknown, |known, next| match (known, next) {
        (Peer::AnotherUser, _) | (_, Peer::AnotherUser) => Peer::AnotherUser,
        _ => next,
    })
}

fn user(owner: u32) -> Peer {
    if owner == 0 || owner == platform::this_user() {
        Peer::ThisUser
    } else {
        Peer::AnotherUser
    }
}

/// The process of this user at the other end of a connection whose ends are `ours` and `theirs`.
/// `None` if it belongs to somebody else, or if the system does not tell. It looks through the open
/// files of this user's processes, so call it where that may take some milliseconds.
pub fn peer_process(ours: SocketAddr, theirs: SocketAddr) -> Option<u32> {
    let socket = platform::socket(ours, theirs)?;
    (socket.owner == platform::this_user()).then(|| platform::holder(socket.inode))?
}

/// A row of the system's table of sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Socket {
    /// The user that it belongs to.
    owner: u32,
    /// The number by which a process refers to it; 0 if no process holds it any more.
    inode: u64,
}

/// The other end of a connection that this process has made.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Server {
    /// The socket of this connection there. Nobody holds it before the connection is accepted.
    accepted: Socket,
    /// The users whose sockets listen for connections to that address.
    listeners: Vec<u32>,
}

#[cfg(target_os = "linux")]
mod platform {
    use std::fs;
    use std::net::{IpAddr, Ipv6Addr, SocketAddr};
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    use super::{Server, Socket};

    /// How the table writes that a socket listens.
    const LISTENS: &str = "0A";

    /// How many open files are looked at before the search is given up.
    const MOST_FILES: usize = 100_000;

    pub(super) fn this_user() -> u32 {
        rustix::process::geteuid().as_raw()
    }

    /// The socket at the other end.
    pub(super) fn socket(ours: SocketAddr, theirs: SocketAddr) -> Option<Socket> {
        tables(ours, theirs).find_map(|(table, ours, theirs)| {
            let (ours, theirs) = (written(ours), written(theirs));
            table.lines().find_map(|row| socket_in(row, &theirs, &ours))
        })
    }

    /// The other end, and who listens there.
    pub(super) fn server(ours: SocketAddr, theirs: SocketAddr) -> Option<Server> {
        tables(ours, theirs).find_map(|(table, ours, theirs)| server_in(&table, ours, theirs))
    }

    /// The tables that the other end can be in, each with both addresses as they are there. A socket
    /// for IPv6 may serve IPv4 too.
    fn tables(
        ours: SocketAddr,
        theirs: SocketAddr,
    ) -> impl Iterator<Item = (String, SocketAddr, SocketAddr)> {
        let plain = theirs.is_ipv4().then_some(("/proc/net/tcp", ours, theirs));
        let mapped = ("/proc/net/tcp6", as_ipv6(ours), as_ipv6(theirs));
        let tables = plain.into_iter().chain([mapped]);
        tables
            .filter_map(|(path, ours, theirs)| Some((fs::read_to_string(path).ok()?, ours, theirs)))
    }

    fn as_ipv6(address: SocketAddr) -> SocketAddr {
        let ip = match address.ip() {
            IpAddr::V4(ip) => ip.to_ipv6_mapped(),
            IpAddr::V6(ip) => ip,
        };
        SocketAddr::new(ip.into(), address.port())
    }

    /// What a table says of the server at `theirs`, if it has the connection from `ours`.
    pub(super) fn server_in(table: &str, ours: SocketAddr, theirs: SocketAddr) -> Option<Server> {
        let every_address = match theirs {
            SocketAddr::V4(_) => IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED),
            SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        };
        let every_address = written(SocketAddr::new(every_address, theirs.port()));
        let (ours, theirs) = (written(ours), written(theirs));
        let accepted = table
            .lines()
            .find_map(|row| socket_in(row, &theirs, &ours))?;
        let listener = |row: &str| {
            let mut fields = row.split_ascii_whitespace().skip(1);
            let local = fields.next()?;
            // Between them: the address of nobody; then queues, timer, retransmissions.
            let listens = fields.nth(1)? == LISTENS && (local == theirs || local == every_address);
            let owner = fields.nth(3)?.parse().ok()?;
            listens.then_some(owner)
        };
        Some(Server {
            accepted,
            listeners: table.lines().filter_map(listener).collect(),
        })
    }

    /// The socket of a row of the table, if it is the one at `local` that is connected to `remote`.
    pub(super) fn socket_in(row: &str, local: &str, remote: &str) -> Option<Socket> {
        let mut fields = row.split_ascii_whitespace().skip(1);
        let is_it = fields.next()? == local && fields.next()? == remote;
        // Between them: state, queues, timer, retransmissions; then a time.
        let (owner, inode) = (fields.nth(4)?, fields.nth(1)?);
        is_it.then(|| {
            Some(Socket {
                owner: owner.parse().ok()?,
                inode: inode.parse().ok()?,
            })
        })?
    }

    /// The process of this user that has the socket open: the oldest one, because a child has what
    /// its parent has until it becomes another program.
    pub(super) fn holder(inode: u64) -> Option<u32> {
        if inode == 0 {
            return None;
        }
        let own = this_user();
        let is_ours = |pid: &u32| {
            fs::metadata(format!("/proc/{pid}")).is_ok_and(|folder| folder.uid() == own)
        };
        let names = fs::read_dir("/proc").ok()?.flatten();
        let processes = names
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(is_ours);
        let link = format!("socket:[{inode}]");
        let mut budget = MOST_FILES;
        processes
            .filter(|pid| holds(*pid, &link, &mut budget))
            .min_by_key(|pid| (started(*pid), *pid))
    }

    /// When a process was started; late for one that has ended.
    fn started(pid: u32) -> u64 {
        crate::process_stat(pid).map_or(u64::MAX, |stat| stat.started)
    }

    /// Whether a process has an open file that is this link.
    fn holds(pid: u32, link: &str, budget: &mut usize) -> bool {
        let files = fs::read_dir(format!("/proc/{pid}/fd"));
        files.into_iter().flatten().flatten().any(|file| {
            *budget = budget.saturating_sub(1);
            *budget > 0 && fs::read_link(file.path()).is_ok_and(|to| to == Path::new(link))
        })
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

    use super::{Server, Socket};

    pub(super) fn this_user() -> u32 {
        0
    }

    pub(super) fn server(_ours: SocketAddr, _theirs: SocketAddr) -> Option<Server> {
        None
    }

    pub(super) fn socket(_ours: SocketAddr, _theirs: SocketAddr) -> Option<Socket> {
        None
    }

    pub(super) fn holder(_inode: u64) -> Option<u32> {
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
            let ours = ours.local_addr().unwrap();
            assert_eq!(peer(ours, from), Peer::ThisUser);
            assert_eq!(peer_process(ours, from), Some(std::process::id()));
            drop(theirs);
        }
    }

    #[test]
    fn whoever_listens_is_known_before_and_after_it_accepts() {
        for (listening, calls) in [
            ("127.0.0.1:0", "127.0.0.1"),
            ("0.0.0.0:0", "127.0.0.1"),
            ("[::1]:0", "::1"),
            // One socket for both.
            ("[::]:0", "127.0.0.1"),
            ("[::]:0", "::1"),
        ] {
            let Ok(listener) = TcpListener::bind(listening) else {
                // A machine without IPv6.
                assert!(listening.starts_with('['));
                continue;
            };
            let at = SocketAddr::new(
                calls.parse().unwrap(),
                listener.local_addr().unwrap().port(),
            );
            let Ok(caller) = TcpStream::connect(at) else {
                assert_eq!(listening, "[::]:0", "a machine that keeps the two apart");
                continue;
            };
            let ends = (caller.local_addr().unwrap(), at);
            assert_eq!(
                listening_peer(ends.0, ends.1),
                Peer::ThisUser,
                "{listening}"
            );
            let accepted = listener.accept().unwrap();
            drop(listener);
            assert_eq!(
                listening_peer(ends.0, ends.1),
                Peer::ThisUser,
                "{listening}"
            );
            drop((accepted, caller));
        }
    }

    #[test]
    fn the_table_tells_whose_a_server_is() {
        let [ours, theirs]: [SocketAddr; 2] =
            ["127.0.0.1:50000", "127.0.0.1:4170"].map(|it| it.parse().unwrap());
        let own = platform::this_user();
        let other = own + 1000;
        let row = |local: &str, remote: &str, state: &str, owner: u32, inode: u32| {
            let [local, remote] = [local, remote].map(|it| platform::written(it.parse().unwrap()));
            format!("   0: {local} {remote} {state} 0:0 00:0 0  {owner}  0 {inode} 1 0\n")
        };
        let (us, them, nobody) = ("127.0.0.1:50000", "127.0.0.1:4170", "0.0.0.0:0");
        let listens = |owner| row(them, nobody, "0A", owner, 7);
        let accepted = |owner| row(them, us, "01", owner, 8);
        let waiting = row(them, us, "01", 0, 0);
        for (table, expected) in [
            (listens(own) + &waiting, Some((0, vec![own]))),
            // It is not root's just because nobody has accepted it.
            (listens(other) + &waiting, Some((0, vec![other]))),
            (accepted(other) + &listens(own), Some((8, vec![own]))),
            (
                row("0.0.0.0:4170", nobody, "0A", other, 7) + &waiting,
                Some((0, vec![other])),
            ),
            (
                row("127.0.0.2:4170", nobody, "0A", other, 7) + &waiting,
                Some((0, vec![])),
            ),
            (
                row("127.0.0.1:4171", nobody, "0A", other, 7) + &waiting,
                Some((0, vec![])),
            ),
            (listens(own), None),
            (String::new(), None),
        ] {
            let server = platform::server_in(&table, ours, theirs);
            let told = server.map(|server| (server.accepted.inode, server.listeners));
            assert_eq!(told, expected, "{table}");
        }
    }

    #[test]
    fn a_child_that_has_the_socket_too_is_not_taken_for_its_holder() {
        use std::os::fd::OwnedFd;
        use std::process::{Command, Stdio};

        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let theirs = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (ours, from) = listener.accept().unwrap();
        let shared = OwnedFd::from(theirs.try_clone().unwrap());
        // It has the socket as its standard input, and waits for it.
        let mut child = Command::new("cat")
            .stdin(Stdio::from(shared))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let holder = peer_process(ours.local_addr().unwrap(), from);
        assert_eq!(holder, Some(std::process::id()));
        drop((ours, theirs));
        child.wait().unwrap();
    }

    #[test]
    fn the_process_of_a_connection_is_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let script = format!("exec 3<>/dev/tcp/127.0.0.1/{}; echo; cat <&3", at.port());
        let mut other = std::process::Command::new("bash")
            .args(["-c", &script])
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let (connection, from) = listener.accept().unwrap();
        // The shell has it open for as long as its child reads from it, and so has the child.
        let found = peer_process(at, from).unwrap();
        let children = format!("/proc/{0}/task/{0}/children", other.id());
        let children = std::fs::read_to_string(children).unwrap_or_default();
        let family = [other.id().to_string(), children.trim().to_owned()];
        assert!(family.contains(&found.to_string()), "{found} of {family:?}");
        drop(connection);
        other.wait().unwrap();
        assert_eq!(peer_process(at, from), None, "nobody holds it any more");
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
        let socket = Socket {
            owner: 1000,
            inode: 50812,
        };
        for (row, expected) in [
            (row(&theirs, &ours), Some(socket)),
            // The other end of the same connection, which is ours.
            (row(&ours, &theirs), None),
            (row(&theirs, "0100007F:0001"), None),
            (
                "  sl  local_address rem_address   st tx_queue".to_owned(),
                None,
            ),
            (String::new(), None),
        ] {
            assert_eq!(platform::socket_in(&row, &theirs, &ours), expected, "{row}");
        }
    }
}
