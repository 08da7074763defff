"""Properties of every case, and the loop that makes cases."""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import fuzz_cases as cases
import numpy as np

from phonemic import DecodingError, InputError, SavedTokenizerError, Tokenizer, reference, reference_forms
from phonemic.forms import without_forms
from phonemic.writing.decoding import decoder, spaced

FOUND = Path(__file__).parent / "found"

#: Short texts of a case; a long one comes with them.
TEXTS = 40

#: How texts are written anew.
SPACED: dict[str, list[dict[str, Any]]] = {
    "vi": [{}, {"style": "old"}, {"to": "ipa"}, {"dialect": "saigon"}],
    "zh": [{}, {"to": "numbers"}, {"to": "zhuyin"}, {"to": "ipa"}],
}

#: The reference, which is slow, reads the long text of one case in as many.
LONG_COMPARED = 64


def check_texts(made: cases.Options, tokenizer: Tokenizer, texts: list[str], compared: slice) -> None:
    """One by one, as batches of one and of two threads, and those ``compared`` as the reference reads them."""
    single = [tokenizer.encode(text) for text in texts]
    for threads in (1, 2):
        batch = tokenizer.encode_batch(texts, threads, spans=True, word_ids=True)
        for one, row in zip(single, batch, strict=True):
            assert np.array_equal(one.ids, row.ids), ascii(one.text)
            assert np.array_equal(one.spans, row.spans), ascii(one.text)
            assert np.array_equal(one.word_ids, row.word_ids), ascii(one.text)
        assert np.array_equal(tokenizer.encode_batch(texts, threads).ids, batch.ids)
    for one in single:
        ids, spans = one.ids, one.spans
        assert made.form or len(ids) <= len(one.text)
        if made.form:  # bytes have the span of what they are of
            spans = spans[np.flatnonzero(np.concatenate([[True], (spans[1:] != spans[:-1]).any(axis=1)])[: len(ids)])]
        assert not len(ids) or (
            spans[0, 0] >= 0 and spans[-1, 1] <= len(one.text) and (np.diff(spans.ravel()) >= 0).all()
        )
    phrases = {phrase: list(pinyin) for phrase, pinyin in made.phrases}
    for one in single[compared]:
        expected = (reference_forms if made.form else reference).encode(
            one.text,
            made.lang,
            strict=made.strict,
            joiner=made.word_joiner,
            phrases=phrases,
            fallback=made.fallback,
            readings=made.readings,
            sandhi=made.sandhi,
            erhua=made.erhua,
        )
        assert one.triples == [position.triple for position in expected], ascii(one.text)
        assert one.forms.tolist() == [position.form for position in expected], ascii(one.text)
        assert one.spans.tolist() == [[position.start, position.end] for position in expected], ascii(one.text)


def check_decoding(made: cases.Options, tokenizer: Tokenizer, texts: list[str], dice: random.Random) -> None:
    """Texts come back from their ids; forged ids give a text, or an error that says where."""
    batch = tokenizer.encode_batch(texts)
    if made.form:
        assert tokenizer.decode_batch(batch) == texts
        plain = replace(made, form=False).tokenizer()
        for text, row in zip(texts, batch, strict=True):
            assert np.array_equal(without_forms(row.ids, made.lang, made.word_joiner), plain.encode(text).ids)
    for row in batch:
        ids = np.array(cases.forged_ids(dice, row.ids.tolist()[: dice.choice([3, 20, 500])]), np.int32)
        assert isinstance(tokenizer.decode(ids, errors="replace"), str)
        try:
            text = tokenizer.decode(ids)
        except DecodingError as error:
            assert str(error).startswith("position "), error
        else:
            assert tokenizer.decode_batch(ids, [0, len(ids)]) == [text]


def check_spacing(made: cases.Options, texts: list[str], compared: slice) -> None:
    """Syllables written anew: with forms as without, in a batch as alone, and those ``compared`` as the plain twin."""
    plain, tokenizer = replace(made, form=False).tokenizer(), made.tokenizer()
    batch, written = (each.encode_batch(texts, spans=True) for each in (plain, tokenizer))
    for way in SPACED[made.lang]:
        found = plain.decode_batch(batch, preserve_text=True, **way)
        assert tokenizer.decode_batch(written, preserve_text=True, **way) == found
        write = decoder(plain, way.get("to"), way.get("style", "new"), True, way.get("dialect"), "strict")
        for row, text in list(zip(batch, found, strict=True))[compared]:
            assert tokenizer.decode(tokenizer.encode(row.text), preserve_text=True, **way) == text, ascii(row.text)
            assert spaced(row, write._syllable, write.name) == text, ascii(row.text)


def check_bytes(tokenizer: Tokenizer, rows: list[bytes | None], dice: random.Random) -> None:
    """Valid UTF-8 is read as its str is; what is not, is refused in the row and at the byte that Python names."""
    from phonemic import arrow

    wrong = None
    expected: list[list[int] | None] = []
    for number, row in enumerate(rows):
        try:
            expected.append(None if row is None else tokenizer.encode(row.decode()).ids.tolist())
        except UnicodeDecodeError as error:
            wrong = wrong or (number, error.start)
    for array in cases.layouts(dice, rows):
        threads, spans = dice.choice([1, 2]), dice.random() < 0.5
        try:
            found = arrow.encode(array, tokenizer, threads, spans=spans)
        except InputError as error:
            assert wrong is not None, (error, rows)
            assert str(error).startswith(f"row {wrong[0]}: byte {wrong[1]} of the text"), (error, wrong, rows)
        else:
            assert wrong is None, rows
            found.validate(full=True)
            lists = found.to_pylist()
            assert [row and row["ids"] if spans else row for row in lists] == expected, rows


def check_saved(tokenizer: Tokenizer, path: Path, dice: random.Random) -> None:
    """A damaged saved tokenizer is refused by one error, or it is a tokenizer."""
    tokenizer.save(path)
    data = path.read_bytes()
    assert Tokenizer.load(path) == tokenizer
    for _ in range(20):
        path.write_bytes(cases.damaged(dice, data))
        try:
            Tokenizer.load(path).encode("giếng 银行 không_biết")
        except SavedTokenizerError as error:
            assert str(path) in str(error)


def run(
    seeds: Iterable[int], characters: float = float("inf"), seconds: float = float("inf"), say: bool = False
) -> int:
    """Makes and checks cases.

    Arguments:
        seeds: one a case; they say which case it is.
        characters: ends when as many characters were read.
        seconds: ends then.
        say: progress on standard error.

    Returns:
        The characters that were read, each counted once.

    Raises:
        AssertionError: something does not hold; a note says the seed.
    """
    read, begun, told = 0, time.monotonic(), 0.0
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            dice = random.Random(seed)
            try:
                made = cases.options(dice)
                tokenizer = made.tokenizer()
                texts = [cases.long_text(dice, made.lang)] + [cases.text(dice, made.lang) for _ in range(TEXTS)]
                check_texts(made, tokenizer, texts, compared=slice(0 if seed % LONG_COMPARED == 0 else 1, 3))
                rows = [
                    None if dice.random() < 0.1 else cases.raw(dice, made.lang) for _ in range(dice.choice([1, 2, 6]))
                ]
                check_bytes(tokenizer, rows, dice)
                check_decoding(made, tokenizer, texts, dice)
                check_spacing(made, texts, compared=slice(1, 3))
                if seed % 16 == 0:
                    check_saved(tokenizer, Path(folder, "t.json"), dice)
            except BaseException as error:
                error.add_note(f"fuzz seed {seed}")
                raise
            read += sum(map(len, texts)) + sum(len(row or b"") for row in rows)
            now = time.monotonic()
            if say and now - told > 60:
                told = now
                sys.stderr.write(f"seed {seed:,}: {read:,} characters, {read / max(now - begun, 1e-9):,.0f} a second\n")
                sys.stderr.flush()
            if read >= characters or now - begun >= seconds:
                break
    return read


def found_bytes() -> list[Path]:
    """The inputs that once were read wrongly, or ended the interpreter."""
    return sorted(FOUND.glob("*.bin"))
