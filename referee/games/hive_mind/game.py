"""Hive Mind's implementation of the game contract: options, setup, windows and views."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, assert_never, cast

from msgspec import UNSET, Raw
from msgspec.structs import replace

from protocol.codec import encode
from protocol.games.hive_mind import (
    BUYING_ROUND,
    Blocks,
    BreakTie,
    Doubles,
    GiveToken,
    Hint,
    HiveMindHostView,
    HiveMindOptions,
    HiveMindSetup,
    HiveMindView,
    Reveal,
    Round,
    RoundResult,
    ScoreGuesses,
    Scores,
    SeatKey,
    TokenGiven,
    WindowName,
)
from protocol.games.hive_mind.board import SHAPES
from protocol.words import Action, Event, Outcome
from referee.games.hive_mind import legal, play, worlds
from referee.games.hive_mind.legal import checked_round, checked_scores, kinds_left
from referee.games.hive_mind.scoring import count, outcome, score, values_now
from referee.games.hive_mind.state import (
    ROUNDS,
    RULE_SETS,
    SEATS,
    HiveMindState,
    OpenHives,
    check_values,
    draw_values,
    play_on,
    turn,
    wallet,
)
from referee.rules import (
    DAY_MS,
    Announced,
    BadSetupError,
    Building,
    Game,
    Illegal,
    MatchRandom,
    PendingSeat,
    ResolvedActions,
    TimeTerms,
    Transition,
    Variant,
    Window,
    check_own,
    read_given,
)

MOST_GARNETS = 10**100
"""Maximum of the option `garnets`: more than any match needs, and sums of it still fit in messages."""
NOT_IN_PLAY = OpenHives((), 0)
ROUNDS_CHOICES = 54
"""Most choices of a seat in its rounds: 3 Hives, 3 rounds, doubles, blocks and guesses."""
SCORES_CHOICES = 4 * (1 + 4_300)
"""Most choices of a seat that guesses scores: those of 4 others, digit by digit."""
POPULAR = ("ADE", "AEI", "BFI", "CFG", "CFI", "DHI", "EFI", "EIJ", "FIK", "HIJ", "HIK", "HKL", "IJL", "JKL")
"""Letters of the shapes in random submissions: few, because hexes are rarely contested otherwise."""
OFTEN, HALF, SELDOM = 7 / 8, 1 / 2, 1 / 8


class HiveMind(Game[HiveMindState, HiveMindOptions, HiveMindSetup, HiveMindView]):
    """Five seats, hidden values under hexes: learn them by placing shapes, and score where others do not."""

    name = "hive-mind"
    variants = (
        # The sources set one time only, 24 hours for guessing scores; all other windows get the same.
        Variant("recharged", TimeTerms(dict.fromkeys(("round", "break_tie"), DAY_MS))),
        Variant("tempo-up", TimeTerms(dict.fromkeys(("round", "give_token", "break_tie"), DAY_MS))),
        Variant("gauntlet", TimeTerms(dict.fromkeys(("round", "scores", "break_tie"), DAY_MS))),
    )
    actions = {  # noqa: RUF012 - a ClassVar of the contract
        "round": Round,
        "scores": Scores,
        "give_token": GiveToken,
        "break_tie": BreakTie,
    }
    announced = {"round": Announced.SEATS, "scores": Announced.SEATS}  # noqa: RUF012 - a ClassVar of the contract
    events = (Hint, RoundResult, Doubles, Blocks, ScoreGuesses, TokenGiven, Reveal)
    options = HiveMindOptions
    setup = HiveMindSetup
    view_type = HiveMindView
    choices = legal.CHOICES

    def read_options(self, variant: str, given: Raw | None) -> HiveMindOptions:
        """See `Game.read_options`. The default number of garnets depends on the variant (R6)."""
        options = read_given(HiveMindOptions, given, "options")
        if options.garnets is not UNSET:
            each = options.garnets if isinstance(options.garnets, tuple) else (options.garnets,)
            if max(each) > MOST_GARNETS:
                raise BadSetupError("options.garnets: at most 10 to the power of 100")
        return replace(options, garnets=RULE_SETS[variant].garnets) if options.garnets is UNSET else options

    def read_setup(
        self, variant: str, options: HiveMindOptions, given: Raw | None, rng: MatchRandom
    ) -> HiveMindSetup:
        """See `Game.read_setup`. The setup has the values of every Hive."""
        names = RULE_SETS[variant].hives
        if given in (None, Raw(b"null")):
            dice = rng.shared()
            return HiveMindSetup(hives={name: draw_values(dice) for name in names})
        hives = read_given(HiveMindSetup, given, "setup").hives
        for name in sorted(hives.keys() ^ set(names)):
            what = "is missing" if name in names else f"is no Hive of {variant}"
            raise BadSetupError(f"setup.hives.{name}: {what}; its Hives are {', '.join(names)}")
        for name in names:
            check_values(hives[name], f"setup.hives.{name}")
        return HiveMindSetup(hives={name: hives[name] for name in names})

    def seats(self, options: HiveMindOptions) -> int:
        """Return 5."""
        return SEATS

    def deal(
        self, variant: str, options: HiveMindOptions, setup: HiveMindSetup, rng: MatchRandom
    ) -> Transition[HiveMindState]:
        """Return the initial state with hidden values and full wallets, without events."""
        given = options.garnets
        garnets = given if isinstance(given, tuple) else (cast("int", given),) * SEATS
        return Transition(HiveMindState(variant=variant, garnets=garnets, values=setup.hives))

    def window(self, state: HiveMindState) -> Window | None:
        """Return `round`, then `scores` in `gauntlet`, then `give_token` or `break_tie` for the winner."""
        match play.stage(state):
            case None:
                return None
            case "round":
                return _ROUND
            case "scores":
                return _SCORES
            case "give_token":
                return Window("give_token", (PendingSeat(play.winners(state)[0], None),))
            case "break_tie":
                winner = PendingSeat(play.winners(state)[0], None, drawn=True, shown=play.tied(state))
                return Window("break_tie", (winner,))
            case _ as unreachable:
                assert_never(unreachable)

    def check(self, state: HiveMindState, seat: int, action: Action) -> Action:
        """See `Game.check`."""
        match action:
            case Round():
                return checked_round(state, turn(state) or NOT_IN_PLAY, seat, action)
            case Scores():
                return checked_scores(seat, action)
            case GiveToken() if action.seat == seat:
                raise Illegal("the token is for another seat")
            case BreakTie() if action.seat not in play.tied(state):
                raise Illegal(f"seat {action.seat} is not among the tied")
            case _:
                return action

    def most_choices(self, options: HiveMindOptions) -> int:
        """Return the choices of all rounds, guesses and prizes."""
        return 1 + SEATS * (ROUNDS_CHOICES + SCORES_CHOICES) + 2

    def build(self, view: HiveMindView, seat: int) -> Building:
        """See `Game.build`."""
        return legal.build(view, seat)

    def spell(self, view: HiveMindView, action: Action) -> Sequence[int]:
        """See `Game.spell`."""
        return legal.spell(view, action)

    def listed(self, view: HiveMindView, seat: int) -> Sequence[Action] | None:
        """See `Game.listed`."""
        return legal.listed(view, seat)

    def worlds(
        self,
        view: HiveMindView,
        events: Sequence[Event],
        seat: int,
        rng: Random,
        *,
        variant: str | None = None,
        options: HiveMindOptions | None = None,
    ) -> Iterator[HiveMindState]:
        """See `Game.worlds`. `events` is not used: the view contains all information."""
        check_own(view, seat)
        name = variant or self.variants[0].name
        given = self.read_options(name, None if options is None else Raw(encode(options)))
        start = self.deal(name, given, HiveMindSetup(hives={}), MatchRandom(0)).state
        return worlds.worlds(view, rng, start)

    def draw_default(self, state: HiveMindState, seat: int, rng: MatchRandom) -> BreakTie:
        """Draw one of the tied seats."""
        return BreakTie(seat=rng.seat(seat).choice(play.tied(state)))

    def close(self, state: HiveMindState, taken: ResolvedActions, rng: MatchRandom) -> Transition[HiveMindState]:
        """Play the actions of the seats in the open window."""
        actions = [part.action for part in taken if part is not None]
        match play.stage(state):
            case "round":
                return play.close_round(state, cast("list[Round]", actions), rng)
            case "scores":
                return play.close_scores(state, cast("list[Scores]", actions), rng)
            case "give_token":
                return play.close_give_token(state, cast("GiveToken | None", actions[0]), rng)
            case "break_tie":
                return play.close_break_tie(state, cast("BreakTie", actions[0]), rng)
            case None:
                raise AssertionError("no window is open")
            case _ as unreachable:
                assert_never(unreachable)

    def view(self, state: HiveMindState, seat: int | None) -> HiveMindView:
        """Return the seat's events and submissions, and the facts that follow from them and the rules."""
        now = turn(state) or NOT_IN_PLAY
        window = _window_known_to(state, seat)
        submitted = () if seat is None else tuple([actions[seat] for actions in state.rounds])
        return HiveMindView(
            seat=seat,
            window=window,
            hives=now.hives,
            round=now.number,
            unused={} if seat is None else kinds_left(state)[seat],
            wallet=None if seat is None else wallet(state, seat),
            tied=play.tied(state) if window == "break_tie" else (),
            submitted=submitted,
            scores=None if seat is None or state.scores is None else state.scores[seat],
            told=state.told[SEATS if seat is None else seat],
        )

    def host_view(self, state: HiveMindState) -> HiveMindHostView:
        """Return all values, placements, guesses and points."""
        now = turn(state) or NOT_IN_PLAY
        points, feats = count(state)
        return HiveMindHostView(
            window=play.stage(state),
            hives=now.hives,
            round=now.number,
            initial=state.values,
            current={hive: values_now(values, play_on(state, hive)) for hive, values in state.values.items()},
            rounds=state.rounds,
            garnets=tuple(wallet(state, seat).garnets for seat in range(SEATS)),
            points=state.result.points if state.result else points,
            feats=feats if RULE_SETS[state.variant].gauntlet else None,
            scores=state.scores,
            tied=play.tied(state),
        )

    def outcome(self, state: HiveMindState) -> Outcome | None:
        """Return the outcome; None until the eliminated seat is known."""
        return outcome(state)

    def plausible(self, state: HiveMindState, seat: int, rng: Random) -> dict[str, Any]:
        """See `Game.plausible`. Few placements in some matches make scores tie; guesses use the host's secrets."""
        now, result = turn(state), state.result
        if now is not None:
            return _plausible_round(state, now, seat, rng)
        if result is not None:
            return {"seat": rng.choice(result.tied)}
        totals = [score(points) for points in count(state)[0]]
        others = [other for other in range(SEATS) if other != seat]
        return {"scores": {str(other): totals[other] + rng.choice((0, 1, -1)) for other in others}}

    def reseat(self, action: Action, seat_of: tuple[int, ...]) -> Action:
        """See `Game.reseat`. All actions except rounds name seats."""
        match action:
            case Scores():
                moved = sorted((str(seat_of[int(seat)]), guess) for seat, guess in action.scores.items())
                return Scores(scores=cast("dict[SeatKey, int]", dict(moved)))
            case GiveToken() | BreakTie():
                return replace(action, seat=seat_of[action.seat])
            case _:
                return action


