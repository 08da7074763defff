"""WordPiece vocabularies of BERT: bert-base-chinese, mBERT, DistilBERT and any other ``vocab.txt``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from phonemic.baselines.base import Baseline, BaselineError, library, numbered, read_lines, register
from phonemic.baselines.offsets import Span
from phonemic.files.jsons import read_object

#: Words of more characters are one [UNK], as in BERT's own code.
LONGEST_WORD = 100


class _WordPiece(Baseline):
    """BERT's normalizer, its split at spaces and marks, and WordPiece.

    Its special tokens are not tokens here: ``[SEP]`` written in a text is two marks and a word.
    """

    lower_case: ClassVar[bool] = False

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        tokenizers = library("tokenizers")
        file = path / "vocab.txt"
        vocab = numbered(file, ((number, line.rstrip()) for number, line in enumerate(read_lines(file), start=1)))
        if "[UNK]" not in vocab:
            raise BaselineError(f"{file}: not a BERT vocabulary, since it lacks [UNK]")
        model = tokenizers.models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=LONGEST_WORD)
        self._tokenizer = tokenizers.Tokenizer(model)
        self._tokenizer.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=self._lower_case(path))
        self._tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
        self.vocab_size = len(vocab)
        self.unknown_id = vocab["[UNK]"]

    def _lower_case(self, path: Path) -> bool:
        """The content of ``tokenizer_config.json`` where there is one."""
        config = path / "tokenizer_config.json"
        if not config.is_file():
            return self.lower_case
        return bool(read_object(config, BaselineError).get("do_lower_case", self.lower_case))

    def ids(self, texts: list[str]) -> list[list[int]]:
        """WordPiece's ids."""
        encodings = self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def spans(self, texts: list[str]) -> list[tuple[list[int], list[Span]]]:
        """WordPiece's ids and spans."""
        encodings = self._tokenizer.encode_batch(texts, add_special_tokens=False)
        return [(encoding.ids, encoding.offsets) for encoding in encodings]

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """The pieces."""
        return [self._tokenizer.id_to_token(number) for number in ids]


@register
class ChineseBert(_WordPiece):
    """bert-base-chinese. Its vocabulary has no capital letter, so text is lower-cased, as in its first release."""

    name = "bert-base-chinese"
    langs = ("zh",)
    folder = "bert-base-chinese"
    files: ClassVar = {"vocab.txt": "https://huggingface.co/google-bert/bert-base-chinese"}
    preprocessing = "lower case, accents stripped"
    lower_case = True


@register
class MultilingualBert(_WordPiece):
    """bert-base-multilingual-cased."""

    name = "mBERT"
    langs = ("vi", "zh")
    folder = "mbert"
    files: ClassVar = {"vocab.txt": "https://huggingface.co/google-bert/bert-base-multilingual-cased"}
    preprocessing = "none"


@register
class DistilBert(MultilingualBert):
    """distilbert-base-multilingual-cased, which has mBERT's vocabulary."""

    name = "DistilBERT"


@register
class WikiBert(_WordPiece):
    """WikiBERT, or any other BERT whose ``vocab.txt`` is in the folder."""

    name = "WikiBERT"
    langs = ("vi",)
    folder = "wikibert"
    files: ClassVar = {"vocab.txt": "https://huggingface.co/TurkuNLP/wikibert-base-vi-cased"}
    preprocessing = "none"
