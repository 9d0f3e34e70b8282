"""`arena doctor`: its table, its JSON, and the exit code that says whether the level holds what it promises."""

import json

import pytest
from click.testing import Result

from arena.errors import CANNOT, DONE, NO, WRONG_USE
from arena.installation import interpreter
from referee.proofs.escapes.examination import EscapeFinding, ExaminationReport, Told, Waits
from referee.proofs.escapes.examination import Result as CameOut
from referee.proofs.escapes.fixture import How
from referee.proofs.escapes.host_snapshot import Layer
from referee.sandbox import SandboxError
from referee.sandbox.walls import Wall
from tests.builders.command_line import arena


def finding(came: CameOut, *, promised: bool = True) -> EscapeFinding:
    return EscapeFinding(
        layer="moat",
        in_force=True,
        attempt="swims",
        what="Swims through it.",
        result=came,
        promised=promised,
        evidence="it is wet",
    )


WALLS = (
    Wall(name="namespaces", how="bubblewrap 0.8.0", lack=""),
    Wall(name="freezer", how="", lack="needs control groups"),
)


def doctor(monkeypatch: pytest.MonkeyPatch, found: EscapeFinding, *arguments: str) -> Result:
    """Run the command with one attempt."""

    async def examine(how: How, told: Told, waits: Waits) -> ExaminationReport:
        told(1, 1)
        layers = (
            Layer(layer="moat", in_force=True, evidence="deep"),
            Layer(layer="ditch", in_force=None, evidence="dark"),
        )
        return ExaminationReport(isolation=how.isolation, warm=how.warm, layers=layers, findings=(found,))

    monkeypatch.setattr("arena.commands.doctor.examine", examine)
    monkeypatch.setattr("referee.sandbox.missing", lambda: ())
    monkeypatch.setattr("referee.sandbox.find_walls", lambda: WALLS)
    return arena("doctor", "--isolation", "standard", "--cold", *arguments)


def test_a_level_that_holds_is_a_table_and_code_0(monkeypatch: pytest.MonkeyPatch) -> None:
    result = doctor(monkeypatch, finding("held"))
    assert (DONE, "") == (result.exit_code, result.stderr)
    walls, escapes = result.stdout.split("\n\n")
    assert [
        ["wall", "on", "this", "machine"],
        ["namespaces", "bubblewrap", "0.8.0"],
        ["freezer", "missing"],
        ["freezer:", "needs", "control", "groups"],
        ["interpreter:", *interpreter().split()],
    ] == [line.split() for line in walls.splitlines() if "--" not in line]
    assert [
        ["layer", "in", "force", "attempt", "fresh"],
        ["moat", "yes", "swims", "held"],
        ["ditch", "unknown", "-", "-"],
    ] == [line.split() for line in escapes.splitlines() if "--" not in line][:3]
    assert (
        "isolation standard, fresh: 1 of 1 attempt stopped; of those that the level promises to stop, 1 of 1"
        == result.stdout.splitlines()[-2]
    )
    assert "all protections of standard hold" == result.stdout.splitlines()[-1]


@pytest.mark.parametrize(("kind", "code"), [("escaped", NO), ("failed", NO), ("too busy", CANNOT)])
def test_promises_that_are_not_proved_are_named_in_the_last_line(
    monkeypatch: pytest.MonkeyPatch, kind: CameOut, code: int
) -> None:
    """Where the machine was too busy to tell, and nothing else is wrong, it is the machine's."""
    result = doctor(monkeypatch, finding(kind))
    remedy = "; other programs used the processors: stop them, and run the command again" * (kind == "too busy")
    assert (code, f"arena: not all protections of standard could be proved: swims{remedy}\n") == (
        result.exit_code,
        result.stderr,
    )
    assert "swims: it is wet" in result.stdout.splitlines()


@pytest.mark.parametrize("kind", ["not tried", "too busy"])
def test_attempts_that_could_not_be_made_do_not_count_as_stopped(
    monkeypatch: pytest.MonkeyPatch, kind: CameOut
) -> None:
    told = doctor(monkeypatch, finding(kind)).stdout
    assert "of those that the level promises to stop, 0 of 1; 1 could not be tested\n" in told
    assert "all protections of standard hold\n" not in told


def test_attempts_that_the_level_does_not_promise_to_stop_may_succeed(monkeypatch: pytest.MonkeyPatch) -> None:
    result = doctor(monkeypatch, finding("escaped", promised=False))
    assert DONE == result.exit_code
    assert "(escaped)" in result.stdout


def test_json_has_all_that_was_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    result = doctor(monkeypatch, finding("not tried"), "--json")
    told = json.loads(result.stdout)
    assert DONE == result.exit_code
    assert {"isolation", "walls", "missing", "interpreter", "holds", "reports"} == set(told)
    assert interpreter() == told["interpreter"]
    assert {"name": "freezer", "how": "", "lack": "needs control groups"} == told["walls"][1]
    found = told["reports"][0]["findings"][0]
    assert ("not tried", "it is wet") == (found["result"], found["evidence"])
    assert told["holds"]


def test_a_machine_that_cannot_give_a_level_is_code_3(monkeypatch: pytest.MonkeyPatch) -> None:
    async def examine(how: How, told: Told, waits: Waits) -> ExaminationReport:
        raise SandboxError(f"no {how.isolation} sandbox: nothing is there")

    monkeypatch.setattr("arena.commands.doctor.examine", examine)
    monkeypatch.setattr("referee.sandbox.find_walls", lambda: WALLS)
    result = arena("doctor", "--isolation", "strict")
    assert (CANNOT, "arena: no strict sandbox: nothing is there\n") == (result.exit_code, result.stderr)
    assert "freezer: needs control groups\n" in result.stdout


def test_a_level_that_is_none_is_wrong_use() -> None:
    result = arena("doctor", "--isolation", "padded")
    assert WRONG_USE == result.exit_code
