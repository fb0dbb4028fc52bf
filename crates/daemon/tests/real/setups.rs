//! How an IDE connection is set up, with the published daemon, also with one of its own.

use std::fs;

use conversation::backend::daemon::Translator;
use outrigger_daemon::connection::{
    ConnectError, ConnectOptions, IdeConnection, IdeEvent, SetupError,
};
use outrigger_daemon::managed::{LaunchOptions, ManagedDaemon};
use outrigger_daemon::sanitiser::{Sanitiser, TextLimits};
use outrigger_daemon::wire::ApprovalMode;
use outrigger_daemon::{Address, Token};
use rustix::process::{Pid, Signal, kill_process};
use testkit::{Clients, Machine, TOKEN};

use crate::house::House;
use crate::ide::{connected, first, options};

#[tokio::test]
async fn models_modes_and_what_a_page_sees_of_it() {
    let Some(house) = House::open() else { return };
    let (connection, mut events) = connected(&house).await;
    let models = connection
        .context()
        .await
        .unwrap()
        .state
        .models
        .unwrap()
        .available_models;
    let other = models
        .iter()
        .find(|it| it.model_id.contains("fake-model-2"))
        .unwrap();
    connection.set_model(&other.model_id).await.unwrap();
    connection
        .set_approval_mode(&ApprovalMode::Plan)
        .await
        .unwrap();
    let address = Address::local(house.daemon.port());
    let sanitiser = Sanitiser::new(TextLimits::default()).hiding(Token::new(TOKEN).ok(), &address);
    let translator = std::cell::RefCell::new(Translator::new(sanitiser));
    let told = std::cell::RefCell::new(Vec::new());
    let mode = |event: &IdeEvent| {
        told.borrow_mut()
            .extend(translator.borrow_mut().translate(event));
        matches!(event, IdeEvent::ModeChanged { mode } if *mode == ApprovalMode::Plan).then_some(())
    };
    first(&mut events, "the mode", mode).await;
    let told = told.into_inner();
    let told: Vec<_> = told.iter().filter_map(wire::conversation::event).collect();
    let text = serde_json::to_string(&told).unwrap();
    assert!(
        text.contains("fake-model-2") && text.contains("plan"),
        "{text}"
    );
    let model_url = format!("127.0.0.1:{}", house.model.port());
    let session = connection.session().unwrap();
    for secret in [
        TOKEN,
        "fake-key",
        "client_",
        session.as_str(),
        &model_url,
        &address.authority(),
    ] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
}

#[tokio::test]
async fn what_is_set_up_wrongly_is_told_with_a_hint() {
    let Some(house) = House::open() else { return };
    let (connection, _events) = IdeConnection::new();
    let elsewhere = ConnectOptions {
        workspace: Some("/".into()),
        ..options(&house)
    };
    let error = connection.connect(elsewhere).await.unwrap_err();
    assert!(
        matches!(&error, ConnectError::Setup(SetupError::WrongFolder { .. })),
        "{error:?}"
    );
    let stranger = ConnectOptions {
        token: Token::new("wrong").ok(),
        ..options(&house)
    };
    let error = connection.connect(stranger).await.unwrap_err();
    assert!(
        matches!(&error, ConnectError::Setup(SetupError::Unauthorized)),
        "{error:?}"
    );
    let model = ConnectOptions {
        address: Address::local(house.model.port()),
        ..options(&house)
    };
    let error = connection.connect(model).await.unwrap_err();
    assert!(error.hint().is_some(), "{error:?}");
}

#[tokio::test]
async fn a_daemon_of_ones_own() {
    let Some(clients) = Clients::find() else {
        return;
    };
    let machine = Machine::new(clients.commands().join("qwen"));
    let (home, workspace) = (machine.home(), machine.workspace());
    let path = format!("{}:/usr/bin:/bin", clients.commands().display());
    let launch = LaunchOptions {
        program: machine.program().into(),
        environment: vec![("PATH".into(), path.into()), ("HOME".into(), home.into())],
        clean_environment: true,
        ..LaunchOptions::new(&workspace)
    };
    let daemon = ManagedDaemon::start(launch.clone()).await.unwrap();
    let capabilities = daemon.client().capabilities().await.unwrap();
    assert_eq!(capabilities.workspace_cwd, workspace.to_str().unwrap());
    // It asks for the token that is not among its arguments.
    let pid = daemon.pid().unwrap();
    let arguments = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap();
    assert!(!arguments.contains(daemon.token().expose()));
    let (connection, _events) = IdeConnection::new();
    let anonymous = ConnectOptions {
        address: daemon.address().clone(),
        ..ConnectOptions::default()
    };
    let refused = connection.connect(anonymous.clone()).await;
    assert!(
        matches!(refused, Err(ConnectError::Setup(SetupError::Unauthorized))),
        "{refused:?}"
    );
    // There is no model in this home.
    let known = ConnectOptions {
        token: Some(daemon.token().clone()),
        ..anonymous
    };
    let refused = connection.connect(known).await;
    assert!(
        matches!(
            refused,
            Err(ConnectError::Setup(SetupError::NoModelProvider))
        ),
        "{refused:?}"
    );
    let death = daemon.stop().await;
    assert!(death.requested, "{death:?}");
    // One that dies by itself is reported.
    let daemon = ManagedDaemon::start(launch).await.unwrap();
    let pid = Pid::from_raw(i32::try_from(daemon.pid().unwrap()).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    assert!(!daemon.exited().await.requested);
}
