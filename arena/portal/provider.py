"""A provider of OpenID Connect: where people sign in, and who did.

The host chooses the provider, but its answers are bounded in size and time. Its addresses are under TLS, unless it
is on this machine, and an ID token counts only with a signature by one of its published keys. The libraries are
those of the extra `oidc`.
"""

import hashlib
import os
import secrets
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote_plus, urlencode, urlsplit

import httpx
import trio
from msgspec import Struct

from arena.config import OidcTerms, is_provider_address
from arena.errors import WrongUse
from protocol.codec import Refused, decode_untrusted
from referee.linux.files import read_regular

if TYPE_CHECKING:
    from joserfc.jwk import KeySet

DISCOVERY = "/.well-known/openid-configuration"
MOST_BYTES = 256 * 1024
"""Maximum bytes of one of the provider's answers."""
ANSWER_SECONDS = 10.0
"""Seconds in which the whole of an answer must arrive."""
MOST_AT_ONCE = 20
"""Maximum requests to the provider at once; further visitors are told to try again."""
METADATA_SECONDS = 3_600.0
"""Seconds for which the provider's metadata are kept."""
KEYS_SECONDS = 60.0
"""Minimum seconds between two fetches of the provider's keys, which any visitor can cause."""
MOST_KEYS = 50
MOST_SECRET_BYTES = 4_096
LONGEST_SUBJECT = 255
"""Maximum characters of a subject (OpenID Connect Core, 2)."""
LEEWAY_SECONDS = 60
"""Seconds by which the provider's clock may differ from this machine's."""
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Algorithms of signatures by private keys. `none` and those by shared secrets are none of them."""
PUBLIC_KINDS = frozenset({"RSA", "EC", "OKP"})
SCOPE = "openid"
AnswerT = TypeVar("AnswerT")


class ProviderError(Exception):
    """Somebody cannot sign in at the provider. The text is for the visitor."""

    def __init__(self, text: str, why: str, status: HTTPStatus = HTTPStatus.UNPROCESSABLE_ENTITY) -> None:
        """Create it. `why`: the reason, for the operator alone."""
        super().__init__(text)
        self.text = text
        self.why = why
        self.status = status


class Metadata(Struct, frozen=True):
    """The part of the provider's metadata that is used (OpenID Connect Discovery, 3)."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    authorization_response_iss_parameter_supported: bool = False
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)


class _Keys(Struct, frozen=True):
    keys: list[dict[str, Any]]


class _Tokens(Struct, frozen=True):
    id_token: str
    access_token: str | None = None


class Attempt(Struct, frozen=True):
    """The secrets of one attempt to sign in."""

    state: str
    nonce: str
    verifier: str
    """Proves to the provider that who has the code also asked for it (PKCE)."""

    @classmethod
    def new(cls) -> "Attempt":
        """Return an attempt with new secrets."""
        return cls(secrets.token_urlsafe(32), secrets.token_urlsafe(32), secrets.token_urlsafe(48))


