"""Pages of competitions, for the server, the site and the report alike."""

from arena.pages.competition import Competition
from arena.pages.website import Page, Website

__all__ = ["Competition", "Page", "Website"]
