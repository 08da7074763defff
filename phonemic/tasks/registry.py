"""The data sets by name."""

from __future__ import annotations

from difflib import get_close_matches

from phonemic.tasks import sets
from phonemic.tasks.dataset import DataSet

_SETS: dict[str, DataSet] = {dataset.name: dataset for dataset in sets.ALL}


def names() -> tuple[str, ...]:
    """The names of all data sets: the paper's in its order, then those that were registered."""
    return tuple(_SETS)


def get(name: str) -> DataSet:
    """A data set by its name, in any case.

    Raises:
        ValueError: there is none of that name; the message names those that are close.
    """
    found = _SETS.get(name.lower())
    if found is None:
        close = get_close_matches(name.lower(), _SETS, n=3, cutoff=0.4)
        hint = f"did you mean {' or '.join(close)}?" if close else f"choose one of {', '.join(_SETS)}"
        raise ValueError(f"no data set is called {name!r}: {hint}")
    return found


def register(dataset: DataSet) -> DataSet:
    """Adds a data set of your own, for this process; gives it back.

    Raises:
        ValueError: its name is taken, or is not in lower case.
    """
    if dataset.name != dataset.name.lower() or not dataset.name.strip():
        raise ValueError(f"the name of a data set is in lower case, not {dataset.name!r}")
    if dataset.name in _SETS:
        raise ValueError(f"a data set is called {dataset.name!r} already; give yours another name")
    _SETS[dataset.name] = dataset
    return dataset
