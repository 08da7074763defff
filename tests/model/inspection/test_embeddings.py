"""Slots of the projection, classes of the symbols, ratios of distances, places on a plane, and the picture."""

import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from phonemic import PhonemicError
from phonemic.inventory import vocabulary
from phonemic_bert.inspection import component_vectors, panels
from phonemic_bert.inspection.embeddings import cosine_distances, place, separation
from phonemic_bert.inspection.phonology import contour, groupings, register, rime_parts
from phonemic_bert.inspection.picture import COLOURED_BY, COLOURS, check_path, draw, spread


@pytest.mark.parametrize("lang", ["vi", "zh"])
def test_the_vectors_of_the_slots_add_up_to_the_projected_embedding(save, lang):
    model, tokenizer, _ = save(lang=lang)
    embeddings = model.bert.embeddings
    torch.nn.init.normal_(embeddings.projection.bias)
    packed = tokenizer("Quốc kỳ yên, gì" if lang == "vi" else "二十块钱的吗", add_special_tokens=False)["input_ids"]
    whole = embeddings.compose(torch.tensor([packed]))[0].detach().numpy()
    triples = [vocabulary(lang).unpack(one) for one in packed]
    parts = [
        component_vectors(model.bert, name, tuple(triple[slot] for triple in triples))
        for slot, name in enumerate(("onset", "rime", "tone"))
    ]
    np.testing.assert_allclose(sum(parts) + embeddings.projection.bias.detach().numpy(), whole, atol=1e-5)
    assert not np.allclose(*(component_vectors(model.bert, name, ("a",)) for name in ("onset", "rime")))


@pytest.mark.parametrize("lang", ["vi", "zh"])
def test_every_symbol_has_its_classes(lang):
    symbols = vocabulary(lang)
    for component, groups in groupings(lang).items():
        for classes in groups.values():
            assert set(classes) - {"[EMPTY]"} == set(symbols.by_role(component))
        assert set(groups[COLOURED_BY[component]].values()) <= set(COLOURS)
    for rime in symbols.by_role("rime"):
        assert "".join(rime_parts(lang, rime)) == rime
    with pytest.raises(ValueError, match=f"'xyz' is not a rime of {lang}"):
        rime_parts(lang, "xyz")


def test_classes_are_those_of_the_handbook():
    vi, zh = groupings("vi"), groupings("zh")
    assert (vi["onset"]["place"]["ɲ"], vi["onset"]["manner"]["ɲ"]) == ("palatal", "nasal")
    assert (vi["onset"]["place"]["x"], vi["onset"]["manner"]["x"]) == ("velar", "fricative")
    assert (zh["onset"]["place"]["t͡ʂʰ"], zh["onset"]["manner"]["t͡ʂʰ"]) == ("retroflex", "affricate")
    assert vi["onset"]["place"]["[EMPTY]"] == "none"
    assert (vi["onset"]["letter"]["k"], vi["onset"]["letter"]["ŋ"]) == (
        "also a letter",
        "no letter",
    )
    assert rime_parts("vi", "u̯ien") == ("u̯", "ie", "n")
    assert rime_parts("vi", "ɔːŋ") == ("", "ɔː", "ŋ")
    assert [rime_parts("zh", rime) for rime in ("iou", "wo", "aɻ", "ɻ̩", "yɛn", "in", "ŋ̩", "au")] == [
        ("i", "o", "u"),
        ("w", "o", ""),
        ("", "a", "ɻ"),
        ("", "ɻ̩", ""),
        ("y", "ɛ", "n"),
        ("", "i", "n"),
        ("", "ŋ̩", ""),
        ("", "a", "u"),
    ]
    tones = ["˧˧", "˨˩", "˧˥", "˧˩", "˧ˀ˥", "˧ˀ˩", "˥˥", "˨˩˦", "˥˩", "[EMPTY]"]
    assert [contour(tone) for tone in tones] == [
        "level", "falling", "rising", "falling", "rising", "falling", "level", "dipping", "falling", "neutral",
    ]  # fmt: skip
    # The high and the low row of Vietnamese tones, as the language's own tradition has them.
    assert [register(tone) for tone in tones[:6]] == ["high", "low", "high", "low", "high", "low"]


