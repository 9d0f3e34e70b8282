"""A person's actions in the words of each game: typed, asked for, shown."""


class ParseError(Exception):
    """What was typed is no action. The text says what would be."""
