"""Storage for transcripts outside of the results folder: a folder or an object store, accessed through fsspec."""

from glob import escape
from pathlib import Path

from arena.errors import WrongUse
from referee.transcript import TranscriptError

INSTALL = "pip install '.[cluster]' in the arena's folder, or of its wheel: pip install 'WHEEL[cluster]'"


class Store:
    """A folder at a URL that fsspec supports: `s3://bucket/cup`, `file:///mnt/cup`, `memory://cup`."""

    def __init__(self, url: str) -> None:
        """Open the store; raise `WrongUse` if fsspec is not installed or does not support the URL."""
        try:
            import fsspec  # noqa: PLC0415 - only stores need it
        except ImportError:
            raise WrongUse(f"transcripts at {url} need fsspec: {INSTALL}") from None
        try:
            self._files, self._root = fsspec.core.url_to_fs(url)
        except Exception as error:  # noqa: BLE001 - each kind of store has errors of its own
            raise WrongUse(f"transcripts cannot go to {url}: {error}") from None

    def prepare(self) -> None:
        """Create the store's folder, if it is missing.

        Raises:
            WrongUse: the folder cannot be created.
        """
        try:
            self._files.makedirs(self._root, exist_ok=True)
        except Exception as error:  # noqa: BLE001 - each kind of store has errors of its own
            raise WrongUse(f"transcripts cannot go to {self._root}: {error}") from None

    def move(self, transcript: Path) -> str:
        """Move a transcript and its bots' logs to the store, and return the transcript's URL.

        Raises:
            TranscriptError: a file cannot be written to the store; no local file is deleted.
        """
        # Only this attempt's files match; another attempt, NAME.2, may be in progress in the same folder.
        files = [transcript, *sorted(transcript.parent.glob(f"{escape(transcript.stem)}.seat-*"))]
        places = {file: self._put(file) for file in files}
        for file in files:
            file.unlink()
        return places[transcript]

    def _put(self, file: Path) -> str:
        """Copy a file to the store and return its URL; append a number to its name if that exists."""
        place = f"{self._root}/{file.name}"
        try:
            self._files.makedirs(self._root, exist_ok=True)
            number = 1
            while self._files.exists(place):
                # The existing file belongs to an attempt whose ledger entry was lost in a power cut; it remains.
                number += 1
                place = f"{self._root}/{file.name}.{number}"
            self._files.put_file(str(file), place)
        except Exception as error:
            raise TranscriptError(f"{type(error).__name__}: {error}", Path(place)) from error
        url: str = self._files.unstrip_protocol(place)
        return url
