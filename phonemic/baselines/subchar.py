"""The tokenizers of the SubChar paper (Si et al., 2023): Character, Subword, SubChar-Wubi, SubChar-Pinyin and NoIndex.

The last three write each character as its code (Wubi strokes; Pinyin, tone and an index among the characters of that
toned syllable), and cut the codes into pieces with a SentencePiece unigram model. All work on lower-cased text.
"""

from __future__ import annotations

import io
import string
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import ClassVar

from phonemic.baselines.base import (
    Baseline,
    BaselineError,
    SentencePiece,
    counted,
    library,
    only,
    read_lines,
    register,
    replace_file,
)
from phonemic.baselines.offsets import Rewritten, Span, cut

HOME = "https://github.com/thunlp/SubCharTokenization"

#: Stands behind each character's code.
SEPARATOR = "\uc3af"

#: Literal letters and digits are shifted by this, so that they are never taken for those of a code.
SHIFT = 50_000

FULL_WIDTH = dict(zip("，。！？【】（）％＃＠＆１２３４５６７８９０；：", ",.!?[]()%#@&1234567890;:", strict=True))

ASCII_LETTERS_AND_DIGITS = string.ascii_lowercase + string.digits

SPECIALS = ("[UNK]", "[PAD]", "[CLS]", "[SEP]", "[MASK]")

#: Longer texts are cut here when SentencePiece is trained, which passes over what is longer than it takes.
_TRAINED_CHARACTERS = 1_000


class _SubCharPaper(Baseline):
    langs = ("zh",)
    folder = "subchar"
    unknown_id = 0


@register
class Character(_SubCharPaper):
    """One token per character.

    The released vocabulary has no Latin letters: they are [UNK].
    """

    name = "Character"
    preprocessing = "lower case, spaces dropped"
    files: ClassVar = {"bert_chinese_uncased_*.vocab": f"{HOME} (tokenizers)"}

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        numbers = counted(only(path, next(iter(self.files))))
        self._entries = list(numbers)
        self.vocab_size = len(numbers)
        self._id_of = {entry: number for entry, number in numbers.items() if entry not in SPECIALS}

    def ids(self, texts: list[str]) -> list[list[int]]:
        """An id a character."""
        return [[self._id_of.get(char, 0) for char in "".join(text.lower().split())] for text in texts]

    def spans(self, texts: list[str]) -> list[tuple[list[int], list[Span]]]:
        """Ids and spans: that of the original character."""
        found = []
        for text, ids in zip(texts, self.ids(texts), strict=True):
            origin = Rewritten.of_characters(text, lambda char: "".join(char.lower().split()))
            found.append((ids, origin.spans(cut([" "] * len(ids)))))
        return found

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """The entries."""
        return [self._entries[number] for number in ids]

    def unknown(self, texts: list[str]) -> Counter[str]:
        """The characters that the vocabulary lacks."""
        counts = Counter("".join("".join(texts).lower().split()))
        return Counter({char: count for char, count in counts.items() if char not in self._id_of})

    @classmethod
    def train(cls, texts: Iterable[str], path: Path, vocab_size: int) -> Path:
        """The most frequent characters."""
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update("".join(text.lower().split()))
        common = counts.most_common(vocab_size - len(SPECIALS))
        lines = [f"{entry} {count}\n" for entry, count in [*((special, 0) for special in SPECIALS), *common]]
        return replace_file(path / f"bert_chinese_uncased_{len(lines)}.vocab", "".join(lines).encode())


class _SentencePiece(_SubCharPaper):
    """A SentencePiece unigram model over rewritten text."""

    stem: ClassVar[str]

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._rewrite = self.rewriter(path)
        self._model = SentencePiece(only(path, f"{self.stem}_*.model"))
        self.vocab_size = self._model.size
        self.unknown_id = self._model.unknown_id

    @classmethod
    def rewriter(cls, path: Path) -> Callable[[str], str]:
        """A function that rewrites a text to what SentencePiece is given."""
        return str.lower

    def ids(self, texts: list[str]) -> list[list[int]]:
        """SentencePiece's ids of the rewritten texts."""
        return self._model.ids([self._rewrite(text) for text in texts])

    def spans(self, texts: list[str]) -> list[tuple[list[int], list[Span]]]:
        """SentencePiece's ids and, of each, the span of the characters of whose writing it has a part."""
        found = self._model.spans([self._rewrite(text) for text in texts])
        origins = [Rewritten.of_characters(text, self._rewrite) for text in texts]
        return [(ids, origin.spans(spans)) for (ids, spans), origin in zip(found, origins, strict=True)]

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """The pieces."""
        return self._model.tokens(ids)

    def unknown(self, texts: list[str]) -> Counter[str]:
        """The strings that the pieces could not write."""
        return self._model.unknown([self._rewrite(text) for text in texts])

    @classmethod
    def train(cls, texts: Iterable[str], path: Path, vocab_size: int) -> Path:
        """Trains with the settings that the released models' own records give."""
        trainer = library("sentencepiece").SentencePieceTrainer
        model = io.BytesIO()
        try:
            trainer.train(
                sentence_iterator=map(cls.rewriter(path), _slices(texts)),
                model_writer=model,
                vocab_size=vocab_size,
                model_type="unigram",
                character_coverage=1,
                split_by_unicode_script=False,
                split_by_number=False,
                add_dummy_prefix=False,
                user_defined_symbols=list(SPECIALS[1:]),
                unk_piece=SPECIALS[0],
                bos_id=-1,
                eos_id=-1,
                pad_id=-1,
                max_sentence_length=1 << 20,
                train_extremely_large_corpus=True,
                minloglevel=2,
            )
        except (OSError, RuntimeError) as error:
            raise BaselineError(f"{cls.name}: SentencePiece cannot learn {vocab_size} entries: {error}") from error
        return replace_file(path / f"{cls.stem}_{vocab_size}.model", model.getvalue())


