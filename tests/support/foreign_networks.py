"""Networks as strangers write them: attention over a structure, a window of the past, batch normalisation."""

from dataclasses import dataclass

import torch
from torch import nn

from league.policies.network import NetworkOutput, leaves_of


@dataclass(kw_only=True)
class AttentionConfig:
    width: int = 16
    heads: int = 2


class UnitAttention(nn.Module):
    """Attention over the units of a Dict observation; the logit of an action is that of its unit."""

    Config = AttentionConfig

    def __init__(self, config, shape):
        super().__init__()
        units = shape.observation["units"].shape
        (rounds,) = shape.observation["clock"][0].choices
        self.encoder = nn.Linear(units[1], config.width)
        self.clock = nn.Embedding(rounds, config.width)
        self.attention = nn.MultiheadAttention(config.width, config.heads, batch_first=True)
        self.policy = nn.Linear(config.width, 1)
        self.value = nn.Linear(config.width, 1)

    def forward(self, seen):
        tokens = self.encoder(seen.observation["units"]) + self.clock(seen.observation["clock"][0])[:, None]
        tokens = torch.relu(tokens + self.attention(tokens, tokens, tokens, need_weights=False)[0])
        strongest = torch.sigmoid(self.policy(tokens).squeeze(2))
        value = self.value(tokens.mean(dim=1)).squeeze(1)
        return NetworkOutput(self.policy(tokens).squeeze(2), value, extras={"strength": strongest})


def flat(observation):
    """Return everything in an observation as one vector for each row."""
    return torch.cat([leaf.reshape(len(leaf), -1).float() for leaf in leaves_of(observation)], dim=1)


def width_of(shape):
    return sum(int(torch.Size(part.shape).numel()) for part in leaves_of(shape.observation))


@dataclass(kw_only=True)
class WindowConfig:
    window: int = 3
    width: int = 16


class Window(nn.Module):
    """A transformer over a window of past observations, which is its memory."""

    Config = WindowConfig

    def __init__(self, config, shape):
        super().__init__()
        self.config, self.size = config, width_of(shape)
        self.encoder = nn.Linear(self.size, config.width)
        self.place = nn.Parameter(torch.zeros(config.window, config.width))
        self.attention = nn.MultiheadAttention(config.width, 2, batch_first=True)
        self.policy = nn.Linear(config.width, shape.outputs)
        self.value = nn.Linear(config.width, 1)

    def memory(self):
        return {"window": torch.zeros(self.config.window, self.size), "filled": torch.zeros((), dtype=torch.long)}

    def forward(self, seen):
        now = flat(seen.observation)
        window = torch.cat([seen.memory["window"][:, 1:], now[:, None]], dim=1)
        filled = (seen.memory["filled"] + 1).clamp(max=self.config.window)
        tokens = self.encoder(window) + self.place
        empty = torch.arange(self.config.window, device=now.device) < (self.config.window - filled)[:, None]
        found, _ = self.attention(tokens[:, -1:], tokens, tokens, key_padding_mask=empty)
        x = torch.relu(found[:, 0] + tokens[:, -1])
        return NetworkOutput(self.policy(x), self.value(x).squeeze(1), {"window": window, "filled": filled})


@dataclass(kw_only=True)
class BatchNormConfig:
    hidden: int = 32
    dropout: float = 0.1


class BatchNormed(nn.Module):
    """Batch normalisation and dropout, which are active in train() mode only."""

    Config = BatchNormConfig

    def __init__(self, config, shape):
        super().__init__()
        self.body = nn.Sequential(
            nn.BatchNorm1d(width_of(shape)),
            nn.Linear(width_of(shape), config.hidden),
            nn.BatchNorm1d(config.hidden),
            nn.ReLU(),
            nn.Dropout(config.dropout),
        )
        self.agent = nn.Embedding(shape.agents, config.hidden)
        self.policy = nn.Linear(config.hidden, shape.outputs)
        self.value = nn.Linear(config.hidden, 1)

    def forward(self, seen):
        x = self.body(flat(seen.observation)) + self.agent(seen.agent) * seen.present.float().mean(1, keepdim=True)
        return NetworkOutput(self.policy(x), self.value(x).squeeze(1))


NETWORKS = (UnitAttention, Window, BatchNormed)
