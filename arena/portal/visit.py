"""A request of a person or a program, with who made it; and the routes by which requests are answered.

A route says who may use it. Requests of others are refused here, before the route's own code runs: a visitor
without a session is sent to the page for signing in, and a team cannot tell what is another's from what does not
exist.
"""

import errno
import hashlib
import hmac
import os
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, BinaryIO, Literal
from urllib.parse import quote

import trio
from msgspec import Struct
from msgspec.structs import replace
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from arena.accounts import REQUEST, Account, AccountError, Token
from arena.errors import WrongUse
from arena.submissions import SubmissionRefused
from arena.web import (
    ALWAYS,
    CANNOT_NOW,
    REQUEST_ID,
    Rate,
    Refusal,
    private_page,
    read_form,
    status_of_failure,
)
from protocol.codec import encode

if TYPE_CHECKING:
    from arena.portal.portal import Portal

SESSION = "arena_session"
CSRF = "csrf"
"""Field of each form with a value that only a page of the session knows."""
BEARER = "Bearer "
STRANGERS = Rate(burst=120, seconds=0.5)
"""Requests without an account per address."""
ACCOUNTS = Rate(burst=120, seconds=0.5)
"""Requests per account, at any address: a class may have one, which a rival in it must not use up for all."""
CHANGES = Rate(burst=60, seconds=2.0)
"""Forms and changes per account."""
ATTEMPTS = Rate(burst=10, seconds=30.0)
"""Wrong invitations and keys that an address may try."""
DOWNLOAD_BYTES = 64 * 1024
"""Bytes of a file that are read at once."""
FAILED_SECONDS = 30.0
"""Seconds after which a request may be made again that the machine failed at."""
STATUS_OF_REFUSAL = {
    "quota": HTTPStatus.TOO_MANY_REQUESTS,
    "closed": HTTPStatus.CONFLICT,
    "full": HTTPStatus.SERVICE_UNAVAILABLE,
    "large": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "bad": HTTPStatus.UNPROCESSABLE_ENTITY,
    "late": HTTPStatus.CONFLICT,
}

Role = Literal["anybody", "account", "member", "host"]
"""Who may use a route: everybody; who has an account; members of teams; hosts, who have no team."""
Handler = Callable[["Visit"], Awaitable[Response]]


class Visit:
    """A request, and who made it."""

    def __init__(self, portal: "Portal", request: Request, account: Account | None, secret: str) -> None:
        """`secret`: of the session; "" without one."""
        self.portal = portal
        self.request = request
        self._account = account
        self._secret = secret
        self.token: Token | None = None
        """Token of the program that made the request."""
        self.form: Mapping[str, str] = {}
        """Fields of the form that was sent."""

    @property
    def account(self) -> Account:
        """The account of the visitor; only for routes of members and hosts."""
        if self._account is None:
            raise Refusal(HTTPStatus.UNAUTHORIZED, "Sign in first.")
        return self._account

    @property
    def visitor(self) -> Account | None:
        """The account of the visitor; None without one."""
        return self._account

    @property
    def team(self) -> int:
        """The team of the visitor; only for routes of members."""
        team = self.account.team
        if team is None:
            raise Refusal(HTTPStatus.NOT_FOUND, "There is no such page.")
        return team

    @property
    def csrf(self) -> str:
        """The value that the session's forms must bring."""
        return csrf_of(self._secret) if self._secret else ""

    @property
    def client(self) -> str:
        """The address by which the client is counted."""
        return self.portal.guard.client(self.request)

    def has_ended(self) -> bool:
        """Return whether the session or the token has ended since the request began. Reads the database."""
        accounts = self.portal.accounts
        if self.token is not None:
            return accounts.token(bearer_of(self.request)) is None
        return accounts.session(self._secret) is None

    def param(self, name: str) -> str:
        """Return a part of the path."""
        return str(self.request.path_params[name])

    def page(self, template: str, *, title: str, status: int = 200, **values: Any) -> Response:
        """Return a page from its template, with what all of the portal's pages show."""
        path = self.request.scope["path"][1:]
        # The answer to a form, and a form for strangers, cannot be fetched again for news.
        live = self.request.method != "POST" and self._account is not None
        page = replace(self.portal.pages, live=live).page(
            template, path, title=title, account=self._account, csrf=self.csrf, **values
        )
        return private_page(page, status)

    def redirect(self, path: str, *, cookie: str | None = None) -> Response:
        """Return a response that leads to a page of the site, by its path from the site's top."""
        headers = {"location": f"{self.portal.guard.path}{path}", "cache-control": "no-store"}
        if cookie is not None:
            headers["set-cookie"] = cookie
        return Response(status_code=HTTPStatus.SEE_OTHER, headers=ALWAYS | headers)

    def json(self, value: Any, status: int = 200, **headers: str) -> Response:
        """Return a response with JSON."""
        own = {"content-type": "application/json", "cache-control": "no-store"}
        return Response(encode(value), status, ALWAYS | own | headers)


