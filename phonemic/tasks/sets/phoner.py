"""PhoNER: entities in news about COVID-19 (PhoNER_COVID19), 10 types."""

from __future__ import annotations

from phonemic.tasks.dataset import DataSet, layout
from phonemic.tasks.tagging import parser

LABELS = tuple("AGE DATE GENDER JOB LOCATION NAME ORGANIZATION PATIENT_ID SYMPTOM_AND_DISEASE TRANSPORTATION".split())

DATASET = DataSet(
    name="phoner",
    title="PhoNER",
    lang="vi",
    kind="sequence-labelling",
    metric="span-f1",
    labels={"label": LABELS},
    splits=("train", "dev", "test"),
    layouts=(
        layout("data/syllable/{}_syllable.conll"),
        layout("{}_syllable.conll"),
        layout("{}_syllable.json"),
        layout("{}_word.conll"),
        layout("{}_word.json"),
    ),
    folders=("vi/phoner", "phoner", "PhoNER_COVID19"),
    home="https://github.com/VinAIResearch/PhoNER_COVID19",
    licence="research and education, no redistribution",
    parse=parser(LABELS, joiner="_"),
    intrinsic=("train", "dev", "test"),
    test="test",
    dev="dev",
)
