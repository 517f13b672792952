def scalar_mul(Input: DeviceArray[f32], Output: DeviceArray[f32], n: u32, scalar: f32):
    """Output = scalar times Input."""
    i = get_global_id()
    if i < n:
        Output[i] = scalar * Input[i]
