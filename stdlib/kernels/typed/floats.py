"""What the kernels of these names are for f32, for f64."""
from typing import TypeVar

import frazil

T = TypeVar("T", f64)


def vector_div(a: DeviceArray[T], b: DeviceArray[T], c: DeviceArray[T], n: u32):
    """c = a / b, as IEEE 754 has it: x / 0 is an infinity, 0 / 0 a NaN."""
    i = get_global_id()
    if i < n:
        c[i] = a[i] / b[i]


def sigmoid(X: DeviceArray[T], Y: DeviceArray[T], n: u32):
    """Y = 1 / (1 + e^-X), without overflow at either end."""
    i = get_global_id()
    if i < n:
        Y[i] = frazil.sigmoid(X[i])


def tanh_activation(X: DeviceArray[T], Y: DeviceArray[T], n: u32):
    """Y = tanh X."""
    i = get_global_id()
    if i < n:
        Y[i] = tanh(X[i])
