"""The predictions of H-MLM at each position of a text when that position alone is masked."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from phonemic.inventory import MASK, TRIPLE
from phonemic.writing.notations import speller
from phonemic_bert.fill_mask import Choices, choices_of, rank
from phonemic_bert.modeling import PhonemicBertForMaskedLM
from phonemic_bert.modeling.composition import components
from phonemic_bert.modeling.heads import Predicted
from phonemic_bert.syllables import readings
from phonemic_bert.tokenization import PhonemicBertTokenizer
from phonemic_bert.tokenization.positions import SPECIAL_IDS

_ROWS = 32


class Guess(NamedTuple):
    """The prediction of one head.

    Attributes:
        true: the symbol that is there; None where the text itself has ``[MASK]``.
        probability: of that symbol.
        best: the likeliest symbol of the whole vocabulary.
        best_probability: of that one.
    """

    true: str | None
    probability: float | None
    best: str
    best_probability: float


class Candidate(NamedTuple):
    """A whole real syllable; of a model with forms, one way to write it.

    Attributes:
        syllable: Vietnamese spelling, or pinyin.
        text: how it is written: the syllable; of a model with forms a Chinese character, or the Vietnamese syllable
            with its capitals.
        characters: Chinese characters that are read so, those of most phrases first; () in Vietnamese.
        score: its share of the probability of all real syllables.
    """

    syllable: str
    text: str
    characters: tuple[str, ...]
    score: float


class Masked(NamedTuple):
    """The predictions for a masked position.

    Attributes:
        onset: what the onset head says.
        rime: likewise.
        tone: likewise.
        joint: the probability of the whole triple that is there, with independent heads the product of the three;
            None where the text has ``[MASK]``.
        real: the probability of all real syllables together; the rest went to triples that are not syllables, and to
            characters of the fallback.
        score: the share of ``real`` that the syllable which is there has; None where none is there.
        rank: its place among the real syllables, from 1; None likewise.
        best: the best real syllables, or of a model with forms the best ways to write them, best first.
    """

    onset: Guess
    rime: Guess
    tone: Guess
    joint: float | None
    real: float
    score: float | None
    rank: int | None
    best: tuple[Candidate, ...]


@torch.no_grad()
def mask_each(
    model: PhonemicBertForMaskedLM, tokenizer: PhonemicBertTokenizer, text: str, top_k: int = 5
) -> list[Masked | None]:
    """Masks each position of a text in turn. All others stay as they are, in Mandarin with the reading that they have.

    Arguments:
        model: a model of the tokenizer's language; it is run as it is (``model.eval()`` it before).
        tokenizer: its tokenizer.
        text: what does not fit the model is cut off.
        top_k: how many of the best real syllables.

    Returns:
        An entry a position; None for a special symbol, which is never predicted (but for ``[MASK]``), and behind the
        cut.

    Raises:
        ValueError: ``top_k`` is below 1.
    """
    if top_k < 1:
        raise ValueError(f"top_k must be at least 1, not {top_k}")
    limit = model.config.max_position_embeddings
    length = len(tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])
    ids = torch.tensor(tokenizer(text, truncation=True, max_length=limit)["input_ids"])
    mask = SPECIAL_IDS["[MASK]"]
    special = torch.isin(ids & TRIPLE, torch.tensor([packed for packed in SPECIAL_IDS.values() if packed != mask]))
    places = (~special).nonzero()[:, 0]
    found: list[Masked | None] = [None] * length
    for some in places.split(_ROWS) if len(places) else ():
        rows = ids.repeat(len(some), 1)
        at = torch.arange(len(some))
        rows[at, some] = mask
        hidden = model.bert(input_ids=rows.to(model.device)).last_hidden_state[at, some]
        described = _described(model.predict(hidden), ids[some], tokenizer, choices_of(model), top_k)
        for place, one in zip(some.tolist(), described, strict=True):
            found[place - 1] = one  # [CLS] is before the text
    return found


def _described(
    predicted: Predicted, ids: Tensor, tokenizer: PhonemicBertTokenizer, choices: Choices, top_k: int
) -> list[Masked]:
    """Describe the predictions for M positions, and the syllables there, (M,)."""
    logs = [part.float().log_softmax(-1).cpu() for part in predicted.logits]
    lang, vocab = tokenizer.phonemic.lang, tokenizer.phonemic.vocab
    packed, joint, score = rank(predicted, lang)
    likely = -predicted.losses(ids.to(predicted.device)).float().cpu()
    real = joint.logsumexp(-1).exp()
    best = (choices.rank(predicted).softmax(-1) if choices.texts else score).topk(min(top_k, len(choices.packed)))
    described = []
    for row, (one, parts) in enumerate(zip(ids.tolist(), components(ids).tolist(), strict=True)):
        given = parts[0] != MASK
        guesses = []
        for log, part in zip(logs, parts, strict=True):
            top = int(log[row].argmax())
            true, share = (vocab[part], log[row, part].exp().item()) if given else (None, None)
            guesses.append(Guess(true, share, vocab[top], log[row, top].exp().item()))
        here = (packed == one & TRIPLE).nonzero()[:, 0]
        true_score = score[row, here[0]].item() if len(here) else None
        true_rank = 1 + int((joint[row] > joint[row, here[0]]).sum()) if len(here) else None
        candidates = tuple(
            _candidate(choices, at, share, tokenizer)
            for share, at in zip(best.values[row].tolist(), best.indices[row].tolist(), strict=True)
        )
        described.append(
            Masked(
                onset=guesses[0],
                rime=guesses[1],
                tone=guesses[2],
                joint=likely[row].exp().item() if given else None,
                real=real[row].item(),
                score=true_score,
                rank=true_rank,
                best=candidates,
            )
        )
    return described


def _candidate(choices: Choices, at: int, share: float, tokenizer: PhonemicBertTokenizer) -> Candidate:
    lang, packed = tokenizer.phonemic.lang, int(choices.packed[at]) & TRIPLE
    syllable = speller(lang)(tokenizer.phonemic.vocab.unpack(packed))
    characters = readings().get(packed, ()) if lang == "zh" else ()
    return Candidate(syllable, choices.texts[at] if choices.texts else syllable, characters, share)
