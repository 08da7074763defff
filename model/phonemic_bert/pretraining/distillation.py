"""Learning next to the text what another model of the same text expects (Hinton et al. 2015, arXiv:1503.02531).

The teacher reads other tokens, one a position, such as characters: it knows which of the homophones is around what
is masked, and its probabilities say more than the one syllable that is there. They are summed over the tokens with
one reading; how a token is read is counted in the two corpora, which hold the same documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from phonemic.corpus import open_corpus
from phonemic.inventory import FORM_SHIFT, TRIPLE
from phonemic_bert.errors import CorpusError, SettingsError
from phonemic_bert.modeling import IGNORE
from phonemic_bert.modeling.lists import TripleList
from phonemic_bert.pretraining.flat import FlatCorpus, fingerprint, opened, source
from phonemic_bert.pretraining.given import identify, load_given

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phonemic_bert.configuration import PhonemicBertConfig
    from phonemic_bert.pretraining.settings import Settings

#: Positions that readings are counted in, and the ones that are read for it at a time.
_COUNTED, _BLOCK = 10_000_000, 1_000_000

#: A reading that fewer of a token's positions have is taken for a mistake of the alignment.
_RARE = 0.01


def describe(settings: Settings) -> dict[str, Any] | None:
    """Which teacher a run has, wherever its files lie: what ``run.json`` keeps of it. None where it has none.

    Raises:
        SettingsError: there is no such checkpoint.
        CorpusError: there is no such corpus.
    """
    given = settings.distillation
    if not given.teacher:
        return None
    corpus = open_corpus(given.corpus)
    return {
        "tokenizer": corpus.tokenizer.get("name"),
        "files": identify(given.teacher, "distillation.teacher"),
        "corpus": fingerprint(corpus),
    }


class TeacherIds:
    """The teacher's input ids of the positions of a corpus.

    A document of which its tokenizer makes another number of positions is not known to it.

    Arguments:
        offsets: of the corpus's documents, int64 (D + 1,).
        other: the same documents as the teacher's ids.

    Attributes:
        symbols: the teacher's.

    Raises:
        CorpusError: it has another number of documents.
    """

    def __init__(self, offsets: NDArray[np.int64], other: FlatCorpus) -> None:
        if len(other) != len(offsets) - 1:
            raise CorpusError(
                f"{other.folder}: the teacher's corpus has {len(other):,} documents, the run's {len(offsets) - 1:,}: "
                "prepare the same texts with the same options"
            )
        self.symbols = other.symbols
        self.offsets, self.other_ids, self.other_offsets = offsets, other.ids, other.offsets

    def __getstate__(self) -> dict[str, Any]:
        """As of :class:`phonemic_bert.pretraining.sequences.MaskedSequences`."""
        arrays = {name: value for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        return {**vars(self), **{name: source(array) or array for name, array in arrays.items()}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        files = {name: opened(*value) for name, value in state.items() if isinstance(value, tuple)}
        self.__dict__.update({**state, **files})

    def of(self, start: int, stop: int) -> NDArray[np.int64]:
        """The teacher's positions from flat ``start`` to before ``stop``, -1 if unknown: int64 (stop - start,)."""
        found = np.full(stop - start, -1, np.int64)
        first = int(self.offsets.searchsorted(start, "right")) - 1
        last = int(self.offsets.searchsorted(stop, "left"))
        for number in range(first, last):
            begin, end = (int(edge) for edge in self.offsets[number : number + 2])
            other, behind = (int(edge) for edge in self.other_offsets[number : number + 2])
            if behind - other == end - begin:
                low, high = max(begin, start), min(end, stop)
                part = self.other_ids[other + low - begin : other + high - begin]
                found[low - start : high - start] = part + self.symbols.shift
        return found


