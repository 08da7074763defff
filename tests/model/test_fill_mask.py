"""fill_mask ranks real syllables by the probability of the whole triple; the parameter counts add up."""

import itertools
import json

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from phonemic import Tokenizer, mandarin, vietnamese
from phonemic.inventory import vocabulary
from phonemic_bert import (
    PhonemicBertConfig,
    PhonemicBertForMaskedLM,
    PhonemicBertModel,
    PhonemicBertTokenizer,
    fill_mask,
)
from phonemic_bert.parameters import ENCODER, count_parameters, totals
from phonemic_bert.syllables import readings, syllables
from phonemic_bert.triples import triples


def test_vietnamese_syllables_are_those_that_are_spelled():
    """Every triple of the vocabulary's symbols is tried: the real ones are the ones that spell, and read strictly back."""
    symbols = vocabulary("vi")
    parts = (["[EMPTY]", *symbols.by_role("onset")], symbols.by_role("rime"), symbols.by_role("tone"))
    real = set()
    for triple in itertools.product(*parts):
        try:
            text = vietnamese.spell(triple)
        except ValueError:
            continue
        if vietnamese.factorize(text, strict=True) == triple:
            real.add(symbols.pack(triple))
    listed = set(syllables("vi").tolist())
    assert real <= listed
    letter_names = {symbols.unpack(packed)[:2] for packed in listed - real}
    assert letter_names <= {("k", "u"), ("k", "un")} | {
        (one.onset, one.rime) for one in vietnamese.spellings().values() if one.irregular
    }


def test_mandarin_readings_are_pypinyins():
    lexicon = mandarin.lexicon()
    pack = vocabulary("zh").pack
    want = {}
    for char, text in lexicon.characters.items():
        if char == "〇" or lexicon.han.match(char):
            want.setdefault(pack(mandarin.factorize(text)), set()).add(char)
    for phrase, texts in lexicon.phrases.items():
        for char, text in zip(phrase, texts, strict=True):
            want.setdefault(pack(mandarin.factorize(text)), set()).add(char)
    same = set(mandarin.compatibility_ideographs())
    private = {chr(code) for code in range(0xE000, 0xF900)}  # nobody can see these
    pairs = {(packed, char) for packed, chars in readings().items() for char in chars}
    assert {pair for pair in pairs if pair[1] not in same} == {
        (packed, char) for packed, chars in want.items() for char in chars - private - same
    }
    heard = set(syllables("zh").tolist())
    assert heard >= set(readings())
    third = {
        mandarin.factorize(text) for text in (*lexicon.characters.values(), *itertools.chain(*lexicon.phrases.values()))
    }
    changed = {pack((one.onset, one.rime, "˧˥")) for one in third if one.tone == "˨˩˦"}
    assert heard == set(readings()) | changed
    shi = readings()[pack(mandarin.factorize("shì"))]
    assert set(shi[:5]) <= set("事世市是视势室")
    assert len(set(shi)) == len(shi)


@pytest.mark.parametrize(("lang", "text"), [("vi", "tôi [MASK] tiếng [MASK]."), ("zh", "我[MASK]北京[MASK]。")])
def test_scores_are_the_joint_probabilities(tiny, lang, text):
    torch.manual_seed(0)
    model = PhonemicBertForMaskedLM(tiny(lang, initializer_range=0.3)).double().eval()
    tokenizer = PhonemicBertTokenizer(lang)
    encoded = tokenizer(text, return_tensors="pt")
    probabilities = [part[0].softmax(-1).detach().numpy() for part in model(**encoded).logits]
    places = np.flatnonzero(encoded["input_ids"][0].numpy() == tokenizer.mask_token_id)
    fillings = fill_mask(model, tokenizer, text, top_k=7)
    assert len(fillings) == len(places) == 2
    for place, best in zip(places, fillings, strict=True):
        joint = {
            int(packed): np.prod(
                [p[place, packed >> shift & 255] for p, shift in zip(probabilities, (0, 8, 16), strict=True)]
            )
            for packed in syllables(lang)
        }
        order = sorted(joint, key=joint.get, reverse=True)[:7]
        assert [filling.packed for filling in best] == order
        for filling in best:
            assert filling.joint == pytest.approx(joint[filling.packed], rel=1e-4)
            assert filling.score == pytest.approx(joint[filling.packed] / sum(joint.values()), rel=1e-4)
            assert text[filling.start : filling.end] == "[MASK]"
            read = tokenizer.phonemic.factorize(filling.syllable)
            assert tokenizer.phonemic.vocab.pack(read) == filling.packed
            assert bool(filling.characters) == (lang == "zh")
            if lang == "zh":
                assert filling.characters == readings()[filling.packed]


JOINT = {"head": "joint", "backbone": "modernbert", "composition": "product"}


