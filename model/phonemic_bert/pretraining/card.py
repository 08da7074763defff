"""A checkpoint's model card and loss curve, made from its log alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from phonemic.files.writing import replacing, write_text

CARD, CURVE = "README.md", "curve.png"

#: Lines of the table of evaluations.
_ROWS = 12

_FIGURES = {
    "eval_loss": "loss (nats)",
    "eval_bits_per_character": "bits per character",
    "eval_accuracy_onset": "onset",
    "eval_accuracy_rime": "rime",
    "eval_accuracy_tone": "tone",
    "eval_accuracy_syllable": "syllable",
    "eval_accuracy": "all correct",
}

_LIMITS = {
    "vi": "Letter case is lost. Text other than Vietnamese syllables is read character by character, without accents.",
    "zh": "Characters with the same reading are the same to the model. Text other than Chinese characters is read "
    "character by character, without accents.",
}

_POSITIONS = {"sinusoidal": "; position embeddings initialized as sinusoids"}

#: Options beyond the paper, and their descriptions.
_BEYOND = {
    ("composition", "product"): "embeddings are the paper's projection plus the elementwise product of onset, rime and "
    "tone",
    ("composition", "table"): "embeddings are the paper's projection plus a table of syllable embeddings",
    ("composition", "both"): "embeddings are the paper's projection plus the elementwise product of onset, rime and "
    "tone and a table of syllable embeddings",
    ("head", "joint"): "a joint softmax over all syllables instead of three heads",
    (
        "syllable_inventory",
        "attested",
    ): "the inventory has the syllables that occur in real text, and others are predicted by onset, rime and tone",
    ("output_embeddings", "untied"): "untied output embeddings",
    ("output_embeddings", "tied"): "output embeddings tied to the input embeddings",
    ("forms", "joint"): "the written form is read and predicted, in one softmax over pairs of a syllable and its form",
    ("forms", "conditional"): "the written form is read, and predicted in a softmax given the syllable",
    ("pooling", "mean"): "heads for whole texts read the mean of the positions",
}

_ENCODERS = {"bert": "BERT", "modernbert": "ModernBERT"}


def write_card(folder: Path, origin: dict[str, Any]) -> None:
    """Write ``README.md``, and ``curve.png`` where matplotlib is installed.

    Arguments:
        folder: the checkpoint.
        origin: its ``pretraining.json``. ``licence`` and ``data`` in it are optional: the licence of the weights and a
            description of the text.
    """
    evaluations = [row for row in origin["log"] if "eval_loss" in row]
    drawn = _draw(folder / CURVE, origin["log"])
    settings, corpus = origin["settings"], origin["corpus"]
    tokenizer = corpus["tokenizer"]
    phonemic = tokenizer["name"] == "phonemic"
    shape, optimization = settings["model"], settings["optimization"]
    encoder = _ENCODERS[shape.get("backbone", "bert")]
    licence = origin.get("licence")
    which = "the best on held-out text" if evaluations else "the last"
    head = {"language": tokenizer.get("lang"), "license": licence, "library_name": "transformers"}
    blocks = [
        "---\n" + "".join(f"{name}: {value}\n" for name, value in head.items() if value) + "tags: [fill-mask]\n---",
        f"# {'PhonemicBERT' if phonemic else encoder + ' over ' + tokenizer['name']}, "
        f"{shape['num_hidden_layers']} layers of {shape['hidden_size']}",
        _loading(phonemic),
        *([_design(shape, encoder)] if phonemic else []),
        "## Data",
        origin.get("data") or "The text is not described.",
        _corpus(corpus),
        "## Training",
        f"{optimization['max_steps']:,} steps of {optimization['batch_size']} sequences of "
        f"{settings['sequences']['max_seq_length']} positions, AdamW, learning rate "
        f"{optimization['learning_rate']:g} after {optimization['warmup_ratio']:.0%} warm-up, {_fall(optimization)}; "
        f"{settings['masking']['mlm_probability']:.0%} of the positions masked"
        f"{_POSITIONS.get(shape.get('position_init'), '')}; seed {optimization['seed']}. The "
        f"weights are those of step {origin['step']:,}, {which}."
        + _beginning(origin)
        + _teaching(origin)
        + (f" The weights are stored as {origin['stored_as']}." if "stored_as" in origin else ""),
    ]
    if evaluations:
        blocks += ["## Held-out text", _table(evaluations), _explanation(phonemic and shape.get("head") != "joint")]
    if drawn:
        blocks.append(f"![Loss against steps]({CURVE})")
    blocks += [
        "## Limits",
        _limits(tokenizer, phonemic and shape.get("forms", "none") == "none"),
        "## Licence",
        licence or "No licence is stated.",
    ]
    blocks += ["## Made with", ", ".join(f"{name} {version}" for name, version in origin["versions"].items()) + "."]
    write_text(folder / CARD, "\n\n".join(blocks) + "\n")


def _loading(phonemic: bool) -> str:
    if phonemic:
        return (
            "```python\nimport phonemic_bert\nfrom transformers import AutoModelForMaskedLM, AutoTokenizer\n\n"
            'model = AutoModelForMaskedLM.from_pretrained("FOLDER")\n'
            'tokenizer = AutoTokenizer.from_pretrained("FOLDER")\n```'
        )
    return (
        "A baseline for comparison. It loads with `AutoModelForMaskedLM`; its input ids are those of the tokenizer it "
        "is named after, plus the shift in `pretraining.json`, which also gives the ids of [PAD], [CLS], [SEP] and "
        "[MASK]."
    )


def _corpus(corpus: dict[str, Any]) -> str:
    totals = corpus.get("totals") or {}
    counted = {"rows": "documents", "positions": "positions", "characters": "characters"}
    figures = [f"{totals[name]:,} {shown}" for name, shown in counted.items() if name in totals]
    sources = [source_name(source) for source in corpus.get("sources") or ()]
    lines = [f"Prepared corpus {corpus['manifest'][:16]}" + (f": {', '.join(figures)}." if figures else ".")]
    if sources:
        lines.append(f"Files: {', '.join(sources[:20])}{' and others' if len(sources) > 20 else ''}.")
    return " ".join(lines)


def source_name(source: dict[str, Any]) -> str:
    """Return the name of a source without its folders."""
    return re.split(r"[\\/]", str(source["path"]))[-1]


def _table(evaluations: list[dict[str, Any]]) -> str:
    step = -(-len(evaluations) // _ROWS)
    rows = evaluations[step - 1 :: step]
    if rows[-1] is not evaluations[-1]:
        rows.append(evaluations[-1])
    figures = {name: title for name, title in _FIGURES.items() if name in evaluations[0]}
    lines = [["step", *figures.values()], ["---:"] * (len(figures) + 1)]
    for row in rows:
        cells = [f"{row[name]:.1%}" if "accuracy" in name else f"{row[name]:.3f}" for name in figures]
        lines.append([f"{row['step']:,}", *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _design(shape: dict[str, Any], encoder: str) -> str:
    """Describe the model, and its parts that the paper does not have."""
    beyond = [said for (name, value), said in _BEYOND.items() if shape.get(name) == value]
    if (scale := shape.get("component_scale", 1)) != 1:
        beyond.append(f"the projection and the product are multiplied by {scale:g}")
    if kernel := shape.get("conv_kernel_size", 0):
        beyond.append(f"a convolution of kernel size {kernel}")
    if bigrams := shape.get("num_bigram_buckets", 0):
        beyond.append(f"bigram embeddings from a hashed table of {bigrams:,} rows")
    if bigrams := shape.get("num_form_bigram_buckets", 0):
        beyond.append(f"bigram embeddings of written forms from a hashed table of {bigrams:,} rows")
    if shape.get("forms", "none") != "none":
        dropped, wrong = shape["form_dropout"], shape["form_noise"]
        beyond.append(f"in training {dropped:.0%} of the forms are dropped and {wrong:.0%} are replaced")
    if not beyond and encoder == "BERT":
        return "The paper's design."
    return f"The encoder is {encoder}. Beyond the paper: {'; '.join(beyond) or 'nothing else'}."


def _teaching(origin: dict[str, Any]) -> str:
    """Describe the teacher of a distilled model."""
    if not (teacher := origin.get("teacher")):
        return ""
    given = origin["settings"]["distillation"]
    return (
        f" Knowledge distillation: the teacher is a model of the same text over {teacher['tokenizer']}. Its "
        f"predictions at the masked positions are {given['weight']:.0%} of each target at first; their weight falls to "
        f"0 over the first {given['until']:.0%} of the steps."
    )


def _beginning(origin: dict[str, Any]) -> str:
    """Describe the weights that training began with, where they were not fresh."""
    if "weights" not in origin:
        return ""
    first = origin["settings"]["model"].get("init_checkpoint") or "another checkpoint"
    return f" Training began with the weights of {first}."


def _fall(optimization: dict[str, Any]) -> str:
    decay = optimization["decay_ratio"]
    if optimization["warmup_ratio"] + decay >= 1:
        return "then falling to 0"
    return f"then constant, falling to 0 over the last {decay:.0%}"


def _explanation(three_heads: bool) -> str:
    heads = ", summed over onset, rime and tone," if three_heads else ""
    return (
        f"The loss is the mean cross-entropy of a masked position{heads} given the rest of its sequence. Bits per "
        "character are that loss in bits, multiplied by the number of positions and divided by the number of "
        "characters (without white space) of the held-out text. They are a pseudo-likelihood, not a code length."
    )


def _limits(tokenizer: dict[str, Any], by_sound: bool) -> str:
    of_lang = _LIMITS.get(str(tokenizer.get("lang")), "") if by_sound else ""
    return f"{of_lang} The model was not tested for bias. It repeats statements of its text, true or not.".strip()


def _draw(path: Path, log: list[dict[str, Any]]) -> bool:
    """Draw training and held-out loss against steps; return False without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    figure = Figure(figsize=(7, 3.5), layout="constrained")
    axes = figure.subplots()
    for name, label in (("loss", "training"), ("eval_loss", "held-out")):
        rows = [row for row in log if name in row]
        axes.plot([row["step"] for row in rows], [row[name] for row in rows], label=label)
    axes.set(xlabel="step", ylabel="loss (nats per masked position)", ylim=(0, None))
    axes.legend()
    with replacing(path) as file:
        figure.savefig(file, format="png", dpi=110, metadata={"Software": None})
    return True
