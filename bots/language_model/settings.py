"""Settings of `bots/chat` from its environment: endpoint, model, prices, limits. The key remains secret."""

import os
import re
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any, Self
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from protocol.codec import decode_json

HIDDEN = "[key]"
GRAM = 8
"""Number of consecutive characters of the key that are hidden anywhere; the minimum length of a key."""
RESERVED = ("messages", "model", "stream", "n")
"""Keys of the request that CHAT_EXTRA may not set."""
MOST_EXTRA = 4_000


class Secret:
    """Key of an endpoint, which only the request's header reveals."""

    def __init__(self, text: str = "") -> None:
        self._text = text
        low = text.lower()
        # In JSON, such as actions, quotation marks of the key are escaped.
        forms = (low, msgspec.json.encode(low).decode()[1:-1])
        self._grams: set[str] = set()
        for form in forms:
            self._grams.update(form[at : at + GRAM] for at in range(len(form) - GRAM + 1))

    def __repr__(self) -> str:
        return "Secret()"

    def __bool__(self) -> bool:
        return bool(self._text)

    def headers(self) -> dict[str, str]:
        """Return the request's header with the key; an empty dict without a key."""
        return {"authorization": f"Bearer {self._text}"} if self._text else {}

    def hide(self, text: str) -> str:
        """Return the text with `[key]` in place of the key and of any part of it of eight characters or more."""
        # Some characters beyond ASCII become longer in lower case; none of them is in a key.
        low = "".join(char.lower() if char.isascii() else char for char in text)
        hidden = bytearray(len(text))
        for gram in self._grams:
            at = low.find(gram)
            while at >= 0:
                hidden[at : at + GRAM] = b"\x01" * GRAM
                at = low.find(gram, at + 1)
        if not any(hidden):
            return text
        return re.sub(
            "\x01+", HIDDEN, "".join("\x01" if mark else char for mark, char in zip(hidden, text, strict=True))
        )

    def is_in(self, text: str) -> bool:
        """Return True if the text contains the key or a part of it of eight characters or more."""
        return self.hide(text) != text


class Settings(Struct, frozen=True, kw_only=True):
    """Address of the model, and limits of its use."""

    url: str
    """URL of the endpoint's `chat/completions`."""
    host: str
    """Host name of the endpoint, for notes."""
    is_here: bool
    """True if the endpoint is on this machine, so that no proxy is used."""
    model: str
    secret: Secret
    temperature: float | None
    """Temperature to send; None to send none."""
    max_tokens: int
    """Maximum tokens of one answer to send; 0 to send none."""
    extra: dict[str, Any]
    """Further keys of the request."""
    price_in: float
    """Price of a million tokens sent."""
    price_out: float
    """Price of a million tokens received."""
    most_cost: float
    """Maximum cost per match; after it no more requests are sent."""
    history: int
    """Maximum number of characters of the history to send."""
    brief: bool
    """True to request brief thinking."""
    repairs: int
    """Maximum number of retries per window after unreadable answers."""
    try_seconds: float
    """Maximum seconds of one request."""
    margin: float
    """Seconds before a window's end that are reserved for the submission."""

    @classmethod
    def read(cls, environment: Mapping[str, str] = os.environ) -> Self:
        """Return the settings from variables whose names start with CHAT_.

        Raises:
            SystemExit: a variable is missing or wrong; the text names it and valid values, and contains no key.
        """
        url = environment.get("CHAT_URL", "")
        if not url:
            raise SystemExit(
                "CHAT_URL is not set; bots in the sandbox get no variables and no network: "
                "use play() or a remote seat, see docs/language-models.md"
            )
        model = environment.get("CHAT_MODEL", "")
        if not (0 < len(model) <= 200 and model.isprintable()):  # noqa: PLR2004 - longer than any name
            raise SystemExit("CHAT_MODEL: give the model's name, 1 to 200 characters")
        secret = _secret(environment)
        endpoint = _url(url, secret)
        host = urlsplit(endpoint).hostname or ""
        return cls(
            url=endpoint,
            host=host,
            is_here=_is_here(host),
            model=model,
            secret=secret,
            temperature=_number(environment, "TEMPERATURE", 0, 0, 2)
            if environment.get("CHAT_TEMPERATURE")
            else None,
            max_tokens=int(_number(environment, "MAX_TOKENS", 2_000, 0, 100_000)),
            extra=_extra(environment.get("CHAT_EXTRA") or "{}"),
            price_in=_number(environment, "PRICE_IN", 0, 0, 1e6),
            price_out=_number(environment, "PRICE_OUT", 0, 0, 1e6),
            most_cost=_number(environment, "MOST_COST", 1e9, 0, 1e9),
            history=int(_number(environment, "HISTORY", 16_000, 500, 1_000_000)),
            brief=_is_on(environment, "BRIEF"),
            repairs=int(_number(environment, "REPAIRS", 2, 0, 10)),
            try_seconds=_number(environment, "TRY_SECONDS", 120, 0.1, 3_600),
            margin=_number(environment, "MARGIN", 2, 0.05, 60),
        )


def _secret(environment: Mapping[str, str]) -> Secret:
    variable = environment.get("CHAT_KEY_VARIABLE", "")
    if not variable:
        return Secret()
    key = environment.get(variable, "").strip()
    if not re.fullmatch(r"[!-~]{8,4096}", key):
        raise SystemExit(
            "CHAT_KEY_VARIABLE: it names a variable that holds no key; a key has 8 to 4096 printable characters"
        )
    return Secret(key)


def _url(text: str, secret: Secret) -> str:
    try:
        parts = urlsplit(text)
        host, has_port = parts.hostname or "", parts.port is None or parts.port > 0
    except ValueError:
        host, has_port = "", False
    if _is_wrong(text, host) or not has_port:
        raise SystemExit(
            "CHAT_URL: give http(s)://HOST[:PORT]/PATH without a name, a key or a question mark, such as "
            "https://api.example.com/v1"
        )
    if secret and text.startswith("http://") and not _is_here(host):
        raise SystemExit("CHAT_URL: a key is sent over https:// only, but to this machine itself")
    return f"{text.rstrip('/')}/chat/completions"


def _is_wrong(text: str, host: str) -> bool:
    """Return True if a base URL is invalid or contains parts that do not belong in it."""
    return not (re.fullmatch(r"https?://[!-~]{1,2000}", text) and host) or bool(set("@?#\\") & set(text))


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _number(environment: Mapping[str, str], name: str, default: float, low: float, high: float) -> float:
    text = environment.get(f"CHAT_{name}", "")
    try:
        number = float(text) if text else default
    except ValueError:
        number = float("nan")
    if not low <= number <= high:
        raise SystemExit(f"CHAT_{name}: give a number from {low:g} to {high:g}")
    return number


def _is_on(environment: Mapping[str, str], name: str) -> bool:
    text = environment.get(f"CHAT_{name}", "")
    if text not in ("", "0", "1"):
        raise SystemExit(f"CHAT_{name}: give 1 for yes or 0 for no")
    return text == "1"


def _extra(text: str) -> dict[str, Any]:
    try:
        extra = decode_json(text.encode()) if len(text) <= MOST_EXTRA else None
    except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError):  # Variables may hold any bytes.
        extra = None
    if not isinstance(extra, dict) or set(RESERVED) & set(extra):
        raise SystemExit(
            f"CHAT_EXTRA: give a JSON object of up to {MOST_EXTRA} characters without {', '.join(RESERVED)}"
        )
    return extra
