"""Agents, spaces, infos and pictures that the environments of PettingZoo and Gymnasium have in common.

`protocol.text` draws the boards, and this module their letters.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box, Dict

from arena.learning.episode import Episode
from protocol.text import Picture, drawing_of

Observed = dict[str, npt.NDArray[Any]]
"""The arrays `observation` and `action_mask`."""
NO_WINDOW = -1
"""Window number in the infos of a seat that owes no action."""


def agents_of(episode: Episode) -> list[str]:
    """Return the names of the agents: `seat_0`, `seat_1` and so on."""
    return [f"seat_{seat}" for seat in range(episode.seats)]


def check_begun(agents: Sequence[str]) -> None:
    """Raise ResetNeeded if no agent remains that may step."""
    if not agents:
        raise ResetNeeded("the match is over, or not begun: call reset()")


def observation_space(episode: Episode) -> Dict:
    """Return the space of a seat's observations and masks."""
    encoder = episode.encoder
    low, high = encoder.bounds
    return Dict(
        {
            "observation": Box(low, high, encoder.shape, encoder.dtype),
            "action_mask": Box(0, 1, (episode.choices,), np.int8),
        }
    )


def state_space(episode: Episode) -> Box:
    """Return the space of `state_of`."""
    encoder = episode.encoder
    low, high = encoder.bounds
    dtype: Any = encoder.dtype
    return Box(low, high, (episode.seats * math.prod(encoder.shape),), dtype)


def state_of(episode: Episode) -> npt.NDArray[Any]:
    """Return the observations of all seats as one vector, in order of seats, for critics that see everything."""
    return np.concatenate([episode.observation(seat).ravel() for seat in range(episode.seats)])


def info_of(episode: Episode, seat: int, *, text: bool) -> dict[str, Any]:
    """Return the infos of a seat: numbers only, unless `text` adds the window's name.

    `window` is the index of the window's name among the game's window names, or -1 if the seat owes no action.
    `refused` counts its refused choices in this match.
    """
    name, number = "", NO_WINDOW
    if episode.window is not None and seat in episode.drafts:
        name = episode.window.name
        number = list(episode.game.actions).index(name)
    info: dict[str, Any] = {"window": number, "refused": episode.refused[seat]}
    if text:
        info["window_name"] = name
    return info


def metadata(episode: Episode, *, parallel: bool) -> dict[str, Any]:
    """Return the metadata that PettingZoo requires."""
    return {
        "name": f"{episode.game.name.replace('-', '_')}_v0",
        "render_modes": list(MODES),
        "render_fps": FRAMES_A_SECOND,
        "is_parallelizable": parallel,
    }


MODES = ("ansi", "rgb_array")
FRAMES_A_SECOND = 2
Pixels = npt.NDArray[np.uint8]
WIDE, HIGH = 6, 12
"""Width and height of a letter in pixels, including its margin; line-drawing characters have no margin."""
COLUMNS, LINES = 110, 40
"""Size of a picture in letters, the same for all pictures of a game; any text beyond it is cut off."""
BACK, FRONT = (24, 26, 31), (214, 216, 220)
COLOURS = {
    "red": (224, 82, 82),
    "blue": (70, 120, 230),
    "green": (92, 184, 92),
    "yellow": (230, 200, 70),
    "magenta": (190, 100, 210),
    "cyan": (80, 190, 200),
    "white": (255, 255, 255),
    "dark_orange": (240, 140, 40),
    "grey35": (88, 88, 88),
    "bright_black": (120, 124, 132),
}
"""The colours that boards use; any other word of a style is ignored here."""
LETTERS = bytes.fromhex(
    "0000000000 00005f0000 0007000700 147f147f14 242a7f2a12 2313086462 3649562050 0008070300 001c224100"
    " 0041221c00 2a1c7f1c2a 08083e0808 0080703000 0808080808 0000606000 2010080402 3e5149453e 00427f4000"
    " 7249494946 2141494d33 1814127f10 2745454539 3c4a494931 4121110907 3649494936 464949291e 0000140000"
    " 0040340000 0008142241 1414141414 0041221408 0201590906 3e415d594e 7c1211127c 7f49494936 3e41414122"
    " 7f4141413e 7f49494941 7f09090901 3e41415173 7f0808087f 00417f4100 2040413f01 7f08142241 7f40404040"
    " 7f021c027f 7f0408107f 3e4141413e 7f09090906 3e4151215e 7f09192946 2649494932 03017f0103 3f4040403f"
    " 1f2040201f 3f4038403f 6314081463 0304780403 6159494d43 007f414141 0204081020 004141417f 0402010204"
    " 4040404040 0003070800 2054547840 7f28444438 3844444428 384444287f 3854545418 00087e0902 18a4a49c78"
    " 7f08040478 00447d4000 2040403d00 7f10284400 00417f4000 7c04780478 7c08040478 3844444438 fc18242418"
    " 18242418fc 7c08040408 4854545424 04043f4424 3c4040207c 1c2040201c 3c4030403c 4428102844 4c9090907c"
    " 4464544c44 0008364100 0000770000 0041360800 0201020402"
)
"""The printable characters of ASCII: five columns each, with the lowest bit at the top."""


