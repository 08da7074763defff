"""POS and NER through spaCy: its own HashEmbedCNN, PhonemicHashEmbed, PhonemicBERT, and both of ours together.

"spacy init config" is what that command makes, with its own batches, rate and heads, for as many words as the others
see at most: its batches begin small, so that it takes more steps.

    python benchmarks/spacy_training.py DATA --checkpoint-vi CHECKPOINT --checkpoint-zh CHECKPOINT --output results.json
    python benchmarks/spacy_training.py DATA --models HashEmbedCNN,PhonemicHashEmbed --seeds 5 --steps 400
    python benchmarks/spacy_training.py DATA --models "spacy init config,PhonemicHashEmbed" --until-dev --steps 20000
    python benchmarks/spacy_training.py DATA --models HashEmbedCNN,PhonemicHashEmbed --until-dev --tokens 2500000 \
        --patience 800000 --checkpoint-factor 0 --seeds 5

``--until-dev`` trains each by its config as a user gets it, until the development score has not risen for its patience,
and a second table has the best development scores that all models of a corpus had reached after equal CPU time.
With ``--tokens``, bound and patience are of as many tokens for all, whatever a config's batches, and the development
score is taken 25 times until the bound, at which the learning rate ends. A config of "spacy init config" is bounded so,
but keeps its own patience, evaluations and rate.

The same sentences, the same number of steps, batches, heads, warm-up and tokens for all, so the same words seen; the
encoder from scratch has a higher learning rate than the pretrained one. POS is of the treebank's words, NER of
syllables. The model of the best development score is evaluated on the test part as it is, and with 15 and 30 % of the
Chinese characters replaced by homophones, or of the Vietnamese syllables with lost or wrong marks. "HashEmbedCNN
trained with errors" has the same kinds of errors in every second training sentence, as large a share of it as
PhonemicHashEmbed is trained with. Each run
is added to the output as it ends, and what is there already is not run again, so that the script may be stopped and
started. Printed: means over the seeds, the standard deviation on clean text, the CPU seconds of training,
words per second of ``nlp.pipe`` on the test part (tokenizing included for NER, the median of three passes), by
CPU time with one thread, so that other programs do not matter.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import IO, Any

import click
import spacy
import torch
from spacy.cli.init_config import init_config
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Corpus
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import registry
from thinc.api import Config, require_gpu

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.spacy_noise import augmenter, noisy, rewrite
from phonemic.files.writing import write_json
from phonemic_bert.checkpoints import resolve
from spacy_phonemic.configs import check_checkpoint, config_text
from spacy_phonemic.convert import read, write


@dataclass(frozen=True)
class Task:
    """A corpus: its language, the ready config, the format and the files; without a test part, dev is the test."""

    lang: str
    config: str
    format: str
    train: str
    dev: str
    test: str | None


#: CLUENER's test part has no labels: its dev part is the test, and the last tenth of its train part is held out.
TASKS = {
    "vtb": Task("vi", "pos", "conllu", *(f"vi/ud_vtb/vi_vtb-ud-{part}.conllu" for part in ("train", "dev", "test"))),
    "vietbioner": Task(
        "vi",
        "ner",
        "conll",
        *(f"vi/vietbioner/data_supervised_learning/{part}.txt" for part in ("train", "dev", "test")),
    ),
    "gsd": Task(
        "zh",
        "pos",
        "conllu",
        "zh/ud_gsd/zh_gsd-ud-train-older.conllu",
        *(f"zh/ud_gsd/zh_gsd-ud-{part}.conllu" for part in ("dev", "test")),
    ),
    "cluener": Task("zh", "ner", "cluener", "zh/cluener/train.json", "zh/cluener/dev.json", None),
    "weibo": Task(
        "zh", "ner", "weibo", *(f"zh/weibo_ner/weiboNER_2nd_conll.{part}" for part in ("train", "dev", "test"))
    ),
}
#: The models, and the encoder of the ready config that each is made from.
MODELS = {
    "spacy init config": "hash",
    "HashEmbedCNN": "hash",
    "HashEmbedCNN trained with errors": "hash",
    "PhonemicHashEmbed": "hash",
    "PhonemicBERT from scratch": "bert",
    "PhonemicBERT from a checkpoint": "bert",
    "both from a checkpoint": "both",
    "both from a checkpoint with its last layer only": "both",
}
SCORES = {"pos": "pos_acc", "ner": "ents_f"}

#: The tokens of a batch, at most; and the first size and the growth of spaCy's own batches.
BATCH, FIRST_BATCH, GROWTH = 2000, 100, 0.001

#: How often the development score is taken until a bound of tokens.
EVALUATIONS = 25

#: The shares of noise in the test part.
SHARES = (0.15, 0.3)


@dataclass(frozen=True)
class Run:
    """One run, as it is kept in the output: the score on clean text, and at each of :data:`SHARES`."""

    task: str
    model: str
    seed: int
    steps: int
    score: float
    words_per_second: float
    train_seconds: float
    noisy: tuple[float, ...] = ()
    words: int = 0
    #: At each evaluation: the processor's seconds since the beginning, and the development score.
    curve: tuple[tuple[float, float], ...] = ()
    #: The device of the run; only times of the CPU are compared.
    device: str = "cpu"
    #: The scores, clean and noisy, where products at inference are not in 8 bits; without such a model empty.
    float32: tuple[float, ...] = ()

    def best_after(self, seconds: float) -> float:
        """The best development score so far; NaN before the first."""
        return max((score for after, score in self.curve if after <= seconds), default=math.nan)


@dataclass(frozen=True)
class Setting:
    """The settings that all runs of one output share."""

    steps: int
    preset: str
    factor: float
    checkpoint_factor: float
    limit: int
    gpu: int
    spacy: str
    batch: int = BATCH  # 0: each config's own
    until_dev: bool = False
    layer_decay: float = 1.0
    tokens: int = 0  # 0: the bound is that of steps
    patience: int = 0  # in tokens; 0: each config's own


class Seen:
    """A logger of spaCy's that prints nothing: the steps and the words that a training had, and a score's values."""

    def __init__(self, score: str) -> None:
        self.score = score
        self.steps, self.words, self.begun = 0, 0, time.process_time()
        self.curve: list[tuple[float, float]] = []

    def __call__(self, nlp: Language, stdout: IO[str], stderr: IO[str]) -> tuple[Callable[[Any], None], Any]:
        """The functions that spaCy asks a logger for: one for each step, and one for the end."""
        return self.step, lambda: None

    def step(self, info: dict[str, Any] | None) -> None:
        """Takes down a step; None is one without evaluation."""
        if info is not None:
            self.steps, self.words = info["step"], info["words"]
            self.curve.append((time.process_time() - self.begun, info["other_scores"][self.score]))


def config_of(task: Task, model: str, seed: int, setting: Setting, checkpoint: str | None, corpus: Path) -> Config:
    """The ready config of the task with this model in it, or spaCy's."""
    if model == "spacy init config":
        return _init_config(task, seed, setting, corpus)

    def ready(steps: int) -> Config:
        reading = check_checkpoint(checkpoint, task.lang) if checkpoint else None
        text = config_text(task.config, task.lang, MODELS[model], checkpoint, steps, reading=reading)
        return Config().from_str(text, interpolate=False)

    config = ready(setting.steps)
    size = config["training"]["batcher"]["size"]
    if setting.tokens:
        config = ready(setting.tokens // size)
        config["training"]["eval_frequency"] = max(1, setting.tokens // size // EVALUATIONS)
    if setting.patience:
        config["training"]["patience"] = setting.patience // size
    config["system"].update(seed=seed, gpu_allocator="pytorch")  # that of the encoders on torch, for all
    config["paths"].update(train=str(corpus / "train.spacy"), dev=str(corpus / "dev.spacy"))
    if setting.batch:
        config["training"]["batcher"]["size"] = setting.batch
    if not setting.until_dev:
        config["training"].update(patience=0, eval_frequency=max(1, setting.steps // 5))
    for part in ("train", "dev"):
        config["corpora"][part]["gold_preproc"] = task.config == "pos"
    factor = setting.checkpoint_factor if checkpoint else setting.factor
    encoder = config["components"].get("phonemic_transformer", {}).get("model", {})
    ours = {"preset": setting.preset, "layer_decay": setting.layer_decay}
    ours |= {"learn_rate_factor": factor} if factor else {}
    encoder.get("encoder", encoder).update(ours if encoder else {})
    if model.endswith("last layer only"):
        encoder["encoder"]["layers"] = None
    if model.startswith("HashEmbedCNN"):  # what spacy.HashEmbedCNN.v2 makes: our layer without the columns of sounds
        embed = config["components"]["tok2vec"]["model"]["embed"]
        embed["@architectures"] = "spacy.MultiHashEmbed.v2"
        del embed["components"]
        share = embed.pop("homophone_noise") + embed.pop("diacritic_noise")  # a language has one of them
        if model.endswith("trained with errors"):
            augmenting = {"@augmenters": "benchmarks.Errors.v1", "lang": task.lang, "share": share}
            config["corpora"]["train"]["augmenter"] = augmenting
    return config


def _init_config(task: Task, seed: int, setting: Setting, corpus: Path) -> Config:
    """The config that ``spacy init config`` makes, for the words of so many steps of the others."""
    heads = ["ner"] if task.config == "ner" else ["tagger", "morphologizer"]
    config = init_config(lang=task.lang, pipeline=heads, optimize="efficiency", gpu=False)
    config["nlp"]["tokenizer"] = {"@tokenizers": "spacy_phonemic.SyllableTokenizer.v1"}
    config["initialize"].pop("tokenizer", None)
    if "tagger" in heads:  # "!" is a tag of UD VTB's; as spaCy's own prefix of what a tag is not, it ends the training
        config["components"]["tagger"]["neg_prefix"] = "!!"
    config["system"]["seed"] = seed
    config["paths"].update(train=str(corpus / "train.spacy"), dev=str(corpus / "dev.spacy"))
    training, words = config["training"], setting.tokens or setting.steps * BATCH
    # the sum of batches of 100, 100.1, ... is to be the words that the others see
    more = math.ceil(math.log1p(words * GROWTH / FIRST_BATCH) / math.log1p(GROWTH))
    if not setting.until_dev:
        training.update(max_steps=more, patience=0, eval_frequency=max(1, more // 5))
    else:
        training["max_steps"] = more if setting.tokens else setting.steps
    for part in ("train", "dev"):
        config["corpora"][part]["gold_preproc"] = task.config == "pos"
    return config


def convert(task: Task, data: Path, folder: Path, limit: int) -> dict[str, int]:
    """Writes the three parts as .spacy; returns how many sentences each has, and the lines that could not be used."""
    tokenizer = {"@tokenizers": "spacy_phonemic.SyllableTokenizer.v1"}
    nlp = spacy.blank(task.lang, config={"nlp": {"tokenizer": tokenizer}})
    parts = {
        part: read(task.format, data / getattr(task, part), nlp)
        for part in ("train", "dev", "test")
        if getattr(task, part)
    }
    docs = {part: found.docs for part, found in parts.items()}
    if task.test is None:
        held_out = len(docs["train"]) // 10
        docs = {"train": docs["train"][:-held_out], "dev": docs["train"][-held_out:], "test": docs["dev"]}
    for part, found in docs.items():
        write(found[: limit or None], folder / f"{part}.spacy")
    for share in SHARES:
        rewrite(folder / "test.spacy", task.lang, noisy(task.lang, share), folder / f"test-{share}.spacy")
    sizes = {part: len(found[: limit or None]) for part, found in docs.items()}
    return {**sizes, "problems": sum(len(found.problems) for found in parts.values())}


def measure(name: str, model: str, seed: int, config: Config, corpus: Path, gpu: int) -> Run:
    """Trains, evaluates on the test part, and times inference."""
    task = TASKS[name]
    seen = Seen(SCORES[task.config])
    config["training"]["logger"] = {"@loggers": "benchmarks.Seen.v1"}
    registry.loggers("benchmarks.Seen.v1", func=lambda: seen)
    registry.augmenters("benchmarks.Errors.v1", func=augmenter)
    start = time.process_time()
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w", encoding="utf-8") as nowhere:
        train(init_nlp(config, use_gpu=gpu), Path(folder), use_gpu=gpu, stdout=nowhere, stderr=nowhere)
        seconds = time.process_time() - start
        nlp = spacy.load(Path(folder) / "model-best")
    words = task.config == "pos"
    files = [corpus / "test.spacy", *(corpus / f"test-{share}.spacy" for share in SHARES)]
    tests = [list(Corpus(file, gold_preproc=words)(nlp)) for file in files]

    def scored() -> list[float]:
        return [float(nlp.evaluate(examples)[SCORES[task.config]]) for examples in tests]

    scores = scored()
    speed = words_per_second(nlp, [eg.reference for eg in tests[0]], words)
    in_float32 = tuple(scored()) if gpu < 0 and without_int8(nlp) else ()
    return Run(
        *(name, model, seed, seen.steps, scores[0], speed, seconds, tuple(scores[1:]), seen.words, tuple(seen.curve)),
        device=torch.cuda.get_device_name() if gpu >= 0 else "cpu",
        float32=in_float32,
    )


def without_int8(nlp: Language) -> bool:
    """Has the pipeline's encoders compute in float32; returns whether any did not."""
    models = [pipe.model for _, pipe in nlp.pipeline if isinstance(pipe, TrainablePipe)]
    nodes = [node for model in models for node in model.walk() if node.name == "phonemic_bert"]
    changed = [node.shims[0]._model for node in nodes if node.shims[0]._model.options.int8_inference]
    for network in changed:
        network.options = replace(network.options, int8_inference=False)
        network.forget_prepared()
    return bool(changed)


def words_per_second(nlp: Language, references: list[Doc], given: bool) -> float:
    """Tokens a second of ``nlp.pipe``: the median of three passes, after one that is not counted."""
    return statistics.median([one_pass(nlp, references, given) for _ in range(4)][1:])


def one_pass(nlp: Language, references: list[Doc], given: bool) -> float:
    """Tokens per second of CPU time: of words that are given, or of texts that are tokenized on the way."""
    inputs: list[Any] = [
        Doc(nlp.vocab, [t.text for t in doc], [bool(t.whitespace_) for t in doc]) if given else doc.text
        for doc in references
    ]
    start = time.process_time()
    count = sum(len(doc) for doc in nlp.pipe(inputs))
    return count / (time.process_time() - start)


def table(runs: list[Run]) -> str:
    """Mean and standard deviation of each model on each task, as Markdown."""
    noises = [f"{share:.0%} noise" for share in SHARES[: max((len(run.noisy) for run in runs), default=0)]]
    names = ["corpus", "score", "model", "seeds", "mean", "standard deviation", *noises]
    names += ["words per second", "training, s", *(["words of training"] if any(run.words for run in runs) else [])]
    lines = [f"| {' | '.join(names)} |", f"|{' --- |' * len(names)}"]
    for task in TASKS:
        for model in MODELS:
            own = [run for run in runs if (run.task, run.model) == (task, model)]
            if own:
                scores = [100 * run.score for run in own]
                timed = [run for run in own if run.device == "cpu"]
                heard = [100 * statistics.mean(each) for each in zip(*(run.noisy for run in own), strict=True)]
                cells = [
                    task,
                    SCORES[TASKS[task].config],
                    model,
                    len(own),
                    f"{statistics.mean(scores):.2f}",
                    f"{statistics.stdev(scores):.2f}" if len(scores) > 1 else "",
                    *([f"{score:.2f}" for score in heard] or [""] * len(noises)),
                    f"{statistics.median(run.words_per_second for run in timed):,.0f}" if timed else "",
                    f"{statistics.median(run.train_seconds for run in timed):,.0f}" if timed else "",
                    *([f"{statistics.median(run.words for run in own):,.0f}"] if "words of training" in names else []),
                ]
                lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def equal_time(runs: list[Run]) -> str:
    """The best development scores after a quarter, a half and all of the time of each corpus' first run to end."""
    lines = ["| corpus | model | seeds | CPU s | development score |", "| --- | --- | --- | --- | --- |"]
    for task in TASKS:
        timed = [run for run in runs if run.task == task and run.curve and run.device == "cpu"]
        end = min((run.curve[-1][0] for run in timed), default=0.0)
        for part, model in product((0.25, 0.5, 1.0), MODELS):
            scores = [run.best_after(part * end) for run in timed if run.model == model]
            if scores:
                lines.append(
                    f"| {task} | {model} | {len(scores)} | {part * end:.0f} | {100 * statistics.mean(scores):.1f} |"
                )
    return "\n".join(lines)


@click.command()
@click.argument("data", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--output", type=click.Path(path_type=Path), default=Path("benchmarks/results/spacy_training.json"))
@click.option("--tasks", default=",".join(TASKS), help="which corpora")
@click.option("--models", default=",".join(MODELS), help="which models")
@click.option("--seeds", default=3, show_default=True)
@click.option("--steps", default=2000, show_default=True)
@click.option("--preset", default="small", show_default=True, help="shape of the encoder from scratch")
@click.option("--checkpoint-vi", help="a folder or an installed name; without one, models that need it are left out")
@click.option("--checkpoint-zh", help="likewise")
@click.option("--factor", default=1.0, show_default=True, help="the rate of the encoder from scratch over the heads'")
@click.option(
    "--checkpoint-factor", default=0.3, show_default=True, help="that of the pretrained encoder; 0: its config's own"
)
@click.option("--layer-decay", default=1.0, show_default=True, help="each layer's rate over that of the layer above it")
@click.option("--limit", default=0, help="this many sentences of each part, the first; 0: all")
@click.option(
    "--batch", type=int, help="tokens of a batch, at most, where the config is ours [2000; with --until-dev its own]"
)
@click.option("--until-dev", is_flag=True, help="early stopping on the development set; --steps is the bound")
@click.option("--tokens", default=0, help="with --until-dev: the bound, in tokens, instead of --steps")
@click.option("--patience", default=0, help="with --until-dev: in tokens; 0: each config's own")
@click.option("--gpu", default=-1, show_default=True)
def main(
    data: Path,
    output: Path,
    tasks: str,
    models: str,
    seeds: int,
    steps: int,
    preset: str,
    checkpoint_vi: str | None,
    checkpoint_zh: str | None,
    factor: float,
    checkpoint_factor: float,
    layer_decay: float,
    limit: int,
    batch: int | None,
    until_dev: bool,
    tokens: int,
    patience: int,
    gpu: int,
) -> None:
    """Runs what is not in the output yet, and prints the table."""
    if gpu >= 0:
        require_gpu(gpu)
    else:
        torch.set_num_threads(1)
    if (tokens or patience) and not until_dev:
        raise click.UsageError("--tokens and --patience go with --until-dev")
    if batch is None:
        batch = 0 if until_dev else BATCH
    setting = Setting(
        *(steps, preset, factor, checkpoint_factor, limit, gpu, version("spacy"), batch, until_dev, layer_decay),
        *(tokens, patience),
    )
    runs: list[Run] = []
    if output.exists():
        kept = json.loads(output.read_text(encoding="utf-8"))
        if Setting(**kept["setting"]) != setting:
            raise click.ClickException(f"{output} is of another setting ({kept['setting']}): give another --output")
        runs = [Run(**run) for run in kept["runs"]]
    sizes: dict[str, dict[str, int]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in tasks.split(","):
            task, corpus = TASKS[name], Path(folder) / name
            sizes[name] = convert(task, data, corpus, limit)
            checkpoints = {"vi": resolve(checkpoint_vi), "zh": resolve(checkpoint_zh)}
            for seed in range(seeds):
                for model in models.split(","):
                    pretrained = "from a checkpoint" in model
                    checkpoint = checkpoints[task.lang] if pretrained else None
                    done = any((run.task, run.model, run.seed) == (name, model, seed) for run in runs)
                    if done or (pretrained and not checkpoint):
                        continue
                    config = config_of(task, model, seed, setting, checkpoint, corpus)
                    runs.append(measure(name, model, seed, config, corpus, gpu))
                    click.echo(f"{runs[-1]}", err=True)
                    _save(output, {"setting": asdict(setting), "sizes": sizes, "runs": [asdict(run) for run in runs]})
    click.echo(table(runs))
    if any(run.curve for run in runs):
        click.echo(f"\n{equal_time(runs)}")


def _save(path: Path, state: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, state, indent=1)


if __name__ == "__main__":
    main()
