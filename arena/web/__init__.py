"""Pages for others: a server that follows running arenas, and a site of plain files."""

from arena.web.cache import ServedCompetition, Stamp
from arena.web.catalog import competitions_in
from arena.web.events import MOST_CLIENTS, MOST_OF_ADDRESS, Stream
from arena.web.guard import Guard, Rate, RateLimits, Refusal, check_length, read_body, read_form
from arena.web.output import HOME, open_output
from arena.web.play import Play, play_of
from arena.web.server import (
    ALWAYS,
    CANNOT_NOW,
    NICENESS_OF_PORTAL,
    REQUEST_ID,
    Extension,
    Serving,
    authority,
    demand_port,
    private_page,
    serve,
    status_of_failure,
)
from arena.web.site import Builder, BuildListener, Written
