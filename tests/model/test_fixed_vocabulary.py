"""The vocabulary is fixed: what would change it is refused, and changes nothing that is saved."""

import copy
import json

import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from transformers import AddedToken, AutoTokenizer

from phonemic_bert import CheckpointError, PhonemicBertForMaskedLM, PhonemicBertTokenizer


def files(saved, folder):
    """The files that it writes."""
    saved.save_pretrained(folder)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


REFUSED = {
    "a named one": lambda one: one.add_special_tokens({"pad_token": "<p>"}),
    "a named one behind another": lambda one: one.add_special_tokens({"mask_token": "[MASK]", "pad_token": "<p>"}),
    "a special symbol in another's place": lambda one: one.add_special_tokens({"pad_token": "[MASK]"}),
    "one that there is not": lambda one: one.add_special_tokens({"bos_token": "[CLS]"}),
    "of no name that there is": lambda one: one.add_special_tokens({"foo_token": "[MASK]"}),
    "further ones": lambda one: one.add_special_tokens({"additional_special_tokens": ["[MASK]", "<x>"]}),
    "extra ones": lambda one: one.add_special_tokens({"extra_special_tokens": ["<x>"]}),
    "a number": lambda one: one.add_special_tokens({"pad_token": 5}),
    "a list": lambda one: one.add_special_tokens(["<x>"]),
    "a token": lambda one: one.add_tokens(["[MASK]", "x"]),
    "a token that is special": lambda one: one.add_tokens(AddedToken("x"), special_tokens=True),
    "an attribute": lambda one: setattr(one, "pad_token", "<p>"),
    "an attribute to none": lambda one: setattr(one, "pad_token", None),
    "an attribute's id": lambda one: setattr(one, "pad_token_id", 5),
    "an attribute that there is not": lambda one: setattr(one, "bos_token", "<s>"),
    "an attribute that is a list": lambda one: setattr(one, "extra_special_tokens", ["<x>"]),
}


@pytest.mark.parametrize("change", REFUSED.values(), ids=REFUSED)
def test_what_is_refused_changes_nothing(change, tmp_path):
    tokenizer = PhonemicBertTokenizer("vi")
    before = files(tokenizer, tmp_path / "before")
    special, known = dict(tokenizer.special_tokens_map), list(tokenizer.all_special_ids)
    with pytest.raises((ValueError, TypeError, AttributeError)):
        change(tokenizer)
    assert files(tokenizer, tmp_path / "after") == before
    assert dict(tokenizer.special_tokens_map) == special
    assert tokenizer.all_special_ids == known
    assert len(AutoTokenizer.from_pretrained(tmp_path / "after")) == len(tokenizer) == 256


def test_what_is_there_can_be_named_again(tmp_path):
    tokenizer = PhonemicBertTokenizer("vi")
    before = files(tokenizer, tmp_path / "before")
    assert tokenizer.add_special_tokens({"pad_token": "[PAD]"}) == 0
    assert tokenizer.add_tokens(["[MASK]"]) == 0
    tokenizer.pad_token = "[PAD]"
    tokenizer.pad_token_id = tokenizer.pad_token_id
    assert files(tokenizer, tmp_path / "after") == before
    assert files(copy.deepcopy(tokenizer), tmp_path / "copied") == before


@pytest.mark.parametrize("field", [{"bos_token": "<s>"}, {"pad_token": "<p>"}, {"extra_special_tokens": ["<x>"]}])
def test_a_saved_one_with_other_tokens_is_refused(field, tmp_path):
    files(PhonemicBertTokenizer("vi"), tmp_path / "saved")
    path = tmp_path / "saved" / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | field))
    with pytest.raises(CheckpointError, match="the vocabulary is fixed"):
        PhonemicBertTokenizer.from_pretrained(tmp_path / "saved")


@pytest.mark.parametrize("fields", [{}, {"head": "joint", "composition": "table"}, {"backbone": "modernbert"}], ids=str)
def test_the_table_of_embeddings(fields, tiny, tmp_path):
    """As large as the vocabulary, also when that is requested; of another size it is refused, and all stays."""
    model = PhonemicBertForMaskedLM(tiny(**fields))
    before = files(model, tmp_path / "before")
    for size in (0, 1, 255, 257, 30_522):
        with pytest.raises(ValueError, match="the vocabulary is fixed at 256 symbols"):
            model.resize_token_embeddings(size)
    with pytest.raises(ValueError, match="cannot be resized to 300"):
        model.resize_token_embeddings(256, pad_to_multiple_of=100)
    for size in (None, 256, len(PhonemicBertTokenizer("vi"))):
        table = model.resize_token_embeddings(size, pad_to_multiple_of=64)
        assert table is model.get_input_embeddings()
    assert files(model, tmp_path / "after") == before
    loaded = PhonemicBertForMaskedLM.from_pretrained(tmp_path / "after")
    assert all(torch.equal(value, model.state_dict()[name]) for name, value in loaded.state_dict().items())
