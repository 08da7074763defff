"""Where the work is done: threads of this machine, or the workers of a Ray cluster. Both make the same bytes."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar

from phonemic.corpus.inputs import Piece
from phonemic.corpus.segments import SegmentJob, make_segments
from phonemic.errors import InputError, PhonemicError
from phonemic.files import require
from phonemic.tokenizer import MAX_THREADS

In = TypeVar("In")
Out = TypeVar("Out")

Parts = Sequence[tuple[int, Sequence[Piece]]]


class Engine(Protocol):
    """An engine, which does the work."""

    def segments(self, job: SegmentJob, parts: Parts) -> Iterator[float]:
        """Makes the segments of some parts; yields bytes of the sources as they are dealt with."""

    def each(self, function: Callable[[In], Out], items: Sequence[In]) -> Iterator[Out]:
        """The results of a function for the items, in their order; they are numbers or strings."""


@dataclass(frozen=True)
class Threads:
    """Threads of this process: one reads, decompresses and writes, ``num_threads`` others tokenize; with 1, one in all.

    Attributes:
        num_threads: at least 1; no more than 256 run.
    """

    num_threads: int

    def segments(self, job: SegmentJob, parts: Parts) -> Iterator[float]:
        """See :class:`Engine`."""
        workers = min(self.num_threads, MAX_THREADS)
        if workers == 1:
            yield from _sizes(make_segments(job, parts, map))
            return
        with ThreadPoolExecutor(workers) as pool:
            yield from _sizes(make_segments(job, parts, partial(_in_order, pool, 2 * workers)))

    def each(self, function: Callable[[In], Out], items: Sequence[In]) -> Iterator[Out]:
        """See :class:`Engine`."""
        workers = min(self.num_threads, MAX_THREADS)
        with ThreadPoolExecutor(workers) as pool:
            yield from _in_order(pool, 2 * workers, function, items)


def _sizes(made: Iterable[dict[str, Any] | float]) -> Iterator[float]:
    return (size for size in made if not isinstance(size, dict))


def _in_order(
    pool: ThreadPoolExecutor, ahead: int, function: Callable[[In], Out], items: Iterable[In]
) -> Iterator[Out]:
    """The results in the order of the items, of which only some are worked on ahead: memory does not grow."""
    waiting: deque[Future[Out]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


@dataclass(frozen=True)
class Ray:
    """Tasks of Ray Data, one a part: on the cluster that Ray is connected to or finds, else on this machine.

    The sources and the output must be the same files for every worker (a shared file system), and phonemic installed.

    Attributes:
        address: of the cluster, as ``ray.init`` takes it; None leaves the choice to Ray.
    """

    address: str | None = None

    def segments(self, job: SegmentJob, parts: Parts) -> Iterator[float]:
        """See :class:`Engine`."""
        return (size for _, size in self._results(partial(_make_part, job), parts))

    def each(self, function: Callable[[In], Out], items: Sequence[In]) -> Iterator[Out]:
        """See :class:`Engine`."""
        return (result for _, result in sorted(self._results(function, items)))

    def _results(self, function: Callable[[In], Out], items: Sequence[In]) -> Iterator[tuple[int, Out]]:
        """The number of each item and its result, as they come."""
        if not items:
            return
        data, ray = require("ray.data", "ray"), require("ray")
        if not ray.is_initialized():
            ray.init(address=self.address, log_to_driver=False, logging_level=logging.ERROR)
        context = data.DataContext.get_current()
        log = logging.getLogger("ray.data")
        before = context.enable_progress_bars, log.level
        context.enable_progress_bars = False  # ours shows bytes
        log.setLevel(logging.ERROR)
        try:
            rows = data.range(len(items), override_num_blocks=len(items)).map(_Task(function, ray.put(list(items))))
            for row in rows.iter_rows():
                if row["error"]:
                    raise _ERRORS[row["error"]](row["message"])
                yield row["id"], row["value"]
        finally:
            context.enable_progress_bars = before[0]
            log.setLevel(before[1])


def _make_part(job: SegmentJob, part: tuple[int, Sequence[Piece]]) -> float:
    return sum(_sizes(make_segments(job, [part], map)))


_ERRORS: dict[str, type[Exception]] = {
    "InputError": InputError,
    "OSError": OSError,
    "PhonemicError": PhonemicError,
}


class _Task:
    """Applies the function to the item of a number; an error of ours comes back as a row, not as Ray's traceback."""

    def __init__(self, function: Callable[[Any], Any], items: Any) -> None:
        self._function, self._items = function, items

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        import ray

        number = row["id"]
        try:
            return {"id": number, "value": self._function(ray.get(self._items)[number]), "error": "", "message": ""}
        except tuple(_ERRORS.values()) as error:
            name = next(name for name, kind in _ERRORS.items() if isinstance(error, kind))
            return {"id": number, "value": None, "error": name, "message": str(error)}
