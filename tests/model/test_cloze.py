"""What the shipped checkpoints know: sentences written for this, in each of which one syllable is to be guessed."""

import re
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from phonemic_bert import PhonemicBertForMaskedLM, PhonemicBertTokenizer, fill_mask

ROOT = Path(__file__).parents[2]
CHECKPOINTS = ROOT / "model" / "checkpoints"

#: How many of the 100 sentences a checkpoint must guess, by its likeliest syllable and by one of the ten likeliest.
LEAST = {"vi": (70, 85), "zh": (55, 80)}
#: The same of a checkpoint with forms: the syllable with its capital, the character.
WRITTEN = {"vi": (68, 87), "zh": (65, 85)}
#: What anybody would guess: the one name, and the openings where people wait (出口 街口 进口 窗口 路口 入口 门口), and how
#: many of them must be among the ten likeliest. The Mandarin checkpoint does
#: not think of 路口.
OBVIOUS = {
    "vi": ("Hồ Chí [MASK]", {"minh"}, 1),
    "zh": ("我们在银行[MASK]口等你", {"chū", "jiē", "jìn", "chuāng", "rù", "lù", "mén"}, 6),
}

pytestmark = pytest.mark.skipif(not CHECKPOINTS.exists(), reason="needs the source tree's model/checkpoints")


def load(name):
    folder = CHECKPOINTS / name
    return PhonemicBertForMaskedLM.from_pretrained(folder).eval(), PhonemicBertTokenizer.from_pretrained(folder)


def sentences(lang):
    """Each with [MASK], and the syllable that is there, of ``examples/cloze-LANG.txt``, which has it in brackets."""
    for line in (ROOT / "examples" / f"cloze-{lang}.txt").read_text("utf-8").splitlines():
        before, syllable, after = re.split(r"[\[\]]", line)
        yield f"{before}[MASK]{after}", before + syllable + after, len(before)


def right(lang, name):
    """In how many sentences the likeliest syllable is the one that is there, and one of the ten likeliest.

    With forms it is right as it is written: the character, or the syllable with its capital.
    """
    model, tokenizer = load(name)
    first = ten = 0
    for masked, whole, start in sentences(lang):
        encoding = tokenizer.phonemic.encode(whole)
        [at] = np.flatnonzero(encoding.spans[:, 0] == start)
        truth = whole[slice(*encoding.spans[at])] if tokenizer.phonemic.form else int(encoding.ids[at])
        [found] = fill_mask(model, tokenizer, masked, k=10)
        guesses = [filling.text if tokenizer.phonemic.form else filling.packed for filling in found]
        first += guesses[0] == truth
        ten += truth in guesses
    return first, ten


@pytest.mark.parametrize("lang", LEAST)
def test_most_sentences_are_guessed(lang):
    assert len(list(sentences(lang))) == 100
    assert all(
        found >= least for found, least in zip(right(lang, f"phonemic-bert-mini-{lang}"), LEAST[lang], strict=True)
    )


@pytest.mark.parametrize("lang", WRITTEN)
def test_most_sentences_are_guessed_as_they_are_written(lang):
    found = right(lang, f"phonemic-bert-mini-forms-{lang}")
    assert all(count >= least for count, least in zip(found, WRITTEN[lang], strict=True)), found


@pytest.mark.parametrize("lang", OBVIOUS)
def test_what_is_obvious(lang):
    text, expected, least = OBVIOUS[lang]
    [found] = fill_mask(*load(f"phonemic-bert-mini-{lang}"), text, k=10)
    syllables = [filling.syllable for filling in found]
    assert syllables[0] in expected
    assert len(expected.intersection(syllables)) >= least
