"""The words of .spacy files written otherwise: misheard, misspelt, or as they are heard; the labels stay."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from phonemic.noise import Homophones, Misspellings
from phonemic.noise.base import Noise
from spacy_phonemic.noise import changed_words

#: A function that gives the words of a Doc anew.
Words = Callable[[Doc], list[str]]


#: A function that spaCy's reader of corpora calls for each example, see ``spacy.training.Corpus``.
Augmenter = Callable[[Language, Example], Iterator[Example]]


def noisy(lang: str, share: float) -> Words:
    """Noise that keeps tokens apart.

    A share of the Chinese characters become homophones of GB 2312's first level, a share of the Vietnamese syllables
    lose their tone mark or all marks, or have another tone mark.
    """
    noise = _noise(lang)
    return lambda doc: changed_words(doc, noise.apply(doc.text, share).changes)


def _noise(lang: str) -> Noise:
    return Homophones("gb2312-1") if lang == "zh" else Misspellings(["missing-diacritics", "wrong-tone"])


def augmenter(lang: str, share: float) -> Augmenter:
    """Noise for the training part of any encoder: the same kinds, in every second example, anew in each epoch.

    Arguments:
        lang: of the text.
        share: of the characters or syllables of such an example.

    Returns:
        An augmenter for ``corpora.train``. It draws from numpy's generator, which spaCy seeds.
    """
    noise = _noise(lang)

    def augment(nlp: Language, example: Example) -> Iterator[Example]:
        doc = example.reference
        if np.random.random() < 0.5:  # noqa: NPY002 - what spaCy's seed sets
            yield example
            return
        key = int(np.random.randint(1 << 31))  # noqa: NPY002
        made = _with_words(doc, changed_words(doc, noise.apply(doc.text, share, key).changes), nlp)
        read = Doc(nlp.vocab, [token.text for token in made], [bool(token.whitespace_) for token in made])
        yield Example(read, made)

    return augment


def _with_words(doc: Doc, words: list[str], nlp: Language) -> Doc:
    """A Doc of other words; tags, parts of speech, sentences and entities stay."""
    return Doc(
        nlp.vocab,
        words=words,
        spaces=[bool(token.whitespace_) for token in doc],
        tags=[token.tag_ for token in doc],
        pos=[token.pos_ for token in doc],
        morphs=[str(token.morph) for token in doc],
        sent_starts=[token.is_sent_start for token in doc],
        ents=[f"{token.ent_iob_}-{token.ent_type_}" if token.ent_type_ else "O" for token in doc],
    )


def rewrite(source: Path, lang: str, words: Words, target: Path) -> None:
    """Writes a .spacy file with other words; tags, parts of speech, sentences and entities stay."""
    nlp = spacy.blank(lang)
    docs = DocBin().from_disk(source).get_docs(nlp.vocab)
    DocBin(docs=[_with_words(doc, words(doc), nlp) for doc in docs]).to_disk(target)
