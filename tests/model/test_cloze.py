"""The knowledge of the shipped checkpoints: sentences written for this, in each of which one syllable is to be guessed."""

import re

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from source_tree import ROOT, needs

from phonemic_bert import PhonemicBertForMaskedLM, PhonemicBertTokenizer, fill_mask

CHECKPOINTS = ROOT / "model" / "checkpoints"

#: How many of the 100 sentences a checkpoint must guess, by its likeliest guess and by one of the ten likeliest, as they
#: are written: the syllable with its capital, the character.
LEAST = {"vi": (70, 87), "zh": (70, 90)}
#: Guesses that anybody would make: the one name, and the openings where people wait, of which one must be first, and how many
#: of them must be among the ten likeliest.
OBVIOUS = {
    "vi": ("Hồ Chí [MASK]", ["Minh"], 1),
    "zh": ("我们在银行[MASK]口等你", ["门", "出", "进", "窗", "入", "街", "路"], 4),
}

pytestmark = needs("model/checkpoints")


def load(name):
    folder = CHECKPOINTS / name
    return PhonemicBertForMaskedLM.from_pretrained(folder).eval(), PhonemicBertTokenizer.from_pretrained(folder)


def sentences(lang):
    """Each with [MASK], and the syllable that is there, of ``examples/cloze-LANG.txt``, which has it in brackets."""
    for line in (ROOT / "examples" / f"cloze-{lang}.txt").read_text("utf-8").splitlines():
        before, syllable, after = re.split(r"[\[\]]", line)
        yield f"{before}[MASK]{after}", before + syllable + after, len(before)


def right(lang, name):
    """In how many sentences the likeliest guess is what is written there, and one of the ten likeliest."""
    model, tokenizer = load(name)
    first = ten = 0
    for masked, whole, start in sentences(lang):
        encoding = tokenizer.phonemic.encode(whole)
        [at] = np.flatnonzero(encoding.spans[:, 0] == start)
        truth = whole[slice(*encoding.spans[at])]
        [found] = fill_mask(model, tokenizer, masked, top_k=10)
        guesses = [filling.text for filling in found]
        first += guesses[0] == truth
        ten += truth in guesses
    return first, ten


@pytest.mark.parametrize("lang", LEAST)
def test_most_sentences_are_guessed(lang):
    assert len(list(sentences(lang))) == 100
    found = right(lang, f"phonemic-bert-mini-{lang}")
    assert all(count >= least for count, least in zip(found, LEAST[lang], strict=True)), found


@pytest.mark.parametrize("lang", OBVIOUS)
def test_what_is_obvious(lang):
    text, expected, least = OBVIOUS[lang]
    [found] = fill_mask(*load(f"phonemic-bert-mini-{lang}"), text, top_k=10)
    guesses = [filling.text for filling in found]
    assert guesses[0] == expected[0]
    assert len(set(expected).intersection(guesses)) >= least
