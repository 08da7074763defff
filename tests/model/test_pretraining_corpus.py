"""Reading prepared corpora: unfolding, what is damaged, what is of another version, a full disk."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("transformers", reason="needs the model extra")
pytest.importorskip("pyarrow", reason="needs the arrow extra")

from corpora import character_corpus, phonemic_corpus, write_corpus

from phonemic import InputError, Tokenizer
from phonemic.corpus import open_corpus
from phonemic_bert.errors import CorpusError
from phonemic_bert.pretraining.flat import FlatCorpus


@pytest.fixture
def folder(tmp_path, vi_lines):
    return phonemic_corpus(tmp_path / "corpus", vi_lines, shards=3)


def read(folder, *args, **kwargs):
    return FlatCorpus(open_corpus(folder), *args, **kwargs)


def change(folder, **fields):
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["tokenizer"] |= fields
    path.write_text(json.dumps(manifest))


def test_documents_come_back(tmp_path, vi_lines):
    lines = ["", *vi_lines, "  "]
    folder = phonemic_corpus(tmp_path / "corpus", lines, repeat=1, shards=3)
    progress = []
    corpus = read(folder, advance=lambda done, total: progress.append((done, total)))
    again = read(folder, advance=lambda done, total: pytest.fail("unfolded twice"))
    random = np.random.default_rng(0)
    texts = [" ".join(random.permutation(line.split()).tolist()) for line in lines]
    for opened in (corpus, again):
        assert len(opened) == len(lines)
        for row, text in enumerate(texts):
            ids = opened.ids[opened.offsets[row] : opened.offsets[row + 1]]
            assert ids.tolist() == Tokenizer("vi").encode(text).ids.tolist()
            assert opened.characters[row] == len(text.replace(" ", ""))
    assert sum(done for done, _ in progress) == progress[0][1] == len(corpus.ids)
    assert corpus.symbols.make_tokenizer().lang == "vi"
    held = corpus.held_out(5)
    assert len(set(held.tolist())) == 5
    assert set(np.diff(held).tolist()) <= {len(lines) // 5, len(lines) // 5 + 1}
    assert len(corpus.held_out(10**6)) == len(lines) // 2
    assert corpus.held_out(0).tolist() == []


def test_a_cache_folder(folder, tmp_path):
    read(folder, tmp_path / "cache" / "here")
    assert not list(folder.glob("flat-*"))
    assert len(list((tmp_path / "cache" / "here").iterdir())) == 1


def test_a_damaged_shard_is_named(folder):
    path = folder / "shard-00001.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(CorpusError, match=r"shard-00001\.parquet: damaged shard, its SHA-256 is not the manifest's"):
        read(folder)
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match=r"shard-00001\.parquet: damaged"):
        read(folder)
    path.unlink()
    with pytest.raises(InputError, match=r"shard-00001\.parquet: missing"):
        read(folder)
    assert not list(folder.glob("flat-*"))


def test_damaged_flat_arrays_are_named(folder):
    read(folder)
    [flat] = folder.glob("flat-*")
    path = flat / "ids.bin"
    data = path.read_bytes()
    path.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    with pytest.raises(CorpusError, match=r"ids\.bin: damaged; remove the folder"):
        read(folder)
    path.unlink()
    with pytest.raises(CorpusError, match=r"damaged .*remove the folder"):
        read(folder)
    shutil.rmtree(flat)
    read(folder)
    assert path.read_bytes() == data


@pytest.mark.parametrize("field", ["version", "vocabulary", "tables"])
def test_another_tokenizer_version_is_refused(folder, field):
    change(folder, **{field: "0.0.1"})
    with pytest.raises(
        CorpusError, match=rf"tokenized by phonemic .*\({field} 0\.0\.1\), but phonemic .* is installed"
    ):
        read(folder)


def test_wrong_manifests(folder, tmp_path):
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    for tokenizer, message in (
        ({"name": "character"}, "vocab_size is missing"),
        ({"name": "phonemic", "lang": "en"}, r"cannot be made .*'en'"),
    ):
        path.write_text(json.dumps({**manifest, "tokenizer": tokenizer}))
        with pytest.raises(CorpusError, match=message):
            read(folder)
    manifest["shards"][0]["rows"] += 1
    path.write_text(json.dumps(manifest))
    with pytest.raises(InputError, match=r"shard-00000\.parquet: not the file that manifest\.json describes"):
        read(folder)
    assert not list(folder.glob("flat-*"))


def test_ids_of_another_tokenizer(tmp_path, vi_lines):
    corpus = read(character_corpus(tmp_path / "good", vi_lines))
    assert (corpus.symbols.shift, corpus.symbols.mask) == (4, 3)
    described = {"name": "character", "vocab_size": 3, "id_count": 3}
    for wrong in ([0, 3], [-1, 2]):
        folder = write_corpus(tmp_path / str(wrong), [np.array(wrong)], [2], described, shards=1)
        with pytest.raises(CorpusError, match=r"shard-00000\.parquet: it holds ids from .* but the tokenizer has 3"):
            read(folder)


@pytest.mark.parametrize("one", [-1, 2**31 - 1, 2**24, 0x01FF0101, 5, 0x040405, 7 | 8 << 8])
def test_ids_that_are_not_a_position(folder, tmp_path, one):
    """They are found before anything is learned from them, whoever vouches for them."""
    described = json.loads((folder / "manifest.json").read_text())["tokenizer"]
    good = 5 | 7 << 8 | 5 << 16
    assert len(read(write_corpus(tmp_path / "good", [np.array([good, 0x010101])], [2], described, shards=1))) == 1
    wrong = write_corpus(tmp_path / "wrong", [np.array([good, one])], [2], described, shards=1)
    with pytest.raises(CorpusError, match=r"shard-00000\.parquet: it holds .*(the tokenizer has 256|not a position)"):
        read(wrong)


FULL = """
import errno, sys
from pathlib import Path
from phonemic_bert.pretraining.flat import FlatCorpus
from phonemic.corpus import open_corpus
try:
    FlatCorpus(open_corpus(sys.argv[1]), sys.argv[2])
except OSError as error:
    assert error.errno == errno.ENOSPC and error.filename, error
    assert list(Path(sys.argv[2]).iterdir()) == []
    print("full")
"""


def on_small_disk(folder: Path, size: str, *command: str) -> subprocess.CompletedProcess:
    """Runs a command with a small disk mounted at a folder, in a mount namespace of its own."""
    folder.mkdir(exist_ok=True)
    mount = f'mount -t tmpfs -o size={size} tmpfs "{folder}" || exit 99; exec "$@"'
    if sys.platform != "linux" or shutil.which("unshare") is None:
        pytest.skip("needs Linux's unshare")
    found = subprocess.run(
        ["unshare", "-Urm", "sh", "-c", mount, "sh", *command], capture_output=True, text=True, check=False
    )
    if found.returncode == 99 or "unshare failed" in found.stderr:
        pytest.skip("needs the right to mount a tmpfs")
    return found


def test_a_full_disk_while_unfolding(tmp_path, vi_lines):
    folder = phonemic_corpus(tmp_path / "corpus", vi_lines, repeat=40)
    found = on_small_disk(tmp_path / "disk", "16k", sys.executable, "-c", FULL, str(folder), str(tmp_path / "disk"))
    assert found.stdout == "full\n", found.stderr
    assert os.listdir(tmp_path / "disk") == []
