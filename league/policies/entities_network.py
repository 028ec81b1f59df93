"""The network `policy=entities`: attention over a set of entities, of which any number may be there.

It follows the contract of league.policies.network, as a network of your own would.

Legend of shapes: B decisions, E entities (rows of the observation), F numbers of each, W numbers of each token,
T = 1 + E tokens: first that of the whole position, then the entities. The order of entities means nothing.
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot, scaled_dot_product_attention

from league.policies.blueprint import NetworkError
from league.policies.network import NetworkInput, NetworkOutput, NetworkShape, leaves_of
from league.policies.part_encoder import LARGEST_WIDTH, MOST_DEEP, PartsEncoder
from league.spec import ObservationPart

ROWS_PRESENT, AGENTS_PRESENT = "rows", "agents"


@dataclass(kw_only=True)
class EntitiesConfig:
    """The settings of `policy=entities`: `policy.kwargs.width=128` changes one."""

    entities: str = ""  # the part with a row for each entity, such as "units" or "0.units"; "": the only one of 2 axes
    presence: str = ROWS_PRESENT  # "rows": rows of zeros are absent; "agents": rows are agents of the seat; or a part
    pointing: bool = False  # whether the first options of an action are the entities, one for each row
    width: int = 64  # numbers of each token
    heads: int = 4  # of the attention
    blocks: int = 2  # of attention and two layers each
    filters: list[list[int]] = field(default_factory=list)  # of images in other parts: see policy=structured
    agent_id: bool = False  # one more part: which agent of its seat it acts for

    def __post_init__(self) -> None:
        """Raise ValueError for impossible sizes."""
        if min(self.width, self.heads, self.blocks) < 1 or self.width % self.heads:
            raise ValueError(f"width {self.width} must be a multiple of heads {self.heads}, and blocks at least 1")
        if self.width > LARGEST_WIDTH // 4 or max(self.blocks, len(self.filters)) > MOST_DEEP:
            raise ValueError(
                f"at most {LARGEST_WIDTH // 4:,} numbers of a token, {MOST_DEEP} blocks and convolutions are possible"
            )


class Entities(nn.Module):
    """Entities and the whole position attend to one another; other parts of the observation belong to the position."""

    Config = EntitiesConfig

    def __init__(self, config: EntitiesConfig, shape: NetworkShape) -> None:
        super().__init__()
        self.roles = PartRoles(config, shape)
        count, features = self.roles.shape
        self.pointed = count if config.pointing else 0
        others = [leaves_of(shape.observation)[place] for place in self.roles.others]
        self.parts = PartsEncoder(others, config.width, config.filters, shape.agents if config.agent_id else 0)
        self.position = nn.Linear(self.parts.size, config.width) if self.parts.size else None
        self.start = nn.Parameter(0.1 * torch.randn(config.width))
        self.me = nn.Parameter(0.1 * torch.randn(config.width)) if config.presence == AGENTS_PRESENT else None
        layers = nn.Linear(features, config.width), nn.ReLU(), nn.Linear(config.width, config.width)
        self.entity = nn.Sequential(*layers)
        self.blocks = nn.ModuleList([AttentionBlock(config.width, config.heads) for _ in range(config.blocks)])
        self.norm = nn.LayerNorm(config.width)
        self.point = nn.Linear(config.width, 1) if self.pointed else None
        rest = shape.outputs - self.pointed
        self.policy = nn.Linear(config.width, rest) if rest else None
        self.value = nn.Linear(config.width, 1)
        with torch.no_grad():
            for head in (self.point, self.policy):
                if head is not None:
                    head.weight.mul_(0.01)  # play starts almost uniform

    def forward(self, seen: NetworkInput) -> NetworkOutput:
        """Return the outputs and the value of each decision."""
        parts = leaves_of(seen.observation)
        rows = parts[self.roles.entities]
        tokens = torch.cat([self._position(parts, seen)[:, None], self._entities(rows, seen)], dim=1)
        there = torch.cat([seen.present.new_ones(len(rows), 1), self.roles.present(parts, seen)], dim=1)
        for block in self.blocks:
            tokens = block(tokens, there)
        tokens = self.norm(tokens)
        outputs = [] if self.point is None else [self.point(tokens[:, 1:]).squeeze(2)]
        outputs += [] if self.policy is None else [self.policy(tokens[:, 0])]
        return NetworkOutput(torch.cat(outputs, dim=1), self.value(tokens[:, 0]).squeeze(1))

    def _position(self, parts: list[Tensor], seen: NetworkInput) -> Tensor:
        if self.position is None:
            return self.start.expand(len(seen.agent), -1)
        joined: Tensor = self.position(self.parts([parts[place] for place in self.roles.others], seen.agent))
        return joined + self.start

    def _entities(self, rows: Tensor, seen: NetworkInput) -> Tensor:
        tokens: Tensor = self.entity(rows)
        return tokens if self.me is None else tokens + one_hot(seen.agent, rows.shape[1])[..., None] * self.me


class AttentionBlock(nn.Module):
    """Attention among the tokens that are there, then two layers for each token."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.project = nn.Linear(width, 3 * width, bias=False)
        self.join = nn.Linear(width, width)
        self.layers = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))

    def forward(self, tokens: Tensor, there: Tensor) -> Tensor:
        """Return tokens [B, T, W]; those that are not `there` [B, T] influence no other."""
        split = self.project(self.before(tokens)).unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        query, key, value = split.unbind(0)
        found = scaled_dot_product_attention(query, key, value, attn_mask=there[:, None, None])
        tokens = tokens + self.join(found.transpose(1, 2).flatten(2))
        after: Tensor = tokens + self.layers(self.between(tokens))
        return after


