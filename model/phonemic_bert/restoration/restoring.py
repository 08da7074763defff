"""One interface to what restores: by the language of a checkpoint."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Collection, Mapping
from functools import lru_cache
from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from phonemic.files.writing import replacing_folder
from phonemic.inventory import LANGUAGES
from phonemic_bert.errors import CheckpointError
from phonemic_bert.restoration.base import Restorer, Scorer
from phonemic_bert.restoration.characters import CharactersRestorer
from phonemic_bert.restoration.correction import CharactersCorrector
from phonemic_bert.restoration.diacritics import DiacriticsRestorer
from phonemic_bert.restoration.ngrams import Ngrams
from phonemic_bert.untrusted import check_folder

#: The file of the n-grams in a restorer's folder.
FILE = "ngrams.zip"
#: The folder of the network that is trained to restore, there.
NETWORK = "network"
#: The entry points of installed restorers: a name, and the package that has a folder of that name.
GROUP = "phonemic_bert.restorers"


def default_name(lang: str) -> str:
    """Return the name of the restorer that ships for a language."""
    return f"phonemic-restorer-{lang}"


def ngrams_path(where: str | os.PathLike[str]) -> Path:
    """Return the file of a restorer's n-grams.

    Arguments:
        where: that file, a folder that holds it, or an installed restorer's name.

    Raises:
        CheckpointError: it is not one of these, or the package that should hold it is broken.
    """
    name, path = os.fspath(where), Path(where)
    for entry in () if path.exists() else entry_points(group=GROUP, name=name):
        try:
            path = Path(str(files(entry.module))) / name
        except ImportError as error:
            raise CheckpointError(f"restorer {name!r}: its package {entry.module} cannot be imported") from error
        if not (path / FILE).is_file():
            raise CheckpointError(f"restorer {name!r}: its package {entry.module} does not hold it; reinstall it")
    found = path / FILE if path.is_dir() else path
    if not found.is_file():
        installed = ", ".join(sorted({entry.name for entry in entry_points(group=GROUP)})) or "none"
        raise CheckpointError(
            f"{name}: there are no n-grams, and no restorer of that name is installed (installed: {installed}): give "
            f"the file that phonemic-bert ngrams wrote, or a folder with it as {FILE}, or pip install "
            "./model/checkpoints, in the project's source tree"
        )
    return found


class Parts(NamedTuple):
    """The parts of a restorer.

    Attributes:
        ngrams: the model of words.
        network: the files of the network that is trained to restore, by their names; empty where there is none.
        where: names it in errors.
        folder: where the network's files lie, if they do.
    """

    ngrams: Ngrams
    network: Mapping[str, bytes]
    where: str
    folder: Path | None = None

    @classmethod
    def load(cls, where: str | os.PathLike[str], ngrams_only: bool = False) -> Parts:
        """Reads a restorer.

        Arguments:
            where: see :func:`ngrams_path`.
            ngrams_only: leave its network out.

        Raises:
            CheckpointError: there is none, or it is damaged.
            OSError: it cannot be read.
        """
        path = ngrams_path(where)
        network = path.parent / NETWORK
        has_network = not (ngrams_only or Path(where).is_file()) and network.is_dir()
        if has_network:
            check_folder(network)
        inside = [each for each in sorted(network.iterdir()) if each.is_file()] if has_network else []
        files = {each.name: each.read_bytes() for each in inside}
        return cls(Ngrams.load(path), files, os.fspath(where), network if has_network else None)

    @classmethod
    def of_bytes(cls, ngrams: bytes, network: Mapping[str, bytes], where: str) -> Parts:
        """Reads what is saved in one piece.

        Arguments:
            ngrams: what :meth:`phonemic_bert.restoration.ngrams.Ngrams.to_bytes` gave.
            network: the files of the network.
            where: names it in errors.

        Raises:
            CheckpointError: it is damaged.
        """
        for name, data in network.items():
            if not isinstance(name, str) or not isinstance(data, bytes) or Path(name).name != name or name == "..":
                raise CheckpointError(f"{where}: damaged (its network is not a set of files)")
        return cls(Ngrams.from_bytes(ngrams, where), network, where)

    def save(self, folder: Path) -> None:
        """Writes a restorer's folder; what is there is replaced once the new one is complete."""
        with replacing_folder(folder, overwrite=True) as partial:
            self.ngrams.save(partial / FILE)
            if self.network:
                self._unfold(partial / NETWORK)

    def _unfold(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        for name, data in self.network.items():
            (folder / name).write_bytes(data)

    def restorer(self, **options: Any) -> Restorer:
        """Makes what restores.

        Arguments:
            options: see :func:`restorer_of`.

        Raises:
            CheckpointError: the network is not one that restores, or is damaged.
            ValueError: an option is for the other language.
        """
        if self.folder is not None or not self.network or options.get("model") is not None:
            return restorer_of(self.ngrams, self.folder, **options)
        with tempfile.TemporaryDirectory() as folder:  # transformers loads from files only
            self._unfold(Path(folder))
            return restorer_of(self.ngrams, Path(folder), **options)


def load(
    where: str | os.PathLike[str], lang: str | None = None, *, ngrams_only: bool = False, **options: Any
) -> Restorer:
    """Loads what restores by a checkpoint.

    Arguments:
        where: see :func:`ngrams_path`.
        lang: the language that the checkpoint must be for.
        ngrams_only: leave the restorer's network out, which is more often right, and slower.
        options: see :func:`restorer_of`.

    Raises:
        CheckpointError: there is none, it is damaged, or for the other language.
        ValueError: an option is for the other language.
    """
    parts = Parts.load(where, ngrams_only)
    if lang not in (None, parts.ngrams.lang):
        raise CheckpointError(f"{os.fspath(where)}: its n-grams are for {parts.ngrams.lang}, not {lang}")
    return parts.restorer(**options)


def restorer_of(
    ngrams: Ngrams,
    network: Path | None = None,
    threshold: float | None = None,
    protected: Collection[str] = (),
    preferred: Collection[str] = (),
    pinyin: bool = False,
    model: str | os.PathLike[str] | None = None,
) -> Restorer:
    """Makes what restores by n-grams.

    Arguments:
        ngrams: the model of words.
        network: the folder of a model that was trained to restore Vietnamese; None: the n-grams alone.
        threshold: how much likelier, in nats, a text must become for each Vietnamese word that is changed where there
            are marks, or each Chinese character; None: 16 or 9.
        protected: words that are never changed.
        preferred: Mandarin: names; what sounds as one of them is written so.
        pinyin: Mandarin: write pinyin in characters, instead of correcting characters.
        model: instead of the network, a pretrained PhonemicBERT, a folder or an installed checkpoint's name, which is
            asked where the n-grams are not sure; in Mandarin one with forms.

    Raises:
        CheckpointError: the network does not restore, or the model is missing.
        ValueError: an option is for the other language, or ``threshold`` is negative or not finite.
    """
    if threshold is not None and not 0 <= threshold < math.inf:
        raise ValueError(f"threshold {threshold}: must be finite and at least 0")
    if ngrams.lang == "vi" and (pinyin or preferred):
        raise ValueError(f"{'pinyin' if pinyin else 'preferred'} is for Mandarin")
    scorer: Scorer | None = None
    if model is not None:
        from phonemic_bert.restoration.masked import MaskedScorer  # imports torch

        scorer = MaskedScorer(model, ngrams.words, ngrams.lang)
    elif network is not None:
        from phonemic_bert.restoration.trained import TrainedScorer

        scorer = TrainedScorer(network, ngrams)
    if pinyin:
        return CharactersRestorer(ngrams, scorer)
    own: dict[str, Any] = {} if threshold is None else {"threshold": threshold}
    if ngrams.lang == "vi":
        return DiacriticsRestorer(ngrams, protected=protected, scorer=scorer, **own)
    return CharactersCorrector(ngrams, protected=protected, preferred=preferred, scorer=scorer, **own)


@lru_cache(4)
def _loaded(where: str, lang: str, pinyin: bool) -> Restorer:
    return load(where, lang, pinyin=pinyin)


def restore(text: str, lang: str, checkpoint: str | os.PathLike[str] | None = None, pinyin: bool = False) -> str:
    """Restore one text: Vietnamese diacritics, wrong Chinese characters, or pinyin.

    Arguments:
        text: the text.
        lang: ``"vi"`` or ``"zh"``.
        checkpoint: see :func:`ngrams_path`; it is loaded once. None: the restorer that ships.
        pinyin: Mandarin: write pinyin in characters, instead of correcting characters.

    Returns:
        The restored text.

    Raises:
        CheckpointError: there is no such restorer, or it is damaged or for the other language.
        ValueError: ``lang`` is neither, or an option is for the other language.
    """
    if lang not in LANGUAGES:
        raise ValueError(f"unknown language {lang!r}: choose one of {', '.join(LANGUAGES)}")
    where = default_name(lang) if checkpoint is None else os.fspath(checkpoint)
    return _loaded(where, lang, pinyin).restore(text, alternatives=False).text
