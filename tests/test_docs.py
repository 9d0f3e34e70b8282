"""The documentation's links lead somewhere, and its tables say what the code does."""

import os
import re
import tomllib
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from arena.feed.process import MAX_MEMORY_BYTES, MAX_WAITING
from arena.portal.visit import ACCOUNTS, ATTEMPTS, CHANGES, STRANGERS
from arena.tournament.observers import AGAIN_SECONDS
from arena.web.connection import HEADER_BYTES, PIECE_BYTES, REQUEST_SECONDS, STUCK_SECONDS
from arena.web.guard import FORM_BYTES, FORM_SECONDS
from protocol.feed import FeedMessage
from protocol.games.mist import MistEvent, MistOptions, MistView
from protocol.games.mist.board import BOARD
from protocol.messages import MAX_FRAME_BYTES, MAX_NOTE_CHARACTERS, ClientMessage, ServerMessage
from protocol.refusals import Conduct, Fault, Refusal
from referee.bot_folder.manifest import BotFile, Limits
from referee.games import GAMES
from referee.host.host import SNAPSHOT_SECONDS
from referee.host.observers import MAX_TOLD_BYTES
from referee.match.records import AnyRecord
from referee.match.seat import HELLOS_PER_MATCH
from referee.match.terms import WALL_FACTOR, ClockTable, Policy, clock_terms
from referee.wire.line import MAX_TAKEN_BYTES, OUTBOX_BYTES, OUTBOX_FRAMES
from referee.wire.local import HANDSHAKE_SECONDS, MAX_CONNECTIONS
from referee.wire.zmtp import COMMAND_BYTES, COMMANDS_A_SECOND, COMMANDS_AT_ONCE, MOST_PARTS
from tests.docs_pages import PAGES, anchors, blocks, first_words, links, name, page, prose, section, tables, words

PROTOCOL = page("docs/protocol.md")
FEED = page("docs/feed.md")
TIMING = page("docs/timing.md")
MIST = page("docs/games/mist.md")
EACH_PAGE = pytest.mark.parametrize("each", PAGES, ids=name)


def tag(form: type[msgspec.Struct]) -> str:
    return str(form.__struct_config__.tag)


class TestLinks:
    @EACH_PAGE
    def test_every_link_within_the_house_leads_somewhere(self, each: Path) -> None:
        for target in links(each.read_text()):
            if not target.startswith("https://"):
                path, _, anchor = target.partition("#")
                there = each.parent / path if path else each
                assert there.exists(), f"{target} is not there"
                assert not anchor or anchor in anchors(there.read_text()), f"{target}: there is no such heading"

    def test_the_list_of_pages_leads_to_every_page(self) -> None:
        listed = {os.path.normpath(Path("docs", target)) for target in links(page("docs/README.md"))}
        assert {name(each) for each in PAGES} - {"README.md", "docs/README.md"} <= listed

    def test_the_readme_is_short_and_leads_on(self) -> None:
        readme = page("README.md")
        assert len(readme.split()) <= 900
        assert {"docs/README.md", "docs/limits.md", "docs/command-line.md"} <= set(links(readme))

    @EACH_PAGE
    def test_no_page_names_a_place_that_its_reader_does_not_have(self, each: Path) -> None:
        assert [] == re.findall(r"/work\b|shared/|/root\b|\bissue #?\d", each.read_text())


class TestOperating:
    def test_every_event_of_the_log_is_listed(self) -> None:
        code = "".join(file.read_text() for room in ("arena", "referee") for file in Path(room).rglob("*.py"))
        logged = re.findall(r"(?:log|logger|_seats\[.*?\]|_render)\.(?:info|warning|error)\(\s*\"(\w+)\"", code)
        by_name = {"late_answer", "refused", "disk_failed", "machine_failed", "remote_disconnected"}
        listed = {
            word for row in tables(section(page("docs/operating.md"), "Events"))[0] for word in words(row[0])
        }
        assert listed == {*logged, *by_name} - {"step"}


