"""Helpers of the tests of the NLTK plugin: texts, tokenizers and taggers of both languages."""

from pathlib import Path

import pytest
from hypothesis import strategies as st

nltk = pytest.importorskip("nltk", reason="needs NLTK: pip install 'phonemic[nltk]'")

from nltk_phonemic import OnsetRimeTokenizer, PhonemicTagger, PhonemicTokenizer  # noqa: E402

ROOT = Path(__file__).parent.parent
LANGS = ("vi", "zh")
EXAMPLES = {lang: (ROOT / "examples" / f"sentences-{lang}.txt").read_text("utf-8").splitlines() for lang in LANGS}

#: Syllables, Han, marks, ignorable characters, separators and everything else.
TEXTS = st.text(
    st.one_of(
        st.sampled_from("aăâeêioôơuưyngtchqđÀẾỆổủ银行长乐重\u0301\u0323\u0302\u200b\ufe0f\u1161 \n\t_/+|.,1😅👍🏽"),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=30,
)
TOKENIZERS = {(lang, joiner): PhonemicTokenizer(lang, word_joiner=joiner) for lang in LANGS for joiner in (None, "_")}
TAGGERS = {lang: PhonemicTagger(lang) for lang in LANGS}
PARTS = {lang: OnsetRimeTokenizer(lang) for lang in LANGS}
