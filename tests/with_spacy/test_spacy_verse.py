"""Rhymes of syllables, and of verse."""

import pytest

spacy = pytest.importorskip("spacy")
from spacy_helpers import NLP  # noqa: E402

import spacy_phonemic  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:spacy")


class TestRhymes:
    @pytest.mark.parametrize(
        ("a", "b", "lang", "expected"),
        [
            ("hoa", "nhà", "vi", True),  # the medial is not part of the rhyme
            ("hoa", "má", "vi", False),  # level and oblique
            ("lòng", "trong", "vi", True),
            ("lòng", "làng", "vi", False),
            ("dâu", "nhau", "vi", False),
            ("quê", "về", "vi", True),
            ("đất nước", "được", "vi", True),
            ("光", "霜", "zh", True),
            ("光", "乡", "zh", True),
            ("流", "楼", "zh", True),
            ("尽", "流", "zh", False),
            ("家", "斜", "zh", False),  # they did in the Tang
            ("妈", "马", "zh", False),
            ("了", "哥", "zh", True),  # neutral tone
            ("hello", "nhà", "vi", False),
        ],
    )
    def test_pairs(self, a, b, lang, expected):
        assert spacy_phonemic.rhymes(a, b, lang) is expected
        assert spacy_phonemic.rhymes(b, a, lang) is expected

    def test_near(self):
        assert spacy_phonemic.rhymes("dâu", "nhau", "vi", near=True)
        assert not spacy_phonemic.rhymes("dâu", "nhà", "vi", near=True)

    def test_tokens_and_spans(self):
        doc = NLP["vi"]("hoa nhà")
        assert spacy_phonemic.rhymes(doc[0], doc[1])
        assert spacy_phonemic.rhymes(doc[0:1], doc[1])
        assert spacy_phonemic.rhymes(doc[0]._.syllables[0], "ta", lang="vi")
        with pytest.raises(ValueError, match="two languages do not rhyme"):
            spacy_phonemic.rhymes(doc[0], NLP["zh"]("妈")[0])
        with pytest.raises(TypeError, match="lang='vi'"):
            spacy_phonemic.rhymes("hoa", "nhà")
        with pytest.raises(TypeError, match="not Doc"):
            spacy_phonemic.rhymes(doc, doc)
        with pytest.raises(ValueError, match="unknown language 'en'"):
            spacy_phonemic.rhymes("a", "b", "en")

    def test_every_rime_has_a_key(self):
        from phonemic.inventory import vocabulary
        from spacy_phonemic.verse import rhyme_key

        for lang in ("vi", "zh"):
            assert all(rhyme_key(lang, rime) for rime in vocabulary(lang).by_role("rime"))
        with pytest.raises(ValueError, match="not a rime"):
            rhyme_key("vi", "xyz")

    def rhymes(self, lang, text):
        return [("-".join(s.text for s in rhyme.syllables), rhyme.lines) for rhyme in NLP[lang](text)._.rhymes]

    def test_luc_bat(self):
        kieu = (
            "Trăm năm trong cõi người ta,\nChữ tài chữ mệnh khéo là ghét nhau.\n"
            "Trải qua một cuộc bể dâu,\nNhững điều trông thấy mà đau đớn lòng."
        )
        assert self.rhymes("vi", kieu) == [("ta-là", (0, 1)), ("nhau-dâu-đau", (1, 2, 3))]

    def test_regulated_verse(self):
        assert self.rhymes("zh", "床前明月光，疑是地上霜。举头望明月，低头思故乡。") == [("光-霜-乡", (0, 1, 3))]
        assert self.rhymes("zh", "白日依山尽，黄河入海流。欲穷千里目，更上一层楼。") == [("流-楼", (1, 3))]

    def test_other_verse(self):
        assert self.rhymes("vi", "Con mèo nhà\nĐi ra\nTrời xanh") == [("nhà-ra", (0, 1))]
        assert self.rhymes("zh", "") == []
