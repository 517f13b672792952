def byte_histogram(data: DeviceArray[u8], bins: DeviceArray[u32], n: u32):
    i = get_global_id()
    if i < n:
        atomic_add(bins, data[i], 1)
