"""``python -m spacy_phonemic check``: what a training config will read and cost, before hours go into it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.util import get_sourced_components, load_config, registry, resolve_dot_names
from thinc.api import Config, Model, require_gpu

from phonemic.errors import InputError
from phonemic.inventory import NATIVE
from spacy_phonemic.options import TOO_SLOW
from spacy_phonemic.reading import reading_of

#: Steps that are timed, after one that is not.
STEPS = 3

#: The learning rates of so many steps are looked at, of a training that may go on for ever.
_RATES = 20_000

#: The share of tokens without a syllable above which a text is taken for one of another language.
_FOREIGN = 0.5


def report(config: Path, overrides: dict[str, Any], gpu: int = -1) -> Iterator[str]:
    """Reads the corpora of a training config, initializes its pipeline and trains it for a few steps.

    Arguments:
        config: the file.
        overrides: settings in the place of the file's, ``{"paths.train": "train.spacy"}``.
        gpu: the GPU; -1: the CPU.

    Yields:
        Lines for people, one finding each; nothing is written.

    Raises:
        InputError: the config cannot be read, or trained with, or there is no such GPU; spaCy's own words say why.
    """
    if gpu >= 0:
        _use_gpu(gpu)
    try:
        yield from _report(_loaded(config, overrides), gpu)
    except KeyError as error:
        told = str(*error.args[:1])  # a name, or a sentence of spaCy's
        raise InputError(f"{config}: {told if ' ' in told else f'{told!r} is missing or unknown'}") from error
    except (OSError, ValueError, TypeError) as error:  # what spaCy raises where a config does not fit
        raise InputError(f"{config}: {error}") from error


def _use_gpu(number: int) -> None:
    try:
        require_gpu(number)
    except (RuntimeError, ValueError) as error:  # cupy's where none has this number, thinc's where there is none
        raise InputError(f"GPU {number} cannot be used ({error}): leave --gpu-id out to take the CPU") from error


def _loaded(path: Path, overrides: dict[str, Any]) -> Config:
    try:
        config = load_config(path, overrides=overrides, interpolate=False)
    except UnicodeDecodeError as error:
        raise ValueError(
            "no training config, not even text: the corpora go to --paths.train and --paths.dev"
        ) from error
    except ValueError as error:
        raise ValueError(" ".join(str(error).split())) from error
    lacking = [f"[{section}]" for section in ("nlp", "training") if section not in config]
    if lacking:
        raise ValueError(
            f"no training config, it lacks {' and '.join(lacking)}: `python -m spacy_phonemic config` writes one"
        )
    return config


def _initialized(config: Config, gpu: int) -> Language:
    try:
        with _quiet():
            return init_nlp(config, use_gpu=gpu)
    except ValueError as error:
        if "[E913]" in str(error):
            raise ValueError("it names no corpora: give --paths.train train.spacy --paths.dev dev.spacy") from error
        if "[E143]" in str(error):
            raise ValueError(
                f"{str(error).split('. ')[0].partition('] ')[2]}: the training corpus has nothing that it could learn, "
                "such as tags: is it another task's corpus?"
            ) from error
        raise
    except AssertionError as error:
        if "[E923]" not in str(error):
            raise
        path = config.interpolate().get("paths", {}).get("train")
        raise ValueError(
            f"the training corpus{f' {path}' if path else ''} holds no texts: give a .spacy file, as `python -m "
            "spacy_phonemic convert` writes it, with --paths.train"
        ) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Without spaCy's warning of a path that holds no .spacy file, which is told in a line of its own."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"\[W090\]")
        yield


def _report(config: Config, gpu: int) -> Iterator[str]:
    nlp = _initialized(config, gpu)
    settings = nlp.config.interpolate()
    training = registry.resolve(settings["training"], schema=ConfigSchemaTraining)
    names = [training["train_corpus"], training["dev_corpus"]]
    for part, corpus in zip(("train", "dev"), resolve_dot_names(settings, names), strict=True):
        with _quiet():
            examples = list(corpus(nlp))
        docs = [example.predicted for example in examples]
        yield f"{part}: {_of_documents(docs)}"
        yield from (f"warning: {part}: {doubt}" for doubt in [*_doubts(part, examples, nlp), *_of_language(docs)])
        if part == "train":
            train = examples
    fresh = _encoders(nlp, get_sourced_components(config))
    for node in _encoders(nlp):
        yield _of_windows(node, [example.predicted for example in train])
        if node in fresh:
            yield from _of_rate(node, settings["training"])
    yield from _of_steps(nlp, train, training)


def _of_documents(docs: Sequence[Doc]) -> str:
    positions = unread = 0
    for doc in docs:
        encoding = reading_of(doc).plain
        positions += len(encoding.ids)
        unread += int((encoding.kinds != NATIVE).sum())
    tokens = sum(map(len, docs))
    return (
        f"{len(docs):,} documents, {tokens:,} tokens, {positions:,} positions, "
        f"{unread / max(1, positions):.0%} of which are not syllables"
    )


def _doubts(part: str, examples: Sequence[Example], nlp: Language) -> Iterator[str]:
    """The problems of a part's examples: there are none, or none of an entity, or spaCy trains without some."""
    if not examples:
        yield f"nothing to evaluate with, so that no step is the best: give a .spacy file with --paths.{part}"
        return
    entities = [(example, entity) for example in examples for entity in example.reference.ents]
    heads = [name for name in nlp.pipe_names if nlp.get_pipe_meta(name).factory in ("ner", "beam_ner")]
    if heads and not entities:
        yield f"there is not one entity, which {' and '.join(heads)} would learn from: is it another task's corpus?"
    crossing = sum(
        example.predicted.char_span(entity.start_char, entity.end_char) is None for example, entity in entities
    )
    if crossing:
        yield f"{crossing:,} entities begin or end within a token; training leaves them out"


def _of_language(docs: Sequence[Doc]) -> Iterator[str]:
    """Whether the text looks like one of another language: most of the tokens have no syllable."""
    tokens = unread = 0
    for doc in docs:
        reading = reading_of(doc)
        words = [token for token in doc if not token.is_space]
        tokens += len(words)
        unread += sum(not reading.parts(token.idx, token.idx + len(token)) for token in words)
    if unread > _FOREIGN * tokens:
        lang = reading_of(docs[0]).encoding.vocabulary.lang
        yield f"{unread / tokens:.0%} of the tokens have no syllable of {lang!r}: is the text in another language?"


def _encoders(nlp: Language, but: Container[str] = ()) -> list[Model[Any, Any]]:
    """The nodes of PhonemicBERT in all components but some."""
    return [
        node
        for name, pipe in nlp.pipeline
        if name not in but
        if isinstance(model := getattr(pipe, "model", None), Model)
        for node in model.walk()
        if node.name == "phonemic_bert"
    ]


def _of_windows(node: Model[Any, Any], docs: Sequence[Doc]) -> str:
    from spacy_phonemic.windows import window_starts

    network: Any = node.shims[0]._model
    lengths = [len(reading_of(doc).encoding.ids) for doc in docs]
    windows = sum(len(window_starts(length, network.window, network.stride)) for length in lengths)
    longer = sum(length > network.window for length in lengths)
    rate = network.options.rate_factor(network.bert.config.hidden_size)
    size = sum(weight.numel() for weight in network.parameters())
    return (
        f"PhonemicBERT: {size:,} parameters, {rate:g} of the learning rate; {windows:,} windows of at most "
        f"{network.window} positions, {longer:,} documents are longer than one"
    )


def _of_rate(node: Model[Any, Any], training: dict[str, Any]) -> Iterator[str]:
    """Whether fresh weights learn too slowly, at a rate that suits pretrained ones."""
    network: Any = node.shims[0]._model
    given = training["optimizer"].get("learn_rate")
    if network.options.checkpoint is not None or given is None:
        return
    found = registry.resolve({"rate": given})["rate"]
    highest = found if isinstance(found, int | float) else max(islice(found, training["max_steps"] or _RATES))
    rate = highest * network.options.rate_factor(0)
    if rate < TOO_SLOW:
        yield (
            f"warning: PhonemicBERT has fresh weights and learns at {rate:g} at most, which suits pretrained ones: set "
            "training.optimizer.learn_rate.initial_rate to 0.001 and the encoder's learn_rate_factor to null, or give "
            "a pretrained model with --paths.checkpoint"
        )


def _of_steps(nlp: Language, examples: list[Example], training: dict[str, Any]) -> Iterator[str]:
    batches = list(islice(training["batcher"](iter(examples)), STEPS + 1))
    if not batches:
        raise ValueError("there is nothing to train with")
    seconds = []
    for batch in batches:
        begun = time.perf_counter()
        nlp.update(batch, sgd=training["optimizer"], drop=training["dropout"])
        seconds.append(time.perf_counter() - begun)
    timed = sorted(seconds[1:] or seconds)
    step, steps = timed[len(timed) // 2], training["max_steps"]
    tokens = sum(len(example.predicted) for batch in batches for example in batch) / len(batches)
    yield f"a step: {step:.2f} s, {tokens:,.0f} tokens"
    if steps:
        epochs = steps * tokens / max(1, sum(len(example.predicted) for example in examples))
        yield f"{steps:,} steps: {_duration(steps * step)} without evaluation, {epochs:.1f} epochs"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
