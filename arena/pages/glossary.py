"""The glossary of the pages for spectators, and the glossary entry of each table column."""

GLOSSARY = {
    "95 % interval": "The range in which the true rating most likely lies. The more results, the narrower it is.",
    "bot": "A program that plays.",
    "bracket": "The tree of a knock-out: who met whom, and who went on.",
    "Buchholz": "The sum of the points of a bot's opponents, which orders bots with equal points.",
    "bye": "A round in which a bot has no opponent.",
    "conduct": "How a bot behaved in a match: ok, or its first fault.",
    "deal": "One start of a game, with all that is random in it. Each deal is played several times, with the bots "
    "in other seats, so that luck and seats even out.",
    "default": "The move that the game makes for a bot that sends no legal action in time.",
    "Elo": "The scale of ratings: 400 points more are odds of 10 to 1.",
    "fault": "Misconduct for which the referee ends a bot's match, such as a crash, too many messages or a wrong "
    "start.",
    "forfeit": "The loss of a match by a fault.",
    "gauntlet": "A format in which some bots meet all others, and the others do not meet.",
    "house bot": "A bot of the host that fills empty seats. It does not compete.",
    "knock-out": "A format in which a bot that loses a meeting leaves the tournament.",
    "ladder": "A format in which bots of similar rating meet.",
    "match": "One game from its deal to its result. 18a and 18b are matches from the same deal, number 18.",
    "mean points": "Points per match. A match has 1 point for the first place and 0 for the last, in between the "
    "share of the other seats that were ranked below; a tie counts half.",
    "move": "What a bot does when the game asks it to act.",
    "place": "A bot's position in a table, or a seat's in a match.",
    "points": "The result of a match as a number from 0 (last) to 1 (first).",
    "rating": "A bot's strength as one number, estimated from all results; the average is 0.",
    "referee": "The program that knows all secrets of a match, applies the rules and tells each bot what it may "
    "know.",
    "refused message": "A message of a bot that the referee could not act on, for example an illegal move.",
    "replay": "A match to look at again, move by move, as everybody saw it or as one bot did.",
    "round robin": "A format in which everyone meets everyone.",
    "season": "Several stages, such as groups and a final.",
    "seat": "A place at the table, counted from 0.",
    "stage": "A part of a season: one tournament, or one for each group.",
    "Swiss": "A format in which bots with about as many points meet.",
    "time per move": "The thinking time that the referee counts for a bot's move.",
    "transcript": "The file of everything that the referee received and sent in a match. Anybody can check it.",
    "void attempt": "A match that does not count, because the referee or the machine was at fault.",
    "withdrawn": "A bot that plays no more. Its results stay.",
}
"""Meaning of each word, in alphabetical order."""
OF_COLUMNS = {
    "95 % interval": "95 % interval",
    "Buchholz": "Buchholz",
    "W-T-L": "points",
    "bot": "bot",
    "byes": "bye",
    "conduct": "conduct",
    "defaults": "default",
    "faults": "fault",
    "house": "house bot",
    "longest": "time per move",
    "match": "match",
    "matches": "deal",
    "matches lost by a fault": "fault",
    "mean points": "mean points",
    "median time per move": "time per move",
    "place": "place",
    "points": "points",
    "rating": "rating",
    "refused": "refused message",
    "seat": "seat",
    "seats": "seat",
    "time per move": "time per move",
}
"""Glossary word of each column heading."""
PATH = "glossary.html"


def anchor(word: str) -> str:
    """Return the id of a word's entry on the page."""
    return "".join(letter if letter.isalnum() else "-" for letter in word.lower()).strip("-")
