"""The picture of a model's onsets, rimes and tones: a panel each, the symbols at their places, coloured by class."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from phonemic import PhonemicError
from phonemic.files import replacing, require
from phonemic.inventory import EMPTY
from phonemic.writing.notations import tone_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phonemic_bert.inspection.embeddings import Panel

FORMATS = (".png", ".svg", ".pdf")

#: The grouping that gives each panel its colours.
COLOURED_BY = {"onset": "place", "rime": "coda", "tone": "contour"}

#: A class's colour: glides are blue, nasals green, stops red.
COLOURS = {
    "labial": "#c0392b", "alveolar": "#2471a3", "retroflex": "#8e44ad", "palatal": "#d68910", "velar": "#1e8449",
    "glottal": "#6e4b2a",
    "none": "#5d6d7e", "i̯": "#1f6fb4", "i": "#1f6fb4", "u̯": "#17a0b8", "u": "#17a0b8", "m": "#145a32", "n": "#27943f",
    "ŋ": "#84b818", "ɲ": "#7d7a12", "p": "#7b1f12", "t": "#d62f2f", "k": "#e8820c", "c": "#d1479b", "ɻ": "#8e44ad",
    "level": "#5d6d7e", "rising": "#c0392b", "falling": "#2471a3", "dipping": "#8e44ad", "neutral": "#1e8449",
}  # fmt: skip

_NOTE = (
    "Figures: mean cosine distance within classes divided by that between classes, in all dimensions (below chance: a "
    "class is together), against shuffled classes."
)

#: Fonts with IPA and tone letters, the first that is there is taken; matplotlib brings DejaVu Sans along.
FONTS = ("Noto Sans", "Charis SIL", "Doulos SIL", "DejaVu Sans")

#: The sizes of the symbols in points, and how many figures stand in one line over them.
_SIZES = {"onset": 14, "rime": 9.5, "tone": 15}
_COLUMNS = {"onset": 1, "rime": 3, "tone": 1}

_METHODS = {"pca": "{:.0%} of the variance", "tsne": "t-SNE, keeps {:.0%} of nearest five"}
_DPI = 96

#: How finely room is looked for, in pixels, and how far from the frame symbols stay.
_STEP, _EDGE = 2.0, 6.0


def draw(panels: list[Panel], path: str | Path, title: str) -> None:
    """Draws the three panels into a file that appears when it is complete.

    Arguments:
        panels: of the onset, the rime and the tone, see :func:`phonemic_bert.inspection.panels`.
        path: ends in one of FORMATS.
        title: over the picture.

    Raises:
        PhonemicError: another ending, or matplotlib is missing.
        OSError: the file cannot be written.
    """
    path = check_path(path)
    matplotlib = require("matplotlib", "finetune")
    figures = require("matplotlib.figure", "finetune")
    style = {"svg.hashsalt": "phonemic", "svg.fonttype": "path", "font.family": _font(_written(panels)), "font.size": 9}
    style |= {"text.parse_math": False}  # of names
    with matplotlib.rc_context(style):
        figure = figures.Figure(figsize=(14, 8.6), dpi=_DPI)
        figure.suptitle(title, x=0.015, ha="left", fontsize=13)
        figure.text(0.015, 0.935, _NOTE, fontsize=8.5, color="#5d6d7e")
        for panel, box in zip(panels, _BOXES, strict=True):
            _panel(figure.add_axes(box), panel, _SIZES[panel.component])
        form = path.suffix[1:]
        with replacing(path) as file:
            options = {"pil_kwargs": {"optimize": True}} if form == "png" else {"metadata": {_DATE[form]: None}}
            figure.savefig(file, format=form, dpi=_DPI, **options)


def check_path(path: str | Path) -> Path:
    """A picture's path.

    Raises:
        PhonemicError: its name does not end in one of FORMATS.
    """
    path = Path(path)
    if path.suffix not in FORMATS:
        raise PhonemicError(f"{path}: an image file must end in {', '.join(FORMATS)}")
    return path


#: Where the panels are: the rimes, of which there are most, have the most room.
_BOXES = ((0.015, 0.49, 0.3, 0.34), (0.34, 0.035, 0.645, 0.795), (0.015, 0.035, 0.3, 0.34))
_DATE = {"svg": "Date", "pdf": "CreationDate"}


def labels_of(panel: Panel) -> list[str]:
    """How a panel's symbols are written in the picture: tone letters, which are small, with the tone's name."""
    labels = ["∅" if symbol == EMPTY else symbol for symbol in panel.symbols]
    if panel.component != "tone":
        return labels
    names = (tone_name(panel.lang, symbol) for symbol in panel.symbols)
    return [f"{label} {name}" for label, name in zip(labels, names, strict=True)]


def _written(panels: list[Panel]) -> str:
    return "".join(label for panel in panels for label in labels_of(panel))


def _font(characters: str) -> str:
    """The first font of FONTS that is installed and has all the characters, else the one that lacks fewest."""
    manager = require("matplotlib.font_manager", "finetune")
    names = {entry.name for entry in manager.fontManager.ttflist}
    lacking = {}
    for name in FONTS:
        if name in names:
            font = manager.get_font(manager.findfont(name))
            lacking[name] = len({char for char in characters if not font.get_char_index(ord(char))})
    return min(lacking, key=lambda name: lacking[name], default="sans-serif")


def _panel(axes: Any, panel: Panel, size: float) -> None:
    grouping = COLOURED_BY[panel.component]
    colours = [COLOURS[name] for name in panel.classes[grouping]]
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_color("#c8ced4")
    axes.set_title(_heading(panel, grouping), loc="left", fontsize=8.5, linespacing=1.45)
    low, high = panel.places.min(0), panel.places.max(0)
    room = np.where(high > low, high - low, 1) * 0.07
    axes.set(xlim=(low[0] - room[0], high[0] + room[0]), ylim=(low[1] - room[1], high[1] + room[1]))
    points = axes.transData.transform(panel.places)
    renderer = require("matplotlib.backends.backend_agg", "finetune").FigureCanvasAgg(axes.figure).get_renderer()
    texts = [
        axes.text(0, 0, label, color=colour, fontsize=size, ha="center", va="center", transform=None)
        for label, colour in zip(labels_of(panel), colours, strict=True)
    ]
    extents = [text.get_window_extent(renderer) for text in texts]
    sizes = np.array([(extent.width + 2, extent.height + 1) for extent in extents])
    frame = axes.get_window_extent(renderer)
    inside = np.array([[frame.x0 + _EDGE, frame.y0 + _EDGE], [frame.x1 - _EDGE, frame.y1 - _EDGE]])
    centres = spread(points, sizes, inside)
    inverse = axes.transData.inverted()
    for text, colour, point, centre, box in zip(texts, colours, points, centres, sizes, strict=True):
        text.set_transform(axes.transData)
        text.set_position(inverse.transform(centre))
        away = np.abs(centre - point)
        if np.hypot(*away) > 1.5 * size and (away > box / 2).any():  # else the line would strike the label out
            line = inverse.transform([point, centre])
            axes.plot(*line.T, color=colour, linewidth=0.5, alpha=0.4, zorder=1)
    _legend(axes, panel.classes[grouping], renderer)


def _legend(axes: Any, classes: tuple[str, ...], renderer: Any) -> None:
    """The classes' colours beneath a panel, in as many rows as keep within it."""
    lines = require("matplotlib.lines", "finetune")
    names = [name for name in COLOURS if name in classes]
    handles = [lines.Line2D([], [], marker="s", linestyle="", color=COLOURS[name], label=name) for name in names]
    for columns in range(len(names), 0, -1):
        legend = axes.legend(handles=handles, loc="upper right", bbox_to_anchor=(1, -0.005), ncols=columns,
                             frameon=False, fontsize=8, handletextpad=-0.3, columnspacing=0.6, borderpad=0)  # fmt: skip
        if legend.get_window_extent(renderer).x0 >= axes.get_window_extent(renderer).x0:
            return


