"""Build hooks that add the commit, the manual, and a page without relative links to wheel and sdist.

`arena/installation.py` determines the commit and finds the manual. A package index shows the page without the
docs, so relative links would be dead.
"""

import re
import runpy
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

ELSEWHERE = "The pages that this one names are installed with it: `arena --help` says where.\n\n"
MANUAL = ("README.md", "CHANGELOG.md", "LICENSE", ".github/CONTRIBUTING.md", ".github/SECURITY.md", "docs")
"""Files and folders that the wheel has in `arena/manual`, in the clone's layout, so that their links work."""
NO_MANUAL = {"site", "__pycache__"}
"""Folders of `docs` that are not part of the manual."""
IMAGE = re.compile(r"^!\[[^\]]*\]\((?!\w+:)[^)]*\)\n+", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!\w+:|#)([^)]*)\)")


class PageHook(MetadataHookInterface):
    """A hook that makes the package's page from README.md."""

    def update(self, metadata: dict[str, Any]) -> None:
        """See `MetadataHookInterface`."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        text = standing_alone(text, metadata.get("urls", {}).get("Repository"))
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def standing_alone(text: str, repository: str | None) -> str:
    """Return a page whose links lead to the GitHub repository; without one, links are replaced by file names."""
    if repository is not None:
        text = re.sub(r"(!\[[^\]]*\]\()(?!\w+:)", rf"\g<1>{repository}/raw/HEAD/", text)
        return LINK.sub(rf"[\g<1>]({repository}/blob/HEAD/\g<2>)", text)
    text = LINK.sub(lambda link: f"{link[1]} (`{link[2].partition('#')[0]}`)", IMAGE.sub("", text))
    return text.replace("\n## ", f"\n{ELSEWHERE}## ", 1)


def manual_files(root: Path) -> dict[Path, str]:
    """Return the files of the manual, with their paths in a wheel."""
    found = [root / name for name in MANUAL]
    for folder in [each for each in found if each.is_dir()]:
        found += [each for each in folder.rglob("*") if not NO_MANUAL & {*each.relative_to(folder).parts}]
    return {each: f"arena/manual/{each.relative_to(root)}" for each in sorted(found) if each.is_file()}


class CommitHook(BuildHookInterface):  # type: ignore[type-arg]  # of no configuration
    """A hook that adds `arena/commit.txt` to the archive, and the manual to a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files. The commit's file is not needed in an editable install, and an sdist already has it."""
        self.folder = Path(tempfile.mkdtemp())
        if self.target_name == "wheel" and version != "editable":
            for file, there in manual_files(Path(self.root)).items():
                build_data["force_include"][str(file)] = there
        source = runpy.run_path(str(Path(self.root, "arena/installation.py")))
        commit = source["commit"]()
        if version == "editable" or commit is None or source["WRITTEN"].exists():
            return
        file = self.folder / "commit.txt"
        file.write_text(f"{commit}\n")
        build_data["force_include"][str(file)] = "arena/commit.txt"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Delete the temporary folder; the archive is complete."""
        del version, build_data, artifact_path
        shutil.rmtree(self.folder)
