def scalar_add(Input: DeviceArray[f32], Output: DeviceArray[f32], n: u32, scalar: f32):
    """Output = Input + scalar."""
    i = get_global_id()
    if i < n:
        Output[i] = Input[i] + scalar
