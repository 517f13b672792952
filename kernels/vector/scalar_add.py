"""Output = Input + scalar."""


def scalar_add(Input: DeviceArray[f32], Output: DeviceArray[f32], n: u32, scalar: f32):
    i = get_global_id()
    if i < n:
        Output[i] = Input[i] + scalar
