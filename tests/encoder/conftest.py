"""Fixtures of the encoder's tests: checkpoints and a trained pipeline."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Models this small compute faster in one thread."""
    pytest.importorskip("torch", reason="needs the model extra").set_num_threads(1)


@pytest.fixture(autouse=True)
def seeded():
    """The same weights in every run."""
    pytest.importorskip("spacy", reason="needs the spacy extra").util.fix_random_seed(0)


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory):
    """Masked language models, two layers of 24, room for 64 positions: heads and all, as pretraining saves them.

    The Vietnamese one is of the paper's design, the Mandarin one has all that goes beyond it.
    """

    torch = pytest.importorskip("torch", reason="needs the model extra")
    from phonemic_bert import PhonemicBertConfig, PhonemicBertForMaskedLM

    def make(lang, **design):
        folder = tmp_path_factory.mktemp(f"checkpoint-{lang}")
        torch.manual_seed(1)
        config = PhonemicBertConfig(
            lang,
            num_hidden_layers=2,
            hidden_size=24,
            num_attention_heads=3,
            intermediate_size=40,
            max_position_embeddings=64,
            initializer_range=0.2,  # so that vectors differ by more than rounding
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            **design,
        )
        PhonemicBertForMaskedLM(config).save_pretrained(folder)
        return str(folder)

    beyond = {"backbone": "modernbert", "composition": "product", "conv_kernel_size": 3, "head": "joint"}
    return {"vi": make("vi"), "zh": make("zh", **beyond)}


@pytest.fixture(scope="session")
def vi_encoder(checkpoint):
    from encoder_helpers import VI, docs_of, encoder

    return encoder(checkpoint["vi"], docs_of("vi", [VI]))


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """The pipeline of the shipped ner_pos.cfg, trained by the real command on twenty sentences."""
    import spacy
    from encoder_helpers import SYLLABLES, TEXTS, example
    from spacy.tokens import DocBin
    from spacy_helpers import spacy_command

    from spacy_phonemic.configs import config_text

    folder = tmp_path_factory.mktemp("trained")
    nlp = spacy.blank("vi", config=SYLLABLES)
    DocBin(docs=[example(nlp, text).reference for text in TEXTS]).to_disk(folder / "train.spacy")
    (folder / "config.cfg").write_text(config_text("ner_pos", "vi"), encoding="utf-8")
    options = {
        "paths.train": folder / "train.spacy",
        "paths.dev": folder / "train.spacy",
        "components.phonemic_transformer.model.preset": "paper-tiny",
        "components.phonemic_transformer.model.learn_rate_factor": 0.5,
        "training.max_steps": 120,
        "training.optimizer.learn_rate.total_steps": 120,
        "training.eval_frequency": 40,
        "training.optimizer.learn_rate.warmup_steps": 10,
        "training.optimizer.learn_rate.initial_rate": 0.003,
    }
    overrides = [word for key, value in options.items() for word in (f"--{key}", str(value))]
    done = spacy_command("train", folder / "config.cfg", "--output", folder / "out", *overrides)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder
