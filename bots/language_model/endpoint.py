"""Queries an endpoint with the common chat-completions interface, within bounds of bytes and time.

An endpoint is untrusted: it may be slow, endless, broken or hostile. Its texts are shown only after the key has
been hidden in them.
"""

import logging
import ssl
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache, partial
from random import Random
from time import monotonic
from typing import Any, TypeGuard

import msgspec
from msgspec import Struct

try:
    import httpx
    import trio
except ModuleNotFoundError as lack:
    raise SystemExit(
        f"chat needs {lack.name}, which is not installed here; after scripts/environment, .venv/bin/python has it"
    ) from None

from bots.language_model.settings import Settings
from protocol.codec import is_deeper

TRIES = 6
"""Maximum number of attempts per request."""
FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
"""Seconds before the second attempt; the wait doubles with each attempt, up to the longest."""
LEAST_SECONDS = 0.05
"""Minimum number of seconds that must remain for an attempt."""
MOST_BYTES = 256 * 1024
"""Maximum number of bytes of an answer as transferred."""
MOST_TEXT = 20_000
"""Maximum number of characters of the model's text that are stored, counted from its end."""
MOST_NESTING = 64
MOST_TOKENS = 10_000_000
ERROR_TEXT = 200
OK, REDIRECT, REFUSED = 200, 300, 400
AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Status codes after which the same request may succeed later."""
CHARACTERS_A_TOKEN = 4


class Answer(Struct, frozen=True):
    """The model's text and its cost."""

    text: str
    is_cut: bool
    """True if the answer ended because of the bound on its tokens."""
    tokens_in: int
    tokens_out: int
    is_estimate: bool
    """True if the endpoint did not report tokens, so that they are estimated from characters."""


class Failure(Exception):  # noqa: N818 - it is no error of ours, but an answer
    """The endpoint did not answer. The text gives the reason, without the key."""

    def __init__(self, text: str, *, again: bool = False, wait: float | None = None) -> None:
        """Set `again` if another attempt may help, and `wait` to the seconds that the endpoint requests."""
        super().__init__(text)
        self.again = again
        self.wait = wait
        self.tries = 0
        """The number of requests that were made."""


class _ChatMessage(Struct):
    content: Any = None


class _Choice(Struct):
    message: _ChatMessage | None = None
    finish_reason: Any = None


class _Completion(Struct):
    choices: list[_Choice]
    usage: Any = None


def ask(settings: Settings, messages: list[dict[str, str]], until: float, rng: Random) -> tuple[Answer, int]:
    """Return the model's answer, and the number of requests made. `until` is a time of `time.monotonic()`.

    Raises:
        Failure: there is no answer by then, or there will be none.
    """
    return trio.run(partial(_ask, settings, messages, until, rng))


async def _ask(
    settings: Settings, messages: list[dict[str, str]], until: float, rng: Random
) -> tuple[Answer, int]:
    body = msgspec.json.encode(request_of(settings, messages))
    wait = FIRST_WAIT
    failure = Failure("has no time left")
    tries = 0
    async with _client(settings) as client:
        for _ in range(TRIES):
            left = until - monotonic()
            if left < LEAST_SECONDS:
                break
            tries += 1
            limit = min(left, settings.try_seconds)
            failure = Failure(f"gives no answer in {limit:.1f} s", again=True)
            with trio.move_on_after(limit):
                try:
                    return await _post(client, settings, body, messages), tries
                except Failure as told:
                    failure = told
            pause = failure.wait if failure.wait is not None else wait * (0.5 + rng.random())
            if not failure.again or monotonic() + pause + LEAST_SECONDS > until:
                break
            await trio.sleep(pause)
            wait = min(2 * wait, LONGEST_WAIT)
    failure.tries = tries
    raise failure


def request_of(settings: Settings, messages: list[dict[str, str]]) -> dict[str, Any]:
    """Return the body of the request."""
    body: dict[str, Any] = {"model": settings.model, "messages": messages}
    if settings.temperature is not None:
        body["temperature"] = settings.temperature
    if settings.max_tokens:
        body["max_tokens"] = settings.max_tokens
    return body | settings.extra


