"""What the kernels of these names are for f32, for other types that have a sign."""
from typing import TypeVar

T = TypeVar("T", f64, i32, i64)


def vector_abs(a: DeviceArray[T], b: DeviceArray[T], n: u32):
    """b = |a|; of the least integer itself."""
    i = get_global_id()
    if i < n:
        b[i] = abs(a[i])


def relu(X: DeviceArray[T], Y: DeviceArray[T], n: u32):
    """Y = X where X is positive, else 0. A NaN stays one."""
    i = get_global_id()
    if i < n:
        Y[i] = 0 if X[i] < 0 else X[i]


def clip(X: DeviceArray[T], Y: DeviceArray[T], n: u32, lo: T, hi: T):
    """Y = X, but lo where it is less and hi where it is greater. A NaN stays one."""
    i = get_global_id()
    if i < n:
        at_least = lo if X[i] < lo else X[i]
        Y[i] = hi if at_least > hi else at_least


def vector_min_value(a: DeviceArray[T], result: DeviceArray[T], n: u32):
    """Lowers result[0] to the least element of a. NaNs are passed over."""
    result[0] = min(result[0], min(a[i] for i in range(n)))


def vector_max_value(a: DeviceArray[T], result: DeviceArray[T], n: u32):
    """Raises result[0] to the greatest element of a. NaNs are passed over."""
    result[0] = max(result[0], max(a[i] for i in range(n)))
