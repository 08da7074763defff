"""The fuzz's own cases, as many as take seconds; and everything that it, or anybody, ever found."""

import random

import pytest

pytest.importorskip("pyarrow", reason="needs the arrow extra")
pytest.importorskip("pypinyin", reason="the reference needs pypinyin")

import fuzz_cases as cases
from fuzz_checks import check_bytes, check_saved, check_texts, found_bytes, run

from phonemic import Tokenizer

OPTIONS = [
    cases.Options(lang, False, None, (), fallback, readings)
    for lang, readings in (("vi", "pypinyin"), ("zh", "pypinyin"), ("zh", "context"))
    for fallback in ("character", "packed")
] + [
    cases.Options(
        "zh", False, None, (("一个", ("yi4", "ge5")), ("个", ("ge5",))), "character", readings, spoken, spoken
    )
    for readings in ("pypinyin", "context")
    for spoken in (False, True)
]


@pytest.mark.filterwarnings("ignore::phonemic.OtherTablesWarning")
@pytest.mark.parametrize("first", range(0, 10, 5))
def test_cases(first):
    assert run(range(first, first + 5)) > 600


@pytest.mark.parametrize("path", found_bytes(), ids=lambda path: path.stem)
def test_what_was_found(path):
    """Each alone, next to others, and whatever the options."""
    data = path.read_bytes()
    for made in OPTIONS:
        tokenizer = made.tokenizer()
        for rows in ([data], [b"ba", data, b"\xe4\xb8\x80"], [data, None, data]):
            check_bytes(tokenizer, rows, random.Random(1))
        check_texts(
            made, tokenizer, [data.decode("utf-8", "replace"), data.decode("utf-8", "surrogateescape")], slice(2)
        )


@pytest.mark.filterwarnings("ignore::phonemic.OtherTablesWarning")  # of damaged digests
def test_saved_files(tmp_path):
    for seed in range(4):
        check_saved(Tokenizer("zh", phrases={"银行": "yin2 hang2"}), tmp_path / "t.json", random.Random(seed))
