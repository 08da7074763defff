"""NLTK tagger: the onset, rime and tone of each token, read in its sentence."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Unpack

from nltk.jsontags import register_tag
from nltk.tag.sequential import SequentialBackoffTagger

from nltk_phonemic.tags import JOINER, position_tag
from phonemic import Tokenizer
from phonemic.characters import plain
from phonemic.errors import SavedTokenizerError
from phonemic.files.jsons import checked
from phonemic.options import OptionArguments
from phonemic.units import separators, without_bytes


@register_tag
class PhonemicTagger(SequentialBackoffTagger):
    """Tags each token with its onset, rime and tone; :func:`parse_tag` reads the tags.

    The tokens of a sentence are read together, so that Mandarin words are read in context; tokens may hold several
    syllables, with spaces or with a word joiner between them.

    >>> from nltk_phonemic import PhonemicTagger
    >>> PhonemicTagger("vi").tag(["Việt Nam", "yêu", "Internet", "."])
    [('Việt Nam', 'v|iet|˧ˀ˩+n|am|˧˧'), ('yêu', '|ieu̯|˧˧'), ('Internet', 'i+n+t+e+r+n+e+t'), ('.', '.')]
    >>> PhonemicTagger("zh").tag(["行长", "很", "行"])
    [('行长', 'x|aŋ|˧˥+t͡ʂ|aŋ|˨˩˦'), ('很', 'x|ɘn|˨˩˦'), ('行', 'ɕ|iŋ|˧˥')]

    A token without any syllable is left to the backoff tagger if there is one:

    >>> from nltk.tag import DefaultTagger, UnigramTagger
    >>> PhonemicTagger("vi", backoff=DefaultTagger("X")).tag(["Internet", "Việt Nam"])
    [('Internet', 'X'), ('Việt Nam', 'v|iet|˧ˀ˩+n|am|˧˧')]

    and the tagger is itself a backoff, here of readings that one gives by hand:

    >>> own = UnigramTagger(model={"pizza": "p|i|˧˧+z|a|˧˧"}, backoff=PhonemicTagger("vi"))
    >>> own.tag(["ăn", "pizza"])
    [('ăn', '|ăn|˧˧'), ('pizza', 'p|i|˧˧+z|a|˧˧')]

    Arguments:
        lang: ``"vi"`` or ``"zh"``.
        backoff: the tagger that is requested tokens without a syllable. Without one, such a token is tagged with its
            fallback characters, and a token without any position (a space) with "".
        options: ``strict``, ``word_joiner``, ``phrases``, ``fallback``, ``readings``, ``sandhi``, ``erhua``, ``form``:
            see :class:`phonemic.TokenizerOptions`. With
            ``fallback="packed"``, *Internet* is tagged ``i~n~t+e~r~n+e~t``.

    Raises:
        ValueError: an option does not fit, see :class:`phonemic.TokenizerOptions`.
    """

    json_tag = "nltk_phonemic.PhonemicTagger"

    def __init__(
        self,
        lang: str,
        *,
        backoff: SequentialBackoffTagger | None = None,
        **options: Unpack[OptionArguments],
    ) -> None:
        super().__init__(backoff)
        self.tokenizer = Tokenizer(lang, **options)
        self._latest: tuple[Sequence[str], list[str], list[str]] = ([], [], [])

    def tag(self, tokens: Sequence[str]) -> list[tuple[str, str | None]]:
        """Tags the tokens of one sentence.

        Raises:
            TypeError: not a list of str.
        """
        return self.tag_sents([tokens])[0]

    def tag_sents(self, sentences: Iterable[Sequence[str]]) -> list[list[tuple[str, str | None]]]:
        """Tags the tokens of many sentences, all encoded in one call.

        Raises:
            TypeError: a sentence is not a list of str; the message says which.
        """
        sents = [_checked(tokens, number) for number, tokens in enumerate(sentences)]
        return [
            list(zip(tokens, self._with_backoff(tokens, tags), strict=True))
            for tokens, tags in zip(sents, self._tags(sents), strict=True)
        ]

    def choose_tag(self, tokens: Sequence[str], index: int, history: Sequence[str]) -> str | None:
        """The tag of one token in its sentence, None where the backoff is to be asked.

        The sentence is encoded once for all its tokens.
        """
        of, read, tags = self._latest
        same = tokens is of and len(tokens) == len(read) and (index == 0 or tokens[index] == read[index])
        if not same or (index == 0 and read != list(tokens)):  # all are looked at once a sentence
            read = _checked(tokens, 0)
            tags = self._tags([read])[0]
            self._latest = tokens, read, tags
        return None if self._leaves(tags[index]) else tags[index]

    def _leaves(self, tag: str) -> bool:
        """Whether a tag without a syllable is left to the backoff."""
        return "|" not in tag and self.backoff is not None

    def _with_backoff(self, tokens: list[str], tags: list[str]) -> list[str | None]:
        chosen: list[str | None] = []
        for index, tag in enumerate(tags):
            chosen.append(self.backoff.tag_one(tokens, index, chosen) if self._leaves(tag) else tag)
        return chosen

    def _tags(self, sents: list[list[str]]) -> list[list[str]]:
        """A tag a token. A position belongs to the token in which it starts.

        Vietnamese tokens are read apart, with a space between them; Chinese is written without.
        """
        gaps = [separators(tokens, self.tokenizer) for tokens in sents]
        texts = ["".join(chain.from_iterable(zip(*row, strict=True))) for row in zip(gaps, sents, strict=True)]
        batch = without_bytes(self.tokenizer.encode_batch(texts, spans=True), self.tokenizer.word_joiner)
        positions = [position_tag(self.tokenizer.lang, packed) for packed in batch.ids.tolist()]
        starts, offsets = batch.spans[:, 0].tolist(), batch.offsets.tolist()
        tags = []
        for number, tokens in enumerate(sents):
            end, at, last = 0, offsets[number], offsets[number + 1]
            row = []
            for gap, token in zip(gaps[number], tokens, strict=True):
                end += len(gap) + len(token)
                first, at = at, bisect_left(starts, end, at, last)
                row.append(JOINER.join(positions[first:at]))
            tags.append(row)
        return tags

    def encode_json_obj(self) -> Any:
        """The options and the backoff, for NLTK's JSON encoder."""
        return {"options": self.tokenizer.to_json(), "backoff": self.backoff}

    @classmethod
    def decode_json_obj(cls, obj: Any) -> PhonemicTagger:
        """The tagger that :meth:`encode_json_obj` described.

        Arguments:
            obj: what that gave, with the backoff decoded by NLTK.

        Raises:
            SavedTokenizerError: it does not describe one.
        """
        where = "a saved PhonemicTagger"
        checked(obj, {"options": dict}, where, SavedTokenizerError)
        return cls._with(Tokenizer.restore(obj["options"], where), obj.get("backoff"))

    @classmethod
    def _with(cls, tokenizer: Tokenizer, backoff: SequentialBackoffTagger | None) -> PhonemicTagger:
        made = cls(tokenizer.lang, backoff=backoff)
        made.tokenizer = tokenizer
        return made

    def __repr__(self) -> str:
        backoff = "" if self.backoff is None else f", backoff={self.backoff!r}"
        return f"PhonemicTagger({repr(self.tokenizer).removeprefix('Tokenizer(')[:-1]}{backoff})"


def _checked(tokens: Sequence[str], number: int) -> list[str]:
    """The tokens of sentence ``number`` as a list of str."""
    if isinstance(tokens, str):
        raise TypeError(f"sentence {number} is one str; split it into tokens first (PhonemicTokenizer.tokenize)")
    read = list(tokens)
    for index, token in enumerate(read):
        if not isinstance(token, str):
            raise TypeError(
                f"sentence {number}, token {index} is of type {type(token).__name__}, not str; "
                "a tagged sentence goes through nltk.tag.untag first"
            )
    return list(map(plain, read))
