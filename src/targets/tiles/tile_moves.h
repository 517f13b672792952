// Loops that move elements and make masks, for one CPU level: included behind tile_loops.h, as it is.

namespace frazil::targets::tiles::FRAZIL_TILE_LEVEL {

template <typename Bits>
FRAZIL_TILE_TARGET void Fill(void* out, const void* value, size_t lanes) {
  const Bits same = *static_cast<const Bits*>(value);
  Bits* to = static_cast<Bits*>(out);
  for (size_t i = 0; i < lanes; ++i) to[i] = same;
}

template <typename Bits>
FRAZIL_TILE_TARGET void Blend(void* out, const void* values, const uint8_t* mask, size_t lanes) {
  Bits* to = static_cast<Bits*>(out);
  const Bits* from = static_cast<const Bits*>(values);
  FRAZIL_INDEPENDENT
  for (size_t i = 0; i < lanes; ++i)
    if (mask[i] != 0) to[i] = from[i];
}

template <typename Bits>
FRAZIL_TILE_TARGET size_t Gather(void* out, const void* data, uint64_t length, const int64_t* index,
                                 const uint8_t* mask, size_t lanes) {
  Bits* to = static_cast<Bits*>(out);
  const Bits* from = static_cast<const Bits*>(data);
  uint64_t outside = 0;
  if (mask == nullptr) {
    for (size_t i = 0; i < lanes; ++i) {
      const uint64_t at = static_cast<uint64_t>(index[i]);
      outside |= at >= length ? 1 : 0;
      to[i] = from[at < length ? at : 0];
    }
  } else {
    for (size_t i = 0; i < lanes; ++i) {
      const uint64_t at = static_cast<uint64_t>(index[i]);
      outside |= at >= length ? mask[i] : 0;
      to[i] = from[at < length ? at : 0];
    }
  }
  if (outside == 0) return lanes;
  for (size_t i = 0; i < lanes; ++i)
    if (static_cast<uint64_t>(index[i]) >= length && (mask == nullptr || mask[i] != 0)) return i;
  return lanes;
}

template <typename Bits>
FRAZIL_TILE_TARGET size_t Scatter(void* data, uint64_t length, const int64_t* index,
                                  const void* values, const uint8_t* mask, size_t lanes) {
  Bits* to = static_cast<Bits*>(data);
  const Bits* from = static_cast<const Bits*>(values);
  for (size_t i = 0; i < lanes; ++i) {
    if (mask != nullptr && mask[i] == 0) continue;
    const uint64_t at = static_cast<uint64_t>(index[i]);
    if (at >= length) return i;
    to[at] = from[i];
  }
  return lanes;
}

template <typename Bits>
FRAZIL_TILE_TARGET void Strided(void* out, const void* data, int64_t start, int64_t stride,
                                size_t lanes) {
  Bits* to = static_cast<Bits*>(out);
  const Bits* from = static_cast<const Bits*>(data);
  for (size_t i = 0; i < lanes; ++i) to[i] = from[start + static_cast<int64_t>(i) * stride];
}

FRAZIL_TILE_TARGET inline size_t MaskBoth(uint8_t* out, const uint8_t* base, const uint8_t* value,
                                          size_t lanes) {
  uint64_t count = 0;
  if (base == nullptr) {
    FRAZIL_INDEPENDENT
    for (size_t i = 0; i < lanes; ++i) count += out[i] = value[i] & 1;
  } else {
    FRAZIL_INDEPENDENT
    for (size_t i = 0; i < lanes; ++i) count += out[i] = base[i] & value[i] & 1;
  }
  return count;
}

FRAZIL_TILE_TARGET inline size_t MaskWithout(uint8_t* out, const uint8_t* base,
                                             const uint8_t* value, size_t lanes) {
  uint64_t count = 0;
  if (base == nullptr) {
    FRAZIL_INDEPENDENT
    for (size_t i = 0; i < lanes; ++i) count += out[i] = (value[i] & 1) ^ 1;
  } else {
    FRAZIL_INDEPENDENT
    for (size_t i = 0; i < lanes; ++i) count += out[i] = base[i] & ((value[i] & 1) ^ 1);
  }
  return count;
}

FRAZIL_TILE_TARGET inline void Iota(int64_t* out, int64_t start, int64_t stride, size_t lanes) {
  for (size_t i = 0; i < lanes; ++i)
    out[i] = static_cast<int64_t>(static_cast<uint64_t>(start) + i * static_cast<uint64_t>(stride));
}

#if defined(__x86_64__)
// Stores around the caches need their own alignment; what is before and behind goes the usual way.
FRAZIL_TILE_TARGET inline void StreamBytes(void* out, const void* values, size_t bytes) {
  std::byte* to = static_cast<std::byte*>(out);
  const std::byte* from = static_cast<const std::byte*>(values);
  const size_t head = std::min(bytes, (64 - reinterpret_cast<uintptr_t>(to) % 64) % 64);
  std::memcpy(to, from, head);
  size_t at = head;
  for (; at + 64 <= bytes; at += 64) {
#if defined(__clang__)
    using Line = long long __attribute__((vector_size(64)));
    Line line;
    std::memcpy(&line, from + at, 64);
    __builtin_nontemporal_store(line, reinterpret_cast<Line*>(to + at));
#else
    for (size_t part = 0; part < 64; part += 16)
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + at + part),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at + part)));
#endif
  }
  std::memcpy(to + at, from + at, bytes - at);
}
#else
inline void StreamBytes(void* out, const void* values, size_t bytes) {
  std::memcpy(out, values, bytes);
}
#endif

template <typename Bits>
FRAZIL_TILE_TARGET void Stream(void* out, const void* values, size_t lanes) {
  StreamBytes(out, values, lanes * sizeof(Bits));
}

// Short copies, without the choices that memmove has to make. Both are the same place or have nothing in common.
FRAZIL_TILE_TARGET inline void Copy(void* out, const void* values, size_t bytes) {
  struct Line {
    long long part[8];
  };
  std::byte* to = static_cast<std::byte*>(out);
  const std::byte* from = static_cast<const std::byte*>(values);
  if (bytes < 64 || bytes > 16384) {
    std::memmove(to, from, bytes);
    return;
  }
  Line last, lines[4];
  std::memcpy(&last, from + bytes - 64, 64);
  size_t at = 0;
  for (; at + 256 <= bytes; at += 256) {
    for (size_t i = 0; i < 4; ++i) std::memcpy(&lines[i], from + at + 64 * i, 64);
    for (size_t i = 0; i < 4; ++i) std::memcpy(to + at + 64 * i, &lines[i], 64);
  }
  for (; at + 64 <= bytes; at += 64) {
    std::memcpy(&lines[0], from + at, 64);
    std::memcpy(to + at, &lines[0], 64);
  }
  std::memcpy(to + bytes - 64, &last, 64);
}

template <typename Bits>
constexpr MoveLoops MovesFor() {
  return {&Fill<Bits>,   &Blend<Bits>,   &Stream<Bits>, &Copy,
          &Gather<Bits>, &Scatter<Bits>, &Strided<Bits>};
}
inline constexpr MoveLoops Moves[4] = {MovesFor<uint8_t>(), MovesFor<uint16_t>(),
                                       MovesFor<uint32_t>(), MovesFor<uint64_t>()};
inline constexpr MaskLoops Masks = {&MaskBoth, &MaskWithout, &Iota};

}  // namespace frazil::targets::tiles::FRAZIL_TILE_LEVEL
