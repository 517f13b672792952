// Counterexamples that a person can read: simpler values and shorter buffers are tried as long as the two still differ.
#include <algorithm>
#include <cstring>

#include "ir/text/literal.h"
#include "verify/internal/compare.h"

namespace frazil::verify {
namespace {

using exec::Memory;
using exec::Value;
using ir::Type;

constexpr int MostTries = 400;

class Shrinker {
 public:
  Shrinker(const InputSpace& space, const Comparer& comparer, const Input& input,
           const Deadline& deadline)
      : space_(space), comparer_(comparer), best_(input), deadline_(deadline) {}

  Input Run() {
    bool changed = true;
    while (changed && tries_left_ > 0 && !deadline_.Passed()) {
      changed = false;
      for (size_t i = 0; i < best_.arguments.size(); ++i) {
        if (space_.entry->param_type(static_cast<uint32_t>(i)).is_scalar()) {
          changed |= Scalar(i);
        } else if (space_.entry->param_type(static_cast<uint32_t>(i)).is_buffer()) {
          changed |= Shorter(i);
          changed |= Zeroed(i);
          changed |= SimplerElements(i);
        }
      }
      changed |= ShorterStream(&Input::input) || ShorterStream(&Input::hints);
    }
    return std::move(best_);
  }

 private:
  bool Try(Input candidate) {
    if (tries_left_-- <= 0 || deadline_.Passed()) return false;
    if (!Allows(space_, candidate.arguments)) return false;
    if (comparer_.Compare(candidate, deadline_.LeftMs()).kind != Comparison::Kind::Different)
      return false;
    best_ = std::move(candidate);
    return true;
  }

  bool TryScalar(size_t i, std::vector<uint64_t> words) {
    if (std::ranges::equal(words, best_.arguments[i].scalar_words())) return false;
    Input candidate = best_;
    candidate.arguments[i] = Value::Scalar(best_.arguments[i].type, words);
    return Try(std::move(candidate));
  }

  // Towards zero: a smaller number of the same kind, or one of the very simple ones.
  bool Scalar(size_t i) {
    if (space_.is_symbol[i]) return false;
    const Type type = best_.arguments[i].type;
    const std::vector<uint64_t> now(best_.arguments[i].scalar_words().begin(),
                                    best_.arguments[i].scalar_words().end());
    for (int64_t simple : {0, 1, -1, 2, 3, 10}) {
      const std::vector<uint64_t> words = ir::LiteralFromInt(
          type.scalar == ir::Scalar::XField || type.scalar == ir::Scalar::Digest ? ir::types::Field
                                                                                 : type,
          simple);
      std::vector<uint64_t> whole(ir::WordsOf(type), 0);
      std::ranges::copy(words, whole.begin());
      if (whole == now) return false;  // as simple as it gets
      if (!ir::IsCanonicalLiteral(type, whole)) continue;
      if (TryScalar(i, whole)) return true;
    }
    if (now.size() != 1 || !ir::IsFixedInt(type.scalar)) return false;
    const bool is_signed = ir::IsSigned(type.scalar);
    const auto smaller = [&](uint64_t divisor) {
      return is_signed ? static_cast<uint64_t>(static_cast<int64_t>(now[0]) /
                                               static_cast<int64_t>(divisor))
                       : now[0] / divisor;
    };
    for (uint64_t divisor : {256u, 16u, 2u}) {
      if (smaller(divisor) != now[0] && TryScalar(i, {smaller(divisor)})) return true;
    }
    return false;
  }

  // The same memory at every place where it was.
  void Replace(Input& input, const std::shared_ptr<Memory>& from,
               const std::shared_ptr<Memory>& to) {
    for (Value& value : input.arguments) {
      if (value.memory == from) value.memory = to;
    }
  }

