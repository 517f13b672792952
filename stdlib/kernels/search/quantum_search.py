def quantum_search(data: DeviceArray[f32], target: f32, found: DeviceArray[u32], n: u32):
    """A classical search: lowers found[0] to the least index of data whose element equals target. Every element is
    compared once, in O(n); there is nothing quantum about it but the name. Start with found[0] = n."""
    i = get_global_id()
    if i < n:
        atomic_min(found, 0, u32(i) if data[i] == target else n)
