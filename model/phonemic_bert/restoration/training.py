"""Training a network to restore diacritics: it judges the syllables of texts that n-grams restored.

The n-grams have not read these texts: each half of the text is restored by n-grams of the other half.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Dataset, SequentialSampler
from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments, set_seed

from phonemic.errors import InputError, OutputError
from phonemic.files.jsons import read_object
from phonemic.files.locking import LOCK, locked
from phonemic.files.outputs import check_own, claim_folder
from phonemic.files.writing import remove, replacing_folder, write_json
from phonemic_bert.checkpoints import silent_transformers
from phonemic_bert.errors import CheckpointError, RunError
from phonemic_bert.inspection.loading import Inspected, load
from phonemic_bert.modeling import PhonemicBertForMaskedLM
from phonemic_bert.pretraining.trainer import checkpoint_damage, checkpoints, separate
from phonemic_bert.restoration.counting import vietnamese_model
from phonemic_bert.restoration.diacritics import DiacriticsRestorer
from phonemic_bert.restoration.ngrams import Ngrams
from phonemic_bert.restoration.restoring import FILE as NGRAMS
from phonemic_bert.restoration.restoring import NETWORK, ngrams_path
from phonemic_bert.restoration.trained import PAD, Batch, Reader, Row, candidates, log_probabilities
from phonemic_bert.restoration.vietnamese import tokens, unmarked
from phonemic_bert.sections import AdamW
from phonemic_bert.training_arguments import train_loader, training_arguments

#: One text in three is read sentence by sentence, in lower case and without punctuation, as much of what is typed.
_PLAIN = 3
_SENTENCE = re.compile(r"(?<=[.!?…;:])\s+")
_SIGNS = re.compile(r"[^\w\s]+")
#: Steps whose texts are shared out by length, so that little is padded.
_POOL = 32
#: Code points per token, roughly.
_CODE_POINTS = 3.4
#: The settings of a restorer's run, in its folder.
RECORD = "training.json"
#: The folder of an unfinished run there.
WORK = "checkpoints"
#: N-grams are left out that make a half of the texts less likely by fewer nats.
_PRUNED = 4.0
#: Texts that lie next to each other and are in one half.
_BLOCK = 1000
_OPTIMIZER = AdamW(
    warmup_ratio=0.03, weight_decay=0.01, adam_beta1=0.9, adam_beta2=0.98, adam_epsilon=1e-6, max_grad_norm=1.0
)


class Asked(NamedTuple):
    """Questions about texts whose marks are removed.

    Attributes:
        batch: the questions.
        answers: the place of the right candidate among those of each position, int64 (M,); -1 where it is none.
    """

    batch: Batch
    answers: Tensor


class Texts(NamedTuple):
    """Texts, and what has not read them.

    Attributes:
        texts: with their marks.
        restorers: of two, each has read one half of the texts.
        halves: which of the two restores each text.
    """

    texts: Sequence[str]
    restorers: tuple[DiacriticsRestorer, DiacriticsRestorer]
    halves: Sequence[int]


class Questions(Dataset[Asked]):
    """The steps of a run.

    Arguments:
        given: the texts.
        reader: makes the rows.
        run: how many steps, of which size, in which order.
    """

    def __init__(self, given: Texts, reader: Reader, run: Run) -> None:
        self.given, self.reader, self.seed = given, reader, run.seed
        lengths = np.array([len(text) for text in given.texts])
        self.groups = _shared_out(lengths, run.max_steps, run.batch_tokens, run.seed)

    def __len__(self) -> int:
        return len(self.groups)

    def __getitem__(self, step: int) -> Asked:
        rng = random.Random(f"{self.seed} {step}")
        texts: list[str] = []
        halves: list[int] = []
        for number in self.groups[step].tolist():
            text = self.given.texts[number]
            own = _plain(text) if rng.randrange(_PLAIN) == 0 else [text]
            texts += own
            halves += [self.given.halves[number]] * len(own)
        return questions(Texts(texts, self.given.restorers, halves), self.reader)


def _plain(text: str) -> list[str]:
    return [_SIGNS.sub(" ", sentence).lower() for sentence in _SENTENCE.split(text)]


def _shared_out(lengths: NDArray[np.int64], max_steps: int, batch_tokens: int, seed: int) -> list[NDArray[np.int64]]:
    """The numbers of the texts of each step: in one step they are of about the same length."""
    rng = np.random.default_rng(seed)
    most = batch_tokens * _CODE_POINTS
    epochs = int(max_steps * most / max(lengths.sum(), 1)) + 2
    order = np.concatenate([rng.permutation(len(lengths)) for _ in range(epochs)])
    found: list[NDArray[np.int64]] = []
    for pool in _cut(order, lengths, _POOL * most):
        parts = _cut(pool[np.argsort(lengths[pool], kind="stable")], lengths, most)
        found += [parts[at] for at in rng.permutation(len(parts)).tolist()]
        if len(found) >= max_steps:
            break
    return found[:max_steps]


def _cut(numbers: NDArray[np.int64], lengths: NDArray[np.int64], most: float) -> list[NDArray[np.int64]]:
    """Numbers in parts whose lengths add up to about as many."""
    return np.split(numbers, np.flatnonzero(np.diff(lengths[numbers].cumsum() // most)) + 1)


def questions(given: Texts, reader: Reader) -> Asked:
    """Asks about every position of texts that has several candidates without its marks.

    Arguments:
        given: the texts.
        reader: makes the rows.

    Raises:
        RunError: no position has several candidates.
    """
    found: list[tuple[Row, list[int]]] = []
    for half, restorer in enumerate(given.restorers):
        texts = [text for text, own in zip(given.texts, given.halves, strict=True) if own == half]
        bare = [unmarked(text) for text in texts]
        lattices = [restorer.lattice(text) for text in bare]
        _, restored = restorer.draft(bare, lattices)
        for text, lattice, draft in zip(texts, lattices, restored, strict=True):
            right = [token for token in tokens(text) if token.kind != "end"]
            if len(right) != len(lattice.positions):
                continue
            for row in reader.read(draft.text, lattice, half):
                answers = [
                    _place(lattice.positions[number].candidates.words, restorer.number(right[number].text))
                    for number in row.numbers
                ]
                found.append((row, answers))
    if not found:
        raise RunError(f"of {len(given.texts):,} texts no syllable may be another without its marks: give more text")
    found.sort(key=lambda each: -len(each[0].ids))
    rows, each = zip(*found, strict=True)
    ids, documents, places = _packed(rows, reader.longest)
    attention = separate({"input_ids": ids, "documents": documents}, PAD)["attention_mask"]
    batch = Batch(ids, attention, places, *candidates(rows))
    return Asked(batch, torch.tensor([place for places in each for place in places]))


def _place(words: NDArray[np.int32], word: int) -> int:
    found = np.flatnonzero(words == word)
    return int(found[0]) if len(found) else -1


def _packed(rows: Sequence[Row], width: int) -> tuple[Tensor, Tensor, Tensor]:
    """Rows, the longest first, behind each other where they fit.

    Returns:
        Ids with padding and the number of the row that each belongs to, from 1, int64 (B, N) each, and the flat places
        of the asked positions.
    """
    used: list[int] = []
    begins = []
    for row in rows:
        at = next((at for at, filled in enumerate(used) if filled + len(row.ids) <= width), len(used))
        used += [0] * (at == len(used))
        begins.append(at * width + used[at])
        used[at] += len(row.ids)
    ids, documents = (torch.full((len(used) * width,), fill) for fill in (PAD, 0))
    for number, (row, begin) in enumerate(zip(rows, begins, strict=True), 1):
        part = slice(begin, begin + len(row.ids))
        ids[part], documents[part] = torch.tensor(row.ids), number
    places = [begin + place for row, begin in zip(rows, begins, strict=True) for place in row.places]
    return ids.view(-1, width), documents.view(-1, width), torch.tensor(places)


def right_candidates(logs: Tensor, asked: Asked) -> Tensor:
    """The log-probabilities of the right candidates, of the positions that have one."""
    sizes, kept = asked.batch.sizes, asked.answers >= 0
    found: Tensor = logs[(sizes.cumsum(0) - sizes + asked.answers)[kept]]
    return found


def _tensors(items: Sequence[Asked]) -> dict[str, Tensor]:
    [asked] = items
    return {**asked.batch._asdict(), "answers": asked.answers}


class _Trainer(Trainer):
    """Trainer with the loss of the right candidates, and the steps in their order."""

    def compute_loss(self, model: Any, inputs: Any, *args: Any, **kwargs: Any) -> Tensor:
        """The mean over the positions of a step."""
        answers = inputs.pop("answers")
        asked = Asked(Batch(**inputs), answers)
        logs = _logs(model, self.train_dataset.reader, asked.batch)  # type: ignore[union-attr]
        return -right_candidates(logs, asked).mean()

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        """Trainer's checkpoint; the last two are kept."""
        super()._save_checkpoint(model, trial)
        for _, old in checkpoints(Path(str(self.args.output_dir)))[:-2]:
            remove(old)

    def get_train_dataloader(self) -> Any:
        """The steps in their order."""
        return train_loader(self, SequentialSampler(self.train_dataset))  # type: ignore[arg-type]


