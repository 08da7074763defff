"""Small models of the paper's design and of each one beyond it, and texts for them."""

import numpy as np
import pytest
import torch

from phonemic.encoding import PACKED_CLS, PACKED_SEP
from phonemic_bert import (
    PhonemicBertForMaskedLM,
    PhonemicBertForMultipleChoice,
    PhonemicBertForQuestionAnswering,
    PhonemicBertForSequenceClassification,
    PhonemicBertForTokenClassification,
    PhonemicBertModel,
)
from phonemic_bert.modeling.adjacent import Bigrams
from phonemic_bert.triples import triples

FORMS = {
    "composition": "both",
    "head": "joint",
    "output_embeddings": "tied",
    "syllable_inventory": "attested",
    "num_form_bigram_buckets": 300,
}

#: The paper, and each thing beyond it; with the large first weights all parts matter.
BEYOND = {
    "paper": {},
    "product": {"composition": "product"},
    "table": {"composition": "table"},
    "conv_kernel_size": {"conv_kernel_size": 5},
    "num_bigram_buckets": {"num_bigram_buckets": 500},
    "modernbert": {"backbone": "modernbert"},
    "all": {
        "backbone": "modernbert",
        "composition": "product",
        "conv_kernel_size": 3,
        "num_bigram_buckets": 500,
        "head": "joint",
    },
    "untied": {
        "backbone": "modernbert",
        "composition": "both",
        "conv_kernel_size": 3,
        "head": "joint",
        "output_embeddings": "untied",
    },
    "tied": {
        "backbone": "modernbert",
        "composition": "both",
        "conv_kernel_size": 3,
        "head": "joint",
        "output_embeddings": "tied",
    },
    "forms": {**FORMS, "forms": "joint", "backbone": "modernbert"},
    "conditional": {**FORMS, "forms": "conditional"},
}
TASKS = (
    PhonemicBertForMultipleChoice,
    PhonemicBertForQuestionAnswering,
    PhonemicBertForSequenceClassification,
    PhonemicBertForTokenClassification,
)
every = pytest.mark.parametrize("options", BEYOND.values(), ids=BEYOND)


def encoder(config):
    torch.manual_seed(0)
    return filled(PhonemicBertModel(config, add_pooling_layer=False)).eval()


def predictor(config):
    torch.manual_seed(0)
    return filled(PhonemicBertForMaskedLM(config)).eval()


def filled(model):
    """The same with bigrams that add something: they begin at zero."""
    for part in model.modules():
        if isinstance(part, Bigrams):
            torch.nn.init.normal_(part.table)
    return model


def syllables(lang, *lengths, seed=0):
    """Texts of random syllables, each with [CLS] and [SEP], int64."""
    random = np.random.default_rng(seed)
    packed = triples(lang).packed
    return [torch.tensor([PACKED_CLS, *random.choice(packed, n).tolist(), PACKED_SEP]) for n in lengths]
