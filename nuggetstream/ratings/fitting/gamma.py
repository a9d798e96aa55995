"""Gamma random numbers for whole arrays of shapes.

    normal x  ->  d (1 + c x)³ with d = shape - 1/3, c = 1 / (3 √d)  ->  accepted?  ->  else a draw of numpy

The rejection method of Marsaglia and Tsang, for many numbers per operation instead of one after the other. It
is exact: accepted numbers have the Gamma distribution, whatever the shape, and a rejected one is replaced by
an independent draw of the same distribution. The only error is that of single precision, relatively 3e-7.

A share of about 1 / (36 d) of the numbers is rejected. The densities are compared only for the few numbers
that a simple upper bound of the chance of a rejection does not decide. Small shapes, of which too many
numbers would be rejected, are sums of Exp(1) numbers; a few small ones are left to numpy, which is as fast.

Source: Marsaglia and Tsang, "A Simple Method for Generating Gamma Variables", 2000; normal numbers: Box and
Muller, 1958.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Singles: TypeAlias = NDArray[np.float32]
Flags: TypeAlias = NDArray[np.bool_]

_CHUNK = 2**15  # numbers worked on together: as many as stay in a processor's cache
_FEW = 12.0  # shapes below are left to numpy if there are few numbers, less than a chunk
_LEAST = 4.0  # where there are many, shapes below are sums of Exp(1), or left to numpy if they are not whole
_LEVELS = 2**16  # of the first digits of a uniform number
_ROUNDED = 1 + 1e-5  # an upper bound stays one after it was rounded


def gamma_rows(shapes: Floats, columns: int, stream: np.random.Generator) -> Singles:
    """Gamma(shape, 1) random numbers, a row per shape.

    Args:
        shapes: (N,) shapes. Up to about 1e10: from there on single precision is too coarse.
        columns: Random numbers per shape.
        stream: Source of randomness; equal streams give equal numbers.

    Returns:
        (N, columns) positive numbers with mean and variance equal to the shape, zero where the shape is zero
        or they are too small for single precision.

    Source: See the module.

    >>> rows = gamma_rows(np.array([2.0, 40.0, 100.0]), 10_000, np.random.default_rng(1))
    >>> [round(mean) for mean in rows.mean(axis=1).tolist()]
    [2, 40, 100]
    """
    rows = np.empty((len(shapes), columns), dtype=np.float32)
    rows[shapes == 0] = 0
    few = ((shapes > 0) & (shapes < _FEW)).sum() * columns < _CHUNK
    least = _FEW if few else _LEAST
    whole = np.zeros_like(shapes) if few else np.where((shapes < least) & (shapes % 1 == 0), shapes, 0)
    for number in np.unique(whole[whole > 0]):
        places = np.flatnonzero(whole == number)
        parts = stream.standard_exponential((int(number), len(places), columns), dtype=np.float32)
        rows[places] = parts.sum(axis=0)
    for row in np.flatnonzero((shapes > 0) & (shapes < least) & (whole == 0)):
        rows[row] = stream.standard_gamma(shapes[row], columns)
    large = np.flatnonzero(shapes >= least)
    together = max(_CHUNK // max(columns, 1), 1)
    for start in range(0, len(large), together):
        places = large[start : start + together]
        rows[places] = _drawn(shapes[places], columns, stream)
    return rows


def _drawn(shapes: Floats, columns: int, stream: np.random.Generator) -> Singles:
    """Random numbers of a few shapes, none of them small."""
    shift = shapes - 1 / 3
    t = _normal(shapes.size * columns, stream).reshape(-1, columns)
    t *= _column(1 / (3 * np.sqrt(shift)))
    risk = _risk(t, shift)
    coarse = _raw(t.size, 4, stream).view(np.uint16)[: t.size].reshape(t.shape)
    unsure = np.flatnonzero(risk > coarse)
    t += np.float32(1)
    drawn = np.multiply(t, t, out=risk)
    drawn *= t
    drawn *= _column(shift)
    if len(unsure):
        rejected = unsure[
            _rejected(t.ravel()[unsure], shift[unsure // columns], coarse.ravel()[unsure], stream)
        ]
        drawn.ravel()[rejected] = stream.standard_gamma(shapes[rejected // columns])
    return drawn


def _risk(t: Singles, shift: Floats) -> Singles:
    """(N, columns) upper bounds of the chances that numbers d (1 + t)³ are rejected, in levels.

    The log of the chance of an acceptance is d (1.5 t² - 3 t - t³ + 3 log(1 + t)), for |t| ≤ 1/2 at least
    -1.5 d t⁴ by the series of the logarithm. For larger |t| the bound is at least 1, since the factor is at
    least 16.
    """
    risk = t * t
    risk *= risk
    risk *= _column(np.maximum(1.5 * shift, 16.0) * (_LEVELS * _ROUNDED))
    return risk


def _rejected(root: Singles, shift: Floats, coarse: NDArray[np.uint16], stream: np.random.Generator) -> Flags:
    """Which numbers are rejected.

    Args:
        root: (N,) values of 1 + c x.
        shift: (N,) values of d.
        coarse: (N,) first digits of the uniform numbers.
        stream: Source of the other digits.

    Returns:
        (N,) whether each is rejected. With t = c x, the log of the chance that it is not is
        d (1.5 t² - 3 t - t³ + 3 log(1 + t)).
    """
    uniform = (coarse + stream.random(len(root))) / _LEVELS
    t = root.astype(np.float64) - 1
    with np.errstate(all="ignore"):  # a number that is not positive is rejected
        chance = shift * (t * (t * (1.5 - t) - 3) + 3 * np.log(root, dtype=np.float64))
        return np.asarray(~(np.log1p(-uniform) < chance))


def _column(values: Floats) -> Singles:
    return values.astype(np.float32)[:, None]


def _normal(size: int, stream: np.random.Generator) -> Singles:
    """Standard normal numbers in single precision, two of each two uniform numbers (Box and Muller)."""
    half = (size + 1) // 2
    bits = _raw(half, 1, stream).view(np.int32).reshape(2, half)
    normal = np.empty((2, half), dtype=np.float32)
    angle = bits[0].astype(np.float32)
    angle *= np.float32(np.pi / 2**31)
    radius = bits[1].view(np.uint32).astype(np.float32)
    radius += np.float32(0.5)
    radius *= np.float32(2**-32)
    np.log(radius, out=radius)
    radius *= np.float32(-2)
    np.sqrt(radius, out=radius)
    np.multiply(radius, np.cos(angle), out=normal[0])
    np.multiply(radius, np.sin(angle), out=normal[1])
    return normal.ravel()[:size]


def _raw(size: int, per_word: int, stream: np.random.Generator) -> NDArray[np.uint64]:
    """Random words that hold so many random numbers."""
    words = stream.bit_generator.random_raw(-(-size // per_word))
    return np.asarray(words, dtype=np.uint64)
