"""The tokenizers to compare with: a vocabulary of VOCABULARY entries from the measured text, kept for the next time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.texts import head, read

VOCABULARY = {"vi": 16_000, "zh": 22_675}
TRAINING = 10_000_000  # bytes of text


def _training(text: Path) -> list[str]:
    return head(read(text), TRAINING)


def byte_bpe(lang: str, text: Path, folder: Path) -> Any:
    """Hugging Face byte-level BPE."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    path = folder / f"bpe-{lang}.json"
    if not path.exists():
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(
            vocab_size=VOCABULARY[lang], initial_alphabet=sorted(alphabet), show_progress=False, max_token_length=24
        )
        tokenizer.train_from_iterator(_training(text), trainer)
        tokenizer.save(str(path))
    return Tokenizer.from_file(str(path))


def wordpiece(lang: str, text: Path, folder: Path) -> Any:
    """Hugging Face WordPiece as BERT cuts it."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    path = folder / f"wordpiece-{lang}.json"
    if not path.exists():
        tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        tokenizer.normalizer = normalizers.BertNormalizer(strip_accents=False)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(vocab_size=VOCABULARY[lang], special_tokens=["[UNK]"], show_progress=False)
        tokenizer.train_from_iterator(_training(text), trainer)
        tokenizer.save(str(path))
    return Tokenizer.from_file(str(path))


def sentencepiece_unigram(lang: str, text: Path, folder: Path) -> Any:
    """SentencePiece's unigram model."""
    import sentencepiece

    path = folder / f"unigram-{lang}.model"
    if not path.exists():
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(_training(text)),
            model_prefix=str(path.with_suffix("")),
            vocab_size=VOCABULARY[lang],
            model_type="unigram",
            character_coverage=0.9995,
            max_sentence_length=20_000,
            hard_vocab_limit=False,
            minloglevel=2,
        )
    return sentencepiece.SentencePieceProcessor(model_file=str(path))


def tiktoken_encoding(lang: str, text: Path, folder: Path) -> Any:
    """Tiktoken with the merges of ``byte_bpe``, whose ids are their ranks, and GPT-2's pattern."""
    import tiktoken
    from tokenizers import pre_tokenizers

    # ByteLevel writes the bytes that are printable as themselves and the others, in order, from U+0100 on.
    printable = [byte for byte in range(256) if chr(byte) in pre_tokenizers.ByteLevel.alphabet()]
    others = (byte for byte in range(256) if byte not in printable)
    bytes_of = {chr(byte): byte for byte in printable} | {chr(256 + at): byte for at, byte in enumerate(others)}
    vocabulary = byte_bpe(lang, text, folder).get_vocab()
    ranks = {bytes(bytes_of[char] for char in token): rank for token, rank in vocabulary.items()}
    pattern = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"""
    return tiktoken.Encoding(f"bpe-{lang}", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
