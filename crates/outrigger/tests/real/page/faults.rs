//! The page says when a mistake in the settings closes a folder to agents.

use testkit::Look;

use super::{Page, inspect};
use crate::served_household_with;

const BANNER: &str = "[data-notice=faults]";

#[test]
fn a_fault_is_shown_until_it_is_mended() {
    let Some(house) = served_household_with(&["axe"]) else {
        return;
    };
    let page = Page::open(&house, Look::DESK);
    assert_eq!(page.browser.count(BANNER), 0);

    house.write(".outrigger.toml", "ignore = '*.sql<b>'\n");
    page.browser.wait_for(BANNER);
    let place = house.path(".outrigger.toml");
    let place = format!("{}:1:10", place.display());
    let shown = page.browser.texts(BANNER).concat();
    assert!(shown.contains(&place), "{shown}");
    assert!(shown.contains("has to be a list of strings"), "{shown}");
    inspect(&house, &page.browser, Look::DESK, "a fault");

    // A page that is opened now shows it too.
    let other = Page::open(&house, Look::PHONE);
    other.browser.wait_for(BANNER);

    // Another mistake replaces it.
    house.write(".outrigger.toml", "ignore = ['a[z-a]<b>']\n");
    page.browser.wait_until("the other fault", || {
        page.browser.texts(BANNER).concat().contains("a[z-a]<b>")
    });

    house.write(".outrigger.toml", "");
    page.browser.wait_for_no(BANNER);
    other.browser.wait_for_no(BANNER);
}
