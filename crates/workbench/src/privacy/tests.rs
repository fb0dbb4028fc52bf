use super::*;

fn roots() -> Vec<PathBuf> {
    vec!["/home/u/work".into(), "/srv/site".into()]
}

fn privacy(ignore_file: &str, patterns: &[&str]) -> Privacy {
    let ignore_file = PatternList::from_ignore_file(&roots()[0], ignore_file);
    sound(Privacy::new(
        &roots(),
        &[ignore_file, configured(patterns)],
        &[],
    ))
}

/// Patterns of the person's configuration.
fn configured(patterns: &[&str]) -> PatternList {
    PatternList {
        source: "config".into(),
        scope: Scope::Everywhere,
        patterns: patterns.iter().copied().map(Pattern::from).collect(),
    }
}

/// Rules without a fault.
fn sound(privacy: Privacy) -> Privacy {
    assert_eq!(privacy.faults(), []);
    privacy
}

/// One letter for how a file is judged: shown, secret, ignored, outside or closed.
fn letter(visibility: Visibility) -> char {
    match visibility {
        Visibility::Shown => '+',
        Visibility::HeldBack(Reason::Secret) => 's',
        Visibility::HeldBack(Reason::Ignored) => 'i',
        Visibility::HeldBack(Reason::Outside) => 'o',
        Visibility::HeldBack(Reason::Closed) => 'c',
    }
}

/// Checks lines of a letter and a path, relative to the first root.
fn check(privacy: &Privacy, cases: &str) {
    for case in cases.lines().map(str::trim).filter(|case| !case.is_empty()) {
        let (expected, path) = case.split_once(' ').unwrap();
        let place = Place::direct(roots()[0].join(path));
        assert_eq!(
            letter(privacy.judge(&place)).to_string(),
            expected,
            "{path}"
        );
    }
}

#[test]
fn secrets_are_known_by_their_names() {
    check(
        &privacy("", &[]),
        "
        + src/main.rs
        + README.md
        s .env
        s .env.local
        s .ENV.Production
        s .envrc
        s deep/down/.env
        s deep/.env/production
        s prod.env
        + .env.example
        + sub/.env.sample
        + .Env.Template
        s .env.example.local
        s .env.pub
        s .env.example/.env
        + environment.ts
        + src/env.rs
        s certs/server.pem
        s certs/SERVER.KEY
        s server.key.bak
        s server.key.txt
        s prod.env.local
        s id_rsa~
        s #id_rsa#
        s .id_rsa.swp
        s .netrc~
        + notes.txt~
        + #main.rs#
        + src/api.key.ts
        s id_rsa
        s id_ed25519
        s id_rsa.bak
        s id_ed25519-work
        + id_rsa.pub
        + id_ed25519_work.pub
        + keys.rs
        + keyboard.json
        s .ssh/config
        s .ssh/id_rsa.pub
        s backup/.aws/config
        s .kube/config
        + kube/config
        s .docker/config.json
        + docker/config.json
        s .config/gcloud/anything/at/all
        s .npmrc
        s .git/config
        + .git/HEAD
        s credentials
        + src/credentials/store.rs
        s src/credentials/.env
        s credentials.json
        s config/secrets.yml
        s config/secrets.yaml
        + src/secrets.rs
        s main.tfvars
        s terraform.tfstate.backup
        s service-account-prod.json
        s .bash_history
        s .local/share/fish/fish_history
        s vault.kdbx
        + .gitignore
        + .outriggerignore
        ",
    );
}

#[test]
fn a_secret_stays_one_wherever_the_roots_are() {
    let roots = [PathBuf::from("/home/u/.ssh"), PathBuf::from("/")];
    let privacy = sound(Privacy::new(&roots, &[], &[]));
    for (path, expected) in [
        ("/home/u/.ssh/config", 's'),
        ("/etc/shadow", 's'),
        ("/etc/shadow-", 's'),
        ("/etc/hosts", '+'),
        ("/srv/etc/shadow", '+'),
    ] {
        assert_eq!(
            letter(privacy.judge(&Place::direct(path))),
            expected,
            "{path}"
        );
    }
}

