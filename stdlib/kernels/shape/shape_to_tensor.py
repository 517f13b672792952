def shape_to_tensor(Shape: DeviceArray[u32], Y: DeviceArray[u32], rank: u32):
    """Y = Shape: the dimensions of a tensor, as a tensor of their own."""
    i = get_global_id()
    if i < rank:
        Y[i] = Shape[i]
