"""Signing in at the host's provider of OpenID Connect: accounts are linked by owners, or made by invitations.

A stranger who signs in at the provider gets no account, and learns of none.
"""

import secrets
from collections import OrderedDict
from http import HTTPStatus
from typing import assert_never

import trio
from msgspec import Struct
from starlette.responses import Response

from arena.accounts import NO_INVITATION, AccountError
from arena.portal.entrance import let_in, show_join, show_sign_in
from arena.portal.provider import Attempt, Provider, ProviderError, hash_of
from arena.portal.visit import ATTEMPTS, CHANGES, RouteTerms, Visit
from arena.terminal import say
from arena.web import ALWAYS, Refusal
from referee.display_text import printable

COOKIE = "arena_provider"
"""Name of the cookie that ties an attempt to the browser that began it."""
ATTEMPT_SECONDS = 600.0
"""Seconds in which a visitor must have signed in at the provider."""
MOST_ATTEMPTS = 5_000
"""Maximum attempts in memory; the oldest is forgotten."""
MOST_SAID = 300
"""Maximum characters of a reason that the terminal shows."""
BACK = "sign-in/callback"
STRANGER = (
    "No account here is linked to this identity. If you have an account, sign in with a key and link it on the"
    " page Keys. If not, ask your team or the host for an invitation."
)


class SigningIn(Struct, frozen=True):
    """The purpose of a visitor with a linked account."""


class Joining(Struct, frozen=True):
    """The purpose of a visitor with an invitation."""

    invitation: str
    name: str


class Linking(Struct, frozen=True):
    """The purpose of a visitor who is signed in."""

    account: int


Purpose = SigningIn | Joining | Linking


class Begun(Struct, frozen=True):
    """An attempt that was begun, and what for."""

    attempt: Attempt
    browser: bytes
    """Hash of the cookie of the browser that began it."""
    purpose: Purpose
    until: float
    """Time on trio's clock at which it is too old."""


class Attempts:
    """The attempts that have not ended. Each can end once."""

    def __init__(self) -> None:
        self._begun: OrderedDict[bytes, Begun] = OrderedDict()

    def begin(self, browser: str, purpose: Purpose) -> Attempt:
        """Return a new attempt of a browser, by the value of its cookie."""
        attempt = Attempt.new()
        until = trio.current_time() + ATTEMPT_SECONDS
        self._begun[hash_of(attempt.state)] = Begun(attempt, hash_of(browser), purpose, until)
        while len(self._begun) > MOST_ATTEMPTS:
            self._begun.popitem(last=False)
        return attempt

    def end(self, state: str, browser: str) -> Begun | None:
        """Return the attempt with a state, which ends; None if there is none, or if it is another browser's."""
        found = self._begun.get(hash_of(state))
        if found is None or found.browser != hash_of(browser):
            return None
        del self._begun[hash_of(state)]
        return found if trio.current_time() < found.until else None


async def begin(visit: Visit, purpose: Purpose) -> tuple[str, str]:
    """Return the address at the provider, and the header with the cookie that belongs to it.

    Raises:
        Refusal: the host has no provider (404), or the provider does not answer (503).
    """
    portal = visit.portal
    provider = _provider(visit)
    portal.rates.spend("provider", visit.client, CHANGES)
    browser = secrets.token_urlsafe(32)
    attempt = portal.attempts.begin(browser, purpose)
    try:
        address = await provider.address(attempt, _back(visit))
    except ProviderError as error:
        raise _refusal(visit, error) from None
    return address, portal.guard.set_cookie(COOKIE, browser, ATTEMPT_SECONDS)


def _provider(visit: Visit) -> Provider:
    if visit.portal.provider is None:
        raise Refusal(HTTPStatus.NOT_FOUND, "There is no such page.")
    return visit.portal.provider


def _back(visit: Visit) -> str:
    return f"{visit.portal.address(visit.request)}{BACK}"


