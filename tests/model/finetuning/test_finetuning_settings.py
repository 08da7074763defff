"""The settings of fine-tuning: grids, checks, overrides, parts for single tasks."""

import re
from dataclasses import fields
from typing import get_type_hints

import pytest

pytest.importorskip("transformers", reason="needs the model extra")

from phonemic import tasks
from phonemic_bert.errors import SettingsError
from phonemic_bert.finetuning.settings import GRIDS, GridPoint, Settings, grid_text


def documented(text):
    """Each field of the four sections with its comment, read without the parser that is tested."""
    found, section = {}, None
    for line in text.splitlines():
        if match := re.match(r"\[([\w.]+)\]", line):
            section = match[1]
        elif (match := re.match(r"(\w+) = .*?# (\S.*)$", line)) and "." not in section:
            found[section, match[1]] = match[2]
    return found


@pytest.mark.parametrize("name", GRIDS)
def test_every_field_is_there_and_explained_alike_in_every_grid(name):
    known = {(section, field.name) for section, kind in get_type_hints(Settings).items() for field in fields(kind)}
    assert documented(grid_text(name)).keys() == known
    assert documented(grid_text(name)) == documented(grid_text("base"))


@pytest.mark.parametrize("name", GRIDS)
def test_parts_are_for_tasks_that_there_are(name):
    named = re.findall(r"^\[tasks\.([\w-]+)\.", grid_text(name), re.MULTILINE)
    assert named
    assert set(named) <= set(tasks.names())


def test_the_usual_grid():
    settings = Settings.load("base")
    assert settings.points() == [GridPoint(rate, 32, 5) for rate in (1e-5, 2e-5, 3e-5, 5e-5)]
    assert Settings.of(settings.as_dict()) == settings


def test_a_tasks_part_wins_over_the_sections_and_overrides_over_both(tmp_path):
    assert Settings.load("base", task="tnews").text.max_seq_length == 256
    assert Settings.load("base", task="c3").text.max_seq_length == 512
    assert Settings.load("base", task="c3").text.stride == Settings.load("base").text.stride
    assert Settings.load("base", ["text.max_seq_length=64"], "c3").text.max_seq_length == 64
    path = tmp_path / "mine.toml"
    path.write_text(grid_text("small") + "\n[tasks.ocnli.optimization]\nearly_stopping_patience = 7\n")
    assert Settings.load(path, task="ocnli").optimization.early_stopping_patience == 7
    assert Settings.load(path, task="afqmc").optimization.early_stopping_patience == 3


def test_an_override_need_not_fit_another_task():
    """C3 has per_device_train_batch_size = 8, of which 12 is not a multiple."""
    assert Settings.load("base", ["grid.batch_size=12"], "tnews").grid.batch_size == (12,)
    with pytest.raises(SettingsError, match=r"\[tasks\.c3\]: grid\.batch_size = 12 must be a multiple"):
        Settings.load("base", ["grid.batch_size=12"], "c3")


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("optimization.warmpu=1", r"small: \[optimization\] unknown field 'warmpu': did you mean 'warmup_ratio'\?"),
        ("optimisation.warmup=1", "unknown section 'optimisation': did you mean 'optimization'"),
        ("grid.num_train_epochs=1.5", r"\[grid\] num_train_epochs = 1\.5: this must be a whole number"),
        ("grid.num_train_epochs=[1, true]", r"\[grid\] num_train_epochs = True: this must be a whole number"),
        ("grid.learning_rate=[]", r"learning_rate = \[\]: this must be a number, or a list of them"),
        ("grid.learning_rate=[1e-5, -1]", r"grid\.learning_rate = -1\.0: this must be at least 0"),
        ("grid.batch_size=48", r"batch_size = 48 must be a multiple of machine\.per_device_train_batch_size"),
        ("optimization.dropout=1", "at least 0 and below 1"),
        ("machine.device=gpu", "choose one of 'auto', 'cpu'"),
        ("text.max_seq_length", "an override is section.field=value"),
    ],
)
def test_what_is_wrong_is_named(override, message):
    with pytest.raises(SettingsError, match=message):
        Settings.load("small", [override])


def test_what_is_missing_is_named(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(grid_text("small").replace("early_stopping_patience = 3 ", "#"))
    with pytest.raises(
        SettingsError, match=r"\[optimization\] field 'early_stopping_patience' is missing; copy it from a preset"
    ):
        Settings.load(path)
    path.write_text(grid_text("small") + "\n[tasks.ocnli.text]\nmax_lenght = 7\n")
    with pytest.raises(SettingsError, match=r"\[tasks\.ocnli\]: \[text\] unknown field 'max_lenght'"):
        Settings.load(path, task="tnews")
    with pytest.raises(SettingsError, match="neither a file nor a grid; the grids are base, small"):
        Settings.load("bsae")
    with pytest.raises(SettingsError, match="unknown grid 'bsae': choose one of base, small"):
        grid_text("bsae")
