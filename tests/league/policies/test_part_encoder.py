"""Parts of an observation become numbers of equal scale."""

import pytest
import torch

from league.policies.part_encoder import ImageEncoder, PartsEncoder
from league.spec import ObservationPart

PARTS = [
    ObservationPart(("picture",), 0, (5, 6, 3)),
    ObservationPart(("grey",), 90, (40, 36)),
    ObservationPart(("speed",), 1530, (2,)),
    ObservationPart(("table",), 1532, (2, 3)),
    ObservationPart(("clock",), 1538, (), (4,)),
    ObservationPart(("cards",), 1542, (2,), (3, 5)),
]


def drawn(part, rows=7):
    if part.choices:
        chosen = torch.stack([torch.randint(options, (rows,)) for options in part.choices], dim=1)
        return chosen.reshape(rows, *part.shape)
    return torch.rand(rows, *part.shape)


def test_every_part_becomes_as_many_numbers_and_gets_a_gradient():
    torch.manual_seed(0)
    encoder = PartsEncoder(PARTS, width=8, filters=[], agents=2)
    found = encoder([drawn(part) for part in PARTS], torch.arange(7) % 2)
    assert found.shape == (7, encoder.size) == (7, 8 * 7)
    (found * torch.randn(found.shape)).sum().backward()
    assert all(parameter.grad.any() for parameter in encoder.parameters())


def test_bytes_need_no_scaling():
    torch.manual_seed(0)
    encoder, pictures = ImageEncoder((9, 9, 1), 16, []), torch.randint(0, 256, (5, 9, 9, 1)).float()
    with torch.no_grad():
        for layer in encoder.layers:
            if hasattr(layer, "bias"):
                layer.bias.zero_()
        torch.testing.assert_close(encoder(pictures), encoder(pictures / 255), atol=0.05, rtol=0)


def test_filters_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="too large for an image of 1 x 4"):
        ImageEncoder((1, 4, 1), 8, [[4, 8, 1]])
    with pytest.raises(ValueError, match="channels, kernel and stride, all positive"):
        ImageEncoder((9, 9, 1), 8, [[4, 3]])
