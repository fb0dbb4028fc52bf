//! The file names that indicate secrets.
//!
//! An agent sends its context to a model on another machine, so a file that a
//! careful person would not paste into a chat is held back. When in doubt the list
//! holds back: a public certificate that is not shared costs a question, a private
//! key that was shared cannot be taken back.
//!
//! The syntax is that of `.gitignore`. The patterns are matched against the
//! whole path in lower case, so they have to be in lower case themselves; a
//! pattern with a `/` inside starts with `**/` to match at any depth. A pattern
//! that matches a folder covers everything in it.

/// What is never shared. A later line overrides an earlier one.
pub(crate) const PATTERNS: &[&str] = &[
    // Copies of keys that editors and people leave behind. The public half of a
    // pair stays visible. This comes first so that `!*.pub` affects nothing else.
    "id_rsa[._-]*",
    "id_dsa[._-]*",
    "id_ecdsa[._-]*",
    "id_ed25519[._-]*",
    "!*.pub",
    // Environment files hold passwords. The templates among them hold none, and
    // agents are often asked to extend them.
    ".env*",
    "*.env",
    "!.env.example",
    "!.env.sample",
    "!.env.template",
    ".dev.vars*",
    "local.settings.json",
    // Private keys, and the containers that they are kept in. Some of these can
    // also hold public data, but the name does not show it.
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ed25519_sk",
    "id_xmss",
    "ssh_host_*_key",
    "*.pem",
    "*.pem~",
    "*.pem.*",
    "*.key",
    "*.key~",
    "*.key.bak",
    "*.key.old",
    "*.p8",
    "*.p12",
    "*.pfx",
    "*.pkcs12",
    "*.jks",
    "*.jceks",
    "*.bks",
    "*.keystore",
    "*.keytab",
    "*.ppk",
    "*.asc",
    "*.gpg",
    "*.pgp",
    "*.age",
    "*.ovpn",
    "*.mobileprovision",
    "**/wireguard/*.conf",
    // Folders in which everything is about keys and logins.
    ".ssh/",
    ".gnupg/",
    ".aws/",
    ".azure/",
    ".oci/",
    ".cloudflared/",
    ".password-store/",
    "**/.config/gcloud/",
    "**/.config/doctl/",
    "**/.config/op/",
    "**/.config/sops/",
    "**/.config/rclone/",
    "**/.local/share/keyrings/",
    "**/library/keychains/",
    // Logins of the tools that developers use: databases, package registries,
    // version control, containers, clusters, clouds.
    ".netrc",
    "_netrc",
    ".authinfo",
    ".pgpass",
    "pgpass.conf",
    ".my.cnf",
    ".mylogin.cnf",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    "**/.cargo/credentials.toml",
    "**/.m2/settings.xml",
    "**/.m2/settings-security.xml",
    "**/.nuget/nuget.config",
    "**/.composer/auth.json",
    "**/.gradle/gradle.properties",
    ".git-credentials",
    "**/.git/config",
    "**/.config/gh/hosts.yml",
    "**/.config/hub",
    ".htpasswd",
    ".dockercfg",
    "**/.docker/config.json",
    "**/containers/auth.json",
    "**/.kube/config",
    "kubeconfig",
    ".s3cfg",
    ".boto",
    ".databrickscfg",
    "kaggle.json",
    "**/huggingface/token",
    ".terraformrc",
    "terraform.rc",
    "credentials.tfrc.json",
    ".vault-token",
    ".vault_pass*",
    // Logins of the agents themselves.
    "oauth_creds.json",
    "**/.codex/auth.json",
    "**/.claude/.credentials.json",
    // Files from which programs read their passwords. A folder named
    // `credentials` usually contains code.
    "credentials",
    "!credentials/",
    "credentials.json",
    "credentials.y*ml",
    "credentials.xml",
    "client_secret*.json",
    "service-account*.json",
    "service_account*.json",
    "serviceaccount*.json",
    "secrets.y*ml",
    "secrets.json",
    "secrets.toml",
    "secret.y*ml",
    "secret.json",
    ".secrets",
    ".secrets.*",
    // Infrastructure: variables hold passwords, and a state holds every value
    // that was ever made, in clear.
    "*.tfvars",
    "*.tfvars.json",
    "*.tfstate*",
    // Password safes, and what browsers and wallets keep.
    "*.kdb",
    "*.kdbx",
    "*.agilekeychain",
    "*.opvault",
    "*.keychain",
    "*.keychain-db",
    "wallet.dat",
    "logins.json",
    "key4.db",
    // The accounts of the system.
    "/etc/shadow*",
    "/etc/gshadow*",
    "/etc/sudoers*",
    // What was typed into a shell or a database prompt, passwords included.
    ".*_history",
    ".*_history-*",
    ".zhistory",
    ".histfile",
    "fish_history",
    "consolehost_history.txt",
    ".viminfo",
];

/// What people and programs put behind the name of a copy, or of a variant that is for one machine.
const COPIES: &[&str] = &[
    "~", ".bak", ".backup", ".copy", ".dist", ".local", ".new", ".old", ".orig", ".save", ".tmp",
    ".txt",
];

/// The names of the files that a file of this name may be a copy of, nearest first: a backup or swap
/// file of an editor, or a copy that somebody has made.
pub(crate) fn originals(name: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(original(name), |name| original(name))
}

fn original(name: &str) -> Option<&str> {
    let autosave = name.strip_prefix('#').and_then(|it| it.strip_suffix('#'));
    let swap = || {
        let (name, ending) = name.strip_prefix('.')?.rsplit_once('.')?;
        (ending.len() == 3 && ending.starts_with("sw")).then_some(name)
    };
    // Emacs numbers them: `name.~3~`.
    let numbered = || {
        let (name, number) = name.strip_suffix('~')?.rsplit_once(".~")?;
        number
            .bytes()
            .all(|byte| byte.is_ascii_digit())
            .then_some(name)
    };
    let copy = || COPIES.iter().find_map(|ending| name.strip_suffix(ending));
    let found = autosave.or_else(swap).or_else(numbered).or_else(copy);
    found.filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_the_name_of_its_original() {
        for (name, expected) in [
            ("id_rsa~", &["id_rsa"][..]),
            ("#id_rsa#", &["id_rsa"]),
            (".id_rsa.swp", &["id_rsa"]),
            (".id_rsa.swo", &["id_rsa"]),
            ("a.key.~12~", &["a.key"]),
            ("prod.env.local.bak", &["prod.env.local", "prod.env"]),
            ("main.rs", &[]),
            (".bashrc.swap", &[]),
            ("~", &[]),
            ("##", &[]),
            (".txt", &[]),
        ] {
            assert_eq!(originals(name).collect::<Vec<_>>(), expected, "{name}");
        }
    }

    #[test]
    fn every_pattern_can_match_a_path_in_lower_case() {
        for pattern in PATTERNS {
            assert_eq!(*pattern, pattern.to_ascii_lowercase());
            let inside = pattern.trim_start_matches('!').trim_end_matches('/');
            let anywhere = inside.starts_with("**/") || inside.starts_with('/');
            assert!(anywhere || !inside.contains('/'), "{pattern}");
        }
    }
}
