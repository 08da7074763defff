"""Settings that are left to the machine, on machines of all sorts."""

import json

import pytest

pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from hypothesis import given
from hypothesis import strategies as st
from pretraining_helpers import EXPECTED_WARNINGS, log, overrides
from rich.console import Console

from phonemic_bert.errors import RunError, SettingsError
from phonemic_bert.pretraining.fitting import AUTO, Computer, fit
from phonemic_bert.pretraining.run import pretrain
from phonemic_bert.pretraining.settings import PRESETS, Settings

computers = st.builds(
    Computer,
    st.booleans(),
    st.integers(1 << 30, 1 << 38),
    st.booleans(),
    st.booleans(),
    st.sampled_from([1, 2, 3, 8]),
)
AUTOS = [
    "optimization.bf16",
    "sequences.attn_implementation",
    "machine.per_device_train_batch_size",
    "machine.dataloader_num_workers",
    "machine.torch_compile",
]


def values(settings):
    return {f"{part}.{name}": value for part, fields in settings.as_dict().items() for name, value in fields.items()}


@given(st.sampled_from(PRESETS), computers, st.sets(st.sampled_from(AUTOS)), st.integers(1, 300))
def test_nothing_is_left_open_and_nothing_else_is_changed(preset, computer, autos, batch):
    given_settings = Settings.load(preset, [f"optimization.batch_size={batch}", *(f"{name}=auto" for name in autos)])
    fitted = fit(given_settings, computer)
    before, after = values(given_settings), values(fitted)
    assert all(after[name] != AUTO for name in AUTOS)
    assert {name for name in after if after[name] != before[name]} <= {name for name in AUTOS if before[name] == AUTO}
    assert Settings.of(fitted.as_dict()) == fitted == fit(fitted, computer)
    if before["machine.per_device_train_batch_size"] == AUTO:
        part = max(batch // computer.processes, 1)
        assert part % after["machine.per_device_train_batch_size"] == 0
    if before["sequences.attn_implementation"] == AUTO:
        assert after["sequences.attn_implementation"] != "eager" or not computer.gpu
    if before["machine.torch_compile"] == AUTO:
        assert computer.compiler or not after["machine.torch_compile"]


@given(computers, st.integers(1, 4))
def test_more_memory_takes_no_fewer_sequences(computer, more):
    settings = Settings.load("small", ["machine.per_device_train_batch_size=auto"])
    larger = Computer(computer.gpu, computer.memory << more, computer.bf16, computer.compiler, computer.processes)
    one, other = (fit(settings, found).machine.per_device_train_batch_size for found in (computer, larger))
    assert one <= other
    assert other == settings.optimization.batch_size // computer.processes or one < 256


def test_what_cannot_be_left_open_is_refused():
    with pytest.raises(SettingsError, match="must be a whole number"):
        Settings.load("mini-sound", ["optimization.max_steps=auto"])
    with pytest.raises(SettingsError, match="must be a true or false"):
        Settings.load("mini-sound", ["optimization.bf16=perhaps"])


@EXPECTED_WARNINGS
def test_a_run_goes_on_as_it_began(corpus, tmp_path, monkeypatch):
    """On a machine of another sort the numbers stay the ones that the run began with; [machine] is found anew."""
    left = [f"{name}=auto" for name in AUTOS]
    settings = Settings.load("paper-tiny", [*overrides(optimization__max_steps=8), *left])
    monkeypatch.setattr(Computer, "here", lambda device: Computer(False, 0, False, False))
    run, quiet = tmp_path / "run", Console(quiet=True)
    pretrain(settings, corpus, run, quiet)
    kept = json.loads((run / "run.json").read_text())["settings"]
    assert (kept["optimization"]["bf16"], kept["sequences"]["attn_implementation"]) == (False, "sdpa")
    assert kept["machine"]["per_device_train_batch_size"] == 8
    monkeypatch.setattr(Computer, "here", lambda device: Computer(False, 0, True, False))
    pretrain(settings, corpus, run, quiet)
    assert len(log(run)) == len(log(run, timed=True)) > 0
    with pytest.raises(RunError, match=r"this run has optimization\.bf16 = False, not True"):
        pretrain(
            Settings.load("paper-tiny", [*overrides(optimization__max_steps=8), "optimization.bf16=true"]), corpus, run
        )
