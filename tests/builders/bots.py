"""Write folders of bots for tests: a program and its bot.toml."""

from pathlib import Path

KIT_BOT = "from bots.kit import run\n\n\ndef decide(window):\n    return window.default\n\n\nrun(decide)\n"
"""A program that takes every default."""


def write_bot(
    folder: Path, program: str = KIT_BOT, more: str = "", *, file: str = "bot.py", run: str = "python"
) -> Path:
    """Write a bot of Mist that runs a program; return its folder, by which it is named.

    `more`: further lines of its bot.toml.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file).write_text(program)
    about = f'name = "{folder.name}"\nversion = "1"\ncommand = ["{run}", "{file}"]\ngames = ["mist"]\n{more}\n'
    (folder / "bot.toml").write_text(about)
    return folder
