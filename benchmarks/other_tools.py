"""Tools that people use today: one line each in OTHER_TOOLS, one function each that makes it ready.

Each runs in a process of its own (``python benchmarks/other_tools.py NAME LANG TEXT FOLDER``), which says how many
bytes of the text it takes at a time, or why it cannot run, and then answers ``batch`` and the WAYS of encoding one
sentence with CPU seconds.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import models
from benchmarks.texts import SENTENCES, WAYS, head, in_way, read, sentences, size_of
from benchmarks.timing import ROOT, Process, ProcessError, cpu

Batch = Callable[[list[str]], Any]
Make = Callable[[str, Path, Path], Batch]

TARGET = 0.25  # CPU seconds of one run
SMALLEST, LARGEST = 4_000, 4_000_000  # bytes of text of one run


def _each(function: Callable[[str], Any]) -> Batch:
    return lambda texts: [function(text) for text in texts]


def _bpe(lang: str, text: Path, folder: Path) -> Batch:
    tokenizer = models.byte_bpe(lang, text, folder)
    return lambda texts: [tokenizer.encode(texts[0])] if len(texts) == 1 else tokenizer.encode_batch(texts)


def _wordpiece(lang: str, text: Path, folder: Path) -> Batch:
    tokenizer = models.wordpiece(lang, text, folder)
    return lambda texts: [tokenizer.encode(texts[0])] if len(texts) == 1 else tokenizer.encode_batch(texts)


def _sentencepiece(lang: str, text: Path, folder: Path) -> Batch:
    model = models.sentencepiece_unigram(lang, text, folder)
    return lambda texts: model.encode(texts, out_type=int, num_threads=1)


def _tiktoken(lang: str, text: Path, folder: Path) -> Batch:
    return _each(models.tiktoken_encoding(lang, text, folder).encode_ordinary)


def _pypinyin(*_: Any) -> Batch:
    from pypinyin import Style, lazy_pinyin

    return _each(lambda text: lazy_pinyin(text, style=Style.TONE3))


def _pypinyin_parts(*_: Any) -> Batch:
    from pypinyin import Style, lazy_pinyin

    styles = Style.INITIALS, Style.FINALS, Style.TONE
    return _each(lambda text: [lazy_pinyin(text, style=style) for style in styles])


def _xpinyin(*_: Any) -> Batch:
    from xpinyin import Pinyin

    reader = Pinyin()
    return _each(lambda text: reader.get_pinyin(text, tone_marks="numbers"))


def _g2pm(*_: Any) -> Batch:
    from g2pM import G2pM

    model = G2pM()
    return _each(lambda text: model(text, tone=True, char_split=False))


def _dragonmapper(*_: Any) -> Batch:
    from dragonmapper import hanzi

    return _each(hanzi.to_pinyin)


def _pinyin_to_ipa(*_: Any) -> Batch:
    from pinyin_to_ipa import pinyin_to_ipa
    from pypinyin import Style, lazy_pinyin

    read_before: dict[str, list[str]] = {}

    def prepare(text: str) -> list[str]:
        """The text's pinyin, read the first time only, so that the warm-up does it and not a timed run."""
        if text not in read_before:
            syllables = lazy_pinyin(text, style=Style.TONE3, neutral_tone_with_five=True, errors="ignore")
            read_before[text] = [syllable for syllable in syllables if _is_pinyin(syllable)]
        return read_before[text]

    def _is_pinyin(syllable: str) -> bool:
        try:
            return bool(pinyin_to_ipa(syllable))
        except ValueError:
            return False

    return _each(lambda text: [pinyin_to_ipa(syllable) for syllable in prepare(text)])


def _espeak(lang: str, *_: Any) -> Batch:
    import logging

    from phonemizer.backend import EspeakBackend

    quiet = logging.getLogger("quiet")
    quiet.setLevel(logging.CRITICAL)
    backend = EspeakBackend({"vi": "vi", "zh": "cmn"}[lang], language_switch="remove-flags", logger=quiet)
    return lambda texts: backend.phonemize(texts, njobs=1)


def _epitran(*_: Any) -> Batch:
    import epitran

    return _each(epitran.Epitran("vie-Latn").transliterate)


def _donglao(*_: Any) -> Batch:
    from donglao_g2p import Pipeline

    pipeline = Pipeline(num_threads=1)
    return lambda texts: pipeline.phonemize_batch(texts, normalize=False)


def _sea_g2p(*_: Any) -> Batch:
    from sea_g2p import SEAPipeline

    return _each(SEAPipeline(lang="vi").g2p.convert)


def _viphoneme(*_: Any) -> Batch:
    from viphoneme import vi2IPA

    return _each(vi2IPA)


def _nltk(*_: Any) -> Batch:
    from nltk.tokenize import wordpunct_tokenize

    return _each(wordpunct_tokenize)


def _nltk_syllables(*_: Any) -> Batch:
    from nltk.tokenize import SyllableTokenizer

    tokenize = SyllableTokenizer().tokenize
    return _each(lambda text: [tokenize(word) for word in text.split()])


def _spacy(lang: str, *_: Any) -> Batch:
    import spacy

    tokenizer = {"@tokenizers": "spacy.vi.VietnameseTokenizer", "use_pyvi": False}
    config = {"nlp": {"tokenizer": tokenizer}} if lang == "vi" else {}
    return _each(spacy.blank(lang, config=config).make_doc)


