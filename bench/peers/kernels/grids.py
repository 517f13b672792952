def transpose(a: DeviceArray[f32, (n, n)], b: DeviceArray[f32, (n, n)], n: u32):
    j = get_global_id(0)
    i = get_global_id(1)
    if j < n and i < n:
        b[j, i] = a[i, j]

def jacobi(a: DeviceArray[f32, (h, w)], b: DeviceArray[f32, (h, w)], w: u32, h: u32):
    """The mean of four neighbors, inside of the border."""
    x = get_global_id(0)
    y = get_global_id(1)
    if x >= 1 and x < w - 1 and y >= 1 and y < h - 1:
        b[y, x] = 0.25 * (a[y, x - 1] + a[y, x + 1] + a[y - 1, x] + a[y + 1, x])
