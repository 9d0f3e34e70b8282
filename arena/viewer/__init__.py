"""Pages that show a match in a browser, either self-contained or linked, for all viewpoints or for one."""

from arena.viewer.minute import Minute, Position, game_title, minute_of
from arena.viewer.page import (
    drawing_script,
    drawing_style,
    inert,
    linked_page_of,
    page_data,
    page_of,
    runes_of,
    shared_assets,
)
from arena.viewer.pictures import PictureAnswer, PictureOrder, make_picture, pictures_installed, placeholder
from arena.viewer.video import VideoOptions, video_form, video_of, video_steps