class PartRoles:
    """Which part of the observation has the entities, which says who is there, and which are others."""

    def __init__(self, config: EntitiesConfig, shape: NetworkShape) -> None:
        parts: list[ObservationPart] = leaves_of(shape.observation)
        names = [".".join(map(str, part.path)) for part in parts]
        sets = [place for place, part in enumerate(parts) if len(part.shape) == 2 and not part.choices]
        self.entities = _place(config.entities, names, sets)
        self.shape: tuple[Any, ...] = parts[self.entities].shape
        count = self.shape[0]
        self.flags: int | None = None
        if config.presence == AGENTS_PRESENT and count != shape.agents:
            raise _refusal(f"presence=agents needs a row for each of {shape.agents} agents of a seat, not {count}")
        if config.presence not in (ROWS_PRESENT, AGENTS_PRESENT):
            flags = [place for place, part in enumerate(parts) if part.shape == (count,)]
            self.flags = _place(config.presence, names, flags, "presence", f"a number for each of {count} entities")
        if config.pointing and shape.options < count:
            raise _refusal(f"pointing=true needs an option for each of {count} entities; there are {shape.options}")
        self.by_agents = config.presence == AGENTS_PRESENT
        self.others = [place for place in range(len(parts)) if place not in (self.entities, self.flags)]

    def present(self, parts: list[Tensor], seen: NetworkInput) -> Tensor:
        """Return which entities are there, [B, E]."""
        if self.by_agents:
            return seen.present
        return (parts[self.entities] != 0).any(dim=2) if self.flags is None else parts[self.flags] != 0


def _place(
    name: str, names: list[str], fitting: list[int], key: str = "entities", need: str = "a row for each entity"
) -> int:
    """Return the place of a part among all parts; raise NetworkError unless it is one of those that fit."""
    found = [place for place in fitting if name in ("", names[place])]
    if len(found) == 1:
        return found[0]
    known = ", ".join(names[place] or "the whole observation" for place in fitting) or "no part"
    raise _refusal(f"{key} must name a part with {need}, not {name!r}; such parts here: {known}")


def _refusal(text: str) -> NetworkError:
    return NetworkError(f"policy=entities: policy.kwargs.{text}")