  bool Shorter(size_t i) {
    const std::shared_ptr<Memory> old = best_.arguments[i].memory;
    for (int64_t length : {int64_t{0}, int64_t{1}, old->length() / 2, old->length() - 1}) {
      if (length < 0 || length >= old->length()) continue;
      auto memory = MakeGuardedMemory(old->element(), length, PlaceOf(*old));
      std::memcpy(memory->data(), old->data(), memory->size_bytes());
      Input candidate = best_;
      Replace(candidate, old, memory);
      // Lengths that are passed along shrink together with the buffer.
      Input together = candidate;
      for (Value& value : together.arguments) {
        if (value.type == ir::types::Index && value.memory == nullptr &&
            static_cast<int64_t>(value.word) == old->length())
          value.word = static_cast<uint64_t>(length);
      }
      for (Value& value : together.arguments) {
        if (value.memory == nullptr || value.memory == memory ||
            value.memory->length() != old->length() || !value.type.is_buffer())
          continue;
        const std::shared_ptr<Memory> other = value.memory;
        auto cut = MakeGuardedMemory(other->element(), length, PlaceOf(*other));
        std::memcpy(cut->data(), other->data(), cut->size_bytes());
        Replace(together, other, cut);
      }
      if (Try(std::move(together)) || Try(std::move(candidate))) return true;
    }
    return false;
  }

  bool Zeroed(size_t i) {
    const std::shared_ptr<Memory> old = best_.arguments[i].memory;
    const auto is_zero = [](std::byte b) { return b == std::byte{0}; };
    if (std::all_of(old->data(), old->data() + old->size_bytes(), is_zero)) return false;
    auto memory = MakeGuardedMemory(old->element(), old->length(), PlaceOf(*old));
    Input candidate = best_;
    Replace(candidate, old, memory);
    return Try(std::move(candidate));
  }

  // One element after the other becomes 0 or 1; only short buffers are worth it.
  bool SimplerElements(size_t i) {
    constexpr int64_t Longest = 8;
    bool changed = false;
    const int64_t length = best_.arguments[i].memory->length();
    const Type element = best_.arguments[i].memory->element();
    if (length > Longest || ir::WordsOf(element) != 1) return false;
    for (int64_t at = 0; at < length; ++at) {
      uint64_t now = 0;
      best_.arguments[i].memory->Get(at, std::span(&now, 1));
      for (int64_t simple : {0, 1, 2}) {
        const std::vector<uint64_t> words = ir::LiteralFromInt(element, simple);
        if (words[0] == now) break;
        Input candidate = CopyOf(best_);
        candidate.arguments[i].memory->Set(at, words);
        if (!Try(std::move(candidate))) continue;
        changed = true;
        break;
      }
    }
    return changed;
  }

  bool ShorterStream(std::vector<Value> Input::* stream) {
    const size_t size = (best_.*stream).size();
    for (size_t length : {size_t{0}, size / 2, size - 1}) {
      if (size == 0 || length >= size) continue;
      Input candidate = best_;
      (candidate.*stream).resize(length);
      if (Try(std::move(candidate))) return true;
    }
    return false;
  }

  const InputSpace& space_;
  const Comparer& comparer_;
  Input best_;
  Deadline deadline_;
  int tries_left_ = MostTries;
};

}  // namespace

std::optional<Refuted> MakeRefuted(const InputSpace& space, const Comparer& comparer,
                                   const Input& input, const Limits& limits, uint64_t left_ms) {
  // A difference is worth a moment even where the time is up.
  constexpr uint64_t LeastMs = 200;
  constexpr uint64_t MostMs = 1000;
  const Deadline deadline = Deadline::After(std::clamp(left_ms, LeastMs, MostMs));
  const Input simple = Shrinker(space, comparer, input, deadline).Run();
  for (const Input* found : {&simple, &input}) {
    Comparison again = comparer.Compare(*found, limits.run_ms);
    if (again.kind != Comparison::Kind::Different) continue;
    ProgramCall call;
    call.arguments = CopyOf(*found).arguments;
    call.context.input = found->input;
    call.context.hints = found->hints;
    call.context.limits = limits;
    call.source = std::move(again.source);
    call.candidate = std::move(again.candidate);
    return Refuted{std::move(call), std::move(again.difference)};
  }
  return std::nullopt;
}

}  // namespace frazil::verify
