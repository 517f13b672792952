"""b = -a."""


def vector_neg(a: DeviceArray[f32], b: DeviceArray[f32], n: u32):
    i = get_global_id()
    if i < n:
        b[i] = -a[i]
