"""The tokenizers that the paper compares with, behind one small interface.

    from phonemic import baselines

    mbert = baselines.load("mBERT", "tokenizers")   # the folder that holds mbert/vocab.txt
    mbert.encode("Trời mưa to.")                    # ids, without [CLS] and [SEP]
    mbert.vocab_size                                # 119547

A new one is a file in this folder, or anywhere: a class derived from :class:`Baseline`, under ``@register``. Libraries
(sentencepiece, tokenizers, pyvi) are imported when a tokenizer is loaded: ``pip install "phonemic[baselines]"``.

Only what a person typed may name a Python file, which is run. A name that is in a file goes to
:func:`load_registered`.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import runpy
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from phonemic.baselines.base import REGISTRY, Baseline, BaselineError, register

__all__ = ["Baseline", "BaselineError", "get", "load", "load_registered", "names", "register", "registered", "train"]


def names() -> list[str]:
    """The names of all baselines, those of Mandarin first."""
    return list(REGISTRY)


def registered(name: object) -> type[Baseline]:
    """The class of a baseline that is registered by its name; nothing is run or opened.

    Arguments:
        name: as a file has it; one of :func:`names`.

    Raises:
        BaselineError: no baseline has that name.
    """
    if not isinstance(name, str) or name not in REGISTRY:
        raise BaselineError(f"no tokenizer is named {name!r}: choose one of {', '.join(REGISTRY)}")
    return REGISTRY[name]


def get(name: str) -> type[Baseline]:
    """The class of a baseline that a person named.

    Arguments:
        name: one of :func:`names`, or a Python file (it ends in ``.py``) that registers one baseline; the file is run.

    Raises:
        BaselineError: no baseline has that name, or the file registers none or several.
    """
    if name.endswith(".py"):
        return _from_file(name)
    try:
        return registered(name)
    except BaselineError as error:
        raise BaselineError(f"{error}, or a .py file") from error


def _from_file(name: str) -> type[Baseline]:
    if not Path(name).is_file():
        raise BaselineError(f"{name}: no such file")
    before = dict(REGISTRY)
    runpy.run_path(name)
    added = [kind for kind in REGISTRY.values() if before.get(kind.name) is not kind]
    if len(added) != 1:
        raise BaselineError(f"{name}: registers {len(added)} baselines, not one (a class under @baselines.register)")
    return added[0]


def load(name: str, folder: str | os.PathLike[str] | None = None, **options: Any) -> Baseline:
    """Loads a baseline from its published files.

    Arguments:
        name: one of :func:`names`, or a Python file that registers one; the file is run.
        folder: the folder that holds the baseline's files, or the one that holds folders of several (``subchar``,
            ``mbert``, ...); by default what the environment variable PHONEMIC_TOKENIZERS names.
        options: what the class takes besides, such as PhoBERT's ``segment``.

    Raises:
        BaselineError: unknown name, or a file is missing; the message says which and where it is published.
        PhonemicError: a package is missing.
    """
    kind = get(name)
    return kind(kind.locate(folder), **options)


def load_registered(name: object, folder: str | os.PathLike[str] | None = None) -> Baseline:
    """As :func:`load`, of a name that is in a file (a checkpoint's, a corpus's): it never names a program.

    Raises:
        BaselineError: no baseline of that name is registered, or a file is missing.
    """
    try:
        kind = registered(name)
    except BaselineError as error:
        raise BaselineError(
            f"{error}; one of your own must be registered first, by the Python file that has it"
        ) from error
    return kind(kind.locate(folder))


def train(
    name: str,
    texts: Iterable[str],
    folder: str | os.PathLike[str],
    vocab_size: int = 22_675,
    overwrite: bool = False,
) -> Baseline:
    """Trains a baseline of your own and saves it in the layout that :func:`load` reads.

    Arguments:
        name: one of the five of the SubChar paper, or the byte-level BPE.
        texts: the corpus; it is read once, as a stream.
        folder: where to save, in the folder of the baseline's files. SubChar's code map must lie there already.
        vocab_size: entries of the vocabulary, all included.
        overwrite: whether one that is there is replaced.

    Returns:
        The trained baseline, loaded from ``folder``.

    Raises:
        BaselineError: it cannot be trained (only loaded), one exists already, its code map is missing, or the corpus
            is too small.
    """
    kind = get(name)
    target = Path(folder) if Path(folder).name == kind.folder else Path(folder) / kind.folder
    pattern = next(iter(kind.files), "")
    found = [file for file in target.glob(pattern) if file.is_file()]
    if found and not overwrite:
        raise BaselineError(f"{min(found)}: already exists; give --force to replace it, or another folder")
    target.mkdir(parents=True, exist_ok=True)
    written = kind.train(texts, target, vocab_size)
    for file in found:
        if file != written:  # its name holds another size
            file.unlink(missing_ok=True)
    return kind(target)


for _module in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name != "subchar"):
    importlib.import_module(f"{__name__}.{_module.name}")
