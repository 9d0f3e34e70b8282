"""Git repositories of strangers, one function each: what they hold would touch a file on the host, or never end.

Each is given an ordinary repository, whose bot lies in the folder `x`, and the command that must not be run.
"""

import os
import shutil
import subprocess
import zlib
from hashlib import sha1
from pathlib import Path


def git(repository: Path, *arguments: str) -> str:
    """Return the output of git, run as the repository's author."""
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"]
    words = ["git", "-C", str(repository), *identity, *arguments]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603


def _program(repository: Path, command: str) -> str:
    """Return a program that runs the command."""
    program = repository / "program"
    program.write_text(f"#!/bin/sh\n{command}\nexit 1\n")
    program.chmod(0o755)
    return str(program)


def _object(repository: Path, kind: str, content: bytes) -> str:
    """Write a loose object; return its name."""
    words = b"%s %d\0%s" % (kind.encode(), len(content), content)
    name = sha1(words).hexdigest()  # noqa: S324 - git's own
    file = repository / ".git" / "objects" / name[:2] / name[2:]
    file.parent.mkdir(exist_ok=True)
    if not file.exists():
        file.write_bytes(zlib.compress(words))
    return name


def _commit(repository: Path, tree: str) -> str:
    who = "t <t@example.org> 0 +0000"
    return _object(repository, "commit", f"tree {tree}\nauthor {who}\ncommitter {who}\n\nx\n".encode())


def _committed(repository: Path, *entries: tuple[str, bytes, str]) -> None:
    """Has the folder x hold these entries, at HEAD: mode, name, hash."""
    content = b"".join(b"%s %s\0" % (mode.encode(), name) + bytes.fromhex(it) for mode, name, it in entries)
    inner = _object(repository, "tree", content)
    top = _object(repository, "tree", b"40000 x\0" + bytes.fromhex(inner))
    git(repository, "update-ref", "HEAD", _commit(repository, top))


def _lose(repository: Path, name: str) -> None:
    (repository / ".git" / "objects" / name[:2] / name[2:]).unlink()


def _promise(repository: Path, program: str) -> None:
    for key, value in {
        "core.repositoryformatversion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.url": str(repository),
        "remote.origin.promisor": "true",
        "remote.origin.partialCloneFilter": "tree:0",
        "remote.origin.uploadpack": program,
    }.items():
        git(repository, "config", key, value)


def partial_clone_without_its_tree(repository: Path, command: str) -> None:
    _promise(repository, _program(repository, command))
    _lose(repository, git(repository, "rev-parse", "HEAD:x"))


def partial_clone_without_its_top_tree(repository: Path, command: str) -> None:
    _promise(repository, _program(repository, command))
    _lose(repository, git(repository, "rev-parse", "HEAD^{tree}"))


def partial_clone_without_a_file(repository: Path, command: str) -> None:
    _promise(repository, _program(repository, command))
    _lose(repository, git(repository, "rev-parse", "HEAD:x/bot.py"))


def partial_clone_without_its_commit(repository: Path, command: str) -> None:
    _promise(repository, _program(repository, command))
    _lose(repository, git(repository, "rev-parse", "HEAD"))


def remote_by_a_command(repository: Path, command: str) -> None:
    _promise(repository, "git-upload-pack")
    git(repository, "config", "remote.origin.url", f"ext::{_program(repository, command)}")
    git(repository, "config", "protocol.ext.allow", "always")
    _lose(repository, git(repository, "rev-parse", "HEAD:x"))


def remote_by_ssh(repository: Path, command: str) -> None:
    _promise(repository, "git-upload-pack")
    git(repository, "config", "remote.origin.url", "ssh://nowhere.invalid/x")
    git(repository, "config", "core.sshCommand", _program(repository, command))
    _lose(repository, git(repository, "rev-parse", "HEAD:x"))


def includes_settings(repository: Path, command: str) -> None:
    elsewhere = repository / "settings"
    elsewhere.write_text(f"[core]\n\tfsmonitor = {_program(repository, command)}\n")
    git(repository, "config", "include.path", str(elsewhere))
    partial_clone_without_its_tree(repository, command)


def settings_of_a_work_tree(repository: Path, command: str) -> None:
    partial_clone_without_its_tree(repository, command)
    git(repository, "config", "extensions.worktreeConfig", "true")
    (repository / ".git" / "config").rename(repository / ".git" / "config.worktree")
    (repository / ".git" / "config").write_text(
        "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true\n\tpartialClone = origin\n"
    )


