"""Where transcripts go that do not stay in the results folder: a folder or an object store, through fsspec."""

from glob import escape
from pathlib import Path

from arena.errors import WrongUse
from referee.transcript import TranscriptError

INSTALL = "pip install '.[cluster]' in the arena's folder, or of its wheel: pip install 'WHEEL[cluster]'"


class Store:
    """A place named by a URL that fsspec knows: `s3://bucket/cup`, `file:///mnt/cup`, `memory://cup`."""

    def __init__(self, url: str) -> None:
        """Raises `WrongUse` if fsspec is not there, or does not know such places."""
        try:
            import fsspec  # noqa: PLC0415 - only who asks for it needs it
        except ImportError:
            raise WrongUse(f"transcripts at {url} need fsspec: {INSTALL}") from None
        try:
            self._files, self._root = fsspec.core.url_to_fs(url)
        except Exception as error:  # noqa: BLE001 - each kind of store has errors of its own
            raise WrongUse(f"transcripts cannot go to {url}: {error}") from None

    def prepare(self) -> None:
        """Makes the place, if it is not there.

        Raises:
            WrongUse: that cannot be.
        """
        try:
            self._files.makedirs(self._root, exist_ok=True)
        except Exception as error:  # noqa: BLE001 - each kind of store has errors of its own
            raise WrongUse(f"transcripts cannot go to {self._root}: {error}") from None

    def move(self, transcript: Path) -> str:
        """Moves a transcript there, and its bots' logs beside it; where the transcript is now.

        Raises:
            TranscriptError: they cannot be written there. Then they stay.
        """
        # Another attempt at the match, called NAME.2, may be under way beside it.
        files = [transcript, *sorted(transcript.parent.glob(f"{escape(transcript.stem)}.seat-*"))]
        places = {file: self._put(file) for file in files}
        for file in files:
            file.unlink()
        return places[transcript]

    def _put(self, file: Path) -> str:
        """Copies a file there, under its own name or, if that is taken, another; where it is now."""
        place = f"{self._root}/{file.name}"
        try:
            self._files.makedirs(self._root, exist_ok=True)
            number = 1
            while self._files.exists(place):
                # It belongs to an attempt whose line in the ledger was lost in a power cut. It stays.
                number += 1
                place = f"{self._root}/{file.name}.{number}"
            self._files.put_file(str(file), place)
        except Exception as error:
            raise TranscriptError(f"{type(error).__name__}: {error}", Path(place)) from error
        url: str = self._files.unstrip_protocol(place)
        return url
