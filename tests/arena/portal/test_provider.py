"""Signing in at a provider of OpenID Connect: what links an account, and what a hostile provider or visitor gets.

The provider is the tests' own, behind the client's transport. `test_real_provider.py` has a real one.
"""

import hashlib
import hmac
import json
from base64 import b64encode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator, Callable
from functools import cache
from http import HTTPStatus
from pathlib import Path
from time import time
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import httpx
import pytest
import trio
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey

from arena.errors import WrongUse
from arena.portal import identity, provider
from arena.portal.visit import SESSION
from tests.arena.portal.conftest import URL, Browser, Setting

ISSUER, CLIENT, SECRET = "https://id.example.org/realm", "arena", "client-secret-0d1e"
CALLBACK = f"{URL}/sign-in/callback"


@cache
def signer(name: str) -> RSAKey:
    return RSAKey.generate_key(2_048, {"kid": name, "use": "sig"}, private=True)


class Endless(httpx.AsyncByteStream):
    """A body without an end."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            await trio.lowlevel.checkpoint()
            yield b" " * 65_536


class Silent(httpx.AsyncByteStream):
    """A body that never comes."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b" "
        await trio.sleep_forever()


class FakeProvider:
    """A provider, whose answers a test may change."""

    def __init__(self) -> None:
        self.metadata: dict[str, Any] = {
            "issuer": ISSUER,
            "authorization_endpoint": f"{ISSUER}/authorize?tenant=1",
            "token_endpoint": f"{ISSUER}/token",
            "jwks_uri": f"{ISSUER}/keys",
        }
        self.keys = [signer("first").as_dict(private=False)]
        self.subject = "mia"
        self.claims: dict[str, Any] = {}
        """Claims that replace the right ones; None removes one."""
        self.sign: Callable[[dict[str, Any]], str] = lambda claims: signed(claims, signer("first"))
        self.more: dict[str, Any] = {}
        """Further fields of the token endpoint's answer."""
        self.answers: dict[str, Callable[[], httpx.Response]] = {}
        """Answers that replace the right ones, by the last part of the path."""
        self.asked: list[str] = []
        self._codes: dict[str, dict[str, str]] = {}

    def authorize(self, address: str, **more: str) -> str:
        """Sign in at the address to which a browser was sent; return the query with which it comes back."""
        query = dict(parse_qsl(urlsplit(address).query))
        assert address.startswith(f"{ISSUER}/authorize?tenant=1&")
        assert ("code", CLIENT, CALLBACK) == (query["response_type"], query["client_id"], query["redirect_uri"])
        assert "S256" == query["code_challenge_method"]
        code = f"code-{len(self._codes)}"
        self._codes[code] = query
        return urlencode({"code": code, "state": query["state"], "iss": ISSUER} | more)

    async def answer(self, request: httpx.Request) -> httpx.Response:
        await trio.lowlevel.checkpoint()
        found = self._answer(request)
        if isinstance(found.stream, Endless | Silent):
            return found
        # Not read yet, as from a socket.
        return httpx.Response(found.status_code, headers=found.headers, stream=httpx.ByteStream(found.content))

    def _answer(self, request: httpx.Request) -> httpx.Response:
        name = request.url.path.rpartition("/")[2]
        self.asked.append(name)
        if name in self.answers:
            return self.answers[name]()
        if name == "openid-configuration":
            return httpx.Response(200, json=self.metadata)
        if name == "keys":
            return httpx.Response(200, json={"keys": self.keys})
        return self._token(request)

    def _token(self, request: httpx.Request) -> httpx.Response:
        form = {key: value[0] for key, value in parse_qs(request.content.decode()).items()}
        asked = self._codes.pop(form["code"], None)
        own = f"Basic {b64encode(f'{CLIENT}:{SECRET}'.encode()).decode()}"
        challenge = (
            urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).rstrip(b"=").decode()
        )
        if asked is None or own != request.headers["authorization"] or challenge != asked["code_challenge"]:
            return httpx.Response(400, json={"error": "invalid_grant"})
        assert CALLBACK == form["redirect_uri"]
        now = int(time())
        claims = {
            "iss": ISSUER,
            "aud": CLIENT,
            "sub": self.subject,
            "exp": now + 300,
            "iat": now,
            "nonce": asked["nonce"],
        }
        claims = {name: value for name, value in (claims | self.claims).items() if value is not None}
        return httpx.Response(200, json={"id_token": self.sign(claims), "token_type": "Bearer"} | self.more)


