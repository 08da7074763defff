"""The command that makes a restorer: it reads its own shares of text, nothing that is judged, and writes a card."""

import lzma
import unicodedata

import pytest

pytest.importorskip("transformers", reason="phonemic-bert needs the model extra")

from click.testing import CliRunner

from benchmarks import pretraining_text, restoration, restorer
from phonemic import Tokenizer
from phonemic_bert.restoration import load
from phonemic_bert.restoration.counting import mandarin_model
from phonemic_bert.restoration.ngrams import Ngrams

pytestmark = pytest.mark.benchmarks

JUDGED = "Bữa ấy cụ Khiết đem chục trứng vịt biếu thầy lang"
LINES = [f"Hôm nay tôi đi học ở Hà Nội, ngày {day} tháng {month}." for day in range(1, 29) for month in range(1, 13)]


@pytest.fixture
def made(tmp_path, monkeypatch):
    data = tmp_path / "data"
    (data / "vi" / "raw").mkdir(parents=True)
    (data / "vi" / "task").mkdir()
    (data / "vi" / "task" / "lines.txt").write_text(f"{JUDGED}\n", "utf-8")
    for name, lines in {"one": [*LINES, *[JUDGED] * 9], "two": ["Cô giáo khen Giang."] * 9}.items():
        with lzma.open(data / "vi" / "raw" / f"{name}.txt.xz", "wt", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    shares, own = tmp_path / "shares.toml", tmp_path / "own.toml"
    shares.write_text('[vi]\n"vi/raw/one" = 1.0\n"vi/raw/two" = 0.0\n', "utf-8")
    own.write_text(
        '[vi]\nprune = 0.0\n[vi.shares]\n"vi/raw/two" = 1.0\n[sources]\n"vi/raw/one" = "a (CC0)"\n"vi/raw/two" = "b"\n'
    )
    monkeypatch.setattr(pretraining_text, "SHARES", shares)
    monkeypatch.setattr(restorer, "SHARES", shares)
    monkeypatch.setattr(restorer, "SETTINGS", own)
    words = ["vi", str(tmp_path / "work"), "--data", str(data), "--output", str(tmp_path / "made")]
    found = CliRunner().invoke(restorer.main, words)
    assert found.exit_code == 0, found.output
    return tmp_path / "made"


def test_it_restores_and_has_read_nothing_that_is_judged(made):
    assert load(made).restore("hom nay toi di hoc. co giao khen Giang").text == "hôm nay tôi đi học. cô giáo khen Giang"
    known = {word.lower() for word in Ngrams.load(made / "ngrams.zip").words}
    assert {"hôm", "nay", "giáo"} < known
    assert not known & {"bữa", "ấy", "cụ", "khiết", "chục", "trứng", "vịt", "biếu", "thầy", "lang"}


def test_the_card_names_text_licences_and_command(made):
    card = (made / "README.md").read_text("utf-8")
    assert card.startswith("---\nlanguage: vi\n")
    assert "| a (CC0) | 0." in card
    assert "\npython benchmarks/restorer.py vi --data DATA WORK\n" in card


def test_every_source_has_its_licence():
    for lang in ("vi", "zh"):
        own = restorer.settings(lang)
        assert own["shares"].keys() <= own["sources"].keys()


def test_pinyin_baselines(monkeypatch):
    texts = ["是是是是事在银行。事情是真的"] * 9
    model = mandarin_model(lambda: texts, 2, 0.0)
    assert list(restoration.commonest_characters(model, texts)(["shì zài，shì!", ""])) == ["是在，是!", ""]
    restore = restoration.commonest(["Hoà hoa hoà.", "đi học"])
    assert [unicodedata.normalize("NFC", one) for one in restore(["Hoa di hoc x hoa", ""])] == ["hoà đi học x hoà", ""]

    class Found:
        path = ("我", "在")

    asked = []

    def viterbi(hmm_params, observations, path_num):
        asked.append((hmm_params, observations, path_num))
        return [Found] if observations == ("wo", "zai") else []

    theirs = {"DefaultHmmParams": lambda: "model", "simplify_pinyin": str.lower, "is_pinyin": lambda one: one != "ng"}
    monkeypatch.setattr(restoration, "program", lambda module, name: theirs[name])
    assert list(restoration.pinyin2hanzi(viterbi)(["wo  zai ，ng wo ni 2"])) == ["我在 ，ngwoni 2"]
    assert asked == [("model", ("wo", "zai"), 1), ("model", ("wo", "ni"), 1)]


def test_what_is_right():
    assert restoration.syllables_right(["Tôi ở nhà 2."], ["tôi ơ nhà 2."]) == pytest.approx(200 / 3)
    assert restoration.syllables_right(["tôi ở"], ["tôi"]) == 0
    tokenizer = Tokenizer("zh")
    assert restoration.toned("我，在2", tokenizer, False) == (" wo ， zai 2", 2)
    assert restoration.characters_right(["我，在 2"], ["我，再2"], tokenizer) == (1, 2)
