//! p3-goldilocks on slices, for frazil_bench to call through dlopen. Built for the machine it runs on, so that the
//! packing is the widest that the crate has for it.

use p3_field::{Field, PackedValue, PrimeCharacteristicRing};
use p3_goldilocks::Goldilocks;

type Packed = <Goldilocks as Field>::Packing;

/// Lanes of the packing: 8 with AVX-512, 4 with AVX2, 1 without either.
#[unsafe(no_mangle)]
pub extern "C" fn frazil_peer_field_width() -> usize {
    Packed::WIDTH
}

/// # Safety
/// Each pointer is to `count` canonical words, aligned to 64 bytes; `count` is a multiple of the width.
unsafe fn packed<'a>(words: *const u64, count: usize) -> &'a [Packed] {
    unsafe { std::slice::from_raw_parts(words.cast(), count / Packed::WIDTH) }
}

/// # Safety
/// As `packed`, and nobody else uses the words.
unsafe fn packed_mut<'a>(words: *mut u64, count: usize) -> &'a mut [Packed] {
    unsafe { std::slice::from_raw_parts_mut(words.cast(), count / Packed::WIDTH) }
}

/// out[i] = a[i] * b[i], `rounds` times.
///
/// # Safety
/// See `packed`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frazil_peer_field_multiply(
    a: *const u64,
    b: *const u64,
    out: *mut u64,
    count: usize,
    rounds: usize,
) {
    for _ in 0..rounds {
        let (a, b, out) = unsafe { (packed(a, count), packed(b, count), packed_mut(out, count)) };
        for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
            *out = *a * *b;
        }
        std::hint::black_box(out);
    }
}

/// out[i] += a[i] * b[i], `rounds` times.
///
/// # Safety
/// See `packed`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frazil_peer_field_accumulate(
    a: *const u64,
    b: *const u64,
    out: *mut u64,
    count: usize,
    rounds: usize,
) {
    for _ in 0..rounds {
        let (a, b, out) = unsafe { (packed(a, count), packed(b, count), packed_mut(out, count)) };
        for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
            *out += *a * *b;
        }
        std::hint::black_box(out);
    }
}

/// The sum of a[i] * b[i] in each lane, four sums at a time, then over the lanes; `rounds` times.
///
/// # Safety
/// See `packed`; `count` is a multiple of four times the width.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frazil_peer_field_dot(a: *const u64, b: *const u64, count: usize, rounds: usize) -> u64 {
    use p3_field::PrimeField64;
    let mut result = Goldilocks::ZERO;
    for _ in 0..rounds {
        let (a, b) = unsafe { (packed(a, count), packed(b, count)) };
        let mut sums = [Packed::ZERO; 4];
        for (a, b) in a.chunks_exact(4).zip(b.chunks_exact(4)) {
            for i in 0..4 {
                sums[i] += a[i] * b[i];
            }
        }
        let sum: Packed = sums[0] + sums[1] + sums[2] + sums[3];
        result = sum.as_slice().iter().copied().sum::<Goldilocks>();
        let _ = std::hint::black_box(result);
    }
    result.as_canonical_u64()
}
