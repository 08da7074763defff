"""Inputs and corpora that are damaged: named, and passed over where that is requested; nothing sound is lost."""

import gzip
import json
import random
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corpus_helpers import expected_rows, failing_after, files_of, options, rows_of

from phonemic import InputError, Tokenizer
from phonemic.corpus import Threads, open_corpus, prepare

VI = Tokenizer("vi")


class TestDamaged:
    def test_is_named_and_passed_over_when_told(self, tmp_path, lines):
        folder = tmp_path / "in"
        folder.mkdir()
        good = "\n".join(lines("vi", 60)).encode()
        broken = bytearray(gzip.compress("\n".join(lines("vi", 800, seed=2)).encode()))
        broken = broken[: len(broken) * 3 // 4]
        (folder / "a.txt").write_bytes(good)
        (folder / "b.gz").write_bytes(broken)
        (folder / "c.txt").write_bytes(b"ba me\n\xff\n")
        (folder / "d.parquet").write_bytes(b"PAR1")
        (folder / "e.txt").write_bytes(good)
        for name in ("b.gz", "c.txt", "d.parquet"):
            with pytest.raises(InputError, match=name):
                prepare([str(folder / name)], tmp_path / f"o-{name}", options(), Threads(2))
        going = options(keep_going=True)
        manifest = prepare([str(folder)], tmp_path / "out", going, Threads(2))
        assert [source["path"][-9:] for source in manifest["sources"] if "damaged" in source] == [
            str(folder / name)[-9:] for name in ("b.gz", "c.txt", "d.parquet")
        ]
        rows = rows_of(open_corpus(tmp_path / "out"))
        expected = expected_rows(lines("vi", 60), "vi")
        assert rows[: len(expected)] == rows[-len(expected) :] == expected
        assert len(rows) > 3 * len(expected)  # and what stood before the damage of b.gz
        report = (tmp_path / "out" / "report.md").read_text("utf-8")
        assert all(name in report for name in ("b.gz: truncated", "c.txt, byte 6", "d.parquet: damaged"))

    @pytest.mark.parametrize("exact", [False, True])
    @pytest.mark.parametrize(
        ("name", "bad"), [("in.txt", b"\xff"), ("in.jsonl", b'{"text": }'), ("in.jsonl", b'{"text": "\xff"}')]
    )
    def test_what_stands_before_the_damage_is_kept(self, tmp_path, lines, name, bad, exact):
        texts = lines("vi", 40)
        rows = [line if name == "in.txt" else json.dumps({"text": line}) for line in texts]
        data = [row.encode() for row in rows]
        (tmp_path / name).write_bytes(b"\n".join([*data[:30], bad, *data[30:]]))
        whole = options(keep_going=True, exact=exact, shard_bytes=1 << 20)
        manifest = prepare([str(tmp_path / name)], tmp_path / "out", whole, Threads(2))
        assert rows_of(open_corpus(tmp_path / "out")) == expected_rows(texts[:30], "vi", exact=exact)
        assert len(manifest["sources"][0]["damaged"]) == 1

    @pytest.mark.parametrize("exact", [False, True])
    @pytest.mark.parametrize("name", ["in.txt", "in.txt.gz"])
    def test_what_stands_before_a_line_that_is_too_long(self, tmp_path, lines, name, exact):
        texts = lines("vi", 60)
        data = ("\n".join([*texts, "ba " * 1000, "me"]) + "\n").encode()
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
        whole = options(keep_going=True, exact=exact, shard_bytes=1 << 20, max_line=2000)
        manifest = prepare([str(tmp_path / name)], tmp_path / "out", whole, Threads(1))
        assert rows_of(open_corpus(tmp_path / "out")) == expected_rows(texts, "vi", exact=exact)
        assert "line 61: is longer than 2,000 bytes" in manifest["sources"][0]["damaged"][0]

    @pytest.mark.parametrize("exact", [False, True])
    def test_what_stands_before_the_end_of_a_truncated_file(self, tmp_path, exact):
        texts = [f"ba me {number}" for number in random.Random(0).sample(range(10**9), 3000)]
        data = gzip.compress("".join(f"{text}\n" for text in texts).encode())
        (tmp_path / "in.txt.gz").write_bytes(data[: len(data) // 2])
        whole = options(keep_going=True, exact=exact, min_native=0)
        manifest = prepare([str(tmp_path / "in.txt.gz")], tmp_path / "out", whole, Threads(1))
        kept = manifest["totals"]["lines_kept"]
        assert 1000 < kept < 2000
        assert rows_of(open_corpus(tmp_path / "out")) == expected_rows(texts[:kept], "vi", min_native=0, exact=exact)

    @pytest.mark.parametrize("exact", [False, True])
    def test_the_first_of_several_faults(self, tmp_path, lines, exact):
        texts = lines("vi", 30)
        rows = [json.dumps({"text": line}).encode() for line in texts]
        (tmp_path / "in.jsonl").write_bytes(b"\n".join([*rows[:20], b"no JSON", *rows[20:], b'{"text": "\xff"}']))
        whole = options(keep_going=True, exact=exact, shard_bytes=1 << 20)
        manifest = prepare([str(tmp_path / "in.jsonl")], tmp_path / "out", whole, Threads(1))
        assert rows_of(open_corpus(tmp_path / "out")) == expected_rows(texts[:20], "vi", exact=exact)
        assert "is not JSON" in manifest["sources"][0]["damaged"][0]

    def test_column_names_that_cannot_be_read(self, tmp_path):
        twice, odd, good = (tmp_path / name for name in ("a.parquet", "b.parquet", "c.txt"))
        pq.write_table(pa.table([["ba"], ["me"]], names=["text", "text"]), twice)
        pq.write_table(pa.table({"text": ["ba"], "zz": [1]}), odd, store_schema=False)
        odd.write_bytes(odd.read_bytes().replace(b"zz", b"\xe9z"))
        good.write_text("ba me\n")
        told = {twice: "2 columns are named 'text'; rename all but one", odd: "the name of a column is not UTF-8"}
        for path, message in told.items():
            with pytest.raises(InputError, match=rf"{path.name}: .*{message}"):
                prepare([str(path)], tmp_path / f"strict-{path.name}", options(), Threads(1))
        given = [str(path) for path in (*told, good)]
        manifest = prepare(given, tmp_path / "out", options(keep_going=True), Threads(1))
        assert manifest["totals"]["lines_kept"] == 1
        for source, message in zip(manifest["sources"], told.values(), strict=False):
            assert message in source["damaged"][0]

    def test_nothing_stands_before_the_damage_that_could_be_kept(self, tmp_path):
        (tmp_path / "a.jsonl").write_text('{"body": "ba"}\nno JSON\n{"text": "ba"}\n')
        (tmp_path / "b.txt").write_text("ba me\n")
        given = [str(tmp_path / name) for name in ("a.jsonl", "b.txt")]
        manifest = prepare(given, tmp_path / "out", options(keep_going=True), Threads(1))
        assert manifest["totals"]["lines_kept"] == 1
        assert "the line at byte 15" in manifest["sources"][0]["damaged"][0]

    def test_the_corpus_may_lie_below_its_source(self, tmp_path, lines, monkeypatch):
        (tmp_path / "a.txt").write_text("\n".join(lines("vi", 150)), "utf-8")
        with monkeypatch.context() as patch:
            patch.setattr(pq.ParquetWriter, "write_table", failing_after(3, pq.ParquetWriter.write_table))
            with pytest.raises(OSError, match="a wire was cut"):
                prepare([str(tmp_path)], tmp_path / "out", options(), Threads(1))
        first = prepare([str(tmp_path)], tmp_path / "out", options(), Threads(1))
        assert prepare([str(tmp_path)], tmp_path / "out", options(), Threads(1)) == first
        assert [source["path"] for source in first["sources"]] == [str(tmp_path / "a.txt")]

    def test_going_on_changes_nothing_that_is_sound(self, tmp_path, source):
        prepare([str(source)], tmp_path / "one", options(), Threads(1))
        prepare([str(source)], tmp_path / "two", options(keep_going=True), Threads(1))
        assert files_of(tmp_path / "one") == files_of(tmp_path / "two")

    def test_a_damaged_shard_is_named_when_it_is_read(self, tmp_path, source):
        out = tmp_path / "out"
        prepare([str(source)], out, options(), Threads(1))
        shard = out / "shard-00001.parquet"
        sound = shard.read_bytes()
        data = bytearray(sound)
        data[len(data) // 3] ^= 0x40
        shard.write_bytes(data)
        open_corpus(out)
        with pytest.raises(InputError, match=r"shard-00001\.parquet: damaged \(its SHA-256"):
            open_corpus(out, verify=True)
        shard.write_bytes(sound[:-1])
        with pytest.raises(InputError, match=r"shard-00001\.parquet: damaged \(\d+ bytes"):
            open_corpus(out)
        shard.write_bytes(b"x" * len(sound))
        with pytest.raises(InputError, match=r"shard-00001\.parquet: damaged, or not this corpus's"):
            open_corpus(out)[1]
        shard.unlink()
        with pytest.raises(InputError, match=r"shard-00001\.parquet: missing"):
            open_corpus(out)
        shutil.copy(out / "shard-00000.parquet", shard)
        with pytest.raises(InputError, match=r"shard-00001\.parquet: (damaged|not the file)"):
            open_corpus(out)[1]

    @pytest.mark.parametrize(
        ("ids", "characters"),
        [
            (pa.array([5, 6], pa.int32()), None),
            (pa.array(["5", "6"]), None),
            (pa.array([[5], [6]], pa.list_(pa.int64())), None),
            (pa.array([[5], [6]], pa.large_list(pa.int32())), None),
            (pa.array([[5], None], pa.list_(pa.int32())), None),
            (pa.array([[5, None], [6]], pa.list_(pa.int32())), None),
            (pa.array([[5], [6]], pa.list_(pa.int32())), pa.array([1, None], pa.int32())),
            (pa.array([[5], [6]], pa.list_(pa.int32())), pa.array([1.0, 2.0])),
            (pa.array([[5], [6]], pa.list_(pa.int32())), pa.array(["a", "b"])),
        ],
        ids=str,
    )
    def test_another_table_that_the_manifest_vouches_for(self, tmp_path, source, ids, characters):
        out = tmp_path / "out"
        prepare([str(source)], out, options(), Threads(1))
        shard, path = out / "shard-00000.parquet", out / "manifest.json"
        counted = pa.array([1, 1], pa.int32()) if characters is None else characters
        pq.write_table(pa.table({"ids": ids, "characters": counted}), shard)
        manifest = json.loads(path.read_text("utf-8"))
        for positions in (1, 2, 3):
            manifest["shards"][0].update(rows=2, positions=positions, bytes=shard.stat().st_size)
            path.write_text(json.dumps(manifest), "utf-8")
            with pytest.raises(InputError, match=r"shard-00000\.parquet: (damaged|not the file)"):
                open_corpus(out)[0]

    def test_a_damaged_manifest(self, tmp_path, source):
        with pytest.raises(InputError, match=r"manifest\.json is missing; run phonemic prepare"):
            open_corpus(tmp_path)
        prepare([str(source)], tmp_path / "out", options(), Threads(1))
        (tmp_path / "out" / "manifest.json").write_text("{")
        with pytest.raises(InputError, match=r"manifest\.json: is not JSON: "):
            open_corpus(tmp_path / "out")
        (tmp_path / "out" / "manifest.json").write_text('{"format": "phonemic corpus 0"}')
        with pytest.raises(InputError, match="not a corpus of this version"):
            open_corpus(tmp_path / "out")
