"""Properties of every damaged folder: a clear error or none, nothing run, nothing outside read or written."""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import folder_cases as cases
import forking
import made
from made import RECIPES

#: Memory that a case may take beyond what the process has.
ROOM = 3 << 30

#: Events of Python that run a program, or reach another machine.
_RUNS = (
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "subprocess.Popen",
    "socket.connect",
    "socket.getaddrinfo",
    "pickle.find_class",
)

#: Folders of the system that anything may be read in.
_SYSTEM = ("/proc", "/sys", "/dev", "/etc", "/usr", "/lib", "/var", sys.prefix, sys.base_prefix, str(forking.ROOT))


class Watch:
    """Notes what this process opens outside of a folder, and runs; an audit hook stays, so there is one a process."""

    def __init__(self) -> None:
        self.folder = ""
        self.seen: list[str] = []
        sys.addaudithook(self._hook)

    def _hook(self, event: str, given: tuple[Any, ...]) -> None:
        if not self.folder:
            return
        if event == "open" and isinstance(given[0], str | bytes | os.PathLike):
            path = os.path.realpath(os.fsdecode(given[0]))
            cache = any(part in path for part in ("site-packages", "__pycache__", "/torchinductor"))
            if not cache and not path.startswith((self.folder, *_SYSTEM)):
                self.seen.append(f"opened {path}")
            if path.startswith(os.path.join(self.folder, str(cases.OUTSIDE))):
                self.seen.append(f"opened {path}")
        elif event in _RUNS and not (event == "subprocess.Popen" and "git" in str(given[0])):
            self.seen.append(f"{event} {given[:2]}")


@dataclass(frozen=True)
class Target:
    """A kind of folder.

    Attributes:
        name: of the case.
        holds: what the working directory holds, as ``made.put`` knows it.
        folder: which of that is damaged.
        uses: what is done with it.
    """

    name: str
    holds: tuple[str, ...]
    folder: str
    uses: tuple[Callable[[], None], ...]


# --- uses


def command(*words: str) -> None:
    """Runs a command: it may end with any status, but not with a traceback."""
    from click.testing import CliRunner

    from phonemic_bert.cli import cli

    done = CliRunner().invoke(cli, list(words))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise AssertionError(f"{words}: {done.exception!r}") from done.exception
    if done.exit_code == 1:
        told = done.output
        assert "Error: " in told or "failed" in told, told
        named = any(str(word).split("=")[-1].split("/")[0] in told for word in words[1:]) or "memory" in told
        assert named or ".json" in told, told
    assert cases.TOLD not in done.output


def api(use: Callable[[], object]) -> None:
    """Calls a function: it may raise the project's errors and the system's."""
    from phonemic import PhonemicError

    try:
        use()
    except (PhonemicError, OSError, MemoryError) as error:
        assert cases.TOLD not in str(error), error
        assert str(error), repr(error)


def _models() -> None:
    import torch

    from phonemic_bert import PhonemicBertConfig, PhonemicBertForMaskedLM, PhonemicBertTokenizer

    api(lambda: PhonemicBertConfig.from_pretrained("run/final"))
    api(lambda: PhonemicBertTokenizer.from_pretrained("run/final")("bé ăn xôi"))
    found: list[Any] = []
    api(lambda: found.append(PhonemicBertForMaskedLM.from_pretrained("run/final")))
    if found:
        with contextlib.suppress(ValueError, RuntimeError, IndexError), torch.no_grad():
            found[0](torch.tensor([[1, 2, 3]]))


def _auto(folder: str = "run/final") -> None:
    """transformers' own classes: whatever they raise, nothing else may come of it."""
    from transformers import AutoConfig, AutoModelForMaskedLM, AutoTokenizer

    import phonemic_bert  # noqa: F401

    for auto in (AutoConfig, AutoTokenizer, AutoModelForMaskedLM):
        with contextlib.suppress(Exception):
            auto.from_pretrained(folder, trust_remote_code=False)


def _encoder(folder: str = "run/final") -> None:
    from phonemic_bert.finetuning.encoders import load_encoder

    api(lambda: load_encoder(folder, "tokenizers").model("classification", 3))


_plain, _plain_auto = partial(_encoder, "plain-run/final"), partial(_auto, "plain-run/final")
_export = partial(command, "export", "plain-run/final", "out")


def _open_corpus() -> None:
    from phonemic.corpus import open_corpus

    api(lambda: [len(shard.ids) for shard in open_corpus("corpus", verify=False)])


def _tokenizer() -> None:
    from phonemic import Tokenizer

    api(lambda: Tokenizer.load("saved/tokenizer.json").encode("银行 bé_ăn"))