class TestSecurity:
    def test_each_of_owasps_ten_names_tests_that_are_there(self) -> None:
        rows = tables(section(page("docs/security.md"), "OWASP's ten"))[0]
        assert [f"A{number:02}" for number in range(1, 11)] == [row[0][:3] for row in rows]
        for row in rows:
            named = words(row[2])
            assert named, row[0]
            for name_ in named:
                path, _, test = name_.partition("::")
                assert re.search(rf"^ *(async )?def {test}\(", Path(path).read_text(), re.MULTILINE), name_

    def test_the_bounds_are_those_of_the_code(self) -> None:
        said = dict(tables(section(page("docs/security.md"), "Bounds"))[0])
        for row, rate in (
            ("requests without an account of an address", STRANGERS),
            ("requests of an account", ACCOUNTS),
            ("changes of an account", CHANGES),
            ("wrong invitations, keys and sign-ins of an address", ATTEMPTS),
        ):
            pace = f"one each {rate.seconds:g} s" if rate.seconds >= 1 else f"{1 / rate.seconds:g} a second"
            assert f"{rate.burst} at once, then {pace}" == said[row]
        assert f"{FORM_BYTES // 1024} KiB, {FORM_SECONDS:g} s" == said["a form"]
        assert f"{HEADER_BYTES // 1024} KiB, {REQUEST_SECONDS:g} s" == said["a request's line and headers"]
        assert f"{STUCK_SECONDS:g} s for each {PIECE_BYTES // 1024} KiB" == said["an answer that is not read"]


class TestProtocol:
    @pytest.mark.parametrize(
        ("heading", "closed"), [("Refusals", Refusal), ("Faults", Fault), ("Conduct", Conduct)]
    )
    def test_each_closed_list_is_listed_in_full_and_in_order(self, heading: str, closed: Any) -> None:
        assert [word.value for word in closed] == first_words(section(PROTOCOL, heading))

    @pytest.mark.parametrize(
        ("heading", "union"), [("What a bot says", ClientMessage), ("What a bot hears", ServerMessage)]
    )
    def test_each_message_is_listed_with_its_fields_in_order(self, heading: str, union: Any) -> None:
        rows = tables(section(PROTOCOL, heading))[0]
        expected = [(tag(form), list(form.__struct_fields__)) for form in get_args(union)]
        assert expected == [(words(row[0])[0], words(row[1])) for row in rows]

    def test_the_limits_are_those_of_the_code(self) -> None:
        policy = Policy()
        written = policy.transcript_bytes_per_match
        listed = " ".join(f"{row[1]}; {row[2]};" for row in tables(section(PROTOCOL, "Limits"))[0])
        for limit in (
            f"above {MAX_TAKEN_BYTES // 1024} KiB the connection is closed",
            f"above {MOST_PARTS}, or {MAX_TAKEN_BYTES // 1024} KiB for all of them together",
            f"{COMMANDS_AT_ONCE:,}, and {COMMANDS_A_SECOND} more each second; {COMMAND_BYTES:,} bytes each",
            f"{HELLOS_PER_MATCH}; fault `misbehaved`",
            f"{OUTBOX_FRAMES:,} frames or {OUTBOX_BYTES // 1024} KiB",
            f"{MAX_CONNECTIONS}; no further one",
            f"{HANDSHAKE_SECONDS:.0f} s; the connection is closed",
            f"{MAX_FRAME_BYTES // 1024} KiB ({MAX_FRAME_BYTES:,} bytes)",
            f"{MAX_NOTE_CHARACTERS:,} characters",
            f"{policy.messages_per_window:,} (`messages_per_window`)",
            f"{policy.bytes_per_window // 1024} KiB ({policy.bytes_per_window:,} bytes, `bytes_per_window`)",
            f"{written >> 20} MiB ({written:,} bytes, `transcript_bytes_per_match`)",
            f"{policy.refusals_per_match:,} (`refusals_per_match`)",
            f"{policy.startup_ms // 1000} s (`startup_ms`)",
            f"{policy.pause_ms // 1000} s each (`pause_ms`)",
        ):
            assert limit in listed


