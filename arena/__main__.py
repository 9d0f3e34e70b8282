"""`python -m arena` and `arena`: the command line."""

from os import environ

from arena.processes import ignore_pause_signals


def main() -> None:
    """Run the command line. The signals that pause a match have no effect before a match starts."""
    ignore_pause_signals()
    # NumPy's threads busy-wait: while matches were running, ratings of 100 bots took ten times as long.
    environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from arena.commands.main import main as command_line  # noqa: PLC0415 - it takes long to import

    command_line()


if __name__ == "__main__":
    main()