def alternates_that_need_a_command(repository: Path, command: str) -> None:
    git(repository, "config", "core.alternateRefsCommand", _program(repository, command))
    info = repository / ".git" / "objects" / "info"
    info.mkdir(exist_ok=True)
    other = repository.parent / "other"
    shutil.copytree(repository, other)
    (info / "alternates").write_text(f"{other}/.git/objects\n")


def alternates_that_are_a_pipe(repository: Path, command: str) -> None:
    (repository / ".git" / "objects" / "info").mkdir(exist_ok=True)
    os.mkfifo(repository / ".git" / "objects" / "info" / "alternates")


def objects_elsewhere(repository: Path, command: str) -> None:
    (repository / ".git" / "objects").rename(repository.parent / "objects")
    (repository / ".git" / "objects").symlink_to(repository.parent / "objects")


def one_folder_of_objects_elsewhere(repository: Path, command: str) -> None:
    pack = repository / ".git" / "objects" / "pack"
    shutil.rmtree(pack, ignore_errors=True)
    pack.symlink_to(repository.parent)


def an_object_that_is_a_link(repository: Path, command: str) -> None:
    name = git(repository, "rev-parse", "HEAD:x")
    file = repository / ".git" / "objects" / name[:2] / name[2:]
    file.rename(repository.parent / "object")
    file.symlink_to(repository.parent / "object")


def an_object_that_is_a_pipe(repository: Path, command: str) -> None:
    name = git(repository, "rev-parse", "HEAD:x")
    _lose(repository, name)
    os.mkfifo(repository / ".git" / "objects" / name[:2] / name[2:])


def a_pack_without_end(repository: Path, command: str) -> None:
    _lose(repository, git(repository, "rev-parse", "HEAD:x"))
    for suffix in ("idx", "pack"):
        with (repository / ".git" / "objects" / "pack" / f"pack-{'1' * 40}.{suffix}").open("wb") as file:
            file.truncate(4 << 40)


def a_repository_elsewhere(repository: Path, command: str) -> None:
    (repository / ".git").rename(repository.parent / "private")
    (repository / ".git").write_text(f"gitdir: {repository.parent / 'private'}\n")


def a_repository_that_is_a_link(repository: Path, command: str) -> None:
    (repository / ".git").rename(repository.parent / "private")
    (repository / ".git").symlink_to(repository.parent / "private")


def a_repository_that_is_a_pipe(repository: Path, command: str) -> None:
    shutil.rmtree(repository / ".git")
    os.mkfifo(repository / ".git")


def a_repository_without_end(repository: Path, command: str) -> None:
    shutil.rmtree(repository / ".git")
    with (repository / ".git").open("wb") as file:
        file.truncate(4 << 40)


def a_work_tree_of_anothers_repository(repository: Path, command: str) -> None:
    """It says that it is one; the other does not know of it."""
    private = repository.parent / "private"
    (repository / ".git").rename(private)
    own = repository / "own"
    own.mkdir()
    (own / "HEAD").write_text("ref: refs/heads/main\n")
    (own / "commondir").write_text(f"{private}\n")
    (own / "gitdir").write_text(f"{repository / '.git'}\n")
    (repository / ".git").write_text(f"gitdir: {own}\n")


def a_shared_folder_elsewhere(repository: Path, command: str) -> None:
    """A repository whose objects are to be looked for in another one."""
    private = repository.parent / "private"
    shutil.copytree(repository / ".git", private)
    shutil.rmtree(repository / ".git" / "objects")
    (repository / ".git" / "commondir").write_text(f"{private}\n")


def head_is_a_link(repository: Path, command: str) -> None:
    (repository.parent / "secret").write_text(git(repository, "rev-parse", "HEAD"))
    (repository / ".git" / "HEAD").unlink()
    (repository / ".git" / "HEAD").symlink_to(repository.parent / "secret")


def head_is_a_pipe(repository: Path, command: str) -> None:
    (repository / ".git" / "HEAD").unlink()
    os.mkfifo(repository / ".git" / "HEAD")


def head_without_end(repository: Path, command: str) -> None:
    with (repository / ".git" / "HEAD").open("wb") as file:
        file.truncate(4 << 40)


def a_branch_that_is_a_pipe(repository: Path, command: str) -> None:
    os.mkfifo(repository / ".git" / "refs" / "heads" / "pipe")


def a_branch_that_is_a_link(repository: Path, command: str) -> None:
    (repository.parent / "secret").write_text(git(repository, "rev-parse", "HEAD"))
    (repository / ".git" / "refs" / "heads" / "link").symlink_to(repository.parent / "secret")


def branches_elsewhere(repository: Path, command: str) -> None:
    shutil.move(repository / ".git" / "refs", repository.parent / "refs")
    (repository / ".git" / "refs").symlink_to(repository.parent / "refs")


