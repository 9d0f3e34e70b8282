"""The face of a competition: fields of its file that only spectators read. No result depends on them.

A run writes the face into the results folder, where pages find it. The fields may change at any time: the next run
writes them anew.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from arena.errors import as_wrong_use, writing
from referee.linux.files import MODE, read_regular, write_bytes_whole

FACE = "face.json"
"""File in a results folder with the fields of the face."""
MOST_BYTES = 4 * 1024 * 1024
"""Maximum size of that file."""
MOST_IMAGE_BYTES = 1024 * 1024
IMAGES: Mapping[str, tuple[bytes, ...]] = {
    "face.png": (b"\x89PNG\r\n\x1a\n",),
    "face.jpg": (b"\xff\xd8\xff",),
    "face.webp": (b"RIFF", b"WEBP"),
}
"""First bytes of each kind of image, by the name of the copy in the results folder; WebP has four between."""
WEBP_KIND_AT = 8
LONGEST_URL = 2_000
SCHEMES = ("http", "https")
FACE_FILES = (FACE, *IMAGES)
"""All files that `write_face` may write."""

ONE_LINE = r"\A[^\r\n]+\Z"
Line = Annotated[str, Meta(max_length=100, pattern=ONE_LINE)]
"""A text of one line."""
Markdown = Annotated[str, Meta(max_length=10_000)]
"""A text in Markdown, as GitHub reads it, without HTML and images."""
Url = Annotated[str, Meta(max_length=LONGEST_URL)]


class Team(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A table `[[teams]]`: the people behind one or several bots."""

    name: Annotated[str, Meta(max_length=60, pattern=ONE_LINE)]
    bots: Annotated[tuple[Line, ...], Meta(max_length=100)]
    """Labels of the team's bots, as tables show them."""
    colour: Annotated[str, Meta(pattern=r"\A#[0-9a-fA-F]{6}\Z")] | None = None
    """Colour of the team's mark, such as `#c0392b`."""
    members: Annotated[tuple[Line, ...], Meta(max_length=30)] = ()
    """Names of the team's members, as they wish to be shown."""
    link: Url | None = None
    """Address of its own page."""


class Face(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The fields of a tournament's or a season's file that only its pages show."""

    title: Line | None = None
    """Name of the competition; None: the name of its results folder."""
    about: Markdown = ""
    """Description of the competition for people who do not know it."""
    host: Line | None = None
    """Name of the person or group that runs it."""
    rules: Markdown = ""
    """Rules of the competition besides those of the game, such as conditions of entry and prizes."""
    link: Url | None = None
    """Address of its own page."""
    image: str | None = None
    """Path of a PNG, JPEG or WebP image; in a results folder, the name of the copy."""
    teams: Annotated[tuple[Team, ...], Meta(max_length=1_000)] = ()
    show: Literal["late", "fog"] | None = None
    """View on live pages while a deal is played for the last time: all views with a delay, or the spectators' view
    only. None: all views, unless a bot is remote or has no sandbox, since such a bot could read the pages."""

    def team_of(self, label: str) -> Team | None:
        """Return the team of a bot; None if it has none."""
        return next((team for team in self.teams if label in team.bots), None)


class BadFaceError(ValueError):
    """A field of the face is wrong."""

    def __init__(self, field: str, what: str) -> None:
        super().__init__(f"{field}: {what}")
        self.field = field
        self.what = what


def face_in(form: Face) -> Face:
    """Return the face of a form that has further fields."""
    return Face(**{name: getattr(form, name) for name in Face.__struct_fields__})


def image_of(face: Face, folder: Path) -> tuple[str, bytes] | None:
    """Return the name of the copy and the content of the face's image; None if it has none.

    Args:
        face: the face.
        folder: the folder to which the image's path is relative.

    Raises:
        BadFaceError: it cannot be read, is too large, or is no image of a known kind.
    """
    if face.image is None:
        return None
    try:
        content = read_regular(folder / face.image, MOST_IMAGE_BYTES)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise BadFaceError("image", f"{face.image!r} cannot be read: {why}") from None
    name = _image_name(content)
    if name is None:
        raise BadFaceError("image", f"{face.image!r} is neither PNG nor JPEG nor WebP")
    return name, content


def _image_name(content: bytes) -> str | None:
    """Return the name of an image's copy by its content; None if it is no image of a known kind."""
    for name, (first, *rest) in IMAGES.items():
        kind = content[WEBP_KIND_AT:]
        if content.startswith(first) and all(kind.startswith(part) for part in rest):
            return name
    return None


def write_face(form: Face, file: Path, results: Path) -> None:
    """Write the face of a form, and a copy of its image, into a results folder that exists.

    Args:
        form: the form.
        file: the file that the form was read from.
        results: the results folder.

    Raises:
        WrongUse: see `image_of`, or the folder cannot be written.
        MachineCannot: there is no space.
    """
    face = face_in(form)
    with as_wrong_use(BadFaceError, about=file):
        image = image_of(face, file.parent)
    with writing(results / FACE):
        if image is not None:
            name, content = image
            write_bytes_whole(results / name, content, MODE)
            face = replace(face, image=name)
        for other in IMAGES:
            if other != face.image:
                (results / other).unlink(missing_ok=True)
        if face == Face():
            (results / FACE).unlink(missing_ok=True)
        else:
            write_bytes_whole(results / FACE, msgspec.json.encode(face), MODE)


def read_face(results: Path) -> Face:
    """Return the face in a results folder; without any field if there is none, or if it is damaged.

    The folder may come from elsewhere, so no link is followed out of it, and addresses of no website are left out.
    """
    try:
        face = msgspec.json.decode(read_regular(results / FACE, MOST_BYTES, follow=False), type=Face)
    except (OSError, ValueError, RecursionError):
        return Face()
    teams = tuple(replace(team, link=_safe_link(team.link)) for team in face.teams)
    image = face.image
    if image not in IMAGES:
        image = None
    return replace(face, link=_safe_link(face.link), teams=teams, image=image)


def read_face_image(results: Path, name: str) -> bytes | None:
    """Return the image of this name in a results folder; None if there is no such image, or a link to a file."""
    try:
        content = read_regular(results / name, MOST_IMAGE_BYTES, follow=False)
    except (OSError, ValueError):
        return None
    return content if _image_name(content) == name else None


def _safe_link(url: str | None) -> str | None:
    return None if url is None or url_complaint(url) else url


def url_complaint(url: str) -> str | None:
    """Return the fault of a website's address, or None. The text does not quote it, for it may be secret."""
    if len(url) > LONGEST_URL:
        return f"is longer than {LONGEST_URL} characters"
    if not url.isascii() or not url.isprintable() or " " in url:
        return "holds what no URL holds"
    try:
        parts = urlsplit(url)
        is_whole = parts.scheme in SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_whole = False
    if is_whole:
        return None
    return "is not a URL of the form https://HOST/PATH"
