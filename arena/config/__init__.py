"""Tournament and season files, the bots that they name, and caps on those."""

from arena.config.entries import (
    BotCaps,
    Entry,
    called,
    difference,
    entrant_label,
    find_entry,
    find_remote,
    label_of,
    labels_of,
    look_alike,
    other_name,
    random_bot,
    read_caps,
    say_link,
    short_name,
)
from arena.config.face import (
    FACE,
    FACE_FILES,
    IMAGES,
    Face,
    Team,
    read_face,
    read_face_image,
    url_complaint,
    write_face,
)
from arena.config.season_file import (
    Season,
    Stage,
    StageBot,
    is_season,
    read_season,
    stage_line,
    tournament_of_stage,
)
from arena.config.server_terms import OidcTerms, ServerTerms, is_provider_address
from arena.config.tournament_file import (
    HOUSE_MARK,
    THE_ARENA,
    Broken,
    NoticeEvent,
    Notices,
    Tournament,
    TournamentFile,
    affinity_place,
    bot_name_of,
    entry_place,
    find_entrant,
    read_form,
    read_tournament,
    results_of,
    with_changes,
    without,
)
