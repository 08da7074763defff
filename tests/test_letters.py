"""The vector instructions of letters.h, spans.h and buckets.h against its plain C, on the machine that runs the test."""

import ctypes
import random
import shutil
import subprocess
from pathlib import Path

import pytest

HEADER = Path(__file__).parent.parent / "phonemic" / "native" / "letters.h"
SOURCE = """
#include "buckets.h"
#include "letters.h"
#include "spans.h"
uint64_t mask8(const uint8_t *units, size_t count) { return phonemic_mask8(units, count); }
uint64_t mask16(const uint16_t *units, size_t count) { return phonemic_mask16(units, count); }
uint64_t mask32(const uint32_t *units, size_t count) { return phonemic_mask32(units, count); }
void key(const void *from, size_t bytes, size_t readable, uint64_t *words) {
    phonemic_key(from, bytes, readable, words, words + 1);
}
void spans(int32_t *into, int32_t begin, size_t count) { phonemic_unit_spans(into, begin, count); }
uint32_t payload(const uint16_t *buckets, uint32_t key) { return phonemic_payload(buckets, key); }
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


def test_payloads(libraries):
    rng = random.Random(5)
    for _ in range(500):
        keys = rng.sample([0, 1, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF, *rng.sample(range(1 << 16), 8)], 8)
        payloads = [rng.choice([1, 0x7FFF, 0x8000, 0xFFFF, rng.randrange(1 << 16)]) for _ in keys]
        buckets = (ctypes.c_uint16 * 16)(*keys[:4], *payloads[:4], *keys[4:], *payloads[4:])
        for key in [*keys, *rng.sample(range(1 << 16), 8)]:
            expected = payloads[keys.index(key)] if key in keys else 0
            assert [library.payload(buckets, key) for library in libraries] == [expected] * 2


#: Prints what the functions give for bytes that a generator makes, so that two builds can be compared.
PRINTS = r"""
#include <stdio.h>
#include "letters.h"
#include "spans.h"
int main(void) {
    static uint32_t wide[80];
    static uint16_t half[80];
    static uint8_t bytes[160];
    static int32_t room[160];
    uint64_t state = 1, low, high;
    for (int turn = 0; turn < 4000; turn++) {
        for (int at = 0; at < 80; at++) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            wide[at] = (uint32_t)(state >> 40) >> (state >> 60) % 5 * 4;
            half[at] = (uint16_t)wide[at];
            bytes[at] = bytes[at + 80] = (uint8_t)wide[at];
        }
        size_t count = turn % 65, size = turn % 16 + 1;
        phonemic_key(bytes, size, turn % 3 ? 160 : size, &low, &high);
        phonemic_unit_spans(room, turn, count);
        uint64_t sum = 0;
        for (size_t at = 0; at < 2 * count; at++) sum = sum * 31 + (uint32_t)room[at];
        printf("%llx %llx %llx %llx %llx %llx\n", (unsigned long long)phonemic_mask8(bytes, count),
               (unsigned long long)phonemic_mask16(half, count), (unsigned long long)phonemic_mask32(wide, count),
               (unsigned long long)low, (unsigned long long)high, (unsigned long long)sum);
    }
    return 0;
}
"""


def test_arm64(tmp_path):
    """The NEON build, run by an emulator, against this machine's plain C."""
    cross, emulator, native = map(shutil.which, ("aarch64-linux-gnu-gcc", "qemu-aarch64-static", "cc"))
    if not (cross and emulator and native and HEADER.exists()):
        pytest.skip("needs a compiler for arm64 (gcc-aarch64-linux-gnu) and an emulator (qemu-user-static)")
    source = tmp_path / "prints.c"
    source.write_text(PRINTS)
    runs = []
    for compiler, start, options in ((cross, [emulator], ["-static"]), (native, [], ["-DPHONEMIC_PORTABLE"])):
        program = tmp_path / Path(compiler).name
        subprocess.run([compiler, "-O3", f"-I{HEADER.parent}", *options, source, "-o", program], check=True)
        runs.append(subprocess.run([*start, program], check=True, capture_output=True).stdout)
    assert len(runs[0].splitlines()) == 4000
    assert runs[0] == runs[1]
