//! Plays The Fight For a Name at random: short walks over the hexes, and any vote. It visits no pillar.
use crate::json::Json;
use crate::Rng;

const ROWS: [i64; 13] = [1, 2, 3, 4, 3, 4, 3, 4, 3, 4, 3, 2, 1];
const WAYS: [(&str, i64, i64); 6] =
    [("N", 0, -2), ("NE", 1, -1), ("SE", 1, 1), ("S", 0, 2), ("SW", -1, 1), ("NW", -1, -1)];

/// The action for an open window as JSON; "null" takes the default.
pub fn decide(name: &str, view: &Json, _game: &Json, rng: &mut Rng) -> String {
    match name {
        "challenge" => format!("{{\"pick\":[{}]}}", rng.below(view["numbers"].list().len())),
        "move" => moved(view, rng),
        "pillar" => "null".to_string(),
        _ => match view["candidates"].list() {
            [] => "null".to_string(),
            candidates => format!("{{\"seat\":{}}}", rng.pick(candidates).int()),
        },
    }
}

fn moved(view: &Json, rng: &mut Rng) -> String {
    let places = places();
    let position = view["position"].text();
    let Some((_, mut x, mut y)) = places.iter().find(|(name, _, _)| name == position).cloned() else {
        return "null".to_string(); // it has a title, or stands on a pillar
    };
    let mut path = Vec::new();
    for _ in 0..rng.below(view["mp"].int().clamp(0, 3) as usize + 1) {
        let ways: Vec<&(&str, i64, i64)> = WAYS
            .iter()
            .filter(|(_, dx, dy)| places.iter().any(|place| (place.1, place.2) == (x + dx, y + dy)))
            .collect();
        let (way, dx, dy) = rng.pick(&ways);
        path.push(format!("\"{way}\""));
        (x, y) = (x + dx, y + dy);
    }
    format!("{{\"path\":[{}]}}", path.join(","))
}

/// Every hex and Start, with its place on the page.
fn places() -> Vec<(String, i64, i64)> {
    let cells = (0..13).flat_map(|y| (0..ROWS[y]).map(move |at| (2 * at - ROWS[y] + 1, y as i64)));
    cells
        .enumerate()
        .map(|(number, (x, y))| match number {
            18 => ("Start".to_string(), x, y),
            _ => ((if number < 18 { number + 1 } else { number }).to_string(), x, y),
        })
        .collect()
}
