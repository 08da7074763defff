"""Draws sentences as SVG: each syllable over its tone on a staff of five pitches, its onset and its rime.

``python examples/picture.py docs/images/picture.svg`` makes the picture of the README.
"""

from __future__ import annotations

import argparse
import unicodedata
from html import escape
from pathlib import Path

from phonemic import Syllable, Tokenizer
from phonemic.drawing import COLOR, FONT

SENTENCES = [("vi", "Cái giếng cổ ở đầu làng chưa cạn nước."), ("zh", "银行行长在重庆说了重要的事。")]
PITCHES = {"˩": 1, "˨": 2, "˧": 3, "˦": 4, "˥": 5}  # Chao's letters; ˀ is a glottal stop within the tone
STEP, GAP, MARGIN, TOP, LINE = 7, 10, 18, 34, 134
TEXT, PARTS = 22, 16  # sizes of the letters, in px
ONSET, RIME, STAFF, CONTOUR = "#dbe7f6", "#fbe3c8", "#d5dae0", "#b3261e"


def width(text: str, size: int) -> float:
    """About how wide a text is drawn, in px: marks take no room, CJK characters a whole em, others 0.62 em."""
    ems = (
        0 if unicodedata.combining(each) else 1 if unicodedata.east_asian_width(each) in "WF" else 0.62 for each in text
    )
    return size * sum(ems)


def contour(tone: str, x: float, y: float, wide: float) -> str:
    """A tone as a line from pitch to pitch, broken at a glottal stop; ``y`` is the lowest pitch."""
    pitches = [each for each in tone if each in PITCHES]
    points = [
        (x + wide * at / max(len(pitches) - 1, 1), y - STEP * (PITCHES[each] - 1)) for at, each in enumerate(pitches)
    ]
    line = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
    dashes = ' stroke-dasharray="7 4"' if "ˀ" in tone else ""
    return (
        f'<polyline points="{line}" fill="none" stroke="{CONTOUR}" stroke-width="2.5" stroke-linecap="round"{dashes}/>'
    )


def written(text: str, x: float, y: float, size: int) -> str:
    """A text around a middle."""
    return f'<text x="{x:.1f}" y="{y}" font-size="{size}">{escape(text)}</text>'


def column(syllable: Syllable, x: float, y: float) -> tuple[float, list[str]]:
    """One position: how wide it is, and its elements; ``y`` is the text's base line."""
    boxes = [(part, look) for part, look in ((syllable.onset, ONSET), (syllable.rime, RIME)) if part]
    widths = [width(part, PARTS) + 10 for part, _ in boxes]
    wide = max(width(syllable.text, TEXT), sum(widths))
    made = [written(syllable.text, x + wide / 2, y, TEXT)]
    if not boxes:
        return wide, made
    low = y + 18 + 4 * STEP
    lines = "".join(f"M{x:.1f} {low - STEP * pitch}h{wide:.1f}" for pitch in range(5))
    made.append(f'<path d="{lines}" stroke="{STAFF}"/>')
    if syllable.tone:
        made.append(contour(syllable.tone, x + 4, low, wide - 8))
    at = x + (wide - sum(widths)) / 2
    for (part, look), each in zip(boxes, widths, strict=True):
        made.append(f'<rect x="{at:.1f}" y="{low + 14}" width="{each:.1f}" height="26" fill="{look}" stroke="#fff"/>')
        made.append(written(part, at + each / 2, low + 33, PARTS))
        at += each
    return wide, made


def picture() -> str:
    """The sentences one below the other, as an SVG image."""
    elements, widest = [], 0.0
    for number, (lang, text) in enumerate(SENTENCES):
        x = float(MARGIN)
        elements.append(f'<g lang="{lang}">')
        for syllable in Tokenizer(lang).encode(text):
            wide, made = column(syllable, x, TOP + LINE * number)
            elements += made
            x += wide + GAP
        elements.append("</g>")
        widest = max(widest, x)
    wide, high = round(widest + MARGIN - GAP), LINE * len(SENTENCES)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" '
    head += f'font-family="{escape(FONT)}" fill="{COLOR}" text-anchor="middle">'
    title = f"<title>{escape(' '.join(text for _, text in SENTENCES))}</title>"
    ground = '<rect width="100%" height="100%" rx="8" fill="#ffffff"/>'
    return "\n".join([head, title, ground, *elements, "</svg>", ""])


def main() -> None:
    """Writes the file that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="the SVG file to write")
    with parser.parse_args().file.open("w", encoding="utf-8", newline="\n") as file:
        file.write(picture())


if __name__ == "__main__":
    main()
