"""A dataset in files of your own: what its arguments say, its labels, and which parser reads its files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from phonemic.errors import InputError
from phonemic.tasks import docbin, squad
from phonemic.tasks.custom import records, tagging
from phonemic.tasks.custom.formats import FORMATS, Fields, Labels, format_of
from phonemic.tasks.dataset import Dataset, Folder, Kind, Metric
from phonemic.tasks.examples import Example, PairExample, TaggedExample, TextExample

#: The metrics that may be reported of each kind; the first is the default.
_METRICS: dict[str, tuple[Metric, ...]] = {
    "classification": ("macro-f1", "accuracy"),
    "sentence-pair": ("accuracy", "macro-f1"),
    "multiple-choice": ("accuracy",),
    "question-answering": ("answer-f1", "exact-match"),
    "sequence-labelling": ("span-f1", "macro-f1", "token-macro-f1"),
}


#: The text between two words.
_BETWEEN = {"vi": " ", "zh": ""}


@dataclass(frozen=True, kw_only=True, eq=False)
class CustomDataset(Dataset):
    """A dataset whose files are named one by one, so that the folder that its methods take does not matter.

    Attributes:
        files: split to its file.
    """

    files: Mapping[str, Path] = field(default_factory=dict)

    def find(self, root: Folder) -> Path:
        """The root itself."""
        return Path(root)

    def present(self, folder: Folder = ".") -> tuple[str, ...]:
        """The splits that have a file."""
        return self.splits

    def paths(self, folder: Folder, split: str) -> tuple[Path, ...]:
        """The file of one split.

        Raises:
            InputError: there is no such split.
        """
        if split not in self.files:
            raise InputError(f"{self.title} has no split {split!r}: choose one of {', '.join(self.files)}")
        return (self.files[split],)


def dataset(
    kind: Kind,
    *,
    lang: str,
    train: Folder,
    dev: Folder | None = None,
    test: Folder | None = None,
    metric: Metric | None = None,
    name: str | None = None,
    file_format: str | None = None,
    text: str = "text",
    text_b: str = "text_b",
    label: str | Sequence[str] = "label",
    context: str = "context",
    question: str = "question",
    choices: str | Sequence[str] = "choices",
    answer: str = "answer",
    word: int | str = 0,
    tag: int | str = -1,
    joiner: str = "",
    comment: str = "",
    quoting: bool = True,
    strict: bool = False,
) -> CustomDataset:
    """A dataset in files of your own. The labels are those of the training file, which is read once for that.

    Without ``dev`` a tenth of the training file, drawn by seed, becomes the dev set. Without ``test`` the dev file is
    the test set, as in the paper's Chinese tasks, so that no score is reported on what was chosen by.

    Arguments:
        kind: ``"classification"``, ``"sentence-pair"``, ``"multiple-choice"``, ``"question-answering"`` or
            ``"sequence-labelling"``.
        lang: ``"vi"`` or ``"zh"``.
        train: the file to train on.
        dev: the file to choose by.
        test: the file to report on.
        metric: what to report; None for macro-F1 of classes, accuracy of pairs and choices, answer F1 (Vietnamese) or
            exact match (Chinese) of answers, span F1 of entities and macro-F1 of parts of speech.
        name: the set's name, in lower case; None for that of the training file's folder.
        file_format: ``"csv"``, ``"tsv"``, ``"xlsx"``, ``"jsonl"``, ``"squad"``, ``"conll"``, ``"conllu"`` or
            ``"docbin"``; None for what the file's suffix says.
        text: the column or field of the text; of pairs, of the first.
        text_b: of the second text of a pair.
        label: of the label; several for several targets, each then called by its column.
        context: of the passage of a question or a choice.
        question: of the question.
        choices: a field that is a list, or several columns.
        answer: of the answer. A choice: the choice itself, or its index from 0. A question: a text, a list of texts, or
            SQuAD's objects with ``text`` and ``answer_start``.
        word: the column of the word in a CoNLL file, from 0; -1 is the last. In JSON lines the field of the list of
            words; 0 means ``"words"``. JSON lines without it have a ``text``, and in ``label`` a list of spans:
            ``[start, end, label]``, or objects with these fields; ends are after the last character.
        tag: the column of the tag in a CoNLL file, or the field of the list of tags; -1 means ``"tags"`` in JSON lines.
            In CoNLL-U ``"upos"`` (meant by -1) or ``"xpos"``; in a DocBin ``"ents"``, ``"pos"`` or ``"tag"``, where -1
            means the entities, or ``"pos"`` if the metric is macro-F1.
        joiner: what joins the syllables of a word (``_`` in ``Hà_Nội``); it becomes a space. Words of Vietnamese are
            joined by spaces, of Chinese by nothing.
        comment: what a line of a CoNLL file begins with that is not one of its words. CoNLL-U has its own comments.
        quoting: a field of a CSV or TSV file may stand in double quotes.
        strict: a tag that continues with a span that has not begun (``M-ORG`` behind ``O``) is an error; otherwise it
            begins one, and a StrayTagWarning says how many did.

    Raises:
        InputError: a file cannot be read, or its columns, labels or tags are not as described. The message names the
            file and the line. Errors in dev and test are found when they are read.
        OSError: the training file cannot be opened.
        PhonemicError: a package that reads this format is not installed.
        ValueError: an argument is not one of those above.
    """
    _check(kind, lang, file_format)
    if metric is not None and metric not in _METRICS[kind]:
        raise ValueError(f"{kind} has no metric {metric!r}: choose one of {', '.join(_METRICS[kind])}")
    if name is not None and (name != Path(name).name or not name.strip(". ")):
        raise ValueError(f"{name!r} is not a name: it names a folder of results, so it has no / and no more than dots")
    if test is None and dev is None:
        raise ValueError("give a test file to report on (or a dev file, which then is the test set)")
    named = {"train": train, "dev": dev if test is not None else None, "test": test if test is not None else dev}
    files = {split: Path(os.fspath(file)).absolute() for split, file in named.items() if file is not None}
    columns = Fields(
        text=text, text_b=text_b, label=label, context=context, question=question, choices=choices, answer=answer,
        word=word, tag=tag, joiner=joiner, comment=comment, quoting=quoting, between=_BETWEEN[lang],
        strict=strict,
    )  # fmt: skip
    parse = FileParser(kind, file_format, columns, metric != "macro-f1", None)
    if kind == "sequence-labelling" and metric is None:
        parse = replace(parse, entities=tagging.has_entities(files["train"], file_format, columns))
        metric = "span-f1" if parse.entities else "macro-f1"
    labels = _labels(parse, files["train"])
    name = (files["train"].parent.name.lower() or "own") if name is None else name
    answers: Metric = "answer-f1" if lang == "vi" else "exact-match"
    return CustomDataset(
        name=name,
        title=name,
        lang=lang,
        kind=kind,
        metric=metric or (answers if kind == "question-answering" else _METRICS[kind][0]),
        labels=labels,
        layouts=(),
        parse=replace(parse, labels=labels),
        splits=tuple(files),
        dev="dev" if "dev" in files else None,
        files=files,
    )


def read(
    kind: Kind, path: Folder, *, lang: str, file_format: str | None = None, entities: bool = True, **fields: Any
) -> Iterator[Example]:
    """Reads one file of your own, with the labels that it has.

    Arguments:
        kind: what its examples are, see :func:`dataset`.
        path: the file.
        lang: ``"vi"`` or ``"zh"``.
        file_format: see :func:`dataset`.
        entities: of sequence labelling: its tags are IOB tags or spans, not a label a word. CoNLL-U has the latter.
        fields: where in an entry what is: ``text``, ``label``, ``word``, ``tag``, ``joiner`` ..., see
            :func:`dataset`.

    Returns:
        Its examples, one at a time, in the file's order.

    Raises:
        InputError: while reading: the file is not as described. The message names the file and the line.
        OSError: it cannot be opened.
        PhonemicError: a package that reads this format is not installed.
        TypeError: there is no such field.
        ValueError: an argument is not one of those above.
    """
    _check(kind, lang, file_format)
    return FileParser(kind, file_format, Fields(between=_BETWEEN[lang], **fields), entities, None)([Path(path)])


def _check(kind: str, lang: str, file_format: str | None) -> None:
    for what, given, known in (
        ("custom dataset is of kind", kind, _METRICS),
        ("language is called", lang, _BETWEEN),
        ("format is called", file_format, FORMATS),
    ):
        if given is not None and given not in known:
            raise ValueError(f"no {what} {given!r}: choose one of {', '.join(known)}")


@dataclass(frozen=True)
class FileParser:
    """Reads the files of one split."""

    kind: str
    file_format: str | None
    fields: Fields
    entities: bool
    labels: Labels | None

    def __call__(self, paths: Sequence[Path]) -> Iterator[Example]:
        """The examples of the files."""
        for path in paths:
            form = format_of(path, self.kind, self.file_format)
            known = self.labels["label"] if self.labels and "label" in self.labels else None
            if self.kind == "sequence-labelling":
                yield from tagging.examples(path, form, self.fields, self.entities, known)
            elif form == "docbin":
                yield from docbin.classes(path, known)
            elif form == "squad":
                yield from squad.parse([path])
            else:
                yield from records.examples(path, form, self.kind, self.fields, self.labels)


def _labels(parse: FileParser, path: Path) -> dict[str, tuple[str, ...]]:
    """The labels of each target in the training file, in order; none where the kind has none."""
    found: dict[str, set[str]] = {}
    count = 0
    for example in parse([path]):
        count += 1
        for target, labels in _gold(example):
            found.setdefault(target, set()).update(labels)
    if not count:
        raise InputError(f"{path}: holds no example to train on")
    if parse.kind == "sequence-labelling" and not found.get("label"):
        raise InputError(f"{path}: no word of it has a label")
    for target, labels in found.items():
        if len(labels) < 2 and parse.kind != "sequence-labelling":
            raise InputError(f"{path}: every {target} is {labels.pop()!r}; there is nothing to tell apart")
    return {target: tuple(sorted(labels)) for target, labels in found.items()}


def _gold(example: Example) -> Iterator[tuple[str, set[str]]]:
    if isinstance(example, TextExample):
        for target, label in example.labels.items():
            yield target, {label}
    elif isinstance(example, TaggedExample):
        yield "label", {span.label for span in example.spans or ()}
    elif isinstance(example, PairExample) and example.label is not None:
        yield "label", {example.label}
