"""The views of a sentence: masked predictions, nearest syllables and labels, each against a slow reference."""

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")
testing = pytest.importorskip("click.testing", reason="needs click")

from transformers import BertConfig

from phonemic_bert import PhonemicBertForMaskedLM, PhonemicBertTokenizer, fill_mask
from phonemic_bert.cli import cli
from phonemic_bert.errors import CheckpointError
from phonemic_bert.inspection import NearestSyllables, mask_each
from phonemic_bert.inspection.loading import load
from phonemic_bert.syllables import readings, syllables
from phonemic_bert.triples import triples


def run(*arguments, **options):
    return testing.CliRunner().invoke(cli, ["inspect", *map(str, arguments)], **options)


@pytest.mark.parametrize(("lang", "text"), [("vi", "Tôi yêu tiếng, ok"), ("zh", "我爱北京。")])
def test_each_position_is_masked_in_turn(save, lang, text):
    model, tokenizer, _ = save(lang=lang)
    ids = tokenizer(text)["input_ids"]
    found = mask_each(model, tokenizer, text, top_k=4)
    assert len(found) == len(ids) - 2
    real = syllables(lang).tolist()
    for place, masked in enumerate(found, start=1):
        row = [*ids[:place], tokenizer.mask_token_id, *ids[place + 1 :]]
        logits = model(torch.tensor([row])).logits
        shares = [part[0, place].double().softmax(-1).detach().numpy() for part in logits]
        parts = [ids[place] >> shift & 255 for shift in (0, 8, 16)]
        vocab = tokenizer.phonemic.vocab
        for guess, share, part in zip((masked.onset, masked.rime, masked.tone), shares, parts, strict=True):
            assert (guess.true, guess.best) == (vocab[part], vocab[int(share.argmax())])
            assert guess.probability == pytest.approx(share[part], rel=1e-3)
            assert guess.best_probability == pytest.approx(share.max(), rel=1e-3)
        joint = {
            one: np.prod([s[one >> shift & 255] for s, shift in zip(shares, (0, 8, 16), strict=True)]) for one in real
        }
        total = sum(joint.values())
        assert masked.real == pytest.approx(total, rel=1e-3)
        assert masked.joint == pytest.approx(np.prod([s[p] for s, p in zip(shares, parts, strict=True)]), rel=1e-3)
        order = sorted(joint, key=joint.get, reverse=True)
        assert [one.syllable for one in masked.best] == [tokenizer.phonemic.spell(one) for one in order[:4]]
        assert [one.score for one in masked.best] == pytest.approx([joint[one] / total for one in order[:4]], rel=1e-3)
        if ids[place] in joint:
            assert masked.score == pytest.approx(joint[ids[place]] / total, rel=1e-3)
            assert masked.rank == 1 + order.index(ids[place])
        else:
            assert masked.score is masked.rank is None


def test_a_joint_head_is_inspected_as_it_predicts(save):
    """The three guesses are marginals, and the whole syllable has the joint head's probability."""
    model, tokenizer, folder = save(
        lang="zh", head="joint", backbone="modernbert", composition="product", conv_kernel_size=3
    )
    text = "我爱北京 OK。"
    ids = tokenizer(text)["input_ids"]
    real = torch.from_numpy(syllables("zh")).long()
    for place, masked in enumerate(mask_each(model, tokenizer, text, top_k=3), start=1):
        row = torch.tensor([[*ids[:place], tokenizer.mask_token_id, *ids[place + 1 :]]])
        label = torch.full_like(row, -100)
        label[0, place] = ids[place]
        with torch.no_grad():
            predicted = model.predict(model.bert(row).last_hidden_state[0, place])
            assert masked.joint == pytest.approx((-model(row, labels=label).loss).exp().item(), rel=1e-3)
        shares = predicted.log_probabilities(real).exp()
        assert masked.real == pytest.approx(shares.sum().item(), rel=1e-3)
        best = real[shares.argsort(descending=True)[:3]].tolist()
        assert [one.syllable for one in masked.best] == [tokenizer.phonemic.spell(one) for one in best]
        for guess, logs, shift in zip(
            (masked.onset, masked.rime, masked.tone), predicted.logits, (0, 8, 16), strict=True
        ):
            assert logs.exp().sum().item() == pytest.approx(1, rel=1e-4)
            assert guess.probability == pytest.approx(logs[ids[place] >> shift & 255].exp().item(), rel=1e-3)
    assert run(folder, text).exit_code == 0


