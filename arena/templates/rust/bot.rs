//! Speaks with the referee: each message is one line of JSON. What to play is in decide.rs.
mod decide;
mod json;

use json::Json;
use std::io::{BufRead, Write};

/// Chance, from the seed that the referee gave: splitmix64.
pub struct Rng(u64);

#[allow(dead_code)]
impl Rng {
    /// 0 to `most` - 1.
    pub fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % most as u64) as usize
    }

    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

fn submit(window: i64, action: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{{\"type\":\"submit\",\"window\":{window},\"action\":{action},\"final\":true}}").unwrap();
    out.flush().unwrap();
}

fn main() {
    let mut game = Json::Null; // what `welcome` said: seat, seats, variant, options, clock
    let mut rng = Rng(0);
    for line in std::io::stdin().lock().lines() {
        let message = Json::parse(&line.unwrap());
        match message["type"].text() {
            "welcome" => {
                rng = Rng(message["seed"].int() as u64);
                game = message;
            }
            "window" => {
                let action = decide::decide(message["window"].text(), &message["view"], &game, &mut rng);
                submit(message["id"].int(), &action);
            }
            "rejected" if message["reason"].text() == "illegal" => {
                eprintln!("rejected: {}", message["text"].text());
                submit(message["window"].int(), "null"); // the default
            }
            "over" => break,
            _ => {}
        }
    }
}
