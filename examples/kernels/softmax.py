from math import inf


def softmax(x: DeviceArray[f32], y: DeviceArray[f32], rows: u32, cols: u32):
    """Each row of y is the softmax of that row of x.

    One lane per row, loops over its columns: rows are shared by threads, and within a row the exponentials and the
    division are vectors. Taking the greatest element out first keeps e^x from overflowing. The sum runs in the order of
    the columns, so its bits are the same everywhere."""
    row = get_global_id()
    if row < rows:
        first = row * cols
        greatest = -inf
        for j in range(usize(cols)):
            greatest = max(greatest, x[first + j])
        for j in range(usize(cols)):
            y[first + j] = exp(x[first + j] - greatest)
        total = 0.0
        for j in range(usize(cols)):
            total += y[first + j]
        for j in range(usize(cols)):
            y[first + j] = y[first + j] / total
