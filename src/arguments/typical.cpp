#include "arguments/typical.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

namespace frazil::arguments {
namespace {

// The value of the parameters that size tensors: its power by the most of them that one tensor has is about `length`.
int64_t SideOf(const ir::Function& entry, int64_t length, std::set<uint32_t>& sizes) {
  int most = 0;
  auto look = [&](ir::Type type) {
    if (!type.is_tensor()) return;
    int symbols = 0;
    for (const ir::Dim dim : entry.shape(type)) {
      if (!dim.is_symbol()) continue;
      sizes.insert(dim.param());
      ++symbols;
    }
    most = std::max(most, symbols);
  };
  for (uint32_t i = 0; i < entry.param_count(); ++i) look(entry.param_type(i));
  for (const ir::Type type : entry.results) look(type);
  if (most <= 1) return length;
  return static_cast<int64_t>(std::floor(std::pow(static_cast<double>(length), 1.0 / most) + 1e-9));
}

}  // namespace

Result<std::vector<exec::Value>> TypicalArguments(const ir::Function& entry, uint64_t n,
                                                  const Limits& limits) {
  if (n > static_cast<uint64_t>(INT64_MAX))
    return Fail(Diag::LimitReached, fmt::format("--n {} is more than any buffer can have", n));
  const auto length = static_cast<int64_t>(n);
  std::set<uint32_t> sizes;
  const int64_t side = SideOf(entry, length, sizes);
  uint64_t left = limits.memory_bytes;
  std::vector<exec::Value> values;
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    const ir::Type type = entry.param_type(i);
    const ir::Type element = type.element();
    auto number = [&](int64_t k) {
      return ir::IsFloat(element.scalar)
                 ? exec::Value::Float(element, 0.25 + static_cast<double>(k % 29) / 32)
                 : exec::Value::Int(element, 1 + k % 29);
    };
    if (type.is_scalar()) {
      values.push_back(type.scalar == ir::Scalar::Index
                           ? exec::Value::Int(type, sizes.contains(i) ? side : length)
                           : number(i));
      continue;
    }
    std::vector<int64_t> dims;
    unsigned __int128 elements = type.is_tensor() ? 1 : n;
    if (type.is_tensor()) {
      for (const ir::Dim dim : entry.shape(type)) {
        dims.push_back(dim.is_symbol() ? side : dim.value);
        elements =
            std::min<unsigned __int128>(elements * static_cast<uint64_t>(dims.back()), UINT64_MAX);
      }
    }
    if (elements * ir::BytesOf(element) > left)
      return Fail(Diag::LimitReached,
                  fmt::format("made-up arguments of --n {} do not fit --memory {} bytes", n,
                              limits.memory_bytes));
    left -= static_cast<uint64_t>(elements) * ir::BytesOf(element);
    const auto count = static_cast<int64_t>(elements);
    auto memory = std::make_shared<exec::Memory>(element, count);
    for (int64_t k = 0; k < count; ++k) memory->Set(k, number(7 * k + i).scalar_words());
    exec::Value value = type.is_tensor() ? exec::Value::Tensor(std::move(memory), std::move(dims))
                                         : exec::Value::Buffer(std::move(memory));
    if (type.is_buffer()) value.type = type;
    values.push_back(std::move(value));
  }
  return values;
}

std::vector<exec::Value> CopyArguments(std::span<const exec::Value> values) {
  std::vector<exec::Value> copies(values.begin(), values.end());
  std::map<const exec::Memory*, std::shared_ptr<exec::Memory>> copied;
  for (exec::Value& value : copies) {
    if (value.memory == nullptr) continue;
    std::shared_ptr<exec::Memory>& copy = copied[value.memory.get()];
    if (copy == nullptr) {
      copy = std::make_shared<exec::Memory>(value.memory->element(), value.memory->length());
      std::copy_n(value.memory->data(), copy->size_bytes(), copy->data());
    }
    value.memory = copy;
  }
  return copies;
}

std::string ShowArguments(const ir::Function& entry, std::span<const exec::Value> values) {
  constexpr int64_t Shown = 3;
  std::string text;
  for (uint32_t i = 0; i < values.size(); ++i) {
    const exec::Value& value = values[i];
    const bool named = i < entry.value_names.size() && !entry.value_names[i].empty();
    text += fmt::format("{}{} = ", i == 0 ? "" : ", ",
                        named ? entry.value_names[i] : std::to_string(i));
    if (value.memory == nullptr || value.memory->length() <= Shown) {
      text += exec::PrintValue(value);
      continue;
    }
    auto first = std::make_shared<exec::Memory>(value.memory->element(), Shown);
    std::copy_n(value.memory->data(), first->size_bytes(), first->data());
    std::string list = exec::PrintValue(exec::Value::Buffer(std::move(first)));
    list.pop_back();
    text += list + ", ... ";
    if (value.dims.empty()) text += std::to_string(value.memory->length());
    for (size_t d = 0; d < value.dims.size(); ++d)
      text += fmt::format("{}{}", d == 0 ? "" : " x ", value.dims[d]);
    text += " elements]";
  }
  return text;
}

}  // namespace frazil::arguments
