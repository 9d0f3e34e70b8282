"""A bot on its author's own machine, as a player; and what a match cannot ask of one."""

from collections.abc import Collection, Sequence

from msgspec import Struct

from referee.host.plan import Plan


class RemoteBot(Struct, frozen=True):
    """Comes over the network with a key. Nothing shuts it in, and of what it uses nothing is known."""

    name: str
    """What the host calls it."""
    key: str
    """The public key that it is known by, as Z85."""


def cannot_play(plan: Plan, bots: Sequence[RemoteBot], lines: Collection[str]) -> str | None:
    """Why a match cannot be played with these bots; None: it can. `lines`: the keys for which there is one."""
    keys = {bot.key for bot in bots}
    if len(keys) < len(bots):
        return "two remote seats have the same key"
    if not keys <= set(lines):
        return "there is no line for a remote seat; `arena host` makes one"
    if bots and not plan.policy.ponder:
        return "ponder: a bot on another machine cannot be kept from thinking"
    if bots and plan.clock is not None and plan.clock.kind == "cpu":
        return "clock: of a bot on another machine no processor time is known"
    return None
