"""The rules of Runes to Ruins in one page: docs/games/runes_to_ruins.md, R1 to R8."""

from protocol.games.runes_to_ruins.runes import RUNES
from protocol.text import Terms

_PAGE = """\
RUNES TO RUINS, variant {variant}. Five seats, 0 to 4. Each has a secret symbol of six runes. A seat whose symbol
is guessed is discovered. The last seat that is not discovered wins; the first that is discovered is eliminated.

RUNES. There are 36, one for each Mundane group (Straight, Torn, Origin, Cross, Angled, Slash) and each Divine
group (Divider, Slope, Splitter, Zig-Zag, Enclosure, Box). A rune is named by both, Mundane first: Angled Slope.
Mundane and Divine are the two Orders. A rune is drawn by line segments between nine points, 0 1 2 / 3 4 5 / 6 7 8.
Each rune below with its segments, each by its two points, and then how many straight lines they make (segments
that go on straight are one line): {runes}

SYMBOLS. Six different runes in positions 0 1 2 / 3 4 5, two rows of three. Runes side by side share the three
points of their common side, those across a corner the point of that corner. A symbol is legal if in one Order all
six groups differ and in the other no group has more than three runes, and if all six runes hang together: two
runes are joined if both have the end of a segment on a common point. Segments within one rune need not hang
together.

ROUND 1 (window symbol). Every seat submits a symbol in secret. If two or more submit the same, that symbol becomes
invalid for everyone and all seats submit anew, at most ten times; after that, seats that clash get drawn symbols.
A seat that submits nothing gets a drawn legal symbol.

EACH LATER ROUND is one window, round. Before round 2 each seat has 6 insight. Your action may hold any of the
parts below; what they cost is added up first, and an action that costs more than you have is rejected whole. They
are resolved in this order: payments, votes, visions, learned insight, guesses, dark, mantra, the end. Discovered
seats play on.

VOTES. One vote for one of 15 conditions. For 1 insight (more votes) three more votes, once a round; they may go to
different conditions and need not all be cast. For 1 insight (told) you are told which condition won. Or abstain,
not two rounds running: then you neither cast nor buy votes, but may buy the answer. You may also do neither. The
condition with the most votes wins, the lowest number in a tie; with no valid vote the lowest that is free. One
that has won before is not free, and votes for it are void; when 12 have won, all are free again. The winner is
told only to its buyers. At the start of the next round it pays insight; the last round's pays nothing. Conditions:
1 most, 2 fewest line segments in the symbol; 3 most, 4 fewest straight lines (for these the runes' numbers are
added up); 5 most joined pairs among the seven pairs of runes side by side; 6 most runes in one group; 7 most runes
that share a group with another rune of the symbol; 8 most, 9 fewest runes that some other seat uses too; 10 least
insight held; 11 least mantra received so far; 12 fewest visions used in the round just ended; 13 one insight for
each different Mundane group in the symbol; 14 the same for Divine; 15 two to each seat, and two more to each that
is undiscovered. 1 to 12 rank the seats: 6 to the best, then 5, 4, 3, 2; equal seats get the same, and the next
lower value gets 1 less. From round 5 on everyone gets 1 more, from round 8 on 2 more, and so on every third round.
All are told what each seat earned; of one that abstained only its place.

VISIONS ask about other seats, discovered or not. Each kind at most once a round. The only seat that uses a kind in
a round gains 1 insight for it.
assign (1 insight): four different runes, one to each other seat: does it use that rune?
divine, mundane (1 each): a group: does each other seat use a rune of it?
veil (1, then 2, 3, ... with each use in the match): this round the three above answer the opposite about you.
pattern (2): one to four other seats, and a group for each of the six positions (of either Order, repeats allowed):
for each position, how many of these seats have a rune of that group there.
place (2): an Order and a position: the groups of that Order that any other seat has there, not how often.
except (3): a seat and up to five runes: a drawn rune of its symbol that you did not name.
mirror (reveals a rune of yours to all): a seat: for each vision and learned insight of that seat in this round
that names or covers you, the answer to the same question about that seat. It is never turned by veil; veil, mirror
and window themselves are not mirrored. pattern, except, count and has cover the seats that they name, shared both
of its seats, all other kinds cover all other seats.
window (reveals a rune of yours and its position to all): a seat: its rune in that position. Once a match, and not
if you are discovered.

LEARNED INSIGHT costs no insight, but mantra, as said for each kind. At most 6 of each kind a round, and at most
twice the round's number in all. Other seats only. rune (a rune): how many use it; 2 mantra for each that does.
count (a seat, a group, a number 0 to 6): how many runes of that group it uses; 3 times the difference. has (a
seat, a rune): whether it uses it; 4 if not. line (a rune, and row 0 or 1 or column 0, 1 or 2): how many use it
there; 5 if none does. shared (two seats): how many runes they share; 6 if none. most (one to six runes): the
greatest number of them in one seat's symbol; 3 for each named rune not in that number.

GUESSES. Six different runes in their positions; it need not be a legal symbol. The first of a round is free; each
further one costs 1, 2, 3, ... insight, counting all that you bought in the match. It is compared with every other
seat that was undiscovered at the start of the round and is not under light: exact (right rune, right position),
moved (a rune of the symbol in a wrong position), group (any other rune that shares a group with the rune in that
position). You are told the three numbers for the closest symbol (most exact, then moved, then group), not whose it
is. If all six are exact, the seat is discovered and all are told; its finder gains 10 insight, several finders 5
each.

ARTEFACTS, if the option artefacts gives you any. light: no guess is compared with you this round; not two rounds
running. dark, on any seat: at the end of the round its mantra grows by 5 for every full 5 it has, at least by 10;
several act one after another; it counts as received; no effect in the last round.

MANTRA is a debt, settled at the end of each round: 6 go for free; then insight is spent one by one and removes 7,
8, 9, 10, 20, and at last all that is left, each only while there is at least as much mantra. The rest is carried
over and settled in the next round like new mantra. With 3 insight and 17 mantra: 17 - 6 = 11, 11 - 7 = 4, so 2
insight and 4 mantra are left.

THE END is after a round that leaves at most one seat undiscovered, or after the number of rounds in the option
rounds. An undiscovered seat is best, and a later discovery is better. Seats discovered in one round, or never, are
ranked by the sum over the other seats of their best exact against them (less is better), then best moved, then
best group; then by less mantra received in the match; then drawn. Only guesses that were compared with the seat
count. The best seat wins 2 tokens. A seat with 10 mantra or more at the end gets no token: then the next seat of
the ranking that may gets 1.

TIME. If you submit nothing in a round, you do nothing; that is neither a vote nor an abstention.
"""


