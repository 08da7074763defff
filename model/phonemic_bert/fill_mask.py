"""The likeliest syllables at the masked positions of a text, and how they are written where a model knows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from phonemic.characters import normalize
from phonemic.forms import form_of
from phonemic.inventory import TRIPLE
from phonemic.options import heard_otherwise
from phonemic.writing.notations import speller
from phonemic_bert.pairs import pairs
from phonemic_bert.syllables import readings, syllables

if TYPE_CHECKING:  # importing the package imports this module, and must not import torch
    from numpy.typing import NDArray
    from torch import Tensor

    from phonemic_bert.modeling import PhonemicBertForMaskedLM
    from phonemic_bert.modeling.heads import Predicted
    from phonemic_bert.tokenization import PhonemicBertTokenizer


class Filling(NamedTuple):
    """One syllable for one masked position; of a model with forms, one way to write it.

    Attributes:
        syllable: Vietnamese spelling, or pinyin.
        text: what fills the position. It is the syllable; of a model with forms a Chinese character, or the Vietnamese
            syllable with its capitals.
        score: its probability divided by that of all real syllables together, so that theirs add up to 1.
        joint: the probability itself, with independent heads the product of three; what is missing to 1 went to triples
            that are not syllables, and to fallback characters.
        characters: Chinese characters that are read so, those of most phrases in the lexicon first; () in Vietnamese.
        packed: the packed id; with forms, one that is written so.
        start: the ``[MASK]`` in the text, half-open, in code points.
        end: likewise.
    """

    syllable: str
    text: str
    score: float
    joint: float
    characters: tuple[str, ...]
    packed: int
    start: int
    end: int


def fill_mask(
    model: PhonemicBertForMaskedLM,
    tokenizer: PhonemicBertTokenizer,
    text: str,
    top_k: int = 5,
    targets: Iterable[str] | None = None,
) -> list[list[Filling]]:
    """The ``top_k`` best real syllables for each ``[MASK]`` of a text.

    Only triples that are syllables of the language are ranked, see :func:`phonemic_bert.syllables.syllables`. A model
    with forms ranks the ways that they are written in text, see :func:`phonemic_bert.pairs.pairs`. Several masks are
    filled each by itself.

    Arguments:
        model: a model of the tokenizer's language; it is run as it is (``model.eval()`` it before).
        tokenizer: its tokenizer.
        text: with one ``[MASK]`` or more.
        top_k: how many syllables.
        targets: rank only these, written as ``phonemic.Tokenizer.factorize`` reads them (*tôi*; pinyin); with forms
            also as they are in text (门, *Hà*).

    Returns:
        For each mask, from left to right, its fillings, best first.

    Raises:
        TypeError: ``text`` or a target is not a text, or ``targets`` is one.
        ValueError: ``text`` has no mask or is too long, ``targets`` is empty, the languages or the readings differ, or
            a target is not a syllable.
    """
    import torch

    from phonemic_bert.tokenization.positions import SPECIAL_IDS
    from phonemic_bert.tokenization.tokenizer import learned_options

    lang = tokenizer.phonemic.lang
    if lang != model.config.lang:
        raise ValueError(f"the tokenizer is for {lang}, the model for {model.config.lang}")
    learned, own = learned_options(model.config.name_or_path), tokenizer.phonemic.options
    if learned is not None and (other := heard_otherwise(own, learned)):
        raise ValueError(
            f"the tokenizer reads with {other}, but the model has learned from text with "
            f"{heard_otherwise(learned, own)}: take PhonemicBertTokenizer.from_pretrained of its folder"
        )
    if not isinstance(text, str):
        raise TypeError(f"fill_mask takes one text, not {type(text).__name__}")
    if isinstance(targets, str):
        raise TypeError(f"targets is a list of texts, not one: targets=[{targets!r}]")
    wanted = None if targets is None else list(targets)
    if wanted == []:
        raise ValueError("targets is empty: leave it out to rank all syllables")
    if top_k < 1:
        raise ValueError(f"top_k must be at least 1, not {top_k}")
    encoded = tokenizer(text, return_tensors="pt", return_offsets_mapping=True)
    spans = encoded.pop("offset_mapping")[0]
    places = (encoded["input_ids"][0] == SPECIAL_IDS["[MASK]"]).nonzero()[:, 0]
    if not len(places):
        raise ValueError(f"there is no [MASK] in {text!r}")
    with torch.no_grad():
        hidden = model.bert(**encoded.to(model.device)).last_hidden_state[0, places.to(model.device)]
        choices = choices_of(model)
        joint = choices.rank(model.predict(hidden))
    score = joint.softmax(-1)
    kept = torch.arange(len(choices.packed))
    if wanted is not None:
        kept = torch.cat([choices.of(target, tokenizer) for target in wanted]).unique()
    best = score[:, kept].topk(min(top_k, len(kept)))
    write = speller(lang)
    vocab, same = tokenizer.phonemic.vocab, readings() if lang == "zh" else {}
    fillings = []
    for row, place in enumerate(places.tolist()):
        start, end = spans[place].tolist()
        found = []
        for value, at in zip(best.values[row].tolist(), kept[best.indices[row]].tolist(), strict=True):
            packed = int(choices.packed[at])
            syllable = write(vocab.unpack(packed & TRIPLE))
            text_of = choices.texts[at] if choices.texts else syllable
            alike = same.get(packed & TRIPLE, ())
            found.append(Filling(syllable, text_of, value, joint[row, at].exp().item(), alike, packed, start, end))
        fillings.append(found)
    return fillings


@dataclass(frozen=True)
class Choices:
    """Candidates that a mask can be filled with.

    Attributes:
        packed: the packed id of each of C choices, int64 (C,).
        texts: how each is written; none where that is not known.
        asked: the ids that a model is asked about, int64 (K,).
        groups: the choice that each of these is, (K,).
    """

    packed: NDArray[np.int64]
    texts: tuple[str, ...]
    asked: NDArray[np.int64]
    groups: NDArray[np.int64]

    def rank(self, predicted: Predicted) -> Tensor:
        """The logarithms of their probabilities, on the CPU, float32 (M, C).

        Arguments:
            predicted: for M positions.
        """
        import torch

        likely = predicted.log_probabilities(torch.from_numpy(self.asked).to(predicted.device)).float().cpu()
        if len(self.asked) == len(self.packed):
            return likely
        sums = likely.new_zeros(len(likely), len(self.packed))
        return sums.index_add(1, torch.from_numpy(self.groups), likely.exp()).log()

    def of(self, target: str, tokenizer: PhonemicBertTokenizer) -> Tensor:
        """Which of them a target is, int64: the ones that are written so, or else the ones that are read so.

        Raises:
            TypeError: it is not a text.
            ValueError: it is not one of them.
        """
        import torch

        if not isinstance(target, str):
            raise TypeError(f"targets are syllables, written as text, not {target!r}")
        if target in self.texts:
            return torch.tensor([at for at, text in enumerate(self.texts) if text == target])
        found = np.flatnonzero(self.packed & TRIPLE == _target(tokenizer, target))
        if not len(found):
            raise ValueError(f"target {target!r} is so rare that the model has learned no way to write it")
        return torch.from_numpy(found)


def choices_of(model: PhonemicBertForMaskedLM) -> Choices:
    """Return the choices of a model: the ways that syllables are written, or without forms the syllables."""
    return written(model.config.lang) if model.config.forms != "none" else heard(model.config.lang)


@cache
def heard(lang: str) -> Choices:
    """All real syllables, of which nothing says how they are written."""
    packed = syllables(lang).astype(np.int64)
    return Choices(packed, (), packed, np.arange(len(packed)))


@cache
def written(lang: str) -> Choices:
    """The ways that real syllables are written in text; a space before one, and NFD, make no other."""
    groups: dict[tuple[int, str], list[int]] = {}
    real = set(syllables(lang).tolist())
    for packed in pairs(lang).packed.tolist():
        form = form_of(packed, lang)
        if packed & TRIPLE in real and form is not None:
            groups.setdefault((packed & TRIPLE, normalize("NFC", form.text.strip())), []).append(packed)
    return Choices(
        np.array([ids[0] for ids in groups.values()], np.int64),
        tuple(text for _, text in groups),
        np.array([one for ids in groups.values() for one in ids], np.int64),
        np.repeat(np.arange(len(groups)), [len(ids) for ids in groups.values()]),
    )


def rank(predicted: Predicted, lang: str) -> tuple[Tensor, Tensor, Tensor]:
    """How likely each real syllable is, however it is written.

    Arguments:
        predicted: for M positions.
        lang: the language.

    Returns:
        On the CPU: the packed ids of the S real syllables (S,), the logarithms of their probabilities (M, S), and their
        scores (M, S), which add up to 1 in a row.
    """
    import torch

    joint = heard(lang).rank(predicted)
    return torch.from_numpy(heard(lang).packed), joint, joint.softmax(-1)


def _target(tokenizer: PhonemicBertTokenizer, target: str) -> int:
    triple = tokenizer.phonemic.factorize(target)
    if triple is None or tokenizer.phonemic.vocab.pack(triple) not in syllables(tokenizer.phonemic.lang):
        how = ", which are written in pinyin with its tone: mén or men2" if tokenizer.phonemic.lang == "zh" else ""
        raise ValueError(f"target {target!r} is not a syllable of {tokenizer.phonemic.lang}{how}")
    return tokenizer.phonemic.vocab.pack(triple)
