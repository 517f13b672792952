#include "arguments/bind.h"

#include <fmt/format.h>

#include <algorithm>

#include "arguments/arguments.h"
#include "arguments/npy.h"

namespace frazil::arguments {
namespace {

Result<exec::Value> ReadBound(const ir::Function& entry, uint32_t param, std::string_view name,
                              const std::string& text, std::span<const exec::Value> earlier,
                              MemoryBudget& budget, const Limits& limits) {
  ir::Type type = entry.param_type(param);
  if (type.is_buffer()) {
    if (text.ends_with(".npy"))
      return exec::Value::Buffer(TRY(ReadNpy(text, type.element(), budget, limits)));
    if (std::optional<exec::Value> made = TRY(MadeBuffer(type.element(), name, text, budget)))
      return *made;
  }
  exec::Value value = TRY(ParseArgument(entry, param, text, earlier, limits));
  const bool is_new =
      value.memory != nullptr && std::ranges::none_of(earlier, [&](const exec::Value& other) {
        return other.memory == value.memory;
      });
  if (is_new) TRY_VOID(budget.Charge(value.memory->element(), value.memory->length()));
  return value;
}

std::string Known(const ir::KernelSignature& signature) {
  std::vector<std::string> names;
  for (const ir::KernelParam& param : signature.params)
    if (!ir::IsLaunchRole(param.role)) names.push_back(param.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Result<Pairs> SplitPairs(const std::vector<std::string>& texts, std::string_view flag) {
  Pairs pairs;
  auto add = [&](std::string_view text) -> Result<void> {
    size_t equals = text.find('=');
    if (equals == 0 || equals == std::string_view::npos)
      return Fail(Diag::BadUsage, fmt::format("{} takes name=value, '{}' is none", flag, text));
    auto [place, fresh] = pairs.emplace(text.substr(0, equals), text.substr(equals + 1));
    if (!fresh) return Fail(Diag::BadUsage, fmt::format("'{}' is given twice", place->first));
    return {};
  };
  for (const std::string& text : texts) {
    int depth = 0;
    size_t start = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      depth += (text[i] == '[') - (text[i] == ']');
      if (text[i] != ',' || depth > 0) continue;
      TRY_VOID(add(std::string_view(text).substr(start, i - start)));
      start = i + 1;
    }
    TRY_VOID(add(std::string_view(text).substr(start)));
  }
  return pairs;
}

Result<Pairs> SplitBufferPairs(const std::vector<std::string>& texts, std::string_view flag,
                               const ir::KernelSignature& signature) {
  Pairs pairs = TRY(SplitPairs(texts, flag));
  for (const auto& [name, value] : pairs) {
    auto is_it = [&](const ir::KernelParam& param) {
      return param.name == name && param.type.is_buffer();
    };
    if (std::ranges::none_of(signature.params, is_it))
      return Fail(Diag::BadUsage,
                  fmt::format("{} {}: {} has no such buffer", flag, name, signature.name));
  }
  return pairs;
}

exec::LaunchShape ShapeOf(const LaunchFlags& flags) {
  exec::LaunchShape shape;
  shape.n = flags.n;
  for (size_t k = 0; k < flags.lanes.size(); ++k) shape.lanes[k] = flags.lanes[k];
  if (!shape.n && !flags.lanes.empty()) shape.n = flags.lanes[0];
  for (size_t k = 0; k < flags.grid.size(); ++k) shape.grid[k] = flags.grid[k];
  for (size_t k = 0; k < flags.block.size(); ++k) shape.block[k] = flags.block[k];
  shape.shared_bytes = flags.shared_bytes;
  return shape;
}

Result<std::vector<exec::Value>> Bind(const ir::KernelSignature& signature,
                                      const ir::Function& entry, Pairs pairs,
                                      const exec::LaunchShape& shape, MemoryBudget& budget,
                                      const Limits& limits) {
  std::vector<std::optional<exec::Value>> given(signature.params.size());
  std::vector<exec::Value> earlier;
  for (uint32_t i = 0; i < signature.params.size(); ++i) {
    auto pair = pairs.find(signature.params[i].name);
    if (pair != pairs.end()) {
      Result<exec::Value> value =
          ReadBound(entry, i, pair->first, pair->second, earlier, budget, limits);
      if (!value) {
        value.error().message = fmt::format("'{}': {}", pair->first, value.error().message);
        return std::unexpected(std::move(value.error()));
      }
      given[i] = std::move(*value);
      pairs.erase(pair);
    }
    earlier.push_back(given[i] ? *given[i] : exec::Value());
  }
  if (!pairs.empty())
    return Fail(Diag::WrongArgument,
                fmt::format("{} has no parameter '{}'; it has {}", signature.name,
                            pairs.begin()->first, Known(signature)));
  return exec::CompleteLaunch(signature, given, shape);
}

}  // namespace frazil::arguments