class _Control(TrainerCallback):
    """Tells of the loss and saves every so many steps, and at the last."""

    def __init__(self, save_steps: int, tell: Callable[[str], object], judge: Callable[[], str]) -> None:
        self.save_steps, self.tell, self.judge = save_steps, tell, judge

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Sets Trainer's flags."""
        if state.global_step % self.save_steps == 0 or state.global_step == state.max_steps:
            control.should_log = control.should_save = True

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        """Prints the loss, and what the model knows of the held-out texts."""
        if logs and "loss" in logs:
            step = f"step {state.global_step:,} of {state.max_steps:,}"
            self.tell(f"{step}  loss {logs['loss']:.4f}  held out: {self.judge()}")


@dataclass(frozen=True, kw_only=True)
class Run:
    """The settings of a run.

    Attributes:
        model: the pretrained PhonemicBERT that it begins with, a folder or an installed name.
        ngrams: a restorer's n-grams, see :func:`phonemic_bert.restoration.restoring.ngrams_path`.
        max_steps: optimizer steps.
        batch_tokens: tokens per step, roughly.
        learning_rate: the highest; it rises in the first steps and falls to 0.
        held_out_documents: texts that are not trained on, for evaluation.
        seed: of the order of the texts, and of dropped forms.
    """

    model: str
    ngrams: str
    max_steps: int = 3600
    batch_tokens: int = 2048
    learning_rate: float = 1e-3
    held_out_documents: int = 400
    seed: int = 0


