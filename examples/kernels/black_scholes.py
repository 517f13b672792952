def normal_cdf(x):
    """The distribution function of the normal distribution, by a polynomial (Abramowitz and Stegun 26.2.17): 7.5e-8."""
    size = abs(x)
    t = 1.0 / (1.0 + 0.2316419 * size)
    p = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail = 0.39894228 * exp_fast(-0.5 * size * size) * p
    return 1.0 - tail if x > 0.0 else tail


def black_scholes(price: DeviceArray[f32], strike: DeviceArray[f32], years: DeviceArray[f32], call: DeviceArray[f32],
                  put: DeviceArray[f32], n: u32, rate: f32, volatility: f32):
    """European option prices by the formula of Black and Scholes.

    A chain of forty operations in one pass over memory. `exp_fast` and `log_fast` are operations of their own with a
    stated error bound, not a compiler flag: their bits are as defined as all others, and the exact ones stay exact."""
    i = get_global_id()
    if i < n:
        root = volatility * sqrt(years[i])
        d1 = (log_fast(price[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i]) / root
        d2 = d1 - root
        discounted = strike[i] * exp_fast(-rate * years[i])
        call[i] = price[i] * normal_cdf(d1) - discounted * normal_cdf(d2)
        put[i] = discounted * normal_cdf(-d2) - price[i] * normal_cdf(-d1)
