"""Runs tokenizers over texts, in one pass and a chunk at a time."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from phonemic import baselines
from phonemic.baselines import Baseline, BaselineError
from phonemic.characters import normalize
from phonemic.intrinsic.statistics import CorpusStatistics, TokenStatistics
from phonemic.metrics import Statistics
from phonemic.tokenizer import Tokenizer

#: Our own tokenizer's names in tables, and the options of each.
OURS: dict[str, dict[str, Any]] = {"Phonemic": {}, "Phonemic-packed": {"fallback": "packed"}}

#: Characters of text that are tokenized at a time.
CHUNK = 1 << 18

#: The orders of the Rényi curve.
ALPHAS = (0, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 4, 5, 7, 10)

#: Points of the rank-frequency curve, at most.
_RANKS = 60

#: The measures of one tokenizer on one dataset, by name.
Measures = dict[str, Any]
AnyTokenizer = Tokenizer | Baseline


def tokenizers(
    names: Iterable[str], lang: str, folder: str | os.PathLike[str] | None = None
) -> dict[str, AnyTokenizer]:
    """Tokenizers by name.

    Arguments:
        names: "Phonemic", names of baselines, or Python files that register one.
        lang: "vi" or "zh".
        folder: the folder of the baselines' folders, see :func:`phonemic.baselines.load`.

    Raises:
        BaselineError: an unknown name, or a file is missing.
    """
    found: dict[str, AnyTokenizer] = {}
    for name in names:
        if name in OURS:
            found[name] = Tokenizer(lang, **OURS[name])
        else:
            baseline = baselines.load(name, folder)
            found[baseline.name] = baseline
    return found


def available(lang: str, folder: str | os.PathLike[str] | None = None) -> list[str]:
    """The baselines of a language whose files are in a folder, and ours."""
    names = []
    for name in baselines.names():
        kind = baselines.get(name)
        try:
            kind.locate(folder)
        except BaselineError:
            continue
        if lang in kind.langs:
            names.append(name)
    return [*names, *OURS]


def chunks(texts: Iterable[str], size: int = CHUNK) -> Iterator[list[str]]:
    """Texts in lists of about ``size`` characters."""
    held: list[str] = []
    characters = 0
    for text in texts:
        held.append(text)
        characters += len(text) + 1
        if characters >= size:
            yield held
            held, characters = [], 0
    if held:
        yield held


def measure(
    dataset: str,
    lang: str,
    texts: Iterable[Sequence[str]],
    tokenizers: Mapping[str, AnyTokenizer],
    alpha: float = 2.5,
    form: Literal["NFC", "NFD"] | None = None,
    num_threads: int = 1,
    advance: Callable[[int], object] = lambda texts: None,
    word_joiner: str | None = None,
) -> list[Measures]:
    """Measures tokenizers on a corpus, which is read once; memory grows only with the number of types.

    Arguments:
        dataset: what the rows call the corpus.
        lang: "vi" or "zh": what its units are.
        texts: the texts in lists.
        tokenizers: by name, see :func:`tokenizers`.
        alpha: the order of the Rényi entropy.
        form: a Unicode normal form that the texts are put into first.
        num_threads: threads that encode with our tokenizer.
        advance: is called with the number of texts after each part of them.
        word_joiner: what joins the syllables of the texts' words; None: what the first of our tokenizers has.

    Returns:
        A row for each tokenizer: ``dataset``, ``lang``, ``form`` and ``tokenizer``; the measures by name, see
        :meth:`phonemic.metrics.Statistics.summary`; ``renyi_curve``, pairs of order and efficiency; ``ranks``, pairs of
        rank and relative frequency. Undefined measures are None.

    Raises:
        TypeError: ``texts`` is one list of str.
    """
    joiners = (tokenizer.word_joiner for tokenizer in tokenizers.values() if isinstance(tokenizer, Tokenizer))
    corpus = CorpusStatistics(lang, word_joiner or next(joiners, None))
    statistics: dict[str, Statistics | TokenStatistics] = {
        name: Statistics(tokenizer) if isinstance(tokenizer, Tokenizer) else TokenStatistics(tokenizer, corpus)
        for name, tokenizer in tokenizers.items()
    }
    for part in texts:
        if isinstance(part, str):
            raise TypeError("texts are lists of str, such as [[text, text], [text]], not str")
        for some in chunks(part):
            rows = [normalize(form, text) for text in some] if form else some
            corpus.update(rows)
            for found in statistics.values():
                if isinstance(found, Statistics):
                    found.update(rows, num_threads)
                else:
                    found.update(rows)
            advance(len(rows))
    return [
        {"dataset": dataset, "lang": lang, "form": form, "tokenizer": name}
        | {key: _defined(value) for key, value in found.summary(alpha).items()}
        | {"renyi_curve": [[order, _defined(found.renyi_efficiency(order))] for order in ALPHAS]}
        | {"ranks": _ranks(found)}
        for name, found in statistics.items()
    ]


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else value


def _ranks(statistics: Statistics | TokenStatistics) -> list[list[float]]:
    """Ranks, evenly spaced on a logarithmic axis, and the relative frequencies of what has them."""
    frequencies = statistics.frequencies
    if not len(frequencies):
        return []
    ranks = np.unique(np.geomspace(1, len(frequencies), min(_RANKS, len(frequencies))).round().astype(int))
    shares = frequencies[ranks - 1] / frequencies.sum()
    return [[int(rank), float(share)] for rank, share in zip(ranks, shares, strict=True)]