def train_restorer(
    texts: Sequence[str],
    out: Path,
    run: Run,
    save_steps: int = 100,
    overwrite: bool = False,
    tell: Callable[[str], object] = print,
) -> None:
    """Trains a pretrained PhonemicBERT to restore, and writes a restorer of it and the n-grams.

    While it lasts the folder holds checkpoints, and a run that was interrupted is continued from the last.

    Arguments:
        texts: Vietnamese texts with their marks.
        out: the restorer's folder.
        run: the settings.
        save_steps: steps between checkpoints.
        overwrite: whether a restorer that is there is replaced, and another run thrown away.
        tell: gets lines that say how far it is.

    Raises:
        CheckpointError: there are no n-grams or no such model, or it is of another kind.
        LockedError: another process is at work in the folder.
        OutputError: the folder holds something else.
        RunError: there is too little text.
    """
    if len(texts) <= run.held_out_documents:
        raise RunError(f"{len(texts):,} texts are too few to train on, since {run.held_out_documents:,} are held out")
    ngrams = Ngrams.load(ngrams_path(run.ngrams))
    loaded = load(run.model)
    model: Any = loaded.model
    if not isinstance(model, PhonemicBertForMaskedLM) or model.config.head != "joint" or loaded.lang != "vi":
        raise CheckpointError(f"{run.model}: is not a pretrained Vietnamese PhonemicBERT with a joint head")
    record = _record(run, texts, ngrams)
    if not (overwrite or (out / RECORD).is_file() or _is_empty(out)):
        claim_folder(out, False)
    with locked(out):
        check_own(out)
        if not _is_begun(out, record, overwrite):
            tell(f"{out}: is finished")
            return
        _train(loaded, texts, ngrams, out / WORK, run, save_steps, tell)
        with replacing_folder(out / NETWORK, overwrite=True) as partial, silent_transformers():
            model.half().save_pretrained(partial)
            loaded.tokenizer.save_pretrained(str(partial))
        ngrams.save(out / NGRAMS)
        write_json(out / RECORD, record)
        remove(out / WORK)


def _is_empty(out: Path) -> bool:
    """Whether nothing but an unfinished run is in a folder."""
    return out.is_dir() and {path.name for path in out.iterdir()} <= {WORK, LOCK}


def _record(run: Run, texts: Sequence[str], ngrams: Ngrams) -> dict[str, Any]:
    """Return the settings, names of folders in the place of their paths, with a checksum of all that is read."""
    digest = hashlib.sha256(ngrams.to_bytes())
    for text in texts:
        digest.update(text.encode("utf-8", "surrogatepass") + b"\n")
    names = {"model": Path(run.model).name, "ngrams": Path(run.ngrams).name}
    return {**asdict(run), **names, "texts": len(texts), "read": digest.hexdigest()}


