"""``python -m spacy_phonemic check``: what a training config will read and cost, before hours go into it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.util import load_config, registry, resolve_dot_names
from thinc.api import Config, Model

from phonemic.errors import InputError
from phonemic.inventory import NATIVE
from spacy_phonemic.reading import reading_of

#: Steps that are timed, after one that is not.
STEPS = 3


def report(config: Path, overrides: dict[str, Any], gpu: int = -1) -> Iterator[str]:
    """Reads the corpora of a training config, initializes its pipeline and trains it for a few steps.

    Arguments:
        config: the file.
        overrides: settings in the place of the file's, ``{"paths.train": "train.spacy"}``.
        gpu: the GPU; -1: the CPU.

    Yields:
        Lines for people, one finding each; nothing is written.

    Raises:
        InputError: the config cannot be read, or trained with; spaCy's own words say why.
    """
    try:
        yield from _report(load_config(config, overrides=overrides, interpolate=False), gpu)
    except (OSError, ValueError, KeyError, TypeError) as error:  # what spaCy raises where a config does not fit
        raise InputError(f"{config}: {error}") from error


def _report(config: Config, gpu: int) -> Iterator[str]:
    nlp = init_nlp(config, use_gpu=gpu)
    settings = nlp.config.interpolate()
    training = registry.resolve(settings["training"], schema=ConfigSchemaTraining)
    names = [training["train_corpus"], training["dev_corpus"]]
    for part, corpus in zip(("train", "dev"), resolve_dot_names(settings, names), strict=True):
        examples = list(corpus(nlp))
        yield f"{part}: {_of_documents([example.predicted for example in examples], nlp)}"
        yield from _of_entities(part, examples)
        if part == "train":
            train = examples
    for node in _encoders(nlp):
        yield _of_windows(node, [example.predicted for example in train])
    yield from _of_steps(nlp, train, training)


def _of_documents(docs: Sequence[Doc], nlp: Language) -> str:
    positions = unread = 0
    for doc in docs:
        encoding = reading_of(doc).encoding
        positions += len(encoding.ids)
        unread += int((encoding.kinds != NATIVE).sum())
    tokens = sum(map(len, docs))
    return (
        f"{len(docs):,} documents, {tokens:,} tokens, {positions:,} positions, "
        f"{unread / max(1, positions):.0%} of which are not syllables"
    )


def _of_entities(part: str, examples: Sequence[Example]) -> Iterator[str]:
    """The entities that lie across the pipeline's tokens, which spaCy trains without."""
    crossing = sum(
        1
        for example in examples
        for entity in example.reference.ents
        if example.predicted.char_span(entity.start_char, entity.end_char) is None
    )
    if crossing:
        yield f"{part}: {crossing:,} entities begin or end within a token; training leaves them out"


def _encoders(nlp: Language) -> list[Model[Any, Any]]:
    return [
        node
        for _, pipe in nlp.pipeline
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
