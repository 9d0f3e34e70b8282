"""The table `[server]`: what teams may do on a competition's server. No result depends on it."""

from typing import Annotated, Literal
from urllib.parse import urlsplit

from msgspec import Meta, Struct

from referee.bot_folder import MOST_MB
from referee.match import NotNegative, Positive

MOST_SUBMISSIONS = 1_000
MOST_UPLOAD_MB = 2_000
LONGEST_WORD = 1_000
LONGEST_NAME = 60


def is_provider_address(url: str) -> bool:
    """Return whether an address of a provider may be used: it is under TLS, or that of this machine."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return False
    if (
        not url.isascii()
        or not url.isprintable()
        or " " in url
        or not host
        or parts.fragment
        or "@" in parts.netloc
    ):
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and host in {"127.0.0.1", "::1", "localhost"})


class OidcTerms(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table `[server.oidc]`: a provider of OpenID Connect by which persons with an account may sign in."""

    issuer: Annotated[str, Meta(min_length=1, max_length=LONGEST_WORD)]
    """URL of the provider, as it is in its ID tokens."""
    client_id: Annotated[str, Meta(min_length=1, max_length=LONGEST_WORD)]
    """Name under which the provider knows this server."""
    client_secret_file: Annotated[str, Meta(max_length=LONGEST_WORD)] = ""
    """File with the client's secret, relative to the folder of the competition's file."""
    client_secret_env: Annotated[str, Meta(max_length=LONGEST_WORD)] = ""
    """Variable of the environment with the client's secret, instead of a file."""
    name: Annotated[str, Meta(max_length=LONGEST_NAME)] = ""
    """Name of the provider on pages; empty: the host of its URL."""

    def __post_init__(self) -> None:
        """Check what a type cannot say.

        Raises:
            ValueError: the issuer is no address under TLS, or there is not exactly one place of the secret.
        """
        if not is_provider_address(self.issuer) or "?" in self.issuer:
            raise ValueError("issuer: give an address that begins with https://, or http:// on this machine")
        if bool(self.client_secret_file) == bool(self.client_secret_env):
            raise ValueError("give client_secret_file or client_secret_env, and not both")


class ServerTerms(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table `[server]`."""

    submissions_per_day: Annotated[int, Meta(ge=1, le=MOST_SUBMISSIONS)] = 10
    """Maximum submissions of a team per day, in UTC."""
    in_flight: Annotated[int, Meta(ge=1, le=MOST_SUBMISSIONS)] = 2
    """Maximum submissions of a team that are not judged yet."""
    upload_mb: Annotated[int, Meta(ge=1, le=MOST_UPLOAD_MB)] = 50
    """Maximum megabytes of an uploaded archive."""
    unpacked_mb: Annotated[int, Meta(ge=1, le=MOST_MB)] = 500
    """Maximum megabytes of an archive's files together, once they are unpacked."""
    build_seconds: Positive = 600
    """Maximum seconds of processor time for the build of a submission."""
    versions_kept: Positive = 10
    """Number of a team's latest uploads that are kept, besides those that compete or are being judged."""
    disk_mb: Positive = 500
    """Maximum megabytes of a team's uploads together."""
    scrimmages_per_day: NotNegative = 20
    """Maximum scrimmages of a team per day, in UTC."""
    scrimmage_matches: Annotated[int, Meta(ge=1, le=MOST_SUBMISSIONS)] = 10
    """Maximum matches of a scrimmage."""
    logs: Literal["own", "none"] = "own"
    """Logs of bots that teams may read: their own, or none. Those of the judge are always shown to the team."""
    views: Literal["all", "own"] = "all"
    """Replays of matches that count: of all seats, for everybody; or, until the tournament or the stage is over,
    of a team's own seats for that team alone."""
    practice: bool | None = None
    """True if people may play in the browser; None: only if the server listens at this machine's own address."""
    members: Annotated[int, Meta(ge=1, le=50)] = 10
    """Maximum members of a team."""
    oidc: OidcTerms | None = None
    """Provider of OpenID Connect; None: persons sign in by links and sessions alone."""
