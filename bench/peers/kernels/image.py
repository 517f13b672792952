def gray(rgb: DeviceArray[u8, (h, w, 3)], out: DeviceArray[u8, (h, w)], w: u32, h: u32):
    """Brightness in integers: the weights add up to 256."""
    x = get_global_id(0)
    y = get_global_id(1)
    if x < w and y < h:
        red = u32(rgb[y, x, 0])
        green = u32(rgb[y, x, 1])
        blue = u32(rgb[y, x, 2])
        out[y, x] = u8((77 * red + 150 * green + 29 * blue + 128) >> 8)

def blur(a: DeviceArray[u8, (h, w)], out: DeviceArray[u8, (h, w)], w: u32, h: u32):
    """The rounded mean of nine neighbors; the border repeats."""
    x = get_global_id(0)
    y = get_global_id(1)
    if x < w and y < h:
        total = u32(0)
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                yy = min(max(y + dy, 0), usize(h) - 1)
                xx = min(max(x + dx, 0), usize(w) - 1)
                total += a[yy, xx]
        out[y, x] = u8((total + 4) // 9)