def test_a_ratio_worked_by_hand():
    """Two pairs: 1 apart within, 3 apart between; shuffled, a third of the arrangements is as good."""
    distances = np.array([[0, 1, 3, 3], [1, 0, 3, 3], [3, 3, 0, 1], [3, 3, 1, 0]], float)
    found = separation("pairs", np.array(["a", "a", "b", "b"]), distances, shuffles=3000)
    assert found.ratio == pytest.approx(1 / 3)
    # Two other ways to pair them: 3 apart within, (1 + 1 + 3 + 3) / 4 = 2 apart between.
    assert found.p == pytest.approx(1 / 3, abs=0.04)
    assert found.chance == pytest.approx((1 / 3 + 1.5 + 1.5) / 3, abs=0.05)
    assert separation("one", np.array(["a"] * 4), distances) is None
    assert separation("all", np.array(list("abcd")), distances) is None


def test_planted_classes_are_found_and_random_ones_are_not():
    random = np.random.default_rng(1)
    classes = np.repeat(list("abcd"), 6)
    noise = random.normal(size=(24, 16))
    planted = noise + 3 * np.repeat(random.normal(size=(4, 16)), 6, axis=0)
    assert separation("planted", classes, cosine_distances(planted), shuffles=499).p == 1 / 500
    ps = [separation("noise", random.permutation(classes), cosine_distances(noise), shuffles=199).p for _ in range(40)]
    assert 0.35 < np.mean(ps) < 0.65


@settings(max_examples=40, deadline=None)
@given(arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 5)), elements=st.floats(-5, 5, width=32)))
def test_cosine_distances(vectors):
    found = cosine_distances(vectors)
    for i, one in enumerate(vectors):
        for j, other in enumerate(vectors):
            norms = np.linalg.norm(one) * np.linalg.norm(other)
            want = 0 if i == j else 1 - one @ other / norms if norms > 0 else 1
            assert found[i, j] == pytest.approx(want, abs=1e-6)


def test_principal_components_are_sklearns():
    decomposition = pytest.importorskip("sklearn.decomposition", reason="needs scikit-learn")
    vectors = np.random.default_rng(0).normal(size=(20, 7)) * np.arange(1, 8)
    plane, share = place(vectors, cosine_distances(vectors), "pca")
    pca = decomposition.PCA(2).fit(vectors)
    np.testing.assert_allclose(np.abs(plane), np.abs(pca.transform(vectors)), atol=1e-8)
    assert share == pytest.approx(pca.explained_variance_ratio_.sum())


def test_tsne_keeps_clusters_together_and_repeats_itself():
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    random = np.random.default_rng(0)
    centres = np.repeat(random.normal(size=(4, 10)), 10, axis=0)
    vectors = centres + 0.1 * random.normal(size=(40, 10))
    distances = cosine_distances(vectors)
    plane, kept = place(vectors, distances, "tsne", seed=3)
    assert kept > 0.3
    away = np.linalg.norm(plane[:, None] - plane, axis=-1) + np.diag(np.full(40, np.inf))
    assert (away.argmin(1) // 10 == np.arange(40) // 10).all()
    np.testing.assert_array_equal(plane, place(vectors, distances, "tsne", seed=3)[0])


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 25), st.integers(0, 1000))
def test_spread_boxes_do_not_overlap_and_stay_inside(count, seed):
    random = np.random.default_rng(seed)
    frame = np.array([[0.0, 0.0], [200.0, 150.0]])
    points = random.normal(100, random.choice([0.001, 10, 60]), size=(count, 2)).clip(0, 150)
    sizes = random.uniform((5, 4), (22, 10), size=(count, 2))
    centres = spread(points, sizes, frame)
    assert (centres - sizes / 2 >= frame[0] - 1e-9).all()
    assert (centres + sizes / 2 <= frame[1] + 1e-9).all()
    for i in range(count):
        for j in range(i):
            overlap = (sizes[i] + sizes[j]) / 2 - np.abs(centres[i] - centres[j])
            assert (overlap < 1e-6).any(), (i, j, overlap)