def page(variant: str) -> str:
    """See `protocol.text.GameText.rules`."""
    runes = "; ".join(f"{rune.mundane} {rune.divine}: {rune.segments} ({rune.straight_lines})" for rune in RUNES)
    return _PAGE.format(variant=variant, runes=runes)


_FIELDS = {
    "seat": "your own",
    "round": "the round being played, from 1",
    "rounds": "the last round that there can be",
    "attempt": "in round 1 how many times symbols are being submitted; later how many it took",
    "submitted": "the symbols that you submitted in attempts that are over",
    "symbol": "your symbol; null until all are set",
    "insight": "the insight that you hold",
    "mantra": "the mantra that you hold",
    "may_abstain": "whether you may abstain in this round",
    "may_window": "whether you may use the vision window in this round",
    "veil_cost": "what your next veil costs",
    "guess_cost": "what your next guess costs after the first of a round",
    "discovered": "each discovered seat to the round of it",
}
_ARTEFACTS = {
    "artefacts": "the artefacts that you have",
    "may_light": "whether you may use light in this round",
}


def fields(terms: Terms) -> dict[str, str]:
    """See `protocol.text.GameText`."""
    return _FIELDS | (_ARTEFACTS if terms.options.get("artefacts", {}).get(str(terms.seat)) else {})