@pytest.mark.parametrize(("lang", "text"), [("vi", "tôi yêu tiếng [MASK]."), ("zh", "我爱北[MASK]。")])
def test_scores_of_a_joint_head_are_its_probabilities(tiny, lang, text):
    """Against the losses of some of the real syllables as labels."""
    torch.manual_seed(0)
    model = PhonemicBertForMaskedLM(tiny(lang, initializer_range=0.3, **JOINT)).double().eval()
    tokenizer = PhonemicBertTokenizer(lang)
    encoded = tokenizer(text, return_tensors="pt")
    place = int((encoded["input_ids"][0] == tokenizer.mask_token_id).nonzero())
    real = syllables(lang)
    [fillings] = fill_mask(model, tokenizer, text, top_k=len(real))
    assert sorted(filling.packed for filling in fillings) == sorted(real.tolist())
    joint = np.array([filling.joint for filling in fillings])
    assert np.all(np.diff(joint) <= 0)
    assert joint.sum() < 1
    assert [filling.score for filling in fillings] == pytest.approx((joint / joint.sum()).tolist(), rel=1e-4)
    some = [*range(20), *range(20, len(fillings), 16)]
    labels = torch.tensor([fillings[at].packed for at in some])
    with torch.no_grad():
        hidden = model.bert(**encoded).last_hidden_state[0, place]
        wanted = (-model.predict(hidden.expand(len(some), -1)).losses(labels)).exp().tolist()
    assert joint[some].tolist() == pytest.approx(wanted, rel=1e-4)


def test_a_model_that_knows_one_sentence_fills_it():
    torch.manual_seed(0)
    tokenizer = PhonemicBertTokenizer("vi")
    config = PhonemicBertConfig.from_preset("paper-tiny", hidden_dropout_prob=0, attention_probs_dropout_prob=0)
    model = PhonemicBertForMaskedLM(config).train()
    whole = tokenizer("tôi yêu tiếng việt", return_tensors="pt")["input_ids"]
    rows = torch.cat([whole.clone().index_fill(1, torch.tensor([at]), tokenizer.mask_token_id) for at in range(1, 5)])
    labels = whole.repeat(4, 1).masked_fill(rows != tokenizer.mask_token_id, -100)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(30):
        model(rows, labels=labels).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.eval()
    [[best, second]] = fill_mask(model, tokenizer, "Tôi [MASK] tiếng Việt", top_k=2)
    assert best.syllable == "yêu"
    assert best.score > 0.9
    assert second.score < 0.1
    [chosen] = fill_mask(model, tokenizer, "Tôi [MASK] tiếng Việt", targets=["học", "yêu"])
    assert [filling.syllable for filling in chosen] == ["yêu", "học"]
    assert chosen[0] == best


def test_errors(tiny):
    model, vi, zh = PhonemicBertForMaskedLM(tiny()).eval(), PhonemicBertTokenizer("vi"), PhonemicBertTokenizer("zh")
    with pytest.raises(ValueError, match="there is no \\[MASK\\] in 'tôi'"):
        fill_mask(model, vi, "tôi")
    with pytest.raises(ValueError, match="the tokenizer is for zh, the model for vi"):
        fill_mask(model, zh, "[MASK]")
    with pytest.raises(ValueError, match="target 'xyz' is not a syllable of vi"):
        fill_mask(model, vi, "[MASK]", targets=["xyz"])
    with pytest.raises(ValueError, match="'都' is not a syllable of zh, which are written in pinyin with its tone"):
        fill_mask(PhonemicBertForMaskedLM(tiny("zh")).eval(), zh, "[MASK]", targets=["都"])
    with pytest.raises(TypeError, match="targets are syllables, written as text, not 5"):
        fill_mask(model, vi, "[MASK]", targets=[5])
    with pytest.raises(TypeError, match="targets is a list of texts, not one"):
        fill_mask(model, vi, "[MASK]", targets="nội")
    with pytest.raises(ValueError, match="targets is empty"):
        fill_mask(model, vi, "[MASK]", targets=[])
    with pytest.raises(TypeError, match="one text, not list"):
        fill_mask(model, vi, ["[MASK]"])
    with pytest.raises(ValueError, match="top_k must be at least 1"):
        fill_mask(model, vi, "[MASK]", top_k=0)
    with pytest.raises(ValueError, match="longer than the model's 64"):
        fill_mask(model, vi, "[MASK]" * 64)


# --- parameters


def test_another_reading_than_the_model_has_learned_is_refused(tmp_path, tiny):
    made = PhonemicBertForMaskedLM(tiny("zh"))
    made.save_pretrained(tmp_path)
    PhonemicBertTokenizer("zh", readings="context").save_pretrained(tmp_path)
    model = PhonemicBertForMaskedLM.from_pretrained(tmp_path).eval()
    assert fill_mask(model, PhonemicBertTokenizer.from_pretrained(tmp_path), "我[MASK]你")
    said = r"reads with readings='pypinyin', but the model has learned from text with readings='context'"
    with pytest.raises(ValueError, match=said):
        fill_mask(model, PhonemicBertTokenizer("zh"), "我[MASK]你")
    assert fill_mask(made.eval(), PhonemicBertTokenizer("zh"), "我[MASK]你")  # nothing says how it has learned


