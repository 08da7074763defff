"""The transformers tokenizer over a baseline of :mod:`phonemic.baselines`, with all that BERT's fast one gives."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phonemic.baselines import Baseline, load_registered
from phonemic.files import jsons
from phonemic.files.writing import write_json
from phonemic_bert.errors import CheckpointError
from phonemic_bert.tokenization.base import RowsTokenizer
from phonemic_bert.tokenization.positions import PLAIN_SPECIALS, Positions

FILE = "baseline.json"

#: The settings that transformers saves of every tokenizer, and the ones that a baseline reads from it.
CONFIG = "tokenizer_config.json"
_OPTIONS = {"model_max_length": int, "padding_side": str, "truncation_side": str}


class BaselineTokenizer(RowsTokenizer):
    """Text to a baseline's ids plus 4, behind [PAD], [CLS], [SEP] and [MASK]: the input of a BERT pretrained here.

    Call it like any transformers tokenizer, as ``PhonemicBertTokenizer``. ``word_ids`` counts whitespace-delimited
    units, or the given words, each of which is cut for itself. Special symbols that are written in a text are text.
    ``save_pretrained`` writes the baseline's name and the checksums of its files, not the files.

    Arguments:
        baseline: the tokenizer.
        lang: ``"vi"`` puts a space before each given word but the first, as there is one in a text.
        model_max_length: the longest row, special tokens included, that ``truncation=True`` cuts to.
        kwargs: what every transformers tokenizer takes (``padding_side``, ``truncation_side`` ...).
    """

    vocab_files_names = {"vocab_file": FILE}  # noqa: RUF012
    special_ids = dict(zip(PLAIN_SPECIALS, range(len(PLAIN_SPECIALS)), strict=True))  # noqa: RUF012
    special_names = {f"{name.strip('[]').lower()}_token": name for name in PLAIN_SPECIALS}  # noqa: RUF012

    def __init__(self, baseline: Baseline, lang: str | None = None, model_max_length: int = 512, **kwargs: Any) -> None:
        self.baseline = baseline
        self.lang = lang
        super().__init__(model_max_length=model_max_length, **self._fixed(kwargs))

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path: Any, *args: Any, **kwargs: Any) -> Any:
        """Loads what ``save_pretrained`` wrote.

        Arguments:
            pretrained_model_name_or_path: the folder.
            args: none.
            kwargs: ``tokenizers``, the folder of the baselines' files (see ``phonemic.baselines.load``), and what the
                class takes, which wins over what was saved.

        Raises:
            BaselineError: its name is not registered; a folder names no Python file to run.
            CheckpointError: there is none in the folder, it is damaged, or the baseline's files are not the ones that
                were saved.
            PhonemicError: a baseline's file or package is missing.
        """
        folder = Path(pretrained_model_name_or_path)
        described = describe(folder)
        baseline = load_registered(described["name"], kwargs.pop("tokenizers", None))
        check_files(baseline, described, folder)
        return cls(baseline, described.get("lang"), **{**saved_options(folder), **kwargs})

    def save_vocabulary(self, save_directory: str, filename_prefix: str | None = None) -> tuple[str, ...]:
        """Writes the baseline's name and the checksums of its files."""
        path = Path(save_directory) / (f"{filename_prefix}-{FILE}" if filename_prefix else FILE)
        saved = {"name": self.baseline.name, "lang": self.lang, "files": self.baseline.checksums()}
        write_json(path, saved)
        return (str(path),)

    # --- vocabulary

    @property
    def vocab_size(self) -> int:
        """Entries of the embedding table: the baseline's, and the special symbols."""
        return self.baseline.id_count + len(PLAIN_SPECIALS)

    def get_vocab(self) -> dict[str, int]:
        """Every token and its input id; of several ids with the same token the first."""
        return dict(self._vocab)

    @cached_property
    def _vocab(self) -> dict[str, int]:
        vocab = dict(self.special_ids)
        for number, token in enumerate(self.baseline.tokens(range(self.baseline.id_count)), len(PLAIN_SPECIALS)):
            vocab.setdefault(token, number)
        return vocab

    def convert_tokens_to_ids(self, tokens: Any) -> Any:
        """Input ids of tokens; None for a string that is not one."""
        if isinstance(tokens, str):
            return self.special_ids[tokens] if tokens in self.special_ids else self._vocab.get(tokens)
        return [self.convert_tokens_to_ids(token) for token in tokens]

    def _tokens(self, ids: NDArray[np.int32]) -> list[str]:
        """The baseline's own strings."""
        shift = len(PLAIN_SPECIALS)
        return [
            PLAIN_SPECIALS[number] if number < shift else self.baseline.tokens([number - shift])[0]
            for number in ids.tolist()
        ]

    # --- text

    def _positions_of_texts(self, texts: list[str], written_specials: bool) -> Positions:
        return _positions(self.baseline, texts, [_units(text) for text in texts])

    def _positions_of_words(self, samples: Sequence[Sequence[str]], written_specials: bool) -> Positions:
        before = " " if self.lang == "vi" else ""
        words = [before * bool(at) + word for sample in samples for at, word in enumerate(sample)]
        found = _positions(self.baseline, words, [])
        numbers = list(chain.from_iterable(range(len(sample)) for sample in samples))
        shifts = np.array([len(before) * bool(number) for number in numbers], np.int32)
        ends = np.cumsum([0, *map(len, samples)])
        return Positions(
            found.ids,
            np.maximum(found.spans - np.repeat(shifts, found.lengths)[:, None], 0),
            np.repeat(np.array(numbers, np.int32), found.lengths),
            found.offsets[ends],
        )

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        """The tokens with a space between them, as they are: a baseline does not say how text is made of them."""
        return " ".join(tokens)

    def _decode(self, token_ids: Any, skip_special_tokens: bool = False, *args: Any, **kwargs: Any) -> str:
        return " ".join(self.convert_ids_to_tokens(np.atleast_1d(token_ids), skip_special_tokens))


