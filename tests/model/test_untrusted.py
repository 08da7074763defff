"""Checkpoints that were forged: nothing that their files name is run, read or made, whatever loads them."""

import json
import pickle
import re
import shutil
import struct
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from transformers import AutoModelForMaskedLM, AutoTokenizer

from phonemic import PhonemicError
from phonemic_bert import CheckpointError, PhonemicBertConfig, PhonemicBertForMaskedLM, PhonemicBertTokenizer
from phonemic_bert.finetuning.encoders import load_encoder
from phonemic_bert.inspection.loading import load
from phonemic_bert.untrusted import SIZES, check_folder, loading


@pytest.fixture
def folder(tiny, tmp_path):
    """A checkpoint, and next to it one that nothing may lead to."""
    made = tmp_path / "made"
    PhonemicBertForMaskedLM(tiny()).save_pretrained(made)
    PhonemicBertTokenizer("vi").save_pretrained(made)
    shutil.copytree(made, tmp_path / "outside")
    return made


def change(path, **fields):
    path.write_text(json.dumps((json.loads(path.read_text()) if path.exists() else {}) | fields))


OURS = (PhonemicBertForMaskedLM.from_pretrained, load, load_encoder)


def refused(folder, match, uses=(*OURS, AutoModelForMaskedLM.from_pretrained)):
    for use in uses:
        with pytest.raises(CheckpointError, match=match) as error:
            use(folder)
        assert str(folder) in str(error.value)


@pytest.mark.parametrize("name", ["attn_implementation", "_attn_implementation", "experts_implementation"])
@pytest.mark.parametrize("value", ["kernels-community/flash-attn", "someone/code@main:f", {"": "a/b"}, {"x": "a/b"}, 5])
def test_no_kernel_is_named(folder, name, value):
    """transformers would download and run it."""
    change(folder / "config.json", **{name: value})
    refused(folder, f"config.json: {name} is .*: a checkpoint must not name code to run")


@pytest.mark.parametrize("value", ["../outside/model.safetensors", "/x.safetensors", "..", "", 5, "a\\b", "C:x"])
def test_no_weights_from_elsewhere(folder, value):
    config = (folder / "config.json").read_bytes()
    change(folder / "config.json", transformers_weights=value)
    refused(folder, "cannot be the name of a file of this folder")
    (folder / "config.json").write_bytes(config)
    (folder / "model.safetensors").unlink()
    change(
        folder / "model.safetensors.index.json", metadata={}, weight_map={"bert.embeddings.projection.weight": value}
    )
    refused(folder, "cannot be the name of a file of this folder")


def test_no_other_checkpoint_by_an_adapter(folder):
    change(folder / "adapter_config.json", base_model_name_or_path=str(folder.parent / "outside"), peft_type="LORA")
    refused(folder, "holds an adapter, which names another checkpoint")


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("value", [10**9, 2**63, 10**30, -1, 2.5, "768", True, [1]])
def test_numbers_out_of_proportion(folder, name, value):
    """A thousand million layers would be made one by one."""
    change(folder / "config.json", **{name: value})
    with pytest.raises(CheckpointError, match=f"config.json: {name} is .*, not a number from 0 to"):
        check_folder(folder)


LARGER = "describes a model of about [0-9,]+ parameters, but its weights have [0-9,]+ bytes"


@pytest.mark.parametrize(
    ("name", "value"), [("hidden_size", 60_000), ("intermediate_size", 1 << 20), ("num_hidden_layers", 4000)]
)
def test_models_larger_than_their_weights(folder, name, value):
    change(folder / "config.json", **{name: value})
    refused(folder, LARGER)


def test_more_labels_than_weights(folder):
    change(folder / "config.json", id2label={str(at): "x" for at in range(1_000_000)})
    refused(folder, LARGER)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"5", b"null", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 100_000])
def test_a_configuration_that_is_none(folder, content):
    (folder / "config.json").write_bytes(content)
    refused(folder, "config.json: (is not JSON|a JSON object is expected)", OURS)  # Auto classes read it before we can


