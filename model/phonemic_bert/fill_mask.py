"""The likeliest syllables at the masked positions of a text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from phonemic.notations import speller
from phonemic.options import heard_otherwise
from phonemic_bert.syllables import readings, syllables

if TYPE_CHECKING:  # importing the package imports this module, and must not import torch
    from torch import Tensor

    from phonemic_bert.modeling import PhonemicBertForMaskedLM
    from phonemic_bert.modeling.heads import Predicted
    from phonemic_bert.tokenization import PhonemicBertTokenizer


class Filling(NamedTuple):
    """One syllable for one masked position.

    Attributes:
        syllable: how it is written: Vietnamese spelling, or pinyin.
        score: its probability divided by that of all real syllables together, so that theirs add up to 1.
        joint: the probability itself, with independent heads the product of three; what is missing to 1 went to triples
            that are not syllables, and to fallback characters.
        characters: Chinese characters that are read so, those of most phrases in the lexicon first; () in Vietnamese.
        packed: the packed id.
        start: the ``[MASK]`` in the text, half-open, in code points.
        end: likewise.
    """

    syllable: str
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
    k: int = 5,
    targets: Iterable[str] | None = None,
) -> list[list[Filling]]:
    """The k best real syllables for each ``[MASK]`` of a text.

    Only triples that are syllables of the language are ranked, see :func:`phonemic_bert.syllables.syllables`. Several
    masks are filled each by itself.

    Arguments:
        model: a model of the tokenizer's language; it is run as it is (``model.eval()`` it before).
        tokenizer: its tokenizer.
        text: with one ``[MASK]`` or more.
        k: how many syllables.
        targets: rank only these, written as ``phonemic.Tokenizer.factorize`` reads them (*tôi*; pinyin).

    Returns:
        For each mask, from left to right, its fillings, best first.

    Raises:
        TypeError: a target is not a text.
        ValueError: there is no mask, the text is too long, the languages or the readings differ, or a target is no
            syllable.
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
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    encoded = tokenizer(text, return_tensors="pt", return_offsets_mapping=True)
    spans = encoded.pop("offset_mapping")[0]
    places = (encoded["input_ids"][0] == SPECIAL_IDS["[MASK]"]).nonzero()[:, 0]
    if not len(places):
        raise ValueError(f"there is no [MASK] in {text!r}")
    with torch.no_grad():
        hidden = model.bert(**encoded.to(model.device)).last_hidden_state[0, places.to(model.device)]
        packed, joint, score = rank(model.predict(hidden), lang)
    if targets is not None:
        kept = torch.isin(packed, torch.tensor([_target(tokenizer, target) for target in targets]))
        packed, joint, score = packed[kept], joint[:, kept], score[:, kept]
    best = score.topk(min(k, len(packed)))
    write = speller(lang)
    vocab, same = tokenizer.phonemic.vocab, readings() if lang == "zh" else {}
    fillings = []
    for row, place in enumerate(places.tolist()):
        start, end = spans[place].tolist()
        fillings.append(
            [
                Filling(
                    write(vocab.unpack(one)), score, joint[row, at].exp().item(), same.get(one, ()), one, start, end
                )
                for score, at, one in zip(
                    best.values[row].tolist(),
                    best.indices[row].tolist(),
                    packed[best.indices[row]].tolist(),
                    strict=True,
                )
            ]
        )
    return fillings


def rank(predicted: Predicted, lang: str) -> tuple[Tensor, Tensor, Tensor]:
    """How likely each real syllable is.

    Arguments:
        predicted: for M positions.
        lang: the language.

    Returns:
        On the CPU: the packed ids of the S real syllables (S,), the logarithms of their probabilities (M, S), and their
        scores (M, S), which add up to 1 in a row.
    """
    import torch

    packed = torch.from_numpy(syllables(lang)).long()
    joint = predicted.log_probabilities(packed.to(predicted.device)).float().cpu()
    return packed, joint, joint.softmax(-1)


def _target(tokenizer: PhonemicBertTokenizer, target: str) -> int:
    if not isinstance(target, str):
        raise TypeError(f"targets are syllables, written as text, not {target!r}")
    triple = tokenizer.phonemic.factorize(target)
    if triple is None or tokenizer.phonemic.vocab.pack(triple) not in syllables(tokenizer.phonemic.lang):
        written = ", which are written in pinyin with its tone: mén or men2" if tokenizer.phonemic.lang == "zh" else ""
        raise ValueError(f"target {target!r} is not a syllable of {tokenizer.phonemic.lang}{written}")
    return tokenizer.phonemic.vocab.pack(triple)
