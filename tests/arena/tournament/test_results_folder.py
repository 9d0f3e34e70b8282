"""The results folder is made for its owner; one that somebody has opened to others stays open."""

from pathlib import Path

from arena.tournament.results_folder import TRANSCRIPTS, held


def test_it_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "cup"
    with held(folder):
        assert [0o700, 0o700] == [each.stat().st_mode & 0o777 for each in (folder, folder / TRANSCRIPTS)]


def test_the_rights_of_one_that_is_there_stay(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with held(tmp_path):
        assert 0o755 == tmp_path.stat().st_mode & 0o777