@pytest.mark.parametrize(
    "content",
    [b"", b"\0" * 8, b"\xff" * 8, b"\0" * 100, struct.pack("<Q", 2) + b"{}", struct.pack("<Q", 9) + b'{"a":[1]}'],
)
def test_weights_that_are_none(folder, content):
    (folder / "model.safetensors").write_bytes(content)
    for use in (PhonemicBertForMaskedLM.from_pretrained, load):
        with pytest.raises((CheckpointError, OSError)) as error:
            use(folder)
        assert str(folder) in str(error.value)


class Evil:
    def __reduce__(self):
        return exec, ("raise AssertionError('unpickled')",)


@pytest.mark.parametrize(
    "use",
    [load, lambda path: load_encoder(path).model("classification", 2), PhonemicBertForMaskedLM.from_pretrained],
    ids=["inspect", "finetune", "API"],
)
def test_weights_that_would_be_unpickled(folder, use):
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"bert.embeddings.projection.weight": Evil()}))
    with pytest.raises((CheckpointError, OSError), match=re.escape(str(folder))) as error:
        use(folder)
    assert "AssertionError" not in str(error.value)


@pytest.mark.parametrize("lang", ["vi", "zh"])
@pytest.mark.parametrize("name", ["phrases", "vocab_file", "special_tokens_map_file"])
def test_no_file_is_opened_that_a_tokenizer_names(folder, tmp_path, lang, name, monkeypatch):
    """transformers passes what it saved of a tokenizer on as if a user had typed it."""
    secret = tmp_path / "secret.json"
    secret.write_text("root:x:0:0")
    PhonemicBertTokenizer(lang).save_pretrained(folder)
    change(folder / "tokenizer_config.json", **{name: str(secret)})
    opened = []
    monkeypatch.setattr(Path, "read_bytes", lambda path, read=Path.read_bytes: opened.append(path) or read(path))
    for use in (PhonemicBertTokenizer.from_pretrained, AutoTokenizer.from_pretrained, load, load_encoder):
        with pytest.raises(PhonemicError, match=rf"tokenizer_config\.json: .*{name}") as error:
            use(folder)
        assert "x:0" not in str(error.value)
    assert secret not in opened


def test_options_of_other_types_in_a_tokenizer(folder):
    for options in ({"strict": 1}, {"phrases": ["a"]}, {"word_joiner": {}}):
        change(folder / "tokenizer_config.json", strict=False, phrases=None, word_joiner=None)
        change(folder / "tokenizer_config.json", **options)
        with pytest.raises(PhonemicError, match=rf"tokenizer_config\.json: damaged \({next(iter(options))} is of type"):
            PhonemicBertTokenizer.from_pretrained(folder)


def test_a_configuration_by_itself(folder):
    config = json.loads((folder / "config.json").read_text())
    for fields in (
        {"attn_implementation": "a/b"},
        {"hidden_size": 10**12},
        {"hidden_act": 5},
        {"dtype": "x", "torch_dtype": "x"},  # as transformers 5 and 4 name it
        {"id2label": 5},
    ):
        with pytest.raises(CheckpointError, match=r"config\.json"):
            PhonemicBertForMaskedLM(PhonemicBertConfig.from_dict(config | fields))


def test_the_whole_one_loads(folder):
    check_folder(folder)
    assert load(folder).lang == load_encoder(folder).lang == "vi"


def test_an_error_of_ours_is_told_where_transformers_asks_for_protobuf_meanwhile():
    """As transformers 4 does where protobuf is not installed."""

    def load():
        try:
            raise CheckpointError("its forms are others")
        except ValueError:
            raise ImportError("requires the protobuf library") from None

    with pytest.raises(CheckpointError, match=r"^here: its forms are others$"), loading("here"):
        load()
    with pytest.raises(CheckpointError, match=r"^here: cannot be loaded \(ImportError: no module"), loading("here"):
        raise ImportError("no module")
