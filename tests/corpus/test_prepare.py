"""Prepared corpora: equal to the plain program's, the same after any interruption, and safe against what is damaged."""

import dataclasses
import errno
import gzip
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corpus_helpers import expected_rows, files_of, rows_of

import phonemic.corpus.options
import phonemic.corpus.report
from phonemic import InputError, Tokenizer
from phonemic.corpus import Options, Threads, open_corpus, prepare
from phonemic.errors import OutputError
from phonemic.metrics import Statistics

VI = Tokenizer("vi")
HERE = Path(__file__).parent


@pytest.fixture
def source(tmp_path, lines):
    """A file of Vietnamese lines."""
    path = tmp_path / "in.txt"
    path.write_text("\n".join(lines("vi", 150)) + "\n", "utf-8")
    return path


def options(**changed):
    return Options(VI, **{"shard_bytes": 1500, **changed})


class TestManifest:
    def test_says_what_is_there(self, tmp_path, source, lines):
        texts = lines("vi", 150)
        gzipped = tmp_path / "more.gz"
        gzipped.write_bytes(gzip.compress("\n".join(lines("vi", 60, seed=1)).encode()))
        manifest = prepare([str(source), str(gzipped)], tmp_path / "out", options(), Threads(1))
        assert manifest == json.loads((tmp_path / "out" / "manifest.json").read_bytes())
        assert manifest["format"] == "phonemic corpus 1"
        assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(
            ["manifest.json", "report.json", "report.md", "report.png", *(s["file"] for s in manifest["shards"])]
        )
        for number, shard in enumerate(manifest["shards"]):
            path = tmp_path / "out" / f"shard-{number:05d}.parquet"
            table = pq.read_table(path)
            assert table.schema.names == ["ids", "characters"]
            assert shard == {
                "file": path.name,
                "rows": len(table),
                "positions": sum(map(len, table["ids"].to_pylist())),
                "characters": sum(table["characters"].to_pylist()),
                "bytes": path.stat().st_size,
                "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            }
        assert len(manifest["shards"]) > 4
        first, second = manifest["sources"]
        kept = expected_rows(texts, "vi")
        assert first["path"] == str(source)
        assert (first["bytes"], first["sha256"]) == (
            source.stat().st_size,
            hashlib.sha256(source.read_bytes()).hexdigest(),
        )
        assert (first["lines_kept"], sum(first["lines_dropped"].values())) == (len(kept), len(texts) - len(kept))
        assert first["bytes_kept"] + sum(first["bytes_dropped"].values()) == first["bytes"]
        assert second["bytes_kept"] + sum(second["bytes_dropped"].values()) == len(
            gzip.decompress(gzipped.read_bytes())
        )
        totals = manifest["totals"]
        assert totals["lines_kept"] == first["lines_kept"] + second["lines_kept"] == totals["rows"]
        assert all(totals[name] == sum(s[name] for s in manifest["shards"]) for name in ("rows", "positions", "bytes"))

    def test_names_the_tokenizer(self, tmp_path, source):
        tokenizer = prepare([str(source)], tmp_path / "out", options(), Threads(1))["tokenizer"]
        data = Path(phonemic.__file__).parent / "lexicon"
        assert tokenizer == {
            "name": "phonemic",
            "lang": "vi",
            "vocab_size": 256,
            "version": phonemic.__version__,
            "vocabulary": hashlib.sha256("\n".join(VI.vocab).encode()).hexdigest(),
            "tables": hashlib.sha256((data / "tables-vi.bin").read_bytes()).hexdigest(),
        }
        assert open_corpus(tmp_path / "out").tokenizer == tokenizer

    @pytest.mark.parametrize("lang", ["vi", "zh"])
    def test_rows_are_the_plain_programs(self, tmp_path, lines, lang):
        texts = lines(lang, 100)
        (tmp_path / "in.txt").write_text("\n".join(texts), "utf-8")
        for share in (0, 0.7, 1):
            chosen = Options(Tokenizer(lang), min_native=share, exact=share == 1, shard_bytes=3000)
            prepare([str(tmp_path / "in.txt")], tmp_path / f"o{share}", chosen, Threads(2))
            corpus = open_corpus(tmp_path / f"o{share}", verify=True)
            assert rows_of(corpus) == expected_rows(texts, lang, share, exact=share == 1)
            assert (corpus.rows, corpus.positions) == (
                len(rows_of(corpus)),
                sum(len(ids) for ids, _ in rows_of(corpus)),
            )

    def test_the_report_counts_as_statistics_do(self, tmp_path, source, lines):
        prepare([str(source)], tmp_path / "out", options(min_native=0), Threads(1))
        report = json.loads((tmp_path / "out" / "report.json").read_bytes())
        texts = [text for text in lines("vi", 150) if expected_rows([text], "vi", 0)]
        statistics = Statistics(VI)
        statistics.update(texts)
        assert report["renyi_efficiency"] == pytest.approx(statistics.renyi_efficiency())
        assert report["kinds"]["fallback"] == pytest.approx(statistics.fallback_share)
        assert report["kinds"]["unknown"] == pytest.approx(statistics.unknown_share)
        assert report["positions_per_line"]["mean"] == pytest.approx(statistics.average_length)
        lengths = sorted(len(VI.encode(text)) for text in texts)
        assert report["positions_per_line"]["50%"] == lengths[-(-len(lengths) // 2) - 1]
        symbols = [symbol for text in texts for symbol in VI.encode(text).triples]
        assert report["components"]["rime"]["a"] == sum(triple.rime == "a" for triple in symbols)
        assert report["components"]["tone"]["˧˥"] == sum(triple.tone == "˧˥" for triple in symbols)
        assert (tmp_path / "out" / "report.png").read_bytes().startswith(b"\x89PNG")

    def test_shares_are_drawn_up_to_100(self, tmp_path, source, monkeypatch):
        """Lines of syllables alone are in the last bar, which ends at 100 %."""
        figures, draw = [], phonemic.corpus.report._draw
        monkeypatch.setattr("phonemic.corpus.report._draw", lambda *given: figures.append(draw(*given)) or figures[-1])
        source.write_text("Hà Nội\n" * 3 + "an an an an hello\n" * 2 + "hello\n", "utf-8")
        prepare([str(source)], tmp_path / "out", options(), Threads(1))
        [stairs] = figures[0].axes[0].patches
        assert stairs.get_data().edges.tolist() == [5 * bar for bar in range(21)]
        values = stairs.get_data().values.tolist()
        assert {bar: value for bar, value in enumerate(values) if value} == {0: 1, 16: 2, 19: 3}

    @pytest.mark.skipif(sys.platform != "linux", reason="needs names that are no UTF-8")
    def test_a_name_that_is_no_utf8(self, tmp_path):
        path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.txt")
        Path(path).write_text("Sáng nay bé ăn xôi.\n", "utf-8")
        for _ in range(2):
            manifest = prepare([path], tmp_path / "out", options(), Threads(2**30))
            assert [source["path"] for source in manifest["sources"]] == [path]
        assert open_corpus(tmp_path / "out").rows == 1

    def test_links_in_the_folder(self, tmp_path, source):
        """Of a corpus that somebody began: what is written must not come to lie where they lead."""
        (tmp_path / "precious.txt").write_text("precious")
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "partial").symlink_to(tmp_path)
        with pytest.raises(OutputError, match="partial: is a link"):
            prepare([str(source)], tmp_path / "out", options(), Threads(1))
        assert (tmp_path / "precious.txt").read_text() == "precious"
        assert list((tmp_path / "out").iterdir()) == [tmp_path / "out" / "partial"]

    def test_nothing_kept(self, tmp_path):
        (tmp_path / "in.txt").write_text("The quick brown fox\n\n")
        manifest = prepare([str(tmp_path / "in.txt")], tmp_path / "out", options(), Threads(1))
        assert manifest["shards"] == []
        assert manifest["totals"]["lines_dropped"]["foreign"] == manifest["totals"]["lines_dropped"]["empty"] == 1
        assert list(open_corpus(tmp_path / "out")) == []


class TestInterrupted:
    def test_killed_at_every_step(self, tmp_path, source):
        whole = prepare([str(source)], tmp_path / "whole", options(exact=True), Threads(1))
        command = [sys.executable, HERE / "killed_worker.py", source, tmp_path / "out"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        assert int(done.stdout) > 12
        assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")
        assert len(whole["shards"]) > 4

    def test_killed_at_any_moment(self, tmp_path, lines):
        source = tmp_path / "in.gz"
        source.write_bytes(gzip.compress("\n".join(lines("vi", 20_000)).encode()))
        script = (
            "import sys; from phonemic import Tokenizer; from phonemic.corpus import *\n"
            "options = Options(Tokenizer('vi'), shard_bytes=200_000)\n"
            "print('ready', flush=True); prepare([sys.argv[1]], sys.argv[2], options, Threads(2))"
        )
        prepare([str(source)], tmp_path / "whole", options(shard_bytes=200_000), Threads(1))
        command = [sys.executable, "-c", script, source, tmp_path / "out"]
        chance = random.Random(1)
        for _ in range(3):
            with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
                process.stdout.readline()
                time.sleep(chance.uniform(0.05, 0.6))
                process.kill()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")

    def test_an_error_leaves_finished_shards_and_no_others(self, tmp_path, source, monkeypatch):
        with monkeypatch.context() as patch:
            patch.setattr(pq.ParquetWriter, "write_table", failing_after(3, pq.ParquetWriter.write_table))
            with pytest.raises(OSError, match="a wire was cut"):
                prepare([str(source)], tmp_path / "out", options(), Threads(2))
        left = [path.name for path in (tmp_path / "out" / "partial").iterdir()]
        assert not any(name.endswith(".partial") for name in left)
        prepare([str(source)], tmp_path / "out", options(), Threads(1))
        prepare([str(source)], tmp_path / "whole", options(), Threads(1))
        assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")

    def test_a_damaged_shard_is_made_again(self, tmp_path, source, monkeypatch):
        stopped = tmp_path / "out" / "partial"
        monkeypatch.setattr(pq.ParquetWriter, "write_table", failing_after(30, pq.ParquetWriter.write_table))
        with pytest.raises(OSError, match="a wire was cut"):
            prepare([str(source)], tmp_path / "out", options(), Threads(1))
        monkeypatch.undo()
        one, two, *_ = sorted(stopped.glob("shard-*.parquet"))
        data = bytearray(one.read_bytes())
        data[len(data) // 2] ^= 1
        one.write_bytes(data)
        two.unlink()
        prepare([str(source)], tmp_path / "out", options(), Threads(1))
        open_corpus(tmp_path / "out", verify=True)
        prepare([str(source)], tmp_path / "whole", options(), Threads(1))
        assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")

    def test_a_finished_corpus_is_not_made_again(self, tmp_path, source):
        first = prepare([str(source)], tmp_path / "out", options(), Threads(1))
        before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}
        assert prepare([str(source)], tmp_path / "out", options(), Threads(1)) == first
        assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}


def failing_after(count, call):
    left = [count]

    def failing(*args, **options):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.EIO, "a wire was cut")
        return call(*args, **options)

    return failing


class TestRefused:
    @pytest.fixture
    def stopped(self, tmp_path, source, monkeypatch):
        """An unfinished corpus."""
        with monkeypatch.context() as patch:
            patch.setattr(pq.ParquetWriter, "write_table", failing_after(3, pq.ParquetWriter.write_table))
            with pytest.raises(OSError, match="a wire was cut"):
                prepare([str(source)], tmp_path / "out", options(), Threads(1))
        return tmp_path / "out"

    @pytest.mark.parametrize("finished", [False, True])
    def test_another_version_of_the_tokenizer(self, stopped, source, monkeypatch, finished):
        if finished:
            prepare([str(source)], stopped, options(), Threads(1))
        monkeypatch.setattr(phonemic.corpus.options, "__version__", "9.9")
        message = f"was started with another tokenizer \\(version was '{phonemic.__version__}', now '9.9'\\)"
        with pytest.raises(InputError, match=message):
            prepare([str(source)], stopped, options(), Threads(1))

    @pytest.mark.parametrize(
        ("changed", "message"),
        [
            ({"tokenizer": Tokenizer("vi", strict=True)}, "another tokenizer .strict was the default, now True"),
            (
                {"tokenizer": Tokenizer("vi", fallback="packed")},
                "another tokenizer .fallback was the default, now 'packed'",
            ),
            ({"tokenizer": Tokenizer("zh")}, "another tokenizer .lang was 'vi', now 'zh'"),
            ({"min_native": 0.8}, "other options .min_native was 0.7, now 0.8"),
            ({"exact": True}, "other options .exact was False, now True"),
        ],
    )
    def test_other_options(self, stopped, source, changed, message):
        with pytest.raises(InputError, match=message):
            prepare([str(source)], stopped, dataclasses.replace(options(), **changed), Threads(1))

    def test_other_sources(self, stopped, source, tmp_path):
        (tmp_path / "more.txt").write_text("ba\n")
        with pytest.raises(InputError, match=r"other sources .*more\.txt is new"):
            prepare([str(source), str(tmp_path / "more.txt")], stopped, options(), Threads(1))
        os.utime(source, ns=(0, 0))
        with pytest.raises(InputError, match=r"other sources .*in\.txt is new, changed or gone"):
            prepare([str(source)], stopped, options(), Threads(1))

    def test_a_source_that_was_changed_since(self, tmp_path, source):
        prepare([str(source)], tmp_path / "out", options(), Threads(1))
        source.touch()
        prepare([str(source)], tmp_path / "out", options(), Threads(1))
        data = source.read_bytes()
        source.write_bytes(data.replace(b"a", b"o", 1))
        with pytest.raises(InputError, match=r"made from other sources .*in\.txt has changed since"):
            prepare([str(source)], tmp_path / "out", options(), Threads(1))

    @pytest.mark.parametrize("moved", [os.replace, shutil.copy2])
    def test_a_source_that_another_took_the_place_of(self, tmp_path, source, moved):
        """With the times of the other one, which may be older than the corpus, and the very times of the source."""
        times = source.stat().st_mtime_ns
        prepare([str(source)], tmp_path / "out", options(), Threads(1))
        same, other = tmp_path / "same.txt", tmp_path / "other.txt"
        for changed in (0, times):
            same.write_bytes(source.read_bytes())
            os.utime(same, ns=(changed, changed))
            moved(same, source)
            prepare([str(source)], tmp_path / "out", options(), Threads(1))
        for changed in (0, times):
            other.write_bytes(source.read_bytes().replace(b"a", b"o", 1))
            os.utime(other, ns=(changed, changed))
            moved(other, source)
            with pytest.raises(InputError, match=r"made from other sources .*in\.txt has changed since"):
                prepare([str(source)], tmp_path / "out", options(), Threads(1))

    def test_a_folder_of_something_else(self, tmp_path, source):
        (tmp_path / "thesis.doc").write_text("years of work")
        with pytest.raises(InputError, match=r"holds other files .*in\.txt, thesis\.doc"):
            prepare([str(source)], tmp_path, options(), Threads(1))
        assert (tmp_path / "thesis.doc").exists()

    def test_bad_options(self):
        for changed in ({"min_native": 1.1}, {"near": 0.01}, {"shard_bytes": 0}):
            with pytest.raises(InputError, match=next(iter(changed))):
                options(**changed)


class TestDamaged:
    def test_is_named_and_passed_over_when_told(self, tmp_path, lines):
        folder = tmp_path / "in"
        folder.mkdir()
        good = "\n".join(lines("vi", 60)).encode()
        broken = bytearray(gzip.compress("\n".join(lines("vi", 3000, seed=2)).encode()))
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
    @pytest.mark.parametrize(
        "bad", ['{"text": "ba", "text": "me"}', '{"text": "ba", "n": "\\ud800"}', '{"text": "ba", "n": 1e400}', "\f"]
    )
    def test_what_stands_before_a_fault_that_only_arrow_finds(self, tmp_path, lines, bad, exact):
        texts = lines("vi", 90)
        rows = [json.dumps({"text": line}) for line in texts]
        (tmp_path / "in.jsonl").write_text("\n".join([*rows[:60], "", bad, *rows[60:], bad]))
        start = sum(len(row) + 1 for row in rows[:60]) + 1
        told = rf"in\.jsonl, the line at byte {start} of the file: cannot be read \(JSON parse error: [^.]+\)$"
        with pytest.raises(InputError, match=told):
            prepare([str(tmp_path / "in.jsonl")], tmp_path / "strict", options(), Threads(1))
        whole = options(keep_going=True, exact=exact, shard_bytes=1 << 20)
        manifest = prepare([str(tmp_path / "in.jsonl")], tmp_path / "out", whole, Threads(1))
        assert rows_of(open_corpus(tmp_path / "out")) == expected_rows(texts[:60], "vi", exact=exact)
        [damage] = manifest["sources"][0]["damaged"]
        assert re.search(told, damage)

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


class TestFullDisk:
    @pytest.fixture
    def small_disk(self, tmp_path):
        """A file system of 120 kB."""
        place = tmp_path / "disk"
        place.mkdir()
        mounted = shutil.which("mount") and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=120k", "tmpfs", place], capture_output=True, check=False
        )
        if not mounted or mounted.returncode:
            pytest.skip("needs the right to mount a tmpfs")
        yield place
        subprocess.run(["umount", place], check=True)

    @pytest.mark.parametrize("threads", [1, 2])
    def test_is_an_error_and_the_run_goes_on_elsewhere(self, tmp_path, small_disk, lines, threads):
        source = tmp_path / "in.txt"
        source.write_text("\n".join(lines("vi", 2000)), "utf-8")
        chosen = options(shard_bytes=40_000)
        with pytest.raises(OSError, match="No space left") as caught:
            prepare([str(source)], small_disk / "out", chosen, Threads(threads))
        assert caught.value.filename.startswith(str(small_disk))
        assert not list((small_disk / "out" / "partial").glob("*.partial"))
        assert list((small_disk / "out" / "partial").glob("shard-*.json"))
        shutil.move(small_disk / "out", tmp_path / "out")
        prepare([str(source)], tmp_path / "out", chosen, Threads(threads))
        prepare([str(source)], tmp_path / "whole", chosen, Threads(1))
        assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")


def test_sigterm_is_an_ordinary_end(tmp_path, lines):
    pytest.importorskip("click", reason="needs the cli extra")
    source = tmp_path / "in.txt"
    source.write_text("\n".join(lines("vi", 40_000)), "utf-8")
    command = [sys.executable, "-m", "phonemic", "prepare", source, tmp_path / "out", "--lang", "vi"]
    with subprocess.Popen([*command, "--shard-size", "50k", "--threads", "2"]) as process:
        while not list((tmp_path / "out" / "partial").glob("shard-*.json")) and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
    assert process.returncode == 128 + signal.SIGTERM
    assert not list((tmp_path / "out" / "partial").glob("*.partial"))
