"""Labels of bots in a competition, and which of them look alike."""

import re
from collections.abc import Sequence
from pathlib import Path
from unicodedata import category, name, normalize

from arena.config.entries import short_name
from referee.bot_folder import BotFolder
from referee.display_text import is_blank, printable_name

_SPELLED = re.compile(r"\\x([0-9a-f]{2})|\\u([0-9a-f]{4})|\\U(00(?:0[0-9a-f]|10)[0-9a-f]{4})")
"""Pattern of an escaped character in the result of `printable_name`."""
_SAME_SHAPE = {
    "A": "ΑАᎪ",
    "B": "ΒВᏴꞴ",
    "C": "ϹСᏟ",
    "D": "Ꭰ",
    "E": "ΕЕᎬ",
    "F": "Ϝ",
    "G": "ԌᏀ",
    "H": "ΗНᎻ",
    "I": "ΙІӀƖ",
    "J": "ͿЈᎫ",
    "K": "ΚКᏦ",
    "L": "Ꮮ",
    "M": "ΜМϺᎷ",
    "N": "Ν",
    "O": "ΟОՕ",
    "P": "ΡРᏢ",
    "R": "ƦᎡ",
    "S": "ЅՏᏚ",
    "T": "ΤТᎢ",
    "U": "Ս",
    "V": "ѴᏙ",
    "W": "ԜᏔ",
    "X": "ΧХꞳ",
    "Y": "ΥУҮϒ",
    "Z": "ΖᏃ",
    "a": "ɑαа",
    "b": "Ьƅ",
    "c": "ϲсᴄ",
    "d": "ԁ",
    "e": "еҽ",
    "g": "ɡց",
    "h": "һհ",
    "i": "ıɩɪιі",
    "j": "ϳј",
    "l": "ӏ",
    "n": "ո",
    "o": "οσоօᴏ",
    "p": "ρрϱ",
    "q": "ԛգ",
    "r": "гᴦ",
    "s": "ѕꜱ",
    "u": "υսᴜ",
    "v": "νѵᴠ",
    "w": "ԝաѡᴡ",
    "x": "х",
    "y": "уүγʏ",
    "z": "ᴢ",
    "3": "ЗӠƷ",
    "6": "б",
    "8": "Ȣȣ",
    "|": "∣ǀ",
}
"""Latin, Greek, Cyrillic, Armenian and Cherokee letters that look like an ASCII letter, from the confusables of
Unicode's Technical Standard 39. Letters of other scripts are compared unchanged."""
_LATIN = {ord(letter): latin for latin, letters in _SAME_SHAPE.items() for letter in letters}
_MINUS = "\u2212"


def label_of(given: str, beside: Path | None = None) -> str:
    """Return a bot's label: the last part of its path, with its revision if it has one.

    Args:
        given: the bot's name as typed.
        beside: base folder of relative paths; None is the current one.
    """
    return printable_name(short_name(given, beside))


def labels_of(names: Sequence[str], beside: Path | None = None) -> list[str]:
    """Return a label for each name: short labels, or whole names if two short labels look alike."""
    different = list(dict.fromkeys(names))
    short = {given: label_of(given, beside) for given in different}
    if first_alike([short[given] for given in different]):
        return [printable_name(given) for given in names]
    return [short[given] for given in names]


def entrant_label(labels: Sequence[str], entrant: int) -> str:
    """Return the label of an entrant, or `entrant N` if it has none."""
    if entrant < len(labels):
        return labels[entrant]
    return f"entrant {entrant}"


def first_alike(labels: Sequence[str]) -> tuple[int, int] | None:
    """Return the indices of the first two labels that look alike, in ascending order; None if all differ."""
    seen: dict[tuple[str, str], int] = {}
    for place, label in enumerate(labels):
        shapes = [(kind, shape) for kind, shape in zip(("folded", "as it is"), _shapes(label), strict=True)]
        for shape in shapes:
            if shape in seen:
                return seen[shape], place
        for shape in shapes:
            seen[shape] = place
    return None


def look_alike(label: str, other: str) -> bool:
    """Return True if a reader may confuse two labels."""
    return first_alike((label, other)) is not None


def difference(label: str, other: str) -> str:
    """Describe how two labels that look alike differ."""
    if label == other:
        return "they are the same"
    here, there = _written(label), _written(other)
    for letter in here + there:
        if not letter.isascii() and (letter not in here or letter not in there):
            where = other
            if letter in here:
                where = label
            return f"{where} has {name(letter, f'U+{ord(letter):04X}')}"
    if here.casefold() == there.casefold():
        return "only upper and lower case differ"
    if "".join(here.split()) == "".join(there.split()):
        return "only spaces differ"
    return "they differ in letters of the same shape"


def other_name(bot: BotFolder, label: str) -> str | None:
    """Return a warning if a bot.toml has another name than the label without a revision; None if not."""
    if bot.name in {label, label.partition("@")[0]}:
        return None
    return f'its bot.toml says name = "{printable_name(bot.name)}"; tables and replays call it {label}'


def _shapes(label: str) -> tuple[str, str]:
    """Return a label's shapes without spaces, case-folded and unchanged in case.

    Letters that look alike in one case need not do so in the other: `I` looks like `l`, but `i` does not.
    """
    text = "".join(_visible(letter) for letter in _written(label))
    # Translated twice, because Unicode folds the lunate sigma, which looks like a C, into one that does not.
    text = "".join(normalize("NFKC", text.translate(_LATIN)).translate(_LATIN).split())
    folded = text.casefold().translate(_LATIN).replace("0", "o").replace("1", "l").replace("|", "l")
    as_it_is = re.sub("[1I|]", "l", text).replace("0", "O")
    return folded.replace("rn", "m"), as_it_is.replace("rn", "m")


def _visible(letter: str) -> str:
    """Return a visible character unchanged, a space for any white space, and "" for an invisible character."""
    if letter.isspace():
        return " "
    kind = category(letter)
    if kind in {"Cc", "Cf"} or is_blank(letter):
        return ""
    if kind == "Pd" or letter == _MINUS:
        return "-"
    return letter


def _written(label: str) -> str:
    """Return a label with the escapes of `printable_name` replaced by their characters."""
    return _SPELLED.sub(lambda found: chr(int(found[1] or found[2] or found[3], 16)), label)
