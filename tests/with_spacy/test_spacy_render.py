"""Pictures of a Doc."""

import sys

import pytest

spacy = pytest.importorskip("spacy")
from spacy_helpers import NLP  # noqa: E402

import spacy_phonemic  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:spacy")


class TestRender:
    def test_shows_every_part_and_escapes(self):
        nlp = NLP["vi"]
        doc = nlp("giếng <b>&\nquốc")
        html = spacy_phonemic.render(doc)
        for shown in ("giếng", "ieŋ", "˧˥", "zieŋ˧˥", "&lt;", "&amp;", "<br>", 'lang="vi"'):
            assert shown in html
        assert "<b>" not in html
        assert "zieŋ" not in spacy_phonemic.render(doc, options={"ipa": False})
        assert "#123456" in spacy_phonemic.render(doc, options={"colors": {"˧˥": "#123456"}})
        assert 'bg"><script' not in spacy_phonemic.render(doc, options={"bg": '"><script>'})

    def test_page_title_and_spans(self):
        doc = NLP["zh"]("银行行长觉得还不错，了不起。")
        doc.user_data["title"] = "A & B"
        page = spacy_phonemic.render([doc, doc[0:2]], page=True)
        assert page.startswith("<!DOCTYPE html>")
        assert "<title>A &amp; B</title>" in page
        assert page.count('class="phonemic"') == 2
        assert spacy_phonemic.render(doc[4:6]).count('class="token"') == 2
        assert spacy_phonemic.render([], page=True).startswith("<!DOCTYPE html>")

    def test_wrong_arguments(self):
        with pytest.raises(ValueError, match="unknown option 'colour'"):
            spacy_phonemic.render(NLP["vi"]("a"), options={"colour": "red"})
        with pytest.raises(TypeError, match="not str"):
            spacy_phonemic.render(["giếng"])

    def test_in_jupyter_it_is_displayed(self, monkeypatch):
        shown = []
        display = type(sys)("IPython.display")
        display.HTML, display.display = str, shown.append
        monkeypatch.setitem(sys.modules, "IPython", type(sys)("IPython"))
        monkeypatch.setitem(sys.modules, "IPython.display", display)
        assert spacy_phonemic.render(NLP["vi"]("giếng"), jupyter=True) is None
        assert "giếng" in shown[0]
