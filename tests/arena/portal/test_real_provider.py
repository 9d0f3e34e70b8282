"""Signing in at a real provider of OpenID Connect: oidc-provider, from npm, as a process on this machine."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import httpx
import pytest

from arena.portal.visit import SESSION
from tests.arena.portal.conftest import URL, Browser, Setting

PACKAGE = "oidc-provider@8.8.1"
SECRET = "a-secret-of-the-client-8f2b"  # noqa: S105 - of this test alone
CALLBACK = f"{URL}/sign-in/callback"
INSTALL_SECONDS = 240
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("real provider")]


@pytest.fixture(scope="module")
def issuer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start the provider, and return its address."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("there is no node or no npm here, so no real provider was tried")
    folder = tmp_path_factory.mktemp("provider")
    shutil.copy(Path(__file__).with_name("oidc_provider.mjs"), folder)
    (folder / "package.json").write_text("{}")
    install = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", PACKAGE]
    made = subprocess.run(  # noqa: S603 - our own words
        install, cwd=folder, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False
    )
    if made.returncode:
        pytest.skip(f"npm cannot install {PACKAGE}, so no real provider was tried: {made.stderr[-300:]}")
    command = [node, "oidc_provider.mjs", CALLBACK, SECRET]
    with subprocess.Popen(  # noqa: S603 - our own words
        command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        assert port.isdigit()
        yield f"http://127.0.0.1:{port}"
        process.stdin.close()  # type: ignore[union-attr]
        process.wait(60)


async def at_provider(address: str, login: str) -> str:
    """Sign in by the provider's forms; return the address to which it leads back."""
    async with httpx.AsyncClient() as person:
        answer = await person.get(address)
        for _ in range(20):
            if answer.is_redirect:
                address = urljoin(str(answer.url), answer.headers["location"])
                if address.startswith(CALLBACK):
                    return address
                answer = await person.get(address)
                continue
            form = re.search(r'<form[^>]* action="([^"]+)"', answer.text)
            assert form is not None
            prompt = re.search(r'name="prompt" value="(\w+)"', answer.text)
            assert prompt is not None
            fields = {"prompt": prompt[1], "login": login, "password": "any"}
            answer = await person.post(urljoin(str(answer.url), form[1]), data=fields)
    raise AssertionError("the provider led nowhere")


async def come_back(browser: Browser, address: str) -> httpx.Response:
    return await browser.get(f"sign-in/callback?{urlsplit(address).query}")


async def test_people_link_accounts_and_sign_in_at_a_real_provider(
    tmp_path: Path, played: Path, issuer: str
) -> None:
    (tmp_path / "oidc.secret").write_text(SECRET)
    lines = [f'issuer = "{issuer}"', 'client_id = "arena"', 'client_secret_file = "oidc.secret"', 'name = "Uni"']
    setting = Setting(tmp_path, "[server.oidc]", *lines)
    setting.play(played)
    await setting.join()
    page = await setting.mia.post("account/provider")
    link = re.search(rf'href="({re.escape(issuer)}[^"]+)"', page.text)
    assert link is not None
    back = await at_provider(link[1].replace("&amp;", "&"), "mia@example.org")
    assert (await come_back(setting.mia, back)).headers["location"] == "/account"

    phone = setting.browser("198.51.100.1")
    back = await at_provider((await phone.get("sign-in/provider")).headers["location"], "mia@example.org")
    answer = await come_back(phone, back)
    assert "/team/" == answer.headers["location"]
    assert "Red Pandas" in (await phone.get("team/")).text
    # The provider's code counts once, and the state too.
    assert (await come_back(phone, back)).status_code == HTTPStatus.UNPROCESSABLE_ENTITY

    stranger = setting.browser("198.51.100.2")
    back = await at_provider((await stranger.get("sign-in/provider")).headers["location"], "eve@example.org")
    answer = await come_back(stranger, back)
    assert HTTPStatus.FORBIDDEN == answer.status_code
    assert SESSION not in answer.headers.get("set-cookie", "")
    setting.close()
