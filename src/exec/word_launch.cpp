// Each rule as a test of words. Where a test would have to be long to be exact (sizes whose product wraps beside one that
// is 0), it is too careful instead.
#include "exec/word_launch.h"

#include "base/number/goldilocks.h"
#include "exec/launch.h"

namespace frazil::exec {
WordLaunch::WordLaunch(const ir::Program& program) {
  const ir::Function& entry = program.entry_function();
  const CallWords call(entry);
  bool is_any_written = false;
  for (const CallParam& param : call.params) {
    if (!param.is_buffer()) {
      AddScalar(param);
      continue;
    }
    AddBuffer(param);
    if (param.type.is_tensor()) AddShape(entry, call, param);
    is_any_written |= param.is_written();
  }
  if (!is_any_written) apart_ = {};
}

void WordLaunch::AddScalar(const CallParam& param) {
  using ir::Scalar;
  const ir::Scalar scalar = param.type.scalar;
  uint64_t low = 0, width = UINT64_MAX;
  if (scalar == Scalar::Int) return;  // any words
  if (ir::Contains(ir::sets::Fields | ir::Only(Scalar::Digest), scalar)) {
    width = goldilocks::P - 1;
  } else if (scalar == Scalar::Bool) {
    width = 1;
  } else if (const uint32_t bits = 8 * ir::BytesOf(param.type); bits < 64) {
    width = (uint64_t{1} << bits) - 1;
    if (ir::IsSigned(scalar)) low = 0 - (uint64_t{1} << (bits - 1));
  }
  if (width == UINT64_MAX) return;
  for (uint32_t i = 0; i < param.words; ++i) ranges_.push_back({param.word + i, low, width});
}

void WordLaunch::AddBuffer(const CallParam& param) {
  const ir::Type element = param.type.element();
  const uint64_t bytes = ir::BytesOf(element);
  buffers_.push_back({param.word, element, bytes, static_cast<uint64_t>(MostElements(bytes)),
                      param.is_read() && HasOtherBytes(element)});
  apart_.Add(param.word, element, param.is_written(), param.type.is_tensor());
}

void WordLaunch::AddShape(const ir::Function& entry, const CallWords& call,
                          const CallParam& param) {
  Shape shape;
  shape.length_word = param.word + 1;
  for (const ir::Dim dim : entry.shape(param.type)) {
    if (dim.is_symbol()) {
      shape.dims[shape.count++] = call.params[dim.param()].word;
    } else if (dim.value < 0 || __builtin_mul_overflow(shape.numbers, dim.value, &shape.numbers)) {
      never_ = true;
    }
  }
  shapes_.push_back(shape);
}

bool WordLaunch::Shape::Holds(const uint64_t* words) const {
  int64_t product = numbers;
  for (uint32_t i = 0; i < count; ++i) {
    const auto dim = static_cast<int64_t>(words[dims[i]]);
    if (dim < 0 || __builtin_mul_overflow(product, dim, &product)) return false;
  }
  return product == static_cast<int64_t>(words[length_word]);
}

bool WordLaunch::Holds(const uint64_t* words) const {
  if (never_) return false;
  for (const Range& range : ranges_)
    if (words[range.word] - range.low > range.width) return false;
  for (const Buffer& buffer : buffers_) {
    const uint64_t begin = words[buffer.word], length = words[buffer.word + 1];
    if (length == 0) continue;
    if (begin == 0 || length > buffer.most) return false;
    if (buffer.has_checked_contents &&
        !ContentsAreCanonical(buffer.element, reinterpret_cast<const std::byte*>(begin),
                              length * buffer.element_bytes))
      return false;
  }
  for (const Shape& shape : shapes_)
    if (!shape.Holds(words)) return false;
  return apart_.AreApart(words);
}

}  // namespace frazil::exec
