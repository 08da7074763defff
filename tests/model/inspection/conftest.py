"""Checkpoints small enough for a test, saved as people's are."""

from __future__ import annotations

import pytest


@pytest.fixture
def save(tiny, tmp_path):
    """Saves a tiny model of the class with a name, and its tokenizer; returns model, tokenizer and folder."""
    torch = pytest.importorskip("torch", reason="needs the model extra")
    import phonemic_bert

    def make(name="PhonemicBertForMaskedLM", lang="vi", **fields):
        torch.manual_seed(0)
        model = getattr(phonemic_bert, name)(tiny(lang, initializer_range=0.3, **fields)).eval()
        tokenizer = phonemic_bert.PhonemicBertTokenizer(lang)
        folder = tmp_path / f"{name}-{lang}"
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return model, tokenizer, folder

    return make
