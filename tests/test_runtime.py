"""Threads, fork, leaks, large inputs, damaged tables, and what an import costs."""

import contextlib
import ctypes
import gc
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

from phonemic import TableError, Tokenizer
from phonemic.characters import DATA
from phonemic.lexicon.tables import read_tables, write_tables

TEXTS = {
    "vi": ["Tôi yêu tiếng Việt.", "giếng nước COVID-19 🎉", "", "hòang hôn \u200b" * 50] * 200,
    "zh": ["银行行长在重庆", "不了了之，abc", "", "音樂" * 50] * 200,
}


@pytest.mark.parametrize("lang", TEXTS)
def test_eight_threads_give_what_one_gives(lang):
    tokenizer = Tokenizer(lang)
    slices = [TEXTS[lang][shift:] + TEXTS[lang][:shift] for shift in range(8)]
    alone = [tokenizer.encode_batch(texts, spans=True) for texts in slices]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda texts: tokenizer.encode_batch(texts, spans=True), slices * 4))
    for number, batch in enumerate(together):
        assert np.array_equal(batch.ids, alone[number % 8].ids)
        assert np.array_equal(batch.spans, alone[number % 8].spans)
        assert np.array_equal(batch.offsets, alone[number % 8].offsets)


def test_what_one_batch_remembers_leaves_the_next_one_right():
    pyarrow = pytest.importorskip("pyarrow", reason="reads UTF-8 batches")
    from phonemic import arrow

    words = ["giếng", "quốc", "hoàng", "Việt", "Tôi", "ban", "nghiêng", "yêu", "khuya", "xyz", "covid", "đuờng"]
    draw = random.Random(1)
    made = ["".join(draw.choices("bcdghiknotuvươậếạ", k=draw.randint(1, 7))) for _ in range(30_000)]
    tokenizer = Tokenizer("vi")
    for number in range(8):
        kind = draw.choice([str, str.upper, partial(unicodedata.normalize, "NFD")])
        texts = [kind(" ".join(draw.choices(made if number % 3 else words, k=20))) for _ in range(400)]
        alone = [tokenizer.encode(text) for text in texts]
        batch = tokenizer.encode_batch(texts, spans=number % 2 == 0, num_threads=1 + number % 3)
        assert batch.ids.tolist() == [packed for one in alone for packed in one.ids.tolist()]
        columns = arrow.encode(pyarrow.array(texts), tokenizer)
        assert columns.to_pylist() == [one.ids.tolist() for one in alone]


def _ids(tokenizer):
    return tokenizer.encode_batch(TEXTS[tokenizer.lang], num_threads=2).ids.tolist()


@pytest.mark.parametrize("method", sorted({"fork", "spawn"} & set(multiprocessing.get_all_start_methods())))
@pytest.mark.parametrize("lang", TEXTS)
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_other_processes(lang, method):
    tokenizer = Tokenizer(lang)
    # A test before may have left a handler that a forked process would inherit, and that does not end it.
    reset = {"initializer": signal.signal, "initargs": (signal.SIGTERM, signal.SIG_DFL)}
    with multiprocessing.get_context(method).Pool(2, **reset) as pool:
        assert pool.map(_ids, [tokenizer] * 2) == [_ids(tokenizer)] * 2


def test_a_list_that_shrinks_meanwhile_is_an_error_not_a_crash():
    """The list is read in blocks; another thread may cut it between two of them."""

    texts = ["giếng"] * 5000
    tokenizer = Tokenizer("vi")
    with ThreadPoolExecutor(2) as pool:
        job = pool.submit(lambda: [tokenizer.encode_batch(texts) for _ in range(50)])
        while not job.done() and len(texts) > 10:
            del texts[-10:]
        with contextlib.suppress(IndexError):
            assert len(job.result()) == 50


def test_one_run_of_letters_of_20_mb():
    """No syllable, so every letter is a position; two passes over the run, not more."""
    line = "tiếng" * (20_000_000 // len("tiếng".encode()))
    encoding = Tokenizer("vi").encode(line)
    assert len(encoding) == len(line)
    assert encoding.spans[-1].tolist() == [len(line) - 1, len(line)]
    assert set(encoding[:50].tokens) == {"t", "i", "ê", "n", "g"}


class _Mallinfo(ctypes.Structure):
    """Statistics of glibc's malloc; see mallinfo2(3)."""

    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks",
                                                     "fsmblks", "uordblks", "fordblks", "keepcost")]  # fmt: skip


