"""Heads of H-MLM: three independent ones (the paper), or one softmax over all triples."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers.models.bert.modeling_bert import BertPredictionHeadTransform

from phonemic_bert.configuration import COMPONENTS, PhonemicBertConfig
from phonemic_bert.modeling.composition import Composing, components, pack
from phonemic_bert.modeling.lists import TripleList


class Predicted:
    """The predictions of the independent heads for some positions.

    Attributes:
        logits: of onset, rime and tone, (..., V) each.
    """

    def __init__(self, logits: tuple[Tensor, ...]) -> None:
        self.logits = logits

    @property
    def device(self) -> torch.device:
        """Where the predictions are."""
        return self.logits[0].device

    def log_probabilities(self, packed: Tensor) -> Tensor:
        """How likely each of K triples is, at every position: (K,) to (..., K), nats, at least float32."""
        logs = [_precise(part).log_softmax(-1) for part in self.logits]
        return gathered(logs, components(packed))

    def losses(self, labels: Tensor) -> Tensor:
        """The negative log-probability of one triple at each position: (...) to (...), nats, at least float32."""
        aims = components(labels.long()).unbind(-1)
        pairs = zip(self.logits, aims, strict=True)
        return sum(functional.cross_entropy(_precise(part), aim, reduction="none") for part, aim in pairs)  # type: ignore[return-value]

    def best(self) -> Tensor:
        """The likeliest triple at each position, (...), packed."""
        return pack(torch.stack([part.argmax(-1) for part in self.logits], dim=-1))


class IndependentHeads(nn.Module):
    """Three heads that know nothing of each other, each over the whole vocabulary (equation 7 of the paper).

    A tied joint head (:class:`JointHead`) has the embeddings' in their place.
    """

    def __init__(self, config: PhonemicBertConfig) -> None:
        super().__init__()
        if config.output_embeddings == "tied":
            return
        self.onset = nn.Linear(config.hidden_size, config.vocab_size)
        self.rime = nn.Linear(config.hidden_size, config.vocab_size)
        self.tone = nn.Linear(config.hidden_size, config.vocab_size)

    def forward(self, hidden: Tensor) -> Predicted:
        """Hidden states (..., d) to what they predict."""
        return Predicted((self.onset(hidden), self.rime(hidden), self.tone(hidden)))


class JointlyPredicted(Predicted):
    """The predictions of the joint head for some positions.

    The probability of a triple is that of its row in the list, plus that of the class outside times the product of the
    three heads', of which the tone's is among the symbols that may end what is not in the list. So the probabilities of
    all triples, in the list or not, add up to 1.

    Arguments:
        listed: the list of S triples.
        scores: of each of them at M positions, (M, S).
        outside: the score of the class outside, (M,).
        heads: log-probabilities of onset, rime and tone outside, (M, V) each.
        shape: of what was asked about, M positions in all.
    """

    def __init__(
        self, listed: TripleList, scores: Tensor, outside: Tensor, heads: list[Tensor], shape: torch.Size
    ) -> None:
        self.listed, self.scores, self.shape = listed, scores, shape
        self.outside, self.heads = outside, heads

    @property
    def device(self) -> torch.device:
        """Where the predictions are."""
        return self.outside.device

    def total(self) -> Tensor:
        """The logarithm of the sum of the exponentials of all scores, (M,)."""
        return torch.logaddexp(self.scores.logsumexp(-1), self.outside)

    @cached_property
    def _logs(self) -> tuple[Tensor, Tensor]:
        """Log-probabilities of the triples of the list (M, S), and of the class outside (M,)."""
        total = self.total()
        return self.scores - total[:, None], self.outside - total

    @property
    def logits(self) -> tuple[Tensor, ...]:  # type: ignore[override]
        """Log-probabilities of onset, rime and tone: sums over all triples, (..., V) each."""
        rows, outside = self._logs
        likely, ids = rows.exp(), components(self.listed.packed).unbind(-1)
        totals = [(head + outside[:, None]).exp() for head in self.heads]
        totals = [total.index_add(-1, at, likely) for total, at in zip(totals, ids, strict=True)]
        return tuple(total.log().view(*self.shape, total.shape[1]) for total in totals)

    def log_probabilities(self, packed: Tensor) -> Tensor:
        """As of :class:`Predicted`."""
        rows, outside = self._logs
        at = self.listed.rows(packed)
        inside = rows[:, at.clamp(min=0)].masked_fill(at < 0, -torch.inf)
        found = torch.logaddexp(inside, outside[:, None] + gathered(self.heads, components(packed)))
        return found.view(*self.shape, len(packed))

    def losses(self, labels: Tensor, soft: Tensor | None = None) -> Tensor:
        """As of :class:`Predicted`.

        Arguments:
            labels: M packed ids.
            soft: (M, S), a part of each position's target, spread over the triples of the list, whose rows add up to at
                most 1; the rest is the label's. The triple of a row counts there as it is in the list only.
        """
        flat = labels.flatten()
        at, aims = self.listed.rows(flat), components(flat.long()).unbind(-1)
        inside = self.scores.gather(1, at.clamp(min=0)[:, None])[:, 0].masked_fill(at < 0, -torch.inf)
        parts = [head.gather(1, aim[:, None])[:, 0] for head, aim in zip(self.heads, aims, strict=True)]
        score = torch.logaddexp(inside, self.outside + torch.stack(parts).sum(0))
        if soft is not None:
            score = (1 - soft.sum(-1)) * score + (soft * self.scores).sum(-1)
        return (self.total() - score).view(labels.shape)

    def best(self) -> Tensor:
        """The likeliest triple, of the list or outside it, at each position, (...), packed."""
        rows, outside = self._logs
        score, row = rows.max(-1)
        elsewhere = outside + torch.stack([head.amax(-1) for head in self.heads]).sum(0)
        other = pack(torch.stack([head.argmax(-1) for head in self.heads], dim=-1))
        return torch.where(score >= elsewhere, self.listed.packed[row], other).view(self.shape)


class JointHead(IndependentHeads):
    """One softmax over a list of triples, and a class for all that is not in it.

    A triple's score is the dot product of a position's state and the triple's vector, which is composed as embeddings
    are: a sum of three vectors (those of the three heads) and a product of three, A[onset] * B[rime] * C[tone]. Free
    vectors, which begin at 0, are added to those of syllables.

    Tied, a triple's vector is its embedding (but for the projection's bias, which is the same for all), and the head
    has no vectors but only biases: what a syllable is read as and predicted as is learned once.
    """

    def __init__(self, config: PhonemicBertConfig) -> None:
        super().__init__(config)
        shape = (len(COMPONENTS), config.vocab_size)
        self.is_tied = config.output_embeddings == "tied"
        if self.is_tied:
            self.biases = nn.Parameter(torch.zeros(shape))
        else:
            self.tables = nn.Parameter(torch.empty(*shape, config.hidden_size))
        self.transform = BertPredictionHeadTransform(config)
        self.listed = TripleList(config)
        self.size = config.initializer_range
        syllables = self.listed.count - self.listed.triples.characters
        is_free = config.output_embeddings == "untied"
        self.free = nn.Parameter(torch.zeros(syllables, config.hidden_size)) if is_free else None
        self.outside = nn.Linear(config.hidden_size, 1)

    def reset_parameters(self) -> None:
        """Draws first weights."""
        if self.is_tied:
            nn.init.zeros_(self.biases)
        else:
            nn.init.normal_(self.tables, std=self.size)
        if self.free is not None:
            nn.init.zeros_(self.free)

    def forward(self, hidden: Tensor, embeddings: Composing | None = None) -> JointlyPredicted:
        """Hidden states (..., d) to what they predict.

        Arguments:
            hidden: the states.
            embeddings: whose vectors a tied head has.
        """
        state = self.transform(hidden.reshape(-1, hidden.shape[-1]))
        made = self._own() if embeddings is None else self._of(embeddings)
        scores = score(state, *self._listed(made))
        return JointlyPredicted(self.listed, scores, *self._elsewhere(state, made), hidden.shape[:-1])

    def vectors(self, packed: Tensor, embeddings: Composing | None = None) -> tuple[Tensor, Tensor]:
        """The vectors (K, d) and the biases (K,) of triples, listed or not.

        Arguments:
            packed: the ids of K triples.
            embeddings: whose vectors a tied head has.
        """
        made = self._own() if embeddings is None else self._of(embeddings)
        if made.more is None:
            return self._composed(made, packed)
        rows = self.listed.rows(packed)
        rows = torch.where(rows < len(made.more), rows, -1)
        more = functional.embedding(rows.clamp(min=0), made.more).masked_fill((rows < 0)[:, None], 0)
        return self._composed(made._replace(more=more), packed)

    def _listed(self, made: TripleVectors) -> tuple[Tensor, Tensor]:
        """The vectors (S, d) and biases (S,) of the triples of the list."""
        return self._composed(made, self.listed.packed)

    def _composed(self, made: TripleVectors, packed: Tensor) -> tuple[Tensor, Tensor]:
        ids = components(packed).unbind(-1)
        onset, rime, tone = (functional.embedding(at, table) for table, at in zip(made.tables, ids, strict=True))
        product = onset * rime * tone
        vectors = product if made.turn is None else functional.linear(product, made.turn)
        if made.more is not None:
            vectors = vectors + functional.pad(made.more, (0, 0, 0, len(vectors) - len(made.more)))
        for weight, at in zip(made.weights, ids, strict=True):
            # Thousands of triples share a row, and the sum of their gradients needs more than half precision.
            vectors = vectors + functional.embedding(at, _precise(weight))
        biases = torch.stack([bias.index_select(0, at) for bias, at in zip(made.biases, ids, strict=True)]).sum(0)
        return vectors, biases

    def _elsewhere(self, state: Tensor, made: TripleVectors) -> tuple[Tensor, list[Tensor]]:
        """The score of the class outside (M,), and log-probabilities of onset, rime and tone there, (M, V) each."""
        heads = [score(state, *head) for head in zip(made.weights, made.biases, strict=True)]
        heads[2] = heads[2].masked_fill(~self.listed.ends, -torch.inf)
        return _precise(self.outside(state))[:, 0], [head.log_softmax(-1) for head in heads]

    def _own(self) -> TripleVectors:
        heads = (self.onset, self.rime, self.tone)
        weights, biases = tuple(head.weight for head in heads), tuple(head.bias for head in heads)
        # as :class:`phonemic_bert.modeling.composition.Product` has them
        onset, rime, tone = self.tables / self.size
        return TripleVectors(weights, biases, (onset, rime, tone * self.size), None, self.free)

    def _of(self, embeddings: Composing) -> TripleVectors:
        product, table = embeddings.product, embeddings.table
        assert product is not None
        parts = embeddings.projection.weight.chunk(len(COMPONENTS), dim=1)
        scale = embeddings.component_scale
        weights = tuple(functional.linear(embeddings.word_embeddings.weight, part) * scale for part in parts)
        tables = tuple(product.tables / product.size)
        more = None if table is None else table.vectors
        return TripleVectors(weights, tuple(self.biases), tables, product.projection.weight * scale, more)


class TripleVectors(NamedTuple):
    """The parts of the vectors of triples: weights[onset] + weights[rime] + weights[tone] + turn(product) + more.

    Attributes:
        weights: of onsets, rimes and tones, (V, d) each.
        biases: of their scores, (V,) each.
        tables: A, B and C, whose rows are multiplied, (V, d) each.
        turn: what the product is multiplied with, (d, d); None: nothing.
        more: what is added for the first triples of the list, its syllables or all, (at most S, d).
    """

    weights: tuple[Tensor, ...]
    biases: tuple[Tensor, ...]
    tables: tuple[Tensor, ...]
    turn: Tensor | None
    more: Tensor | None


def score(state: Tensor, vectors: Tensor, biases: Tensor) -> Tensor:
    """Dot products of states (M, d) and vectors (S, d), plus biases (S,): (M, S), at least float32."""
    return _precise(functional.linear(state, vectors.to(state.dtype), biases.to(state.dtype)))


def gathered(logs: list[Tensor], parts: Tensor) -> Tensor:
    """The sum of three log-probabilities, (..., V) each, for K triples of component ids (K, 3): (..., K)."""
    return torch.stack([log[..., ids] for log, ids in zip(logs, parts.unbind(-1), strict=True)]).sum(0)


def _precise(logits: Tensor) -> Tensor:
    return logits.to(torch.promote_types(logits.dtype, torch.float32))
