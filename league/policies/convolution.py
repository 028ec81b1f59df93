"""Convolutions over images and boards: the layers of a network, and their computation in numpy. No torch.

Images are [rows, height, width, channels]; the weight of a convolution is [outputs, kernel * kernel * inputs].
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]
Shape = tuple[int, int, int]  # height, width, channels

# Channels, kernel and stride of each layer, by the minimum of the image's smaller side.
STANDARD = {
    36: [[32, 8, 4], [64, 4, 2], [64, 3, 1]],  # as in "Human-level control" (Mnih et al. 2015), for 84 x 84
    14: [[32, 4, 2], [64, 3, 1], [64, 3, 1]],
    7: [[32, 3, 1], [64, 3, 1], [64, 3, 1]],
}


LARGEST_PATCHES = 1 << 25  # numbers under all places of a kernel, for one observation: a file may claim any kernel


def check_patches(name: str, places: int, patch: int) -> None:
    """Raise ValueError if a kernel has more numbers under all of its places than fit into memory."""
    if places * patch > LARGEST_PATCHES:
        raise ValueError(
            f"policy {name}: its kernel has {places:,} places with {patch:,} numbers each, together more than "
            f"{LARGEST_PATCHES:,}. Make the kernel smaller (policy.kernel, policy.filters), or the images"
        )


@dataclass(frozen=True, slots=True)
class Convolution:
    """One convolution.

    >>> Convolution("conv_0", (84, 84, 4), 32, kernel=8, stride=4).output
    (20, 20, 32)
    """

    name: str
    input: Shape
    channels: int
    kernel: int
    stride: int = 1
    padding: int = 0

    @property
    def patch(self) -> int:
        """The number of inputs under the kernel."""
        return self.kernel * self.kernel * self.input[2]

    @property
    def output(self) -> Shape:
        """The shape of the output."""
        height, width = ((side + 2 * self.padding - self.kernel) // self.stride + 1 for side in self.input[:2])
        return height, width, self.channels

    def __call__(self, images: FloatArray, weight: FloatArray, bias: FloatArray) -> FloatArray:
        """Convolve images in numpy: gather the patches, then one matrix product."""
        if self.padding:
            sides = (self.padding, self.padding)
            images = np.pad(images, ((0, 0), sides, sides, (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(images, (self.kernel, self.kernel), axis=(1, 2))
        patches = windows[:, :: self.stride, :: self.stride].transpose(0, 1, 2, 4, 5, 3)
        found: FloatArray = patches.reshape(len(images) * self.output[0] * self.output[1], self.patch) @ weight.T
        found += bias
        return found.reshape(len(images), *self.output)


def image_shape(name: str, shape: tuple[int, ...]) -> Shape:
    """Return the shape of an image or a board as (height, width, channels); raise ValueError if it is neither.

    >>> image_shape("cnn", (6, 7, 2)), image_shape("cnn", (84, 84))  # one channel if the shape names none
    ((6, 7, 2), (84, 84, 1))
    """
    if len(shape) not in (2, 3):
        raise ValueError(
            f"policy {name} needs observations of shape (height, width, planes) or (height, width), this environment "
            f"has {shape}. Use policy.name=mlp."
        )
    return shape[0], shape[1], shape[2] if len(shape) == 3 else 1


def image_convolutions(shape: tuple[int, ...], filters: list[list[int]]) -> list[Convolution]:
    """Return the convolutions of a cnn: [channels, kernel, stride] of each layer, or the standard ones for its size."""
    image = image_shape("cnn", shape)
    if not filters:
        fitting = [layers for side, layers in STANDARD.items() if min(image[:2]) >= side]
        if not fitting:
            raise ValueError(
                f"policy cnn: images of {image[0]} x {image[1]} are smaller than 7 x 7. "
                "Set policy.filters, or use policy=resnet or policy=mlp."
            )
        filters = fitting[0]
    found: list[Convolution] = []
    for number, (channels, kernel, stride) in enumerate(filters):
        convolution = Convolution(f"conv_{number}", image, channels, kernel, stride)
        image = convolution.output
        if min(image) < 1:
            raise ValueError(
                f"policy cnn: the kernel {kernel} of layer {number} is larger than its input "
                f"{convolution.input[0]} x {convolution.input[1]}. Make policy.filters smaller."
            )
        check_patches("cnn", image[0] * image[1], convolution.patch)
        found.append(convolution)
    return found


def board_convolutions(shape: tuple[int, ...], channels: int, blocks: int) -> list[Convolution]:
    """Return the convolutions of a resnet: a stem, then two for each residual block, all 3 x 3 with padding."""
    height, width, planes = image_shape("resnet", shape)
    names = [f"block_{block}_{half}" for block in range(blocks) for half in "ab"]
    stem = Convolution("stem", (height, width, planes), channels, kernel=3, padding=1)
    found = [stem, *(Convolution(name, stem.output, channels, kernel=3, padding=1) for name in names)]
    for convolution in found[:2]:  # all others are like the second
        check_patches("resnet", height * width, convolution.patch)
    return found