#[test]
fn ignore_files_have_the_syntax_of_git() {
    let text = "\u{feff}# a comment\r\n\r\n/build/\r\n*.log\r\n!keep.log\r\nprivate/**\r\n\
                doc/*.txt\r\n\\!important\r\nsecret-?.md\r\n";
    check(
        &privacy(text, &[]),
        "
        i build/a.rs
        + build
        + src/build/a.rs
        i a.log
        i deep/a.log
        + keep.log
        + deep/keep.log
        i build/keep.log
        i private/a
        i private/keep.log
        i doc/a.txt
        + doc/sub/a.txt
        + other/doc/a.txt
        i !important
        i secret-1.md
        + secret-10.md
        + # a comment
        ",
    );
}

#[test]
fn a_workspace_can_only_narrow() {
    let privacy = privacy("!.env\n!*\n!**\n!/../**\n!.ssh/\n", &["*.cfg"]);
    check(
        &privacy,
        "
        s .env
        s .ssh/config
        i a.cfg
        o ../other/a.rs
        o /etc/hosts
        + a.rs
        ",
    );
}

#[test]
fn configured_patterns_apply_below_every_root() {
    let privacy = privacy("*.log", &["/notes/", "*.bak", "!good.bak"]);
    for (path, expected) in [
        ("/home/u/work/notes/a", 'i'),
        ("/srv/site/notes/a", 'i'),
        ("/srv/site/sub/notes/a", '+'),
        ("/srv/site/a.bak", 'i'),
        ("/srv/site/good.bak", '+'),
        // The ignore file of one root says nothing about another.
        ("/home/u/work/a.log", 'i'),
        ("/srv/site/a.log", '+'),
        // What is outside is not relative to any root.
        ("/home/u/a.bak", 'o'),
    ] {
        assert_eq!(
            letter(privacy.judge(&Place::direct(path))),
            expected,
            "{path}"
        );
    }
}

#[test]
fn outside_is_decided_by_components() {
    check(
        &privacy("", &[]),
        "
        + a/../b
        + ./a/./b
        + ..a/b
        o ..
        o ../b
        o a/../../b
        o ../work2/a
        o /home/u/workshop/a
        + /srv/site/../site/a
        o /home/u/work/../../u/a
        ",
    );
    let relative = Place::direct("src/main.rs");
    assert_eq!(letter(privacy("", &[]).judge(&relative)), 'o');
    let nowhere = sound(Privacy::new(&[], &[], &[]));
    assert_eq!(letter(nowhere.judge(&Place::direct("/a"))), 'o');
}

#[test]
fn both_names_of_a_file_have_to_pass() {
    let privacy = privacy("*.log", &[]);
    for (path, real, expected) in [
        ("/home/u/work/a", "/home/u/work/b", '+'),
        ("/home/u/work/a", "/srv/site/a", '+'),
        ("/home/u/work/a", "/home/u/work/.env", 's'),
        ("/home/u/work/.env.example", "/home/u/work/.env", 's'),
        ("/home/u/work/.env", "/home/u/work/a", 's'),
        ("/home/u/work/a", "/home/u/work/a.log", 'i'),
        ("/home/u/work/a", "/etc/hosts", 'o'),
        ("/etc/hosts", "/home/u/work/a", 'o'),
        // The most serious reason is returned.
        ("/home/u/work/a.log", "/home/u/.netrc", 's'),
        ("/home/u/work/a.log", "/etc/hosts", 'i'),
    ] {
        let place = Place {
            path: path.into(),
            real: real.into(),
        };
        assert_eq!(letter(privacy.judge(&place)), expected, "{path} {real}");
    }
}