def _slices(texts: Iterable[str]) -> Iterator[str]:
    """Texts, the long ones cut: SentencePiece passes over what is longer than it takes."""
    for text in texts:
        for start in range(0, len(text), _TRAINED_CHARACTERS):
            yield text[start : start + _TRAINED_CHARACTERS]


@register
class Subword(_SentencePiece):
    """SentencePiece on characters."""

    name = "Subword"
    preprocessing = "lower case"
    stem = "raw_zh"
    files: ClassVar = {"raw_zh_*.model": f"{HOME} (tokenizers)"}


class _SubChar(_SentencePiece):
    """SentencePiece on the characters' codes."""

    preprocessing = "lower case, spaces dropped, characters as codes, full-width marks as ASCII"
    codes: ClassVar[str]

    @classmethod
    def rewriter(cls, path: Path) -> Callable[[str], str]:
        """Writes each character that has one as its code and the separator."""
        codes = path / cls.codes
        if not codes.is_file():
            raise BaselineError(f"{cls.name}: {path} lacks {cls.codes}, published at {cls.files[cls.codes]}")
        table: dict[str, str] = {}
        for number, line in enumerate(read_lines(codes), start=1):
            char, tab, code = line.partition("\t")
            if line and not (len(char) == 1 and tab and code):
                raise BaselineError(f"{codes}, line {number}: not CHARACTER<TAB>CODE")
            if line:
                table[char] = cls.code(code) + SEPARATOR
        # The Wubi codes have some for marks too, which are not used.
        table |= {char: cls.shifted(char) for char in ASCII_LETTERS_AND_DIGITS}
        table |= {wide: cls.shifted(narrow) for wide, narrow in FULL_WIDTH.items()}
        translation = str.maketrans(table)
        return lambda text: "".join(text.lower().split()).translate(translation)

    @staticmethod
    def shifted(char: str) -> str:
        """A literal letter or digit out of the way of the codes; anything else as it is."""
        return chr(ord(char) + SHIFT) if char in ASCII_LETTERS_AND_DIGITS else char

    @classmethod
    def code(cls, code: str) -> str:
        """The code as it is written."""
        return code


@register
class SubCharWubi(_SubChar):
    """Strokes: similar shapes share pieces."""

    name = "SubChar-Wubi"
    stem = "wubi_zh"
    codes = "chinese_to_wubi.tsv"
    files: ClassVar = {"wubi_zh_*.model": f"{HOME} (tokenizers)", codes: f"{HOME} (data), as CHARACTER<TAB>CODE"}


@register
class SubCharPinyin(_SubChar):
    """Pinyin and tone, and an index that tells homophones apart."""

    name = "SubChar-Pinyin"
    stem = "pinyin_zh"
    codes = "chinese_to_pinyin.tsv"
    files: ClassVar = {"pinyin_zh_*.model": f"{HOME} (tokenizers)", codes: f"{HOME} (data), as CHARACTER<TAB>CODE"}


@register
class SubCharPinyinNoIndex(SubCharPinyin):
    """Pinyin and tone alone: homophones are one."""

    name = "SubChar-Pinyin-NoIndex"
    stem = "pinyin_no_index"
    files: ClassVar = {
        "pinyin_no_index_*.model": f"{HOME} (tokenizers)",
        SubCharPinyin.codes: f"{HOME} (data), as CHARACTER<TAB>CODE",
    }

    @classmethod
    def code(cls, code: str) -> str:
        """The code without its index."""
        return code.rstrip("0123456789")
