def gather(X: DeviceArray[f32], Indices: DeviceArray[u32], Y: DeviceArray[f32], m: u32):
    """Y[i] = X[Indices[i]]; an index outside of X traps."""
    i = get_global_id()
    if i < m:
        Y[i] = X[Indices[i]]