def _client(settings: Settings) -> httpx.AsyncClient:
    """Return a client that follows no redirect, as the key is for the named endpoint only.

    It has no timeouts, because the caller bounds each attempt.
    """
    for name in ("httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return httpx.AsyncClient(
        timeout=None,  # noqa: S113 - a cancel scope bounds the whole try, which these would not
        follow_redirects=False,
        trust_env=not settings.is_here,  # Otherwise a proxy would read a key that is sent in the clear.
        verify=_trusted(),
        headers={"accept": "application/json", "accept-encoding": "identity", "user-agent": "arena-chat"},
    )


@cache
def _trusted() -> ssl.SSLContext:
    return httpx.create_ssl_context()


async def _post(
    client: httpx.AsyncClient, settings: Settings, body: bytes, messages: list[dict[str, str]]
) -> Answer:
    """Make one attempt."""
    headers = {"content-type": "application/json"} | settings.secret.headers()
    try:
        async with client.stream("POST", settings.url, content=body, headers=headers) as response:
            status = response.status_code
            if REDIRECT <= status < REFUSED:
                raise Failure(f"answers {status}, a redirect, which is not followed")
            content = await _body(response)
            retry_after = response.headers.get("retry-after", "")
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, ValueError) as error:
        # The texts of these errors may contain the request.
        raise Failure(f"cannot be reached ({type(error).__name__})", again=True) from None
    if status != OK:
        said = settings.secret.hide(_complaint(content))[:ERROR_TEXT]
        text = f"answers {status}"
        if said:
            text += f": {said}"
        raise Failure(text, again=status in AGAIN, wait=seconds_asked(retry_after))
    if kind != "application/json":
        raise Failure(f"answers with {settings.secret.hide(_shown(kind))[:80] or 'no type'}, not application/json")
    return _answer(content, messages)


async def _body(response: httpx.Response) -> bytes:
    """Return the body as transferred, up to the bound."""
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise Failure("answers in a packed form, which was not asked for")
    body = bytearray()
    with trio.CancelScope() as reading:
        async for part in response.aiter_raw():
            body += part
            if len(body) > MOST_BYTES:
                # Leaving the loop would leave httpx's generators unfinished; cancelling ends them.
                reading.cancel()
                body.clear()
    if reading.cancel_called:
        raise Failure(f"answers with more than {MOST_BYTES} bytes")
    return bytes(body)


def seconds_asked(retry_after: str) -> float | None:
    """Return the seconds that a Retry-After header requests, in either form; None if not understood."""
    if retry_after.isascii() and retry_after.isdecimal() and len(retry_after) <= 9:  # noqa: PLR2004 - decades
        return float(retry_after)
    try:
        when = parsedate_to_datetime(retry_after[:100])
        return max(0.0, (when - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


def _answer(content: bytes, messages: list[dict[str, str]]) -> Answer:
    if is_deeper(content, MOST_NESTING):
        raise Failure("answers with JSON that is nested too deeply", again=True)
    try:
        told = msgspec.json.decode(content, type=_Completion)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        raise Failure("answers with something else than a chat completion", again=True) from None
    choice = told.choices[0] if told.choices else _Choice()
    text = choice.message.content if choice.message is not None else None
    if not isinstance(text, str):
        text = ""
    usage = told.usage if isinstance(told.usage, dict) else {}
    sent, said = usage.get("prompt_tokens"), usage.get("completion_tokens")
    is_cut = choice.finish_reason == "length"
    if _is_count(sent) and _is_count(said):
        return Answer(text[-MOST_TEXT:], is_cut, sent, said, is_estimate=False)
    sent, said = sum(len(each["content"]) for each in messages), len(text)
    return Answer(
        text[-MOST_TEXT:], is_cut, -(-sent // CHARACTERS_A_TOKEN), -(-said // CHARACTERS_A_TOKEN), is_estimate=True
    )


def _is_count(number: Any) -> TypeGuard[int]:
    return type(number) is int and 0 <= number <= MOST_TOKENS


def _complaint(content: bytes) -> str:
    """Return the text of an error's body, in the form that most endpoints use."""
    if is_deeper(content, MOST_NESTING):
        return ""
    try:
        told = msgspec.json.decode(content)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return ""
    text = told.get("error") if isinstance(told, dict) else None
    if isinstance(text, dict):
        text = text.get("message")
    return _shown(text) if isinstance(text, str) else ""


def _shown(text: str) -> str:
    return "".join(char if char.isascii() and char.isprintable() else " " for char in text)