def test_boxes_that_have_room_stay():
    points = np.array([[20.0, 20.0], [80.0, 80.0]])
    centres = spread(points, np.full((2, 2), 10.0), np.array([[0.0, 0.0], [100.0, 100.0]]))
    np.testing.assert_array_equal(centres, points)


@pytest.mark.parametrize("lang", ["vi", "zh"])
def test_symbols_stay_clear_of_the_frame(save, lang, monkeypatch, tmp_path):
    figure_class = pytest.importorskip("matplotlib.figure", reason="needs the finetune extra").Figure
    model, _, _ = save(lang=lang)
    figures, save_figure = [], figure_class.savefig

    def kept(figure, *given, **options):
        figures.append(figure)
        save_figure(figure, *given, **options)

    monkeypatch.setattr(figure_class, "savefig", kept)
    draw(panels(model.bert, "pca", shuffles=9), tmp_path / "a.png", "title")
    for axes in figures[0].axes:
        frame = axes.get_window_extent()
        assert axes.texts
        for text in axes.texts:
            extent = text.get_window_extent()
            assert extent.x0 >= frame.x0 + 5
            assert extent.x1 <= frame.x1 - 5
            assert extent.y0 >= frame.y0 + 5
            assert extent.y1 <= frame.y1 - 5


@pytest.mark.parametrize("lang", ["vi", "zh"])
def test_command(save, tmp_path, lang):
    pytest.importorskip("matplotlib", reason="needs the finetune extra")
    pytest.importorskip("sklearn", reason="needs the finetune extra")
    testing = pytest.importorskip("click.testing", reason="needs click")
    from phonemic_bert.cli import cli

    model, _, folder = save(lang=lang)
    pictures = [tmp_path / "one.svg", tmp_path / "two.svg"]
    for picture in pictures:
        options = ["--method", "pca", "--out", str(picture), "--json", str(tmp_path / "places.json"), "--title", "<&>"]
        options += ["--force"] if picture is pictures[1] else []
        shown = testing.CliRunner().invoke(cli, ["embeddings", str(folder), *options])
        assert shown.exit_code == 0, shown.output
    assert pictures[0].read_bytes() == pictures[1].read_bytes()
    assert len(re.findall(rb"<g id=\"axes_", pictures[0].read_bytes())) == 3
    written = json.loads((tmp_path / "places.json").read_text("utf-8"))
    assert [panel["component"] for panel in written] == ["onset", "rime", "tone"]
    found = panels(model.bert, "pca")
    for panel, want in zip(written, found, strict=True):
        assert [row["symbol"] for row in panel["symbols"]] == list(want.symbols)
        np.testing.assert_allclose([(row["x"], row["y"]) for row in panel["symbols"]], want.places, atol=1e-9)
        assert panel["quality"] == pytest.approx(want.quality)
    assert len(written[1]["symbols"]) == {"vi": 178, "zh": 43}[lang]


def test_pictures_in_png_and_refused_names(save, tmp_path):
    pytest.importorskip("matplotlib", reason="needs the finetune extra")
    model, _, _ = save(lang="zh")
    draw(panels(model.bert, "pca", shuffles=9), tmp_path / "a.png", "title")
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"
    assert list(tmp_path.glob("*.partial")) == []
    with pytest.raises(PhonemicError, match=r"a.gif: an image file must end in .png, .svg, .pdf"):
        check_path("a.gif")
    with pytest.raises(ValueError, match="unknown method 'umap': choose one of pca, tsne"):
        panels(model.bert, "umap")