class Provider:
    """The provider of a competition's file."""

    def __init__(self, terms: OidcTerms, folder: Path) -> None:
        """Read the client's secret. `folder`: that of the competition's file.

        Raises:
            WrongUse: there is no such secret, or the extra `oidc` is missing.
        """
        self.name = terms.name or urlsplit(terms.issuer).netloc
        self._terms = terms
        self._secret = read_secret(terms, folder)
        check_extra()
        self._client: httpx.AsyncClient | None = None
        self._busy = 0
        self._metadata: tuple[float, Metadata] | None = None
        self._keys: tuple[float, KeySet] | None = None

    async def address(self, attempt: Attempt, back: str) -> str:
        """Return the address at the provider to which the browser goes. `back`: the one to which it comes back."""
        from authlib.oauth2.rfc7636 import create_s256_code_challenge  # noqa: PLC0415 - an extra

        metadata = await self._found()
        query = {
            "response_type": "code",
            "client_id": self._terms.client_id,
            "redirect_uri": back,
            "scope": SCOPE,
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": create_s256_code_challenge(attempt.verifier),
            "code_challenge_method": "S256",
        }
        start = metadata.authorization_endpoint
        return f"{start}{'&' if '?' in start else '?'}{urlencode(query)}"

    async def identity(self, attempt: Attempt, back: str, query: Mapping[str, str]) -> str:
        """Return who signed in, as issuer and subject, by the query with which the browser came back.

        Raises:
            ProviderError: nobody did, or the provider's answers do not prove it.
        """
        metadata = await self._found()
        issuer = query.get("iss")
        # Otherwise the answer of one provider could be taken to another one (RFC 9207).
        if issuer not in {None, metadata.issuer} or (
            issuer is None and metadata.authorization_response_iss_parameter_supported
        ):
            raise self._not_confirmed("the answer is another issuer's, or does not say whose it is")
        if "code" not in query:
            raise ProviderError(f"You did not sign in at {self.name}.", "no code: the visitor did not sign in")
        tokens = await self._tokens(metadata, attempt, back, query["code"])
        return f"{metadata.issuer} {await self._subject(metadata, attempt, tokens)}"

    async def _tokens(self, metadata: Metadata, attempt: Attempt, back: str, code: str) -> _Tokens:
        client, secret = self._terms.client_id, self._secret
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": back,
            "code_verifier": attempt.verifier,
        }
        auth = None
        if "client_secret_basic" in metadata.token_endpoint_auth_methods_supported:
            auth = httpx.BasicAuth(quote_plus(client), quote_plus(secret))  # RFC 6749, 2.3.1
        else:
            form |= {"client_id": client, "client_secret": secret}
        answer = await self._fetch("POST", metadata.token_endpoint, data=form, auth=auth)
        return self._decoded(answer, _Tokens)

    async def _subject(self, metadata: Metadata, attempt: Attempt, tokens: _Tokens) -> str:
        """Return the subject of an ID token, once its signature and claims are verified."""
        from joserfc.errors import InvalidKeyIdError  # noqa: PLC0415 - an extra

        for last in (False, True):
            keys = await self._published(metadata, again=last)
            try:
                return await trio.to_thread.run_sync(self._verified, tokens, keys, attempt.nonce)
            except InvalidKeyIdError:  # The provider may have made new keys.
                continue
            except Exception as error:  # noqa: BLE001 - whatever the library says of a forged token, it does not count
                raise self._not_confirmed(f"the ID token: {error!r}") from None
        raise self._not_confirmed("the ID token is signed by an unknown key")

    def _verified(self, tokens: _Tokens, keys: "KeySet", nonce: str) -> str:
        from authlib.oidc.core import CodeIDToken  # noqa: PLC0415 - an extra
        from joserfc import jwt  # noqa: PLC0415 - an extra

        token = jwt.decode(tokens.id_token, keys, algorithms=ALGORITHMS)
        client = self._terms.client_id
        claims = CodeIDToken(
            token.claims,
            token.header,
            options={
                "iss": {"essential": True, "value": self._terms.issuer},
                "aud": {"essential": True, "value": client},
            },
            params={"nonce": nonce, "client_id": client, "access_token": tokens.access_token},
        )
        claims.validate(leeway=LEEWAY_SECONDS)
        subject = claims["sub"]
        if not isinstance(subject, str) or not 0 < len(subject) <= LONGEST_SUBJECT or not subject.isprintable():
            raise ValueError("its subject is no text of 1 to 255 characters")
        return subject

    async def _found(self) -> Metadata:
        """Return the provider's metadata, which are fetched again after a while."""
        if self._metadata is None or trio.current_time() - self._metadata[0] > METADATA_SECONDS:
            issuer = self._terms.issuer
            found = self._decoded(await self._fetch("GET", f"{issuer.rstrip('/')}{DISCOVERY}"), Metadata)
            if found.issuer != issuer:
                raise self._no_answer(f"it is the issuer {found.issuer!r}, and not {issuer!r}")
            for address in (found.authorization_endpoint, found.token_endpoint, found.jwks_uri):
                is_less_safe = issuer.startswith("https:") and not address.startswith("https:")
                if not is_provider_address(address) or is_less_safe:
                    raise self._no_answer(f"its address {address!r} is not under TLS")
            self._metadata = trio.current_time(), found
        return self._metadata[1]

    async def _published(self, metadata: Metadata, *, again: bool) -> "KeySet":
        """Return the provider's keys; fetched `again` if they have been for some time."""
        from joserfc.jwk import KeySet, import_key  # noqa: PLC0415 - an extra

        if self._keys is not None and (not again or trio.current_time() - self._keys[0] < KEYS_SECONDS):
            return self._keys[1]
        found = self._decoded(await self._fetch("GET", metadata.jwks_uri), _Keys)
        keys = []
        for each in found.keys[:MOST_KEYS]:
            if each.get("kty") in PUBLIC_KINDS and each.get("use", "sig") == "sig":
                try:
                    keys.append(import_key(each))
                except Exception:  # noqa: BLE001, S112 - a key of a kind that the library does not know signs nothing here
                    continue
        self._keys = trio.current_time(), KeySet(keys)
        return self._keys[1]

    async def _fetch(self, method: str, url: str, **more: Any) -> bytes:
        """Return the body of one of the provider's answers, within bounds of size and time."""
        if self._busy >= MOST_AT_ONCE:
            raise self._no_answer("too many requests wait for it")
        if self._client is None:
            # Connections are not kept, so that none is left when the server ends.
            self._client = httpx.AsyncClient(
                timeout=ANSWER_SECONDS,
                follow_redirects=False,
                limits=httpx.Limits(max_keepalive_connections=0),
                headers={"user-agent": "arena", "accept": "application/json", "accept-encoding": "identity"},
            )
        body = bytearray()
        self._busy += 1
        try:
            with trio.fail_after(ANSWER_SECONDS):
                async with self._client.stream(method, url, **more) as response:
                    if response.headers.get("content-encoding", "identity") != "identity":
                        raise self._no_answer("its answer is compressed")
                    with trio.CancelScope() as reading:
                        async for piece in response.aiter_raw():
                            body += piece
                            if len(body) > MOST_BYTES:
                                # Leaving the loop would leave httpx's generators unfinished; cancelling ends them.
                                reading.cancel()
        except trio.TooSlowError:
            raise self._no_answer(f"it took longer than {ANSWER_SECONDS:g} s") from None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError) as error:
            # The texts of these errors may contain the request.
            raise self._no_answer(f"it cannot be reached ({type(error).__name__})") from None
        finally:
            self._busy -= 1
        if reading.cancel_called:
            raise self._no_answer(f"its answer has more than {MOST_BYTES} bytes")
        if response.status_code != HTTPStatus.OK:
            why = f"it answers {response.status_code} at {urlsplit(url).path}"
            raise self._no_answer(why) if method == "GET" else self._not_confirmed(why)
        return bytes(body)

    def _decoded(self, answer: bytes, kind: type[AnswerT]) -> AnswerT:
        try:
            return decode_untrusted(answer, kind)
        except Refused as error:
            raise self._no_answer(f"its answer is none: {error}") from None

    def _no_answer(self, why: str) -> ProviderError:
        text = f"{self.name} does not answer as it should. Try again in a while."
        return ProviderError(text, why, HTTPStatus.SERVICE_UNAVAILABLE)

    def _not_confirmed(self, why: str) -> ProviderError:
        return ProviderError(f"{self.name} did not confirm who you are. Begin again.", why)


