"""The words of .spacy files written otherwise: misheard, misspelt, or as they are heard; the labels stay."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import spacy
from spacy.tokens import Doc, DocBin

from phonemic.noise import Homophones, Misspellings
from spacy_phonemic.noise import changed_words

#: A function that gives the words of a Doc anew.
Words = Callable[[Doc], list[str]]


def noisy(lang: str, share: float) -> Words:
    """Noise that keeps tokens apart.

    A share of the Chinese characters become homophones of GB 2312's first level, a share of the Vietnamese syllables
    lose their tone mark or all marks, or have another tone mark.
    """
    noise = Homophones("gb2312-1") if lang == "zh" else Misspellings(["missing-diacritics", "wrong-tone"])
    return lambda doc: changed_words(doc, noise.apply(doc.text, share).changes)


def rewrite(source: Path, lang: str, words: Words, target: Path) -> None:
    """Writes a .spacy file with other words; tags, parts of speech, sentences and entities stay."""
    nlp = spacy.blank(lang)
    made = [
        Doc(
            nlp.vocab,
            words=words(doc),
            spaces=[bool(token.whitespace_) for token in doc],
            tags=[token.tag_ for token in doc],
            pos=[token.pos_ for token in doc],
            morphs=[str(token.morph) for token in doc],
            sent_starts=[token.is_sent_start for token in doc],
            ents=[f"{token.ent_iob_}-{token.ent_type_}" if token.ent_type_ else "O" for token in doc],
        )
        for doc in DocBin().from_disk(source).get_docs(nlp.vocab)
    ]
    DocBin(docs=made).to_disk(target)