_ROUND = Window("round", tuple(PendingSeat(seat, Round()) for seat in range(SEATS)))
_SCORES = Window("scores", tuple(PendingSeat(seat, Scores(scores={})) for seat in range(SEATS)))


def _window_known_to(state: HiveMindState, seat: int | None) -> WindowName | None:
    """Return the open window. Return None to other seats if it would reveal the winner or a tie (R10)."""
    stage = play.stage(state)
    known = stage in ("round", "scores") or (stage is not None and seat in play.winners(state))
    return stage if known else None


def _plausible_round(state: HiveMindState, now: OpenHives, seat: int, rng: Random) -> dict[str, Any]:
    action: dict[str, Any] = {"place": _plausible_place(state, now, seat, rng)}
    if now.number == BUYING_ROUND:
        action |= {key: [rng.choice(now.hives)] for key in ("double", "block") if rng.random() < HALF}
    if now.number == ROUNDS:
        right = {hive: state.values[hive] for hive in now.hives if rng.random() < HALF}
        action["guess"] = right if rng.random() < HALF else {hive: draw_values(rng) for hive in right}
    return action


def _plausible_place(state: HiveMindState, now: OpenHives, seat: int, rng: Random) -> dict[str, str]:
    idle = next(iter(state.values.values())).startswith("3")
    place: dict[str, str] = {}
    for hive, kinds in kinds_left(state)[seat].items():
        left = set(kinds)
        if now.number == 1:
            left -= {SHAPES[cells].kind for cells in place.values()}
        if rng.random() < (SELDOM if idle else OFTEN):
            place[hive] = rng.choice([cells for cells in POPULAR if SHAPES[cells].kind in left])
    return place
