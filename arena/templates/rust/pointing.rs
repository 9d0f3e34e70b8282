//! Plays Pointing at random: nobody, or anybody else.
use crate::json::Json;
use crate::Luck;

/// The action for an open window as JSON; "null" takes the default.
pub fn decide(name: &str, view: &Json, game: &Json, luck: &mut Luck) -> String {
    if name == "vote" {
        return format!("{{\"seat\":{}}}", luck.pick(view["tied"].list()).int());
    }
    if luck.below(2) == 0 {
        return "{\"target\":null}".to_string();
    }
    let (seat, seats) = (game["seat"].int() as usize, view["seats"].int() as usize);
    format!("{{\"target\":{}}}", (seat + 1 + luck.below(seats - 1)) % seats)
}
