"""`arena team`: teams of a season's server, and invitations to them."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated

import click
from msgspec import Meta, Struct

from arena.accounts import AccountError, Accounts, Database, Team
from arena.commands.serve import UrlOption
from arena.errors import WrongUse
from arena.options import JsonOption, option, options
from arena.submissions import Competition
from arena.terminal import Grid, print_json, results_console, say, show

LOCAL_ADDRESS = "http://127.0.0.1:8000/"
"""Address of a server that was started without options, for links."""
MOST_DAYS, MOST_USES = 366, 50
cup_argument = click.argument("cup", metavar="FILE.toml", type=click.Path(path_type=Path))


class InvitationOptions(Struct, frozen=True, kw_only=True):
    """Options of an invitation."""

    uses: Annotated[
        Annotated[int, Meta(ge=1, le=MOST_USES)], option("Number of persons who can accept it.", show_default=True)
    ] = 1
    days: Annotated[Annotated[int, Meta(ge=1, le=MOST_DAYS)], option("Days until it ends.", show_default=True)] = (
        14
    )
    url: UrlOption = ""


@click.group("team")
def command() -> None:
    """Make teams for a season's server, and invite people to them.

    The server may run meanwhile. An invitation is a link, which is printed once.
    """


@command.command("add", short_help="Make a team, and invite people to it.")
@cup_argument
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@options(InvitationOptions)
def add(cup: Path, names: tuple[str, ...], *, asked: InvitationOptions) -> None:
    """Make a team of each NAME, and print the link of an invitation to it."""
    with _accounts(cup) as accounts:
        for name in names:
            team = accounts.new_team(name)
            _print_link(accounts, team, asked)


@command.command("invite", short_help="Invite more people to a team.")
@cup_argument
@click.argument("name")
@options(InvitationOptions)
def invite(cup: Path, name: str, *, asked: InvitationOptions) -> None:
    """Print the link of a further invitation to the team NAME."""
    with _accounts(cup) as accounts:
        _print_link(accounts, _team(accounts, name), asked)


@command.command("host", short_help="Invite a host.")
@cup_argument
@options(InvitationOptions)
def host(cup: Path, *, asked: InvitationOptions) -> None:
    """Print the link of an invitation that makes a host."""
    with _accounts(cup) as accounts:
        _print_link(accounts, None, asked)


@command.command("close", short_help="Close a team, or open it again.")
@cup_argument
@click.argument("name")
@click.option("--open", "opens", is_flag=True, help="Open it again.")
def close(cup: Path, name: str, *, opens: bool) -> None:
    """Close the team NAME: its members can do nothing then. Its bot goes on; see `arena entry withdraw`."""
    with _accounts(cup) as accounts:
        team = _team(accounts, name)
        accounts.close_team(team.id, closed=not opens)
    say(f"{team.name} is {'open' if opens else 'closed'}")


@command.command("list", short_help="List the teams.")
@cup_argument
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def list_command(cup: Path, *, as_json: JsonOption) -> None:
    """List the teams, and how many members each has."""
    with _accounts(cup) as accounts:
        teams = accounts.teams()
    if as_json:
        print_json({"teams": teams})
        return
    table = Grid({"team": False, "members": True, "since": False, "state": False})
    for team in teams:
        table.add_row(team.name, str(team.members), team.created[:10], "closed" if team.closed else "open")
    show(results_console(), table)


@contextmanager
def _accounts(cup: Path) -> Iterator[Accounts]:
    """Open the accounts of a competition. Refusals become wrong use."""
    with closing(Database(Competition.read(cup).database)) as database:
        try:
            yield Accounts(database)
        except AccountError as error:
            raise WrongUse(str(error)) from None


def _team(accounts: Accounts, name: str) -> Team:
    team = accounts.team(name)
    if team is None:
        raise WrongUse(f"{name}: there is no such team; `arena team list` shows all")
    return team


def _print_link(accounts: Accounts, team: Team | None, asked: InvitationOptions) -> None:
    secret = accounts.invite(None if team is None else team.id, uses=asked.uses, days=asked.days)
    who = "the hosts" if team is None else team.name
    results_console().say(f"{who}: {asked.url or LOCAL_ADDRESS}join#{secret}")
