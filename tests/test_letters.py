"""The vector instructions of letters.h and spans.h against its plain C, on the machine that runs the test."""

import ctypes
import random
import shutil
import subprocess
from pathlib import Path

import pytest

HEADER = Path(__file__).parent.parent / "phonemic" / "letters.h"
SOURCE = """
#include "letters.h"
#include "spans.h"
uint64_t mask8(const uint8_t *units, size_t count) { return phonemic_mask8(units, count); }
uint64_t mask16(const uint16_t *units, size_t count) { return phonemic_mask16(units, count); }
uint64_t mask32(const uint32_t *units, size_t count) { return phonemic_mask32(units, count); }
void key(const void *from, size_t bytes, size_t readable, uint64_t *words) {
    phonemic_key(from, bytes, readable, words, words + 1);
}
void spans(int32_t *into, int32_t begin, size_t count) { phonemic_unit_spans(into, begin, count); }
"""
EDGES = [0, 1, 32, 47, 48, 57, 64, 65, 90, 91, 96, 97, 122, 123, 126, 127, 128, 160, 193, 225, 255]
WIDE = [0x100, 0x141, 0x161, 0x17F, 0x1EA1, 0x7FFF, 0x8000, 0x8041, 0xFF41, 0xFF80, 0xFFFF]
ASTRAL = [0x10000, 0x10041, 0x1F600, 0x10FFFF]


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    compiler = shutil.which("cc")
    if not compiler or not HEADER.exists():
        pytest.skip("needs a C compiler and the source tree")
    folder = tmp_path_factory.mktemp("letters")
    (folder / "letters.c").write_text(SOURCE)
    loaded = []
    for name, define in (("vector", []), ("plain", ["-DPHONEMIC_PORTABLE"])):
        target = folder / f"{name}.so"
        options = ["-O2", "-shared", "-fPIC", f"-I{HEADER.parent}", *define]
        subprocess.run([compiler, *options, str(folder / "letters.c"), "-o", str(target)], check=True)
        loaded.append(ctypes.CDLL(str(target)))
    return loaded


@pytest.mark.parametrize(
    ("name", "unit", "values"),
    [
        ("mask8", ctypes.c_uint8, EDGES),
        ("mask16", ctypes.c_uint16, EDGES + WIDE),
        ("mask32", ctypes.c_uint32, EDGES + WIDE + ASTRAL),
    ],
)
def test_masks(libraries, name, unit, values):
    rng = random.Random(name)
    for count in [*range(65), *[64] * 200]:
        units = (unit * count)(*rng.choices(values, k=count))
        expected = sum((value > 127 or chr(value).isalpha()) << at for at, value in enumerate(units))
        for library in libraries:
            mask = getattr(library, name)
            mask.restype = ctypes.c_uint64
            assert mask(units, ctypes.c_size_t(count)) == expected


def test_key(libraries):
    text = bytes(range(1, 33))
    for library in libraries:
        for size in range(1, 17):
            for readable in {size, 16, 32}:
                words = (ctypes.c_uint64 * 2)()
                library.key(text, ctypes.c_size_t(size), ctypes.c_size_t(readable), words)
                assert bytes(words) == text[:size] + bytes(16 - size)


def test_spans(libraries):
    for library in libraries:
        for count in range(70):
            room = (ctypes.c_int32 * 144)(*[-1] * 144)
            library.spans(room, 7, ctypes.c_size_t(count))
            assert list(room)[: 2 * count] == [number for at in range(7, 7 + count) for number in (at, at + 1)]
            assert set(list(room)[2 * count + 2 :]) == {-1}  # one span more at most
