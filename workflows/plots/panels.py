"""The layout of the panels of a figure. Sizes are in inches, so that all figures look alike."""

from dataclasses import dataclass
from math import ceil, sqrt

Point = tuple[float, float]
Rectangle = tuple[float, float, float, float]

#: As in the paper: three panels in a row, one for each size of its synthetic data, and four rows.
COLUMNS, ROWS = 3, 4
#: The side of a panel. One or two panels alone are larger.
SMALL_SIDE, LARGE_SIDE = 1.9, 3.2
#: Around a panel: the title above, tick labels below and to the left, a gap to the right.
ABOVE, BELOW, BEFORE, AFTER = 0.42, 0.24, 0.32, 0.1
#: Around all panels: the title and the legend, the labels of the axes, the colour bar.
HEADER, FOOTER, MARGIN, BAR_SPACE = 0.6, 0.6, 0.3, 0.85
EDGE, LINE = 0.12, 0.2
#: Per inch of the whole figure, including its margins.
LETTERS_PER_INCH = 13
BAR_WIDTH, BAR_GAP, LONGEST_BAR = 0.14, 0.15, 4.0


@dataclass(frozen=True)
class Panels:
    """Square panels in rows, filled from the top left, with room for a colour bar at the right.

    Positions are fractions of the figure, as in matplotlib. `beside` are the inches at the right,
    `below` those that a long legend needs.

    Examples
    --------
    >>> panels = Panels(12)
    >>> panels.columns, panels.rows
    (3, 4)
    >>> [number for number in range(12) if panels.is_first(number)]
    [0, 3, 6, 9]
    """

    count: int
    beside: float = BAR_SPACE
    below: float = 0.0

    @property
    def columns(self) -> int:
        """The number of panels in a row."""
        if self.count <= COLUMNS * ROWS:
            return {1: 1, 2: 2, 4: 2}.get(self.count, COLUMNS)
        return ceil(sqrt(self.count))

    @property
    def rows(self) -> int:
        """The number of rows."""
        return ceil(self.count / self.columns)

    @property
    def side(self) -> float:
        """The side of a panel in inches."""
        return LARGE_SIDE if self.columns < COLUMNS else SMALL_SIDE

    @property
    def width(self) -> float:
        """The width of the figure in inches."""
        return MARGIN + self.columns * self._across + self.beside

    @property
    def height(self) -> float:
        """The height of the figure in inches."""
        return HEADER + self.rows * self._down + FOOTER + self.below

    def place(self, number: int) -> Rectangle:
        """Return the left, bottom, width and height of a panel."""
        row, column = divmod(number, self.columns)
        left = MARGIN + column * self._across + BEFORE
        top = HEADER + row * self._down + ABOVE
        return self._fractions(left, self.height - top - self.side, self.side, self.side)

    @property
    def bar(self) -> Rectangle:
        """The left, bottom, width and height of the colour bar."""
        left = self.width - self.beside + BAR_GAP
        all_rows = self.rows * self._down - ABOVE - BELOW
        length = min(all_rows, LONGEST_BAR)
        return self._fractions(left, self.height - HEADER - ABOVE - length, BAR_WIDTH, length)

    @property
    def title(self) -> Point:
        """The top left corner of the title."""
        return self._point(self.height - EDGE)

    @property
    def subtitle(self) -> Point:
        """The top left corner of the one or two lines below the title."""
        return self._point(self.height - EDGE - LINE)

    @property
    def letters(self) -> int:
        """The number of small letters that fit in a line."""
        return round(LETTERS_PER_INCH * self.width)

    @property
    def legend(self) -> Point:
        """The bottom left corner of the legend."""
        return self._point(EDGE)

    def _point(self, height: float) -> Point:
        return (MARGIN + BEFORE) / self.width, height / self.height

    def _fractions(self, left: float, bottom: float, width: float, height: float) -> Rectangle:
        return (
            left / self.width,
            bottom / self.height,
            width / self.width,
            height / self.height,
        )

    def is_first(self, number: int) -> bool:
        """Return whether a panel is the first of its row."""
        return number % self.columns == 0

    def is_last(self, number: int) -> bool:
        """Return whether a panel is the last of its column."""
        return number + self.columns >= self.count

    @property
    def _across(self) -> float:
        return BEFORE + self.side + AFTER

    @property
    def _down(self) -> float:
        return ABOVE + self.side + BELOW
