def scan_block(x: DeviceArray[i32], out: DeviceArray[i32], sums: DeviceArray[i32], n: u32):
    """Running sums of each block of 256, in eight rounds (Hillis and Steele); sums[b] is the block's total."""
    tile = shared(i32, 256)
    t = get_local_id()
    i = get_global_id()
    tile[t] = x[i] if i < n else 0
    barrier()
    for s in range(8):
        back = 1 << s
        v = tile[t]
        if t >= back:
            v += tile[t - back]
        barrier()
        tile[t] = v
        barrier()
    if i < n:
        out[i] = tile[t]
    if t == 255:
        sums[get_block_id()] = tile[t]
