"""PhoNER: entities in news about COVID-19 (PhoNER_COVID19), 10 types."""

from __future__ import annotations

from functools import partial

from phonemic.tasks import tagging
from phonemic.tasks.dataset import Dataset, layout

LABELS = tuple("AGE DATE GENDER JOB LOCATION NAME ORGANIZATION PATIENT_ID SYMPTOM_AND_DISEASE TRANSPORTATION".split())

DATASET = Dataset(
    name="phoner",
    title="PhoNER",
    lang="vi",
    kind="sequence-labelling",
    metric="span-f1",
    labels={"label": LABELS},
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
    parse=partial(tagging.parse, labels=LABELS, joiner="_"),
)