def a_list_of_branches_without_end(repository: Path, command: str) -> None:
    with (repository / ".git" / "packed-refs").open("wb") as file:
        file.truncate(4 << 40)


def branches_that_name_each_other(repository: Path, command: str) -> None:
    heads = repository / ".git" / "refs" / "heads"
    (heads / "one").write_text("ref: refs/heads/two\n")
    (heads / "two").write_text("ref: refs/heads/one\n")
    (repository / ".git" / "HEAD").write_text("ref: refs/heads/one\n")


def a_file_above_the_folder(repository: Path, command: str) -> None:
    blob = _object(repository, "blob", b"x")
    inner = _object(repository, "tree", b"100644 ran\0" + bytes.fromhex(blob))
    _committed(repository, ("40000", b"..", inner))


def a_file_through_a_link(repository: Path, command: str) -> None:
    link = _object(repository, "blob", os.fsencode(repository.parent))
    inner = _object(repository, "tree", b"100644 ran\0" + bytes.fromhex(_object(repository, "blob", b"x")))
    _committed(repository, ("120000", b"a", link), ("40000", b"a", inner))


def a_file_under_two_kinds(repository: Path, command: str) -> None:
    blob = _object(repository, "blob", b"bot.toml")
    inner = _object(repository, "tree", b"100644 ran\0" + bytes.fromhex(blob))
    _committed(repository, ("120000", b"a", blob), ("40000", b"a", inner))


def a_link_out_of_it(repository: Path, command: str) -> None:
    _committed(repository, ("120000", b"a", _object(repository, "blob", b"/etc/passwd")))


def a_name_with_a_slash(repository: Path, command: str) -> None:
    _committed(repository, ("100644", b"../../ran", _object(repository, "blob", b"x")))


def a_name_that_is_not_text(repository: Path, command: str) -> None:
    _committed(repository, ("100644", b"\xff", _object(repository, "blob", b"x")))


def a_submodule(repository: Path, command: str) -> None:
    _committed(repository, ("160000", b"sub", "1" * 40))


def a_bomb_of_folders(repository: Path, command: str) -> None:
    """Ten billion files of ten trees."""
    inside = _object(repository, "blob", b"x")
    mode = b"100644"
    for _ in range(10):
        entries = b"".join(b"%s %d\0" % (mode, number) + bytes.fromhex(inside) for number in range(10))
        inside, mode = _object(repository, "tree", entries), b"40000"
    _committed(repository, ("40000", b"a", inside))


def folders_without_end(repository: Path, command: str) -> None:
    inside = _object(repository, "tree", b"100644 f\0" + bytes.fromhex(_object(repository, "blob", b"x")))
    for _ in range(2_000):
        inside = _object(repository, "tree", b"40000 d\0" + bytes.fromhex(inside))
    _committed(repository, ("40000", b"d", inside))


def a_file_that_says_it_is_huge(repository: Path, command: str) -> None:
    words = b"blob %d\0" % (1 << 42)
    name = "ab" + "1" * 38
    folder = repository / ".git" / "objects" / "ab"
    folder.mkdir(exist_ok=True)
    (folder / name[2:]).write_bytes(zlib.compress(words + bytes(1 << 20)))
    _committed(repository, ("100644", b"a", name))


HOSTILE = (
    partial_clone_without_its_tree,
    partial_clone_without_its_top_tree,
    partial_clone_without_a_file,
    partial_clone_without_its_commit,
    remote_by_a_command,
    remote_by_ssh,
    includes_settings,
    settings_of_a_work_tree,
    alternates_that_need_a_command,
    alternates_that_are_a_pipe,
    objects_elsewhere,
    one_folder_of_objects_elsewhere,
    an_object_that_is_a_link,
    an_object_that_is_a_pipe,
    a_pack_without_end,
    a_repository_elsewhere,
    a_repository_that_is_a_link,
    a_repository_that_is_a_pipe,
    a_repository_without_end,
    a_work_tree_of_anothers_repository,
    head_is_a_link,
    head_is_a_pipe,
    head_without_end,
    a_branch_that_is_a_pipe,
    a_branch_that_is_a_link,
    branches_elsewhere,
    a_list_of_branches_without_end,
    branches_that_name_each_other,
    a_file_above_the_folder,
    a_file_through_a_link,
    a_file_under_two_kinds,
    a_link_out_of_it,
    a_name_with_a_slash,
    a_name_that_is_not_text,
    a_submodule,
    a_bomb_of_folders,
    folders_without_end,
    a_file_that_says_it_is_huge,
    a_shared_folder_elsewhere,
)
"""None of which is read, and none may leave anything."""
