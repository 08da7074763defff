"""Text over its onsets, rimes and tones: ``make demo``, ``make demo FILE=text.txt LANG=vi``.

Sentences are shown as linguists gloss them, with what a model reads beneath; all of them are drawn on an HTML page. A
CoNLL-U treebank (``.conllu``) is read by its ``# text =`` lines, any other file line by line.
"""

from __future__ import annotations

import argparse
import time
from html import escape
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from phonemic import Encoding, Tokenizer, drawing
from phonemic.metrics import Statistics

HERE = Path(__file__).parent
#: Examples that are shown first: words spelt unlike they sound, and characters whose reading depends on their phrase.
FIRST = {
    "vi": ["Cái giếng cổ ở đầu làng chưa bao giờ cạn nước.", "Quốc kỳ bay trên nóc nhà, quyển vở nằm dưới gốc quýt."],
    "zh": ["银行行长在重庆开会，会上说了很重要的事。", "我姓曾，曾经在西安住过八年。"],
}
PAGE_SENTENCES = 500
_SENTENCE = '<p lang="{lang}" style="font: 18px/1.3 {font}; color: {color}; margin: 0 0 0.8em">{tokens}</p>'
_TOKEN = (
    '<span style="display: inline-block; vertical-align: top; text-align: center; margin: 0 0.25em 0.6em">'
    '<span style="display: block; margin-bottom: 0.15em">{text}</span>{box}</span>'
)


def read_sentences(path: Path) -> list[str]:
    """The sentences of a text file or a treebank."""
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise SystemExit(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SystemExit(f"{path}: not UTF-8 at byte {error.start}; save the file as UTF-8") from error
    lines = [line.rstrip("\r") for line in text.split("\n")]
    if path.suffix == ".conllu":
        lines = [line.removeprefix("# text = ") for line in lines if line.startswith("# text = ")]
    return [line for line in lines if line.strip()]


def gloss(console: Console, encoding: Encoding) -> None:
    """Prints a sentence over its onsets, rimes and tones, cut where the screen ends; then other views of it."""
    columns = [[each.text, each.onset, each.rime, each.tone] for each in encoding]
    pieces: list[list[list[str]]] = [[]]
    width = room = console.width - 8
    for column in columns:
        width -= max(map(cell_len, column)) + 2
        if width < 0 and pieces[-1]:
            pieces.append([])
            width = room - max(map(cell_len, column)) - 2
        pieces[-1].append(column)
    for piece in pieces:
        for row, name in enumerate(("", "onset", "rime", "tone")):
            line = Text(f"{name:8}", style="dim")
            for column in piece:
                look = ("bold", "", "bold cyan", f"black on {drawing.TONE_COLORS.get(column[3], '#eeeeee')}")[row]
                line.append(column[row], style=look if column[row] else "")
                line.append(" " * (max(map(cell_len, column)) + 2 - cell_len(column[row])))
            console.print(line, no_wrap=True, crop=False)
        console.print()


def draw(encoding: Encoding) -> str:
    """A sentence as HTML: each position over the box of its onset, rime and tone."""
    tokens = "".join(
        _TOKEN.format(
            text=escape(each.text),
            box=drawing.syllable(encoding.vocabulary.lang, each.onset, each.rime, each.tone, each.ipa)
            if each.is_native
            else "",
        )
        for each in encoding
    )
    return _SENTENCE.format(lang=encoding.vocabulary.lang, font=drawing.FONT, color=drawing.COLOR, tokens=tokens)


def run(console: Console, lang: str, path: Path) -> str:
    """Encodes a file, prints two sentences and the figures of all; the HTML of the first 500 sentences."""
    tokenizer = Tokenizer(lang, readings="context") if lang == "zh" else Tokenizer(lang)
    sentences = read_sentences(path)
    start = time.perf_counter()
    batch = tokenizer.encode_batch(sentences, spans=True)
    seconds = time.perf_counter() - start
    if not len(batch.ids):
        where = " in lines '# text = '" if path.suffix == ".conllu" else ""
        raise SystemExit(f"{path}: holds no text{where}")
    console.rule(f"{lang}: {path.name}")
    shown = [tokenizer.encode(text) for text in FIRST[lang] if text in sentences] or batch[:2]
    for encoding in shown:
        gloss(console, encoding)
        ids = " ".join(".".join(map(str, each)) for each in encoding.components.tolist())
        console.print(f"decoded {tokenizer.decode(encoding)}")
        console.print(f"IPA     {tokenizer.decode(encoding, to='ipa')}")
        console.print(f"ids     {ids}\n")
    statistics = Statistics(tokenizer)
    statistics.update(sentences)
    syllables = 1 - statistics.fallback_share - statistics.unknown_share
    console.print(
        f"{len(batch):,} sentences, {len(batch.ids):,} positions in {seconds * 1e3:.1f} ms; {syllables:.1%} of them "
        f"are syllables, of {len(tokenizer.vocab)} symbols"
    )
    console.print(f"Rényi efficiency {statistics.renyi_efficiency():.4f}", end="")
    console.print(f", fertility {statistics.fertility:.4f} positions a word" if lang == "vi" else "")
    return "\n".join(draw(encoding) for encoding in batch[:PAGE_SENTENCES])


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, help="text or .conllu; default: the pages next to this script")
    parser.add_argument("--lang", choices=["vi", "zh"], default="vi")
    parser.add_argument("--html", type=Path, metavar="FILE", help="where the sentences are drawn as a page")
    arguments = parser.parse_args()
    console = Console(highlight=False)
    files = {lang: HERE / f"sentences-{lang}.txt" for lang in ("vi", "zh")}
    if arguments.file:
        files = {arguments.lang: arguments.file}
    body = "\n".join(run(console, lang, path) for lang, path in files.items())
    if arguments.html:
        arguments.html.parent.mkdir(parents=True, exist_ok=True)
        arguments.html.write_text(drawing.page(body, "phonemic", next(iter(files))), "utf-8")
        console.print(f"All of it as a page: {arguments.html}", soft_wrap=True)


if __name__ == "__main__":
    main()
