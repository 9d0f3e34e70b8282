"""Feeds of results for feed readers and other programs: Atom and JSON Feed 1.1.

Each entry is a block: all matches from one deal. A block whose results do not count yet is not included.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any
from uuid import NAMESPACE_URL, uuid5
from xml.etree.ElementTree import Element, SubElement, tostring

import msgspec
from msgspec import Struct

from arena.pages.competition import Competition
from arena.pages.matches import match_file, result_sentence
from arena.pages.template import Page, PageMaker, said
from arena.pages.words import moment
from arena.schedule import match_name
from arena.statistics import Reported
from arena.terminal import shortened

ATOM, JSON_FEED = "feed.xml", "feed.json"
"""File names in a competition's folder."""
FEEDS = (ATOM, JSON_FEED)
ATOM_KIND, JSON_KIND = "application/atom+xml; charset=utf-8", "application/feed+json"
BLOCKS = 50
"""Maximum number of entries: the latest blocks."""
IN_TITLE = 2
"""Number of matches whose results an entry's title has."""
LONGEST = 400
"""Maximum characters of a match's result, whose names may be of any length."""
EPOCH = "1970-01-01T00:00:00+00:00"
"""Time of a feed without results in a competition whose start is unknown."""


class FeedEntry(Struct, frozen=True):
    """The results of a block."""

    id: str
    title: str
    at: str
    """Time of the block's last result, as ISO 8601."""
    matches: Sequence[tuple[str, str]]
    """Address and result of each match."""


def atom_feed(maker: PageMaker, competition: Competition) -> Page:
    """Return the feed of results as Atom."""
    feed = Element("feed", xmlns="http://www.w3.org/2005/Atom")
    entries = _entries(maker, competition)
    SubElement(feed, "title").text = said(competition.title)
    SubElement(feed, "id").text = _id(competition.title, competition.overview().times.begun)
    SubElement(feed, "updated").text = entries[0].at if entries else _begun(competition)
    SubElement(SubElement(feed, "author"), "name").text = said(competition.title)
    SubElement(feed, "link", href=_address(maker, competition, "index.html"))
    SubElement(feed, "link", rel="self", href=_address(maker, competition, ATOM))
    for each in entries:
        entry = SubElement(feed, "entry")
        SubElement(entry, "title").text = each.title
        SubElement(entry, "id").text = each.id
        SubElement(entry, "updated").text = each.at
        SubElement(entry, "link", href=each.matches[0][0])
        SubElement(entry, "content", type="html").text = _html(each)
    return Page(b'<?xml version="1.0" encoding="utf-8"?>\n' + tostring(feed, encoding="utf-8"), ATOM_KIND)


def json_feed(maker: PageMaker, competition: Competition) -> Page:
    """Return the feed of results as JSON Feed."""
    items = []
    for each in _entries(maker, competition):
        item = {"id": each.id, "url": each.matches[0][0], "title": each.title, "date_published": each.at}
        items.append(item | {"content_html": _html(each)})
    feed: dict[str, Any] = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": said(competition.title),
        "home_page_url": _address(maker, competition, "index.html"),
        "feed_url": _address(maker, competition, JSON_FEED),
        "items": items,
    }
    return Page(msgspec.json.encode(feed), JSON_KIND)


def _entries(maker: PageMaker, competition: Competition) -> list[FeedEntry]:
    """Return the latest blocks, the newest first."""
    overview = competition.overview()
    digest, entries = overview.found.digest, []
    ended = dict(competition.recent_blocks(BLOCKS))
    keys = [key for block in ended for key in overview.index.of_block(block)]
    for block, together in groupby(competition.some(keys), lambda match: match.played.block):
        matches = list(together)
        when = moment(ended[block])
        texts = [shortened(said(result_sentence(each.played, digest)), LONGEST) for each in matches]
        title = "; ".join(f"{_name(each)}: {text}" for each, text in zip(matches[:IN_TITLE], texts, strict=False))
        if len(matches) > IN_TITLE:
            title = f"{title}; and {len(matches) - IN_TITLE} more from this deal"
        files = [f"match/{match_file(block, each.played.seating)}" for each in matches]
        addresses = [_address(maker, competition, file) for file in files]
        entries.append(
            FeedEntry(
                id=_id(overview.times.begun, block, [each.played.head for each in matches]),
                title=title,
                at=_begun(competition) if when is None else when.isoformat(timespec="seconds"),
                matches=list(zip(addresses, texts, strict=True)),
            )
        )
    return entries


def _html(entry: FeedEntry) -> str:
    """Return the list of an entry's matches as HTML."""
    listed = Element("ul")
    for address, text in entry.matches:
        SubElement(SubElement(listed, "li"), "a", href=address).text = text
    return tostring(listed, encoding="unicode", method="html")


def _name(match: Reported) -> str:
    return match_name(match.played.block, match.played.seating)


def _address(maker: PageMaker, competition: Competition, file: str) -> str:
    """Return the address of a competition's file; relative to the feed if that of the site is unknown."""
    return f"{maker.url}{competition.slug}/{file}" if maker.url else file


def _begun(competition: Competition) -> str:
    when = moment(competition.overview().times.begun)
    return EPOCH if when is None else when.isoformat(timespec="seconds")


def _id(*parts: object) -> str:
    """Return an identifier that stays the same wherever the feed is."""
    return uuid5(NAMESPACE_URL, repr(parts)).urn
