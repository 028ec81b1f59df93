"""`ludus record`: episodes between two players as GIF or MP4.

record(run, ("main", "one_ply"), Film(episodes=3), Path("videos"))

A PettingZoo environment renders itself (`render_mode="rgb_array"`). Of a native game, and of an environment that
renders only text ("ansi"), the text is made into a picture.
"""

import io
import re
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from collectors.envs.rows import Environment, HasPicture
from collectors.episode import Frame, Frames, replay
from launch.config.config import stored
from launch.matches.match import PICTURE, TEXT, describe_outcome, open_environment, set_up
from launch.terminal.spinner import Spinner
from launch.viewers.curves import RecordedEpisode
from league.errors import InputError
from league.ids import derive_seed
from league.spec import EnvSpec
from league.store.files import publish
from league.store.run_directory import RunDirectory
from league.ticket import Ticket

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont

Picture = npt.NDArray[np.uint8]

FORMATS = ("gif", "mp4")
PICTURES, LARGEST, SECONDS = (
    200,
    480,
    20.0,
)  # of a recorded episode: at most so many, so many pixels wide, shown so long
LAST = 4  # times as long as the others the last picture is shown
LINE, SIZE, MARGIN = 22, 17, 16  # pixels
ESCAPE = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|[@-_])")  # colours of a terminal, and moves of its cursor


