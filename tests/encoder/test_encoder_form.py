"""The encoder over ids with forms: the vectors of the paper's model pass over them, and windows cut no character."""

import shutil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

spacy = pytest.importorskip("spacy", reason="needs the spacy extra")
torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from encoder_helpers import encoder, own_positions, plain_hidden  # noqa: E402

from phonemic import Tokenizer  # noqa: E402
from phonemic.forms import beginnings  # noqa: E402
from phonemic.inventory import TRIPLE  # noqa: E402
from phonemic_bert import CheckpointError, PhonemicBertTokenizer  # noqa: E402
from spacy_phonemic import windows  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:spacy", "ignore::DeprecationWarning:weasel")

TEXTS = {"vi": "Quốc  kỳ bay hÀ 😀 x\u0301, COVID-19\nhoà", "zh": "银行 门\u200d 王，1 A ☃\ufe0f"}


def docs_of(lang, form):
    nlp = spacy.blank(lang)
    nlp.add_pipe("phonemic", config={"form": form})
    return [nlp(TEXTS[lang])]


@pytest.mark.parametrize("lang", ["vi", "zh"])
def test_a_token_is_the_mean_of_its_positions(checkpoint, lang):
    doc = docs_of(lang, True)[0]
    model = encoder(checkpoint[lang], [doc])
    encoding = Tokenizer(lang, form=True).encode(doc.text)
    bert = next(node for node in model.walk() if node.shims).shims[0]._model.bert
    hidden = plain_hidden(bert, encoding.ids & TRIPLE)
    own = [*own_positions(doc, encoding.spans)]
    want = np.array([hidden[places].mean(0) if places else np.zeros(hidden.shape[1]) for places in own])
    found = np.asarray(model.predict([doc])[0].reshape(len(doc), -1))
    assert np.allclose(found, want, atol=1e-5)


def test_a_checkpoint_that_has_learned_from_text_without_forms(checkpoint, tmp_path):
    folder = shutil.copytree(checkpoint["vi"], tmp_path / "checkpoint")
    PhonemicBertTokenizer("vi").save_pretrained(folder)
    with pytest.raises(CheckpointError, match=r"with form=True, but .* form=False"):
        encoder(str(folder), docs_of("vi", True))
    PhonemicBertTokenizer("vi", form=True).save_pretrained(folder)
    assert encoder(str(folder), docs_of("vi", True)).predict(docs_of("vi", True))
    with pytest.raises(CheckpointError, match=r"with form=False, but .* form=True"):
        encoder(str(folder), docs_of("vi", False))


@settings(max_examples=100, deadline=None)
@given(st.text(st.sampled_from("a À\n😀\u0301银hÀ"), max_size=60), st.integers(1, 30), st.data())
def test_windows_cut_no_character(text, window, data):
    stride = data.draw(st.integers(1, window))
    ids = Tokenizer("vi", form=True).encode(text).ids
    parts = windows.window_parts(ids, window, stride)
    assert all(0 < stop - start <= window for start, stop in parts)
    covered = np.zeros(len(ids), bool)
    for start, stop in parts:
        covered[start:stop] = True
    assert covered.all()
    starts = [start for start, _ in parts]
    assert starts == sorted(set(starts))
    for start, stop in parts:
        if beginnings(ids)[start + 1 : stop].any():  # a part that is whole has room
            assert stop == len(ids) or beginnings(ids)[stop]
    plain = ids & TRIPLE
    assert windows.window_parts(plain, window, stride) == [
        (start, min(start + window, len(ids))) for start in windows.window_starts(len(ids), window, stride)
    ]