def readings(corpus: FlatCorpus, other: FlatCorpus) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """How the teacher's tokens are read, counted where documents have as many positions in both corpora.

    Returns:
        The input id of a token, the packed id of a reading, without a form, and the share of the token's positions that
        have it, (K,) each.

    Raises:
        CorpusError: half of the documents, or more, have other numbers of positions, or half of the positions are read
            otherwise than their token mostly is, so that the text must be another.
    """
    size = len(corpus.ids)
    blocks = np.linspace(0, max(size - _BLOCK, 0), -(-min(size, _COUNTED) // _BLOCK), dtype=np.int64)
    counts: dict[int, int] = {}
    same = seen = 0
    for place in blocks.tolist():
        start = min(int(corpus.offsets.searchsorted(place)), len(corpus) - 1)
        stop = max(int(corpus.offsets.searchsorted(place + _BLOCK, "right")) - 1, start + 1)
        lengths, others = (np.diff(one.offsets[start : stop + 1]) for one in (corpus, other))
        alike = lengths == others
        same, seen = same + int(alike.sum()), seen + len(alike)
        own = corpus.ids[corpus.offsets[start] : corpus.offsets[stop]][np.repeat(alike, lengths)]
        theirs = other.ids[other.offsets[start] : other.offsets[stop]][np.repeat(alike, others)]
        pairs, found = np.unique((theirs.astype(np.int64) << FORM_SHIFT) | own & TRIPLE, return_counts=True)
        for pair, count in zip(pairs.tolist(), found.tolist(), strict=True):
            counts[pair] = counts.get(pair, 0) + count
    if 2 * same <= seen:
        raise CorpusError(
            f"{other.folder}: only {same:,} of {seen:,} documents have as many positions as in {corpus.folder}; a "
            "teacher needs tokens that are one position each, as Character's are"
        )
    pairs, found = np.array(sorted(counts.items()), np.int64).reshape(-1, 2).T
    tokens, read = (pairs >> FORM_SHIFT) + other.symbols.shift, pairs & TRIPLE
    commonest = np.zeros(tokens.max() + 1)
    np.maximum.at(commonest, tokens, found)
    if 2 * commonest.sum() <= found.sum():
        raise CorpusError(
            f"{other.folder}: its tokens are not read as the syllables of {corpus.folder}; prepare the same texts"
        )
    shares = found / np.bincount(tokens, found)[tokens]
    kept = (shares >= _RARE) & ~np.isin(tokens, other.symbols.special)
    return tokens[kept], read[kept], shares[kept].astype(np.float32)


class Teacher:
    """The expectations of a trained model at masked positions, over the triples of a student.

    Arguments:
        model: a plain model for masked language modelling.
        config: the student's.
        ids: of the teacher's text.
        read: what :func:`readings` gave.
        weight: the part of a target that is its expectations in the first update.
        until: share of a run over which that part falls to 0.
    """

    def __init__(
        self,
        model: Any,
        config: PhonemicBertConfig,
        ids: TeacherIds,
        read: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]],
        weight: float,
        until: float,
    ) -> None:
        self.weight, self.until = weight, until
        self.model, self.ids = model.eval().requires_grad_(False), ids
        listed = TripleList(config)
        rows = listed.rows(torch.from_numpy(read[1]))
        inside = rows >= 0
        self.size = listed.count
        self.tokens, self.rows = torch.from_numpy(read[0])[inside], rows[inside]
        self.shares = torch.from_numpy(read[2])[inside]

    def to(self, device: torch.device) -> Teacher:
        """Moves it."""
        self.model.to(device)
        self.tokens, self.rows, self.shares = (part.to(device) for part in (self.tokens, self.rows, self.shares))
        return self

    def weight_at(self, progress: float) -> float:
        """The part of a target that is its expectations, when ``progress``, a share of the run, is behind."""
        return self.weight * max(1 - progress / self.until, 0.0)

    @torch.no_grad()
    def expect(self, teacher_ids: Tensor, inputs: dict[str, Any], weight: float) -> Tensor:
        """Its probabilities at the M labelled positions, times ``weight``.

        Arguments:
            teacher_ids: as of :class:`phonemic_bert.pretraining.sequences.MaskedSequences`, (B, N).
            inputs: the student's, whose ``labels`` say which positions.
            weight: the part of the target, 0 to 1.

        Returns:
            float32 (M, S), for each triple of the list. A row adds up to at most the weight, to 0 where it does not
            know the document or what is there.
        """
        labelled = inputs["labels"] != IGNORE
        known = teacher_ids >= 0
        others = {name: value for name, value in inputs.items() if name not in ("input_ids", "labels")}
        given = teacher_ids.masked_fill(~known, self.ids.symbols.mask)
        states = self.model.base_model(given, **others).last_hidden_state[labelled]
        head = getattr(self.model, "predict", None) or self.model.cls
        likely = head(states).float().softmax(-1)[:, self.tokens] * self.shares
        expected = likely.new_zeros(len(likely), self.size).index_add_(1, self.rows, likely)
        part: Tensor = expected * (weight * known[labelled])[:, None]
        return part


def make_teacher(settings: Settings, corpus: FlatCorpus, config: Any) -> Teacher | None:
    """The teacher that the settings name; None where they name none.

    Arguments:
        settings: of the run.
        corpus: that is learned from.
        config: the student's.

    Raises:
        SettingsError: it does not fit the student.
        CorpusError: its corpus does not fit that of the run.
        CheckpointError: its checkpoint is damaged.
    """
    given = settings.distillation
    if not given.teacher:
        return None
    other = FlatCorpus(open_corpus(given.corpus), settings.machine.cache_dir or None, settings.machine.verify_checksums)
    if other.symbols.phonemic:
        raise SettingsError(f"distillation.corpus = {given.corpus!r}: a teacher reads other tokens, not syllables")
    model = load_given(
        given.teacher, "distillation.teacher", other.symbols, given.corpus, settings.sequences.attn_implementation
    )
    if model.config.max_position_embeddings < settings.sequences.max_seq_length:
        raise SettingsError(
            f"distillation.teacher = {given.teacher!r} takes {model.config.max_position_embeddings} positions: "
            f"sequences.max_seq_length = {settings.sequences.max_seq_length} is too long for it"
        )
    ids = TeacherIds(corpus.offsets, other)
    return Teacher(model, config, ids, readings(corpus, other), given.weight, given.until)