def _absent(*_: Any) -> Batch:
    raise ModuleNotFoundError("not on PyPI")


class OtherTool(NamedTuple):
    """Another tool: its name in the table, its languages, its distribution on PyPI, and what makes it ready."""

    name: str
    langs: tuple[str, ...]
    package: str
    make: Make
    note: str = ""


OTHER_TOOLS = [
    OtherTool("HF tokenizers BPE", ("vi", "zh"), "tokenizers", _bpe, "byte-level, trained on the text"),
    OtherTool("HF tokenizers WordPiece", ("vi", "zh"), "tokenizers", _wordpiece, "trained on the text"),
    OtherTool("SentencePiece unigram", ("vi", "zh"), "sentencepiece", _sentencepiece, "trained on the text"),
    OtherTool("tiktoken", ("vi", "zh"), "tiktoken", _tiktoken, "with the merges of the BPE above"),
    OtherTool("pypinyin TONE3", ("zh",), "pypinyin", _pypinyin),
    OtherTool("pypinyin, three passes", ("zh",), "pypinyin", _pypinyin_parts, "initials, finals, tone"),
    OtherTool("xpinyin", ("zh",), "xpinyin", _xpinyin),
    OtherTool("g2pM", ("zh",), "g2pM", _g2pm),
    OtherTool("dragonmapper", ("zh",), "dragonmapper", _dragonmapper, "pinyin, since its IPA fails on nü"),
    OtherTool(
        "pinyin-to-ipa", ("zh",), "pinyin-to-ipa", _pinyin_to_ipa, "from pinyin; making the pinyin is not counted"
    ),
    OtherTool("cpp-pinyin", ("zh",), "cpp-pinyin", _absent),
    OtherTool("donglao-g2p", ("vi",), "donglao-g2p", _donglao, "without normalization"),
    OtherTool("sea-g2p", ("vi",), "sea-g2p", _sea_g2p, "without normalization"),
    OtherTool("viphoneme", ("vi",), "viphoneme", _viphoneme),
    OtherTool("vPhon", ("vi",), "vPhon", _absent),
    OtherTool("phonemizer + espeak-ng", ("vi", "zh"), "phonemizer", _espeak),
    OtherTool("epitran", ("vi",), "epitran", _epitran),
    OtherTool("NLTK wordpunct", ("vi", "zh"), "nltk", _nltk, "finds words only"),
    OtherTool("NLTK SyllableTokenizer", ("vi",), "nltk", _nltk_syllables, "English sonority"),
    OtherTool("spaCy tokenizer", ("vi", "zh"), "spacy", _spacy, "finds words (vi) or characters (zh) only"),
]


def version(tool: OtherTool) -> str:
    """The installed version, or ""."""
    try:
        return metadata.version(tool.package)
    except metadata.PackageNotFoundError:
        return ""


class OtherToolProcess(Process):
    """A tool, ready to run on the beginning of a text.

    Raises:
        ProcessError: it is not installed, failed or took too long; the message says which.
    """

    def __init__(self, tool: OtherTool, lang: str, text: Path, folder: Path, limit: float) -> None:
        one_thread = {"TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-W", "ignore", __file__, tool.name, lang, str(text), str(folder)]
        super().__init__(command, limit, {**os.environ, **one_thread})
        ready = json.loads(self.answer())
        if "error" in ready:
            self.close()
            raise ProcessError(ready["error"])
        self.bytes = int(ready["bytes"])

    def seconds(self, task: str = "batch") -> float:
        """CPU seconds of one run over the text, or with one of WAYS of one call."""
        return float(self.ask(task))


def _portion(run: Batch, texts: list[str]) -> list[str]:
    """As much of the text as takes about TARGET seconds, found by taking four times as much each time."""
    size = SMALLEST
    while True:
        part = head(texts, size)
        seconds = cpu(lambda part=part: run(part))  # type: ignore[misc]
        if seconds > TARGET / 4 or size >= LARGEST or len(part) == len(texts):
            break
        size *= 4
    return head(texts, max(SMALLEST, min(LARGEST, int(size * TARGET / max(seconds, 1e-6)))))


def _sentence_seconds(run: Batch, sentences: list[str]) -> float:
    def run_all() -> None:
        for sentence in sentences:
            run([sentence])

    return cpu(run_all) / len(sentences)


def serve(name: str, lang: str, text: Path, folder: Path) -> None:
    """Makes a tool ready and answers standard input, one line per run, until it ends."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a tool prints is not an answer
    try:
        tool = next(tool for tool in OTHER_TOOLS if tool.name == name)
        run = tool.make(lang, text, folder)
        texts = _portion(run, head(read(text), LARGEST))
    except ModuleNotFoundError as error:
        missing = f"not installed ({error.name})" if error.name else str(error)
        answers.write(json.dumps({"error": missing}) + "\n")
        return
    except Exception as error:  # whatever a tool throws is its row's reason
        answers.write(json.dumps({"error": f"{type(error).__name__}: {error}"[:200].replace("\n", " ")}) + "\n")
        return
    answers.write(json.dumps({"bytes": size_of(texts)}) + "\n")
    for line in sys.stdin:
        way = line.strip()
        if way in WAYS:
            seconds = _sentence_seconds(run, in_way(way, sentences(read(text), lang, SENTENCES)))
        else:
            seconds = cpu(lambda: run(texts))
        answers.write(f"{seconds:.9f}\n")


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2], ROOT / sys.argv[3], ROOT / sys.argv[4])
