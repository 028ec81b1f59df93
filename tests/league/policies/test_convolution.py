"""Convolutions: known answers, layers that fit the image, and images that are too small."""

import numpy as np
import pytest

from league.policies.convolution import Convolution, board_convolutions, image_convolutions


def test_a_kernel_of_ones_sums_what_is_under_it():
    image = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
    weight, bias = np.ones((1, 4), np.float32), np.ones(1, np.float32)
    steps = Convolution("sum", (4, 4, 1), channels=1, kernel=2, stride=2)
    assert steps(image, weight, bias)[0, :, :, 0].tolist() == [[11, 19], [43, 51]]


def test_a_padded_convolution_keeps_the_size_and_sees_zeros_outside():
    image = np.ones((1, 2, 3, 1), np.float32)
    padded = Convolution("padded", (2, 3, 1), channels=1, kernel=3, padding=1)
    assert padded(image, np.ones((1, 9), np.float32), np.zeros(1, np.float32))[0, :, :, 0].tolist() == [[4, 6, 4]] * 2


@pytest.mark.parametrize(
    ("side", "outputs"),
    [
        (84, [(20, 20, 32), (9, 9, 64), (7, 7, 64)]),
        (14, [(6, 6, 32), (4, 4, 64), (2, 2, 64)]),
        (7, [(5, 5, 32), (3, 3, 64), (1, 1, 64)]),
    ],
)
def test_the_layers_fit_the_image(side, outputs):
    assert [layer.output for layer in image_convolutions((side, side, 4), [])] == outputs


@pytest.mark.parametrize(
    ("shape", "filters", "message"),
    [
        ((6, 7, 2), [], "6 x 7 are smaller than 7 x 7"),
        ((8, 8, 2), [[4, 3, 1], [4, 7, 1]], "the kernel 7 of layer 1 is larger than its input 6 x 6"),
        ((8,), [], r"policy\.name=mlp"),
    ],
)
def test_images_that_are_too_small_are_refused(shape, filters, message):
    with pytest.raises(ValueError, match=message):
        image_convolutions(shape, filters)


def test_a_resnet_has_a_stem_and_two_layers_for_each_block():
    layers = board_convolutions((3, 4), channels=8, blocks=2)
    assert [layer.name for layer in layers] == ["stem", "block_0_a", "block_0_b", "block_1_a", "block_1_b"]
    assert [layer.input for layer in layers[:2]] == [(3, 4, 1), (3, 4, 8)]
    assert {layer.output for layer in layers} == {(3, 4, 8)}
