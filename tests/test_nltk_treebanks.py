"""Three treebanks whole, through the tokenizers and the tagger."""

import re
from bisect import bisect_right
from itertools import pairwise

import pytest

nltk = pytest.importorskip("nltk", reason="needs NLTK: pip install 'phonemic[nltk]'")

from nltk.tag import str2tuple, tuple2str  # noqa: E402

from nltk_phonemic import PhonemicTagger, PhonemicTokenizer, format_tag, parse_tag  # noqa: E402
from phonemic import Tokenizer  # noqa: E402
from phonemic.characters import MARK, kind_of  # noqa: E402
from phonemic.inventory import NATIVE  # noqa: E402

TREEBANKS = {
    "vi/ud_vtb": ("vi", 3_323),
    "zh/ud_gsd": ("zh", 4_997),
    "zh/ud_gsdsimp": ("zh", 1_000),
}


def treebank(folder):
    """Each sentence as its text, the spans of its words in it, and the words."""
    for path in sorted(folder.glob("*.conllu")):
        for block in path.read_text("utf-8").strip().split("\n\n"):
            rows = [line.split("\t") for line in block.split("\n") if not line.startswith("#")]
            words = [row[1] for row in rows if row[0].isdigit()]
            shown = re.search(r"^# text =(.*)$", block, re.MULTILINE)  # the older traditional file has none
            text = shown[1].strip() if shown else "".join(words)
            spans, at = [], 0
            for word in words:
                start = text.index(word, at)
                at = start + len(word)
                spans.append((start, at))
            assert not "".join(text[end:start] for (_, end), (start, _) in pairwise(spans)).strip()
            yield text, spans, words


@pytest.mark.parametrize("name", TREEBANKS)
def test_treebank(name, data):
    lang, size = TREEBANKS[name]
    tokenizer, splitter, tagger = Tokenizer(lang), PhonemicTokenizer(lang), PhonemicTagger(lang)
    sentences = list(treebank(data(name)))
    assert len(sentences) >= size
    sentences = sentences[::2]
    texts = [text for text, _, _ in sentences]
    all_tokens, all_spans = splitter.tokenize_sents(texts), list(splitter.span_tokenize_sents(texts))
    tagged = tagger.tag_sents([words for _, _, words in sentences])
    native = 0
    for (text, bounds, words), tokens, spans, pairs in zip(sentences, all_tokens, all_spans, tagged, strict=True):
        encoding = tokenizer.encode(text)
        native_at = {row.start for row in encoding.syllables if row.is_native}
        assert tokens == [text[start:end] for start, end in spans]
        syllables = [row.text for row in encoding.syllables if row.is_native]
        assert [token for token, span in zip(tokens, spans, strict=True) if span[0] in native_at] == syllables
        assert "".join(tokens) == re.sub(r"\s", "", text)
        # Every word has the values of the tokenizer's positions on its characters in the sentence.
        starts = [start for start, _ in bounds]
        own = [[] for _ in words]
        for (start, end), triple in zip(encoding.spans.tolist(), encoding.triples, strict=True):
            at = bisect_right(starts, start) - 1
            assert {kind_of(char) for char in text[bounds[at][1] : end]} <= {MARK}  # GSD has a lone macron as a word
            own[at].append(triple)
        assert [(word, parse_tag(tag)) for word, tag in pairs] == list(zip(words, own, strict=True)), text
        native += int((encoding.kinds == NATIVE).sum())
        for word, tag in pairs:
            assert format_tag(parse_tag(str2tuple(tuple2str((word, tag)))[1])) == tag
    assert native > 10_000
