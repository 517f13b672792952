def histogram(values: DeviceArray[f32], bins: DeviceArray[u32], n: u32, lo: f32, hi: f32):
    """Counts values by size: bins[b] is raised for each value in its part of [lo, hi); others count for nobody.

    Lanes meet in the bins, so the count is an atomic. Integer addition does not care for order, so the result is the same
    on one lane, many threads or a GPU; the same kernel with a float sum would have to say `unordered=True`."""
    i = get_global_id()
    if i < n:
        v = values[i]
        if lo <= v < hi:
            place = (v - lo) / (hi - lo) * f32(len(bins))
            b = min(usize(place), len(bins) - 1)
            atomic_add(bins, b, 1)
