use super::*;

const POLICY: &str = r#"
[licenses]
allow = ["MIT", "Apache-2.0 WITH LLVM-exception"]
exceptions = [{ crate = "webdriver", allow = ["MPL-2.0"] }]
[licenses.private]
ignore = true
[bans]
multiple-versions = "warn"
wildcards = "deny"
allow-wildcard-paths = true
deny = [{ crate = "openssl" }]
[sources]
unknown-registry = "deny"
unknown-git = "deny"
"#;

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

fn package(name: &str, license: &str) -> Package {
    Package {
        name: name.into(),
        version: "1.0.0".into(),
        license: Some(license.into()),
        source: Some(CRATES_IO.into()),
        publish: None,
        dependencies: Vec::new(),
    }
}

fn errors(packages: &[Package]) -> Vec<String> {
    look(&Policy::parse(POLICY).unwrap(), packages).errors
}

#[test]
fn a_licence_must_be_allowed_to_everybody_or_to_this_one() {
    let good = [
        ("a", "MIT"),
        ("a", "MIT OR GPL-3.0-only"),
        ("a", "GPL-3.0-only/MIT"),
        ("a", "MIT AND Apache-2.0 WITH LLVM-exception"),
        ("webdriver", "MPL-2.0"),
    ];
    for (name, license) in good {
        assert_eq!(errors(&[package(name, license)]), [""; 0], "{license}");
    }
    let bad = [
        ("a", "MPL-2.0"),
        ("a", "Apache-2.0"),
        ("a", "MIT AND GPL-3.0-only"),
        ("a", "nonsense"),
        ("a", ""),
    ];
    for (name, license) in bad {
        assert_eq!(errors(&[package(name, license)]).len(), 1, "{license}");
    }
    let mut none = package("a", "");
    none.license = None;
    assert_eq!(errors(&[none.clone()]), ["a 1.0.0 names no licence"]);
    none.publish = Some(Vec::new());
    assert_eq!(errors(&[none]), [""; 0]);
}

#[test]
fn banned_names_and_unknown_sources_are_errors() {
    assert_eq!(
        errors(&[package("openssl", "MIT")]),
        ["openssl 1.0.0 is banned"]
    );
    for (source, count) in [
        (None, 0),
        (Some(CRATES_IO), 0),
        (Some("sparse+https://index.crates.io/"), 0),
        (Some("sparse+https://crates.example.com/"), 1),
        (Some("git+https://example.com/a?rev=1#1"), 1),
    ] {
        let mut package = package("a", "MIT");
        package.source = source.map(str::to_owned);
        assert_eq!(errors(&[package]).len(), count, "{source:?}");
    }
}

#[test]
fn any_version_is_taken_only_of_folders_and_only_where_nobody_is_affected() {
    let cases = [
        // The requirement, from a registry, for tests, by a private package: an error?
        ("^1", true, false, false, false),
        ("*", true, false, false, true),
        ("*", true, true, true, true),
        ("*", false, false, false, true),
        ("*", false, true, false, false),
        ("*", false, false, true, false),
    ];
    for (req, registry, dev, private, wrong) in cases {
        let mut package = package("a", "MIT");
        package.publish = private.then(Vec::new);
        package.dependencies = vec![Dependency {
            name: "b".into(),
            req: req.into(),
            kind: dev.then(|| "dev".into()),
            source: registry.then(|| CRATES_IO.into()),
        }];
        let found = errors(&[package]);
        assert_eq!(
            !found.is_empty(),
            wrong,
            "{req} {registry} {dev} {private}: {found:?}"
        );
    }
}

#[test]
fn several_versions_are_told_once() {
    let mut newer = package("a", "MIT");
    newer.version = "2.0.0".into();
    let packages = [package("a", "MIT"), package("b", "MIT"), newer];
    let findings = look(&Policy::parse(POLICY).unwrap(), &packages);
    assert_eq!(findings.warnings, ["in several versions: a (1.0.0, 2.0.0)"]);
    assert_eq!(findings.errors, [""; 0]);
}

#[test]
fn a_policy_that_is_not_understood_is_not_ignored() {
    assert!(Policy::parse(POLICY).is_ok());
    let more = POLICY.replace("[sources]", "[sources]\nrequired-git-spec = \"rev\"");
    assert!(Policy::parse(&more).is_err());
    let unknown = POLICY.replace("\"MIT\"", "\"MIT-ish\"");
    assert!(Policy::parse(&unknown).is_err());
}
