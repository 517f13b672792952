def conv2d(X: DeviceArray[f32], W: DeviceArray[f32], Y: DeviceArray[f32], H_in: u32, W_in: u32, K_h: u32, K_w: u32,
           batch: u32, C_in: u32, C_out: u32, stride_h: u32, stride_w: u32, pad_h: u32, pad_w: u32, dilation_h: u32,
           dilation_w: u32, groups: u32):
    """2-D convolution (correlation, as in networks) of X [batch, C_in, H_in, W_in] with W [C_out, C_in / groups, K_h,
    K_w] into Y [batch, C_out, H_out, W_out], where H_out = (H_in + 2 pad_h - dilation_h (K_h - 1) - 1) // stride_h + 1
    and W_out likewise; outside of X there are zeros. The first seven parameters alone would be one channel, stride 1,
    no padding; the rest stands behind them. Every element is one chain of fused multiply-adds in the order of W.

    One lane per row of the output: it adds one weight times a row of the input after the other, each over exactly the
    elements that lie inside of X, so that no element is tested."""
    H_out = (usize(H_in) + 2 * usize(pad_h) - usize(dilation_h) * (usize(K_h) - 1) - 1) // usize(stride_h) + 1
    W_out = (usize(W_in) + 2 * usize(pad_w) - usize(dilation_w) * (usize(K_w) - 1) - 1) // usize(stride_w) + 1
    y = get_global_id(0)
    plane = get_global_id(1)
    if plane < usize(batch) * usize(C_out) and y < H_out:
        image = plane // usize(C_out)
        out_channel = plane % usize(C_out)
        in_channels = usize(C_in) // usize(groups)
        group = out_channel // (usize(C_out) // usize(groups))
        row = (plane * H_out + y) * W_out
        for x in range(W_out):
            Y[row + x] = 0.0
        for c in range(in_channels):
            for u in range(usize(K_h)):
                v = y * stride_h + u * dilation_h - pad_h
                if 0 <= v < H_in:
                    source = ((image * C_in + group * in_channels + c) * H_in + v) * W_in
                    weights = ((out_channel * in_channels + c) * K_h + u) * K_w
                    for s in range(usize(K_w)):
                        # x * stride_w + shift is inside for the x from `first` to `last`.
                        shift = s * dilation_w - pad_w
                        first = max(-(shift // usize(stride_w)), 0)
                        last = min((usize(W_in) - 1 - shift) // usize(stride_w) + 1, W_out)
                        weight = W[weights + s]
                        if stride_w == 1:
                            for x in range(first, last):
                                Y[row + x] = fma(X[source + shift + x], weight, Y[row + x])
                        else:
                            for x in range(first, last):
                                Y[row + x] = fma(X[source + shift + x * stride_w], weight, Y[row + x])