@pytest.mark.parametrize(("preset", "lang"), [("paper-12", "vi"), ("paper-6", "zh"), ("paper-tiny", "zh")])
def test_parameter_counts(preset, lang):
    config = PhonemicBertConfig.from_preset(preset, lang)
    parts, sums = count_parameters(config), totals(count_parameters(config))
    d, f, layers, size = config.hidden_size, config.intermediate_size, config.num_hidden_layers, config.vocab_size
    layer = 4 * (d * d + d) + (d * f + f) + (f * d + d) + 2 * 2 * d
    assert parts["component embeddings (V x d)"] == size * d
    assert parts["projection (3d to d)"] == 3 * d * d + d
    assert parts["encoder layers"] == layers * layer
    assert parts["pooler"] == d * d + d
    assert parts["onset head"] == parts["rime head"] == parts["tone head"] == (d + 1) * size
    assert sums["encoder"] == sum(count for part, count in parts.items() if part in ENCODER)
    with torch.device("meta"):
        assert sums["encoder with pooler (for fine-tuning)"] == PhonemicBertModel(config).num_parameters()
        assert sums["encoder with heads (for pretraining)"] == PhonemicBertForMaskedLM(config).num_parameters()


@pytest.mark.parametrize("lang", ["vi", "zh"])
@pytest.mark.parametrize("composition", ["product", "table"])
def test_parameter_counts_beyond_the_paper(lang, composition):
    options = {
        "backbone": "modernbert",
        "head": "joint",
        "conv_kernel_size": 3,
        "num_bigram_buckets": 90,
        "composition": composition,
    }
    config = PhonemicBertConfig.from_preset("paper-tiny", lang, **options)
    parts, sums = count_parameters(config), totals(count_parameters(config))
    d, f, size = config.hidden_size, config.intermediate_size, config.vocab_size
    layer = 4 * d * d + 3 * d * f + 2 * d
    assert (
        parts["encoder layers"] == 2 * layer - d + d
    )  # the first layer has no norm before attention; one is behind all
    assert parts["convolution"] == 3 * d * d + d
    assert parts["bigrams"] == 90 * 64 + 2 * 64 * d
    assert parts["joint head"] == d * d + d + 2 * d + 3 * size * d + d + 1
    listed = len(triples(lang)) * d
    assert parts[{"product": "product of components", "table": "syllable embedding table"}[composition]] == (
        3 * size * d + d * d if composition == "product" else listed
    )
    assert "position embeddings" not in parts
    with torch.device("meta"):
        assert sums["encoder with pooler (for fine-tuning)"] == PhonemicBertModel(config).num_parameters()
        assert sums["encoder with heads (for pretraining)"] == PhonemicBertForMaskedLM(config).num_parameters()


def test_params_command(tmp_path):
    runner = pytest.importorskip("click.testing", reason="needs click").CliRunner()
    from phonemic_bert.cli import cli

    shown = runner.invoke(cli, ["summary"])
    assert shown.exit_code == 0
    assert "encoder: 87.42M, -0.52M from the paper's 87.94M" in shown.output
    written = json.loads(runner.invoke(cli, ["summary", "--preset", "paper-tiny", "--lang", "zh", "--json"]).output)
    assert written["parts"]["tone head"] == 112 * 129
    PhonemicBertConfig.from_preset("small").save_pretrained(tmp_path)
    assert "6 layers of 384, vi" in runner.invoke(cli, ["summary", "--checkpoint", str(tmp_path)]).output
    (tmp_path / "config.json").write_text(
        (tmp_path / "config.json").read_text().replace(vocabulary("vi").checksum, "0")
    )
    (tmp_path / "run" / "final").mkdir(parents=True)
    (tmp_path / "run" / "final" / "config.json").write_text("{}")
    meant = runner.invoke(cli, ["summary", "--checkpoint", str(tmp_path / "run")])
    assert f"did you mean {tmp_path / 'run' / 'final'}?" in meant.output.replace("\n", "")
    assert "neither a folder nor installed" in runner.invoke(cli, ["summary", "--checkpoint", "nope"]).output
    refused = runner.invoke(cli, ["summary", "--checkpoint", str(tmp_path)])
    assert refused.exit_code == 1
    assert "config.json: the checkpoint's vi vocabulary has checksum 0" in refused.output


def test_syllables_are_native_positions():
    for lang in ("vi", "zh"):
        tokenizer, packed = Tokenizer(lang), syllables(lang)
        assert (np.diff(packed) > 0).all()
        written = [tokenizer.spell(int(one)) for one in packed[::50]]
        assert [tokenizer.vocab.pack(tokenizer.factorize(text)) for text in written] == packed[::50].tolist()
