"""What only moves bits, by the width of the elements."""
from typing import TypeVar

T = TypeVar("T", u8, u16, u32, u64)


def vector_copy(X: DeviceArray[T], Y: DeviceArray[T], n: u32):
    """Y = X."""
    i = get_global_id()
    if i < n:
        Y[i] = X[i]


def constant_fill(Y: DeviceArray[T], value: T, n: u32):
    """Y = value everywhere."""
    i = get_global_id()
    if i < n:
        Y[i] = value
