"""The registry as text: the tables of docs/reference/datasets.md, and which sets lie below a folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from phonemic.errors import InputError
from phonemic.tasks.dataset import Dataset, Folder, Layout
from phonemic.tasks.registry import beyond, get, names


def overview(chosen: Iterable[str] | None = None) -> str:
    """A Markdown table of datasets: all the paper's and the registered ones where none are chosen."""
    columns = ("name", "set", "language", "kind", "splits", "test", "metric", "published at", "terms")
    return "\n".join(_table(columns, (_row(get(name)) for name in chosen or names())))


def files(chosen: Iterable[str] | None = None) -> str:
    """Which files each dataset is read from, and what to know about it: a Markdown table; see :func:`overview`."""
    rows = ((f"`{name}`", "<br>or ".join(map(_files, get(name).layouts)), get(name).note) for name in chosen or names())
    return "\n".join(_table(("name", "files in its folder", "note"), rows))


def present(root: Folder) -> str:
    """Which datasets lie below a root, and which splits of them: one a line."""
    return "\n".join(f"{name}: {_present(get(name), root)}" for name in (*names(), *beyond()))


def _present(dataset: Dataset, root: Folder) -> str:
    try:
        folder = dataset.find(root)
    except InputError:
        return "not there"
    return f"{folder}: {', '.join(dataset.present(folder)) or 'none of its files'}"


def _row(dataset: Dataset) -> tuple[str, ...]:
    link = f"<{dataset.home}>"
    splits = ", ".join(dataset.splits)
    named = (f"`{dataset.name}`", dataset.title, dataset.lang, dataset.kind)
    return *named, splits, dataset.test, dataset.metric, link, dataset.licence


def _files(layout: Layout) -> str:
    """The patterns of a layout, the split written SPLIT."""
    shown = layout.patterns if len(layout.patterns) < 5 else (*layout.patterns[:2], "...", layout.patterns[-1])
    patterns = " ".join(f"`{pattern.format('SPLIT')}`" for pattern in shown)
    notes = [f"{split} is `{written}`" for split, written in layout.spelling.items()]
    if layout.splits:
        notes.append(f"{', '.join(layout.splits)} only")
    return f"{patterns} ({'; '.join(notes)})" if notes else patterns


def _table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    columns = tuple(columns)
    for row in (columns, ("---",) * len(columns), *rows):
        yield f"| {' | '.join(row)} |".replace("  ", " ")