def in_use():
    """Bytes that malloc gave and did not get back; not what the system has given, which depends on much else."""
    try:
        mallinfo = ctypes.CDLL(None).mallinfo2
    except (AttributeError, OSError, TypeError):
        pytest.skip("needs glibc 2.33, to ask malloc")
    mallinfo.restype = _Mallinfo
    gc.collect()
    found = mallinfo()
    return found.uordblks + found.hblkhd


@pytest.mark.parametrize("lang", TEXTS)
def test_no_leak(lang):
    """``benchmarks/speed.py --only memory`` measures what the process has."""
    tokenizer = Tokenizer(lang)
    text, texts = TEXTS[lang][1], TEXTS[lang][:4]

    def calls(count):
        for _ in range(count):
            tokenizer.encode(text)
            tokenizer.encode_batch(texts, spans=True, word_ids=True)
            with pytest.raises(TypeError):
                tokenizer.encode_batch(["a", None])

    calls(100)
    before = in_use()
    calls(5000)
    assert in_use() - before < 5000 * 8  # the smallest array has more


@pytest.mark.parametrize(("lang", "unit"), [("vi", "tiếng "), ("zh", "银行")])
def test_one_line_of_200_mb(lang, unit):
    tokenizer = Tokenizer(lang)
    line = unit * (200_000_000 // len(unit.encode()))
    encoding = tokenizer.encode(line)
    positions = len(line) // len(unit) if unit[-1] == " " else len(line)
    assert len(encoding) == positions
    assert line[slice(*encoding.spans[-1])] == ("tiếng" if lang == "vi" else "行")
    assert encoding.spans[-1, 1] == len(line.rstrip())


def test_a_damaged_table_is_refused(tmp_path):
    checksum = Tokenizer("vi").vocab.checksum
    path = tmp_path / "tables-vi.bin"
    good = (DATA / "tables-vi.bin").read_bytes()
    path.write_bytes(good)
    assert read_tables(path, checksum).keys() == read_tables(DATA / "tables-vi.bin", checksum).keys()
    for damaged in (
        b"",
        good[:50],
        good[:-1],
        b"x" + good[1:],
        good[:-100] + b"\xff" + good[-99:],
        good[:21] + b"!" + good[22:],
    ):
        path.write_bytes(damaged)
        with pytest.raises(TableError, match="reinstall phonemic"):
            read_tables(path, checksum)
    path.write_bytes(good)
    with pytest.raises(TableError, match="another vocabulary"):
        read_tables(path, "0" * 8)
    with pytest.raises(TableError, match="cannot read"):
        read_tables(tmp_path / "none.bin", checksum)


def test_tables_come_back_as_they_were_written(tmp_path):
    arrays = {
        "bytes": np.arange(5, dtype=np.uint8),
        "none": np.zeros(0, np.int32),
        "wide": np.arange(6, dtype=np.uint64),
    }
    write_tables(tmp_path / "t.bin", "v" * 8, arrays)
    back = read_tables(tmp_path / "t.bin", "v" * 8)
    assert back.keys() == arrays.keys()
    for name, array in arrays.items():
        assert back[name].dtype == array.dtype
        assert back[name].tolist() == array.tolist()
        assert not back[name].flags.writeable
    assert os.listdir(tmp_path) == ["t.bin"]


def python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_import_loads_numpy_and_nothing_heavier():
    loaded = python(
        "import sys, numpy; a = set(sys.modules); import phonemic; phonemic.Tokenizer('zh').encode('银行')\n"
        "print(*sorted({name.split('.')[0] for name in set(sys.modules) - a}))"
    ).split()
    outside = set(loaded) - set(sys.stdlib_module_names) - {"phonemic", "numpy"}
    assert {name for name in outside if not name.startswith("_cython")} <= {"cython_runtime"}
    assert not {"asyncio", "multiprocessing", "http", "email", "xml"} & set(loaded)
