"""CURL (Laskin et al. 2020): a contrastive loss for pictures, beside the loss of any algorithm with a replay.

Two crops of one picture are a pair. The encoder of the network codes one of them, that of the target network the other;
a code must be more similar to its partner than to those of all other pictures of the minibatch. So the convolutions
learn to tell pictures apart from every sample, also where rewards are rare.

`algo.curl` is the weight of the loss. The encoder is the network's convolutions; a linear layer, its normalisation and
the matrix of the similarity follow, which only the learner has. Crops keep the size of the picture: it is padded with
its edges, and cut at a random place.

Legend of shapes: B pictures, H height, W width, F features of the convolutions, Z numbers of a code.
"""

import math
import zlib

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from league.policies.flat_policy import FlatPolicy
from league.policies.layout import FloatArray


class Contrast(nn.Module):
    """What turns the features of pictures into codes, and compares these; seeded by the first weights of its player."""

    def __init__(self, features: int, size: int, flat: FloatArray) -> None:
        super().__init__()
        self.project, self.norm = nn.Linear(features, size), nn.LayerNorm(size)
        self.similarity = nn.Parameter(torch.zeros(size, size))
        rng = np.random.default_rng(zlib.crc32(flat.tobytes()))
        for parameter in (self.project.weight, self.project.bias, self.similarity):
            limit = 1 / math.sqrt(parameter.shape[-1])
            values = rng.uniform(-limit, limit, tuple(parameter.shape)).astype(np.float32)
            with torch.no_grad():
                parameter.copy_(torch.from_numpy(values))

    def codes(self, policy: FlatPolicy, picture_BX: Tensor) -> Tensor:
        """Return the codes of pictures by this network: [B, Z]."""
        coded: Tensor = self.norm(self.project(policy.encoded(picture_BX)))
        return coded


def contrastive_loss(query_BZ: Tensor, key_BZ: Tensor, similarity_ZZ: Tensor) -> Tensor:
    """Return the cross-entropy of finding the partner of each query among all keys, by q W k (equation 4)."""
    logits_BB = query_BZ @ similarity_ZZ @ key_BZ.T
    return functional.cross_entropy(logits_BB, torch.arange(len(query_BZ), device=query_BZ.device))


def random_crops(picture_BX: Tensor, shift: int, rng: np.random.Generator) -> Tensor:
    """Return each picture [H, W] or [H, W, C], moved by up to `shift` pixels; its edges fill what is missing."""
    count, height, width = picture_BX.shape[:3]
    down_B, right_B = torch.from_numpy(rng.integers(-shift, shift + 1, (2, count))).to(picture_BX.device)
    row_BH = (torch.arange(height, device=picture_BX.device) + down_B[:, None]).clamp(0, height - 1)
    column_BW = (torch.arange(width, device=picture_BX.device) + right_B[:, None]).clamp(0, width - 1)
    which_B11 = torch.arange(count, device=picture_BX.device)[:, None, None]
    return picture_BX[which_B11, row_BH[:, :, None], column_BW[:, None, :]]
