"""Restored texts: what comes back, what stays, and what commands write. The model is of a few sentences."""

import json
import sys
import unicodedata
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from phonemic import Tokenizer
from phonemic.errors import OutputError
from phonemic_bert.cli import cli
from phonemic_bert.errors import CheckpointError
from phonemic_bert.restoration import restore
from phonemic_bert.restoration.counting import mandarin_model, vietnamese_model
from phonemic_bert.restoration.diacritics import DiacriticsRestorer
from phonemic_bert.restoration.lattice import Candidates, Lattice
from phonemic_bert.restoration.ngrams import Ngrams
from phonemic_bert.restoration.restoring import load

VI = [
    "Hôm nay tôi đi học ở Hà Nội.",
    "Trường đại học ở Đà Nẵng rất đẹp, tôi thích lắm.",
    "Hoà đi học.",
    "Cô có cố gắng.",
] * 12
ZH = ["我在银行工作。", "他去学校学习，我也去。", "银行在学校旁边。", "我们学习中文。", "事情是真的。"] * 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("restorers")
    for lang, model, texts in (("vi", vietnamese_model, VI), ("zh", mandarin_model, ZH)):
        (made / lang).mkdir()
        model(lambda texts=texts: texts, 3, 0.0).save(made / lang / "ngrams.zip")
    return made


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hom nay toi di hoc o ha noi", "hôm nay tôi đi học ở hà nội"),
        ("Hom nay TOI di  hoc\to Ha Noi.", "Hôm nay TÔI đi  học\tở Hà Nội."),
        ("truong dai hoc o da nang", "trường đại học ở đà nẵng"),
        ("hoa di hoc", "hoà đi học"),
        ("toi thich https://truong.vn/hoc va toi@hoc.vn", "tôi thích https://truong.vn/hoc va toi@hoc.vn"),
        ("toi hoc `toi hoc` va hoc_toi2 @toi #hoc", "tôi học `toi hoc` va hoc_toi2 @toi #hoc"),
        ("toi shrdlu học", "toi shrdlu học"),
        ("", ""),
        ("...", "..."),
        ("42 + 17", "42 + 17"),
    ],
)
def test_diacritics(folder, text, expected):
    assert load(folder / "vi").restore(text).text == expected


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_marked_text_stays(folder, form):
    restorer = load(folder / "vi")
    for text in [*VI[:3], "Hòa đi học", "Anh ở Đà Nẵng"]:
        own = unicodedata.normalize(form, text)
        assert restorer.restore(own).text == own
    doubting = load(folder / "vi", threshold=40.0)
    assert doubting.restore("Hôm nay toi đi học ở Hà Nội.").text == "Hôm nay toi đi học ở Hà Nội."
    sure = load(folder / "vi", threshold=1.0)
    assert sure.restore("Hôm nay toi đi học ở Hà Nội.").text == VI[0]
    assert sure.restore("Hôm nay tôi đí học ở Hà Nội.").text == VI[0]


def test_a_capital_within_a_sentence_is_for_names():
    texts = ["Tôi gặp Bảo ở nhà.", "Tôi gặp bão ở biển.", "Bão đến."] * 12
    restorer = DiacriticsRestorer(vietnamese_model(lambda: texts, 2, 0.0))
    assert restorer.restore("toi gap Bao").text == "tôi gặp Bảo"
    assert restorer.restore("Toi gap bao").text == "Tôi gặp bão"
    assert restorer.restore("TOI GAP BAO").text == restorer.restore("toi gap bao").text.upper()


@cache
def restorers(folder):
    return load(folder / "vi"), load(folder / "zh"), load(folder / "zh", pinyin=True)


ODD = st.text(
    st.one_of(
        st.sampled_from("aAdDđĐeêo 0.,!?\n\t\0'’-_@#`/我在银行，。的ǖÜü\u0300\u0301\u0303\u031b\ud800\u200b🙂"),
        st.characters(),
    ),
    max_size=40,
)


