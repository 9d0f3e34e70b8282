"""The face of a competition for its pages: who runs it, what it is, its teams, and the news on its first page."""

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup
from msgspec import Struct

from arena.config import Face, Team
from arena.pages.competition import Competition, Overview
from arena.pages.matches import coming_text, match_file
from arena.pages.template import markup
from protocol.codec import encode
from referee.display_text import printable

PODIUM = 3
"""Number of bots on the podium."""
NEXT = 3
"""Number of pairings to come that a first page names."""
HEADING = re.compile("h([1-6])")
LOWEST = 6
MOST_TEXTS = 64
MOST_MARKUP = 100_000
"""Maximum characters of a text as markup. In a longer one, tables stay as text: a few letters make many cells."""
MOST_OF_TEAMS = 100_000
"""Characters of teams that a page shows, about; further teams are counted."""
MOST_MARKED = 300
"""Number of bots whose teams live boards name, about."""
OF_A_NAME = 40
"""Characters of markup around a name."""


class OnPodium(Struct, frozen=True):
    """A bot on the podium."""

    place: int
    bot: str
    href: str
    team: Team | None
    rating: str


def face_context(competition: Competition, overview: Overview) -> dict[str, Any]:
    """Return the values for the face and the news on a competition's first page."""
    face = competition.face
    return {
        "face": face,
        "about_text": markdown(face.about),
        "rules_text": markdown(face.rules, above=2),
        **teams_context(face),
        "podium": podium(face, overview),
        "upset": upset_of(overview),
        "next": coming_text(overview, NEXT),
    }


def teams_context(face: Face) -> dict[str, Any]:
    """Return the values for the list of teams."""
    room = MOST_OF_TEAMS
    shown = []
    for team in face.teams:
        room -= len(encode(team)) + OF_A_NAME * (len(team.bots) + len(team.members))
        if room < 0:
            break
        shown.append(team)
    return {"teams": shown, "more_teams": len(face.teams) - len(shown)}


def team_names(face: Face) -> dict[str, str]:
    """Return the name of each bot's team, by the bot's label."""
    return {bot: team.name for team in face.teams for bot in team.bots}


def teams_for_script(face: Face, labels: Sequence[str]) -> str:
    """Return name and colour of the teams of these bots, as JSON for live boards; empty without teams."""
    competing = set(labels)
    marks: dict[str, tuple[str, str | None]] = {}
    for team in face.teams:
        marks |= {bot: (team.name, team.colour) for bot in team.bots if bot in competing}
        if len(marks) > MOST_MARKED:
            break
    return encode(marks).decode() if marks else ""


def podium(face: Face, overview: Overview) -> list[OnPodium]:
    """Return the best bots of a tournament, best first; empty before its first result and in a regression test."""
    digest = overview.found.digest
    if not digest.matches or overview.history is not None:
        return []
    found = []
    for place, row in enumerate([row for row in digest.standings if row.played][:PODIUM], 1):
        label = digest.labels[row.entrant]
        elo = f"{digest.ratings.ratings[row.entrant].elo:+z.0f}"
        found.append(OnPodium(place, label, f"bot/{row.entrant}.html", face.team_of(label), elo))
    return found


def upset_of(overview: Overview) -> dict[str, str] | None:
    """Return the latest win of a bot over one that is rated much higher; None if there is none."""
    upset = overview.upset
    if upset is None:
        return None
    labels = overview.found.digest.labels
    return {
        "winner": labels[upset.winner],
        "loser": labels[upset.loser],
        "href": f"match/{match_file(upset.block, upset.seating)}",
        "gap": f"{upset.gap:.0f}",
    }


@lru_cache(MOST_TEXTS)
def markdown(text: str, above: int = 1) -> Markup:
    """Return a stranger's text in Markdown as markup: without HTML, images and dangerous links.

    `above` is the level of the heading above the text; its own highest headings are one level lower.
    """
    lines = map(printable, text.expandtabs(4).splitlines())
    shown = "\n".join(lines)
    rendered = _rendered(shown, above, tables=True)
    if len(rendered) > MOST_MARKUP:
        rendered = _rendered(shown, above, tables=False)
    return markup(rendered)


def _rendered(text: str, above: int, *, tables: bool) -> str:
    reader, env = _reader(tables=tables), {"lowered": 0}
    tokens = reader.parse(text, env)
    levels = [int(level[1]) for token in tokens if (level := HEADING.fullmatch(token.tag)) is not None]
    env["lowered"] = above + 1 - min(levels, default=1)
    rendered: str = reader.renderer.render(tokens, reader.options, env)
    return rendered


@cache
def _reader(*, tables: bool) -> MarkdownIt:
    # Its preset for untrusted text leaves HTML as text and refuses links to scripts and files.
    reader = MarkdownIt("js-default").disable("image")
    if not tables:
        reader.disable("table")
    reader.add_render_rule("heading_open", _lower_heading)
    reader.add_render_rule("heading_close", _lower_heading)
    reader.add_render_rule("link_open", _outside_link)
    return reader


def _lower_heading(renderer: Any, tokens: Any, at: int, options: Any, env: Mapping[str, Any]) -> str:
    """Render the start or the end of a heading, lowered."""
    token = tokens[at]
    level = HEADING.fullmatch(token.tag)
    if level is not None:
        token.tag = f"h{min(LOWEST, int(level[1]) + env['lowered'])}"
    rendered: str = renderer.renderToken(tokens, at, options, {})
    return rendered


def _outside_link(renderer: Any, tokens: Any, at: int, options: Any, _: Mapping[str, Any]) -> str:
    """Render the start of a link that tells no other site where its reader came from."""
    tokens[at].attrSet("rel", "nofollow noopener noreferrer")
    rendered: str = renderer.renderToken(tokens, at, options, {})
    return rendered