def test_a_written_mask_has_no_true_syllable_and_is_filled_as_fill_mask_does(save):
    model, tokenizer, _ = save()
    found = mask_each(model, tokenizer, "tôi [MASK] việt [UNK]", top_k=3)
    [filled] = fill_mask(model, tokenizer, "tôi [MASK] việt [UNK]", top_k=3)
    assert [one.syllable for one in found[1].best] == [one.syllable for one in filled]
    assert found[1].onset.true is found[1].joint is found[1].rank is None
    assert found[3] is None
    with pytest.raises(ValueError, match="top_k must be at least 1, not 0"):
        mask_each(model, tokenizer, "tôi", top_k=0)


@pytest.mark.parametrize(
    ("lang", "text", "masked"), [("zh", "我在门口", "我在[MASK]口"), ("vi", "ở Hà Nội", "ở [MASK] Nội")]
)
def test_a_model_with_forms_shows_what_fill_mask_writes(tiny, tmp_path, lang, text, masked):
    options = {"head": "joint", "output_embeddings": "tied", "syllable_inventory": "attested", "composition": "both"}
    torch.manual_seed(0)
    model = PhonemicBertForMaskedLM(tiny(lang, forms="joint", backbone="modernbert", initializer_range=0.2, **options))
    tokenizer = PhonemicBertTokenizer(lang, form=True)
    [filled] = fill_mask(model.eval(), tokenizer, masked, top_k=6)
    spans = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    at = spans.index((text.index("门"), text.index("门") + 1) if lang == "zh" else (2, 4))
    best = mask_each(model, tokenizer, text, top_k=6)[at].best
    assert [(one.syllable, one.text, one.characters) for one in best] == [
        (one.syllable, one.text, one.characters) for one in filled
    ]
    assert [one.score for one in best] == pytest.approx([one.score for one in filled], rel=1e-3)
    model.save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    shown = run(tmp_path / "model", text, "--json", "-k", "6")
    assert shown.exit_code == 0, shown.output
    [reading] = json.loads(shown.output)["examples"][0]["readings"]
    assert [one["text"] for one in reading["masked"][at]["best"]] == [one.text for one in filled]
    assert run(tmp_path / "model", text).exit_code == 0


def test_what_does_not_fit_the_model_is_left_out(save):
    model, tokenizer, folder = save()
    found = mask_each(model, tokenizer, "tôi " * 70, top_k=1)
    assert [one is not None for one in found] == [True] * 62 + [False] * 8
    shown = run(folder, "tôi " * 70, "--json")
    assert [one is None for one in json.loads(shown.output)["examples"][0]["readings"][0]["masked"]] == [False] * 62 + [
        True
    ] * 8


def test_a_text_without_anything_to_mask(save, tmp_path):
    model, tokenizer, folder = save()
    assert mask_each(model, tokenizer, "") == []
    assert mask_each(model, tokenizer, "[SEP]") == [None]
    (tmp_path / "in.txt").write_text("\u200b\nHà Nội\n", "utf-8")
    shown = run(folder, "--input", tmp_path / "in.txt", "--json", "-k", "1")
    assert shown.exit_code == 0, shown.output
    assert [one["line"] for one in json.loads(shown.stdout)["examples"]] == [1, 2]
    assert run(folder, tmp_path / "in.txt", "--json", "-k", "1").stdout == shown.stdout  # a file's name is no text


def test_json_names_everything(save):
    _, _, folder = save()
    shown = run(folder, "tôi yêu", "--json", "-k", "2")
    [reading] = json.loads(shown.output)["examples"][0]["readings"]
    assert {"onset", "rime", "tone", "joint", "real", "score", "rank", "best"} == set(reading["masked"][0])
    assert len(reading["masked"][1]["best"]) == len(reading["nearest"][0]) == 2
    assert reading["masked"][0]["onset"].keys() == {"true", "probability", "best", "best_probability"}
    assert "cosine" in reading["nearest"][1][0]
    assert reading["positions"][0]["syllable"]["text"] == "tôi"


@pytest.mark.parametrize(("lang", "listed"), [("vi", None), ("zh", None), ("vi", "attested"), ("zh", "attested")])
def test_nearest_against_brute_force(save, lang, listed):
    model, tokenizer, _ = save(lang=lang, **({"composition": "table", "syllable_inventory": listed} if listed else {}))
    real = syllables(lang)
    if listed:
        have = set(triples(lang, listed).packed.tolist())
        assert any(one not in have for one in real.tolist())
        real = np.array([one for one in real.tolist() if one in have])
    embedded = model.bert.embeddings.compose(torch.from_numpy(real).long()[None])[0].detach().double().numpy()
    unit = embedded / np.linalg.norm(embedded, axis=1, keepdims=True)
    text = "Quốc kỳ yên, hoc [MASK]" if lang == "vi" else "银行的, a"
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    found = NearestSyllables(model.bert).of(ids, top_k=5)
    for packed, nearest in zip(ids, found, strict=True):
        if tokenizer.convert_ids_to_tokens(packed).count("|") != 2:
            assert nearest is None
            continue
        own = model.bert.embeddings.compose(torch.tensor([[packed]]))[0, 0].detach().double().numpy()
        cosines = unit @ own / np.linalg.norm(own)
        cosines[real == packed] = -2
        want = cosines.argsort()[::-1][:5]
        assert [one.packed for one in nearest] == real[want].tolist()
        assert [one.cosine for one in nearest] == pytest.approx(cosines[want], abs=1e-5)
        for one in nearest:
            read = tokenizer.phonemic.factorize(one.syllable)
            assert tokenizer.phonemic.vocab.pack(read) == one.packed
            assert one.ipa == tuple("" if part == "[EMPTY]" else part for part in read)
            assert one.characters == (readings().get(one.packed, ())[:4] if lang == "zh" else ())


