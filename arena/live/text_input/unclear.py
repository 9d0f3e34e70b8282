"""What is said to a person whose words are no action."""


class Unclear(Exception):  # noqa: N818 - an answer to a person, not an error of ours
    """What was typed is no action. The text says what would be."""
