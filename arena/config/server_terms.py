"""The table `[server]`: what teams may do on a competition's server. No result depends on it."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from referee.bot_folder import MOST_MB
from referee.match import NotNegative, Positive

MOST_SUBMISSIONS = 1_000
MOST_UPLOAD_MB = 2_000
LONGEST_WORD = 1_000


class OidcTerms(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table `[server.oidc]`: a provider of OpenID Connect by which persons with an account may sign in."""

    issuer: Annotated[str, Meta(min_length=1, max_length=LONGEST_WORD)]
    """URL of the provider."""
    client_id: Annotated[str, Meta(min_length=1, max_length=LONGEST_WORD)]
    client_secret_file: Annotated[str, Meta(min_length=1, max_length=LONGEST_WORD)]
    """File with the client's secret, relative to the folder of the competition's file."""


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
