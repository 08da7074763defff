"""Labels raw text with g2pM's network (Apache-2.0), in batches: a teacher of readings in context.

``python -m benchmarks.readings.teacher ZH OUT`` reads the text of the tasks CMRC, CSL and C3 in ZH, the folder of the
Mandarin data, general, weekly, lctt and laws in its ``raw``, and SPEECH in its ``more``. It writes
``OUT/NAME-NUMBER.npz``, one file for 20,000 sentences; files that are there are kept, so it may be stopped and started.
Of weekly, lctt and laws only the sentences with a polyphone that has few labels yet are labelled.
"""

from __future__ import annotations

import argparse
import json
import lzma
import pickle
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.readings import segments
from benchmarks.readings.cpp import normal

CHUNK, BATCH, LONGEST, SHORTEST, ENOUGH = 20_000, 256, 150, 4, 3_000
#: The kinds of text, and the kinds of which all is labelled.
SOURCES = ("general", "weekly", "lctt", "laws", "wiki", "abstracts", "talk", "speech")
WHOLE = frozenset(("general", "wiki", "abstracts", "talk", "speech"))
#: Files of dialogues, posts and recipes, and how many characters of each are read.
SPEECH = ("cped", "lccc_toy", "tatoeba", "kdconv_crosswoz", "howtocook", "weibo_moods", "smile")
SPEECH_SIZE = 1_000_000
_SENTENCE = re.compile(r"[^。！？；!?;\n]+[。！？；!?;]*[”’」』）)\"]*")


