"""The author's end of a match that another machine hosts."""
