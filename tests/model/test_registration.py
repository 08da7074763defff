"""transformers' Auto classes know PhonemicBERT, whichever is imported first; each order in a process of its own.

The processes are forked from one that has imported torch and no transformers. They believe that there is a network.
"""

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec

import pytest
from checkpoint_packages import make_package
from forking import environment

pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from phonemic_bert import PhonemicBertForMaskedLM, PhonemicBertTokenizer

TINY = "num_hidden_layers=1, hidden_size=24, num_attention_heads=3, intermediate_size=40"
SAVED = (
    "import tempfile; folder = tempfile.mkdtemp(); phonemic_bert.PhonemicBertTokenizer('zh').save_pretrained(folder)"
)

#: Code -> what it prints.
ORDERS = {
    # BertConfig: the Auto classes are loaded already, in the middle of another module
    f"import phonemic_bert; from transformers import BertConfig, AutoModel, AutoConfig; print(type(AutoModel.from_config(AutoConfig.for_model('phonemic-bert', {TINY}))))": (
        "PhonemicBertModel"
    ),
    "from transformers import AutoModelForMaskedLM as Auto, AutoConfig; import phonemic_bert;"
    f"print(type(Auto.from_config(AutoConfig.for_model('phonemic-plain-modernbert', {TINY}))))": "PlainModernBertForMaskedLM",
    "from phonemic_bert import PhonemicBertForTokenClassification, PhonemicBertConfig;"
    "from transformers import AutoModelForTokenClassification as Auto;"
    f"print(type(Auto.from_config(PhonemicBertConfig('vi', {TINY}))))": "PhonemicBertForTokenClassification",
    f"from transformers import AutoTokenizer; import phonemic_bert; {SAVED};"
    "print(type(AutoTokenizer.from_pretrained(folder)))": "PhonemicBertTokenizer",
    # the module of the function's name must not hide it
    "import phonemic_bert.fill_mask, phonemic_bert.inspection.masking; print(type(phonemic_bert.fill_mask))": "function",
}  # fmt: skip

#: Saves an adapter of a checkpoint that is loaded by its name, and loads both in every way.
ADAPTER = """
import sys, warnings
import peft, phonemic_bert
from transformers import AutoModelForSequenceClassification as Auto, pipeline
warnings.simplefilter("ignore")
base = Auto.from_pretrained(NAME, num_labels=2)
config = peft.LoraConfig(task_type="SEQ_CLS", target_modules=["query"], modules_to_save=["pooler"])
peft.get_peft_model(base, config).save_pretrained(FOLDER)
peft.PeftModel.from_pretrained(Auto.from_pretrained(NAME), FOLDER)
peft.AutoPeftModelForSequenceClassification.from_pretrained(FOLDER)
Auto.from_pretrained(FOLDER)
print(len(pipeline("text-classification", FOLDER)("tôi")))
"""


FORKS = """
import os, socket, sys, torch, tokenizers
import scipy.optimize, torch._dynamo, torch.distributed.tensor  # of what transformers imports, what takes longest
assert not {"transformers", "phonemic_bert"} & set(sys.modules)
for number, code in enumerate(sys.argv[1:]):
    if os.fork() == 0:
        def refuse(*given, **named):
            print("the network was asked", file=sys.stderr, flush=True)
            os._exit(1)
        socket.getaddrinfo = socket.create_connection = refuse
        sys.stdout = open(f"{number}.txt", "w")
        exec(code, {"__name__": "__main__"})
        sys.stdout.close()
        os._exit(0)
    assert os.wait()[1] == 0, code
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_every_order(tiny, tmp_path):
    name, folders = "phonemic-bert-tiny-vi", ("first", "second")
    PhonemicBertForMaskedLM(tiny()).save_pretrained(tmp_path / "checkpoint")
    PhonemicBertTokenizer("vi").save_pretrained(tmp_path / "checkpoint")
    package = make_package(tmp_path / "package", phonemic_bert_tiny_vi=tmp_path / "checkpoint")
    adapters = [
        f"{first}\n{ADAPTER.replace('NAME', repr(name)).replace('FOLDER', repr(str(tmp_path / folder)))}"
        for first, folder in zip(("import peft", "import phonemic_bert, peft"), folders, strict=True)
    ]
    orders = ORDERS | (dict.fromkeys(adapters, "1") if find_spec("peft") else {})
    online = {key: value for key, value in environment().items() if not key.startswith(("HF_", "TRANSFORMERS"))}
    done = subprocess.run(
        [sys.executable, "-c", FORKS, *orders], capture_output=True, text=True, check=False, cwd=tmp_path,
        env=online | {"PYTHONPATH": os.pathsep.join([str(package), online["PYTHONPATH"]])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    printed = [(tmp_path / f"{number}.txt").read_text("utf-8") for number in range(len(orders))]
    assert [re.findall(r"\w+", one)[-1] for one in printed] == [*orders.values()]
    for folder in folders if find_spec("peft") else ():
        assert json.loads((tmp_path / folder / "adapter_config.json").read_text())["base_model_name_or_path"] == name


def test_every_name_of_the_package_is_there():
    import phonemic_bert

    assert set(phonemic_bert.__all__) <= set(dir(phonemic_bert))
    for name in phonemic_bert.__all__:
        assert getattr(phonemic_bert, name) is not None
    assert phonemic_bert.modeling.__name__ == "phonemic_bert.modeling"
    with pytest.raises(AttributeError, match="has no attribute 'PhonemicBertModl'"):
        phonemic_bert.PhonemicBertModl  # noqa: B018


@pytest.mark.parametrize("head", ["joint", "independent"])
@pytest.mark.parametrize("backbone", ["bert", "modernbert"])
def test_only_what_is_to_be_trained_is_reported(tmp_path, head, backbone):
    """The heads of masked syllables are left out without a word by models of other tasks; what is new is said."""
    from phonemic_bert import (
        PhonemicBertConfig,
        PhonemicBertForMaskedLM,
        PhonemicBertForTokenClassification,
        PhonemicBertModel,
    )

    config = PhonemicBertConfig.from_preset("paper-tiny", "vi", head=head, backbone=backbone)
    PhonemicBertForMaskedLM(config).save_pretrained(tmp_path)
    for cls, new in (
        (PhonemicBertForMaskedLM, set()),
        (PhonemicBertModel, {"pooler.dense.weight", "pooler.dense.bias"}),
        (PhonemicBertForTokenClassification, {"classifier.weight", "classifier.bias"}),
    ):
        _, info = cls.from_pretrained(tmp_path, output_loading_info=True)
        assert {*info["missing_keys"]} == new
        assert not info["unexpected_keys"]