class RecordError(InputError):
    """A video that cannot be made; the message says why, and how to fix it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Film:
    """How many episodes are recorded, from which seed, and in which format."""

    episodes: int = 1
    seed: int = 0
    kind: str = "gif"
    fps: float = 2.0

    def __post_init__(self) -> None:
        """Refuse what cannot be shown."""
        if self.episodes < 1 or not 0 < self.fps <= 60:
            raise RecordError(f"record at least 1 episode, at 60 fps at most; got {self.episodes} at {self.fps:g} fps")


def record(
    run: RunDirectory, names: tuple[str, str], film: Film, out: Path | None = None, allow: Collection[str] = ()
) -> list[Path]:
    """Let two players play and write each episode into a file; return the files."""
    encode = encoder(film.kind)
    folder, paths = out or run.inside(run.videos), []
    setting = set_up(run, *names, seed=film.seed, allow=allow, render=(PICTURE, TEXT))
    with setting as match, Spinner("record") as progress:
        folder.mkdir(parents=True, exist_ok=True)
        for episode in range(film.episodes):
            frames = match.play(episode, derive_seed(film.seed, "play", episode))
            pictures = []
            for picture in _pictures(match.env, match.ticket, frames):
                pictures.append(picture)
                progress.update(f"episode {episode + 1} of {film.episodes}, picture {len(pictures)}")
            path = folder / f"{names[0]}-{names[1]}-{film.seed}-{episode}.{film.kind}"
            publish(path, encode(_same_size(pictures), film.fps))
            paths.append(path)
    return paths


def render_recorded(run: RunDirectory, recorded: RecordedEpisode, path: Path, allow: Collection[str] = ()) -> None:
    """Write a video of an episode that was recorded, as it was played."""
    with closing(open_environment(stored(run).env, allow, (PICTURE, TEXT))) as env:
        frames = replay(env, recorded.ticket, recorded.attempt, recorded.episode, recorded.actions, recorded.seed)
        pictures = thinned(_small(picture) for picture in _pictures(env, recorded.ticket, frames))
    publish(path, _gif(_same_size(pictures), max(Film().fps, len(pictures) / SECONDS)))


def thinned(pictures: Iterable[Picture], most: int = PICTURES) -> list[Picture]:
    """Return some of the pictures, evenly spaced, and the last one: a long episode must fit into memory.

    >>> thinned(range(10), most=4)
    [0, 4, 8, 9]
    """
    kept: list[Picture] = []
    stride, last = 1, None
    for i, last in enumerate(pictures):
        if i % stride == 0:
            kept.append(last)
            if len(kept) > most:
                kept, stride = kept[::2], 2 * stride
    return kept if last is None or last is kept[-1] else [*kept, last]


def _small(picture: Picture) -> Picture:
    from PIL import Image

    image = Image.fromarray(picture[..., :3])
    image.thumbnail((LARGEST, LARGEST))
    return np.asarray(image)


def _pictures(env: Environment, ticket: Ticket, frames: Frames) -> Iterator[Picture]:
    """Yield a picture of each position; the last one has the outcome below."""
    number, last = 0, Frame((), "")
    while True:
        try:
            last = next(frames)
        except StopIteration as stop:
            yield text_picture(
                [*_lines(env.spec, ticket, last, number - 1), "", describe_outcome(ticket, stop.value).strip()]
            )
            return
        found = env.picture(0) if isinstance(env, HasPicture) else None
        yield text_picture(_lines(env.spec, ticket, last, number)) if found is None else np.asarray(found, np.uint8)
        number += 1


def _lines(spec: EnvSpec, ticket: Ticket, frame: Frame, number: int) -> list[str]:
    players = " v ".join(str(entry.player) for entry in ticket.entries)
    moves = [f"{ticket.entries[move.entry].player} plays {move.action}" for move in frame.moves]
    return [players, f"{number}. {', '.join(moves)}" if moves else spec.name, "", *_plain(frame.text).splitlines()]


def _plain(text: str) -> str:
    r"""Return text without what only a terminal understands: colours and tabs.

    >>> _plain("\x1b[31mred\x1b[0m\tblue")
    'red     blue'
    """
    return "".join(c for c in ESCAPE.sub("", text).expandtabs() if c == "\n" or c.isprintable())


# --- pictures ------------------------------------------------------------------------------------------------


@cache
def _font() -> "FreeTypeFont":
    import matplotlib
    from PIL import ImageFont

    return ImageFont.truetype(str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSansMono.ttf"), SIZE)


def text_picture(lines: Sequence[str]) -> Picture:
    """Return lines of text as a picture."""
    from PIL import Image, ImageDraw

    width = max(280, *(int(_font().getlength(line)) + 2 * MARGIN for line in lines))
    image = Image.new("RGB", (width + width % 2, 2 * MARGIN + LINE * len(lines)), "white")
    pen = ImageDraw.Draw(image)
    for row, line in enumerate(lines):
        pen.text((MARGIN, MARGIN + LINE * row), line, fill="black", font=_font())
    return np.asarray(image)


def _same_size(pictures: Sequence[Picture]) -> list[Picture]:
    """Return the pictures on one canvas: a video has one size, and codecs want even numbers."""
    height, width = (max(p.shape[i] for p in pictures) + 1 & ~1 for i in (0, 1))
    canvases = []
    for picture in pictures:
        canvas = np.full((height, width, 3), 255, np.uint8)
        canvas[: picture.shape[0], : picture.shape[1]] = picture[..., :3]
        canvases.append(canvas)
    return canvases


# --- files ---------------------------------------------------------------------------------------------------

Encode = Callable[[Sequence[Picture], float], bytes]


def encoder(kind: str) -> Encode:
    """Return the encoder of a format; refuse, before anything is played, one that does not work here."""
    if kind not in FORMATS:
        raise RecordError(f"unknown format {kind!r}; choose one of {', '.join(FORMATS)}")
    if kind == "gif":
        return _gif
    try:
        import imageio_ffmpeg

        imageio_ffmpeg.get_ffmpeg_exe()
    except (ImportError, RuntimeError) as error:
        raise RecordError(
            "there is no codec for mp4: pip install 'ludus-league[video]' brings one, or use --format gif"
        ) from error
    return _mp4


def _gif(pictures: Sequence[Picture], fps: float) -> bytes:
    from PIL import Image

    images = [Image.fromarray(picture) for picture in pictures]
    times = [int(1000 / fps)] * (len(images) - 1) + [int(LAST * 1000 / fps)]
    out = io.BytesIO()
    images[0].save(out, "GIF", save_all=True, append_images=images[1:], duration=times, loop=0)
    return out.getvalue()


def _mp4(pictures: Sequence[Picture], fps: float) -> bytes:
    import imageio_ffmpeg

    height, width = pictures[0].shape[:2]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "video.mp4"
        sink = imageio_ffmpeg.write_frames(str(path), (width, height), fps=fps, macro_block_size=2)
        sink.send(None)
        for picture in [*pictures, *[pictures[-1]] * (LAST - 1)]:
            sink.send(np.ascontiguousarray(picture))
        sink.close()
        data = path.read_bytes() if path.exists() else b""
    if b"moov" not in data:  # the table of contents, which comes last
        raise RecordError(f"ffmpeg wrote no whole video: is there room in {tempfile.gettempdir()}? Try --format gif")
    return data
