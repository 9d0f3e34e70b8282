"""Numbers of things, as people say them. Pure."""


def counted(number: int, thing: str, form: str = "") -> str:
    """`1 match`, `2 matches`; the number in a format, if one is given."""
    ending = "" if number == 1 else "es" if thing.endswith("ch") else "s"
    return f"{number:{form}} {thing}{ending}"