@settings(max_examples=60)
@given(ODD)
def test_any_text_keeps_what_is_not_changed(folder, text):
    def letters(of):
        kept = (char for char in unicodedata.normalize("NFD", of) if not "\u0300" <= char <= "\u036f")
        return "".join(kept).lower().replace("đ", "d")

    for restorer in restorers(folder):
        found = restorer.restore(text)
        at, made = 0, ""
        for change in found.changes:
            assert at <= change.start < change.end <= len(text)
            assert text[change.start : change.end] == change.before
            made, at = made + text[at : change.start] + change.text, change.end
        assert (found.source, found.text) == (text, made + text[at:])
        if restorer.lang == "vi":
            assert letters(found.text) == letters(text)


def test_protected_words(folder):
    assert load(folder / "vi", protected=["Toi"]).restore("hom nay toi di hoc").text == "hôm nay toi đi học"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("wo3 zai4 yin2 hang2 gong1 zuo4", "我在银行工作"),
        ("wǒ zài yínháng gōngzuò.", "我在银行工作."),
        ("wo zai yinhang gongzuo。ta qu xuexiao xuexi，wo ye qu", "我在银行工作。他去学校学习，我也去"),
        ("yínháng zài xuéxiào pángbiān", "银行在学校旁边"),
        ("women xuexi zhongwen 2026", "我们学习中文 2026"),
        ("https wo xuexi", "https 我学习"),
        ("", ""),
    ],
)
def test_pinyin(folder, text, expected):
    assert load(folder / "zh", pinyin=True).restore(text).text == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我在银航工作。", "我在银行工作。"),  # the same sound
        ("他去学孝学习，我也去。", "他去学校学习，我也去。"),
        ("我门学习中文。", "我们学习中文。"),  # another tone
        ("我在银行工作。", "我在银行工作。"),
        ("hello 2026！", "hello 2026！"),
        ("", ""),
    ],
)
def test_wrong_characters(folder, text, expected):
    assert load(folder / "zh", threshold=2.0).restore(text).text == expected
    assert load(folder / "zh", threshold=100.0).restore(text).text == text


def test_protected_and_preferred_in_mandarin(folder):
    wrong = "我在银航工作。"
    assert load(folder / "zh", threshold=2.0, protected=["银航"]).restore(wrong).text == wrong
    named = load(folder / "zh", preferred=["张珊"])
    assert named.restore("章山在银行工作。张珊也在。").text == "张珊在银行工作。张珊也在。"
    assert [(one.start, one.end) for one in named.restore("章山在银行工作。").changes] == [(0, 2)]
    with pytest.raises(ValueError, match="preferred is for Mandarin"):
        load(folder / "vi", preferred=["张珊"])


def test_changes_say_where_and_how_likely(folder):
    found = load(folder / "vi").restore("toi di hoc")
    assert [(one.start, one.end, one.before, one.text) for one in found.changes] == [
        (0, 3, "toi", "tôi"),
        (4, 6, "di", "đi"),
        (7, 10, "hoc", "học"),
    ]
    for one in found.changes:
        assert one.alternatives[0] == (one.text, one.probability)
        assert 0.5 < one.probability <= 1
        assert sum(share for _, share in one.alternatives) <= 1 + 1e-5


def test_batches_are_single_texts(folder):
    for lang, texts in (("vi", ["toi di hoc", "", "x", *VI]), ("zh", ["wo xuexi", "", "中文", "gōngzuò!"])):
        restorer = load(folder / lang, pinyin=lang == "zh")
        assert list(restorer.restore_batch(texts * 200)) == [restorer.restore(text) for text in texts] * 200


