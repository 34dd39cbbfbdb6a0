"""The appearance of a rendered figure at a point of its axes."""

from io import BytesIO

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from workflows.plots.style import rendered

#: Half the side of the patch of pixels.
REACH = 8

Pixels = NDArray[np.int64]


def pixels_of(picture: Figure | bytes) -> Pixels:
    """Return rows, columns and RGB of a figure, or of the bytes of a PNG file."""
    content = rendered(picture, "png") if isinstance(picture, Figure) else picture
    with Image.open(BytesIO(content)) as image:
        return np.asarray(image.convert("RGB"), dtype=np.int64)


def patch_at(pixels: Pixels, axes: Axes, x: float, y: float) -> Pixels:
    """Return the pixels around a point of the data, one per row."""
    across, up = axes.transData.transform((x, y))
    row, column = round(len(pixels) - up), round(across)
    around = pixels[row - REACH : row + REACH + 1, column - REACH : column + REACH + 1]
    return around.reshape(-1, 3)


def look(pixels: Pixels, axes: Axes, x: float, y: float) -> str:
    """Return how a cell looks around its middle: white, hatched or coloured."""
    patch = patch_at(pixels, axes, x, y)
    shades = np.unique(patch, axis=0)
    if len(shades) == 1 and (shades == 255).all():
        return "white"
    is_grey = (np.ptp(patch, axis=1) == 0).all()
    if is_grey and len(shades) > 1 and patch.max() < 255:
        return "hatched"
    assert len(shades) == 1, "a cell has one colour"
    assert np.ptp(shades[0]) > 0, "a coloured cell is not grey"
    return "coloured"


def luminance(pixels: Pixels) -> NDArray[np.float64]:
    """Return the relative luminance of sRGB pixels, 0 to 1."""
    part = pixels / 255
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    return np.asarray(linear @ [0.2126, 0.7152, 0.0722])
