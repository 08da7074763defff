"""Helpers of the tests of the encoder: texts, pipelines, and the slow way to a token's vector."""

import os
import subprocess
import sys
import zlib

import numpy as np
import pytest

spacy = pytest.importorskip("spacy", reason="needs the spacy extra")
torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from spacy.training import Example  # noqa: E402

from phonemic import Tokenizer  # noqa: E402
from phonemic.encoding import PACKED_CLS, PACKED_SEP  # noqa: E402
from spacy_phonemic.encoder import phonemic_bert  # noqa: E402

LISTENER = {"@architectures": "spacy_phonemic.PhonemicListener.v1"}
NER = {
    "@architectures": "spacy.TransitionBasedParser.v2",
    "state_type": "ner",
    "extra_state_tokens": False,
    "hidden_width": 16,
    "maxout_pieces": 2,
    "use_upper": False,
    "tok2vec": LISTENER,
}
SYLLABLES = {"nlp": {"tokenizer": {"@tokenizers": "spacy_phonemic.SyllableTokenizer.v1"}}}
PLACES = ["Hà Nội", "Huế", "Cần Thơ", "Đà Lạt", "Vũng Tàu"]
TEXTS = [
    text.format(place)
    for place in PLACES
    for text in ("Tôi sống ở {}.", "{} mưa cả ngày.", "Ai yêu {}, người ấy về.", "Năm 2024 {} có 3 trường mới.")
]
VI = "Cái giếng ở quốc lộ, COVID-19 🎉  hoà bình"
ZH = "银行行长觉得 GDP 还不错，了不起。"


def docs_of(lang, texts):
    nlp = spacy.blank(lang, config=SYLLABLES)
    return [nlp.make_doc(text) for text in texts]


def encoder(checkpoint, docs, **options):
    """The encoder in float32, so that its vectors are those of a plain pass."""
    model = phonemic_bert(**{"checkpoint": checkpoint, "window": 62, "stride": 40, "int8_inference": False, **options})
    model.initialize(X=docs)
    return model


def plain_hidden(bert, ids, layer=-1):
    """The hidden states of one text without windows: one forward pass of the model as transformers has it."""
    bert.eval()
    row = torch.tensor([[PACKED_CLS, *ids.tolist(), PACKED_SEP]])
    with torch.no_grad():
        return bert(row, output_hidden_states=True).hidden_states[layer][0, 1:-1].numpy()


def own_positions(doc, spans):
    for token in doc:
        end = token.idx + len(token.text)
        yield [at for at, (start, stop) in enumerate(spans.tolist()) if start < end and stop > token.idx]


def reference(bert, doc, lang, pooling="mean"):
    """Token by token: the mean over the positions that share a character with it, of one plain pass."""
    encoding = Tokenizer(lang).encode(doc.text)
    hidden = plain_hidden(bert, encoding.ids) if len(encoding.ids) else np.zeros((0, bert.config.hidden_size))
    rows = []
    for own in own_positions(doc, encoding.spans):
        chosen = own[:1] if pooling == "first" else own
        rows.append(hidden[chosen].mean(0) if own else np.zeros(bert.config.hidden_size))
    return np.array(rows, np.float32).reshape(len(doc), bert.config.hidden_size)


def example(nlp, text):
    """Places are entities; a word's tag is a made-up one of three, always the same."""
    doc = nlp.make_doc(text)
    tags = [f"T{zlib.crc32(token.lower_.encode()) % 3}" for token in doc]
    places = [(text.index(place), text.index(place) + len(place), "PLACE") for place in PLACES if place in text]
    return Example.from_dict(doc, {"tags": tags, "pos": ["NOUN"] * len(doc), "entities": places})


def pipeline(checkpoint=None, **options):
    nlp = spacy.blank("vi", config=SYLLABLES)
    model = {"checkpoint": checkpoint, "preset": "paper-tiny", **options}
    if checkpoint:
        model.update(window=62, stride=40)
    nlp.add_pipe("phonemic_transformer", config={"model": model})
    nlp.add_pipe("tagger", config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": LISTENER}})
    nlp.add_pipe("ner", config={"model": NER})
    return nlp


def run(*command):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, *map(str, command)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
