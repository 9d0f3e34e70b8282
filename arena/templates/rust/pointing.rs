//! Plays Pointing at random: nobody, or anybody else.
use crate::json::Json;
use crate::Rng;

/// The action for an open window as JSON; "null" takes the default.
pub fn decide(name: &str, view: &Json, game: &Json, rng: &mut Rng) -> String {
    if name == "vote" {
        return format!("{{\"seat\":{}}}", rng.pick(view["tied"].list()).int());
    }
    if rng.below(2) == 0 {
        return "{\"target\":null}".to_string();
    }
    let (seat, seats) = (game["seat"].int() as usize, view["seats"].int() as usize);
    format!("{{\"target\":{}}}", (seat + 1 + rng.below(seats - 1)) % seats)
}
