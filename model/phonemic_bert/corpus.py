"""A prepared corpus, as pretraining reads it. What makes one is :mod:`phonemic.corpus`, which needs no torch."""

from phonemic.corpus import Corpus, Shard, open_corpus

__all__ = ["Corpus", "Shard", "open_corpus"]
