"""Examples of :mod:`phonemic.tasks` as spaCy Docs: every dataset and every format whose examples a DocBin can hold.

A Doc is one text with entities, parts of speech, a tree or categories. So pairs of sentences, coreference, multiple
choice and questions are refused. A damaged file is an error of its reader; what the reader gave and a Doc cannot
hold is left out and listed. An entity is also held against the pipeline's own tokenizer: where that does not cut at its
borders, training could not use it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, DocBin

from phonemic import tasks
from phonemic.errors import InputError
from phonemic.files import replacing
from phonemic.tasks import Dataset, custom
from phonemic.tasks.dataset import Folder, Kind
from spacy_phonemic.docs import Converted, Problem, to_docs

__all__ = [
    "ALIASES",
    "FORMATS",
    "KINDS",
    "Converted",
    "Problem",
    "language_of",
    "read",
    "read_split",
    "to_docs",
    "write",
]

#: The formats of a file, and of which kind its examples are where nothing is said.
FORMATS: Mapping[str, Kind | None] = {
    "conll": "sequence-labelling",
    "conllu": "sequence-labelling",
    "csv": "classification",
    "tsv": "classification",
    "xlsx": "classification",
    "jsonl": None,
}
#: Other names of datasets.
ALIASES = {"weibo": "weibo-ner"}
#: The kinds whose examples are one text, and so one Doc.
KINDS: tuple[Kind, ...] = ("classification", "aspect-sentiment", "sequence-labelling")


def read(
    form: str,
    path: Folder,
    nlp: Language,
    *,
    split: str | None = None,
    kind: Kind | None = None,
    entities: bool = True,
    **fields: Any,
) -> Converted:
    """Reads a file, or a split of a dataset, as Docs.

    Arguments:
        form: a format of :data:`FORMATS`, or the name of a dataset (:func:`phonemic.tasks.get`).
        path: the file; of a dataset also its folder, with ``split``.
        nlp: the pipeline; its language is that of the text.
        split: of the dataset in the folder, ``"train"``.
        kind: ``"classification"`` or ``"sequence-labelling"``, of a format; None: what the format says.
        entities: of a format: its tags are of entities, not a part of speech a word. CoNLL-U has the latter.
        fields: where in an entry what is: ``text``, ``label``, ``word``, ``tag``, ``joiner`` ..., see
            :func:`phonemic.tasks.custom.dataset`.

    Raises:
        InputError: the file is damaged or not as described, or its examples do not fit a Doc.
        OSError: a file cannot be read.
        PhonemicError: a package that reads this kind of file is not installed.
        TypeError: there is no such field.
        ValueError: an option is not one of those above.
    """
    if form not in FORMATS:
        return _read_set(_set_of(form), path, nlp, split)
    if split is not None:
        raise InputError(f"split applies to a dataset in a folder; {form} is the format of a single file")
    chosen = kind or FORMATS[form]
    if chosen is None:
        raise InputError(f"{os.fspath(path)}: {form} may hold several kinds: give classification or sequence-labelling")
    entities = entities and form != "conllu"
    examples = custom.read(chosen, path, lang=str(nlp.lang), file_format=form, entities=entities, **fields)
    return to_docs(examples, nlp, entities=entities)


#: Readers by their earlier names.
read_conll, read_conllu, read_cluener = (partial(read, name) for name in ("conll", "conllu", "cluener"))


def read_split(dataset: Dataset, folder: Folder, split: str, nlp: Language) -> Converted:
    """Reads a split of any dataset as Docs, of one that is registered and of one of your own.

    Arguments:
        dataset: the set.
        folder: the folder that holds its files.
        split: one of its ``splits``.
        nlp: the pipeline, of the set's language.

    Raises:
        InputError: see :func:`read`.
        OSError: a file cannot be read.
        PhonemicError: a package that reads this kind of file is not installed.
    """
    return _docs_of(dataset, dataset.paths(folder, split), nlp)


def language_of(form: str) -> str | None:
    """The language of the dataset of a name; None for a format, which may be of either.

    Raises:
        InputError: there is no such set.
    """
    return None if form in FORMATS else _set_of(form).lang


def write(docs: Iterable[Doc], path: str | os.PathLike[str], overwrite: bool = True) -> None:
    """Writes Docs for ``spacy train``: a ``.spacy`` file, next to it first, then renamed."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with replacing(path, overwrite) as file:
        file.write(DocBin(docs=docs).to_bytes())


def _set_of(name: str) -> Dataset:
    try:
        return tasks.get(ALIASES.get(name, name))
    except ValueError as error:
        raise InputError(f"{error}; or a format: {', '.join(FORMATS)}") from error


def _read_set(dataset: Dataset, path: Folder, nlp: Language, split: str | None) -> Converted:
    if split is not None:
        return read_split(dataset, path, split, nlp)
    if Path(path).is_dir():
        raise InputError(f"{os.fspath(path)}: a folder: choose a split of {dataset.title}: {', '.join(dataset.splits)}")
    if all(len(layout.patterns) > 1 for layout in dataset.layouts):
        raise InputError(
            f"{os.fspath(path)}: a split of {dataset.title} is several files: give the folder and the split"
        )
    return _docs_of(dataset, (Path(path),), nlp)


def _docs_of(dataset: Dataset, paths: tuple[Path, ...], nlp: Language) -> Converted:
    if dataset.kind not in KINDS:
        raise InputError(
            f"{dataset.title} ({dataset.kind}) cannot become Docs: its examples are not one text with labels. "
            f"The kinds that can are {', '.join(KINDS)}"
        )
    if dataset.lang != nlp.lang:
        raise InputError(f"{dataset.title} is in the language {dataset.lang!r}, the pipeline in {nlp.lang!r}")
    return to_docs(dataset.parse(paths), nlp, entities=dataset.metric != "macro-f1", labels=dataset.labels)
