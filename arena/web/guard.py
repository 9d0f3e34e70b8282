"""What stands between browsers and routes that change something: origins, bounded bodies, cookies, rate limits.

A route that answers to a cookie accepts a POST only from the site's own pages. The site's own host is that of
`--url`; without one, an address in numbers or `localhost`, because anybody may make a name of his own lead here
(DNS rebinding).
"""

import hmac
import ipaddress
import math
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import aclosing
from http import HTTPStatus
from urllib.parse import parse_qsl, urlsplit

import trio
from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from arena.web.events import address_of

FORM_BYTES = 64 * 1024
"""Maximum bytes of a form without files."""
FORM_FIELDS = 200
FORM_SECONDS = 20.0
"""Seconds in which such a form must arrive."""
SECURE_START = "__Host-"
"""Start of names of cookies that browsers accept from this host alone, and over TLS alone."""
MOST_BUCKETS = 20_000
"""Maximum rates in memory; the one that was used least recently is forgotten."""


class Refusal(HTTPException):
    """A request is refused. The text is for the person who made it."""

    def __init__(self, status: HTTPStatus, text: str, *, retry_after: float | None = None) -> None:
        """`retry_after`: seconds after which the request may be made again."""
        headers = None if retry_after is None else {"retry-after": str(max(1, math.ceil(retry_after)))}
        super().__init__(int(status), text, headers)
        self.text = text
        self.retry_after = retry_after


class Rate(Struct, frozen=True):
    """A limit: so many requests at once, and then one per interval."""

    burst: int
    seconds: float
    """Interval in seconds."""


class RateLimits:
    """Requests counted by subject, each subject with a bucket of its own."""

    def __init__(self, now: Callable[[], float] = trio.current_time) -> None:
        self._now = now
        self._empty: OrderedDict[tuple[str, str], float] = OrderedDict()
        """Time at which each bucket is full again."""

    def spend(self, kind: str, subject: str, rate: Rate) -> None:
        """Count a request.

        Args:
            kind: what is counted, for example `sign-in`.
            subject: who is counted, for example an address.
            rate: the limit.

        Raises:
            Refusal: there are too many (429).
        """
        now, key = self._now(), (kind, subject)
        full_at = max(self._empty.pop(key, now), now) + rate.seconds
        wait = full_at - now - rate.burst * rate.seconds
        if wait > 0:
            self._empty[key] = full_at - rate.seconds
            text = f"Too many requests. Try again in {math.ceil(wait)} s."
            raise Refusal(HTTPStatus.TOO_MANY_REQUESTS, text, retry_after=wait)
        self._empty[key] = full_at
        while len(self._empty) > MOST_BUCKETS:
            self._empty.popitem(last=False)


class Guard:
    """Checks of requests against the site's own address."""

    def __init__(self, url: str = "", *, behind_proxy: bool = False) -> None:
        """Guard a site.

        Args:
            url: address of the site's top as visitors see it; "" if it is unknown.
            behind_proxy: True if all requests come through a proxy of the host's, which appends its client's
                address to `X-Forwarded-For`.
        """
        parts = urlsplit(url)
        self._origin = f"{parts.scheme}://{parts.netloc}".lower() if url else ""
        self._host = parts.netloc.lower()
        self._behind_proxy = behind_proxy
        self.is_secure = parts.scheme == "https"
        self.path = f"{parts.path.rstrip('/')}/"
        """Path of the site's top, as visitors see it."""

    def client(self, request: Request) -> str:
        """Return the client's address, as far as clients are counted by it; see `address_of`."""
        return address_of(self.host(request))

    def host(self, request: Request) -> str:
        """Return the address of the client, or what the proxy says it is."""
        if self._behind_proxy:
            return ",".join(request.headers.getlist("x-forwarded-for")).rpartition(",")[2].strip()
        return request.client.host if request.client else ""

    def check_host(self, request: Request) -> None:
        """Check that a request was made to the site's own host.

        Raises:
            Refusal: it was made to another one (421).
        """
        if not self._is_own(request.headers.get("host", "").lower()):
            text = "This server is not known by that name. The host can name its address with --url."
            raise Refusal(HTTPStatus.MISDIRECTED_REQUEST, text)

    def check_origin(self, request: Request) -> None:
        """Check that a request that changes something comes from one of the site's own pages.

        Raises:
            Refusal: it does not (403), or was made to another host (421).
        """
        self.check_host(request)
        origin = request.headers.get("origin", "").lower()
        host = request.headers.get("host", "").lower()
        fetched = request.headers.get("sec-fetch-site", "same-origin")
        expected = {self._origin} if self._origin else {f"http://{host}", f"https://{host}"}
        if origin not in expected or fetched != "same-origin":
            raise Refusal(HTTPStatus.FORBIDDEN, "This form was not sent from a page of this site.")

    def _is_own(self, host: str) -> bool:
        if self._host:
            return hmac.compare_digest(host.encode(), self._host.encode())
        if set(host) & set("@/?#\\"):
            return False
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name == "localhost":
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True

    def cookie_name(self, name: str) -> str:
        """Return the full name of one of the site's cookies."""
        return f"{SECURE_START}{name}" if self.is_secure else name

    def cookie(self, request: Request, name: str) -> str:
        """Return the value of one of the site's cookies; "" if there is none."""
        return request.cookies.get(self.cookie_name(name), "")

    def set_cookie(self, name: str, value: str, seconds: float) -> str:
        """Return a header `Set-Cookie`, which scripts cannot read. 0 seconds delete the cookie."""
        secure = "; Secure" if self.is_secure else ""
        return f"{self.cookie_name(name)}={value}; Path=/; Max-Age={int(seconds)}; HttpOnly; SameSite=Lax{secure}"


async def read_body(request: Request, most: int, seconds: float) -> bytes:
    """Return a request's body.

    Raises:
        Refusal: it is longer than `most` bytes (413), or took longer than so many seconds (408).
    """
    body = bytearray()
    check_length(request, most)
    try:
        with trio.fail_after(seconds):
            async with aclosing(request.stream()) as pieces:
                async for piece in pieces:
                    body += piece
                    if len(body) > most:
                        raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"This is more than {most:,} bytes.")
    except trio.TooSlowError:
        raise Refusal(HTTPStatus.REQUEST_TIMEOUT, f"This took longer than {seconds:g} s to arrive.") from None
    except ClientDisconnect:
        raise Refusal(HTTPStatus.BAD_REQUEST, "The connection ended before the request was complete.") from None
    return bytes(body)


def check_length(request: Request, most: int) -> None:
    """Check the announced length of a request's body, if it has one.

    Raises:
        Refusal: it is longer than `most` bytes (413).
    """
    length = request.headers.get("content-length", "")
    if length.isascii() and length.isdigit() and int(length[:20]) > most:
        raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"This is more than {most:,} bytes.")


async def read_form(request: Request) -> Mapping[str, str]:
    """Return the fields of a form without files; of a repeated field the last value.

    Raises:
        Refusal: it is no such form (415, 400), or too long or too slow.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "This is not a form of this site.")
    body = await read_body(request, FORM_BYTES, FORM_SECONDS)
    try:
        fields = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, max_num_fields=FORM_FIELDS, errors="strict"
        )
    except ValueError:
        raise Refusal(HTTPStatus.BAD_REQUEST, "This is not a form of this site.") from None
    return dict(fields)
