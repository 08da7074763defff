"""The engine Ray makes the bytes that threads make; another engine may finish what one began. Needs ray."""

import gzip
import os

import pyarrow.parquet as pq
import pytest
from corpus_helpers import files_of

ray = pytest.importorskip("ray", reason='needs the extra ray: pip install "phonemic[ray]"')

from phonemic import InputError, Tokenizer
from phonemic.corpus import Options, Ray, Threads, prepare

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:.*:UserWarning"),
]


@pytest.fixture(scope="module", autouse=True)
def workers():
    """A small Ray of this machine."""
    os.environ["RAY_DATA_DISABLE_PROGRESS_BARS"] = "1"
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
    yield
    ray.shutdown()


@pytest.fixture
def folder(tmp_path, lines):
    """Inputs of several formats."""
    path = tmp_path / "in"
    path.mkdir()
    (path / "a.txt").write_text("\n".join(lines("vi", 80)) + "\n", "utf-8")
    (path / "b.gz").write_bytes(gzip.compress("\n".join(lines("vi", 60, seed=3)).encode()))
    return path


def options(**changed):
    return Options(Tokenizer("vi"), **{"shard_bytes": 3000, "exact": True, **changed})


def test_same_bytes_and_either_engine_goes_on(tmp_path, folder, monkeypatch):
    prepare([str(folder)], tmp_path / "threads", options(), Threads(2))
    seen = []
    prepare(
        [str(folder)], tmp_path / "ray", options(), Ray(), lambda phase, read, total: seen.append((phase, read, total))
    )
    assert files_of(tmp_path / "ray") == files_of(tmp_path / "threads")
    sizes = sum(path.stat().st_size for path in folder.iterdir())
    for phase in ("comparing", "tokenizing", "checksums"):
        assert sum(read for name, read, _ in seen if name == phase) == pytest.approx(sizes, rel=0.01)
    with monkeypatch.context() as patch:
        calls = [3]
        write = pq.ParquetWriter.write_table

        def failing(*args, **named):
            calls[0] -= 1
            if calls[0] < 0:
                raise OSError(5, "a wire was cut")
            return write(*args, **named)

        patch.setattr(pq.ParquetWriter, "write_table", failing)
        with pytest.raises(OSError, match="a wire was cut"):
            prepare([str(folder)], tmp_path / "both", options(), Threads(1))
    prepare([str(folder)], tmp_path / "both", options(), Ray())
    assert files_of(tmp_path / "both") == files_of(tmp_path / "threads")


def test_damage_comes_back_as_our_error(tmp_path, folder):
    (folder / "c.txt").write_bytes(b"ba\n\xff\n")
    with pytest.raises(InputError, match=r"c\.txt, byte 3 of the file: not UTF-8"):
        prepare([str(folder)], tmp_path / "out", options(exact=False), Ray())
    manifest = prepare([str(folder)], tmp_path / "going", options(keep_going=True, exact=False), Ray())
    assert ["damaged" in source for source in manifest["sources"]] == [False, False, True]


def test_workers_import_no_torch(tmp_path, folder):
    @ray.remote
    def modules():
        import sys

        import phonemic.corpus  # noqa: F401

        return sorted(name for name in ("torch", "transformers", "phonemic_bert") if name in sys.modules)

    assert ray.get(modules.remote()) == []


def test_map_batches(tmp_path, lines):
    import pyarrow as pa

    from phonemic import arrow

    texts = [*lines("vi", 60), None]
    vi = Tokenizer("vi")
    data = ray.data.from_arrow(pa.table({"number": range(len(texts)), "text": texts})).repartition(3)
    encoded = data.map_batches(arrow.encode, fn_kwargs={"tokenizer": vi}, batch_format="pyarrow")
    rows = sorted(
        (row for table in ray.get(encoded.to_arrow_refs()) for row in table.to_pylist()), key=lambda row: row["number"]
    )
    assert [row["ids"] for row in rows] == [None if text is None else vi.encode(text).ids.tolist() for text in texts]
