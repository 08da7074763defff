"""Settings files that are damaged or hostile: one of the project's errors, and none that takes for ever."""

import os
import random
import re
from functools import partial
from itertools import product
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the model extra")

from phonemic_bert.errors import SettingsError
from phonemic_bert.finetuning.settings import Settings as TuningSettings
from phonemic_bert.pretraining.settings import Settings

KINDS = {
    "pretrain": (Settings, "pretraining/presets/mini-sound.toml"),
    "finetune": (TuningSettings, "finetuning/grids/small.toml"),
}
ODD = ["1" * 5000, "[" * 100_000, "-" + "9" * 400, "1e999", "nan", "inf", '"' + "x" * 100_000 + '"', "{a = 1}", "[[1]]", "2026-01-01",
       "true", "[]", '""', '"\\u0000"', "0x" + "f" * 400]  # fmt: skip


@pytest.fixture(params=KINDS)
def kind(request):
    settings, name = KINDS[request.param]
    return settings, (Path(__file__).parents[2] / "model/phonemic_bert" / name).read_text("utf-8")


def tried(load):
    """Loads; anything but the project's error is a failure."""
    try:
        load()
    except SettingsError:
        return True
    return False


@pytest.mark.parametrize("data", [b"\xff\xfe", b"\0", b"a = " + b"[" * 100_000, b"a = " + b"1" * 5000, b"", b"[model]\n", b"a" * 1000, b"=",
                                  b"[" + b"a." * 2000 + b"a]\nb = 1", b"[model]\n[model]\n", b"model = 3\n"])  # fmt: skip
def test_what_is_none(kind, data, tmp_path):
    path = tmp_path / "x.toml"
    path.write_bytes(data)
    with pytest.raises(SettingsError, match=r"x\.toml"):
        kind[0].load(path)


def test_every_field_with_odd_values(kind, tmp_path):
    settings, text = kind
    path, refused = tmp_path / "x.toml", 0
    fields = [match.span(1) for match in re.finditer(r"^\w+ = (.+?)\s*(?:#|$)", text, re.M)]
    assert len(fields) > 10
    for (start, end), odd in product(fields, ODD):
        path.write_text(text[:start] + odd + text[end:], "utf-8")
        refused += tried(partial(settings.load, path))
    assert refused > len(fields)


def test_overrides(kind, tmp_path):
    settings, text = kind
    path = tmp_path / "x.toml"
    path.write_text(text, "utf-8")
    section = re.search(r"^\[(\w+)\]", text, re.M)[1]
    for odd in [*ODD, "=", "", "'", "\0"]:
        for name in (f"{section}.x", "x.y", section, ".", "a.b.c"):
            assert tried(partial(settings.load, path, [f"{name}={odd}"]))


def test_changed_anywhere(kind, tmp_path):
    settings, text = kind
    data, dice, path = text.encode(), random.Random(3), tmp_path / "x.toml"
    for at in dice.sample(range(len(data)), 300):
        for changed in (
            data[:at],
            data[:at] + bytes([dice.randrange(256)]) + data[at + 1 :],
            data[:at] + data[at + 40 :],
        ):
            path.write_bytes(changed)
            tried(partial(settings.load, path))


@pytest.mark.skipif(os.name != "posix", reason="needs FIFOs")
def test_a_fifo(kind, tmp_path):
    os.mkfifo(tmp_path / "x.toml")
    with pytest.raises(SettingsError, match="is a device or a FIFO"):
        kind[0].load(tmp_path / "x.toml")