def signed(claims: dict[str, Any], key: Any, alg: str = "RS256", **header: str) -> str:
    return jwt.encode({"alg": alg, "kid": key.kid} | header, claims, key, algorithms=[alg])


def unsigned(claims: dict[str, Any]) -> str:
    parts = [json.dumps(each).encode() for each in ({"alg": "none"}, claims)]
    return ".".join([*(urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts), ""])


def as_shared_secret(claims: dict[str, Any]) -> str:
    """Sign with the public key as if it were a shared secret; the library itself refuses to."""
    header = {"alg": "HS256", "kid": "first"}
    parts = [urlsafe_b64encode(json.dumps(each).encode()).rstrip(b"=") for each in (header, claims)]
    key = signer("first").as_pem(private=False)
    parts.append(urlsafe_b64encode(hmac.digest(key, b".".join(parts), "sha256")).rstrip(b"="))
    return b".".join(parts).decode()


class Signing:
    """A portal whose host has a provider."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.fake = FakeProvider()
        assert setting.portal.provider is not None
        self.provider = setting.portal.provider
        self.provider._client = httpx.AsyncClient(transport=httpx.MockTransport(self.fake.answer))

    async def begin(self, browser: Browser) -> str:
        """Return the address to which a browser is sent for signing in."""
        answer = await browser.get("sign-in/provider")
        assert answer.status_code == HTTPStatus.SEE_OTHER
        return answer.headers["location"]

    async def sign_in(self, browser: Browser, **more: str) -> httpx.Response:
        query = self.fake.authorize(await self.begin(browser), **more)
        return await browser.get(f"sign-in/callback?{query}")

    async def by_form(self, browser: Browser, path: str, **fields: str) -> httpx.Response:
        """Send a form, follow the link that it leads to, and come back."""
        page = await browser.post(path, **fields)
        assert page.status_code == HTTPStatus.OK
        start = page.text.index(f'href="{ISSUER}') + len('href="')
        address = page.text[start : page.text.index('"', start)].replace("&amp;", "&")
        return await browser.get(f"sign-in/callback?{self.fake.authorize(address)}")

    def accounts(self) -> int:
        return int(self.setting.portal.database.value("SELECT count(*) FROM accounts"))


@pytest.fixture
async def signing(tmp_path: Path, played: Path) -> AsyncIterator[Signing]:
    (tmp_path / "oidc.secret").write_text(f"{SECRET}\n")
    lines = [f'issuer = "{ISSUER}"', f'client_id = "{CLIENT}"', 'client_secret_file = "oidc.secret"']
    setting = Setting(tmp_path, "[server.oidc]", *lines, 'name = "Example ID"')
    setting.play(played)
    await setting.join()
    yield Signing(setting)
    setting.close()


async def test_an_owner_links_an_account_and_signs_in_by_it_on_another_browser(signing: Signing) -> None:
    mia = signing.setting.mia
    assert (await signing.by_form(mia, "account/provider")).headers["location"] == "/account"
    assert "identity linked" == signing.setting.portal.accounts.audit_log(count=1)[0].action
    assert "You can sign in with Example ID" in (await mia.get("account")).text
    phone = signing.setting.browser("198.51.100.1")
    assert (await signing.sign_in(phone)).headers["location"] == "/team/"
    assert "Red Pandas" in (await phone.get("team/")).text
    await mia.post("account/provider/remove")
    assert (await signing.sign_in(signing.setting.browser("198.51.100.2"))).status_code == HTTPStatus.FORBIDDEN


async def test_an_invitation_is_accepted_at_the_provider_once(signing: Signing) -> None:
    accounts = signing.setting.portal.accounts
    team = signing.setting.member("Red Pandas").team
    secret = accounts.invite(team)
    new = signing.setting.browser("198.51.100.1")
    signing.fake.subject = "zoe"
    answer = await signing.by_form(new, "join/provider", invitation=secret, name="Zoe")
    assert answer.headers["location"] == "/team/"
    assert ["Mia", "Zoe"] == [each.name for each in accounts.members(team)]
    again = await signing.setting.browser("198.51.100.2").post("join/provider", invitation=secret, name="Eve")
    assert again.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    # An identity has one account, and an invitation that it cannot use stays open.
    second = accounts.invite(team)
    answer = await signing.by_form(
        signing.setting.browser("198.51.100.3"), "join/provider", invitation=second, name="Z"
    )
    assert "has an account already" in answer.text
    assert "Red Pandas" == accounts.invited_to(second)


async def test_a_stranger_who_signs_in_gets_no_account_and_learns_of_none(signing: Signing) -> None:
    before = signing.accounts()
    answers = []
    for subject in ("unknown", "mia"):
        signing.fake.subject = subject
        answers.append(await signing.sign_in(signing.setting.browser("198.51.100.1")))
    assert [HTTPStatus.FORBIDDEN] * 2 == [answer.status_code for answer in answers]
    bodies = {answer.text.replace(answer.headers["x-request-id"], "") for answer in answers}
    assert 1 == len(bodies)
    assert before == signing.accounts()
    assert not [answer for answer in answers if SESSION in answer.headers.get("set-cookie", "")]


async def test_an_identity_opens_no_closed_or_ended_account(signing: Signing) -> None:
    setting = signing.setting
    await signing.by_form(setting.mia, "account/provider")
    team = setting.member("Red Pandas").team
    assert team is not None
    setting.portal.accounts.close_team(team)
    assert (await signing.sign_in(setting.browser("198.51.100.1"))).status_code == HTTPStatus.FORBIDDEN
    # Its identity is still taken.
    answer = await signing.by_form(setting.eve, "account/provider")
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY


async def test_an_identity_is_linked_to_one_account_alone(signing: Signing) -> None:
    await signing.by_form(signing.setting.mia, "account/provider")
    answer = await signing.by_form(signing.setting.eve, "account/provider")
    assert "has an account already" in answer.text
    assert not signing.setting.portal.accounts.has_subject(signing.setting.member("Blue Herons"))


async def test_an_answer_counts_once_and_in_the_browser_that_began(signing: Signing) -> None:
    await signing.by_form(signing.setting.mia, "account/provider")
    phone, other = signing.setting.browser("198.51.100.1"), signing.setting.browser("198.51.100.2")
    query = signing.fake.authorize(await signing.begin(phone))
    await signing.begin(other)
    # Somebody makes another browser take the answer, so that it would be signed in as somebody else.
    assert (await other.get(f"sign-in/callback?{query}")).status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert (await phone.get(f"sign-in/callback?{query}")).headers["location"] == "/team/"
    asked = len(signing.fake.asked)
    replayed = await phone.get(f"sign-in/callback?{query}")
    assert replayed.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert asked == len(signing.fake.asked)


async def test_an_attempt_gets_too_old_and_only_so_many_are_kept(
    signing: Signing, monkeypatch: pytest.MonkeyPatch
) -> None:
    phone = signing.setting.browser("198.51.100.1")
    monkeypatch.setattr(identity, "ATTEMPT_SECONDS", 0)
    assert (await signing.sign_in(phone)).status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    attempts = identity.Attempts()
    monkeypatch.setattr(identity, "MOST_ATTEMPTS", 3)
    begun = [attempts.begin("browser", identity.SigningIn()) for _ in range(5)]
    monkeypatch.setattr(identity, "ATTEMPT_SECONDS", 600)
    begun.append(attempts.begin("browser", identity.SigningIn()))
    assert attempts.end(begun[0].state, "browser") is None
    assert attempts.end(begun[-1].state, "browser") is not None


async def test_linking_needs_the_session_that_began_it(signing: Signing) -> None:
    mia, eve = signing.setting.mia, signing.setting.member("Blue Herons")
    page = await mia.post("account/provider")
    start = page.text.index(f'href="{ISSUER}') + len('href="')
    address = page.text[start : page.text.index('"', start)].replace("&amp;", "&")
    query = signing.fake.authorize(address)
    mia.http.cookies.set(SESSION, signing.setting.portal.accounts.open_session(eve))
    assert (await mia.get(f"sign-in/callback?{query}")).status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert not signing.setting.portal.accounts.has_subject(eve)


@pytest.mark.parametrize(
    ("more", "supported"),
    [({"iss": "https://evil.example"}, False), ({"iss": ""}, False), ({"iss": f"{ISSUER}/"}, True)],
)
async def test_the_answer_of_another_issuer_is_refused(
    signing: Signing, more: dict[str, str], *, supported: bool
) -> None:
    """RFC 9207: an attacker's provider could otherwise pass an honest one's code on to this server."""
    await signing.by_form(signing.setting.mia, "account/provider")
    signing.fake.metadata["authorization_response_iss_parameter_supported"] = supported
    signing.fake.asked.clear()
    answer = await signing.sign_in(signing.setting.browser("198.51.100.1"), **more)
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert "token" not in signing.fake.asked


async def test_an_issuer_that_says_that_it_names_itself_must_do_so(signing: Signing) -> None:
    signing.fake.metadata["authorization_response_iss_parameter_supported"] = True
    phone = signing.setting.browser("198.51.100.1")
    query = dict(parse_qsl(signing.fake.authorize(await signing.begin(phone))))
    del query["iss"]
    answer = await phone.get(f"sign-in/callback?{urlencode(query)}")
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert "token" not in signing.fake.asked


NOW = int(time())
WRONG_CLAIMS: dict[str, dict[str, Any]] = {
    "another audience": {"aud": "other"},
    "a list of other audiences": {"aud": ["other", "third"]},
    "our audience among others, for another party": {"aud": [CLIENT, "other"], "azp": "other"},
    "our audience among others, for no party": {"aud": [CLIENT, "other"]},
    "no audience": {"aud": None},
    "another issuer": {"iss": "https://evil.example"},
    "no issuer": {"iss": None},
    "another nonce": {"nonce": "x"},
    "no nonce": {"nonce": None},
    "too old": {"exp": NOW - 3_600},
    "no end": {"exp": None},
    "an end that is a text": {"exp": "tomorrow"},
    "no subject": {"sub": None},
    "a number as subject": {"sub": 1},
    "a subject with a line end": {"sub": "mia\nx"},
    "an empty subject": {"sub": ""},
    "a long subject": {"sub": "x" * 256},
    "from the future": {"iat": NOW + 36_000, "nbf": NOW + 36_000},
}


@pytest.mark.parametrize("claims", WRONG_CLAIMS.values(), ids=WRONG_CLAIMS)
async def test_an_id_token_with_a_wrong_claim_signs_nobody_in(signing: Signing, claims: dict[str, Any]) -> None:
    await signing.by_form(signing.setting.mia, "account/provider")
    signing.fake.claims = claims
    answer = await signing.sign_in(signing.setting.browser("198.51.100.1"))
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert "did not confirm who you are" in answer.text


FORGED: dict[str, Callable[[dict[str, Any]], str]] = {
    "no signature": unsigned,
    "the public key as a shared secret": as_shared_secret,
    "the client's secret": lambda claims: signed(claims, OctKey.import_key(SECRET, {"kid": "first"}), "HS256"),
    "another key of the same name": lambda claims: signed(claims, signer("second"), kid="first"),
    "an unknown key": lambda claims: signed(claims, signer("second")),
    "a key in the token": lambda claims: signed(
        claims, signer("second"), kid="first", jku="https://evil.example/keys"
    ),
    "a changed claim": lambda claims: _changed(signed(claims, signer("first"))),
    "no token": lambda _: "a.b.c",
    "an empty token": lambda _: "",
    "another language": lambda _: "\N{SNOWMAN}" * 100,
}


def _changed(token: str) -> str:
    head, claims, signature = token.split(".")
    padded = claims + "=" * (-len(claims) % 4)
    changed = json.loads(urlsafe_b64decode(padded)) | {"sub": "eve"}
    return f"{head}.{urlsafe_b64encode(json.dumps(changed).encode()).rstrip(b'=').decode()}.{signature}"


@pytest.mark.parametrize("sign", FORGED.values(), ids=FORGED)
async def test_a_forged_id_token_signs_nobody_in(signing: Signing, sign: Callable[[dict[str, Any]], str]) -> None:
    await signing.by_form(signing.setting.mia, "account/provider")
    signing.fake.sign = sign
    answer = await signing.sign_in(signing.setting.browser("198.51.100.1"))
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY


async def test_a_shared_secret_among_the_published_keys_signs_nothing(signing: Signing) -> None:
    key = OctKey.generate_key(256, {"kid": "shared"})
    signing.fake.keys.append(key.as_dict(private=True))
    signing.fake.sign = lambda claims: signed(claims, key, "HS256")
    answer = await signing.sign_in(signing.setting.browser("198.51.100.1"))
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY


async def test_an_access_token_that_is_not_the_id_tokens_is_refused(signing: Signing) -> None:
    await signing.by_form(signing.setting.mia, "account/provider")
    signing.fake.more, signing.fake.claims = {"access_token": "mine"}, {"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"}
    answer = await signing.sign_in(signing.setting.browser("198.51.100.1"))
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY


async def test_new_keys_of_the_provider_are_found_and_not_asked_for_at_each_forgery(
    signing: Signing, monkeypatch: pytest.MonkeyPatch
) -> None:
    await signing.by_form(signing.setting.mia, "account/provider")
    second = ECKey.generate_key("P-256", {"kid": "second", "use": "sig"})
    signing.fake.keys = [{"kty": "unknown"}, {"kty": "RSA", "n": "", "e": ""}, second.as_dict(private=False)]
    signing.fake.sign = lambda claims: signed(claims, second, "ES256")
    signing.fake.asked.clear()
    answer = await signing.sign_in(signing.setting.browser("198.51.100.1"))
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert "keys" not in signing.fake.asked
    monkeypatch.setattr(provider, "KEYS_SECONDS", 0)
    assert (await signing.sign_in(signing.setting.browser("198.51.100.1"))).headers["location"] == "/team/"


def answers(**more: Any) -> Callable[[], httpx.Response]:
    return lambda: httpx.Response(**{"status_code": 200} | more)


BAD_ANSWERS: dict[str, Callable[[], httpx.Response]] = {
    "without an end": answers(stream=Endless()),
    "that never comes": answers(stream=Silent()),
    "HTML": answers(html="<h1>Hello</h1>"),
    "nothing": answers(content=b""),
    "a list": answers(json=[]),
    "deep": answers(content=b"[" * 100_000),
    "of another kind": answers(json={"issuer": 1, "keys": "x", "id_token": []}),
    "compressed": answers(headers={"content-encoding": "zstd"}, content=b"{}"),
    "a redirect": answers(status_code=302, headers={"location": "http://169.254.169.254/"}),
    "an error": answers(status_code=500, json={}),
    "no text": answers(content=b"\xff\xfe{}"),
}


@pytest.mark.parametrize("place", ["openid-configuration", "keys", "token"])
@pytest.mark.parametrize("bad", BAD_ANSWERS.values(), ids=BAD_ANSWERS)
async def test_a_provider_that_answers_badly_is_named_within_bounds(
    signing: Signing,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    place: str,
    bad: Callable[[], httpx.Response],
) -> None:
    signing.fake.answers[place] = bad
    phone = signing.setting.browser("198.51.100.1")
    path = "sign-in/provider"
    if place != "openid-configuration":
        path = f"sign-in/callback?{signing.fake.authorize(await signing.begin(phone))}"
    if bad is BAD_ANSWERS["that never comes"]:
        monkeypatch.setattr(provider, "ANSWER_SECONDS", 0.05)
    answer = await phone.get(path)
    assert answer.status_code in {HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.UNPROCESSABLE_ENTITY}
    assert "Example ID" in answer.text
    assert "somebody could not sign in at Example ID" in capsys.readouterr().err
    assert SECRET not in answer.text


@pytest.mark.parametrize(
    "change",
    [
        {"issuer": "https://evil.example"},
        {"issuer": f"{ISSUER}/"},
        {"token_endpoint": "http://id.example.org/token"},
        {"token_endpoint": "http://127.0.0.1:1/token"},
        {"jwks_uri": "file:///etc/passwd"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"authorization_endpoint": "https://user@id.example.org/"},
        {"jwks_uri": "https://id.example.org:99999999/"},
    ],
    ids=str,
)
async def test_metadata_that_lead_elsewhere_are_not_followed(signing: Signing, change: dict[str, str]) -> None:
    signing.fake.metadata |= change
    answer = await signing.setting.stranger.get("sign-in/provider")
    assert answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    assert ["openid-configuration"] == signing.fake.asked


async def test_too_many_at_a_slow_provider_are_told_at_once(
    signing: Signing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provider, "MOST_AT_ONCE", 0)
    answer = await signing.setting.stranger.get("sign-in/provider")
    assert answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    assert int(answer.headers["retry-after"]) > 0
    assert [] == signing.fake.asked


async def test_nothing_in_the_answer_leads_to_another_site_or_reveals_a_secret(
    signing: Signing, capsys: pytest.CaptureFixture[str]
) -> None:
    await signing.by_form(signing.setting.mia, "account/provider")
    phone = signing.setting.browser("198.51.100.1")
    address = await signing.begin(phone)
    evil = {"next": "https://evil.example", "redirect_uri": "//evil.example", "return_to": "https://evil.example"}
    query = signing.fake.authorize(address, **evil)
    answer = await phone.get(f"sign-in/callback?{query}")
    assert answer.headers["location"] == "/team/"
    asked = dict(parse_qsl(urlsplit(address).query))
    refused = await phone.get(f"sign-in/callback?{query}&error=access_denied&error_description=<script>")
    shown = answer.text + refused.text + capsys.readouterr().err
    assert not [
        each for each in (asked["state"], asked["nonce"], "code-0", SECRET, "<script>alert") if each in shown
    ]


async def test_a_visitor_who_does_not_sign_in_is_told_so(signing: Signing) -> None:
    phone = signing.setting.browser("198.51.100.1")
    state = dict(parse_qsl(urlsplit(await signing.begin(phone)).query))["state"]
    answer = await phone.get(f"sign-in/callback?error=access_denied&state={state}")
    assert "You did not sign in at Example ID" in answer.text


async def test_without_a_provider_there_are_no_such_pages(setting: Setting) -> None:
    assert (await setting.stranger.get("sign-in/provider")).status_code == HTTPStatus.NOT_FOUND
    assert (await setting.stranger.get("sign-in/callback?state=x&code=y")).status_code == HTTPStatus.NOT_FOUND
    assert (await setting.mia.post("account/provider")).status_code == HTTPStatus.NOT_FOUND
    for browser, path in ((setting.stranger, "sign-in"), (setting.stranger, "join"), (setting.mia, "account")):
        assert "provider" not in (await browser.get(path)).text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text("s3cret\n")
    (tmp_path / "empty").write_text("\n")
    return tmp_path


GOOD = [f'issuer = "{ISSUER}"', 'client_id = "arena"']


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([*GOOD], "client_secret_file or client_secret_env"),
        ([*GOOD, 'client_secret_file = "secret"', 'client_secret_env = "X"'], "not both"),
        ([*GOOD, 'client_secret_file = "nowhere"'], "No such file"),
        ([*GOOD, 'client_secret_file = "empty"'], "is empty"),
        ([*GOOD, 'client_secret_env = "ARENA_NO_SUCH_VARIABLE"'], "is not set"),
        ([*GOOD, 'client_secret = "s3cret"'], "client_secret"),
        (['issuer = "http://id.example.org"', *GOOD[1:], 'client_secret_file = "secret"'], "https://"),
        (['issuer = "https://id.example.org/?a=b"', *GOOD[1:], 'client_secret_file = "secret"'], "https://"),
    ],
)
def test_what_is_wrong_in_the_file_is_said_at_the_start(folder: Path, lines: list[str], why: str) -> None:
    with pytest.raises(WrongUse, match=why):
        Setting(folder, "[server.oidc]", *lines).close()


def test_the_secret_may_come_from_the_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_TEST_SECRET", "s3cret")
    setting = Setting(folder, "[server.oidc]", *GOOD, 'client_secret_env = "ARENA_TEST_SECRET"')
    assert setting.portal.provider is not None
    assert ("s3cret", "id.example.org") == (setting.portal.provider._secret, setting.portal.provider_name)
    setting.close()
