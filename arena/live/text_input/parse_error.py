"""What is said to a person whose words are no action."""


class ParseError(Exception):
    """What was typed is no action. The text says what would be."""
