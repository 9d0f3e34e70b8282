//! Plays Mist at random: one piece a turn, on a cell that it does not see to be taken.
use crate::json::Json;
use crate::Rng;

const ROWS: [(char, usize); 9] =
    [('A', 5), ('B', 6), ('C', 7), ('D', 8), ('E', 9), ('F', 8), ('G', 7), ('H', 6), ('I', 5)];

/// The action for an open window as JSON; "null" takes the default.
pub fn decide(name: &str, view: &Json, game: &Json, rng: &mut Rng) -> String {
    if name == "first" {
        return format!("{{\"first\":{}}}", game["seat"].int());
    }
    let forbidden: Vec<&str> = view["forbidden"].list().iter().map(Json::text).collect();
    let free: Vec<String> = ROWS
        .iter()
        .flat_map(|(row, length)| (1..=*length).map(move |number| format!("{row}{number}")))
        .filter(|cell| !forbidden.contains(&cell.as_str()))
        .filter(|cell| ["", "empty"].contains(&view["visible"][cell.as_str()].text()))
        .collect();
    if free.is_empty() {
        return "null".to_string();
    }
    format!("{{\"cells\":[\"{}\"]}}", rng.pick(&free))
}
