"""The sample tables of README and docs have the columns, the order and the alignment of the arena's own tables."""

import pytest

from tests.docs_tables import SAMPLES, Sample, drawn_again, table_of


def of(sample: Sample) -> str:
    return f"{sample.page}-{sample.number}"


@pytest.mark.parametrize("sample", SAMPLES, ids=of)
def test_a_sample_table_is_drawn_as_the_arena_draws_it_today(sample: Sample) -> None:
    """If not, `scripts/sample-tables` makes it anew."""
    lines = [line.rstrip().replace("─", "-") for line in table_of(sample)]
    assert drawn_again(sample) == lines
