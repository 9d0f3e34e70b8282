"""Writes into wheel and sdist the commit that they are built from; `arena/commit.py` finds it, and reads it."""

import runpy
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CommitHook(BuildHookInterface):  # type: ignore[type-arg]  # of no configuration
    """Adds `arena/commit.txt` to what is built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """An editable install asks git; an unpacked sdist has the file already, and it is packed as any other."""
        self.folder = Path(tempfile.mkdtemp())
        source = runpy.run_path(str(Path(self.root, "arena/commit.py")))
        commit = source["commit"]()
        if version == "editable" or commit is None or source["WRITTEN"].exists():
            return
        file = self.folder / "commit.txt"
        file.write_text(f"{commit}\n")
        build_data["force_include"][str(file)] = "arena/commit.txt"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """The file is in the archive now."""
        del version, build_data, artifact_path
        shutil.rmtree(self.folder)
