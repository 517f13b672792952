def life(a: DeviceArray[u8, (h, w)], b: DeviceArray[u8, (h, w)], w: u32, h: u32):
    """A generation on a torus, neighbors by remainders."""
    x = get_global_id(0)
    y = get_global_id(1)
    if x < w and y < h:
        left = (x + w - 1) % w
        right = (x + 1) % w
        up = (y + h - 1) % h
        down = (y + 1) % h
        n = a[up, left] + a[up, x] + a[up, right] + a[y, left] + a[y, right] + a[down, left] + a[down, x] + a[down, right]
        b[y, x] = 1 if n == 3 or (n == 2 and a[y, x] == 1) else 0

def life_select(a: DeviceArray[u8, (h, w)], b: DeviceArray[u8, (h, w)], w: u32, h: u32):
    """The same, neighbors by selects."""
    x = get_global_id(0)
    y = get_global_id(1)
    if x < w and y < h:
        left = x - 1 if x > 0 else w - 1
        right = x + 1 if x < w - 1 else 0
        up = y - 1 if y > 0 else h - 1
        down = y + 1 if y < h - 1 else 0
        n = a[up, left] + a[up, x] + a[up, right] + a[y, left] + a[y, right] + a[down, left] + a[down, x] + a[down, right]
        b[y, x] = 1 if n == 3 or (n == 2 and a[y, x] == 1) else 0