class Teacher(torch.nn.Module):
    """g2pM's network: embedding, bidirectional LSTM, two layers; its weights are the package's own."""

    def __init__(self) -> None:
        super().__init__()
        spec = find_spec("g2pM")
        if spec is None or spec.origin is None:
            raise ImportError("g2pM is not installed: pip install g2pM")
        origin = Path(spec.origin)

        def load(name: str) -> Any:
            return pickle.loads(origin.with_name(name + ".pkl").read_bytes())

        self.ids: dict[str, int] = load("char2idx")
        classes = load("class2idx")
        self.readings = [normal(reading) for reading in sorted(classes, key=classes.get)]
        self.alone: dict[str, list[str]] = {
            char: [normal(reading) for reading in readings] for char, readings in load("digest_cedict").items()
        }
        weights = {name: torch.tensor(np.asarray(value)) for name, value in load("np_ckpt").items()}
        self.embedding = torch.nn.Embedding(*weights["embedding.weight"].shape)
        self.lstm = torch.nn.LSTM(64, 32, batch_first=True, bidirectional=True)
        self.logit_layer = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 876))
        self.load_state_dict(weights)
        # Only the readings that the dictionary has for a character may win (g2pM lets every class win).
        number = {reading: at for at, reading in enumerate(self.readings)}
        self.allowed = torch.zeros(len(self.ids), len(number), dtype=torch.bool)
        self.varies = torch.zeros(len(self.ids), dtype=torch.bool)
        for char, at in self.ids.items():
            known = [number[reading] for reading in self.alone.get(char, []) if reading in number]
            if len(known) > 1:
                self.varies[at] = True
                self.allowed[at, known] = True

    def label(self, texts: list[str], free: bool = False) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Where the polyphones of each text stand, their classes, and how probable these are, 0 to 255.

        Arguments:
            texts: sentences; those of about one length together are faster.
            free: let any class win, as g2pM itself does.
        """
        unknown, begin, end = self.ids["<UNK>"], self.ids["시"], self.ids["끝"]
        rows = [torch.tensor([begin, *(self.ids.get(char, unknown) for char in text), end]) for text in texts]
        with torch.inference_mode():
            ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
            packed = torch.nn.utils.rnn.pack_padded_sequence(
                self.embedding(ids), torch.tensor([len(row) for row in rows]), batch_first=True, enforce_sorted=False
            )
            hidden, _ = torch.nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
            at = self.varies[ids].nonzero()
            logits = self.logit_layer(hidden[at[:, 0], at[:, 1]])
            if not free:
                logits = logits.masked_fill(~self.allowed[ids[at[:, 0], at[:, 1]]], -torch.inf)
            best, classes = logits.softmax(-1).max(-1)
        counts = np.bincount(at[:, 0].numpy(), minlength=len(texts)).cumsum()[:-1]
        columns = (at[:, 1].numpy() - 1, classes.numpy(), (best * 255).round().byte().numpy())
        return list(zip(*(np.split(column, counts) for column in columns), strict=True))


def texts_of(folder: Path, name: str) -> Iterator[str]:
    """The texts of a kind: Wikipedia's that CMRC asks about, abstracts of CSL, what C3 reads and hears, what people say
    and write to each other, or raw text.
    """
    if name == "wiki":
        for part in ("dev", "trial"):
            loaded = json.loads((folder / "cmrc2018" / f"cmrc2018_{part}.json").read_text("utf-8"))
            yield from (one["context"] for article in loaded["data"] for one in article["paragraphs"])
    elif name == "abstracts":
        for part in ("dev", "test"):
            rows = (folder / "csl_ydli" / f"{part}.tsv").read_text("utf-8").splitlines()
            yield from (row.split("\t")[1] for row in rows)
    elif name == "talk":
        for path in sorted((folder / "c3").glob("*.json")):
            yield from (text for texts, *_ in json.loads(path.read_text("utf-8")) for text in texts)
    elif name == "speech":
        for part in SPEECH:
            with lzma.open(folder / "more" / f"{part}.txt.xz", "rt", encoding="utf-8") as lines:
                yield from lines.read(SPEECH_SIZE).splitlines()
    else:
        with lzma.open(folder / "raw" / f"{name}.txt.xz", "rt", encoding="utf-8") as lines:
            yield from lines


def sentences(texts: Iterable[str]) -> Iterator[str]:
    """The sentences of texts, each once, of 4 to 150 characters."""
    seen: set[int] = set()
    for whole in texts:
        for match in _SENTENCE.finditer(whole):
            text = match[0].strip()
            if SHORTEST <= len(text) <= LONGEST and hash(text) not in seen:
                seen.add(hash(text))
                yield text


def label_chunk(teacher: Teacher, texts: list[str], out: Path) -> int:
    """Writes the texts of a chunk and their labels; returns the number of labels."""
    order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
    found: list[Any] = [None] * len(texts)
    for begin in range(0, len(order), BATCH):
        part = order[begin : begin + BATCH]
        for at, labels in zip(part, teacher.label([texts[at] for at in part]), strict=True):
            found[at] = labels
    lengths = np.array([len(text) for text in texts], np.int64)
    starts = np.concatenate([[0], lengths.cumsum()[:-1]])
    points = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)
    places = np.concatenate([labels[0] + start for labels, start in zip(found, starts, strict=True)])
    beside = out.with_suffix(".part.npz")
    np.savez(
        beside,
        text=points,
        starts=starts.astype(np.int32),
        places=places.astype(np.int32),
        classes=np.concatenate([labels[1] for labels in found]).astype(np.uint16),
        sure=np.concatenate([labels[2] for labels in found]),
        begins=segments.begins(texts),
    )
    beside.rename(out)
    return len(places)


def main() -> None:
    """Labels as much as the time allows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("zh", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, default=60)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    teacher, begun = Teacher(), time.monotonic()
    (arguments.out / "readings.txt").write_text("\n".join(teacher.readings), "utf-8")
    rare = {char for char, at in teacher.ids.items() if teacher.varies[at]}
    counts: Counter[str] = Counter()
    for name in SOURCES:
        texts = sentences(texts_of(arguments.zh, name))
        for number in range(10_000):
            chunk = list(islice(texts, CHUNK))
            if not chunk:
                break
            out = arguments.out / f"{name}-{number:03}.npz"
            if not out.exists():
                if time.monotonic() - begun > arguments.minutes * 60:
                    return
                kept = chunk if name in WHOLE else [text for text in chunk if not rare.isdisjoint(text)]
                labels = label_chunk(teacher, kept, out)
                print(f"{time.monotonic() - begun:5.0f} s {out.name} {len(kept)} sentences {labels} labels", flush=True)
            with np.load(out) as made:
                counts.update(map(chr, made["text"][made["places"]]))
            rare = {char for char in rare if counts[char] < ENOUGH}


if __name__ == "__main__":
    main()
