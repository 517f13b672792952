def attention_scores(Q: DeviceArray[f32], K: DeviceArray[f32], Scores: DeviceArray[f32], seq_len: u32, d_model: u32):
    """Scores [seq_len, seq_len] = Q K^T / sqrt(d_model), with Q and K [seq_len, d_model]."""
    key = get_global_id(0)
    query = get_global_id(1)
    if query < seq_len and key < seq_len:
        total = 0.0
        for d in range(usize(d_model)):
            total = fma(Q[query * d_model + d], K[key * d_model + d], total)
        Scores[query * seq_len + key] = total / sqrt(f32(d_model))
