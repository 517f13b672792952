def mandelbrot(counts: DeviceArray[u32], width: u32, height: u32, x0: f32, y0: f32, step: f32, most: u32):
    """How many steps of z = z^2 + c stay within 2, for each point c of a grid, at most `most`.

    Every lane leaves its loop when it likes: targets with vectors keep the others going under a mask, and give the same
    counts as one lane after the other. Lanes are in two directions; x is the inner one."""
    x = get_global_id(0)
    y = get_global_id(1)
    if y < height and x < width:
        c_re = x0 + f32(x) * step
        c_im = y0 + f32(y) * step
        re = 0.0
        im = 0.0
        count = u32(0)
        while count < most:
            re2 = re * re
            im2 = im * im
            if re2 + im2 > 4.0:
                break
            im = 2.0 * re * im + c_im
            re = re2 - im2 + c_re
            count += 1
        counts[y * width + x] = count
