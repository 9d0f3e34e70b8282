//! Plays Hive Mind at random: a shape on every Hive, of a kind that is left there.
use crate::json::Json;
use crate::Rng;

/// The shapes of each kind by their three letters.
const SHAPES: [(&str, &str); 3] = [
    (
        "tri",
        "ABE ADE BCF BEF CFG DEH EFI EHI FGJ FIJ HIK IJL IKL",
    ),
    (
        "arc",
        "ABD ABF ADH AEF AEH BCE BCG BDE BEI BFG BFI CEF CFJ CGJ DEI DHI EFH EFJ EHK EIJ EIK \
         FGI FHI FIL FJL GIJ HIL HKL IJK JKL",
    ),
    (
        "line",
        "ABC AEI BEH BFJ CFI DEF DHK EFG EIL FIK GJL HIJ",
    ),
];

/// The action for an open window as JSON; "null" takes the default.
pub fn decide(name: &str, view: &Json, game: &Json, rng: &mut Rng) -> String {
    match name {
        "give_token" => {
            let seat = (game["seat"].int() + 1 + rng.below(4) as i64) % 5;
            return format!("{{\"seat\":{seat}}}");
        }
        "break_tie" => return format!("{{\"seat\":{}}}", rng.pick(view["tied"].list()).int()),
        "round" => {}
        _ => return "null".to_string(),
    }
    let turned = rng.below(3);
    let mut place = Vec::new();
    for (at, hive) in view["hives"].list().iter().enumerate() {
        let unused = view["unused"][hive.text()].list();
        if unused.is_empty() {
            continue;
        }
        // The first round takes another kind for each Hive.
        let kind = match view["round"].int() {
            1 => SHAPES[(at + turned) % 3].0,
            _ => rng.pick(unused).text(),
        };
        let shapes: Vec<&str> = SHAPES.iter().find(|(name, _)| *name == kind).unwrap().1.split_whitespace().collect();
        place.push(format!("\"{}\":\"{}\"", hive.text(), rng.pick(&shapes)));
    }
    format!("{{\"place\":{{{}}}}}", place.join(","))
}
