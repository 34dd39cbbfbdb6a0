"""Draw figures without global state, show names literally, and write reproducible files."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import matplotlib.style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.textpath import text_to_path

from pipeline.files import output_errors, replace_file
from workflows.errors import PictureError

#: Metadata about the date and the program, left out so that files are reproducible.
FORMATS: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
DOTS_PER_INCH = 150
#: This font comes with matplotlib, so it is the same everywhere.
FONT = "DejaVu Sans"
SMALL, LARGE = 8, 10
POINTS_PER_INCH = 72
#: Longer names are cut before they are measured, because measuring takes time.
LONGEST_NAME = 200

_STYLE = {
    "axes.linewidth": 0.6,
    "axes.titlesize": SMALL,
    "figure.titlesize": LARGE,
    "font.family": FONT,
    "font.size": SMALL,
    "hatch.linewidth": 0.6,
    "svg.hashsalt": "imwk-sweep",
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
}


@contextmanager
def house_style() -> Iterator[None]:
    """Use the style of this project, whatever the user's matplotlib settings are.

    Examples
    --------
    >>> with house_style():
    ...     matplotlib.rcParams["font.size"]
    8.0
    """
    with matplotlib.style.context(["default", _STYLE]):
        yield


def blank_figure(width: float, height: float) -> Figure:
    """Return an empty figure of a size in inches, without pyplot's global state.

    Examples
    --------
    >>> blank_figure(4, 3).canvas.get_width_height()
    (600, 450)
    """
    figure = Figure(figsize=(width, height), dpi=DOTS_PER_INCH)
    FigureCanvasAgg(figure)
    return figure


def literal(text: str, inches: float) -> str:
    r"""Return `text` such that it can be drawn in small letters on one line of limited width.

    Characters that the font lacks are written as codes, so that different names stay different.
    The middle of a long text is left out, because names often differ at their ends.

    Examples
    --------
    >>> literal("Iris\n$x$", inches=2)
    'Iris\\n$x$'
    >>> literal("measurements of the first year", inches=1)
    'measure…st year'
    """
    font = get_font(findfont(_font()))
    known = (c if c.isprintable() and font.get_char_index(ord(c)) else _code(c) for c in text)
    line = "".join(known)
    keep = min(len(line), LONGEST_NAME)
    shown = line if keep == len(line) else _without_middle(line, keep)
    while _inches(shown) > inches and keep > 2:
        keep -= 1
        shown = _without_middle(line, keep)
    return shown


def _font() -> FontProperties:
    return FontProperties(family=FONT, size=SMALL)


def _code(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _without_middle(text: str, keep: int) -> str:
    return f"{text[: (keep + 1) // 2]}…{text[-(keep // 2) :]}"


def _inches(text: str) -> float:
    width: float = text_to_path.get_text_width_height_descent(text, _font(), ismath=False)[0]
    return width / POINTS_PER_INCH


def style_of(path: Path) -> str:
    """Return the format of a file from the ending of its name.

    Examples
    --------
    >>> style_of(Path("iris.SVG"))
    'svg'
    """
    style = path.suffix.lower().removeprefix(".")
    if style not in FORMATS:
        raise PictureError(f"Cannot draw to {path}. Give a name that ends in .png, .svg or .pdf.")
    return style


def rendered(figure: Figure, style: str) -> bytes:
    """Return the bytes of a figure in one of `FORMATS`.

    Examples
    --------
    >>> rendered(blank_figure(1, 1), "png")[1:4]
    b'PNG'
    """
    content = BytesIO()
    with house_style():
        figure.savefig(content, format=style, dpi=DOTS_PER_INCH, metadata=FORMATS[style])
    return content.getvalue()


def write_figure(figure: Figure, path: Path, style: str) -> None:
    """Write a figure as a whole, and make its folder if it is missing.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    content = rendered(figure, style)
    with output_errors(path):
        replace_file(path, content)
