"""CMRC 2018: questions about Wikipedia passages, answered by a piece of the passage."""

from __future__ import annotations

from phonemic.tasks import squad
from phonemic.tasks.dataset import Dataset, layout

DATASET = Dataset(
    name="cmrc",
    title="CMRC",
    lang="zh",
    kind="question-answering",
    metric="exact-match",
    labels={},
    splits=("train", "dev", "trial"),
    layouts=(layout("cmrc2018_{}.json"), layout("{}.json")),
    folders=("zh/cmrc2018", "cmrc2018", "cmrc2018_public", "cmrc"),
    home="https://github.com/ymcui/cmrc2018",
    licence="CC BY-SA 4.0",
    parse=squad.parse,
    intrinsic=("train", "dev"),
    test="dev",
    dev=None,
    note="The intrinsic tables count the passage once a question, next to the question.",
)