#[test]
fn a_bad_pattern_closes_its_scope_and_is_named_with_its_place() {
    let of_file = |text: &str| {
        let list = PatternList::from_ignore_file(&roots()[0], text);
        let privacy = Privacy::new(&roots(), &[list], &[]);
        check(&privacy, "c a.rs\ns .env\no ../a.rs\nc deep/down/a.rs");
        // The other root has nothing to do with it.
        assert_eq!(letter(privacy.judge(&Place::direct("/srv/site/a"))), '+');
        fault_of(&privacy)
    };
    insta::assert_snapshot!(of_file("*.log\n[z-a]\n"), @r#"/home/u/work/.outriggerignore:2:1: the pattern "[z-a]" cannot be used: invalid range; 'z' > 'a'"#);
    insta::assert_snapshot!(of_file(&"a\n".repeat(5000)), @"/home/u/work/.outriggerignore:4097:1: there are more than 4096 lines");
    // UTF-16 without a mark is UTF-8 with NUL characters.
    assert!(of_file("*\0.\0").ends_with("it contains a NUL character"));

    let everywhere = Privacy::new(&roots(), &[configured(&["*.log", "{a"])], &[]);
    check(&everywhere, "c a.rs\nc a.log\ns .env\no ../a.rs");
    assert_eq!(letter(everywhere.judge(&Place::direct("/srv/site/a"))), 'c');
    insta::assert_snapshot!(fault_of(&everywhere), @r#"config: the pattern "{a" cannot be used: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)"#);
}

fn fault_of(privacy: &Privacy) -> String {
    let [fault] = privacy.faults() else {
        panic!("{:?}", privacy.faults());
    };
    fault.to_string()
}

#[test]
fn what_could_not_be_read_closes_its_folder_by_both_paths() {
    let fault = Fault {
        source: "/home/u/work/.outrigger.toml".into(),
        position: Some(Position { line: 3, column: 7 }),
        message: "ignore has to be a list".into(),
        scope: Scope::Below("/home/u/other/../work".into()),
    };
    let privacy = Privacy::new(&roots(), &[configured(&["*.log"])], &[fault]);
    for (path, real, expected) in [
        ("/home/u/work/a", "/home/u/work/a", 'c'),
        ("/home/u/work/sub/../a", "/home/u/work/a", 'c'),
        ("/srv/site/a", "/srv/site/a", '+'),
        // A link between an open and a closed folder.
        ("/srv/site/a", "/home/u/work/a", 'c'),
        ("/home/u/work/a", "/srv/site/a", 'c'),
        // The reasons that would stay are told first.
        ("/home/u/work/.env", "/home/u/work/.env", 's'),
        ("/home/u/work/a.log", "/home/u/work/a.log", 'i'),
        ("/home/u/work/a", "/etc/hosts", 'o'),
        ("/home/u/workshop/a", "/home/u/workshop/a", 'o'),
    ] {
        let place = Place {
            path: path.into(),
            real: real.into(),
        };
        assert_eq!(letter(privacy.judge(&place)), expected, "{path} {real}");
    }
    insta::assert_snapshot!(fault_of(&privacy), @"/home/u/work/.outrigger.toml:3:7: ignore has to be a list");
}

#[test]
fn places_in_a_text() {
    let text = "a = 1\nö = é\r\n";
    for (offset, line, column) in [
        (0, 1, 1),
        (4, 1, 5),
        (5, 1, 6),
        (6, 2, 1),
        (8, 2, 2),
        (9, 2, 3),
        (99, 3, 1),
    ] {
        assert_eq!(
            Position::of(text, offset),
            Position { line, column },
            "{offset}"
        );
    }
}

#[test]
fn one_origin_takes_nothing_back_from_another() {
    let lists = [
        vec!["*.sql", "!keep.sql"],
        vec!["!*"],
        vec!["*.log", "!dump.sql"],
    ];
    let lists = lists.map(|list| configured(&list));
    let privacy = sound(Privacy::new(&roots(), &lists, &[]));
    check(
        &privacy,
        "
        i dump.sql
        + keep.sql
        i a.log
        + a.txt
        ",
    );
}

/// As in Git, where it matches nothing.
#[test]
fn a_negation_of_nothing_takes_nothing_back() {
    for lone in ["!", "! ", "!\t", "!\r"] {
        let privacy = privacy(&format!("*.sql\n{lone}\n"), &["*.md", lone]);
        check(
            &privacy,
            "
            i a.sql
            i b/a.md
            + a.rs
            ",
        );
    }
}

#[test]
fn a_list_covers_what_it_certainly_ignores() {
    let list = |text: &str| PatternList::from_ignore_file(Path::new("/w"), text);
    for (earlier, later, covers) in [
        ("", "", true),
        ("", "a", true),
        ("a", "", false),
        ("a\nb", "a", false),
        ("a\nb", "a\nnew\nb\n", true),
        ("a\nb", "b\na", false),
        ("# why\n\na", "a\n# because", true),
        ("a", "a\n!a/b", false),
        ("", "!a", false),
        ("a\n!a/b", "a\n!a/b\nc", true),
        ("a\n!a/b", "a", false),
        ("*.log", "*.lo", false),
    ] {
        let told = list(later).covers(&list(earlier));
        assert_eq!(told, covers, "{earlier:?} {later:?}");
    }
    let elsewhere = PatternList::from_ignore_file(Path::new("/x"), "a");
    assert!(!elsewhere.covers(&list("a")));
}
