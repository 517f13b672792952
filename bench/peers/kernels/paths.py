def floyd(dist: DeviceArray[i32, (n, n)], k: u32, n: u32):
    """One round of Floyd and Warshall: ways over k."""
    j = get_global_id(0)
    i = get_global_id(1)
    if j < n and i < n:
        dist[i, j] = min(dist[i, j], dist[i, k] + dist[k, j])
