//! `behaview keys`: the table, with what the config changes.

use crate::desk::Desk;
use serde_json::Value;

#[test]
fn the_table_shows_what_the_config_changes() {
    let desk = Desk::new();
    desk.configure("[keys]\nzoom = [\"Z\", \"f11\"]\nplanner = \"none\"\n");
    let text = String::from_utf8(desk.run(&["keys"]).stdout).unwrap();
    assert!(text.contains("Z f11") && text.contains("none "), "{text}");
    let rows: Value = serde_json::from_slice(&desk.run(&["keys", "--json"]).stdout).unwrap();
    let row = |name: &str| rows.as_array().unwrap().iter().find(|row| row["command"] == name).unwrap().clone();
    assert_eq!(row("zoom")["keys"], serde_json::json!(["Z", "f11"]));
    assert_eq!(
        (row("zoom")["usual_keys"][0].as_str(), row("planner")["keys"].as_array().unwrap().len()),
        (Some("z"), 0)
    );
    assert_eq!((row("open")["asks"].as_bool(), row("zoom")["asks"].as_bool()), (Some(true), Some(false)));
}

#[test]
fn a_key_that_cannot_be_given_stops_the_program_and_names_the_line() {
    let desk = Desk::new();
    desk.configure("[keys]\nrefresh = \"R\"\n");
    let output = desk.run(&["keys"]);
    let words = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(14), "{words}");
    assert!(words.contains("line 6: R does refresh-list already, in the list of sandboxes"), "{words}");
}