def _refusal(visit: Visit, error: ProviderError) -> Refusal:
    visit.portal.log.warning("sign_in_failed", reason=error.why)
    say(f"somebody could not sign in at {_provider(visit).name}: {printable(error.why)[:MOST_SAID]}")
    later = 30.0 if error.status == HTTPStatus.SERVICE_UNAVAILABLE else None
    return Refusal(error.status, error.text, retry_after=later)


async def to_provider(visit: Visit) -> Response:
    """Lead to the provider."""
    address, cookie = await begin(visit, SigningIn())
    headers = {"location": address, "cache-control": "no-store", "set-cookie": cookie}
    return Response(status_code=HTTPStatus.SEE_OTHER, headers=ALWAYS | headers)


async def link(visit: Visit) -> Response:
    """Show the link to the provider, by which the visitor's account is linked to an identity there."""
    return await _continue(visit, Linking(visit.account.id))


async def join(visit: Visit) -> Response:
    """Show the link to the provider, by which an invitation is accepted."""
    secret, name = visit.form.get("invitation", "").rpartition("#")[2].strip(), visit.form.get("name", "")
    if await visit.portal.in_thread(lambda: visit.portal.accounts.invited_to(secret)) is None:
        visit.portal.rates.spend("attempt", visit.client, ATTEMPTS)
        return show_join(visit, NO_INVITATION, name)
    return await _continue(visit, Joining(secret, name))


async def _continue(visit: Visit, purpose: Purpose) -> Response:
    """Show a link: browsers follow no redirect of a form to another site under this site's policy."""
    address, cookie = await begin(visit, purpose)
    name = _provider(visit).name
    page = visit.page("continue", title=f"Sign in with {name}", address=address, provider=name)
    page.headers["set-cookie"] = cookie
    return page


async def come_back(visit: Visit) -> Response:
    """Let a visitor in who has signed in at the provider."""
    portal = visit.portal
    provider = _provider(visit)
    query = visit.request.query_params
    begun = portal.attempts.end(query.get("state", ""), portal.guard.cookie(visit.request, COOKIE))
    if begun is None:
        portal.rates.spend("attempt", visit.client, ATTEMPTS)
        return show_sign_in(visit, "This sign-in is too old, or another browser began it. Begin again.")
    try:
        identity = await provider.identity(begun.attempt, _back(visit), query)
        return await _let_in(visit, begun.purpose, identity)
    except ProviderError as error:
        portal.rates.spend("attempt", visit.client, ATTEMPTS)
        raise _refusal(visit, error) from None


async def _let_in(visit: Visit, purpose: Purpose, identity: str) -> Response:
    portal = visit.portal
    match purpose:
        case SigningIn():
            account = await portal.in_thread(lambda: portal.accounts.account_of_subject(identity))
            if account is None:
                return show_sign_in(visit, STRANGER, HTTPStatus.FORBIDDEN)
            return await let_in(visit, account)
        case Joining():
            try:
                account = await portal.in_thread(
                    lambda: portal.accounts.accept(purpose.invitation, purpose.name, identity)
                )
            except AccountError as error:
                return show_join(visit, str(error), purpose.name)
            return await let_in(visit, account)
        case Linking():
            own = visit.visitor
            if own is None or own.id != purpose.account:
                return show_sign_in(visit, "Your session is over: sign in again, and then link your account.")
            await portal.in_thread(lambda: portal.accounts.bind_subject(own, identity))
            return visit.redirect("account")
        case _:
            assert_never(purpose)


async def unlink(visit: Visit) -> Response:
    """Let the visitor's account be opened by no identity at the provider any more."""
    await visit.portal.in_thread(lambda: visit.portal.accounts.unbind_subject(visit.account))
    return visit.redirect("account")


ROUTES = (
    RouteTerms("sign-in/provider", "anybody", to_provider),
    RouteTerms(BACK, "anybody", come_back),
    RouteTerms("join/provider", "anybody", join, "POST"),
    RouteTerms("account/provider", "account", link, "POST"),
    RouteTerms("account/provider/remove", "account", unlink, "POST"),
)
