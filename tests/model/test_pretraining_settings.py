"""Settings: presets, checks, overrides."""

import re
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("transformers", reason="needs the model extra")

from phonemic_bert.errors import SettingsError
from phonemic_bert.pretraining.settings import PRESETS, Settings, preset_text


def documented(text):
    """Each field of a TOML text with its comment, read without the parser that is tested."""
    found, section = {}, None
    for line in text.splitlines():
        if match := re.match(r"\[(\w+)\]", line):
            section = match[1]
        elif match := re.match(r"(\w+) = .*?# (\S.*)$", line):
            found[section, match[1]] = match[2]
    return found


@pytest.mark.parametrize("name", PRESETS)
def test_every_field_is_there_and_explained_alike_in_every_preset(name):
    known = {(section, field.name) for section, kind in get_type_hints(Settings).items() for field in fields(kind)}
    assert documented(preset_text(name)).keys() == known
    assert documented(preset_text(name)) == documented(preset_text("paper-tiny"))


@pytest.mark.parametrize(("name", "layers"), [("paper-6", 6), ("paper-12", 12)])
def test_the_papers_table(name, layers):
    """Table 1 of the paper, and 1 % warm-up, 15 % masking."""
    settings = Settings.load(name)
    model, optimization = settings.model, settings.optimization
    assert (model.num_hidden_layers, model.hidden_size, model.num_attention_heads) == (layers, 768, 12)
    assert (model.intermediate_size, settings.sequences.max_seq_length, optimization.batch_size) == (3072, 512, 256)
    assert (optimization.learning_rate, optimization.max_steps, optimization.warmup_ratio) == (5e-4, 1_000_000, 0.01)
    assert (settings.masking.mlm_probability, settings.masking.replacement) == (0.15, "mask")


@pytest.mark.parametrize("name", PRESETS)
def test_plain_values_and_back(name):
    settings = Settings.load(name)
    assert Settings.of(settings.as_dict()) == settings


@pytest.mark.parametrize(
    ("override", "message"),
    [
        (
            "optimization.learning_rte=1",
            r"\[optimization\] unknown field 'learning_rte': did you mean 'learning_rate'\?",
        ),
        ("optimisation.steps=1", "unknown section 'optimisation': did you mean 'optimization'"),
        ("machine.zzz=1", "unknown field 'zzz': there are per_device_train_batch_size, dataloader_num_workers"),
        ("optimization.max_steps=1.5", r"steps = 1\.5: this must be a whole number"),
        ("optimization.max_steps=true", "steps = True: this must be a whole number"),
        ("output.tensorboard=1", "tensorboard = 1: this must be a true or false"),
        ("optimization.max_steps=0", r"optimization\.max_steps = 0: this must be at least 1"),
        ("masking.mlm_probability=1", r"masking\.mlm_probability = 1\.0: this must be at least 1e-09 and below 1"),
        ("model.hidden_dropout_prob=nan", "finite"),
        ("optimization.learning_rate=inf", "finite"),
        ("model.hidden_size=100", "multiple of model.num_attention_heads"),
        ("model.form_dropout=-0.1", r"form_dropout = -0\.1: this must be at least 0"),
        ("model.form_noise=1.1", "form_dropout and model.form_noise must be at most 1 together"),
        ("model.lang=en", "choose one of 'vi', 'zh', 'any'"),
        ("steps=3", "an override is section.field=value"),
        ("optimization.max_steps", "an override is section.field=value"),
    ],
)
def test_what_is_wrong_is_named(override, message):
    with pytest.raises(SettingsError, match=message):
        Settings.load("paper-12", [override])


def test_files(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(preset_text("paper-tiny").replace("max_steps = 5000", "max_steps = 7"))
    assert Settings.load(path).optimization.max_steps == 7
    assert Settings.load(str(path), ["model.lang=zh", 'machine.cache_dir = "a b"']).machine.cache_dir == "a b"
    path.write_text(preset_text("paper-tiny").replace("seed = 0", "#"))
    with pytest.raises(SettingsError, match=r"mine\.toml: \[optimization\] field 'seed' is missing"):
        Settings.load(path)
    path.write_text("[model\n")
    with pytest.raises(SettingsError, match=r"mine\.toml: not a TOML file"):
        Settings.load(path)
    path.write_text("model = 1\n")
    with pytest.raises(SettingsError, match=r"missing|is a section"):
        Settings.load(path)
    with pytest.raises(SettingsError, match="neither a file nor a preset; the presets are micro, mini-sound, mini-vi"):
        Settings.load("huge")
    with pytest.raises(SettingsError, match="unknown preset 'huge'"):
        preset_text("huge")


def test_the_page_tells_the_presets(tiny):
    """docs/reference/settings.md has the presets as they are, with the parameters of their models."""
    from phonemic_bert import PhonemicBertConfig
    from phonemic_bert.parameters import count_parameters, totals
    from phonemic_bert.shapes import CHOICES, NUMBERS

    page = (Path(__file__).parents[2] / "docs" / "reference" / "settings.md").read_text("utf-8")
    rows = {
        row[0].strip(" `"): [cell.strip() for cell in row[1:]]
        for row in (line.split("|")[1:-1] for line in page.splitlines())
        if len(row) == 6
    }
    for name in PRESETS:
        settings = Settings.load(name)
        model, optimization = settings.model, settings.optimization
        langs = ["vi", "zh"] if model.lang == "any" else [model.lang]
        shape = {"num_hidden_layers": model.num_hidden_layers, "hidden_size": model.hidden_size}
        shape |= {"num_attention_heads": model.num_attention_heads, "intermediate_size": model.intermediate_size}
        shape |= {name: getattr(model, name) for name in (*CHOICES, *NUMBERS)}
        encoder = PhonemicBertConfig.from_preset(name, langs[0])
        assert {field: getattr(encoder, field) for field in shape} == shape
        shape["max_position_embeddings"] = settings.sequences.max_seq_length
        parts = [count_parameters(PhonemicBertConfig(lang, **shape)) for lang in langs]
        counts = [totals(one)["encoder with heads (for pretraining)"] / 1e6 for one in parts]
        assert rows[name] == [
            f"{model.num_hidden_layers} x {model.hidden_size}",
            ", ".join(dict.fromkeys(f"{count:.1f}M" for count in counts)),
            f"{optimization.batch_size} x {settings.sequences.max_seq_length}",
            f"{optimization.max_steps:,}",
            f"{optimization.learning_rate:.0e}".replace("e-0", "e-"),
        ]


@given(st.text(max_size=30), st.text(max_size=10))
def test_any_override_is_taken_or_refused_by_name(name, value):
    with suppress(SettingsError):  # and raises nothing else
        assert isinstance(Settings.load("paper-tiny", [f"{name}={value}"]), Settings)
