"""Pipelines with the component, and what their tokens must say."""

import json
import subprocess
import sys
from importlib import metadata

import forking
import numpy as np
import pytest
from packaging.requirements import Requirement

spacy = pytest.importorskip("spacy")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:spacy", "ignore::DeprecationWarning:weasel")

SYLLABLES = {"nlp": {"tokenizer": {"@tokenizers": "spacy_phonemic.SyllableTokenizer.v1"}}}
PLAIN_VI = {"nlp": {"tokenizer": {"use_pyvi": False}}}
VI = "Cái giếng ở quốc lộ, COVID-19 🎉  hoà bình"
ZH = "银行行长觉得还不错，了不起。"


def pipeline(lang, **config):
    nlp = spacy.blank(lang, config=SYLLABLES)
    nlp.add_pipe("phonemic", config=config)
    return nlp


def expected(tokenizer, doc):
    """The tokenizer's result for each token's characters, the slow way."""
    syllables = tokenizer.syllables(doc.text)
    for token in doc:
        end = token.idx + len(token.text)
        own = [syllable for syllable in syllables if token.idx <= syllable.start < end]
        native = [syllable for syllable in own if syllable.is_native]
        yield {
            "onset": " ".join(syllable.onset for syllable in native),
            "rime": " ".join(syllable.rime for syllable in native),
            "tone": " ".join(syllable.tone for syllable in native),
            "ipa": " ".join(syllable.ipa for syllable in native),
            "syllables": own,
            "is_syllable": len(own) == 1 and own[0].is_native and own[0].text == token.text,
        }


def check(doc, tokenizer):
    for token, values in zip(doc, expected(tokenizer, doc), strict=True):
        assert {name: token._.get(name) for name in values} == values, token
    assert doc._.syllables == tokenizer.syllables(doc.text)
    assert doc._.ipa == " ".join(syllable.ipa for syllable in doc._.syllables if syllable.is_native)
    assert np.array_equal(doc._.phonemic.ids, tokenizer.encode(doc.text).ids)
    assert np.array_equal(doc._.phonemic.spans, tokenizer.encode(doc.text).spans)


def spacy_command(*words):
    """The command ``python -m spacy``, in a process that is forked where that can be."""
    return _module("spacy", *words)


def _module(name, *words):
    words = [*map(str, words)]
    if not forking.AVAILABLE:
        command = [sys.executable, "-m", name, *words]
        return subprocess.run(command, capture_output=True, text=True, env=forking.environment(), check=False)
    import obstacles  # POSIX only

    done = forking.Process(obstacles.run_module, name, words).finished()
    return subprocess.CompletedProcess(words, done.returncode, done.stdout.decode(), done.stderr.decode())


def run_script(folder, code, *words, **extra):
    """Runs code as a script of a folder, in a process that may begin others; it is forked where that can be.

    Arguments:
        folder: where the script is put.
        code: that of the script; ``set_start_method`` needs ``force=True``.
        words: its arguments.
        extra: what its environment has beyond ``forking.environment``.
    """
    script, words = folder / "script.py", [*map(str, words)]
    script.write_text(code, encoding="utf-8")
    if not forking.AVAILABLE:
        command, environment = [sys.executable, str(script), *words], forking.environment(**extra)
        return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    import obstacles  # POSIX only

    done = forking.Process(obstacles.run_script, str(script), words, extra=extra, parent=True).finished()
    return subprocess.CompletedProcess(words, done.returncode, done.stdout.decode(), done.stderr.decode())


def install(package, folder, extras):
    """Installs a packaged pipeline in a folder; it asks for this release with these extras, which that has."""
    options = ["--no-deps", "--no-build-isolation", "--quiet", "--target"]
    done = _module("pip", "install", *options, folder, package)
    assert done.returncode == 0, done.stderr
    (package,) = metadata.distributions(path=[str(folder)])
    (needed,) = [each for each in map(Requirement, package.requires) if each.name == "phonemic"]
    assert needed.extras == extras
    assert needed.specifier.contains(metadata.version("phonemic"))
    assert extras <= set(metadata.metadata("phonemic").get_all("Provides-Extra"))


def said_by_installed(folder, name, text):
    """Read a text with a pipeline that is installed in a folder, in a process of its own.

    Returns:
        Of each token, whether it is a syllable, if the pipeline tells; and the sum of its vector, if it has one.
    """
    done = _module("spacy_helpers", folder, name, text)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


NLP = {lang: pipeline(lang) for lang in ("vi", "zh")}


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    read = spacy.load(sys.argv[2])(sys.argv[3])
    said = [token._.is_syllable for token in read] if read[0].has_extension("is_syllable") else []
    sys.stdout.write(json.dumps([said, read.tensor.sum(axis=1).tolist() if read.tensor.size else []]))
