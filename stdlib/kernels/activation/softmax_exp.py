def softmax_exp(X: DeviceArray[f32], MaxVal: DeviceArray[f32], Y: DeviceArray[f32], n: u32):
    """The middle of a softmax over one long vector: Y = e^(X - MaxVal[0]). `softmax` does whole rows in one
    launch."""
    i = get_global_id()
    if i < n:
        Y[i] = exp(X[i] - MaxVal[0])