def describe(folder: Path) -> dict[str, Any]:
    """The record that :meth:`BaselineTokenizer.save_vocabulary` wrote.

    Raises:
        CheckpointError: it is missing or damaged.
    """
    try:
        return checked(jsons.read_json(folder / FILE, CheckpointError))
    except FileNotFoundError as error:
        raise CheckpointError(f"{folder}: there is no {FILE} in it, so it holds no BaselineTokenizer") from error
    except (KeyError, TypeError) as error:
        raise CheckpointError(f"{folder / FILE}: damaged ({error})") from error


def saved_options(folder: Path) -> dict[str, Any]:
    """How rows are cut and padded, as ``save_pretrained`` wrote it; nothing where it wrote no such file.

    Raises:
        CheckpointError: the file is damaged.
    """
    path = folder / CONFIG
    if not path.is_file():
        return {}
    read = jsons.checked(jsons.read_json(path, CheckpointError), _OPTIONS, path, CheckpointError, optional=True)
    saved = {name: read[name] for name in _OPTIONS if name in read}
    for name, value in saved.items():
        if name.endswith("_side") and value not in ("left", "right"):
            raise CheckpointError(f"{path}: damaged ({name} is {value!r}, not left or right)")
    return saved


def checked(described: Any) -> dict[str, Any]:
    """The record of a baseline in a file, if it can be that.

    Raises:
        KeyError: the name is missing.
        TypeError: something is of another type.
    """
    if not isinstance(described, dict):
        raise TypeError(f"a JSON object is expected, not {type(described).__name__}")
    for field, kind in (("name", str), ("lang", str | None), ("files", dict | None)):
        value = described["name"] if field == "name" else described.get(field)
        if not isinstance(value, kind):
            raise TypeError(f"its {field} is {type(value).__name__}")
    return described


def check_files(baseline: Baseline, described: dict[str, Any], where: Path) -> None:
    """Holds a baseline's files to the checksums that were noted when a model was pretrained.

    Raises:
        CheckpointError: a file is another.
    """
    noted, found = described.get("files") or {}, baseline.checksums()
    for file in sorted(noted.keys() | found.keys()) if noted else ():
        then, now = noted.get(file, "none"), found.get(file, "none")
        if then != now:
            raise CheckpointError(
                f"{where}: it was pretrained with another {file} of {baseline.name} (SHA-256 {then}) than the one in "
                f"{baseline.path} ({now}); name the folder of that one"
            )


def _positions(baseline: Baseline, texts: list[str], units: list[NDArray[np.int32]]) -> Positions:
    rows = baseline.encode_batch_with_spans(texts)
    counts = [len(ids) for ids, _ in rows]
    ids = np.fromiter(chain.from_iterable(ids for ids, _ in rows), np.int32, sum(counts)) + len(PLAIN_SPECIALS)
    spans = np.array(list(chain.from_iterable(spans for _, spans in rows)), np.int32).reshape(-1, 2)
    offsets = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    words = np.zeros(len(ids), np.int32)
    for row, unit in enumerate(units):
        here = slice(offsets[row], offsets[row + 1])
        words[here] = unit[spans[here, 0]]
    return Positions(ids, spans, words, offsets)


def _units(text: str) -> NDArray[np.int32]:
    """The whitespace-delimited unit of each character, and of the text's end; white space goes with what follows."""
    blank = np.fromiter(map(str.isspace, text), bool, len(text))
    starts = ~blank & np.concatenate([[True], blank])[:-1]
    count = int(starts.sum())
    units = np.append(starts.cumsum() - ~blank, count)
    numbers: NDArray[np.int32] = np.minimum(units, max(count - 1, 0)).astype(np.int32)
    return numbers