def _heading(panel: Panel, grouping: str) -> str:
    first = f"{panel.component}s, coloured by {grouping}: {_METHODS[panel.method].format(panel.quality)}"
    lines = [
        f"{one.classes} {one.ratio:.2f} (chance {one.chance:.2f} ± {one.deviation:.2f}, p = {one.p:.2g})"
        for one in panel.separations
    ]
    columns = _COLUMNS[panel.component]
    rows = [" · ".join(lines[at : at + columns]) for at in range(0, len(lines), columns)]
    return "\n".join([first, *rows])


def spread(points: NDArray[np.float64], sizes: NDArray[np.float64], frame: NDArray[np.float64]) -> NDArray[np.float64]:
    """Puts each box as near to its point as the boxes before it leave room: the ones that overlap fewest come first.

    Arguments:
        points: where the boxes would be centred, (S, 2).
        sizes: width and height of each box, (S, 2).
        frame: the lower and the upper corner of what they stay in, (2, 2).

    Returns:
        Their centres, (S, 2); no two overlap. A box that finds no room at all stays at its point.
    """
    low, high = frame[0] + sizes / 2, frame[1] - sizes / 2
    centres = np.clip(points, low, np.maximum(low, high))
    needed = (sizes[:, None] + sizes) / 2
    crowd = np.all(np.abs(centres[:, None] - centres) < needed, axis=-1).sum(1)
    farthest = float(np.hypot(*(frame[1] - frame[0])))
    put: list[int] = []
    for box in crowd.argsort(kind="stable").tolist():
        for radius in np.arange(0, farthest, _STEP):
            angles = np.linspace(0, 2 * np.pi, max(1, int(2 * np.pi * radius / _STEP)), endpoint=False)
            ring = centres[box] + radius * np.stack([np.cos(angles), np.sin(angles)], -1)
            inside = np.all((ring >= low[box] - 1e-9) & (ring <= high[box] + 1e-9), axis=-1)
            apart = np.abs(ring[:, None] - centres[put]) >= needed[box, put]
            if (free := inside & apart.any(-1).all(-1)).any():
                centres[box] = ring[free.argmax()]
                break
        put.append(box)
    return centres
