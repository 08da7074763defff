"""The Arrow function, unchanged, under ``map`` of Hugging Face datasets."""

from functools import partial

import pytest

datasets = pytest.importorskip("datasets", reason="needs Hugging Face datasets: pip install datasets")

from phonemic import Tokenizer, arrow


@pytest.mark.parametrize("lang", ["vi", "zh"])
def test_map(tmp_path, lines, lang, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path))
    texts = [*lines(lang, 60), None]
    tokenizer = Tokenizer(lang)
    dataset = datasets.Dataset.from_dict({"text": texts}).with_format("arrow")
    encode = partial(arrow.encode, tokenizer=tokenizer, triples=True)
    encoded = dataset.map(encode, batched=True, batch_size=7).with_format(None)
    assert encoded.column_names == ["text", "ids", "triples"]
    for text, ids, triples in zip(encoded["text"], encoded["ids"], encoded["triples"], strict=True):
        if text is None:
            assert ids is triples is None
            continue
        expected = tokenizer.encode(text)
        assert ids == expected.ids.tolist()
        assert triples == expected.components.ravel().tolist()
