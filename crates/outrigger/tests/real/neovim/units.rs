//! The plugin's own tests, in Lua.

use std::process::Command;

use testkit::{Clients, Household, NEOVIM, run_suite};

use super::nvim::PLUGIN;
use crate::PROGRAM;

#[test]
fn the_lua_tests_pass_in_every_neovim() {
    let Some(clients) = Clients::find_with(&[NEOVIM.0]) else {
        return;
    };
    let house = Household::new(PROGRAM, &clients);
    for program in clients.neovims() {
        let mut command = Command::new(program);
        command.args(["--headless", "-u", "NONE", "-i", "NONE", "-n"]);
        command.args(["-c", "luafile test/run.lua"]);
        command.current_dir(PLUGIN);
        command.env_clear().envs(house.environment());
        let output = run_suite(&mut command);
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(output.status.success(), "{command:?}\n{said}");
        println!("{said}");
    }
}
