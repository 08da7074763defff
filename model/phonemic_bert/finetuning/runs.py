"""One run: a task, an encoder, a point of the grid and a seed, to a file of results.

Results lie in ``TASK[.TARGET]/ENCODER/KEY-seed-N.json`` below their folder. KEY is a hash over all that determines a
run, its seed aside, so that a finished run is known by its file.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import transformers

import phonemic_bert
from phonemic import __version__
from phonemic.errors import InputError
from phonemic.files.jsons import loads
from phonemic.files.writing import replacing, replacing_folder, write_json
from phonemic.lexicon.digests import digests
from phonemic_bert.errors import RunError
from phonemic_bert.finetuning.encoders import TOKENIZER_FILES
from phonemic_bert.finetuning.jobs import Job, hash_file
from phonemic_bert.finetuning.kinds import Instance, Kind, make_kind
from phonemic_bert.finetuning.metrics import score
from phonemic_bert.finetuning.noise import PLACED, NoiseCondition, noised
from phonemic_bert.finetuning.training import Advance, Scores, predict, train

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from phonemic.baselines import Baseline
    from phonemic_bert.finetuning.encoders import Encoder
    from phonemic_bert.finetuning.settings import GridPoint, Settings

FORMAT = 1

#: How runs are computed: another number where the same settings have come to give other scores. 2: dropout holds in
#: the attention of ModernBERT too, and parts of a batch count by their labels.
_COMPUTED = 2

#: The share of the training set that has noise, where it has any.
_TRAINING_SHARE = 0.5

#: The files that identify a checkpoint, besides those of its tokenizer.
_WEIGHTS = ("config.json", "*.safetensors", "*.bin")


@dataclass(frozen=True)
class RunOutputs:
    """The outputs of a run next to its scores.

    Attributes:
        noise: the noise to evaluate with.
        predictions: whether to write the predictions of the test set.
        save: the folder for fine-tuned models, or None.
    """

    noise: tuple[NoiseCondition, ...] = ()
    predictions: bool = False
    save: Path | None = None


#: Scores only.
SCORES_ONLY = RunOutputs()


@dataclass
class Fold:
    """Examples that have gold annotation, and their rows."""

    examples: list[Any]
    rows: list[Instance] = field(default_factory=list)
    gold: list[Any] = field(default_factory=list)


class Prepared:
    """The data that the runs of one job, encoder and seed share: the examples of each fold as rows.

    Arguments:
        job: the task.
        encoder: of the job's language.
        settings: those on text are used.
        seed: draws the dev set, the subset to train on, and the noise.
        noise: the noise that the test set is also evaluated with.

    Raises:
        InputError: a split is missing or damaged; a fold has no labelled example; the encoder or the noise is of
            another language, or the noise changes lengths that must stay.
    """

    def __init__(
        self, job: Job, encoder: Encoder, settings: Settings, seed: int, noise: Sequence[NoiseCondition] = ()
    ) -> None:
        if encoder.lang not in (None, job.dataset.lang):
            raise InputError(f"{encoder.name} is an encoder for {encoder.lang}, but {job.name} is {job.dataset.lang}")
        self.job, self.encoder, self.settings, self.seed = job, encoder, settings, seed
        self.kind: Kind = make_kind(job.dataset, job.target, encoder, settings.text)
        folds = job.folds(seed)
        self.train, self.dev, self.test = (self._fold(name, part) for name, part in folds._asdict().items())
        self.noised = [(one, *self._noised(one)) for one in noise]
        self.lost = self.kind.lost(self.test.examples)

    def _fold(self, name: str, examples: list[Any]) -> Fold:
        kept = [example for example in examples if self.kind.gold(example) is not None]
        if not kept:
            raise InputError(f"{self.job.folder}: the {name} set of {self.job.name} has no labelled example")
        condition = self.settings.text.condition
        if name == "train" and condition is not None:
            rewritten, _ = self._rewritten(kept, condition)
            chosen = np.random.default_rng(self.seed).random(len(kept)) < _TRAINING_SHARE
            kept = [there if noisy else one for one, there, noisy in zip(kept, rewritten, chosen, strict=True)]
        return Fold(kept, self.kind.rows(kept, name == "train"), [self.kind.gold(example) for example in kept])

    def _noised(self, condition: NoiseCondition) -> tuple[list[Instance], float]:
        examples, changed = self._rewritten(self.test.examples, condition)
        return self.kind.rows(examples), changed

    def _rewritten(self, examples: list[Any], condition: NoiseCondition) -> tuple[list[Any], float]:
        dataset = self.job.dataset
        if condition.lang != dataset.lang:
            raise InputError(f"noise {condition.name} is for {condition.lang}, but {self.job.name} is {dataset.lang}")
        return noised(examples, condition, self.seed, dataset.kind in PLACED)

    def predicted(self, model: PreTrainedModel, fold: Fold, rows: list[Instance] | None = None) -> list[Any]:
        """A prediction an example; from other rows of the same examples where they are given."""
        rows = fold.rows if rows is None else rows
        return self.kind.predicted(fold.examples, rows, predict(self.kind, model, rows, self.settings))

    def score(self, gold: list[Any], predicted: list[Any]) -> Scores:
        """Scores from 0 to 1, the set's metric first."""
        return score(self.job.dataset.metric, gold, predicted, lang=self.job.dataset.lang)


