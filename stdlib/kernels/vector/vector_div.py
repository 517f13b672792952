def vector_div(a: DeviceArray[f32], b: DeviceArray[f32], c: DeviceArray[f32], n: u32):
    """c = a / b, as IEEE 754 has it: x / 0 is an infinity, 0 / 0 a NaN."""
    i = get_global_id()
    if i < n:
        c[i] = a[i] / b[i]