def _is_begun(out: Path, record: dict[str, Any], overwrite: bool) -> bool:
    """Whether there is a run to begin or to go on with; one that is finished is left as it is.

    Raises:
        OutputError: the folder holds another run.
    """
    for folder in (out / WORK, out):
        if not (folder / RECORD).is_file():
            continue
        if read_object(folder / RECORD, RunError) == record:
            return folder != out or overwrite
        if not overwrite:
            raise OutputError(
                f"{out}: holds a run with other settings, n-grams or texts; give --force to replace it, or another name"
            )
        break
    if (out / WORK).exists():
        remove(out / WORK)
    (out / WORK).mkdir()
    write_json(out / WORK / RECORD, record)
    return True


def _train(
    loaded: Inspected,
    texts: Sequence[str],
    ngrams: Ngrams,
    work: Path,
    run: Run,
    save_steps: int,
    tell: Callable[[str], object],
) -> None:
    """Trains the loaded model."""
    set_seed(run.seed)
    halves = _halves(len(texts))
    restorers = _restorers(texts, halves, ngrams.order, work, tell)
    reader = Reader(loaded.model, loaded.tokenizer.phonemic, *(each.ngrams.words for each in restorers))
    order = random.Random(run.seed).sample(range(len(texts)), len(texts))
    judged, learned = (
        Texts([texts[at] for at in part], restorers, [halves[at] for at in part])
        for part in (order[: run.held_out_documents], order[run.held_out_documents :])
    )
    asked = questions(judged, reader)
    trainer = _Trainer(loaded.model.float().train(), _arguments(work, run), _tensors, Questions(learned, reader, run))
    trainer.remove_callback(PrinterCallback)
    trainer.add_callback(_Control(save_steps, tell, lambda: accuracy(loaded.model, reader, asked)))
    whole = [str(path) for _, path in checkpoints(work) if not checkpoint_damage(path)]
    with silent_transformers():
        trainer.train(resume_from_checkpoint=whole[-1] if whole else None)


def _halves(count: int) -> list[int]:
    """Which half each text is in: those of one source lie next to each other, and so are mostly in one."""
    block = max(1, min(_BLOCK, count // 10))
    return [number // block % 2 for number in range(count)]


def _restorers(
    texts: Sequence[str], halves: Sequence[int], order: int, folder: Path, tell: Callable[[str], object]
) -> tuple[DiacriticsRestorer, DiacriticsRestorer]:
    """Return two that restore a half of the texts each, by n-grams of the other, which are kept in a folder."""
    found = []
    for half in (0, 1):
        path = folder / f"half-{half}.ngrams"
        if not path.exists():
            tell(f"counting the n-grams of half of the texts ({half + 1} of 2)")
            read = [text for text, own in zip(texts, halves, strict=True) if own != half]
            try:
                made = vietnamese_model(read.__iter__, order, _PRUNED)
            except InputError as error:
                raise RunError(f"{len(read):,} texts hold no word often enough: give more text") from error
            made.save(path)
        found.append(DiacriticsRestorer(Ngrams.load(path), threshold=None))
    return found[0], found[1]


def _arguments(folder: Path, run: Run) -> TrainingArguments:
    return training_arguments(
        str(folder),
        _OPTIMIZER,
        bf16=False,
        cpu=not torch.cuda.is_available(),
        max_steps=run.max_steps,
        per_device_train_batch_size=1,
        learning_rate=run.learning_rate,
        warmup_steps=round(_OPTIMIZER.warmup_ratio * run.max_steps),
        seed=run.seed,
    )


def _logs(model: Any, reader: Reader, batch: Batch) -> Tensor:
    hidden = model.bert(input_ids=batch.ids, attention_mask=batch.attention).last_hidden_state
    return log_probabilities(model, batch, hidden, model.vectors(reader.triples))


@torch.no_grad()
def accuracy(model: Any, reader: Reader, asked: Asked) -> str:
    """Return the mean loss and the share of positions that are right, in words."""
    was_training = model.training
    model.eval()
    logs = _logs(model, reader, asked.batch)
    own, sizes = right_candidates(logs, asked), asked.batch.sizes
    owners = torch.repeat_interleave(torch.arange(len(sizes)), sizes)
    best = torch.full((len(sizes),), -torch.inf).scatter_reduce(0, owners, logs, "amax")
    share = (own >= best[asked.answers >= 0]).float().mean().item()
    model.train(was_training)
    return f"{-own.mean().item():.4f} nats, {share:.2%} right"
