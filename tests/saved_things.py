"""Everything that is saved and read again, one row per thing: how it is made, read, and what is raised where it is damaged.

``test_saved_things.py`` damages the bytes of each, and fails where the packages have a reader that is neither here nor
in :data:`ELSEWHERE`.
"""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from phonemic import Index, Tokenizer

PHRASES = {"银行": "yin2 hang2"}


@dataclass(frozen=True)
class Saved:
    """A thing that is saved.

    Attributes:
        reader: the function that reads it, as ``package.module:Class.function``.
        make: gives its bytes.
        read: reads such bytes, or a file of them that the path is of; what comes of it is used.
        needs: packages that it cannot do without.
        most: how many of its bytes are damaged, one at a time.
    """

    reader: str
    make: Callable[[], bytes]
    read: Callable[[bytes, Path], object]
    needs: tuple[str, ...] = ()
    most: int = 50

    @property
    def missing(self) -> str:
        """A package that it needs and that is not installed; "" where all are."""
        return next((package for package in self.needs if find_spec(package) is None), "")


def _file(load: Callable[[Path], object]) -> Callable[[bytes, Path], object]:
    def read(data: bytes, path: Path) -> object:
        path.write_bytes(data)
        return load(path)

    return read


def _written(save: Callable[[Path], object]) -> bytes:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        save(Path(folder, "saved"))
        return Path(folder, "saved").read_bytes()


@functools.cache
def _blank() -> Any:
    import spacy

    return spacy.blank("zh", config={"nlp": {"tokenizer": {"@tokenizers": "spacy_phonemic.SyllableTokenizer.v1"}}})


def _pipe(name: str = "phonemic", **config: Any) -> Any:
    nlp = _blank()
    if name == "tokenizer":
        return copy.deepcopy(nlp.tokenizer)
    pipe = nlp.create_pipe(name, config=config)
    if name == "phonemic_matcher":
        pipe.add("PER", ["张三", "李四"], ids=["a", "b"])
    return pipe


def _network() -> Any:
    from phonemic_bert import PhonemicBertConfig, PhonemicBertModel
    from spacy_phonemic.network import Network
    from spacy_phonemic.options import EncoderOptions

    made = Network(EncoderOptions(None, "paper-tiny", "vi", None, None, "mean", (-1,), 1000, False, 0, None))
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    made._use(PhonemicBertModel(PhonemicBertConfig(**sizes, max_position_embeddings=8), add_pooling_layer=False))
    return made


def _ngrams() -> bytes:
    from phonemic_bert.restoration.counting import vietnamese_model

    return vietnamese_model(lambda: ["tôi đi học"] * 3, 2, 0.0).to_bytes()


def _restore(data: bytes, path: Path) -> object:
    from phonemic_bert.restoration.ngrams import Ngrams
    from phonemic_bert.restoration.restoring import restorer_of

    return restorer_of(Ngrams.from_bytes(data, path)).restore("toi di hoc")


def _restore_file(path: Path) -> object:
    from phonemic_bert.restoration.restoring import load

    return load(path).restore("toi di hoc")


def _restorer_bytes() -> bytes:
    import srsly

    made: bytes = srsly.msgpack_dumps({"ngrams": _ngrams(), "network": {}})
    return made


def _restorer_pipe(data: bytes) -> Any:
    from spacy_phonemic.restorer import PhonemicRestorer

    return PhonemicRestorer().from_bytes(data)


def _restorer_folder(path: Path) -> object:
    """The n-grams in a folder, and by the other functions that read one."""
    from phonemic_bert.restoration.restoring import Parts
    from spacy_phonemic.restorer import PhonemicRestorer

    folder = path.with_name("restorer")
    folder.mkdir(exist_ok=True)
    path.replace(folder / "ngrams.zip")
    Parts.load(folder).restorer().restore("toi di hoc")
    return PhonemicRestorer().from_disk(folder).to_bytes()


def _tagger() -> Any:
    from nltk_phonemic import PhonemicTagger

    return PhonemicTagger("zh", phrases=PHRASES)


