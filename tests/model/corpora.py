"""Small prepared corpora, in the format that ``phonemic prepare`` writes."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from phonemic import Tokenizer
from phonemic.corpus.options import describe


def write_corpus(folder: Path, documents: list[np.ndarray], characters: list[int], tokenizer: dict, shards=2) -> Path:
    """Documents as ids, spread over shards."""
    folder.mkdir(parents=True)
    entries = []
    for number, rows in enumerate(np.array_split(np.arange(len(documents)), shards)):
        path = folder / f"shard-{number:05}.parquet"
        part = [np.asarray(documents[row], np.int32) for row in rows]
        table = pa.table(
            {
                "ids": pa.array(part, pa.list_(pa.int32())),
                "characters": pa.array([characters[row] for row in rows], pa.int32()),
            }
        )
        pq.write_table(table, path, compression="zstd")
        sums = {"positions": sum(map(len, part)), "characters": sum(characters[row] for row in rows)}
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        size = path.stat().st_size
        entries.append({"file": path.name, "rows": len(part), **sums, "bytes": size, "sha256": digest})
    totals = {name: sum(entry[name] for entry in entries) for name in ("rows", "positions", "characters")}
    manifest = {"format": "phonemic corpus 1", "tokenizer": tokenizer, "shards": entries}
    manifest |= {"sources": [{"path": "texts/lines.txt"}], "options": {}, "totals": totals}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def phonemic_corpus(folder: Path, lines: list[str], lang="vi", repeat=8, shards=2) -> Path:
    """Lines, each shuffled into ``repeat`` different documents, tokenized by phonemic."""
    random = np.random.default_rng(0)
    texts = [" ".join(random.permutation(line.split()).tolist()) for _ in range(repeat) for line in lines]
    tokenizer = Tokenizer(lang)
    counts = [len("".join(text.split())) for text in texts]
    return write_corpus(folder, [one.ids for one in tokenizer.encode_batch(texts)], counts, describe(tokenizer), shards)


def character_corpus(folder: Path, lines: list[str], lang="vi", repeat=8, shards=2) -> Path:
    """The same texts as :func:`phonemic_corpus`, a character an id."""
    random = np.random.default_rng(0)
    texts = [" ".join(random.permutation(line.split()).tolist()) for _ in range(repeat) for line in lines]
    known = {char: number for number, char in enumerate(sorted(set("".join(texts)) - {" "}))}
    documents = [np.array([known[char] for char in text if char != " "]) for text in texts]
    described = {"name": "character", "lang": lang, "vocab_size": len(known), "id_count": len(known)}
    return write_corpus(folder, documents, [len(document) for document in documents], described, shards)
