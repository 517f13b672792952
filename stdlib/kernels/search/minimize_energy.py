def minimize_energy(A: DeviceArray[f32], b: DeviceArray[f32], x: DeviceArray[f32], x_next: DeviceArray[f32],
                    energy: DeviceArray[f32], n: u32, rate: f32):
    """One classical step of gradient descent on the energy E(x) = x'Ax / 2 - b'x with symmetric A [n, n]: x_next =
    x - rate (A x - b), and energy[i] = what element i contributes to E(x); their sum is E."""
    i = get_global_id()
    if i < n:
        pull = 0.0
        for j in range(usize(n)):
            pull = fma(A[i * n + j], x[j], pull)
        energy[i] = x[i] * (0.5 * pull - b[i])
        x_next[i] = x[i] - rate * (pull - b[i])
