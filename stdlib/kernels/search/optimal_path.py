def optimal_path(weight: DeviceArray[f32], distance: DeviceArray[f32], next_distance: DeviceArray[f32], n: u32):
    """One classical round of shortest paths (Bellman and Ford): next_distance[v] = the least of distance[v] and
    distance[u] + weight[u, v] over all u; weight is [n, n], with infinity where there is no edge. n - 1 rounds, the
    two buffers taking turns, give the distances. Nobody writes what others read, so the order of lanes does not
    matter."""
    v = get_global_id()
    if v < n:
        least = distance[v]
        for u in range(usize(n)):
            least = min(least, distance[u] + weight[u * n + v])
        next_distance[v] = least
