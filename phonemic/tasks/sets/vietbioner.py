"""VietBioNER: entities in texts about tuberculosis, 5 types. Beyond the paper's sets."""

from __future__ import annotations

from functools import partial

from phonemic.tasks import tagging
from phonemic.tasks.dataset import Dataset, layout

LABELS = ("DateTime", "DiagnosticProcedure", "Location", "Organisation", "Symptom_and_Disease")

DATASET = Dataset(
    name="vietbioner",
    title="VietBioNER",
    lang="vi",
    kind="sequence-labelling",
    metric="span-f1",
    labels={"label": LABELS},
    layouts=(layout("data_supervised_learning/{}.txt"), layout("{}.txt")),
    folders=("vi/vietbioner", "vietbioner", "VietBioNER"),
    home="https://github.com/ptpuyen1511/VietBioNER",
    licence="CC BY 4.0",
    parse=partial(tagging.parse, labels=LABELS),
    note="Its tags have no B-, so mentions of one type that touch are one.",
)
