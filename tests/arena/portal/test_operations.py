"""What operators rely on: the announcement on all pages, health, metrics, and a complete audit log."""

from tests.arena.portal.conftest import Setting

LINE = "No matches on Sunday <b>"
SHOWN = "No matches on Sunday &lt;b&gt;"


async def test_an_announcement_is_on_every_page_at_once_until_it_is_removed(setting: Setting) -> None:
    """Public pages that were made before are made again, and error pages have it, too."""
    paths = ("index.html", "results/index.html", "results/matches.html", "queue", "no-such-page")
    for path in paths:
        assert SHOWN not in (await setting.stranger.get(path)).text
    await setting.host.post("host/announce", text=LINE)
    for path in paths:
        assert 1 == (await setting.stranger.get(path)).text.count(SHOWN), path
    assert 1 == (await setting.mia.get("team/")).text.count(SHOWN)
    await setting.host.post("host/announce", text="")
    for path in paths:
        assert SHOWN not in (await setting.stranger.get(path)).text
