"""Prepared corpora: equal to the plain program's, and the same after any interruption."""

import dataclasses
import gzip
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from corpus_helpers import expected_rows, failing_after, files_of, options, rows_of

import phonemic.corpus.options
import phonemic.corpus.report
from phonemic import InputError, Tokenizer
from phonemic.corpus import Options, Threads, open_corpus, prepare
from phonemic.errors import OutputError
from phonemic.metrics import Statistics

VI = Tokenizer("vi")
HERE = Path(__file__).parent


def test_a_shard_of_other_readings(tmp_path):
    """One put in the place of another is refused: by its bytes even where it is as long and holds as much."""
    (tmp_path / "in.txt").write_text("他长得很高\n" * 50, "utf-8")
    for readings in ("pypinyin", "context"):
        chosen = Options(Tokenizer("zh", readings=readings))
        prepare([str(tmp_path / "in.txt")], tmp_path / readings, chosen, Threads(1))
    name = "shard-00000.parquet"
    other = (tmp_path / "context" / name).read_bytes()
    assert other != (tmp_path / "pypinyin" / name).read_bytes()
    shutil.copy(tmp_path / "context" / name, tmp_path / "pypinyin" / name)
    with pytest.raises(InputError, match=f"{name}: damaged"):
        open_corpus(tmp_path / "pypinyin", verify=True)
    manifest = json.loads((tmp_path / "context" / "manifest.json").read_bytes())
    folder = Path(phonemic.__file__).parent / "lexicon"
    for field, table in (("tables", "zh-context"), ("lexicon", "zh")):
        digest = hashlib.sha256((folder / f"tables-{table}.bin").read_bytes()).hexdigest()
        assert manifest["tokenizer"][field] == digest


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

    @pytest.mark.figures
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

    @pytest.mark.figures
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
        """Links in a corpus that somebody began: nothing may be written where they lead."""
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
    @pytest.mark.figures
    def test_killed_at_every_step(self, tmp_path, source):
        whole = prepare([str(source)], tmp_path / "whole", options(exact=True), Threads(1))
        command = [sys.executable, HERE / "killed_worker.py", source, tmp_path / "out"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        assert int(done.stdout) > 12
        assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")
        assert len(whole["shards"]) > 4

    @pytest.mark.figures
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
