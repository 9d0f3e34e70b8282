"""Pages for others: a server that follows running arenas, and a site of plain files."""

from arena.web.catalog import competitions_in

__all__ = ["competitions_in"]
