"""`python -m arena` and `arena`: the command line."""

from arena import pause_signals


def main() -> None:
    """Run the command line, safe from the signals that pause a match before there is one."""
    pause_signals.ignore()
    from arena.commands.main import main as command_line  # noqa: PLC0415 - it takes long to import

    command_line()


if __name__ == "__main__":
    main()
