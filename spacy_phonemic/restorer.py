"""The component ``phonemic_restorer``: what was lost in a Doc's text, as suggestions; the text stays as it is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import srsly
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc, Span

from phonemic.files.jsons import checked, damaged
from phonemic.inventory import LANGUAGES

if TYPE_CHECKING:
    from phonemic_bert.restoration import Restored
    from phonemic_bert.restoration.restoring import Parts

_NAME = "restored"


class PhonemicRestorer(Pipe):
    """Gives Vietnamese Docs their diacritics back, or writes pinyin in characters.

    ``doc._.restored`` is the restored text. The spans of ``doc.spans[spans_key]`` are the tokens that are written
    otherwise in it, and ``span._.restored`` says how.

    Arguments:
        checkpoint: a file of n-grams, a restorer's folder, or an installed restorer's name; it is read when the first
            Doc comes, and saved with the pipeline. None, in a pipeline: ``phonemic-restorer-vi`` or ``-zh``, by its
            language.
        threshold: how much likelier, in nats, a change must make a text, unless the text lacks all marks; None: 16 in
            Vietnamese, 9 in Mandarin.
        ngrams_only: leave the restorer's network out, which is faster and less often right.
        spans_key: the group of ``doc.spans`` that the changed tokens go to.
        name: the component's name.
        lang: the pipeline's language, which the n-grams must be for; None: any.

    Raises:
        ValueError: ``threshold`` is negative or not finite.
    """

    def __init__(
        self,
        checkpoint: str | None = None,
        threshold: float | None = None,
        ngrams_only: bool = False,
        spans_key: str = _NAME,
        name: str = "phonemic_restorer",
        lang: str | None = None,
    ) -> None:
        if threshold is not None and not 0 <= threshold < math.inf:
            raise ValueError(f"component {name!r}: threshold {threshold}: must be finite and at least 0, or null")
        self.lang = lang
        self.checkpoint, self.threshold, self.ngrams_only = checkpoint, threshold, ngrams_only
        self.spans_key, self.name = spans_key, name
        self._parts: Parts | None = None
        self._restorer: Any = None

    def __call__(self, doc: Doc) -> Doc:
        """Restores one Doc."""
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Restores Docs, some at a time.

        Arguments:
            stream: the Docs.
            batch_size: how many at a time.
        """
        rest = iter(stream)
        while docs := list(islice(rest, batch_size)):
            found = self._loaded().restore_batch([doc.text for doc in docs], False)
            for doc, restored in zip(docs, found, strict=True):
                self._annotate(doc, restored)
                yield doc

    def _annotate(self, doc: Doc, restored: Restored) -> None:
        doc._.restored = restored.text
        pieces: dict[tuple[int, int], list[str]] = {}
        ends: dict[tuple[int, int], int] = {}
        for change in restored.changes:
            span = doc.char_span(change.start, change.end, alignment_mode="expand")
            if span is None:
                continue
            place = span.start, span.end
            at = ends.get(place, span.start_char)
            pieces.setdefault(place, []).extend([restored.source[at : change.start], change.text])
            ends[place] = change.end
        spans = []
        for place, written in pieces.items():
            span = doc[slice(*place)]
            span._.restored = "".join([*written, restored.source[ends[place] : span.end_char]])
            spans.append(span)
        doc.spans[self.spans_key] = spans

    def _loaded(self) -> Any:
        if self._restorer is None:
            parts = self._read()
            if self.lang not in (None, parts.ngrams.lang):
                raise ValueError(
                    f"component {self.name!r}: its n-grams are for {parts.ngrams.lang}, and the pipeline's language is "
                    f"{self.lang}: choose another checkpoint"
                )
            self._restorer = parts.restorer(threshold=self.threshold)
        return self._restorer

    def _read(self) -> Parts:
        if self._parts is None:
            from phonemic_bert.errors import CheckpointError  # only where it is used: the package takes a while
            from phonemic_bert.restoration.restoring import Parts

            if self.checkpoint is None:
                raise CheckpointError("phonemic_restorer needs a checkpoint: config={'checkpoint': 'FOLDER'}")
            self._parts = Parts.load(self.checkpoint, self.ngrams_only)
        return self._parts

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The n-grams and the network.

        Arguments:
            exclude: not used.
        """
        parts = self._read()
        found: bytes = srsly.msgpack_dumps({"ngrams": parts.ngrams.to_bytes(), "network": dict(parts.network)})
        return found

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> PhonemicRestorer:
        """Reads what :meth:`to_bytes` wrote.

        Raises:
            CheckpointError: ``data`` is not that.
        """
        from phonemic_bert.errors import CheckpointError
        from phonemic_bert.restoration.restoring import Parts

        where = "a saved phonemic_restorer"
        fields = {"ngrams": bytes, "network": dict}
        with damaged(where, CheckpointError):
            read = checked(srsly.msgpack_loads(data), fields, where, CheckpointError)
        self._parts, self._restorer = Parts.of_bytes(read["ngrams"], read["network"], where), None
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Writes the n-grams and the network.

        Arguments:
            path: the folder; what is there is replaced once the new one is complete.
            exclude: not used.
        """
        self._read().save(Path(path))

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> PhonemicRestorer:
        """Reads what :meth:`to_disk` wrote.

        Raises:
            CheckpointError: the folder does not hold that.
        """
        from phonemic_bert.restoration.restoring import Parts

        self._parts, self._restorer = Parts.load(path, self.ngrams_only), None
        return self


def _register() -> None:
    for kind in (Doc, Span):
        if not kind.has_extension(_NAME):
            kind.set_extension(_NAME, default=None)


_register()


@Language.factory(
    "phonemic_restorer",
    default_config={"checkpoint": None, "threshold": None, "ngrams_only": False, "spans_key": _NAME},
    assigns=["doc._.restored", "doc.spans"],
)
def make_phonemic_restorer(
    nlp: Language, name: str, checkpoint: str | None, threshold: float | None, ngrams_only: bool, spans_key: str
) -> PhonemicRestorer:
    """The factory of the component; see :class:`PhonemicRestorer`."""
    lang = nlp.lang if nlp.lang in LANGUAGES else None
    if checkpoint is None and lang:
        checkpoint = f"phonemic-restorer-{lang}"
    return PhonemicRestorer(checkpoint, threshold, ngrams_only, spans_key, name, lang)
