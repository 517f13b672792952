def averagepool(X: DeviceArray[f32], Y: DeviceArray[f32], N: u32, C: u32, H: u32, W: u32, kernel_size: u32,
                stride: u32, pad: u32):
    """Windows of kernel_size x kernel_size over the planes of X [N, C, H, W], stride apart, over a border of `pad`:
    the mean of the elements that lie inside of X. Y is [N, C, H_out, W_out] with H_out = (H + 2 pad - kernel_size)
    // stride + 1. Windows side by side: stride = kernel_size and pad = 0."""
    H_out = (usize(H) + 2 * usize(pad) - usize(kernel_size)) // usize(stride) + 1
    W_out = (usize(W) + 2 * usize(pad) - usize(kernel_size)) // usize(stride) + 1
    x = get_global_id(0)
    y = get_global_id(1)
    plane = get_global_id(2)
    if plane < usize(N) * usize(C) and y < H_out and x < W_out:
        total = 0.0
        count = 0
        for u in range(usize(kernel_size)):
            v = y * stride + u - pad
            if 0 <= v < H:
                for s in range(usize(kernel_size)):
                    t = x * stride + s - pad
                    if 0 <= t < W:
                        total = total + X[(plane * H + v) * W + t]
                        count = count + 1
        Y[(plane * H_out + y) * W_out + x] = total / f32(count)
