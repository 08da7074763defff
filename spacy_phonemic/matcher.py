"""The ``phonemic_matcher`` pipeline component: entities of a list, found though they were misheard or mistyped."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.vocab import Vocab

from phonemic import Encoding, Index
from phonemic.errors import InputError, SavedIndexError
from phonemic.files.jsons import checked, damaged, loads, read_object
from phonemic.files.writing import write_json
from phonemic.inventory import LANGUAGES
from phonemic.sound.sounds import sounds
from phonemic.tokenizer import Tokenizer
from spacy_phonemic.borders import Borders, borders_of, is_empty_line, marks_within, parting
from spacy_phonemic.reading import keys_of, make_tokenizer
from spacy_phonemic.requirements import require
from spacy_phonemic.stated import with_stated

#: The extension attributes of a span that was found: the distance in syllables, and the name of the list.
DISTANCE, NAME = "phonemic_distance", "phonemic_name"

Distance = float | dict[str, float]


class Entity(NamedTuple):
    """A name of the list: its label, how it is written, an id of the user's."""

    label: str
    name: str
    id: str


@Language.factory(
    "phonemic_matcher",
    assigns=["doc.ents", f"span._.{DISTANCE}", f"span._.{NAME}"],
    default_config={
        "lang": None, "max_distance": 0.3, "labels": None, "min_syllables": 2, "spans_key": None, "overwrite": False,
        "phrases": None, "readings": "pypinyin",
    },
)  # fmt: skip
def make_phonemic_matcher(
    nlp: Language,
    name: str,
    lang: str | None,
    max_distance: float | dict[str, float],
    labels: list[str] | None,
    min_syllables: int,
    spans_key: str | None,
    overwrite: bool,
    phrases: Any,
    readings: str,
) -> PhonemicMatcher:
    """The factory of the component; see :class:`PhonemicMatcher`."""
    lang = lang or nlp.lang
    if lang not in LANGUAGES:
        raise ValueError(
            f"component {name!r}: names are read as 'vi' or 'zh', not {lang!r}; choose one: "
            "nlp.add_pipe('phonemic_matcher', config={'lang': 'vi'})"
        )
    require(nlp, "spacy")
    return PhonemicMatcher(
        nlp.vocab, lang, max_distance=max_distance, labels=labels, min_syllables=min_syllables, spans_key=spans_key,
        overwrite=overwrite, phrases=phrases, readings=readings, name=name,
    )  # fmt: skip


