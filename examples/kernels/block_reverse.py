def block_reverse(x: DeviceArray[f32], y: DeviceArray[f32]):
    """Each block of 256 elements of y is that of x back to front.

    Lanes of a block hand each other their elements through shared memory; the barrier between writing and reading is what
    makes that safe. Without it the sanitizer of `frazil kernel run --sanitize` names the race and its line."""
    tile = shared(f32, 256)
    lane = get_local_id()
    first = get_block_id() * 256
    tile[lane] = x[first + lane]
    barrier()
    y[first + lane] = tile[255 - lane]