def test_other_checkpoints_are_refused(folder, tmp_path):
    with pytest.raises(CheckpointError, match="for zh, not vi"):
        load(folder / "zh", lang="vi")
    for missing in (tmp_path, "phonemic-restorer-xx"):
        with pytest.raises(
            CheckpointError, match=r"there are no n-grams, .*installed: .*: give the file .*pip install"
        ):
            load(missing)
    with pytest.raises(ValueError, match="unknown language 'xx'"):
        restore("toi di hoc", "xx", folder / "vi")
    with pytest.raises(ValueError, match="pinyin is for Mandarin"):
        restore("toi di hoc", "vi", folder / "vi", pinyin=True)


@pytest.fixture
def installed(folder, tmp_path, monkeypatch):
    """A package that brings two restorers, of which one is missing."""
    from checkpoint_packages import PACKAGE, make_package

    restorers = {"phonemic_restorer_vi": folder / "vi", "phonemic_restorer_zh": tmp_path / "none"}
    monkeypatch.syspath_prepend(make_package(tmp_path / "package", "phonemic_bert.restorers", **restorers))
    yield
    sys.modules.pop(PACKAGE, None)


def test_an_installed_restorer_is_the_default(folder, installed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert restore("toi di hoc", "vi") == restore("toi di hoc", "vi", folder / "vi") == "tôi đi học"
    assert CliRunner().invoke(cli, ["restore", "--lang", "vi", "toi di hoc"]).stdout == "tôi đi học\n"
    with pytest.raises(CheckpointError, match=r"its package .* does not hold it; reinstall it"):
        restore("wo", "zh")
    (tmp_path / "phonemic-restorer-vi").symlink_to(folder / "zh")  # a folder of that name comes first
    with pytest.raises(CheckpointError, match="for zh, not vi"):
        load("phonemic-restorer-vi", "vi")


def test_the_command(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("in.txt").write_text("toi di hoc\n\nhoa di hoc\n", "utf-8")

    def run(*words, stdin=None):
        found = CliRunner().invoke(cli, ["restore", "--checkpoint", str(folder / "vi"), "--lang", "vi", *words], stdin)
        assert found.exit_code == 0, found.output
        return found.stdout

    assert run("toi di hoc") == run("toi", "di", "hoc") == "tôi đi học\n"
    assert run("in.txt") == run(stdin=Path("in.txt").read_bytes()) == "tôi đi học\n\nhoà đi học\n"
    rows = [json.loads(line) for line in run("in.txt", "--format", "json").splitlines()]
    assert [row["text"] for row in rows] == ["tôi đi học", "", "hoà đi học"]
    assert rows[0]["changes"][0]["before"] == "toi"
    table = [line.split("\t") for line in run("in.txt", "--format", "tsv").splitlines()]
    assert table[0][:5] == ["line", "start", "end", "before", "text"]
    assert [row[0] for row in table[1:]] == ["1", "1", "1", "3", "3", "3"]
    Path("names.txt").write_text("张珊\n\n", "utf-8")
    words = ["restore", "--checkpoint", str(folder / "zh"), "--lang", "zh"]
    assert CliRunner().invoke(cli, [*words, "--prefer", "names.txt", "章山"]).stdout == "张珊\n"
    assert CliRunner().invoke(cli, [*words, "--pinyin", "wo xuexi zhongwen"]).stdout == "我学习中文\n"
    assert "is for Mandarin" in CliRunner().invoke(cli, [*words[:-1], "vi", "--pinyin", "wo"]).stderr
    wrong = CliRunner().invoke(cli, ["restore", "--lang", "zh", "--checkpoint", str(folder / "vi"), "wo"])
    assert wrong.exit_code
    assert "for vi, not zh" in wrong.stderr
    for threshold in ("nan", "-1", "inf"):
        done = CliRunner().invoke(cli, ["restore", "--lang", "vi", "--threshold", threshold, "toi"])
        assert "must be finite and at least 0" in done.stderr
        with pytest.raises(ValueError, match="must be finite and at least 0"):
            load(folder / "vi", threshold=float(threshold))


def test_ngrams_are_counted_by_a_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("in.txt").write_text("\n".join(VI), "utf-8")
    words = ["ngrams", "in.txt", "vi.ngrams", "--lang", "vi", "--order", "3", "--prune", "0"]
    assert CliRunner().invoke(cli, words).exit_code == 0
    assert load("vi.ngrams").restore("toi di hoc").text == "tôi đi học"
    again = CliRunner().invoke(cli, words)
    assert again.exit_code
    assert "--force" in again.stderr


@pytest.mark.parametrize("lang", ["vi", "zh"])
@pytest.mark.parametrize("text", ["", "\n\n", "12 13\n", "😀\n"])
def test_text_that_is_too_short_for_ngrams(tmp_path, monkeypatch, lang, text):
    monkeypatch.chdir(tmp_path)
    Path("in.txt").write_text(text, "utf-8")
    done = CliRunner().invoke(cli, ["ngrams", "in.txt", "out.ngrams", "--lang", lang])
    assert done.exit_code
    assert "no word of the language is there 3 times" in done.stderr
    assert not Path("out.ngrams").exists()


def test_ngrams_of_a_few_words_are_saved(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("in.txt").write_text("tôi đi\n" * 3, "utf-8")
    assert CliRunner().invoke(cli, ["ngrams", "in.txt", "vi.ngrams", "--lang", "vi"]).exit_code == 0
    assert load("vi.ngrams").restore("toi di").text == "tôi đi"


class Said:
    """Stands in for a masked model that wants one word wherever the n-grams are not sure."""

    def __init__(self, word):
        self.word, self.texts = word, []

    def rescore(self, texts, lattices, draft):
        self.texts += [one.text for one in draft(texts, lattices, False)[1]]
        found = []
        for lattice in lattices:
            positions = [
                each._replace(candidates=Candidates(each.candidates.words, 50 * (each.candidates.words == self.word)))
                for each in lattice.positions
            ]
            positions = [
                each._replace(candidates=Candidates(each.candidates.words, each.candidates.costs.astype(np.float32)))
                for each in positions
            ]
            found.append(Lattice(positions, list(lattice.breaks)))
        return found


def test_a_masked_model_is_heard(folder):
    ngrams = Ngrams.load(folder / "vi" / "ngrams.zip")
    said = Said(ngrams.words.index("hoà"))
    assert DiacriticsRestorer(ngrams, scorer=said).restore("hoa di hoc").text == "hoà đi học"
    assert said.texts == ["hoà đi học"]


@pytest.mark.parametrize("lang", ["vi", "zh"])
def test_scores_of_a_masked_model(folder, tmp_path, monkeypatch, lang):
    """They are what fill_mask gives for the text with masks where candidates are in doubt."""
    import torch

    from phonemic_bert import PhonemicBertConfig, PhonemicBertForMaskedLM, PhonemicBertTokenizer, fill_mask
    from phonemic_bert.restoration import masked

    torch.manual_seed(3)
    monkeypatch.setattr(masked, "SURE", 1.1)  # all that have candidates are
    tied = {"composition": "product", "output_embeddings": "tied", "syllable_inventory": "attested", "forms": "joint"}
    sizes = {"hidden_size": 24, "num_hidden_layers": 1, "num_attention_heads": 3, "intermediate_size": 32}
    config = PhonemicBertConfig(
        lang=lang, head="joint", max_position_embeddings=64, **sizes, **(tied if lang == "zh" else {})
    )
    model, tokenizer = PhonemicBertForMaskedLM(config).eval(), PhonemicBertTokenizer(lang, form=lang == "zh")
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(str(tmp_path))
    restorer = load(folder / lang, pinyin=lang == "zh", model=tmp_path)
    text = {"vi": "Co di CO hoc co!", "zh": "shì yín shì 2026"}[lang]
    lattices, _ = restorer._lattices([text])
    [found] = restorer.scorer.rescore([text], lattices, restorer.draft)
    asked = {"vi": "[MASK] đi [MASK] học [MASK]!", "zh": "[MASK]银[MASK] 2026"}[lang]
    fillings = iter(fill_mask(model, tokenizer, asked, top_k=100_000))
    compared = 0
    for before, after in zip(lattices[0].positions, found.positions, strict=True):
        if len(before.candidates.words) == 1:
            continue
        joint = {each.text: each.joint for each in next(fillings)}
        added = after.candidates.costs - before.candidates.costs
        for word, cost in zip(before.candidates.words.tolist(), added.tolist(), strict=True):
            assert cost == pytest.approx(masked.WEIGHT * np.log(joint[restorer.ngrams.words[word]]), rel=1e-4)
            compared += 1
    assert compared > 3


@pytest.fixture(scope="module")
def pretrained(tmp_path_factory):
    import torch

    from phonemic_bert import PhonemicBertConfig, PhonemicBertForMaskedLM, PhonemicBertTokenizer

    torch.manual_seed(3)
    sizes = {"hidden_size": 24, "num_hidden_layers": 1, "num_attention_heads": 3, "intermediate_size": 32}
    options = {
        "composition": "both",
        "output_embeddings": "tied",
        "syllable_inventory": "attested",
        "forms": "conditional",
    }
    config = PhonemicBertConfig(
        lang="vi", head="joint", backbone="modernbert", max_position_embeddings=24, **sizes, **options
    )
    made = tmp_path_factory.mktemp("pretrained")
    PhonemicBertForMaskedLM(config).save_pretrained(made)
    PhonemicBertTokenizer("vi", form=True).save_pretrained(str(made))
    return made


@pytest.mark.parametrize("text", ["Co di CO hoc co!", "hom nay toi di hoc " * 9, "42", "co", "Cô có cố gắng"])
def test_scores_of_a_network(folder, pretrained, text):
    """They are the model's own probabilities among the candidates, given what the n-grams restored."""
    import torch

    from phonemic_bert import PhonemicBertForMaskedLM
    from phonemic_bert.restoration.trained import TrainedScorer
    from phonemic_bert.tokenization.positions import SPECIAL_IDS

    ngrams = Ngrams.load(folder / "vi" / "ngrams.zip")
    restorer = DiacriticsRestorer(ngrams, scorer=TrainedScorer(pretrained, ngrams, 0.7))
    lattices = [restorer.lattice(text)]
    [found] = restorer.scorer.rescore([text], lattices, restorer.draft)
    model = PhonemicBertForMaskedLM.from_pretrained(pretrained).eval()
    tokenizer = Tokenizer("vi", form=True)
    encoding = tokenizer.encode(DiacriticsRestorer(ngrams).restore(text).text)
    starts = encoding.spans[:, 0].tolist()
    for before, after in zip(lattices[0].positions, found.positions, strict=True):
        words = before.candidates.words.tolist()
        if len(words) == 1 or not lattices[0].bare:
            assert (after.candidates.costs == before.candidates.costs).all()
            continue
        at = starts.index(before.start)
        row = encoding.ids[at // 22 * 22 :][:22]
        ids = torch.tensor([[SPECIAL_IDS["[CLS]"], *row.tolist(), SPECIAL_IDS["[SEP]"]]])
        packed = torch.tensor([tokenizer.vocabulary.pack(tokenizer.factorize(ngrams.words[word])) for word in words])
        with torch.inference_mode():
            hidden = model.bert(ids).last_hidden_state[0, 1 + at % 22]
            expected = model.predict(hidden[None]).log_probabilities(packed)[0].log_softmax(-1)
        added = after.candidates.costs - before.candidates.costs
        assert added == pytest.approx(0.7 * expected.numpy(), abs=1e-4)


def test_a_network_is_trained(folder, pretrained, tmp_path):
    """It learns what the n-grams of the other half do not know, continues where it was interrupted, and is found."""
    from phonemic_bert.errors import RunError
    from phonemic_bert.restoration.training import Run, train_restorer

    texts = ["Cô ấy cố gắng.", "Có cô giáo đi qua.", "Tôi đi học.", "Tới đây học đi."] * 40
    run = Run(
        model=str(pretrained),
        ngrams=str(folder / "vi"),
        max_steps=12,
        batch_tokens=120,
        learning_rate=3e-2,
        held_out_documents=12,
    )
    told = []

    def stop(line):
        told.append(line)
        if line.startswith("step 8 "):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_restorer(texts, tmp_path / "stopped", run, 4, tell=stop)
    for name in ("stopped", "whole"):
        train_restorer(texts, tmp_path / name, run, 4, tell=told.append)
    shares = [float(line.split()[-2].rstrip("%")) for line in told if line.startswith("step")]
    assert [shares[0], *shares[2:4]] == shares[4:]
    assert shares[-1] > shares[4]
    weights = [(tmp_path / name / "network" / "model.safetensors").read_bytes() for name in ("stopped", "whole")]
    assert weights[0] == weights[1]
    assert [path.name for path in sorted((tmp_path / "whole").iterdir())] == ["network", "ngrams.zip", "training.json"]
    restorer = load(tmp_path / "whole")
    assert restorer.scorer is not None
    assert restorer.restore("toi di hoc").text
    assert load(tmp_path / "whole", ngrams_only=True).scorer is None
    train_restorer(texts, tmp_path / "whole", run, 4, tell=told.append)
    assert told[-1].endswith("whole: is finished")
    Path(tmp_path, "mine").mkdir()
    Path(tmp_path, "mine", "network").touch()
    with pytest.raises(OutputError, match="already exists"):
        train_restorer(texts, tmp_path / "mine", run, 4)
    with pytest.raises(RunError, match="12 texts are too few"):
        train_restorer(texts[:12], tmp_path / "few", run, 4)
    with pytest.raises(RunError, match="texts hold no word often enough"):
        train_restorer([f"{at}" for at in range(40)], tmp_path / "none", run, 4)
    with pytest.raises(RunError, match="no syllable may be another"):
        train_restorer(["Hôm nay."] * 40, tmp_path / "same", run, 4)


def test_other_settings_do_not_go_on(folder, pretrained, tmp_path):
    from dataclasses import replace

    from phonemic_bert.restoration.training import Run, train_restorer

    texts = ["Tôi đi học.", "Tới đây học đi."] * 20
    run = Run(model=str(pretrained), ngrams=str(folder / "vi"), max_steps=4, batch_tokens=60, held_out_documents=4)

    def stop(line):
        if line.startswith("step"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_restorer(texts, tmp_path / "run", run, 1, tell=stop)
    for other, own in ((replace(run, max_steps=5), texts), (run, texts[1:])):
        with pytest.raises(OutputError, match="other settings, n-grams or texts"):
            train_restorer(own, tmp_path / "run", other, 1, tell=stop)
    train_restorer(texts, tmp_path / "run", replace(run, max_steps=2), 1, overwrite=True, tell=list)
    assert json.loads((tmp_path / "run" / "training.json").read_text())["max_steps"] == 2


def test_models_that_do_not_fit(folder, tmp_path):
    from phonemic_bert import PhonemicBertConfig, PhonemicBertForMaskedLM, PhonemicBertTokenizer

    sizes = {"hidden_size": 24, "num_hidden_layers": 1, "num_attention_heads": 3, "intermediate_size": 32}
    PhonemicBertForMaskedLM(PhonemicBertConfig(lang="zh", **sizes)).save_pretrained(tmp_path)
    PhonemicBertTokenizer("zh").save_pretrained(str(tmp_path))
    with pytest.raises(CheckpointError, match="is for zh, but the n-grams are for vi"):
        load(folder / "vi", model=tmp_path)
    with pytest.raises(CheckpointError, match="take one with forms"):
        load(folder / "zh", model=tmp_path)
