"""How one occurrence is read, stated on a span."""

import pytest

spacy = pytest.importorskip("spacy")
from spacy.tokens import Doc, DocBin  # noqa: E402
from spacy_helpers import NLP  # noqa: E402

from phonemic import PinyinError  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:spacy")


def test_a_span_is_read_as_stated():
    doc = NLP["zh"]("他行，我不行")
    doc[1:2]._.reading = "háng"
    assert doc[1:2]._.reading == "háng"
    assert doc[0:2]._.reading == "tā háng"
    assert doc[1]._.ipa == "xaŋ˧˥"
    assert doc[5:6]._.reading == "xíng"
    doc[0:2]._.reading = "ta1 xing2"
    assert doc[0:2]._.reading == "tā xíng"


def test_it_travels_with_the_doc():
    doc = NLP["zh"]("他行")
    doc[1:2]._.reading = "háng"
    copies = [Doc(doc.vocab).from_bytes(doc.to_bytes()), *DocBin(docs=[doc], store_user_data=True).get_docs(doc.vocab)]
    assert [copy[0:2]._.reading for copy in copies] == ["tā háng"] * 2
    assert NLP["zh"]("他行")[0:2]._.reading == "tā xíng"


def test_what_is_not_its_reading_is_refused():
    doc = NLP["zh"]("他行")
    with pytest.raises(ValueError, match="not the 1 syllables of 'háng'"):
        doc[0:2]._.reading = "háng"
    with pytest.raises(PinyinError):
        doc[1:2]._.reading = "hxng"
    assert doc[0:2]._.reading == "tā xíng"
    vietnamese = NLP["vi"]("xin chào")
    assert vietnamese[0:2]._.reading == "xin chào"
    with pytest.raises(ValueError, match="for Mandarin only"):
        vietnamese[0:1]._.reading = "xin1"
