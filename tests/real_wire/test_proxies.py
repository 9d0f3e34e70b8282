"""The season's server behind real proxies, with the configurations that the page gives to hosts."""

import os
import shutil
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from arena.accounts import Account, Accounts, Database
from arena.portal.visit import ATTEMPTS
from arena.submissions import Competition
from tests.builders.tournaments import write_tournament
from tests.docs_pages import HOUSE
from tests.real_wire.processes import until

pytestmark = pytest.mark.slow
FILES = HOUSE / "docs/examples/server"
NAME = "arena.example.org"
ORIGIN = f"https://{NAME}"
MEGABYTE = 1024 * 1024
UPLOAD_MB = 100
NGINX = """
daemon off;
user {user};
pid {folder}/nginx.pid;
error_log {folder}/proxy.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {servers}
}}
"""


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Setting:
    """A server of teams, a proxy in front of it, and a certificate."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = write_tournament(
            folder / "cup.toml",
            ["mist_random", "mist_cautious"],
            "[server]",
            f"upload_mb = {UPLOAD_MB}",
            f"disk_mb = {2 * UPLOAD_MB}",
        )
        self.behind, self.port, self.plain = free_port(), free_port(), free_port()
        self.certificate, self.key = folder / "cert.pem", folder / "key.pem"
        words = f"req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={NAME} -addext subjectAltName=DNS:{NAME}"
        subprocess.run(  # noqa: S603 - ours
            ["openssl", *words.split(), "-keyout", self.key, "-out", self.certificate],  # noqa: S607 - of the machine
            check=True,
            capture_output=True,
        )

    def replaced(self, name: str, *changes: tuple[str, str]) -> str:
        """Return the text of a configuration with this setting's ports and files; each has to be in it."""
        text = (FILES / name).read_text()
        for old, new in (("127.0.0.1:8000", f"127.0.0.1:{self.behind}"), *changes):
            assert old in text, old
            text = text.replace(old, new)
        return text

    def nginx(self) -> list[str]:
        place = f"/etc/letsencrypt/live/{NAME}/"
        servers = self.replaced(
            "nginx.conf",
            ("listen 443", f"listen 127.0.0.1:{self.port}"),
            ("listen 80", f"listen 127.0.0.1:{self.plain}"),
            (f"{place}fullchain.pem", str(self.certificate)),
            (f"{place}privkey.pem", str(self.key)),
        )
        user = "root" if os.getuid() == 0 else "nobody"
        whole = self.folder / "nginx.conf"
        whole.write_text(NGINX.format(folder=self.folder, servers=servers, user=user))
        return ["nginx", "-c", str(whole)]

    def caddy(self) -> list[str]:
        site = self.replaced("Caddyfile", (f"\n{NAME} {{", f"\n{NAME} {{\n\ttls {self.certificate} {self.key}"))
        whole = self.folder / "Caddyfile"
        ports = f"http_port {self.plain}\n\thttps_port {self.port}\n\tdefault_bind 127.0.0.1"
        whole.write_text(f"{{\n\tadmin off\n\t{ports}\n}}\n{site}")
        return ["caddy", "run", "--adapter", "caddyfile", "--config", str(whole)]

    def client(self, **more: str) -> httpx.Client:
        """Return a client that takes this machine for the site's."""
        return httpx.Client(
            base_url=f"https://127.0.0.1:{self.port}",
            headers={"host": NAME} | more,
            verify=ssl.create_default_context(cafile=str(self.certificate)),
            timeout=120,
            event_hooks={"request": [lambda request: request.extensions.update(sni_hostname=NAME)]},
        )

    def status(self, client: httpx.Client, path: str) -> int:
        try:
            return client.get(path).status_code
        except httpx.TransportError:
            return 0


@contextmanager
def running(command: list[str], folder: Path, name: str) -> Iterator[None]:
    with (folder / f"{name}.out").open("wb") as output:
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=output)  # noqa: S603 - ours
    try:
        yield
    finally:
        process.terminate()
        process.wait(60)


