//! Plays Runes to Ruins at random: the symbol that was drawn for it, and each round a vote and a guess.
use crate::json::Json;
use crate::Rng;

const DIVINE: [&str; 6] = ["Divider", "Slope", "Splitter", "Zig-Zag", "Enclosure", "Box"];
const MUNDANE: [&str; 6] = ["Straight", "Torn", "Origin", "Cross", "Angled", "Slash"];

/// The action for an open window as JSON; "null" takes the default.
pub fn decide(name: &str, _view: &Json, _game: &Json, rng: &mut Rng) -> String {
    if name != "round" {
        return "null".to_string();
    }
    let mut guess: Vec<String> = Vec::new();
    while guess.len() < 6 {
        let rune = format!("\"{} {}\"", rng.pick(&MUNDANE), rng.pick(&DIVINE));
        if !guess.contains(&rune) {
            guess.push(rune);
        }
    }
    format!("{{\"votes\":{{\"{}\":1}},\"guesses\":[[{}]]}}", 1 + rng.below(15), guess.join(","))
}
