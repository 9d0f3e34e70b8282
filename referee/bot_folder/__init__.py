"""Finds, checks, hashes and copies the content of untrusted bots: folders, archives and git repositories."""

from referee.bot_folder.archive import UploadError, is_upload, label_of_upload, pack, unpacked, unpacked_upload
from referee.bot_folder.cache import CacheError, making, private, remove
from referee.bot_folder.content import (
    FILE_HASH_DIGITS,
    MEGABYTE,
    MOST_FILES,
    MOST_MB,
    ContentError,
    cache_folder,
    content_hash,
    copied,
    copy_into,
    discard_copy,
    file_hashes,
    folder_items,
    forbidden_execution,
    is_whole,
    size_of,
)
from referee.bot_folder.manifest import (
    BUILD_LIMITS,
    BUILT_IN,
    CONSOLE,
    FILE,
    NEEDING_NETWORK,
    PATH,
    PYTHON,
    REMOTE,
    BotFolder,
    BotFolderError,
    BotName,
    Limits,
    built_in,
    find_bot,
    folder_name,
    is_remote,
    kept_bot,
    last_part,
    read_bot_name,
)
from referee.bot_folder.strict_toml import TomlError, line_of, parse, read_text, read_toml_with_text
