"""One choice among all pairs of a triple and a written form."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor, nn
from torch.nn import functional

from phonemic.inventory import FORM_SHIFT, TRIPLE
from phonemic_bert.configuration import PhonemicBertConfig
from phonemic_bert.modeling.composition import Composing, components, pack
from phonemic_bert.modeling.heads import JointHead, JointlyPredicted, Predicted, gathered, score
from phonemic_bert.modeling.lists import PairList, TripleList


class PairsPredicted(Predicted):
    """Predictions of a softmax over pairs for some positions.

    A pair of the list has its own probability. A triple in forms that are not listed has that of the class outside
    times the product of the three heads', as in :class:`phonemic_bert.modeling.heads.JointlyPredicted`. So the
    probabilities of all pairs and of all triples in unlisted forms add up to 1, and a triple's is the sum over its
    forms.

    Arguments:
        listed: the list of S triples.
        pairs: the list of P pairs.
        scores: of each pair at M positions, (M, P).
        elsewhere: the score of the class outside (M,), and log-probabilities of onset, rime and tone there, (M, V)
            each.
        shape: of what was asked about, M positions in all.
    """

    def __init__(
        self,
        listed: TripleList,
        pairs: PairList,
        scores: Tensor,
        elsewhere: tuple[Tensor, list[Tensor]],
        shape: torch.Size,
    ) -> None:
        self.listed, self.pairs, self.scores, self.shape = listed, pairs, scores, shape
        self.outside, self.heads = elsewhere

    @property
    def device(self) -> torch.device:
        """Where the predictions are."""
        return self.outside.device

    @cached_property
    def triples(self) -> JointlyPredicted:
        """Predictions of triples, whatever their form: sums over pairs."""
        sums = _summed(self.scores, self.pairs)
        return JointlyPredicted(self.listed, sums, self.outside, self.heads, self.shape)

    @property
    def logits(self) -> tuple[Tensor, ...]:  # type: ignore[override]
        """Log-probabilities of onset, rime and tone, whatever the form: sums over all pairs, (..., V) each."""
        return self.triples.logits

    def total(self) -> Tensor:
        """The logarithm of the sum of the exponentials of all scores, (M,)."""
        return torch.logaddexp(self.scores.logsumexp(-1), self.outside)

    def _members(self, triples: Tensor) -> Tensor:
        """The scores of the pairs of one triple at each position, (M, W), minus infinity where it has no more."""
        rows, inside = self.pairs.members(triples)
        return self.scores.gather(1, rows).masked_fill(~inside, -torch.inf)

    def losses(self, labels: Tensor, soft: Tensor | None = None) -> Tensor:
        """The negative log-probability of one pair at each position: (...) to (...), nats, at least float32.

        Arguments:
            labels: M packed ids; without a form it is that of the triple, in whatever form.
            soft: as of :meth:`phonemic_bert.modeling.heads.JointlyPredicted.losses`, over triples.
        """
        flat = labels.flatten().long()
        at = self.listed.rows(flat)
        own = self.pairs.rows(flat, at)
        aims = components(flat).unbind(-1)
        parts = [head.gather(1, aim[:, None])[:, 0] for head, aim in zip(self.heads, aims, strict=True)]
        elsewhere = self.outside + torch.stack(parts).sum(0)
        members = self._members(at)
        place = (own - self.pairs.begins[at.clamp(min=0)]).clamp(min=0)
        pair = members.gather(1, place[:, None])[:, 0]
        heard = torch.logaddexp(members.logsumexp(-1), elsewhere)
        found = torch.where(own >= 0, pair, torch.where(flat >> FORM_SHIFT == 0, heard, elsewhere))
        if soft is not None:
            found = (1 - soft.sum(-1)) * found + (soft * self.triples.scores).sum(-1)
        return (self.total() - found).view(labels.shape)

    def log_probabilities(self, packed: Tensor) -> Tensor:
        """How likely each of K pairs is, at every position: (K,) to (..., K), nats, at least float32.

        Arguments:
            packed: the ids; of one without a form it is how likely the triple is, in whatever form.
        """
        flat = packed.long()
        at = self.listed.rows(flat)
        own, total = self.pairs.rows(flat, at), self.total()[:, None]
        inside = (self.scores - total)[:, own.clamp(min=0)]
        elsewhere = self.outside[:, None] - total + gathered(self.heads, components(flat))
        found = torch.where(own >= 0, inside, elsewhere).view(*self.shape, len(flat))
        return torch.where(flat >> FORM_SHIFT == 0, self.triples.log_probabilities(flat & TRIPLE), found)

    def best(self) -> Tensor:
        """The likeliest pair at each position, (...), packed; a triple in a form that is not listed is without one."""
        best, row = self.scores.max(-1)
        elsewhere = self.outside + torch.stack([head.amax(-1) for head in self.heads]).sum(0)
        other = pack(torch.stack([head.argmax(-1) for head in self.heads], dim=-1))
        return torch.where(best >= elsewhere, self.pairs.packed[row], other).view(self.shape)


class ConditionallyPredicted(PairsPredicted):
    """The same from a softmax over triples, and one over the forms of the triple: a pair's probability is a product.

    Arguments:
        triples: what is said of triples in listed forms, scores (M, S).
        pairs: the list of P pairs.
        forms: the scores of the forms, (M, K).
        rows: the row of each pair's form in these, (P,).
        biases: of the pairs, (P,).
    """

    def __init__(self, triples: JointlyPredicted, pairs: PairList, forms: Tensor, rows: Tensor, biases: Tensor) -> None:
        self.triples = triples
        self.listed, self.pairs, self.shape = triples.listed, pairs, triples.shape
        self.outside, self.heads = triples.outside, triples.heads
        self._forms, self._rows, self._biases = forms, rows, biases

    @cached_property
    def scores(self) -> Tensor:  # type: ignore[override]
        """Scores of each pair at M positions, (M, P)."""
        given = self._forms[:, self._rows] + self._biases
        return (self.triples.scores - _summed(given, self.pairs))[:, self.pairs.triples] + given

    def total(self) -> Tensor:
        """As of :class:`PairsPredicted`."""
        return self.triples.total()

    def _members(self, triples: Tensor) -> Tensor:
        rows, inside = self.pairs.members(triples)
        given = self._forms.gather(1, self._rows[rows]) + self._biases[rows]
        given = given.masked_fill(~inside, -torch.inf)
        whole = self.triples.scores.gather(1, triples.clamp(min=0)[:, None])
        shares = given - given.logsumexp(-1, keepdim=True)
        return (whole + shares).masked_fill(~inside, -torch.inf)


class PairHead(JointHead):
    """One softmax over pairs of a triple and a form, or one over triples and one over the forms of each.

    A pair's score is the dot product of a position's state and the sum of the triple's vector and the form's, both of
    them the embeddings', plus biases of the components and of the pair.

    Arguments:
        config: ``forms`` says which.
    """

    def __init__(self, config: PhonemicBertConfig) -> None:
        super().__init__(config)
        self.conditional = config.forms == "conditional"
        self.pairs = PairList(config)
        self.form_biases = nn.Parameter(torch.zeros(self.pairs.count))

    def reset_parameters(self) -> None:
        """Draws first weights."""
        super().reset_parameters()
        nn.init.zeros_(self.form_biases)

    def forward(self, hidden: Tensor, embeddings: Composing | None = None) -> PairsPredicted:  # type: ignore[override]
        """Hidden states (..., d) to what they predict.

        Arguments:
            hidden: the states.
            embeddings: whose vectors the head has.
        """
        assert embeddings is not None
        assert embeddings.forms is not None
        state, shape = self.transform(hidden.reshape(-1, hidden.shape[-1])), hidden.shape[:-1]
        made = self._of(embeddings)
        vectors, biases = self._listed(made)
        elsewhere = self._elsewhere(state, made)
        forms, rows = embeddings.forms.table(), embeddings.forms.rows(self.pairs.packed)
        if self.conditional:
            triples = JointlyPredicted(self.listed, score(state, vectors, biases), *elsewhere, shape)
            given = score(state, forms, torch.zeros_like(forms[:, 0]))
            return ConditionallyPredicted(triples, self.pairs, given, rows, self.form_biases)
        at = self.pairs.triples
        both = functional.embedding(at, vectors) + functional.embedding(rows, forms)
        scores = score(state, both, biases[at] + self.form_biases)
        return PairsPredicted(self.listed, self.pairs, scores, elsewhere, shape)


def _summed(scores: Tensor, pairs: PairList) -> Tensor:
    """The logarithm of the sum of the exponentials of the scores of each triple's pairs: (M, P) to (M, S)."""
    sums = scores.new_zeros(len(scores), len(pairs.begins) - 1)
    lowest = torch.full_like(sums, -torch.inf)
    highest = lowest.scatter_reduce(1, pairs.triples.expand_as(scores), scores.detach(), "amax")
    sums = sums.index_add(1, pairs.triples, (scores - highest[:, pairs.triples]).exp())
    return sums.log() + highest
