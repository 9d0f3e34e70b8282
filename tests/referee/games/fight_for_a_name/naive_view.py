"""A seat's view of The Fight For a Name made from what it was told and did, in order, and from nothing else."""

from typing import Any

from tests.referee.games.fight_for_a_name.naive import GATES, SEATS, step

Json = Any


def view(seat: int | None, rounds: int, log: list[tuple[str, Json]]) -> Json:
    """Return the view after a log of `("event", event)`, `("taken", [window, action])`, `("window", candidates)`.

    A spectator's log has `("closed", window's number)` instead of what was taken.
    """
    shown = Shown(seat, rounds)
    for what, value in log:
        if what == "event":
            getattr(shown, "on_" + value["type"])(value)
        elif what == "taken":
            shown.take(*value)
        elif what == "window":
            shown.view["candidates"] = value
        else:
            shown.view["round"] = max(shown.view["round"], 1)
    return shown.view


class Shown:
    """Follows a log."""

    def __init__(self, seat: int | None, rounds: int) -> None:
        own = seat is not None
        self.view: Json = {
            "seat": seat,
            "round": 0,
            "rounds": rounds,
            "colours": {},
            "numbers": [],
            "target": 0,
            "final_phase": False,
            "positions": dict.fromkeys(SEATS, "Start"),
            "holders": {},
            "white": [],
            "claims": {},
            "history": [],
            "title": None,
            "position": "Start" if own else None,
            "mp": 0 if own else None,
            "crests": {},
            "strengths": {},
            "spent": {},
            "reached": [],
            "visits": [],
            "moves": [],
            "barred": None,
            "candidates": None,
            "revealed": None,
        }

    def on_board(self, event: Json) -> None:
        self.view["colours"] = event["colours"]

    def on_challenge(self, event: Json) -> None:
        self.view |= {"numbers": event["numbers"], "target": event["target"]}

    def take(self, window: str, action: Json) -> None:
        """Follow what the seat itself did."""
        if window == "challenge":
            self.view["round"] = 1
            self.view["mp"] = 2
        elif window == "move":
            self.view["moves"].append(action)
            if self.view["title"] is None:
                self._move(action)
            else:
                twos = [int(key) for key, amount in action.get("give", {}).items() if amount == 2]
                self.view["barred"] = twos[0] if twos else None
        elif window == "pillar":
            self.view["visits"][-1]["asked"] = action
        else:
            self.view["candidates"] = None

    def _move(self, action: Json) -> None:
        path, reinforce = action.get("path", []), action.get("reinforce", {})
        here = self.view["position"]
        for way in path:
            here = step(here, way)
        self.view["position"] = here
        self.view["mp"] -= len(path) + sum(reinforce.values())
        for number, amount in reinforce.items():
            self._add(number, amount, amount)
        if here.isdigit():
            self.view["reached"] = sorted({*self.view["reached"], int(here)})
            if int(here) not in self.view["white"]:
                self._add(here, len(path) + 1, len(path))
        assert here in GATES or here.isdigit() or here == "Start"

    def _add(self, number: str, strength: int, spent: int) -> None:
        for key, amount in (("strengths", strength), ("spent", spent)):
            amounts = self.view[key]
            amounts[number] = amounts.get(number, 0) + amount
            self.view[key] = {n: amounts[n] for n in sorted(amounts, key=int) if amounts[n]}

    def on_pillar_shows(self, event: Json) -> None:
        visit = {"round": self.view["round"], "pillar": event["pillar"], "titles": event["titles"]}
        self.view["visits"].append(visit | {"asked": None, "answer": None})

    def on_crowded(self, event: Json) -> None:
        self.on_pillar_shows({"pillar": event["pillar"], "titles": []})

    def on_pillar_answer(self, event: Json) -> None:
        self.view["visits"][-1]["answer"] = event
        crests = self.view["crests"]
        crests.setdefault(event["crest"], self.view["round"])
        self.view["crests"] = {title: crests[title] for title in sorted(crests)}

    def on_round_result(self, event: Json) -> None:
        view = self.view
        view["history"].append(event)
        view |= {key: event[key] for key in ("positions", "holders", "white")}
        claims = view["claims"] | {t: {"seat": s, "round": event["round"]} for t, s in event["claimed"].items()}
        view["claims"] = {title: claims[title] for title in sorted(claims)}
        view["final_phase"] = len(event["positions"]) <= 5
        self._lose(event)
        if self._goes_on():
            view["round"] = event["round"] + 1

    def _lose(self, event: Json) -> None:
        """Take from the seat what white hexes, or its own claim, take."""
        view = self.view
        own = [title for title, seat in event["claimed"].items() if seat == view["seat"]]
        if own:
            view |= {"title": own[0], "position": None, "mp": None, "strengths": {}, "spent": {}}
        for key in ("strengths", "spent"):
            view[key] = {n: amount for n, amount in view[key].items() if int(n) not in event["white"]}

    def on_standing(self, event: Json) -> None:
        assert list(self.view["crests"]) == event["crests"]
        assert self.view["strengths"] == event["strengths"]
        self.view["mp"] = event["mp"] + (2 if self._goes_on() else 0)

    def _goes_on(self) -> bool:
        last = self.view["history"][-1]
        return len(last["positions"]) > 2 and last["round"] < self.view["rounds"]

    def on_reveal(self, event: Json) -> None:
        self.view["revealed"] = event
