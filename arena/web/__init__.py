"""Pages for others: a server that follows running arenas, and a site of plain files."""

from arena.web.catalog import competitions_in
from arena.web.events import MOST_CLIENTS, MOST_OF_ADDRESS
from arena.web.output import HOME, open_output
from arena.web.server import Serving, serve
from arena.web.site import Builder, BuildListener, Written