@pytest.fixture(params=["nginx", "caddy"])
def setting(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Setting]:
    if shutil.which(request.param) is None or shutil.which("openssl") is None:
        pytest.skip(f"this machine has no {request.param} or no openssl")
    made = Setting(tmp_path)
    arena = [sys.executable, "-m", "arena", "serve", str(made.file), "--teams", "--port", str(made.behind)]
    arena += ["--url", f"{ORIGIN}/", "--behind-proxy"]
    proxy = made.nginx() if request.param == "nginx" else made.caddy()
    with running(arena, tmp_path, "arena"), running(proxy, tmp_path, "proxy"), made.client() as client:
        until(lambda: made.status(client, "/queue") == 200)
        yield made


def member(setting: Setting) -> tuple[str, Account]:
    """Return the secret of an invitation to a team, and another member of it."""
    with closing(Database(Competition.read(setting.file).database)) as database:
        accounts = Accounts(database)
        team = accounts.new_team("Red Pandas").id
        return accounts.invite(team), accounts.accept(accounts.invite(team), "Mia")


def token_of(setting: Setting, account: Account) -> str:
    with closing(Database(Competition.read(setting.file).database)) as database:
        return Accounts(database).new_token(account, "test", "submit")


def test_people_and_programs_do_all_through_the_proxy(setting: Setting) -> None:
    invitation, mia = member(setting)
    with setting.client(origin=ORIGIN) as browser:
        joined = browser.post("/join", data={"invitation": invitation, "name": "Eva"})
        assert (303, "/team/") == (joined.status_code, joined.headers["location"])
        cookie = joined.headers["set-cookie"]
        assert cookie.startswith("__Host-arena_session=")
        assert {"Secure", "HttpOnly", "Path=/", "SameSite=Lax"} <= set(cookie.split("; "))
        assert "Red Pandas" in browser.get("/team/").text
        with browser.stream("GET", "/team/events") as events:
            lines = events.iter_lines()
            assert next(line for line in lines if line.startswith("data:"))
            token = token_of(setting, mia)
            with setting.client(authorization=f"Bearer {token}") as program:
                content = (bytes(MEGABYTE) for _ in range(UPLOAD_MB))
                sent = program.post(
                    "/api/v1/submissions?filename=bot.tar",
                    content=content,
                    headers={"content-length": str(UPLOAD_MB * MEGABYTE)},
                )
                assert 201 == sent.status_code, sent.text
            assert '"changed"' in next(line for line in lines if line.startswith("data:"))
        assert sent.json()["id"] in browser.get("/team/").text


def test_other_names_and_origins_are_refused_and_numbers_stay_here(setting: Setting) -> None:
    invitation, _ = member(setting)
    form = {"invitation": invitation, "name": "Eva"}
    with setting.client() as client:
        assert 404 == client.get("/metrics").status_code
        assert 200 == client.get("/healthz").status_code
        assert 403 == client.post("/join", data=form, headers={"origin": "https://evil.example"}).status_code
        assert 403 == client.post("/join", data=form, headers={"origin": f"http://{NAME}"}).status_code
        for headers in ({"host": "evil.example"}, {"host": "evil.example", "origin": ORIGIN}):
            # Caddy answers nothing for another name; nginx passes it on, for the arena to refuse.
            assert "Eva" not in (answer := client.post("/join", data=form, headers=headers)).text
            assert (answer.status_code, answer.text) in {(421, answer.text), (200, "")}


def test_an_address_that_a_client_makes_up_does_not_count(setting: Setting) -> None:
    with setting.client(origin=ORIGIN) as client:
        codes = [
            client.post(
                "/join", data={"invitation": "x", "name": "Eva"}, headers={"x-forwarded-for": f"203.0.113.{n}"}
            )
            for n in range(ATTEMPTS.burst + 5)
        ]
    assert 429 in {answer.status_code for answer in codes}


def test_a_visitor_without_tls_is_led_to_it(setting: Setting) -> None:
    answer = httpx.get(f"http://127.0.0.1:{setting.plain}/queue", headers={"host": NAME})
    assert answer.status_code in {301, 308}
    assert f"{ORIGIN}/queue" == answer.headers["location"].replace(f":{setting.port}", "")
