"""A PhonemicBERT of any kind with its tokenizer, and errors that say what is wrong with anything else."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from phonemic.files.jsons import read_object
from phonemic_bert.checkpoints import OF_RUN, checkpoint_folder, silent_transformers
from phonemic_bert.configuration import PhonemicBertConfig
from phonemic_bert.errors import CheckpointError
from phonemic_bert.modeling import (
    PhonemicBertForMaskedLM,
    PhonemicBertForSequenceClassification,
    PhonemicBertForTokenClassification,
    PhonemicBertModel,
)
from phonemic_bert.tokenization import FILE, PhonemicBertTokenizer
from phonemic_bert.untrusted import check_folder

#: Classes whose predictions are shown; of any other, the encoder alone is loaded.
_CLASSES = {
    one.__name__: one
    for one in (PhonemicBertForMaskedLM, PhonemicBertForSequenceClassification, PhonemicBertForTokenClassification)
}

#: The folders of a run that hold a checkpoint.


@dataclass(frozen=True)
class Inspected:
    """An inspected checkpoint.

    Attributes:
        name: of the folder or the installed checkpoint; a run's for its ``final``.
        model: in evaluation mode: with the head of H-MLM, of a classifier or of a tagger, else the encoder alone.
        tokenizer: the checkpoint's.
    """

    name: str
    model: Any
    tokenizer: PhonemicBertTokenizer

    @property
    def lang(self) -> str:
        """The language."""
        return self.tokenizer.phonemic.lang

    @property
    def encoder(self) -> PhonemicBertModel:
        """The encoder."""
        encoder: PhonemicBertModel = self.model if isinstance(self.model, PhonemicBertModel) else self.model.bert
        return encoder


def load(where: str | os.PathLike[str]) -> Inspected:
    """Loads a checkpoint.

    Arguments:
        where: a folder, or an installed checkpoint's name.

    Raises:
        CheckpointError: there is none, it is of another kind, damaged, or of another vocabulary.
        SavedTokenizerError: its tokenizer is.
        OSError: its weights are missing.
    """
    path = checkpoint_folder(where)
    config = _config(path)
    check_folder(path)
    if not (path / FILE).is_file():
        raise CheckpointError(f"{path}: no {FILE} in it, so its tokenizer is missing")
    tokenizer = PhonemicBertTokenizer.from_pretrained(str(path))
    names = config.get("architectures") or [""]
    cls: Any = _CLASSES.get(names[0], PhonemicBertModel)
    options = {"add_pooling_layer": False} if cls is PhonemicBertModel else {}
    shape = PhonemicBertConfig.from_pretrained(str(path))
    if shape.lang != tokenizer.phonemic.lang:
        raise CheckpointError(f"{path}: the model is for {shape.lang}, its tokenizer for {tokenizer.phonemic.lang}")
    with silent_transformers():
        model, info = cls.from_pretrained(str(path), output_loading_info=True, **options)
    if missing := sorted(info["missing_keys"]):
        raise CheckpointError(f"{path}: its weights lack {missing[0]} and {len(missing) - 1} more")
    called = path.resolve()
    return Inspected((called.parent if called.name in OF_RUN else called).name, model.eval(), tokenizer)


def _config(path: Path) -> dict[str, Any]:
    config = read_object(path / "config.json", CheckpointError)
    kind = config.get("model_type")
    if kind != PhonemicBertConfig.model_type:
        raise CheckpointError(f"{path}: holds a model of type {kind!r}; this command reads PhonemicBERT only")
    return config
