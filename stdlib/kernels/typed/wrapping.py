"""What the kernels of these names are for f32, for other types. Integers wrap: unsigned ones have the same code."""
from typing import TypeVar

T = TypeVar("T", f64, i32, i64)


def vector_add(a: DeviceArray[T], b: DeviceArray[T], c: DeviceArray[T], n: u32):
    """c = a + b."""
    i = get_global_id()
    if i < n:
        c[i] = a[i] + b[i]


def vector_sub(a: DeviceArray[T], b: DeviceArray[T], c: DeviceArray[T], n: u32):
    """c = a - b."""
    i = get_global_id()
    if i < n:
        c[i] = a[i] - b[i]


def vector_mul(a: DeviceArray[T], b: DeviceArray[T], c: DeviceArray[T], n: u32):
    """c = a * b."""
    i = get_global_id()
    if i < n:
        c[i] = a[i] * b[i]


def vector_neg(a: DeviceArray[T], b: DeviceArray[T], n: u32):
    """b = -a."""
    i = get_global_id()
    if i < n:
        b[i] = -a[i]


def scalar_add(Input: DeviceArray[T], Output: DeviceArray[T], n: u32, scalar: T):
    """Output = Input + scalar."""
    i = get_global_id()
    if i < n:
        Output[i] = Input[i] + scalar


def scalar_mul(Input: DeviceArray[T], Output: DeviceArray[T], n: u32, scalar: T):
    """Output = Input * scalar."""
    i = get_global_id()
    if i < n:
        Output[i] = Input[i] * scalar


def vector_sum(a: DeviceArray[T], result: DeviceArray[T], n: u32):
    """Adds the sum of a to result[0]."""
    result[0] = result[0] + sum(a[i] for i in range(n))