@dataclass(frozen=True)
class Run:
    """A run that is to be there: its file tells whether it is."""

    job: Job
    encoder: Encoder
    settings: Settings
    point: GridPoint
    seed: int
    folder: Path
    outputs: RunOutputs = SCORES_ONLY

    @property
    def key(self) -> str:
        """A short hash over all that determines the run, its seed aside."""
        settings = self.settings.as_dict()
        del settings["grid"], settings["machine"]
        dataset = self.job.dataset
        determining: dict[str, Any] = {
            "computed": _COMPUTED,
            "task": [self.job.name, dataset.kind, dataset.metric, dataset.lang, list(dataset.labels.items())],
            "data": [self.job.fingerprint, self.job.file_options, self.job.divide, asdict(self.job.limits)],
            "encoder": checkpoint_hash(self.encoder.path, getattr(self.encoder.tokenizer, "baseline", None)),
            "hyperparameters": self.point.as_dict(),
            "settings": settings,
        }
        if (phonemic := getattr(self.encoder.tokenizer, "phonemic", None)) is not None:
            determining["tables"] = digests(phonemic.options)
        return hashlib.sha256(json.dumps(determining, sort_keys=True).encode()).hexdigest()[:12]

    @property
    def path(self) -> Path:
        """The file of results."""
        return self.folder / self.job.name / self.encoder.name / f"{self.key}-seed-{self.seed}.json"

    @property
    def predictions(self) -> Path:
        """The file of predictions."""
        return self.path.with_suffix(".predictions.jsonl")

    @property
    def saved(self) -> Path | None:
        """The folder of the fine-tuned model."""
        save = self.outputs.save
        return save and save / self.job.name / self.encoder.name / self.path.stem

    def result(self) -> dict[str, Any] | None:
        """The content of the file, where the run is finished and left all that is wished for; otherwise None.

        Raises:
            RunError: the file is not the result of a run.
        """
        found = self._found()
        if found is None:
            return None
        noise = [_noise_of(one) for one in found["noise"]]
        lacks = any((one.name, one.ratio, dict(one.options)) not in noise for one in self.outputs.noise)
        lacks |= self.outputs.predictions and not self.predictions.exists()
        lacks |= self.saved is not None and not self.saved.exists()
        return None if lacks else found

    def _found(self) -> dict[str, Any] | None:
        """The content of the file, if there is one."""
        if not self.path.exists():
            return None
        try:
            found: dict[str, Any] = loads(self.path.read_text("utf-8"))
            for one in found["noise"]:
                _noise_of(one)
        except (ValueError, KeyError, TypeError) as error:
            raise RunError(f"{self.path}: not the result of a run; remove it to repeat the run ({error!r})") from error
        return found

    def execute(self, prepared: Prepared, advance: Advance = lambda step, steps, score: None) -> dict[str, Any]:
        """Trains, evaluates and writes; the file of results comes last, and whole. Scores with other noise stay in it.

        Raises:
            RunError: the loss is not a number.
            OSError: a file cannot be written.
        """
        begun, kind = time.monotonic(), prepared.kind

        def on_dev(model: PreTrainedModel) -> Scores:
            return prepared.score(prepared.dev.gold, prepared.predicted(model, prepared.dev))

        trained = train(kind, self.point, self.settings, self.seed, prepared.train.rows, on_dev, advance)
        predicted = prepared.predicted(trained.model, prepared.test)
        asked = [(one.name, one.ratio, dict(one.options)) for one, *_ in prepared.noised]
        before = self._found()
        noise = [one for one in before["noise"] if _noise_of(one) not in asked] if before else []
        noise += [
            {
                "name": one.name,
                "ratio": one.ratio,
                "changed": changed,
                "options": dict(one.options),
                "test": prepared.score(prepared.test.gold, prepared.predicted(trained.model, prepared.test, rows)),
            }
            for one, rows, changed in prepared.noised
        ]
        result = {
            **self._description(prepared),
            "parameters": trained.model.num_parameters(),
            "dev": trained.dev,
            "test": prepared.score(prepared.test.gold, predicted),
            "noise": noise,
            "unreachable_gold": prepared.lost,
            "epochs": trained.epochs,
            "seconds": round(time.monotonic() - begun, 3),
            "device": device_name(trained.model.device),
            "versions": versions(),
            "git": commit(),
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        self._write(prepared, trained.model, predicted, result)
        return result

    def _description(self, prepared: Prepared) -> dict[str, Any]:
        job, settings = self.job, self.settings.as_dict()
        del settings["grid"]
        settings["text"]["max_seq_length"] = prepared.kind.max_seq_length
        folds = {"train": prepared.train, "dev": prepared.dev, "test": prepared.test}
        return {
            "format": FORMAT,
            "task": job.dataset.name,
            "target": job.target,
            "title": job.dataset.title,
            "lang": job.dataset.lang,
            "kind": job.dataset.kind,
            "metric": job.dataset.metric,
            "encoder": self.encoder.name,
            "encoder_kind": self.encoder.kind,
            "seed": self.seed,
            "hyperparameters": self.point.as_dict(),
            "settings": settings,
            "divided": job.divide,
            "limits": asdict(job.limits),
            "examples": {name: len(fold.examples) for name, fold in folds.items()},
        }

    def _write(self, prepared: Prepared, model: PreTrainedModel, predicted: list[Any], result: dict[str, Any]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.saved is not None:
            save(model, self.encoder, self.saved)
        if self.outputs.predictions:
            rows = zip(prepared.test.examples, prepared.test.gold, predicted, strict=True)
            with replacing(self.predictions) as file:
                for row in rows:
                    file.write(f"{json.dumps(prepared.kind.record(*row), ensure_ascii=False)}\n".encode())
        write_json(self.path, result)


def _noise_of(entry: dict[str, Any]) -> tuple[str, float, dict[str, str]]:
    """Which noise an entry of a file of results is of."""
    return entry["name"], entry["ratio"], entry["options"]


def runs_of(
    job: Job, encoder: Encoder, settings: Settings, seed: int, folder: Path, outputs: RunOutputs = SCORES_ONLY
) -> list[Run]:
    """The runs of every point of the grid."""
    return [Run(job, encoder, settings, point, seed, folder, outputs) for point in settings.points()]


def save(model: PreTrainedModel, encoder: Encoder, folder: Path) -> None:
    """Writes model and tokenizer next to the folder, then puts them in its place."""
    with replacing_folder(folder, overwrite=True) as partial:
        model.save_pretrained(partial)
        encoder.tokenizer.save_pretrained(str(partial))


@cache
def checkpoint_hash(folder: Path, baseline: Baseline | None = None) -> str:
    """SHA-256 over a checkpoint's configuration, weights and tokenizer, whose files may lie elsewhere."""
    digest = hashlib.sha256()
    for path in sorted({path for pattern in (*_WEIGHTS, *TOKENIZER_FILES) for path in folder.glob(pattern)}):
        digest.update(path.name.encode() + hash_file(path))
    if baseline is not None:
        digest.update(json.dumps(baseline.checksums(), sort_keys=True).encode())
    return digest.hexdigest()


def versions() -> dict[str, str]:
    """The name of the device."""
    libraries = {name: _version(name) for name in ("tokenizers", "scikit-learn", "seqeval")}
    return {
        "phonemic": __version__,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "python": sys.version.split()[0],
        "numpy": np.__version__,
        **{name: version for name, version in libraries.items() if version},
    }


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


@cache
def commit() -> str | None:
    """The git commit of this package's source, ``-dirty`` behind it where files were changed; None outside of git."""
    source = Path(phonemic_bert.__file__)

    def git(*command: str) -> str:
        # describe --dirty would write the index, and leave its lock behind if this process were killed meanwhile.
        words = ["git", "--no-optional-locks", *command]
        return subprocess.run(words, cwd=source.parent, capture_output=True, text=True, check=True).stdout.strip()

    try:
        git("ls-files", "--error-unmatch", source.name)
        return git("rev-parse", "HEAD") + ("-dirty" if git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def device_name(device: torch.device) -> str:
    """``cpu``, or the GPU's name."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
