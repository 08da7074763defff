"""Fixtures of fine-tuning: a tiny encoder for Vietnamese and one for Chinese, with random weights."""

import pytest


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory):
    """Makes the folder of a tiny checkpoint, once a language."""
    torch = pytest.importorskip("torch", reason="needs the model extra")
    from phonemic_bert import PhonemicBertConfig, PhonemicBertForMaskedLM, PhonemicBertTokenizer

    made = {}

    def make(lang="vi"):
        if lang not in made:
            torch.manual_seed(0)
            shape = {"num_hidden_layers": 2, "hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64}
            config = PhonemicBertConfig(lang, max_position_embeddings=64, initializer_range=0.1, **shape)
            made[lang] = tmp_path_factory.mktemp("encoders") / f"tiny-{lang}"
            PhonemicBertForMaskedLM(config).save_pretrained(made[lang])
            PhonemicBertTokenizer(lang).save_pretrained(made[lang])
        return str(made[lang])

    return make
