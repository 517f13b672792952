def rowsort(a: DeviceArray[i32, (rows, cols)], rows: u32, cols: u32):
    """Each row by insertion, in place."""
    r = get_global_id()
    if r < rows:
        for i in range(1, cols):
            v = a[r, i]
            j = i
            while j > 0 and a[r, j - 1] > v:
                a[r, j] = a[r, j - 1]
                j -= 1
            a[r, j] = v

def bitonic(keys: DeviceArray[i32], j: u32, k: u32, n: u32):
    """A step of a bitonic network over a power of two of keys."""
    i = get_global_id()
    if i < n:
        other = i ^ usize(j)
        if other > i:
            a = keys[i]
            b = keys[other]
            up = (i & usize(k)) == 0
            if (a > b) == up:
                keys[i] = b
                keys[other] = a
