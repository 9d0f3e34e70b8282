"""Videos of matches: a frame per step, as one viewpoint sees it, and bounded."""

from collections.abc import Callable, Iterator
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from PIL import Image

from arena.errors import MachineCannot, WrongUse
from arena.processes import ProcessLostError
from arena.replay import Recording, recording_of
from arena.viewer import VideoOptions, video, video_form, video_of, video_steps
from tests.arena.viewer.matches import HOSTILE, written


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    return recording_of(written("mist", tmp_path_factory.mktemp("matches") / "m.jsonl", name=HOSTILE, turns=3))


def nothing() -> None:
    pass


def frames_of(content: bytes) -> list[tuple[bytes, int]]:
    """Return pixels and milliseconds of each frame."""
    image = Image.open(BytesIO(content))
    found = []
    for number in range(getattr(image, "n_frames", 1)):
        image.seek(number)
        pixels = image.convert("RGB").tobytes()
        found.append((pixels, image.info["duration"]))
    return found


@pytest.mark.parametrize("form", ["GIF", "WEBP"])
def test_a_video_has_a_frame_per_step_at_its_speed(form: str, recording: Recording) -> None:
    told: list[int] = []
    made = video_of(recording, "host", VideoOptions(form=form, speed=4), lambda: told.append(1))
    frames = frames_of(made)
    assert form == Image.open(BytesIO(made)).format
    assert len(recording.steps) == len(told) >= len(frames) > 3
    assert 250 * (len(told) - 1) + video.LAST_MS == sum(duration for _, duration in frames)
    assert len(frames) == len({pixels for pixels, _ in frames})


def test_a_seat_sees_less_than_the_host(recording: Recording) -> None:
    options = VideoOptions(form="WEBP", speed=50)
    host, seat = (frames_of(video_of(recording, eyes, options, nothing)) for eyes in ("host", 0))
    assert host[-2] != seat[-2]


def test_long_matches_lose_steps_evenly_but_never_their_ends() -> None:
    assert list(range(500)) == video_steps(500)
    steps = video_steps(20_000)
    assert (0, 19_999, video.MOST_FRAMES) == (steps[0], steps[-1], len(steps))
    assert {33, 34} == {after - before for before, after in pairwise(steps)}


def test_a_long_match_is_shown_faster(monkeypatch: pytest.MonkeyPatch, recording: Recording) -> None:
    def frames(_: dict[str, Any], steps: list[int]) -> Iterator[bytes]:
        for number, _step in enumerate(steps):
            image, png = Image.new("RGB", (16, 16)), BytesIO()
            image.putpixel((number % 16, number // 16), (255, 255, 255))
            image.save(png, "PNG")
            yield png.getvalue()

    monkeypatch.setattr(video, "_frames", frames)
    monkeypatch.setattr(video, "MOST_FRAMES", 100)
    long = replace(recording, steps=recording.steps[:1] * 900)
    made = frames_of(video_of(long, "host", VideoOptions(form="WEBP", speed=1), nothing))
    assert len(made) <= 100
    seconds = (sum(ms for _, ms in made) - video.LAST_MS) / 1000
    assert 0.99 * video.MOST_SECONDS < seconds <= video.MOST_SECONDS


def lost(*_: object) -> Callable[..., Any]:
    raise ProcessLostError("it ended")


def test_a_frame_that_cannot_be_made_is_an_error(monkeypatch: pytest.MonkeyPatch, recording: Recording) -> None:
    monkeypatch.setattr("arena.processes.SideProcess.ask", lost)
    with pytest.raises(MachineCannot, match="a frame could not be drawn: it ended"):
        video_of(recording, "host", VideoOptions(form="GIF", speed=1), nothing)


def test_other_files_and_a_missing_extra_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "GIF" == video_form(Path("a/b.GIF"))
    for name in ("b.webm", "b", "gif", ".gif"):
        with pytest.raises(WrongUse, match=r"must end with \.gif or \.webp"):
            video_form(Path(name))
    monkeypatch.setattr(video, "pictures_installed", lambda: False)
    with pytest.raises(MachineCannot, match=r"needs the extra 'pictures': pip install 'mist-arena\[pictures\]'"):
        video_form(Path("b.gif"))
