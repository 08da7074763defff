"""Text to rows of ids for transformers: the tokenizers, positions of texts, cutting to length, rows."""

from phonemic_bert.tokenization.tokenizer import FILE, PhonemicBertTokenizer

__all__ = ["FILE", "PhonemicBertTokenizer"]
