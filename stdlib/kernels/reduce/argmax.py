from math import inf


def argmax(X: DeviceArray[f32], Y: DeviceArray[u32], n: u32):
    """Y[0] = the index of the first greatest element of X; NaNs are passed over, and 0 is the answer where there is
    nothing but them. One lane walks over all of X: the first of equals must win."""
    i = get_global_id()
    if i < 1:
        greatest = -inf
        at = n
        for j in range(usize(n)):
            # Until there is one, an element need not be greater: it may be -inf.
            if X[j] > greatest or (at == n and X[j] == greatest):
                greatest = X[j]
                at = u32(j)
        Y[0] = at if at < n else u32(0)
