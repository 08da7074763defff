"""The component ``phonemic_restorer``: what was lost in a Doc's text, as suggestions; the text stays as it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc, Span

if TYPE_CHECKING:
    from phonemic_bert.restoration import Restored
    from phonemic_bert.restoration.ngrams import Ngrams

_NAME = "restored"


class PhonemicRestorer(Pipe):
    """Gives Vietnamese Docs their diacritics back, or writes pinyin in characters.

    ``doc._.restored`` is the restored text. The spans of ``doc.spans[spans_key]`` are the tokens that are written
    otherwise in it, and ``span._.restored`` says how.

    Arguments:
        checkpoint: a file of n-grams, a folder with it, or an installed restorer's name; it is read when the first
            Doc comes, and saved with the pipeline. None, in a pipeline: the restorer that ships for its language.
        threshold: see :func:`phonemic_bert.restoration.restoring.load`.
        spans_key: the key of the spans.
        name: the component's name.
    """

    def __init__(
        self,
        checkpoint: str | None = None,
        threshold: float | None = None,
        spans_key: str = _NAME,
        name: str = "phonemic_restorer",
    ) -> None:
        self.checkpoint, self.threshold, self.spans_key, self.name = checkpoint, threshold, spans_key, name
        self._ngrams: Ngrams | None = None
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
            from phonemic_bert.restoration.ngrams import Ngrams
            from phonemic_bert.restoration.restoring import ngrams_path, restorer_of

            if self._ngrams is None:
                if self.checkpoint is None:
                    from phonemic_bert.errors import CheckpointError  # only where it is used: the package takes a while

                    raise CheckpointError("phonemic_restorer needs a checkpoint: config={'checkpoint': 'FOLDER'}")
                self._ngrams = Ngrams.load(ngrams_path(self.checkpoint))
            self._restorer = restorer_of(self._ngrams, self.threshold)
        return self._restorer

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The n-grams.

        Arguments:
            exclude: not used.
        """
        self._loaded()
        assert self._ngrams is not None
        return self._ngrams.to_bytes()

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> PhonemicRestorer:
        """Reads what :meth:`to_bytes` wrote.

        Raises:
            CheckpointError: ``data`` is not that.
        """
        from phonemic_bert.restoration.ngrams import Ngrams

        self._ngrams, self._restorer = Ngrams.from_bytes(data, "a saved phonemic_restorer"), None
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Writes the n-grams.

        Arguments:
            path: the file; what is there is replaced once the new file is complete.
            exclude: not used.
        """
        self._loaded()
        assert self._ngrams is not None
        self._ngrams.save(Path(path))

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> PhonemicRestorer:
        """Reads what :meth:`to_disk` wrote.

        Raises:
            CheckpointError: the file is not that.
        """
        from phonemic_bert.restoration.ngrams import Ngrams

        self._ngrams, self._restorer = Ngrams.load(Path(path)), None
        return self


def _register() -> None:
    for kind in (Doc, Span):
        if not kind.has_extension(_NAME):
            kind.set_extension(_NAME, default=None)


_register()


@Language.factory(
    "phonemic_restorer",
    default_config={"checkpoint": None, "threshold": None, "spans_key": _NAME},
    assigns=["doc._.restored", "doc.spans"],
)
def make_phonemic_restorer(
    nlp: Language, name: str, checkpoint: str | None, threshold: float | None, spans_key: str
) -> PhonemicRestorer:
    """The factory of the component.

    Arguments:
        nlp: the pipeline.
        name: the component's name.
        checkpoint: see :class:`PhonemicRestorer`, as the arguments that follow.
        threshold: in nats.
        spans_key: the key of the spans.
    """
    if checkpoint is None and nlp.lang in ("vi", "zh"):
        checkpoint = f"phonemic-restorer-{nlp.lang}"
    return PhonemicRestorer(checkpoint, threshold, spans_key, name)
