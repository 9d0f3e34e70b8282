"""Joining by an invitation, signing in by a key, and signing out."""

from http import HTTPStatus

from starlette.responses import Response

from arena.accounts import DAY, LONGEST_NAME, SESSION_DAYS, Account, AccountError
from arena.portal.visit import ATTEMPTS, SESSION, RouteTerms, Visit
from arena.web import Refusal


async def join_page(visit: Visit) -> Response:
    """Show the form of an invitation. Its secret is in the address's fragment, which browsers do not send."""
    return show_join(visit)


def show_join(visit: Visit, wrong: str = "", name: str = "") -> Response:
    """Show the form of an invitation, with what was wrong."""
    return visit.page(
        "join",
        title="Join",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if wrong else HTTPStatus.OK,
        wrong=wrong,
        longest=LONGEST_NAME,
        name=name,
        oidc=visit.portal.provider_name,
    )


async def join(visit: Visit) -> Response:
    """Make an account by an invitation, and open a session."""
    portal, form = visit.portal, visit.form
    secret, name = form.get("invitation", "").rpartition("#")[2].strip(), form.get("name", "")
    try:
        account = await portal.in_thread(lambda: portal.accounts.accept(secret, name))
    except AccountError as error:
        # Only then, so that who guesses shuts out nobody else at the same address.
        portal.rates.spend("attempt", visit.client, ATTEMPTS)
        return show_join(visit, str(error), name)
    return await let_in(visit, account)


async def sign_in_page(visit: Visit) -> Response:
    """Show the form for signing in; who is signed in already goes on."""
    if visit.visitor is not None:
        return visit.redirect(home_of(visit.visitor))
    return show_sign_in(visit)


def show_sign_in(visit: Visit, wrong: str = "", status: HTTPStatus = HTTPStatus.UNPROCESSABLE_ENTITY) -> Response:
    """Show the form for signing in, with what was wrong and its status."""
    return visit.page(
        "sign-in",
        title="Sign in",
        status=status if wrong else HTTPStatus.OK,
        wrong=wrong,
        oidc=visit.portal.provider_name,
    )


async def sign_in(visit: Visit) -> Response:
    """Open a session by a key."""
    portal = visit.portal
    key = visit.form.get("key", "").strip()
    found = await portal.in_thread(lambda: portal.accounts.token(key))
    if found is None or found[1].scope != "sign-in":
        portal.rates.spend("attempt", visit.client, ATTEMPTS)
        return show_sign_in(visit, "This is no valid key for signing in.")
    return await let_in(visit, found[0])


async def let_in(visit: Visit, account: Account) -> Response:
    """Open a session in place of the browser's former one, and lead to the account's first page."""
    portal = visit.portal
    if former := portal.guard.cookie(visit.request, SESSION):
        await portal.in_thread(lambda: portal.accounts.close_session(former))
    secret = await portal.in_thread(lambda: portal.accounts.open_session(account))
    cookie = portal.guard.set_cookie(SESSION, secret, SESSION_DAYS * DAY)
    return visit.redirect(home_of(account), cookie=cookie)


async def sign_out(visit: Visit) -> Response:
    """End the session."""
    portal = visit.portal
    secret = portal.guard.cookie(visit.request, SESSION)
    await portal.in_thread(lambda: portal.accounts.close_session(secret))
    return visit.redirect("index.html", cookie=portal.guard.set_cookie(SESSION, "", 0))


async def account_page(visit: Visit) -> Response:
    """Show the visitor's own keys, and what else only concerns the visitor."""
    return await _account(visit, "", "")


async def _account(visit: Visit, secret: str, kind: str) -> Response:
    portal, account = visit.portal, visit.account
    return visit.page(
        "account",
        title="Your keys",
        tokens=await portal.in_thread(lambda: portal.accounts.tokens(account)),
        secret=secret,
        kind=kind,
        longest=LONGEST_NAME,
        oidc=portal.provider_name,
        linked=await portal.in_thread(lambda: portal.accounts.has_subject(account)),
    )


async def new_token(visit: Visit) -> Response:
    """Make a token, and show its secret once."""
    portal, form, account = visit.portal, visit.form, visit.account
    scope = form.get("scope", "")
    secret = await portal.in_thread(lambda: portal.accounts.new_token(account, form.get("name", ""), scope))
    return await _account(visit, secret, scope)


async def revoke_token(visit: Visit) -> Response:
    """Revoke one of the visitor's tokens."""
    id_ = number_in(visit.form.get("id", ""))
    await visit.portal.in_thread(lambda: visit.portal.accounts.revoke_token(id_, visit.account))
    return visit.redirect("account")


async def sign_out_everywhere(visit: Visit) -> Response:
    """End all sessions and tokens of the visitor."""
    await visit.portal.in_thread(lambda: visit.portal.accounts.sign_out_everywhere(visit.account))
    return visit.redirect("sign-in", cookie=visit.portal.guard.set_cookie(SESSION, "", 0))


async def leave(visit: Visit) -> Response:
    """End the visitor's account."""
    if visit.form.get("sure") != "yes":
        raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "Tick the box that says that you are sure.")
    await visit.portal.in_thread(lambda: visit.portal.accounts.leave(visit.account))
    return visit.redirect("index.html", cookie=visit.portal.guard.set_cookie(SESSION, "", 0))


def home_of(account: Account) -> str:
    """Return the path of an account's first page."""
    return "host/" if account.is_host else "team/"


def number_in(text: str) -> int:
    """Return a number of a form.

    Raises:
        Refusal: it is none.
    """
    if not (text.isascii() and text.isdigit() and len(text) <= 18):  # noqa: PLR2004 - SQLite's numbers have 63 bits
        raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "This is not a form of this site.")
    return int(text)


ROUTES = (
    RouteTerms("join", "anybody", join_page),
    RouteTerms("join", "anybody", join, "POST"),
    RouteTerms("sign-in", "anybody", sign_in_page),
    RouteTerms("sign-in", "anybody", sign_in, "POST"),
    RouteTerms("account", "account", account_page),
    RouteTerms("account/token", "account", new_token, "POST"),
    RouteTerms("account/token/revoke", "account", revoke_token, "POST"),
    RouteTerms("account/sign-out", "account", sign_out, "POST"),
    RouteTerms("account/sign-out-everywhere", "account", sign_out_everywhere, "POST"),
    RouteTerms("account/leave", "account", leave, "POST"),
)
