"""The datasets by name."""

from __future__ import annotations

from difflib import get_close_matches

from phonemic.tasks import sets
from phonemic.tasks.dataset import Dataset

_SETS: dict[str, Dataset] = {dataset.name: dataset for dataset in sets.ALL}
_BEYOND: dict[str, Dataset] = {dataset.name: dataset for dataset in sets.BEYOND}


def names() -> tuple[str, ...]:
    """The names of the paper's datasets in its order, then of the ones that were registered."""
    return tuple(_SETS)


def beyond() -> tuple[str, ...]:
    """The names of the datasets that come with the package and are not the paper's."""
    return tuple(_BEYOND)


def get(name: str) -> Dataset:
    """A dataset by its name, in any case.

    Raises:
        ValueError: there is not one of that name; the message names the ones that are close.
    """
    known = _SETS | _BEYOND
    found = known.get(name.lower())
    if found is None:
        close = get_close_matches(name.lower(), known, n=3, cutoff=0.4)
        hint = f"did you mean {' or '.join(close)}?" if close else f"choose one of {', '.join(known)}"
        raise ValueError(f"no dataset is called {name!r}: {hint}")
    return found


def register(dataset: Dataset) -> Dataset:
    """Adds a dataset of your own, for this process.

    Arguments:
        dataset: the set; it is also returned.

    Raises:
        ValueError: its name is taken, or is not in lower case.
    """
    if dataset.name != dataset.name.lower() or not dataset.name.strip():
        raise ValueError(f"the name of a dataset is in lower case, not {dataset.name!r}")
    if dataset.name in _SETS | _BEYOND:
        raise ValueError(f"a dataset is called {dataset.name!r} already; give yours another name")
    _SETS[dataset.name] = dataset
    return dataset