class TestFeed:
    def test_each_message_is_listed_with_its_fields_in_order(self) -> None:
        rows = tables(section(FEED, "Topics and messages"))[1]
        expected = [(tag(form), list(form.__struct_fields__)) for form in get_args(FeedMessage)]
        assert expected == [(words(row[0])[0], words(row[1])) for row in rows]

    def test_the_limits_are_those_of_the_code(self) -> None:
        late = " ".join(section(FEED, "Late and slow subscribers").split())
        for limit in (
            f"every {SNAPSHOT_SECONDS:.0f} seconds",
            f"the latest {MAX_TOLD_BYTES // 1024} KiB",
            f"{MAX_WAITING:,} messages are kept",
            f"{MAX_MEMORY_BYTES // 1024**2} MiB at most",
        ):
            assert limit in late
        for seconds in (SNAPSHOT_SECONDS, AGAIN_SECONDS):
            assert f"every {seconds:.0f} s" in section(FEED, "Topics and messages")


class TestOtherTables:
    def test_timing_lists_every_field_of_a_policy_with_its_default(self) -> None:
        rows = tables(section(TIMING, "Setting the times"))[0]
        defaults = msgspec.to_builtins(Policy())
        assert {
            key: {None: "the variant's rules", True: "true"}.get(value, str(value))
            for key, value in defaults.items()
        } == {words(row[0])[0]: row[1].strip("`") for row in rows}

    def test_timing_lists_every_field_of_a_clock_with_its_default(self) -> None:
        rows = tables(section(prose(TIMING), "Kinds of clock"))[0]
        said = {words(row[0])[0]: row[1].strip("`") for row in rows}
        defaults = {key: str(value) for key, value in msgspec.to_builtins(ClockTable()).items()}
        meant = {"wall_factor": str(WALL_FACTOR), "delay": "simple"}
        assert {key: value.replace("None", "none") for key, value in (defaults | meant).items()} == said

    def test_every_clock_that_timing_shows_is_one(self) -> None:
        rows = tables(section(prose(TIMING), "Kinds of clock"))[1]
        assert len(rows) >= 10
        for row in rows:
            table = msgspec.convert(tomllib.loads("\n".join(words(row[1]))), ClockTable)
            assert 0 < sum(clock_terms(GAMES["mist"], "heaven-and-hell", Policy(), table).main_ms.values()) or (
                table.budget_ms
            )

    def test_writing_a_bot_lists_every_field_of_bot_toml_with_its_default(self) -> None:
        rows = tables(section(page("docs/writing-a-bot.md"), "bot.toml"))[0]
        listed = {word: row[2].strip("`") for row in rows for word in words(row[0])}
        limits = msgspec.to_builtins(Limits())
        assert {f"limits.{key}": "none" if value is None else str(value) for key, value in limits.items()} == {
            key: value for key, value in listed.items() if key.startswith("limits.")
        }
        assert set(BotFile.__struct_fields__) - {"limits"} == {key for key in listed if "." not in key}

    def test_every_kind_of_line_of_a_transcript_is_listed(self) -> None:
        listed = first_words(section(page("docs/transcript.md"), "Kinds of lines"))
        assert {tag(form) for form in get_args(AnyRecord)} == set(listed)


class TestMist:
    def test_every_ruling_stands_under_its_number_and_in_order(self) -> None:
        numbers = re.findall(r"^\*\*(R\d+)\.? ", section(MIST, "Rulings"), re.MULTILINE)
        assert [f"R{number}" for number in range(1, 12)] == numbers

    def test_the_board_is_drawn_with_all_61_cells_in_order(self) -> None:
        (board,) = blocks("board")
        assert list(BOARD.names) == board.text.split()

    def test_options_events_and_view_are_listed_in_full(self) -> None:
        assert list(MistOptions.__struct_fields__) == first_words(section(MIST, "Options"))
        assert set(MistView.__struct_fields__) == set(first_words(section(MIST, "The view")))
        rows = tables(section(MIST, "Events"))[0]
        assert [tag(form) for form in get_args(MistEvent)] == [words(row[0])[0] for row in rows]
        for form, row in zip(get_args(MistEvent), rows, strict=True):
            assert set(form.__struct_fields__) <= set(words(row[2]))