def checked_mode(mode: str | None) -> str | None:
    """Return the mode. Raises ValueError if it does not exist."""
    if mode is not None and mode not in MODES:
        raise ValueError(f"render_mode: there is no {mode!r}; there are {', '.join(MODES)}")
    return mode


def rendered(episode: Episode, mode: str | None, seat: int | None = None) -> str | Pixels | None:
    """Render a seat's view, or everything including secrets if `seat` is None. Return None if `mode` is None."""
    if mode is None:
        return None
    view = episode.game.host_view(episode.table.state) if seat is None else episode.view(seat)
    board = drawing_of(episode.game.name).board
    if mode == "ansi":
        return board(view, (), plain=True).plain
    return pixels(board(view, (), plain=False))


def pixels(text: Picture) -> Pixels:
    """Draw the text as an RGB picture of shape (height, width, 3)."""
    canvas = np.empty((LINES * HIGH, COLUMNS * WIDE, 3), np.uint8)
    canvas[:] = BACK
    line = column = 0
    for run, style in text.runs:
        front, back = _colours(style)
        for letter in run:
            if letter == "\n":
                line, column = line + 1, 0
                continue
            if line < LINES and column < COLUMNS:
                box = canvas[line * HIGH : (line + 1) * HIGH, column * WIDE : (column + 1) * WIDE]
                box[:] = back
                box[_glyph(letter)] = front
            column += 1
    return canvas


def _colours(style: str) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Return the colours of the letters and of their background."""
    front, _, back = f" {style} ".partition(" on ")
    named = [COLOURS[word] for word in front.split() if word in COLOURS]
    return (named or [FRONT])[0], COLOURS.get(back.strip(), BACK)


def _glyph(letter: str) -> npt.NDArray[np.bool_]:
    """Return the pixels that are set in a letter's box, of shape (height, width)."""
    box = np.zeros((HIGH, WIDE), bool)
    middle, centre = HIGH // 2, WIDE // 2
    slope = np.arange(HIGH) * WIDE // HIGH
    up, down, left, right = slice(0, middle + 1), slice(middle, HIGH), slice(0, centre + 1), slice(centre, WIDE)
    match letter:
        case "│":
            box[:, centre] = True
        case "─":
            box[middle] = True
        case "┄":
            box[middle, ::2] = True
        case "╲":
            box[np.arange(HIGH), slope] = True
        case "\N{BOX DRAWINGS LIGHT DIAGONAL UPPER RIGHT TO LOWER LEFT}":
            box[np.arange(HIGH), WIDE - 1 - slope] = True
        case "└" | "├":
            box[up, centre] = box[middle, right] = True
            box[down, centre] |= letter == "├"
        case "▶" | "●" | "◯" | "·":
            size = {"·": 1, "◯": 2}.get(letter, 2)
            box[middle - size : middle + size, centre - size : centre + size] = True
            if letter == "◯":
                box[middle - 1 : middle + 1, centre - 1 : centre + 1] = False
        case _ if " " <= letter <= "~":
            columns = np.frombuffer(LETTERS, np.uint8).reshape(-1, WIDE - 1)[ord(letter) - ord(" ")]
            box[2:10, : WIDE - 1] = np.unpackbits(columns[:, None], axis=1, bitorder="little").T
        case _:
            box[2:9, left] = True
    return box