class PhonemicMatcher:
    """Finds the entities of a list by how they sound, and puts the distance on their spans.

    ``span._.phonemic_distance`` is in syllables, see :func:`phonemic.distance`; ``span._.phonemic_name`` is the name as
    the list has it, and ``span.id_`` the id that the list gives it. A name begins and ends with a token and does not go
    across an empty line, nor across anything that is not heard but hyphens, middle dots, apostrophes, ``&``, ``+`` and
    marks that the name itself is written with (*TP. Hồ Chí Minh*).
    Where matches overlap, ``doc.ents`` gets the nearest, then the longest, then the first; a group of spans gets all,
    of one place and label the nearest.

    Arguments:
        vocab: the pipeline's.
        lang: ``"vi"`` or ``"zh"``; in a config also null, the pipeline's language.
        max_distance: the greatest distance of a name; or one for each label, ``{"PER": 0.3, "LOC": 0.1}``, and then no
            other labels are found.
        labels: the labels to find; None: all.
        min_syllables: a name of fewer syllables is found only where it sounds exactly the same, because short words are
            near to many others.
        spans_key: the group of ``doc.spans`` that the matches go to, overlaps included; None: they become entities.
        overwrite: replace the entities that a match overlaps; otherwise they are kept, and the match is not.
        phrases: Mandarin: your own readings, a dict ``{"行长": "hang2 zhang3"}`` that is saved with the pipeline.
        readings: Mandarin: ``"pypinyin"``, or ``"context"`` for readings by context.
        name: of the component, for messages.

    Raises:
        ValueError: an option does not fit.
    """

    def __init__(
        self,
        vocab: Vocab,
        lang: str,
        *,
        max_distance: Distance = 0.3,
        labels: Sequence[str] | None = None,
        min_syllables: int = 2,
        spans_key: str | None = None,
        overwrite: bool = False,
        phrases: Any = None,
        readings: str = "pypinyin",
        name: str = "phonemic_matcher",
    ) -> None:
        self.vocab, self.name = vocab, name
        self.max_distance, self.min_syllables = _checked_distance(max_distance), _checked_min_syllables(min_syllables)
        self.only = None if labels is None else tuple(labels)
        self.spans_key, self.overwrite = spans_key, overwrite
        self.tokenizer = make_tokenizer(lang, phrases=phrases, readings=readings)
        self._entities: list[Entity] = []
        self._index: Index | None = None
        for attribute in (DISTANCE, NAME):
            if not Span.has_extension(attribute):
                Span.set_extension(attribute, default=None)

    def add(self, label: str, names: Iterable[str], ids: Iterable[str] | None = None) -> None:
        """Adds names to the list.

        Arguments:
            label: their label.
            names: the names.
            ids: an id for each, which ``span.id_`` gets.

        Raises:
            TypeError: one str instead of a list.
            ValueError: there are not as many ids as names.
            InputError: a name is not a str, or nothing of it can be heard; the message says which.
        """
        if isinstance(names, str):
            raise TypeError("add takes a list of names, not one str")
        texts = list(names)
        own = [""] * len(texts) if ids is None else list(ids)
        if len(own) != len(texts):
            raise ValueError(f"{len(texts)} names with {len(own)} ids: give an id for each name, or none")
        patterns = [{"label": label, "pattern": text, "id": id_} for text, id_ in zip(texts, own, strict=True)]
        self.add_patterns(patterns)

    def add_patterns(self, patterns: Iterable[dict[str, Any]]) -> None:
        """Adds names to the list, in the form that the ``entity_ruler`` has.

        Arguments:
            patterns: ``{"label": "PER", "pattern": "Nguyễn Văn An"}`` each, with an ``"id"`` perhaps.

        Raises:
            InputError: one is not of this form, or nothing of it can be heard; the message says which.
        """
        new = []
        for number, pattern in enumerate(patterns):
            new.append(_entity(pattern, f"{self.name}, pattern {number}"))
        batch = self.tokenizer.encode_batch([entity.name for entity in new])
        heard = np.diff(sounds(self.tokenizer.lang).heard_batch(batch)[1])
        for number in np.flatnonzero(heard == 0)[:1].tolist():
            raise InputError(f"{self.name}, pattern {number}: {new[number].name!r} has no sound; leave it out")
        self._entities += new
        self._index = None

    def clear(self) -> None:
        """Takes all names off the list."""
        self._entities, self._index = [], None

    @property
    def patterns(self) -> list[dict[str, str]]:
        """The list, as :meth:`add_patterns` takes it."""
        return [{"label": label, "pattern": name} | ({"id": id_} if id_ else {}) for label, name, id_ in self._entities]

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the list that are looked for, sorted."""
        return tuple(sorted({label for label, *_ in self._entities if self._limit(label) is not None}))

    @property
    def index(self) -> Index:
        """The names that are looked for, in the order of the list."""
        if self._index is None:
            self._wanted = [entity for entity in self._entities if self._limit(entity.label) is not None]
            self._index = Index([entity.name for entity in self._wanted], tokenizer=self.tokenizer)
            self._sizes = self._index.lengths.tolist()
            marks = (marks_within(entity.name, self.tokenizer) for entity in self._wanted)
            self._marks = {row: found for row, found in enumerate(marks) if found}
            names = [self._wanted[row].name for row in self._marks]
            self._marked = (Index(names, tokenizer=self.tokenizer), [*self._marks]) if names else None
        return self._index

    def __len__(self) -> int:
        return len(self._entities)

    def _limit(self, label: str) -> float | None:
        """The greatest distance of a name with a label; None where the label is not looked for."""
        if self.only is not None and label not in self.only:
            return None
        return self.max_distance.get(label) if isinstance(self.max_distance, dict) else self.max_distance

    def __call__(self, doc: Doc) -> Doc:
        """Finds the names in one Doc."""
        found = self.match(doc)
        if self.spans_key is not None:
            group = doc.spans.get(self.spans_key, [])
            doc.spans[self.spans_key] = [*group, *found]
        elif found:
            self._set_entities(doc, found)
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 256) -> Iterator[Doc]:
        """Finds the names in a stream of Docs.

        Arguments:
            stream: the Docs.
            batch_size: not used.
        """
        return map(self, stream)

    def match(self, doc: Doc) -> list[Span]:
        """The spans of a Doc that sound like a name of the list, those at one place with one label once, in order."""
        index = self.index
        if not len(index) or not len(doc):
            return []
        limits = {label: limit for label in self.labels if (limit := self._limit(label)) is not None}
        encoding = self.tokenizer.encode(doc.text)
        for key in keys_of(doc.vocab):
            encoding = with_stated(doc, encoding, key)
        borders = borders_of(doc, encoding, self.tokenizer.lang)
        nearest: dict[tuple[int, int, str], tuple[float, int]] = {}
        for distance, row, first, stop in self._places(encoding, borders, max(limits.values())):
            label = self._wanted[row].label
            limit = 0 if self._sizes[row] < self.min_syllables else limits[label]
            place = borders.tokens[first], borders.tokens[stop - 1] + 1, label
            if distance <= limit and (distance, row) < nearest.get(place, (float("inf"), 0)):
                nearest[place] = distance, row
        spans = []
        for (start, stop, label), (distance, row) in sorted(nearest.items(), key=lambda one: (one[0][:2], one[1])):
            entity = self._wanted[row]
            span = Span(doc, start, stop, label=label, span_id=entity.id)
            if span._.get(DISTANCE) is None or distance <= span._.get(DISTANCE):
                span._.set(DISTANCE, distance)
                span._.set(NAME, entity.name)
            spans.append(span)
        return spans

    def _places(
        self, encoding: Encoding, borders: Borders, max_distance: float
    ) -> Iterator[tuple[float, int, int, int]]:
        """The distance and the row of each name that is found, and its place; names with marks also across these."""
        edges = {"starts": borders.starts, "ends": borders.ends}
        for found, first, stop in self.index.occurrences(encoding, max_distance, breaks=[*borders.breaks], **edges):
            yield found.distance, found.index, first, stop
        if self._marked is None:
            return
        index, rows = self._marked
        lines = [at for at, between in borders.breaks.items() if is_empty_line(between)]
        places, marks = [*borders.breaks], [parting(between) for between in borders.breaks.values()]
        for found, first, stop in index.occurrences(encoding, max_distance, breaks=lines, **edges):
            crossed = marks[bisect_right(places, first) : bisect_left(places, stop)]
            if crossed and all(map(self._marks[rows[found.index]].issuperset, crossed)):
                yield found.distance, rows[found.index], first, stop

    def _set_entities(self, doc: Doc, found: list[Span]) -> None:
        """Makes entities of the nearest that do not overlap."""
        kept = [] if self.overwrite else list(doc.ents)
        taken = {token for span in kept for token in range(span.start, span.end)}
        chosen = []
        for span in sorted(found, key=lambda one: (one._.get(DISTANCE), one.start - one.end, one.start)):
            if taken.isdisjoint(range(span.start, span.end)):
                chosen.append(span)
                taken |= {*range(span.start, span.end)}
        if self.overwrite:
            kept = [span for span in doc.ents if taken.isdisjoint(range(span.start, span.end))]
        doc.set_ents([*chosen, *kept])

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]] | None = None,
        *,
        nlp: Language | None = None,
        patterns: list[dict[str, str]] | None = None,  # spaCy evaluates this, and knows no other names
    ) -> None:
        """Replaces the list: ``[initialize.components.phonemic_matcher] patterns = {...}``.

        Arguments:
            get_examples: not used.
            nlp: not used.
            patterns: see :meth:`add_patterns`; None leaves no name.
        """
        self.clear()
        self.add_patterns(patterns or [])

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The list and all options, as JSON.

        Arguments:
            exclude: not used; there are no parts to leave out.
        """
        return json.dumps(self._state(), ensure_ascii=False).encode()

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> PhonemicMatcher:
        """Reads what :meth:`to_bytes` wrote.

        Raises:
            SavedIndexError: ``data`` is not that.
        """
        with damaged("a saved phonemic_matcher", SavedIndexError):
            return self._load(loads(data), "a saved phonemic_matcher")

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Writes the list and all options as JSON.

        Arguments:
            path: the file; what is there is replaced once the new file is complete.
            exclude: not used.
        """
        write_json(path, self._state(), indent=1)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> PhonemicMatcher:
        """Reads what :meth:`to_disk` wrote.

        Raises:
            SavedIndexError: the file is not that.
        """
        return self._load(read_object(path, SavedIndexError), str(path))

    def _state(self) -> dict[str, Any]:
        return {
            "tokenizer": self.tokenizer.to_json(),
            "max_distance": self.max_distance,
            "labels": self.only,
            "min_syllables": self.min_syllables,
            "spans_key": self.spans_key,
            "overwrite": self.overwrite,
            "patterns": self.patterns,
        }

    def _load(self, state: object, where: str) -> PhonemicMatcher:
        fields: dict[str, Any] = {
            "tokenizer": dict, "max_distance": float | int | dict, "labels": list | None, "min_syllables": int,
            "spans_key": str | None, "overwrite": bool, "patterns": list,
        }  # fmt: skip
        read = checked(state, fields, where, SavedIndexError)
        with damaged(where, SavedIndexError):
            self.tokenizer = Tokenizer.restore(read["tokenizer"], where)
            self.max_distance, self.min_syllables = (
                _checked_distance(read["max_distance"]),
                _checked_min_syllables(read["min_syllables"]),
            )
            self.only = None if read["labels"] is None else tuple(map(str, read["labels"]))
            self.spans_key, self.overwrite = read["spans_key"], read["overwrite"]
        self.clear()
        try:
            self.add_patterns(read["patterns"])
        except InputError as error:
            raise SavedIndexError(f"{where}: damaged ({error})") from error
        return self


def _entity(pattern: Any, where: str) -> Entity:
    """The entity of a pattern.

    Raises:
        InputError: it is not of the form; the message says so of ``where``.
    """
    if not isinstance(pattern, dict) or not {"label", "pattern"} <= pattern.keys():
        raise InputError(
            f'{where}: a pattern is {{"label": "PER", "pattern": "Hồ Chí Minh"}}, with an "id" perhaps, not {pattern!r}'
        )
    label, name, id_ = pattern["label"], pattern["pattern"], pattern.get("id", "")
    if not isinstance(name, str):
        hint = "; patterns of tokens are for the entity_ruler" if isinstance(name, list) else ""
        raise InputError(f"{where}: a pattern must be a name as text (str), not {name!r}{hint}")
    for field, value in (("label", label), ("id", id_)):
        if not isinstance(value, str):
            raise InputError(f"{where}: its {field} must be text (str), not {value!r}")
    if not label:
        raise InputError(f"{where}: the label of {name!r} is empty, which to spaCy is not an entity; give it one")
    return Entity(label, name, id_)


def _checked_min_syllables(min_syllables: int) -> int:
    if isinstance(min_syllables, bool) or not isinstance(min_syllables, int) or min_syllables < 0:
        raise ValueError(f"min_syllables is a number of syllables, 0 or more, not {min_syllables!r}")
    return min_syllables


def _checked_distance(max_distance: Distance) -> Distance:
    for value in max_distance.values() if isinstance(max_distance, dict) else [max_distance]:
        if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
            raise ValueError(
                f"max_distance is a distance in syllables, 0 or more, or one for each label, not {max_distance!r}"
            )
    return dict(max_distance) if isinstance(max_distance, dict) else float(max_distance)
