from math import inf


def attention(Q: DeviceArray[f32], K: DeviceArray[f32], V: DeviceArray[f32], Scores: DeviceArray[f32],
              Y: DeviceArray[f32], queries: u32, keys: u32, d: u32, d_value: u32):
    """Y = softmax(Q K^T / sqrt(d)) V, one lane per query: Q [queries, d], K [keys, d], V [keys, d_value], Y
    [queries, d_value]. Scores [queries, keys] is where a lane keeps its row; afterwards it holds the weights."""
    query = get_global_id()
    if query < queries:
        scale = 1.0 / sqrt(f32(d))
        greatest = -inf
        for key in range(usize(keys)):
            score = 0.0
            for j in range(usize(d)):
                score = fma(Q[query * d + j], K[key * d + j], score)
            score = score * scale
            Scores[query * keys + key] = score
            greatest = max(greatest, score)
        for key in range(usize(keys)):
            Scores[query * keys + key] = exp(Scores[query * keys + key] - greatest)
        total = 0.0
        for key in range(usize(keys)):
            total = total + Scores[query * keys + key]
        for key in range(usize(keys)):
            Scores[query * keys + key] = Scores[query * keys + key] / total
        for j in range(usize(d_value)):
            mixed = 0.0
            for key in range(usize(keys)):
                mixed = fma(Scores[query * keys + key], V[key * d_value + j], mixed)
            Y[query * d_value + j] = mixed