class Download(Response):
    """A file that browsers store and do not show.

    It is opened before the response begins, because others may remove it at any moment.
    """

    def __init__(self, file: BinaryIO, name: str, kind: str, done: Callable[[], None] = lambda: None) -> None:
        """Prepare the response.

        Args:
            file: the open file, which is closed at the end.
            name: its name for the visitor.
            kind: its media type.
            done: called when it was sent, or when the client has disconnected.
        """
        self._file = file
        self._size = os.fstat(file.fileno()).st_size
        self._done = done
        headers = {
            "cache-control": "no-store",
            "content-type": kind,
            "content-length": str(self._size),
            "content-disposition": f"attachment; filename*=utf-8''{quote(name, safe='')}",
        }
        super().__init__(headers=ALWAYS | headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file."""
        del receive
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            left = 0 if scope["method"] == "HEAD" else self._size
            while left:
                piece = await trio.to_thread.run_sync(self._file.read, min(left, DOWNLOAD_BYTES))
                if not piece:
                    raise OSError(errno.EIO, "the file was cut while it was sent")
                left -= len(piece)
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body"})
        finally:
            self._file.close()
            self._done()


class RouteTerms(Struct, frozen=True):
    """A route: its path, who may use it, and what answers."""

    path: str
    """Path from the site's top, with parameters in braces."""
    role: Role
    handler: Handler
    method: Literal["GET", "POST"] = "GET"
    form: bool = True
    """True if a POST brings a form without files, whose CSRF value is checked."""
    of_programs: bool = False
    """True if programs with a token use it, and answers are JSON."""


def bearer_of(request: Request) -> str:
    """Return the token that a request brings; "" if it brings none."""
    given = request.headers.get("authorization", "")
    return given.removeprefix(BEARER).strip() if given.startswith(BEARER) else ""


def csrf_of(secret: str) -> str:
    """Return the value that forms of a session must bring. It does not reveal the session's secret."""
    return hashlib.sha256(b"form of " + secret.encode(errors="replace")).hexdigest()


def check_csrf(visit: Visit, given: str) -> None:
    """Check the value that a form of a session brings.

    Raises:
        Refusal: it is not the session's.
    """
    if not hmac.compare_digest(given.encode(errors="replace"), visit.csrf.encode()):
        raise Refusal(HTTPStatus.FORBIDDEN, "This form is too old: load its page again, and send it again.")


def starlette_route(portal: "Portal", terms: RouteTerms) -> Route:
    """Return a route for the server, which checks each request before the route's handler sees it."""
    respond = _answer_program if terms.of_programs else _answer_person

    async def answer(request: Request) -> Response:
        request_id = request.scope[REQUEST_ID]
        REQUEST.set(request_id)  # Each request has a task and a context of its own.
        try:
            response = await respond(portal, terms, request)
        except HTTPException as error:
            _note(portal, terms, request_id, error.status_code)
            raise
        except Exception as error:  # noqa: BLE001 - the operator is told, and nobody else
            portal.failed(error, terms.path, request_id)
            raise refusal_of_failure(error) from None
        _note(portal, terms, request_id, response.status_code)
        return response

    async def answer_program(request: Request) -> Response:
        try:
            return await answer(request)
        except HTTPException as error:
            said = {"error": error.detail}
            return Visit(portal, request, None, "").json(said, error.status_code, **dict(error.headers or {}))

    methods = ["GET", "HEAD"] if terms.method == "GET" else ["POST"]
    return Route(f"/{terms.path}", answer_program if terms.of_programs else answer, methods=methods)


def _note(portal: "Portal", terms: RouteTerms, request_id: str, status: int) -> None:
    """Note a request that may have changed something in the operator's log."""
    if terms.method == "POST":
        portal.log.info("request", id=request_id, path=terms.path, status=status)


async def _answer_person(portal: "Portal", terms: RouteTerms, request: Request) -> Response:
    guard = portal.guard
    guard.check_host(request)
    client = guard.client(request)
    if terms.method == "POST":
        guard.check_origin(request)
    secret = guard.cookie(request, SESSION)
    account = await portal.in_thread(lambda: portal.accounts.session(secret)) if secret else None
    if account is None:
        portal.rates.spend("stranger", client, STRANGERS)
    else:
        portal.rates.spend("account", str(account.id), ACCOUNTS)
    visit = Visit(portal, request, account, secret if account else "")
    if terms.role != "anybody" and account is None:
        if terms.method == "GET":
            return visit.redirect("sign-in")
        raise Refusal(HTTPStatus.UNAUTHORIZED, "Your session is over: sign in again.")
    if not _may(terms.role, account):
        raise Refusal(HTTPStatus.NOT_FOUND, "There is no such page.")
    if terms.method == "POST":
        portal.rates.spend("change", str(account.id) if account else client, CHANGES)
        if terms.form:
            visit.form = await read_form(request)
            if account is not None:
                check_csrf(visit, visit.form.get(CSRF, ""))
    try:
        return await terms.handler(visit)
    except (AccountError, SubmissionRefused) as error:
        raise refusal_of(error) from None


async def _answer_program(portal: "Portal", terms: RouteTerms, request: Request) -> Response:
    visit = await _of_program(portal, terms, request)
    try:
        return await terms.handler(visit)
    except (AccountError, SubmissionRefused) as error:
        raise refusal_of(error) from None


async def _of_program(portal: "Portal", terms: RouteTerms, request: Request) -> Visit:
    """Return the visit of a program, after checking its token.

    Raises:
        Refusal: the token is not valid, or may not do this.
    """
    portal.guard.check_host(request)
    client = portal.guard.client(request)
    if terms.role == "anybody":
        portal.rates.spend("stranger", client, STRANGERS)
        return Visit(portal, request, None, "")
    secret = bearer_of(request)
    found = None
    if secret:
        found = await portal.in_thread(lambda: portal.accounts.token(secret))
    if found is None:
        portal.rates.spend("attempt", client, ATTEMPTS)
        raise Refusal(HTTPStatus.UNAUTHORIZED, "This needs a valid token: Authorization: Bearer arena_…")
    account, token = found
    portal.rates.spend("account", str(account.id), ACCOUNTS)
    if not _may(terms.role, account) or token.scope == "sign-in":
        raise Refusal(HTTPStatus.FORBIDDEN, "This token may not do that.")
    if terms.method == "POST":
        if token.scope != "submit":
            raise Refusal(HTTPStatus.FORBIDDEN, "This token may read only: its scope is not 'submit'.")
        portal.rates.spend("change", str(account.id), CHANGES)
    visit = Visit(portal, request, account, "")
    visit.token = token
    return visit


def _may(role: Role, account: Account | None) -> bool:
    if role == "anybody":
        return True
    if account is None or role == "account":
        return account is not None
    return account.is_host if role == "host" else account.team is not None


def refusal_of_failure(error: Exception) -> Refusal:
    """Return the refusal of a request that failed; the operator's log has the error under the request's id."""
    status = status_of_failure(error)
    # No visitor uses a file wrongly: such a file is the host's to mend.
    if status == HTTPStatus.SERVICE_UNAVAILABLE or isinstance(error, WrongUse):
        return Refusal(HTTPStatus.SERVICE_UNAVAILABLE, CANNOT_NOW, retry_after=FAILED_SECONDS)
    return Refusal(status, "This could not be done. The operator's log says why, under the request's id.")


def refusal_of(error: AccountError | SubmissionRefused) -> Refusal:
    """Return the refusal of a request for the reason that a lower room gives."""
    if isinstance(error, AccountError):
        return Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, str(error))
    return Refusal(STATUS_OF_REFUSAL[error.why], error.text, retry_after=error.retry_after)
