"""THUCNews: news of Sina, 14 categories: a folder a category and a file a document, the title in its first line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from phonemic.tasks.dataset import Dataset, layout
from phonemic.tasks.examples import TextExample
from phonemic.tasks.records import json_lines, lines, same

LABELS = same(*"财经 彩票 房产 股票 家居 教育 科技 社会 时尚 时政 体育 星座 游戏 娱乐".split())


def parse(paths: Sequence[Path]) -> Iterator[TextExample]:
    """Documents in folders, or lines ``{"title": ..., "content": ..., "label": "财经"}``; one text each."""
    for path in paths:
        if path.suffix == ".txt":
            yield TextExample("".join(line for _, line in lines(path)), {"label": LABELS[path.parent.name]})
            continue
        for record in json_lines(path):
            text = f"{record.text('title')}\n{record.text('content')}"
            yield TextExample(text, record.labels({"label": ("label", LABELS)}))


DATASET = Dataset(
    name="thucnews",
    title="THUCNews",
    lang="zh",
    kind="classification",
    metric="accuracy",
    labels={"label": tuple(LABELS.values())},
    splits=("train", "dev", "test", "all"),
    layouts=(
        layout("{}.json", splits=("train", "dev", "test")),
        layout(*[f"{name}/*.txt" for name in LABELS], splits=("all",)),
    ),
    folders=("zh/thucnews", "thucnews", "THUCNews"),
    home="http://thuctc.thunlp.org",
    licence="research, after registration",
    parse=parse,
    intrinsic=("train", "dev", "all"),
    test="dev",
    dev=None,
    note=(
        "The release is a folder a category, without splits: it is read as the split 'all'. For training write your "
        'own train.json and dev.json, a line {"title", "content", "label"} a document.'
    ),
)
