def mix(left: DeviceArray[i16], right: DeviceArray[i16], out: DeviceArray[i16], lgain: f32, rgain: f32, n: u32):
    """Two tracks into one; what is too loud is cut off."""
    i = get_global_id()
    if i < n:
        sample = round(f32(left[i]) * lgain + f32(right[i]) * rgain)
        out[i] = i16(min(max(sample, -32768.0), 32767.0))