SAVED = [
    Saved(
        "phonemic.tokenizer:Tokenizer.load",
        lambda: _written(Tokenizer("zh", phrases=PHRASES).save),
        _file(lambda path: Tokenizer.load(path).encode("银行")),
    ),
    Saved(
        "phonemic.tokenizer:Tokenizer.restore",
        lambda: json.dumps(Tokenizer("zh", phrases=PHRASES).to_json()).encode(),
        lambda data, path: Tokenizer.restore(_json(data), path).encode("银行"),
    ),
    Saved(
        "phonemic.sound.index:Index.load",
        lambda: _written(Index(["张三", "李四"], "zh").save),
        _file(lambda path: Index.load(path).search("张三")),
    ),
    Saved(
        "phonemic.sound.index:Index.from_bytes",
        lambda: Index(["Lan", "Nam Sâu"], "vi").to_bytes(),
        lambda data, path: Index.from_bytes(data).search("lan"),
    ),
    Saved(
        "spacy_phonemic.component:Phonemic.from_bytes",
        lambda: _pipe(phrases=PHRASES).to_bytes(),
        lambda data, path: _pipe().from_bytes(data),
        ("spacy",),
        80,
    ),
    Saved(
        "spacy_phonemic.component:Phonemic.from_disk",
        lambda: _written(_pipe(phrases=PHRASES).to_disk),
        _file(lambda path: _pipe().from_disk(path)),
        ("spacy",),
        80,
    ),
    Saved(
        "spacy_phonemic.matcher:PhonemicMatcher.from_bytes",
        lambda: _pipe("phonemic_matcher").to_bytes(),
        lambda data, path: _pipe("phonemic_matcher").from_bytes(data).index,
        ("spacy",),
        80,
    ),
    Saved(
        "spacy_phonemic.matcher:PhonemicMatcher.from_disk",
        lambda: _written(_pipe("phonemic_matcher").to_disk),
        _file(lambda path: _pipe("phonemic_matcher").from_disk(path).index),
        ("spacy",),
        80,
    ),
    Saved(
        "spacy_phonemic.tokenizer:SyllableTokenizer.from_bytes",
        lambda: _pipe("tokenizer").to_bytes(),
        lambda data, path: _pipe("tokenizer").from_bytes(data)("你好"),
        ("spacy",),
        80,
    ),
    Saved(
        "spacy_phonemic.tokenizer:SyllableTokenizer.from_disk",
        lambda: _written(_pipe("tokenizer").to_disk),
        _file(lambda path: _pipe("tokenizer").from_disk(path)("你好")),
        ("spacy",),
        80,
    ),
    Saved(
        "spacy_phonemic.network:Network.load",
        lambda: _network().save(),
        lambda data, path: _network().load(data),
        ("spacy", "torch", "transformers"),
        80,
    ),
    Saved("phonemic_bert.restoration.ngrams:Ngrams.from_bytes", _ngrams, _restore, ("transformers",), 200),
    Saved("phonemic_bert.restoration.ngrams:Ngrams.load", _ngrams, _file(_restore_file), ("transformers",), 200),
    Saved("phonemic_bert.restoration.restoring:load", _ngrams, _file(_restore_file), ("transformers",), 80),
    Saved(
        "spacy_phonemic.restorer:PhonemicRestorer.from_bytes",
        _restorer_bytes,
        lambda data, path: _restorer_pipe(data).to_bytes(),
        ("spacy", "transformers"),
        80,
    ),
    Saved(
        "spacy_phonemic.restorer:PhonemicRestorer.from_disk",
        _ngrams,
        _file(_restorer_folder),
        ("spacy", "transformers"),
        80,
    ),
    Saved(
        "phonemic_bert.restoration.restoring:Parts.load",
        _ngrams,
        _file(_restorer_folder),
        ("spacy", "transformers"),
        80,
    ),
    Saved(
        "nltk_phonemic.tagger:PhonemicTagger.decode_json_obj",
        lambda: json.dumps(_tagger().encode_json_obj()).encode(),
        lambda data, path: type(_tagger()).decode_json_obj(_json(data)).tag(["银行"]),
        ("nltk",),
    ),
]


def _json(data: bytes) -> Any:
    """The reader of another library: it refuses all but JSON by itself."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


#: Readers whose folders, or files, ``fuzz/folder_cases.py`` damages, and the ones that read what a user types.
ELSEWHERE = {
    "phonemic.corpus.manifest:open_corpus",
    "phonemic.options:TokenizerOptions.from_json",
    "phonemic.baselines:load",
    "phonemic.baselines:load_registered",
    "phonemic_bert.configuration:PhonemicBertConfig.from_pretrained",
    "phonemic_bert.inspection.loading:load",
    "phonemic_bert.finetuning.settings:Settings.load",
    "phonemic_bert.finetuning.encoders:load_encoder",
    "phonemic_bert.pretraining.settings:Settings.load",
    "phonemic_bert.pretraining.given:load_given",
    "phonemic_bert.modeling.models:PhonemicBertPreTrainedModel.from_pretrained",
    "phonemic_bert.tokenization.tokenizer:PhonemicBertTokenizer.from_pretrained",
    "phonemic_bert.tokenization.baselines:BaselineTokenizer.from_pretrained",
}
