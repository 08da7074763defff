"""The ``phonemic`` pipeline component: every token's onset, rime and tone."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator
from multiprocessing import parent_process
from pathlib import Path
from typing import Any, Unpack

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch
from spacy.vocab import Vocab

from phonemic import Tokenizer
from phonemic.errors import SavedTokenizerError
from phonemic.files.jsons import damaged, loads, read_object
from phonemic.files.writing import write_json
from phonemic.inventory import LANGUAGES
from phonemic.options import OptionArguments, option_defaults, spell_out
from phonemic.writing.dialects import check_dialect
from spacy_phonemic.attributes import GETTERS, NAMES, register, register_free
from spacy_phonemic.reading import KEY, Way, has_component, leave_to, make_tokenizer, read_with, restore, store
from spacy_phonemic.requirements import require

ASSIGNS = [f"{kind.__name__.lower()}._.{name}" for kind, getters in GETTERS.items() for name in getters]


@Language.factory(
    "phonemic",
    assigns=ASSIGNS,
    default_config={"lang": None, **option_defaults(), "dialect": None, "attrs": {}, "store": False},
)
@spell_out
def make_phonemic(
    nlp: Language,
    name: str,
    lang: str | None,
    dialect: str | None,
    attrs: dict[str, str],
    store: bool,
    **options: Unpack[OptionArguments],
) -> Phonemic:
    """The factory of the component; see :class:`Phonemic`."""
    lang = lang or nlp.lang
    if lang not in LANGUAGES:
        raise ValueError(
            f"component {name!r}: the pipeline's language is {nlp.lang!r}, but phonemic reads only 'vi' and 'zh'; "
            "choose one: nlp.add_pipe('phonemic', config={'lang': 'vi'})"
            if lang == nlp.lang
            else f"component {name!r}: unknown language {lang!r}: choose 'vi' or 'zh'"
        )
    require(nlp, "spacy")
    for other, component in nlp.components:
        if isinstance(component, Phonemic):
            _check_shared(name, attrs, Way(make_tokenizer(lang, **options), dialect), other, component)
    return Phonemic(nlp.vocab, lang, dialect=dialect, attrs=attrs, store=store, **options)


def _check_shared(name: str, attrs: dict[str, str], way: Way, other: str, component: Phonemic) -> None:
    """Refuses a second component that would take the attributes of one that reads in another way.

    Raises:
        ValueError: it would; the message says which.
    """
    shared = sorted({attrs.get(each, each) for each in NAMES} & {component.attrs.get(each, each) for each in NAMES})
    if shared and way != component.way:
        raise ValueError(
            f"component {name!r} reads in another way ({way}) than {other!r} ({component.way}), which has "
            f"{', '.join(shared)} already: give each of them another name with attrs, "
            f"nlp.add_pipe('phonemic', config={{'attrs': {{{shared[0]!r}: 'other_{shared[0]}', ...}}}})"
        )


class Phonemic:
    """Puts onset, rime, tone and more on the tokens, spans and Docs of a pipeline.

    A Doc is read when an attribute is first asked for, in one call of the core on ``doc.text``, because a reading may
    depend on what is next to the token. So the component itself costs next to nothing.

    Arguments:
        vocab: the pipeline's; it carries the options to wherever a Doc is read.
        lang: ``"vi"`` or ``"zh"``; in a config also null, the pipeline's language.
        dialect: Vietnamese: write ``token._.ipa`` as it is spoken in ``"hanoi"``, ``"hue"`` or ``"saigon"``; None: as
            it is spelled. Onset, rime and tone always follow the spelling.
        attrs: other names for attributes whose names another plugin owns: ``{"tone": "phonemic_tone"}``.
        store: read the Docs in the pipeline, a batch in one call of the core, and write ids and spans into
            ``doc.user_data``, so that they are saved with the Docs.
        phrases: Mandarin: your own readings, a dict ``{"行长": "hang2 zhang3"}`` that is saved with the pipeline.
        options: ``strict``, ``word_joiner``, ``fallback``, ``readings``, ``sandhi``, ``erhua``, ``form``: see
            :class:`phonemic.TokenizerOptions`.

    Raises:
        ValueError: an option does not fit, or another plugin owns an attribute.
    """

    def __init__(
        self,
        vocab: Vocab,
        lang: str,
        *,
        dialect: str | None = None,
        attrs: dict[str, str] | None = None,
        store: bool = False,
        **options: Unpack[OptionArguments],
    ) -> None:
        self.vocab = vocab
        self.attrs = dict(attrs or {})
        self.store = store
        register(self.attrs)
        tokenizer = make_tokenizer(lang, **options)
        check_dialect(dialect, lang)
        self._use(Way(tokenizer, dialect))

    def _use(self, way: Way) -> None:
        self.way = way
        read_with(self.vocab, self, self.key)

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer with which Docs are read."""
        return self.way.tokenizer

    @property
    def key(self) -> str:
        """The name of the attribute that holds the encoding."""
        return self.attrs.get(KEY, KEY)

    def __call__(self, doc: Doc) -> Doc:
        """Reads one Doc, if it is to be stored; else it is read when it is asked, with this component's options."""
        return next(iter(self.pipe([doc])))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 256) -> Iterator[Doc]:
        """Reads a stream of Docs, a batch in one call of the core.

        Arguments:
            stream: the Docs.
            batch_size: Docs in a batch.
        """
        return self._stored(stream, batch_size) if self.store else self._left(stream)

    def _left(self, stream: Iterable[Doc]) -> Iterator[Doc]:
        for doc in stream:
            if doc.vocab is not self.vocab:
                self._take_over(doc.vocab)
            leave_to(self.way, doc, self.key)
            yield doc

    def _take_over(self, vocab: Vocab) -> None:
        """Has all Docs of another pipeline read with these options, unless it has a component of its own.

        This component was sourced into that pipeline, then; otherwise it was only given one of its Docs.
        """
        if has_component(vocab, self.key):
            return
        read_with(vocab, self, self.key)
        if parent_process() is not None:
            warnings.warn(
                "the component 'phonemic' comes from a pipeline with another vocab, so the Docs that this process "
                "returns are read without its options: load that pipeline with the vocab of this one, "
                "spacy.load(..., vocab=nlp.vocab), or read one text with nlp before nlp.pipe(..., n_process=2)",
                stacklevel=2,
            )

    def _stored(self, stream: Iterable[Doc], batch_size: int) -> Iterator[Doc]:
        for docs in minibatch(stream, batch_size):
            batch = self.tokenizer.encode_batch([doc.text for doc in docs], spans=True)
            store(docs, batch, self.tokenizer, self.key)
            yield from self._left(docs)

    def initialize(self, get_examples: Any = None, *, nlp: Language | None = None) -> None:
        """Gives the vocab the options again, whose tables ``[initialize]`` may have replaced.

        Arguments:
            get_examples: not used.
            nlp: not used.
        """
        read_with(self.vocab, self, self.key)

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The options and the user's readings, as JSON.

        Arguments:
            exclude: not used; there are no parts to leave out.
        """
        return json.dumps(self._state(), ensure_ascii=False).encode()

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> Phonemic:
        """Reads what :meth:`to_bytes` wrote.

        Raises:
            SavedTokenizerError: ``data`` is not that.
        """
        with damaged("a saved phonemic component", SavedTokenizerError):
            return self._load(loads(data))

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Writes the options and the user's readings as JSON.

        Arguments:
            path: the file; what is there is replaced once the new file is complete.
            exclude: not used.
        """
        write_json(path, self._state(), indent=1)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> Phonemic:
        """Reads what :meth:`to_disk` wrote.

        Raises:
            SavedTokenizerError: the file is not that.
        """
        return self._load(read_object(path, SavedTokenizerError))

    def _state(self) -> dict[str, Any]:
        return {**self.tokenizer.to_json(), "dialect": self.way.dialect}

    def _load(self, state: dict[str, Any]) -> Phonemic:
        self._use(restore(state, "a saved phonemic component"))
        return self


register_free({})
