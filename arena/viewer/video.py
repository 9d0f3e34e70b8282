"""A recorded match as a video: an animated GIF or WebP, with a frame per step."""

from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from arena.errors import MachineCannot, WrongUse
from arena.live import Eyes
from arena.processes import ProcessLostError, SideProcess
from arena.replay import Recording, thinned
from arena.viewer.page import page_data
from arena.viewer.pictures import PictureAnswer, PictureOrder, make_picture, pictures_installed

FORMATS = {".gif": "GIF", ".webp": "WEBP"}
MOST_FRAMES = 600
"""Maximum number of frames. Of a longer match, steps are left out evenly."""
MOST_SECONDS = 90.0
"""Maximum length of a video. A longer match is shown faster."""
SHORTEST_MS = 20
"""Minimum time of a frame; many programs show shorter ones more slowly."""
LAST_MS = 4_000
"""Time of the last frame, before the video starts again."""
FRAME_SECONDS = 30.0
"""Maximum seconds in which one frame is made."""
COLOURS = 128
EFFORT, METHOD = 60, 4
"""Effort for small lossless files, of 100 and of 6."""


class VideoOptions(Struct, frozen=True, kw_only=True):
    """Form of a video."""

    form: str
    """Pillow's name of the format."""
    speed: float
    """Steps per second."""


def video_form(path: Path) -> str:
    """Return Pillow's name of a video's format by its file name.

    Raises:
        WrongUse: it is no such file.
        MachineCannot: the extra `pictures` is not installed.
    """
    form = FORMATS.get(path.suffix.lower())
    if form is None:
        raise WrongUse(f"--video: {path}: its name must end with {' or '.join(FORMATS)}")
    if not pictures_installed():
        raise MachineCannot("--video: needs the extra 'pictures': pip install 'mist-arena[pictures]'")
    return form


def video_of(recording: Recording, only: Eyes | None, options: VideoOptions, done: Callable[[], None]) -> bytes:
    """Return a match as a video, as a viewpoint sees it. `done` is called after each of `video_steps`.

    Raises:
        MachineCannot: a frame could not be made.
    """
    from PIL import Image  # noqa: PLC0415

    data = page_data(recording, only)
    steps = video_steps(len(data["steps"]))
    if not steps:
        raise MachineCannot("--video: the match has no steps")
    # The last frame has the most colours, so all frames share its palette: fewer colours make small files.
    frames = _frames(data, [steps[-1], *steps])
    last = Image.open(BytesIO(next(frames))).convert("RGB")
    palette = last.quantize(COLOURS)
    shown: list[Image.Image] = []
    durations: list[int] = []
    step_ms = max(SHORTEST_MS, int(min(1000 / options.speed, 1000 * MOST_SECONDS / len(data["steps"]))))
    before = b""
    for number, png in enumerate(frames):
        at, following = steps[number], steps[number + 1 : number + 2]
        duration = LAST_MS if not following else step_ms * (following[0] - at)
        if png == before:
            durations[-1] += duration
        else:
            image = Image.open(BytesIO(png)).convert("RGB")
            shown.append(image.quantize(palette=palette, dither=Image.Dither.NONE))
            durations.append(duration)
        before = png
        done()
    video = BytesIO()
    more: dict[str, Any] = {"save_all": True, "append_images": shown[1:], "duration": durations, "loop": 0}
    if options.form == "WEBP":
        more |= {"lossless": True, "quality": EFFORT, "method": METHOD}
    shown[0].save(video, options.form, **more)
    return video.getvalue()


def video_steps(steps: int) -> list[int]:
    """Return the numbers of the steps that are shown, of a match with so many: the last one, too."""
    return thinned(range(steps), MOST_FRAMES)


def _frames(data: dict[str, Any], steps: list[int]) -> Iterator[bytes]:
    """Yield the frame of each of these steps as PNG."""
    encoded, process = msgspec.json.encode(data), SideProcess[PictureOrder, PictureAnswer](make_picture)
    try:
        for at in steps:
            order = PictureOrder(
                game=data["game"], data=encoded, at=at, eyes=data["eyes"][0], form="png", is_frame=True
            )
            answer = process.ask(order, FRAME_SECONDS)
            if not answer.content:
                raise MachineCannot(f"--video: step {at + 1} could not be drawn: {answer.failure}")
            yield answer.content
    except ProcessLostError as error:
        raise MachineCannot(f"--video: a frame could not be drawn: {error}") from None
    finally:
        process.kill()