def _spacy() -> None:
    import spacy

    api(lambda: spacy.blank("zh").add_pipe("phonemic").from_disk("saved/component.json"))


def _tune() -> None:
    from phonemic_bert.finetuning.runs import checkpoint_hash

    checkpoint_hash.cache_clear()
    command(*RECIPES["results"].words.split())


def _pretrain() -> None:
    command(*RECIPES["run"].words.split())


# --- targets


_PREPARE, _RESUME = RECIPES["corpus"].words.split(), RECIPES["unfinished"].words.split()
_SHOWS = (
    lambda: command("summary", "--checkpoint", "run/final"),
    lambda: command("inspect", "run/final", "bé ăn xôi"),
    lambda: command("export", "run/final", "out"),
    lambda: command("model-card", "run/final"),
)

TARGETS = {
    target.name: target
    for target in (
        Target("checkpoint", ("run",), "run/final", (*_SHOWS, _models, _auto, _encoder)),
        Target(
            "plain-checkpoint", ("plain-run", "tokenizers"), "plain-run/final", (_plain, _plain, _plain_auto, _export)
        ),
        Target("tokenizer-files", ("plain-run", "tokenizers"), "tokenizers", (_plain,)),
        Target("run", ("run", "corpus"), "run", (_pretrain,)),
        Target("corpus", ("corpus", "vi.txt"), "corpus", (_open_corpus, lambda: command(*_PREPARE), _pretrain)),
        Target("unfinished-corpus", ("unfinished", "vi.txt"), "unfinished", (lambda: command(*_RESUME),)),
        Target(
            "results",
            ("results", "run", "mood.csv"),
            "results",
            (
                lambda: command("report", "results"),
                lambda: command("report", "results", "--format", "csv", "--against", "tiny"),
                lambda: command("report", "results", "--robustness"),
                _tune,
            ),
        ),
        Target("saved-tokenizer", ("saved",), "saved", (_tokenizer, _spacy)),
    )
}


def run(name: str, seeds: list[int], whole: str) -> None:
    """Makes and checks the cases of a target; prints each seed before, so that it is known which ended the process.

    Raises:
        AssertionError: something does not hold; a note says which case.
    """
    target, watch = TARGETS[name], Watch()
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for seed in seeds:
        dice = random.Random(f"{name} {seed}")
        with tempfile.TemporaryDirectory(prefix="fuzz-") as folder, contextlib.chdir(folder):
            shutil.copytree(whole, ".", dirs_exist_ok=True)
            cases.plant(Path())
            done = cases.damage(dice, Path(target.folder))
            use = dice.choice(target.uses)
            sys.stdout.write(f"{seed}: {done}\n")
            sys.stdout.flush()
            watch.folder, watch.seen = os.path.realpath(folder), []
            tempfile.tempdir = folder
            try:
                use()
                assert not watch.seen, watch.seen
                assert not Path(folder, cases.MARK).exists(), "a program ran"
            except Exception as error:
                traceback.print_exc()
                sys.stdout.write(f"FOUND {name} {seed}: {done}: {str(error)[:500]}\n")
            finally:
                watch.folder, tempfile.tempdir = "", None
                os.chdir(folder)


@cache
def _whole(name: str) -> Path:
    target = TARGETS[name]
    folder = made.whole(*(one for one in target.holds if one != "saved"))
    if "saved" in target.holds:
        _save(folder / "saved")
    if name == "run":  # the last checkpoint is there, and what is made of it is not
        shutil.rmtree(folder / "run/final")
        shutil.rmtree(folder / "run/final-fp16")
    return folder


def _save(folder: Path) -> None:
    from phonemic import Tokenizer

    folder.mkdir()
    Tokenizer("zh", word_joiner="_", phrases={"银行": "yin2 hang2"}).save(folder / "tokenizer.json")
    state = {"lang": "zh", "strict": False, "word_joiner": "_", "phrases": {"银行": "yin2 hang2"}, "fallback": "packed"}
    (folder / "component.json").write_text(json.dumps(state))


def batch(name: str, seeds: list[int]) -> str:
    """The cases of some seeds in a process of their own; what was found, "" where nothing."""
    done = forking.Process(run, name, seeds, str(_whole(name))).finished()
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    found = [line for line in lines if line.startswith("FOUND")]
    if done.returncode:
        found.append(f"FOUND {name} {lines[-1] if lines else ''}: the process ended with {done.returncode}")
    return "\n".join([*found, done.stderr.decode("utf-8", "replace")]) if found else ""
