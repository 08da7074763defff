"""Duplicates: exact ones as a set finds them; near ones by how similar lines are; the first of them stays."""

import json
import random

import numpy as np
import pytest
from corpus_helpers import files_of, rows_of
from hypothesis import given
from hypothesis import strategies as st

import phonemic.corpus.preparation
from phonemic import Tokenizer
from phonemic.corpus import Options, Threads, duplicates, open_corpus, prepare

VI = Tokenizer("vi")


def prepared(folder, texts, threads=1, **options):
    path = folder / "in.txt"
    path.write_text("\n".join(texts) + "\n", "utf-8")
    prepare([str(path)], folder / "out", Options(VI, shard_bytes=2000, **options), Threads(threads))
    return open_corpus(folder / "out")


def test_exact_duplicates_are_those_of_a_set(tmp_path, lines, monkeypatch):
    monkeypatch.setattr(phonemic.corpus.preparation, "_KEYS_AT_A_TIME", 50)  # several ranges of keys
    texts = lines("vi", 300)
    corpus = prepared(tmp_path, texts, 2, exact=True, min_native=0.5)
    (tmp_path / "all").mkdir()
    everything = prepared(tmp_path / "all", list(dict.fromkeys(text.strip() for text in texts)), min_native=0.5)
    assert rows_of(corpus) == rows_of(everything)
    dropped = corpus.manifest["totals"]["lines_dropped"]
    assert dropped["duplicate"] > 20
    assert dropped["near_duplicate"] == 0


def test_near_duplicates_by_likeness(tmp_path):
    pytest.importorskip("rensa", reason="needs the corpus extra")
    chance = random.Random(3)
    syllables = "ba mẹ con nhà của đi học chơi với bạn trong sân trường làng quê hương đất nước sông núi biển".split()  # noqa: SIM905
    originals = [" ".join(chance.choices(syllables, k=60)) for _ in range(60)]
    like = [f"{text} hết" for text in originals]  # all runs of three and one more: Jaccard about 58/59
    upper = [text.upper() for text in originals]
    unlike = [" ".join(text.split()[:30] + chance.choices(syllables, k=30)) for text in originals]  # about 1/3
    corpus = prepared(tmp_path, originals + like + upper + unlike, near=0.8)
    rows = [ids for ids, _ in rows_of(corpus)]
    assert rows[:60] == [VI.encode(text).ids.tolist() for text in originals]
    assert rows[-57:] == [VI.encode(text).ids.tolist() for text in unlike][-57:]
    dropped = corpus.manifest["totals"]["lines_dropped"]
    assert dropped["near_duplicate"] >= 119
    assert len(rows) + dropped["near_duplicate"] == 240


def test_both_kinds_and_the_same_on_any_number_of_threads(tmp_path, lines):
    pytest.importorskip("rensa", reason="needs the corpus extra")
    texts = lines("vi", 200)
    texts += [f"{text} nhé" for text in texts if len(text) > 100]
    for threads in (1, 2):
        (tmp_path / str(threads)).mkdir()
        prepared(tmp_path / str(threads), texts, threads, exact=True, near=0.7)
        folder = tmp_path / str(threads) / "out"
        manifest = (folder / "manifest.json").read_text("utf-8").replace(str(tmp_path / str(threads)), "")
        (folder / "manifest.json").write_text(manifest)
    assert files_of(tmp_path / "1" / "out") == files_of(tmp_path / "2" / "out")
    dropped = json.loads(manifest)["totals"]["lines_dropped"]
    assert dropped["duplicate"] > 10
    assert dropped["near_duplicate"] > 50


@given(
    st.lists(st.lists(st.lists(st.integers(0, 5), min_size=2, max_size=2), max_size=8), max_size=5), st.integers(0, 6)
)
def test_drops_are_those_of_a_set(tmp_path_factory, parts, cut):
    folder = tmp_path_factory.mktemp("keys")
    paths, numbers = [], []
    for number, rows in enumerate(parts):
        if rows:
            path = folder / f"{number}.npy"
            duplicates.save_keys(path, np.arange(len(rows)) * 3, np.array(rows, np.uint64))
            paths.append(path)
            numbers.append(number)
    for column in (0, 1):
        seen, expected = set(), []
        for number, rows in enumerate(parts):
            expected += [
                (number, 3 * at) for at, row in enumerate(rows) if row[column] in seen or seen.add(row[column])
            ]
        found = [duplicates.find_drops(numbers, paths, column, low, high) for low, high in ((0, cut), (cut + 1, 9))]
        assert sorted(map(tuple, np.concatenate(found).tolist())) == expected
        for at, pairs in enumerate(found):
            np.save(folder / f"drops{at}.npy", pairs)
        for number in range(len(parts)):
            lines = duplicates.drops_of(number, [folder / "drops0.npy", folder / "drops1.npy"])
            assert lines.tolist() == [line for part, line in expected if part == number]


@pytest.mark.parametrize("near", [0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 1])
def test_bands_rise_at_the_similarity(near):
    count, values = duplicates.bands(near)
    assert count * values <= 128
    assert (1 / count) ** (1 / values) == pytest.approx(near, abs=0.03)


def test_runs_of_lines_shorter_than_a_run():
    ids = np.array([7, 7, 8, 7, 8, 9, 7, 8, 9, 1], np.int32)
    offsets = np.array([0, 1, 3, 3, 6, 10], np.int64)
    hashes, counts = duplicates._run_hashes(ids, offsets, 3)
    assert counts.tolist() == [1, 1, 0, 1, 2]
    one, two, three, again, last = hashes.tolist()
    assert three == again
    assert len({one, two, three, last}) == 4
