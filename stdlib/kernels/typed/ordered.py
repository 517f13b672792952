"""What the kernels of these names are for f32, for other types: numbers with a sign compare otherwise than those without."""
from typing import TypeVar

T = TypeVar("T", f64, i32, i64, u32, u64)


def vector_min(a: DeviceArray[T], b: DeviceArray[T], c: DeviceArray[T], n: u32):
    """c = the lesser of a and b; a NaN gives way to a number, and -0 < +0."""
    i = get_global_id()
    if i < n:
        c[i] = min(a[i], b[i])


def vector_max(a: DeviceArray[T], b: DeviceArray[T], c: DeviceArray[T], n: u32):
    """c = the greater of a and b; a NaN gives way to a number, and -0 < +0."""
    i = get_global_id()
    if i < n:
        c[i] = max(a[i], b[i])
