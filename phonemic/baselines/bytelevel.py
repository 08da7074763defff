"""A byte-level BPE, as in GPT-2 and its successors: any ``tokenizer.json``, or one trained on your own corpus."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from phonemic.baselines.base import Baseline, BaselineError, library, register, replace_file
from phonemic.baselines.offsets import Span


@register
class ByteLevelBpe(Baseline):
    """Byte-level BPE: writes everything, since every byte has an entry."""

    name = "Byte-BPE"
    langs = ("vi", "zh")
    folder = "byte-bpe"
    files: ClassVar = {"tokenizer.json": "your own: phonemic.baselines.train, or the tokenizer.json of a model"}
    preprocessing = "none"

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        file = path / "tokenizer.json"
        try:
            self._tokenizer = library("tokenizers").Tokenizer.from_file(str(file))
        except Exception as error:  # the library raises Exception itself
            raise BaselineError(f"{file}: not a file of the library tokenizers ({error})") from error
        self.vocab_size = self._tokenizer.get_vocab_size()
        added = self._tokenizer.get_added_tokens_decoder()
        self._control = {number for number, token in added.items() if token.special}

    def ids(self, texts: list[str]) -> list[list[int]]:
        """Ids without control symbols, also where a text spells one out."""
        encodings = self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        if not self._control:
            return [encoding.ids for encoding in encodings]
        return [[number for number in encoding.ids if number not in self._control] for encoding in encodings]

    def spans(self, texts: list[str]) -> list[tuple[list[int], list[Span]]]:
        """Ids and spans: that of a byte is its character's."""
        encodings = self._tokenizer.encode_batch(texts, add_special_tokens=False)
        rows = [
            [pair for pair in zip(encoding.ids, encoding.offsets, strict=True) if pair[0] not in self._control]
            for encoding in encodings
        ]
        return [([number for number, _ in row], [span for _, span in row]) for row in rows]

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """The pieces, a character a byte."""
        return [self._tokenizer.id_to_token(number) for number in ids]

    @classmethod
    def train(cls, texts: Iterable[str], path: Path, vocab_size: int) -> Path:
        """Byte-pair merges over GPT-2's split into words, marks and spaces."""
        tokenizers = library("tokenizers")
        learner = tokenizers.Tokenizer(tokenizers.models.BPE())
        learner.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
        learner.decoder = tokenizers.decoders.ByteLevel()
        alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
        if vocab_size < len(alphabet):
            raise BaselineError(f"{cls.name}: a vocabulary has an entry for each of the {len(alphabet)} bytes at least")
        trainer = tokenizers.trainers.BpeTrainer(
            vocab_size=vocab_size, initial_alphabet=alphabet, show_progress=False, special_tokens=[]
        )
        learner.train_from_iterator(texts, trainer)
        return replace_file(path / "tokenizer.json", learner.to_str().encode())
