"""The tables of README.md and docs/ are those of the files in benchmarks/results, and figures in prose are among them."""

import csv
import re
from statistics import fmean

import pytest
from source_tree import ROOT, needs

needs("benchmarks/results", "docs/experiments", whole_module=True)

from benchmarks import report  # noqa: E402
from benchmarks.tables import RESULTS, TABLES, load, models, readings, register, spacy  # noqa: E402

register()
PAGES = {page.relative_to(ROOT).as_posix(): page.read_text("utf-8") for page in report.pages()}
MARKED = {name: text for name, text in PAGES.items() if "<!-- table: " in text}


@pytest.mark.parametrize("page", MARKED)
def test_tables_are_made_from_the_results(page):
    assert report.filled(MARKED[page]) == MARKED[page]


def test_every_table_is_on_a_page():
    named = {name for text in MARKED.values() for name in re.findall(r"<!-- table: ([^>]+?) -->", text)}
    assert named == set(TABLES)


def test_a_changed_figure_is_noticed():
    text = "<!-- table: headline: why -->\n\nold\n\n<!-- end of table -->"
    assert "old" not in report.filled(text)


def test_every_results_page_has_a_footer_for_each_file():
    for name, text in MARKED.items():
        if name.startswith("docs/results/"):
            assert re.search(r"^\*20\d\d-\d\d-\d\d, phonemic .*: `.*`\.\*$", text, re.MULTILINE), name


def shown(page):
    """A page on one line."""
    return re.sub(r"\s+", " ", (ROOT / page).read_text("utf-8"))


def means(task, model):
    return [fmean(column) for column in spacy.scores(task, model)]


def lead(model, errors, tasks=spacy.CORPORA, others=("HashEmbedCNN",)):
    """Return by how much an encoder is ahead of others, the least and the most over corpora."""
    leads = [means(task, model)[errors] - means(task, other)[errors] for task in tasks for other in others]
    return f"{min(leads):.0f} to {max(leads):.0f}"


def behind_on_clean_mandarin(*others):
    """PhonemicBERT, without characters, behind the best of the others on each task."""
    found = models.scores()
    gaps = []
    for task in models.TASKS["Chinese"]:
        ours, *theirs = (found[models.clean("Chinese"), name, task][0] for name in ("PhonemicBERT", *others))
        gaps.append(max(theirs) - ours)
    return f"{min(gaps):.0f} to {max(gaps):.0f} points"


def noisy_training(task, noise, ratio):
    with (RESULTS / "downstream_noisy_vi.csv").open(encoding="utf-8", newline="") as file:
        rows = [
            row for row in csv.DictReader(file) if (row["task"], row["noise"], row["ratio"]) == (task, noise, ratio)
        ]
    return 100 * fmean(float(row["test"]) for row in rows)


def prose():
    """Sentences of pages that have figures, with these from the results."""
    crafted = load("crafted")["rows"]
    plain = max(row["by_byte"] for row in crafted if "user" not in row["name"])
    user = max(row["by_byte"] for row in crafted if "user" in row["name"])
    speeds = [row["mb_per_cpu_second"] for row in load("prepare_speed")["rows"] if row["engine"] == "1 thread"]
    clean, noisy = noisy_training("vietbioner", "none", "0"), noisy_training("vietbioner", "missing-diacritics", "0.3")
    slower = readings.speed("ours, context") / readings.speed("ours, pypinyin")
    page = "docs/results/sounds-alone.md"
    yield page, f"SubChar-Pinyin, by {behind_on_clean_mandarin('Character', 'SubChar-Pinyin')}"
    yield page, f"scores {clean:.1f} clean and {noisy:.1f} with 30 % missing diacritics"
    yield "README.md", f"{behind_on_clean_mandarin('Character')} behind a character model"
    yield "docs/results/readings.md", f"reading runs at {slower:.2f} of the speed of pypinyin's readings"
    hashed, bert = "PhonemicHashEmbed", "PhonemicBERT from a checkpoint"
    page = "docs/results/spacy.md"
    yield page, f"`hash` is ahead of HashEmbedCNN by {lead(hashed, 2)} points and `bert` by {lead(bert, 2)}"
    least, _, _ = lead(bert, 2, others=["spacy init config"]).partition(" ")
    yield page, f"`bert` is ahead of `spacy init config` by {least} points or more on every corpus"
    clean = lead(bert, 0, spacy.CORPORA.keys() - {"weibo"}, ("HashEmbedCNN", "spacy init config"))
    yield page, f"`bert` is ahead of both of spaCy's encoders on four corpora, by {clean} points. On Weibo it is behind"
    yield (
        "SECURITY.md",
        f"up to {plain:.1f} times an ordinary byte, with a user's own phrases at up to {user:.1f} times",
    )
    yield "docs/how-to/prepare-a-corpus.md", f"processes {min(speeds):.0f} to {max(speeds):.0f} MB per CPU second"


@pytest.mark.parametrize(("page", "text"), [*prose()])
def test_figures_in_sentences_are_those_of_the_results(page, text):
    assert text in shown(page).replace("](docs/results/sounds-alone.md)", "").replace("[", "")


def test_errors_in_training_bring_less_than_half_of_what_sounds_bring_and_two_thirds_on_parts_of_speech():
    own, heard = "HashEmbedCNN trained with errors", "PhonemicHashEmbed"
    tasks = [task for task in spacy.CORPORA if spacy.runs(task, own)]
    assert tasks
    for task in tasks:
        plain = means(task, "HashEmbedCNN")
        share = (means(task, own)[2] - plain[2]) / (means(task, heard)[2] - plain[2])
        assert round(share, 1) == 0.7 if "speech" in spacy.CORPORA[task] else share < 0.5, task
        assert means(task, own)[0] < plain[0], task


def test_the_tutorial_tells_what_errors_cost_in_spacy():
    """Hold it to six points for each of our encoders, and more than twenty for spaCy's own."""
    names = ("HashEmbedCNN", "PhonemicHashEmbed", "PhonemicBERT from a checkpoint")
    clean, _, noisy = zip(*(means("cluener", model) for model in names), strict=True)
    lost = [before - after for before, after in zip(clean, noisy, strict=True)]
    assert "`hash` and `bert` stay within six points of their score on clean text" in shown(
        "docs/tutorials/spacy-ner.md"
    )
    for errors in (0, 1):
        best = [max(names, key=lambda name: means(task, name)[errors]) for task in spacy.CORPORA]
        assert best.count(names[-1]) == 4
    assert "the best on four of five corpora, clean and with 15 % errors" in shown("docs/tutorials/spacy-ner.md")
    assert lost[0] > 20
    assert all(points < 6 for points in lost[1:])
