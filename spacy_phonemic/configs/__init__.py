"""Ready training configs of spaCy, put together from files: a base, an encoder, and the heads of a task."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import sqrt
from pathlib import Path

from phonemic import Tokenizer
from phonemic.errors import InputError
from phonemic.files.jsons import checked, read_object
from phonemic.inventory import LANGUAGES
from phonemic.options import TokenizerOptions

#: The heads of each task, and what share of the training's score each of their scores has.
TASKS: dict[str, dict[str, dict[str, float]]] = {
    "ner": {"ner": {"ents_f": 1.0}},
    "pos": {"tagger": {"tag_acc": 0.5}, "morphologizer": {"pos_acc": 0.5, "morph_acc": 0.0}},
    "ner_pos": {
        "tagger": {"tag_acc": 0.25},
        "morphologizer": {"pos_acc": 0.25, "morph_acc": 0.0},
        "ner": {"ents_f": 0.5},
    },
}

#: The other scores of the heads, which are shown and do not count.
_SHOWN: dict[str, dict[str, object]] = {
    "ner": {"ents_p": 0.0, "ents_r": 0.0, "ents_per_type": None},
    "tagger": {"tag_micro_p": None, "tag_micro_r": None, "tag_micro_f": None},
    "morphologizer": {"morph_per_feat": None},
}

#: The encoders, and the component that has each: what is heard and written without torch, PhonemicBERT, both together.
ENCODERS = {"hash": "tok2vec", "bert": "phonemic_transformer", "both": "phonemic_transformer"}

#: The tokens of a batch, at most: those of the base; and where names are learned or PhonemicBERT is alone, which takes
#: more steps of fewer, as measured (docs/experiments/2026-11-28-batches-and-layers-in-spacy.md).
_BATCH, _SMALL_BATCH = 2000, 500

#: The words of training per square root of the words of the training set: half as many again as the best development
#: score took with a checkpoint on five corpora of 18,000 to 360,000 words (benchmarks/results/spacy_until_tokens.json).
_WORDS, _WORDS_OF_NAMES = 2500, 5000

#: The least steps that :func:`steps_for` gives, and the default where the training set is not known.
_LEAST_STEPS, _STEPS = 200, 20_000

#: The share of misspelt syllables in training, of Vietnamese: of columns that learn names more than else, as measured.
_MARK_ERRORS, _MARK_ERRORS_OF_NAMES = 0.3, 0.5

#: Steps from which on the learning rate warms up for as long as the base says; fewer warm up for a tenth of them.
_FULL_WARMUP = 2500

#: The learning rate of a pretrained encoder that is next to features, as a part of the optimizer's: as measured.
_BESIDE_FEATURES = 0.1


def config_text(
    task: str,
    lang: str = "vi",
    encoder: str = "bert",
    checkpoint: str | None = None,
    steps: int | None = None,
    gpu: bool = False,
    train_words: int | None = None,
    reading: Mapping[str, object] | None = None,
) -> str:
    """A training config, complete, as text.

    Arguments:
        task: ``"ner"``, ``"pos"`` or ``"ner_pos"``.
        lang: ``"vi"`` or ``"zh"``.
        encoder: ``"hash"``: ``spacy_phonemic.PhonemicHashEmbed.v1`` in spaCy's own tok2vec; ``"bert"``: PhonemicBERT;
            ``"both"``: one next to the other.
        checkpoint: a folder, or the name of an installed checkpoint, for ``paths.checkpoint``; None: fresh weights. It
            is not looked into, see :func:`check_checkpoint`.
        steps: of training; the warm-up and the times of evaluation go by them. None: by ``train_words``, or 20,000.
        gpu: larger batches, half precision in PhonemicBERT.
        train_words: the size of the training set, by which steps and patience are chosen, see :func:`steps_for`.
        reading: options of the tokenizer, as :func:`check_checkpoint` returns them; None: the defaults.

    Raises:
        ValueError: there is no config for that.
    """
    by_size = steps is None and train_words is not None
    if steps is None:
        steps = _STEPS if train_words is None else steps_for(task, train_words, checkpoint is not None, gpu, encoder)
    _check(task, lang, encoder, checkpoint, steps)
    heads, component, names = TASKS[task], ENCODERS[encoder], "ner" in TASKS[task]
    parts = [_part("base"), _part(f"encoders/{encoder}"), *(_part(f"heads/{head}") for head in heads)]
    parts += [_listener(head, component) for head in heads]
    parts.append(_section("training.score_weights", _score_weights(heads)))
    changes = {
        'lang = "vi"': f'lang = "{lang}"',
        "pipeline = []": f"pipeline = {json.dumps([component, *heads], separators=(',', ':'))}",
        "checkpoint = null": f"checkpoint = {json.dumps(checkpoint)}",
        "max_steps = 20000": f"max_steps = {steps}",
        "total_steps = 20000": f"total_steps = {steps}",
        "[initialize.tokenizer]\n": _section("initialize.tokenizer", _tokenizer_settings(lang)),
    }
    if lang == "vi":
        errors = _MARK_ERRORS_OF_NAMES if encoder == "hash" and names else _MARK_ERRORS
        changes |= {
            '"toneless","syllable"]': '"toneless","syllable","undiacritized"]',
            "homophone_noise = 0.25": "homophone_noise = 0.0",
            "diacritic_noise = 0.0": f"diacritic_noise = {errors}",
        }
    elif names:  # bigrams help those of Mandarin, and no parts of speech
        changes['"toneless","syllable"]'] = '"toneless","syllable","bigram"]'
    if encoder == "hash":  # cupy's own memory: torch need not be there
        changes['gpu_allocator = "pytorch"'] = "gpu_allocator = null"
    if encoder == "both" and checkpoint is not None:
        changes["learn_rate_factor = null"] = f"learn_rate_factor = {_BESIDE_FEATURES}"
    if steps < _FULL_WARMUP:
        changes["warmup_steps = 250"] = f"warmup_steps = {steps // 10}"
    size = _batch_size(task, encoder)
    changes |= {  # of smaller batches as many more, so that patience is one of as many words
        "size = 2000": f"size = {4 * size if gpu else size}",
        "patience = 1600": f"patience = {steps // 3 if by_size else 1600 * _BATCH // size}",
        "eval_frequency = 200": f"eval_frequency = {max(1, min(200 * _BATCH // size, steps // 10))}",
    }
    for name, value in (reading or {}).items():
        default = json.dumps(getattr(TokenizerOptions(lang), name))
        changes[f"\n{name} = {default}\n"] = f"\n{name} = {json.dumps(value)}\n"
    if gpu:
        changes["mixed_precision = false"] = "mixed_precision = true"
    text = "\n".join(parts)
    for old, new in changes.items():
        text = text.replace(old, new, 1)
    return text


def _batch_size(task: str, encoder: str) -> int:
    """Return the tokens of a batch on a CPU."""
    return _SMALL_BATCH if "ner" in TASKS[task] or encoder == "bert" else _BATCH


def steps_for(task: str, train_words: int, pretrained: bool, gpu: bool = False, encoder: str = "bert") -> int:
    """The steps of training for a training set, which grow with the square root of its words.

    Arguments:
        task: one of :data:`TASKS`.
        train_words: the words of the training set.
        pretrained: whether there is a checkpoint; without one twice as many words are read.
        gpu: whether batches are those of a GPU, four times as large.
        encoder: one of :data:`ENCODERS`, which the size of a batch depends on, too.

    Raises:
        ValueError: there is no such task, or no words.
    """
    if task not in TASKS:
        raise ValueError(f"there is no config {task!r}: choose one of {', '.join(TASKS)}")
    if train_words < 1:
        raise ValueError(f"train_words={train_words}: must be at least 1")
    words = (_WORDS_OF_NAMES if "ner" in TASKS[task] else _WORDS) * sqrt(train_words) * (1 if pretrained else 2)
    return max(_LEAST_STEPS, round(words / (_batch_size(task, encoder) * (4 if gpu else 1))))


def check_checkpoint(checkpoint: str, lang: str) -> dict[str, object]:
    """Checks that a checkpoint is there and is of a language; where phonemic_bert is not installed, nothing.

    Arguments:
        checkpoint: a folder, or the name of an installed checkpoint.
        lang: ``"vi"`` or ``"zh"``.

    Returns:
        The options of a tokenizer that reads text as the checkpoint has learned it, the ones that are not defaults.

    Raises:
        InputError: there is none, its configuration is damaged, or it is of another language.
        CheckpointError: it is a name of this project's, but not installed.
        SavedTokenizerError: its description of the tokenizer is damaged.
    """
    try:
        from phonemic_bert.checkpoints import resolve
    except ImportError:
        return {}
    folder = Path(resolve(checkpoint))
    path = folder / "config.json"
    if not path.is_file():
        raise InputError(
            f"there is no checkpoint {checkpoint!r}: give the folder that save_pretrained wrote (with config.json and "
            "model.safetensors), or the name of an installed checkpoint"
        )
    found = checked(read_object(path), {"lang": str}, path)["lang"]
    if found != lang:
        raise InputError(f"the checkpoint {checkpoint!r} is for {found!r}, but the config for {lang!r}")
    saved = folder / "phonemic.json"
    if not saved.is_file():
        return {}
    options, usual = Tokenizer.load(saved).options, TokenizerOptions(lang)
    names = ("strict", "word_joiner", "fallback", "readings", "sandhi", "erhua", "form")
    return {name: getattr(options, name) for name in names if getattr(options, name) != getattr(usual, name)}


def _check(task: str, lang: str, encoder: str, checkpoint: str | None, steps: int) -> None:
    if task not in TASKS:
        raise ValueError(f"there is no config {task!r}: choose one of {', '.join(TASKS)}")
    if lang not in LANGUAGES:
        raise ValueError(f"unknown language {lang!r}: choose one of {', '.join(map(repr, LANGUAGES))}")
    if encoder not in ENCODERS:
        raise ValueError(f"there is no encoder {encoder!r}: choose one of {', '.join(ENCODERS)}")
    if encoder == "hash" and checkpoint is not None:
        raise ValueError("the encoder 'hash' reads no checkpoint: choose 'bert' or 'both'")
    if steps < 1:
        raise ValueError(f"steps={steps}: must be at least 1")


def _part(name: str) -> str:
    return (Path(__file__).parent / f"{name}.cfg").read_text(encoding="utf-8")


def _section(name: str, values: dict[str, object]) -> str:
    return f"[{name}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())


def _listener(head: str, encoder: str) -> str:
    """The listener that passes the encoder's vectors on to a head."""
    ours: dict[str, object] = {"@architectures": "spacy_phonemic.PhonemicListener.v1", "width": None, "upstream": "*"}
    spacys = {"@architectures": "spacy.Tok2VecListener.v1", "width": "${components.tok2vec.model.encode.width}"}
    return _section(
        f"components.{head}.model.tok2vec", {**spacys, "upstream": "*"} if encoder == "tok2vec" else ours
    ).replace('"${components.tok2vec.model.encode.width}"', "${components.tok2vec.model.encode.width}")


def _score_weights(heads: dict[str, dict[str, float]]) -> dict[str, object]:
    weights: dict[str, object] = {}
    for head, shares in heads.items():
        weights |= {**shares, **_SHOWN[head]}
    return weights


def _tokenizer_settings(lang: str) -> dict[str, object]:
    """The initialization of the language's own tokenizer: spaCy asks for it even where another one is used."""
    from spacy.util import get_lang_class

    settings: dict[str, object] = get_lang_class(lang).Defaults.config.get("initialize", {}).get("tokenizer", {})
    return settings
