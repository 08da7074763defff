"""From raw text to shards of ids, and the shards as arrays: ``phonemic prepare`` without its command.

Nothing here imports torch, so that the workers of an engine start at once.
"""

from phonemic.corpus.engines import Ray, Threads
from phonemic.corpus.manifest import Corpus, Shard, open_corpus
from phonemic.corpus.options import Options
from phonemic.corpus.preparation import prepare

__all__ = ["Corpus", "Options", "Ray", "Shard", "Threads", "open_corpus", "prepare"]