def read_secret(terms: OidcTerms, folder: Path) -> str:
    """Return the client's secret, from a variable of the environment or from a file.

    Raises:
        WrongUse: there is none.
    """
    if terms.client_secret_env:
        secret = os.environ.get(terms.client_secret_env, "")
        place = f"client_secret_env: {terms.client_secret_env}"
    else:
        path = folder / terms.client_secret_file
        place = f"client_secret_file: {path}"
        try:
            secret = read_regular(path, MOST_SECRET_BYTES).decode()
        except (OSError, UnicodeDecodeError) as error:
            raise WrongUse(f"server.oidc.{place}: {getattr(error, 'strerror', None) or error}") from None
    if not secret.strip():
        raise WrongUse(f"server.oidc.{place}: is empty, or is not set")
    return secret.strip()


def check_extra() -> None:
    """Check that the extra `oidc` is installed.

    Raises:
        WrongUse: it is not.
    """
    try:
        import authlib  # noqa: PLC0415, F401 - an extra
        import joserfc  # noqa: PLC0415, F401 - an extra
    except ImportError:
        raise WrongUse("server.oidc: needs the extra 'oidc': pip install 'mist-arena[oidc]'") from None


def hash_of(secret: str) -> bytes:
    """Return the hash under which an attempt is kept."""
    return hashlib.sha256(secret.encode(errors="replace")).digest()
