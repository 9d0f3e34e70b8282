"""No table, report or benchmark says minus zero: a number that was rounded to nothing has no sign but plus."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from arena.quantities import duration, rounded
from arena.regression.model import evidence
from arena.reports.files import digest_csv
from arena.reports.standings import digest_json, interval, ratings_table
from arena.reports.tournament import ratings_json
from arena.statistics.anytime import Anytime, AnytimeProgress
from arena.statistics.ratings import Rating
from arena.statistics.sprt import Sprt, SprtState, SprtVerdict
from arena.statistics.summary import BotReport, Digest, digest_of
from arena.stress import LoadResult, Percentiles, stress_table

ROOT = Path(__file__).parents[2]
FILES = [*sorted((ROOT / "arena").rglob("*.py")), *sorted((ROOT / "scripts").glob("*.py"))]
SIGNED = re.compile(r"\+(?!z)[0-9,.]*[fge%]$")
"""Formats of numbers with a sign, and without what makes minus zero plus zero."""
MINUS_ZERO = re.compile(r"-0(\.0+)?(?![.0-9])")


def signed(source: str) -> Iterator[str]:
    """Yield the formats in a module that can print minus zero: those with a sign expect negative numbers."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FormattedValue) and isinstance(node.format_spec, ast.JoinedStr):
            spec = "".join(str(part.value) for part in node.format_spec.values if isinstance(part, ast.Constant))
            if SIGNED.search(spec):
                yield f"line {node.lineno}: {spec}"


def test_all_formats_of_numbers_with_a_sign_rule_minus_zero_out() -> None:
    assert FILES
    found = [(str(file), place) for file in FILES for place in signed(file.read_text(encoding="utf-8"))]
    assert [] == found


@pytest.mark.parametrize("spec", ["+.0f", "+g", "+.1%", "+8.3f"])
def test_a_format_that_can_say_minus_zero_is_found(spec: str) -> None:
    assert [f"line 1: {spec}"] == list(signed(f"print(f'{{x:{spec}}}')"))


@pytest.fixture
def even() -> Digest:
    """Two bots with ratings that are rounded to nothing, from below."""
    digest = digest_of(("one", "other"), [])
    ratings = tuple(
        Rating(
            entrant=entrant,
            elo=-0.001,
            error=0.001,
            low=-0.002,
            high=-0.0,
            blocks=1,
            prior_low=-0.002,
            prior_high=-0.0,
        )
        for entrant in (0, 1)
    )
    return msgspec.structs.replace(digest, ratings=msgspec.structs.replace(digest.ratings, ratings=ratings))


def test_a_rating_of_nothing_is_plus_nothing(even: Digest) -> None:
    ratings = even.ratings.ratings
    assert ["+0", "+0"] == list(map(str, ratings_table(even).drawn().columns[2].cells))
    assert "+0 to +0" == interval(ratings[0])
    assert "+0* to +0" == interval(msgspec.structs.replace(ratings[0], low=None))
    assert "+0 to +0*" == interval(msgspec.structs.replace(ratings[0], high=None))


def test_a_report_has_no_minus_zero(even: Digest) -> None:
    assert [] == MINUS_ZERO.findall(digest_csv(even, (BotReport(),) * 2))
    assert [] == MINUS_ZERO.findall(json.dumps([ratings_json(even), digest_json(even)]))


def test_the_finding_of_a_regression_test_has_no_minus_zero() -> None:
    nothing = SprtState(SprtVerdict.UNDECIDED, 1, -0.001, (0, 0, 1, 0, 0))
    assert "LLR 0.00" in evidence(Sprt(), nothing)
    assert "difference +0.000" in evidence(Anytime(), AnytimeProgress(SprtVerdict.UNDECIDED, 1, -0.0001, 1.0, 1.0))


def test_a_stress_table_has_no_minus_zero() -> None:
    none = Percentiles(0, 0, 0, 0)
    zeros: dict[str, Any] = dict.fromkeys(LoadResult.__struct_fields__, 0) | {"matches": 1, "seconds": 1.0}
    level = LoadResult(
        **zeros | {"verdicts": {}, "lateness": none, "behind": none, "charged": Percentiles(-2, 0, 0, 0)}
    )
    charged = [
        column for column in stress_table([level]).drawn().columns if str(column.header) == "charged - actual p50"
    ]
    assert ["0.00"] == [str(cell) for column in charged for cell in column.cells]


def test_numbers_for_programs_are_rounded_without_it() -> None:
    assert ["0.0", "-1.25", "None"] == [str(rounded(value)) for value in (-0.001, -1.254, None)]
    assert "0 µs" == duration(-0.0)
