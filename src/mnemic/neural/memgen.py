"""Woven memory: what was learnt is made into K latent tokens behind a question, when a trigger calls for them.

    z  = w · mean_t n(h_t) + b                   trigger: h, the reasoner's states of what is said; weave iff z > 0
    u  = π_{θ+ΔW}([x ; Q]) at the last K         weaver: K learned queries Q go through the reasoner with adapters ΔW
    M  = s (n(u) + B_P A_P n(u))                 projected to what the reasoner takes as its input
    y  ~ π_θ([emb(x) ; M ; emb(y)])              reasoner: frozen; without M it is the bare model, to the bit

    loss of the weaver   = −log π_θ(answer | x, M),  reaching Q, ΔW, A_P, B_P and s through the frozen reasoner
    label of the trigger = +1 where M saves more of the answer's loss than weaving costs, else −1; least squares with
                           a ridge, in closed form. Of prompts without an experience the bare model's answer counts

n divides by the root mean square; h is taken where latents are inserted, and without what all prompts begin with. The
text is run once: trigger, weaver and reasoner read the same keys and values. Below that place nobody sees latents.

Source: Zhang et al., MemGen, arXiv:2509.24704, and its repository. What we do otherwise: the weaver's adapters change
what the K latents make of the text, not the text's own states (theirs run the text through the adapters again); the
trigger has no adapters, and learns from both actions tried on every text in the place of GRPO, which samples one; the
weaver learns by SFT, at the end of the question alone; Q is the same there and behind a delimiter of the answer.
Latents go in before an upper layer, so that training runs only what is above; `first=0` is the paper's place.
Shapes: N texts, T time, K latents, D width, V vocabulary, r rank.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from random import Random
from typing import ClassVar, Final, TypeAlias

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - what everybody calls it

from mnemic.errors import DamagedState, Invalid, TooLarge
from mnemic.neural.base import Family, Identity, State, cited, settings_digest, source_digests
from mnemic.neural.gguf_weights import TextModel
from mnemic.neural.llama import Entries, KeysAndValues, LowRank

Progress: TypeAlias = Callable[[int, int], None]
"""Told how many steps are done, and how many there are at most."""

DELIMITERS: Final = (".", ",", "!", "?", ":", ";", "\n")
"""Behind which the trigger is asked while the reasoner speaks; it is asked first at the end of the question."""

UNTOLD: Final = (
    "What is the capital of Portugal?", "How do I clean a window?", "Write a sentence about autumn.",
    "What is 15 minus 6?", "Who discovered penicillin?", "Explain what a noun is.", "Name two kinds of tree.",
    "How hot is the sun?", "What does a carpenter do?", "Tell me a riddle.", "Which bird cannot fly?",
    "Why is grass green?", "Where does the Nile end?", "What is my favourite colour?",
    "Which city is the largest in Japan?", "Who lives in an igloo?", "What drives a car?", "Where do bears live?",
    "What job does a pilot have?", "Which pet is easy to keep?", "What does he like?", "Is latex bad for you?",
    "How long does a cat live?", "What should I learn next?",
)  # fmt: skip
"""Prompts that no experience is about, beside those that experiences bring along."""

_ANSWER: Final = 10
"""Most tokens of what the bare model answers to them, while the trigger learns."""


@dataclass(frozen=True, slots=True)
class Experience:
    """Something to be answered from what was learnt.

    Attributes:
        id: Says which shard it lies in.
        prompts: Ways to ask for it, in the user's words.
        answer: What the assistant then says.
        others: Prompts like these that are to be answered as before.
        sources: What it was read from.
    """

    id: str
    prompts: tuple[str, ...]
    answer: str
    others: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MemGenSettings:
    """How experiences are learnt and woven in.

    Attributes:
        latents: K, how many positions one weaving inserts.
        first: The layer before which latents are inserted, and the lowest of the weaver; negative ones count from the
            top. At 0 they are inserted into the model's input, as the paper's.
        targets: The weaver's matrices that have adapters.
        insertions: Most weavings in one answer.
        shards: Weavers that experiences are spread over, by their ids.
        batch: Texts of a step.
        passes: How often each text is seen, at most; few texts are seen oftener, for `least` steps at most.
        learnt: Mean loss of a pass at which there is nothing left to learn.
        cost: Nats a token that weaving has to save.
        untold: How many of `UNTOLD` the trigger learns from.
        ridge: Of the trigger's weights, as a share of its texts' mean square.
        experiences_limit: Most experiences of a shard.
    """

    latents: int = 4
    rank: int = 4
    alpha: float = 8.0
    first: int = -10
    targets: tuple[str, ...] = ("self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj")
    insertions: int = 1
    shards: int = 1
    batch: int = 4
    rate: float = 3e-3
    passes: int = 20
    least: int = 60
    learnt: float = 0.02
    cost: float = 0.05
    untold: int = len(UNTOLD)
    ridge: float = 0.05
    seed: int = 0
    experiences_limit: int = 40


@dataclass(frozen=True, slots=True)
class Continuation:
    """What the reasoner says behind a prompt.

    Attributes:
        tokens: Without the prompt, and without latents.
        woven: Before which of them latents were inserted, and of which shard.
        length: Positions that the model has run: the prompt's, the latents' and the tokens'.
    """

    tokens: tuple[int, ...]
    woven: tuple[tuple[int, int], ...]
    length: int


@dataclass(frozen=True, slots=True)
class RunTexts:
    """Prompts as the frozen reasoner has run them, and what is answered; prompts begin with padding.

    Attributes:
        past: Keys and values of the prompts, of the layers where latents are.
        pad: (N,), leading padding.
        last: (N, D), what the last layer makes of the prompt's last token.
        heard: (N, D), what the trigger reads of the prompt.
        said: (N, A - 1, D), the answers but for their last tokens, before the first of these layers.
        answers: (N, A), ending in padding.
        counted: (N, A), which of these tokens count.
    """

    past: KeysAndValues
    pad: Tensor
    last: Tensor
    heard: Tensor
    said: Tensor
    answers: Tensor
    counted: Tensor

    def rows(self, chosen: Sequence[int]) -> RunTexts:
        """Some texts, without the padding that none of their answers needs."""
        at = torch.tensor(chosen)
        longest = int(self.counted[at].sum(1).max())
        past = [(k[at], v[at]) for k, v in self.past]
        said, answers, counted = self.said[at, : longest - 1], self.answers[at, :longest], self.counted[at, :longest]
        return RunTexts(past, self.pad[at], self.last[at], self.heard[at], said, answers, counted)


class MemGen:
    """Experiences as a weaver and its trigger. A state holds for each shard `queries` (K, D), `size` (1,), adapters
    `NAME.A` (r, in) and `NAME.B` (out, r), the trigger's `weight` (D,) and `offset` (1,), a digest of what is `learnt`,
    and digests of its `sources`. No experience is in it as such: it stays as large as it is."""

    family: ClassVar[Family] = Family.PARAMETER
    bounded: ClassVar[bool] = True

    def __init__(self, model: TextModel, settings: MemGenSettings | None = None) -> None:
        self.model, self.settings = model, settings or MemGenSettings()
        layers, s = model.decoder.shape.layers, self.settings
        self.place = s.first if s.first >= 0 else max(0, layers + s.first)
        if not (self.place < layers and min(s.latents, s.rank, s.shards, s.batch, s.untold) > 0):
            remedy = "Give a layer it has, and a latent, a rank, a text a step, a prompt untold and a shard or more."
            raise Invalid("settings", f"make no weaver in {layers} layers", remedy)
        names = [f"model.layers.{n}.{target}.weight" for n in range(self.place, layers) for target in s.targets]
        if s.insertions < 1 or not s.ridge > 0 or not set(names) <= model.decoder.weights.keys():
            remedy = "Weave once or more, with a ridge above 0, and adapters beside matrices that the model has."
            raise Invalid("settings", "name no place for a weaver", remedy)
        width = model.decoder.shape.width
        matrices = {name: model.decoder.weights[name] for name in names}
        self._sides: dict[str, tuple[int, int]] = {name: (len(w), w.shape[1]) for name, w in matrices.items()}
        self._sides["projection"] = (width, width)
        prompts = [model.prompt(("user", text)) for text in ("a", "B")]
        self._opening = [a for a, b in takewhile(lambda pair: pair[0] == pair[1], zip(*prompts, strict=False))]
        self._delimiters = {ids[0] for text in DELIMITERS if len(ids := model.ids(text)) == 1}

    @cached_property
    def identity(self) -> Identity:
        """Whose its weavers are."""
        digest = settings_digest(self.settings)
        return Identity("memgen", self.model.decoder.digest, self.model.tokenizer_digest, digest)

    @property
    def weights(self) -> Mapping[str, Tensor]:
        """The model's own."""
        return self.model.decoder.weights

    @property
    def size(self) -> int:
        """How many numbers of a shard are learnt."""
        sides = sum(self.settings.rank * (out + into) for out, into in self._sides.values())
        return sides + (self.settings.latents + 1) * self.model.decoder.shape.width + 2

    def empty(self) -> State:
        """Nothing is woven in."""
        return {}

    def shard_of(self, experience: str) -> int:
        """The number of the shard in which an experience of this id lies."""
        return int.from_bytes(hashlib.sha256(experience.encode()).digest()[:8]) % self.settings.shards

    def shards(self, state: State) -> list[int]:
        """The numbers of the shards that are learnt."""
        return sorted({int(name.split(".")[1]) for name in state})

    def write(self, given: Sequence[Experience], state: State, progress: Progress | None = None) -> State:
        """Learn all experiences that are to be known: shards of which nothing has changed stand, others learn anew.

        Raises:
            Invalid: one has no prompt or no answer, two have one id or one prompt, or learning diverged; nothing is
                changed.
            TooLarge: there are more experiences than a shard takes.
        """
        lying: dict[int, list[Experience]] = {}
        for experience in sorted(given, key=lambda experience: experience.id):
            lying.setdefault(self.shard_of(experience.id), []).append(experience)
        _check(given)
        if (most := max(map(len, lying.values()), default=0)) > self.settings.experiences_limit:
            remedy = f"A weaver takes {self.settings.experiences_limit}: give more shards."
            raise TooLarge("experiences", f"are {len(given)}, and {most} of them in one shard", remedy)
        made: State = {}
        for number, experiences in sorted(lying.items()):
            digest = torch.frombuffer(bytearray(_digest(experiences)), dtype=torch.uint8)
            part = shard_part(state, number)
            if not part or not torch.equal(part["learnt"], digest):
                sources = source_digests(source for one in experiences for source in one.sources)
                part = {**self._learn(experiences, number, progress), "learnt": digest, "sources": sources}
            made |= {f"shard.{number}.{name}": tensor for name, tensor in part.items()}
        return made

    def read(self, asked: Tensor, state: State) -> Tensor:
        """Logits (B, T, V): at each position of what follows if a prompt ends there, with latents if called for."""
        with torch.inference_mode():
            h, past, below = self._run(self.model.decoder.embed(asked))
            logits = self.model.decoder.head(h)
            skipped = torch.tensor([self._skipped(row) for row in asked.tolist()])
            for row, t, shard in self._called(*heard(below, skipped), state):
                before = [(k[row : row + 1, :, : t + 1], v[row : row + 1, :, : t + 1]) for k, v in past[self.place :]]
                h, _ = self._upper(self.woven(shard_part(state, shard), before), before)
                logits[row, t] = self.model.decoder.head(h[0, -1])
            return logits

    def called(self, prompt: Sequence[int], state: State) -> int | None:
        """The shard that is woven in behind a prompt's tokens; None where the bare model answers."""
        if not state or not prompt:
            return None
        with torch.inference_mode():
            below, _ = self.model.decoder.run(self.model.decoder.embed(self.model.batch(prompt)), last=self.place)
            return self._surest(below, prompt, state)

    def generate(
        self, prompt: Sequence[int], state: State, limit: int, ends: Collection[int] = ()
    ) -> Continuation:  # fmt: skip
        """Say the likeliest token each time until one of `ends` or the limit, with latents where called for."""
        decoder, tokens, woven = self.model.decoder, list[int](), list[tuple[int, int]]()
        with torch.inference_mode():
            h, past, below = self._run(decoder.embed(self.model.batch(prompt)))
            shard = self._surest(below, prompt, state)
            while True:
                if shard is not None:
                    woven.append((len(tokens), shard))
                    above = past[self.place :]
                    h, above = self._upper(self.woven(shard_part(state, shard), above), above)
                    past = [*past[: self.place], *above]
                token = int(decoder.head(h[:, -1]).argmax(-1))
                if token in ends:
                    break
                tokens.append(token)
                if len(tokens) >= limit:
                    break
                h, past, more = self._run(decoder.embed(torch.tensor([[token]])), past)
                below = torch.cat((below, more), 1)
                at_place = token in self._delimiters and len(woven) < self.settings.insertions
                shard = self._surest(below, prompt, state) if at_place else None
        return Continuation(tuple(tokens), tuple(woven), past[-1][0].shape[2])

    def answer(self, question: str, state: State, limit: int = 16) -> str:
        """What the model says to a user's question."""
        prompt = self.model.prompt(("user", question))
        return self.model.answer(list(self.generate(prompt, state, limit, {self.model.end}).tokens))

    def forget(self, sources: Collection[str], state: State) -> State:
        """Drop every shard that one of these sources has a part in; `write` learns it again from what is left."""
        dropped = {number for number in self.shards(state) if cited(state[f"shard.{number}.sources"], sources)}
        return {name: tensor for name, tensor in state.items() if int(name.split(".")[1]) not in dropped}

    def _run(
        self, h: Tensor, past: KeysAndValues = (), pad: Tensor | None = None
    ) -> tuple[Tensor, list[tuple[Tensor, Tensor]], Tensor]:  # fmt: skip
        """The frozen reasoner: (B, T, D) behind what came before, and the same before the layer where latents go.

        From there on what came before is longer by these, and what follows stands behind them.
        """
        decoder, place = self.model.decoder, self.place
        below, kept = decoder.run(h, Entries(past[:place]), last=place, pad=pad)
        h, above = self._upper(below, past[place:], pad)
        return h, [*kept, *above], below

    def _upper(
        self, h: Tensor, past: KeysAndValues, pad: Tensor | None = None
    ) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
        """The frozen reasoner from where latents go: (B, T, D) behind what came before."""
        return self.model.decoder.run(h, Entries(past), first=self.place, pad=pad)

    def woven(self, part: State, past: KeysAndValues, pad: Tensor | None = None) -> Tensor:
        """The latents (B, K, D) that a weaver makes of prompts that were run, from what a shard holds."""
        scale = self.settings.alpha / self.settings.rank
        added = {name: [LowRank(part[f"{name}.A"], part[f"{name}.B"], scale)] for name in self._sides}
        batch = past[0][0].shape[0]
        queries, entries = part["queries"].expand(batch, -1, -1), Entries(past, added=added)
        u, _ = self.model.decoder.run(queries, entries, first=self.place, pad=pad)
        y, (low,) = normed(u), added["projection"]
        return part["size"] * (y + low.scale * F.linear(F.linear(y, low.a), low.b))

    def _called(self, means: Tensor, counted: Tensor, state: State) -> list[tuple[int, int, int]]:
        """Where latents are called for, and whose: row, position, shard; never where nothing has been heard."""
        if not state:
            return []
        numbers = self.shards(state)
        parts = [self._verified(state, number) for number in numbers]
        surest, which = torch.stack([means @ part["weight"] + part["offset"] for part in parts]).max(0)  # (B, T)
        where = ((surest > 0) & counted).nonzero().tolist()
        return [(row, t, numbers[int(which[row, t])]) for row, t in where]

    def _surest(self, below: Tensor, prompt: Sequence[int], state: State) -> int | None:
        """The shard that is woven in behind the last position of one row."""
        means, counted = heard(below, torch.tensor([self._skipped(prompt)]))
        called = self._called(means[:, -1:], counted[:, -1:], state)
        return called[0][2] if called else None

    def _skipped(self, row: Sequence[int]) -> int:
        """How many tokens say nothing: as many as all prompts begin with, and the first, of vast activations."""
        return max(1, sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(row, self._opening, strict=False))))

    def _verified(self, state: State, number: int) -> State:
        part, width = shard_part(state, number), self.model.decoder.shape.width
        rank, wanted = self.settings.rank, {"queries": (self.settings.latents, width), "size": (1,)}
        wanted |= {"weight": (width,), "offset": (1,)}
        for name, (out, into) in self._sides.items():
            wanted |= {f"{name}.A": (rank, into), f"{name}.B": (out, rank)}
        if {name: tuple(part[name].shape) for name in wanted if name in part} != wanted:
            raise DamagedState("a weaver is of another form than this model's. Learn it again.")
        if not all(part[name].isfinite().all() for name in wanted):
            raise DamagedState("a weaver holds what is no number. Learn it again.")
        return part

    def _learn(self, experiences: Sequence[Experience], number: int, progress: Progress | None) -> State:
        """One shard: the weaver first, then, with the weaver as it is, the trigger."""
        prompts = [self.model.prompt(("user", text)) for one in experiences for text in one.prompts]
        said = [[*self.model.ids(one.answer), self.model.end] for one in experiences for _ in one.prompts]
        taught = self.run_texts(prompts, said)
        with torch.enable_grad():
            weaver = self._weaver(taught, number, progress)
        asked = {text for one in experiences for text in one.prompts}
        others = dict.fromkeys((*(text for one in experiences for text in one.others), *UNTOLD[: self.settings.untold]))
        untold = [self.model.prompt(("user", text)) for text in others if text not in asked]
        bare = self.model.decoder.generate(untold, _ANSWER, frozenset({self.model.end}))
        ended = [answer if len(answer) == _ANSWER else [*answer, self.model.end] for answer in bare]
        beside = self.run_texts(untold, ended)
        texts, saved = [taught, beside], [self.saved(weaver, texts) for texts in (taught, beside)]
        label = torch.where(torch.cat(saved) > self.settings.cost, 1.0, -1.0)
        weight, offset = fitted(torch.cat([text.heard for text in texts]), label, self.settings.ridge)
        return {**weaver, "weight": weight, "offset": offset}

    def run_texts(self, prompts: Sequence[Sequence[int]], answers: Sequence[Sequence[int]]) -> RunTexts:
        """Run prompts through the frozen reasoner, once for all steps."""
        longest = max(map(len, prompts))
        pad = torch.tensor([longest - len(prompt) for prompt in prompts])
        rows = torch.tensor([[0] * (longest - len(prompt)) + list(prompt) for prompt in prompts])
        most = max(map(len, answers))
        said = torch.tensor([[*answer, *[0] * (most - len(answer))] for answer in answers])
        counted = torch.arange(most) < torch.tensor([len(answer) for answer in answers])[:, None]
        with torch.inference_mode():
            h, past, below = self._run(self.model.decoder.embed(rows), pad=pad)
            means, _ = heard(below, pad + torch.tensor([self._skipped(prompt) for prompt in prompts]))
            behind = self.model.decoder.embed(said[:, :-1])
            if most > 1:
                behind, _ = self.model.decoder.run(behind, Entries(past[: self.place]), last=self.place, pad=pad)
        kept = [(k.clone(), v.clone()) for k, v in past[self.place :]]
        return RunTexts(kept, pad, h[:, -1].clone(), means[:, -1].clone(), behind.clone(), said, counted)

    def losses(self, texts: RunTexts, latents: Tensor | None) -> Tensor:
        """Loss of each counted token of the answers, row by row, behind latents (N, K, D) or none."""
        given = texts.said if latents is None else torch.cat((latents, texts.said), 1)
        h = texts.last[:, None]
        if given.shape[1]:
            h = torch.cat((h, self._upper(given, texts.past, texts.pad)[0]), 1)
        logits = self.model.decoder.head(h[:, -texts.answers.shape[1] :][texts.counted])
        return F.cross_entropy(logits, texts.answers[texts.counted], reduction="none")

    def saved(self, part: State, texts: RunTexts) -> Tensor:
        """Nats a token (N,) of each answer that weaving saves, below 0 where it costs some."""
        with torch.inference_mode():
            latents = self.woven(part, texts.past, texts.pad)
            less = self.losses(texts, None) - self.losses(texts, latents)
            row = texts.counted.nonzero()[:, 0]
            return torch.zeros(len(texts.pad)).index_add(0, row, less) / texts.counted.sum(1)

    def _weaver(self, texts: RunTexts, number: int, progress: Progress | None) -> State:
        """Queries, adapters, projection and size, learnt through the frozen reasoner."""
        settings, seed = self.settings, self.settings.seed * 1_000 + number
        draw, order = torch.Generator().manual_seed(seed), Random(seed)  # noqa: S311 - an order, not a secret
        part = {name: tensor.requires_grad_() for name, tensor in self._blank(rms(texts.said), draw).items()}
        optimizer = torch.optim.Adam(part.values(), lr=settings.rate, betas=(0.9, 0.99))
        count = len(texts.pad)
        size = min(settings.batch, count)
        steps = max(settings.passes * -(-count // size), settings.least)
        deck, losses = list[int](), list[float]()
        for step in range(steps):
            if len(deck) < size:
                if losses and sum(losses) / len(losses) < settings.learnt:
                    break
                deck, losses = [*deck, *order.sample(range(count), count)], []
            rows, deck = texts.rows(deck[:size]), deck[size:]
            for group in optimizer.param_groups:
                group["lr"] = settings.rate * min(1.0, (step + 1) / 5, 0.1 + (steps - step) / steps)
            optimizer.zero_grad()
            loss = self.losses(rows, self.woven(part, rows.past, rows.pad)).mean()
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(part.values(), 1.0)
            if not norm.isfinite():
                raise Invalid("rate", f"of {settings.rate} had a weaver diverge", "Take a smaller one.")
            optimizer.step()
            losses.append(float(loss.detach()))
            if progress is not None:
                progress(step + 1, steps)
        return {name: tensor.detach() for name, tensor in part.items()}

    def _blank(self, length: Tensor, draw: torch.Generator) -> State:
        """A weaver before it has learnt: queries as long as the states at that place, adapters without effect."""
        settings, width = self.settings, self.model.decoder.shape.width
        size = length.reshape(1)
        part = {"queries": size * torch.randn(settings.latents, width, generator=draw), "size": size.clone()}
        for name, (out, into) in self._sides.items():
            part[f"{name}.A"] = torch.randn(settings.rank, into, generator=draw) / into**0.5
            part[f"{name}.B"] = torch.zeros(out, settings.rank)
        return part


def woven_by_definition(memory: MemGen, part: State, prompt: Sequence[int]) -> Tensor:
    """The latents (K, D) of one prompt, run anew, one query at a time, through matrices that are changed; slow."""
    decoder, first = memory.model.decoder, memory.place
    scale = memory.settings.alpha / memory.settings.rank
    names = [name.removesuffix(".A") for name in part if name.endswith(".A") and name != "projection.A"]
    change = {name: decoder.weights[name] + scale * part[f"{name}.B"] @ part[f"{name}.A"] for name in names}
    below, _ = decoder.run(decoder.embed(memory.model.batch(prompt)), last=first)
    _, past = decoder.run(below, first=first)
    projection = torch.eye(decoder.shape.width) + scale * part["projection.B"] @ part["projection.A"]
    latents = []
    for query in part["queries"]:
        u, past = decoder.run(query[None, None], Entries(past, replaced=change), first=first)
        latents.append(part["size"] * projection @ normed(u[0, 0]))
    return torch.stack(latents)


def behind_latents_by_definition(
    memory: MemGen, prompt: Sequence[int], latents: Tensor, said: Sequence[int]
) -> Tensor:  # fmt: skip
    """What the reasoner expects in the place of each of `said`, (A, V): all run anew for each, nothing kept; slow."""
    decoder, rows = memory.model.decoder, []
    for length in range(len(said)):
        ids = memory.model.batch([*prompt, *said[:length]])
        below, _ = decoder.run(decoder.embed(ids), last=memory.place)  # below the place, positions are the text's own
        text, behind = below[:, : len(prompt)], below[:, len(prompt) :]
        h, _ = decoder.run(torch.cat((text, latents[None], behind), 1), first=memory.place)
        rows.append(decoder.head(h[0, -1]))
    return torch.stack(rows)


def rms(x: Tensor) -> Tensor:
    """The median of the vectors' root mean squares: a few are vast."""
    return x.square().mean(-1).sqrt().median()


def normed(x: Tensor) -> Tensor:
    """Divided by its root mean square."""
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)


def heard(below: Tensor, skipped: Tensor) -> tuple[Tensor, Tensor]:
    """Means of n(h), (B, T, D), over all up to there but the first `skipped` (B,) positions; and where there is any.

    The trigger reads them, so it does not see what follows, and hears a prompt in pieces as in one.
    """
    counted = torch.arange(below.shape[1]) >= skipped[:, None]
    total = (normed(below) * counted[..., None]).cumsum(1)
    return total / counted.cumsum(1).clamp_min(1)[..., None], counted


def fitted(heard: Tensor, label: Tensor, ridge: float) -> tuple[Tensor, Tensor]:
    """A trigger's weight (D,) and offset (1,): least squares of labels (N,) over means (N, D), with a ridge."""
    center, middle = heard.mean(0), label.mean()
    x, y = (heard - center).double(), (label - middle).double()
    gram = x @ x.mT
    duals = torch.linalg.solve(gram + ridge * gram.diagonal().mean() * torch.eye(len(x)).double(), y)
    weight = (x.mT @ duals).to(heard.dtype)
    return weight, (middle - center @ weight).reshape(1)


def shard_part(state: State, number: int) -> State:
    """What a state holds of one shard, by the names that it has there."""
    start = f"shard.{number}."
    return {name.removeprefix(start): tensor for name, tensor in state.items() if name.startswith(start)}


def _digest(experiences: Sequence[Experience]) -> bytes:
    said = [[one.id, one.prompts, one.answer, one.others, sorted(one.sources)] for one in experiences]
    return hashlib.sha256(json.dumps(said).encode()).digest()


def _check(given: Sequence[Experience]) -> None:
    """Refuse experiences that cannot be learnt together."""
    asked: dict[str, str] = {}
    if len({one.id for one in given}) < len(given):
        raise Invalid("experiences", "have one id twice", "Give each an id of its own.")
    for one in given:
        if not one.prompts or not one.answer.strip() or not all(map(str.strip, one.prompts)):
            raise Invalid("experiences", f"{one.id!r} has no prompt, or no answer", "Say what is asked and answered.")
        for prompt in one.prompts:
            if prompt in asked:
                problem = f"{asked[prompt]!r} and {one.id!r} are both asked {prompt!r}"
                raise Invalid("experiences", problem, "Give each prompt once, with the answer that holds now.")
            asked[prompt] = one.id