def test_the_nearest_of_a_planted_model(save):
    """Only tones differ: with the blocks of onset and rime large, a syllable's neighbours are its other tones."""
    model, _, _ = save()
    with torch.no_grad():
        model.bert.embeddings.projection.weight[:, 2 * 24 :] *= 0.001
    [nearest] = NearestSyllables(model.bert).of([model.config.vocab_size and syllables("vi")[0]], top_k=5)
    assert len({one.ipa[:2] for one in nearest}) == 1


def test_a_sentence_on_a_terminal(save):
    _, _, folder = save()
    shown = run(folder, "Tôi [đọc] \x1b[31m", "-k", "2")
    assert shown.exit_code == 0, shown.output
    assert "\x1b" not in shown.output
    assert "\\x1b[31m" in shown.output
    lines = shown.output.splitlines()
    assert " ".join(lines[2].split()) == "# text onset rime tone true (rank) best syllables nearest syllables"
    assert "[đọc]" in lines[0]
    row = next(line for line in lines if line.startswith(" 1"))
    assert {"Tôi", "t", "oi̯", "˧˧", "→"} <= set(row.split())


def test_lines_of_a_file_and_of_standard_input(save, tmp_path):
    _, _, folder = save("PhonemicBertModel", "zh")
    (tmp_path / "lines.txt").write_text("我爱你。\n\n银行\n", "utf-8")
    shown = run(folder, "--input", tmp_path / "lines.txt", "--json")
    [first, second] = json.loads(shown.output)["examples"]
    assert (first["line"], second["line"]) == (1, 3)
    reading = second["readings"][0]
    assert [one["syllable"]["ipa"] for one in reading["positions"]] == ["in˧˥", "xaŋ˧˥"]
    assert reading["masked"] is None
    assert len(reading["nearest"][0]) == 5
    piped = run(folder, "--input", "-", "--limit", "1", "-k", "0", input="我爱你。\n银行\n")
    assert "… and 1 more texts (--limit)" in piped.output
    assert "nearest" not in piped.output


def test_text_that_is_not_utf8(save, tmp_path):
    *_, folder = save()
    (tmp_path / "texts").write_bytes("Hà Nội\n".encode() + b"\xff\n")
    refused = run(folder, "--input", tmp_path / "texts")
    assert refused.exit_code == 1
    assert "--errors replace puts U+FFFD" in " ".join(refused.output.split())
    replaced = run(folder, "--input", tmp_path / "texts", "--errors", "replace", "--json")
    positions = [one["readings"][0]["positions"] for one in json.loads(replaced.stdout)["examples"]]
    assert [[one["syllable"]["text"] for one in row] for row in positions] == [["Hà", "Nội"], ["\ufffd"]]


def test_a_classifier(save):
    model, tokenizer, folder = save("PhonemicBertForSequenceClassification", id2label={0: "xấu", 1: "tốt", 2: "thường"})
    shown = json.loads(run(folder, "phim hay quá", "--json").output)["examples"][0]
    logits = model(**tokenizer("phim hay quá", return_tensors="pt")).logits[0].softmax(-1)
    want = {name: logits[at].item() for at, name in model.config.id2label.items()}
    assert shown["probabilities"] == pytest.approx(want, rel=1e-4)
    assert list(shown["probabilities"]) == sorted(want, key=want.get, reverse=True)
    assert shown["predicted"] == max(want, key=want.get)
    assert shown["correct"] is None


