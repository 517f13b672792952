def saxpy(a: f32, x: DeviceArray[f32], y: DeviceArray[f32], n: u32):
    """y = a x + y.

    The smallest real kernel. The guard is what makes it right for every n: it becomes the bound of the loop over lanes,
    so that a launch needs no number of blocks, and a C++ caller need not even pass n, which follows from the lengths."""
    i = get_global_id()
    if i < n:
        y[i] = a * x[i] + y[i]