def test_a_classifier_predicts_for_texts_with_gold_and_no_prediction(save, tmp_path):
    model, tokenizer, folder = save("PhonemicBertForSequenceClassification", id2label={0: "a", 1: "b"})
    texts = ["phim hay quá", "không tệ", "chán"]
    best = ["ab"[int(model(**tokenizer(text, "ừ", return_tensors="pt")).logits.argmax())] for text in texts]
    file = tmp_path / "gold.jsonl"
    file.write_text("\n".join(json.dumps({"text": text, "text_b": "ừ", "gold": "a"}) for text in texts), "utf-8")
    report = json.loads(run(folder, "--predictions", file, "--json", "-k", "0").output)
    assert [one["predicted"] for one in report["examples"]] == best
    assert report["errors"]["outcomes"]["correct"] == best.count("a")
    assert [one["correct"] for one in report["examples"]] == [label == "a" for label in best]


def test_a_tagger(save, tmp_path):
    names = {0: "O", 1: "B-LOC", 2: "I-LOC"}
    model, tokenizer, folder = save("PhonemicBertForTokenClassification", id2label=names)
    text = "Tôi ở Hà Nội, Huế"
    want = [names[at] for at in model(**tokenizer(text, return_tensors="pt")).logits[0, 1:-1].argmax(-1).tolist()]
    shown = json.loads(run(folder, text, "--json").output)["examples"][0]
    places = [(one["syllable"]["start"], one["syllable"]["end"]) for one in shown["readings"][0]["positions"]]
    before = ["O", *want]
    starts = [places[at][0] for at, tag in enumerate(want) if tag == "B-LOC" or (tag, before[at]) == ("I-LOC", "O")]
    assert [span[0] for span in shown["predicted"]] == starts
    (tmp_path / "tags.jsonl").write_text(json.dumps({"text": text, "gold": ["O"] * 5}), "utf-8")
    report = json.loads(run(folder, "--predictions", tmp_path / "tags.jsonl", "--json", "-k", "0").output)
    firsts = [next(at for at, place in enumerate(places) if place[0] == start) for start in (0, 4, 6, 9, 14)]
    assert report["examples"][0]["predicted"] == [want[at] for at in firsts]


def test_clear_errors(save, tmp_path):
    _, _, folder = save()
    with pytest.raises(CheckpointError, match="neither a folder nor installed"):
        load("nowhere")
    with pytest.raises(CheckpointError, match="a checkpoint is a folder, not a file"):
        load(folder / "config.json")
    (tmp_path / "run" / "final").mkdir(parents=True)
    (tmp_path / "run" / "final" / "config.json").write_text("{}")
    with pytest.raises(CheckpointError, match=r"holds no checkpoint; did you mean .*final\?"):
        load(tmp_path / "run")
    with pytest.raises(CheckpointError, match="holds a model of type None"):
        load(tmp_path / "run" / "final")
    BertConfig().save_pretrained(tmp_path / "bert")
    shown = run(tmp_path / "bert", "tôi")
    assert shown.exit_code == 1
    assert "holds a model of type 'bert'; this command reads PhonemicBERT only" in shown.output
    weights = folder / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CheckpointError, match="cannot be loaded"):
        load(folder)
    weights.unlink()
    assert run(folder, "tôi").exit_code == 1
    weights.write_bytes(whole)
    (folder / "phonemic.json").rename(folder / "away")
    with pytest.raises(CheckpointError, match=r"no phonemic.json in it, so its tokenizer is missing"):
        load(folder)
    config = folder / "config.json"
    config.write_text("{")
    with pytest.raises(CheckpointError, match=r"config.json: is not JSON: "):
        load(folder)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give one of TEXT, --input and --predictions"),
        (["x", "text", "--input", "-"], "give one of TEXT, --input and --predictions"),
        (["--predictions", "f"], "give a CHECKPOINT; with --predictions, --lang is enough"),
        (["x", "text", "--html", "a", "--json"], "give --html or --json, not both"),
    ],
)
def test_usage(arguments, message):
    shown = run(*arguments)
    assert shown.exit_code == 2
    assert message in shown.output


def test_weights_of_another_model_are_refused(save):
    _, _, folder = save("PhonemicBertModel")
    config = json.loads((folder / "config.json").read_text())
    config["architectures"] = ["PhonemicBertForSequenceClassification"]
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(CheckpointError, match=r"its weights lack classifier.bias and 1 more"):
        load(folder)


@pytest.mark.parametrize(
    ("lang", "name", "other"),
    [("vi", "Vietnamese", "今天天气很好，银行不开门。"), ("zh", "Mandarin", "Sáng nay bé ăn xôi")],
)
def test_texts_of_another_language_are_told(save, lang, name, other):
    _, _, path = save(lang=lang)
    found = run(path, other)
    assert found.exit_code == 0
    assert f"positions are {name} syllables: is the text {name}?" in found.stderr
    own = {"vi": "Sáng nay bé ăn xôi, mưa to", "zh": "今天天气很好，银行不开门。"}[lang]
    assert "syllables: is the text" not in run(path, own).stderr
