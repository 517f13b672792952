// Every refusal here names the parameter and says what would fit: a kernel author reads it without the source open.
#include "exec/kernel_launch.h"

#include <fmt/format.h>

#include "base/number/goldilocks.h"

namespace frazil::exec {
namespace {

using ir::KernelParam;
using ir::ParamRole;

// The word of an integer scalar as a signed number; a u64 above the range counts as the largest.
int64_t NumberOf(const Value& value) {
  if (value.type.scalar == ir::Scalar::U64 && static_cast<int64_t>(value.word) < 0)
    return INT64_MAX;
  return static_cast<int64_t>(value.word);
}

Result<Value> IntegerOf(const KernelParam& param, int64_t number) {
  Value value = Value::Int(param.type, number);
  if (NumberOf(value) != number)
    return Fail(Diag::BadLaunch, fmt::format("'{}' would be {}, which does not fit {}", param.name,
                                             number, ir::ScalarName(param.type.scalar)));
  return value;
}

class Launch {
 public:
  Launch(const ir::KernelSignature& signature, std::span<const std::optional<Value>> given,
         const LaunchShape& shape)
      : signature_(signature), given_(given), shape_(shape) {}

  Result<std::vector<Value>> Complete() {
    std::vector<Value> values;
    for (uint32_t i = 0; i < signature_.params.size(); ++i) {
      const KernelParam& param = signature_.params[i];
      if (given_[i])
        values.push_back(TRY(Given(param, *given_[i])));
      else if (param.role == ParamRole::Extent)
        values.push_back(TRY(Extent(param)));
      else if (ir::IsLaunchRole(param.role))
        values.push_back(TRY(FromShape(param)));
      else
        return Fail(Diag::BadLaunch, fmt::format("'{}' is not given", param.name));
    }
    TRY_VOID(CheckExtents(values));
    return values;
  }

 private:
  static Result<Value> Given(const KernelParam& param, const Value& value) {
    if (!AreIntegers(param.type, value.type) || value.type.scalar == param.type.scalar)
      return value;
    if (FitsInteger(value.type.scalar, value.word, param.type.scalar))
      return Value::Word(param.type, value.word);
    return Fail(Diag::BadLaunch, fmt::format("'{}' is {}, which does not fit {}", param.name,
                                             PrintValue(value), ir::ScalarName(param.type.scalar)));
  }

  Result<Value> Extent(const KernelParam& param) const {
    if (shape_.n) return IntegerOf(param, *shape_.n);
    std::optional<int64_t> length;
    uint32_t first = 0;
    for (uint32_t buffer : param.buffers) {
      if (!given_[buffer]) continue;  // reported where it is missing
      int64_t own = given_[buffer]->memory->length();
      if (length && *length != own)
        return Fail(Diag::BadLaunch,
                    fmt::format("'{}' is not given, and '{}' has {} elements where '{}' has {}",
                                param.name, signature_.params[buffer].name, own,
                                signature_.params[first].name, *length));
      if (!length) first = buffer;
      length = own;
    }
    if (!length) return Fail(Diag::BadLaunch, fmt::format("'{}' is not given", param.name));
    return IntegerOf(param, *length);
  }

  Result<Value> FromShape(const KernelParam& param) const {
    auto at = [&](ParamRole first) {
      return static_cast<size_t>(param.role) - static_cast<size_t>(first);
    };
    int64_t number = 0;
    if (param.role >= ParamRole::BlockX) {
      number = shape_.block[at(ParamRole::BlockX)];
    } else if (param.role >= ParamRole::GridX) {
      const bool in_x = param.role == ParamRole::GridX;
      if (in_x && !shape_.blocks())
        return Fail(Diag::BadLaunch,
                    "the kernel knows blocks: give the number of blocks, or of lanes");
      number = in_x ? *shape_.blocks() : shape_.grid[at(ParamRole::GridX)].value_or(1);
    } else {
      number = param.role == ParamRole::LanesX && shape_.n ? *shape_.n
                                                           : shape_.lanes[at(ParamRole::LanesX)];
      if (param.role == ParamRole::LanesX && !shape_.n)
        return Fail(Diag::BadLaunch,
                    "the kernel has no guard such as 'if i < n': give the number of lanes");
    }
    return IntegerOf(param, number);
  }

  // An extent beyond a buffer would trap at its first lane outside; said before anything runs.
  Result<void> CheckExtents(std::span<const Value> values) const {
    for (uint32_t i = 0; i < values.size(); ++i) {
      const KernelParam& param = signature_.params[i];
      if (param.role != ParamRole::Extent) continue;
      for (uint32_t buffer : param.buffers) {
        int64_t length = values[buffer].memory->length();
        if (NumberOf(values[i]) > length)
          return Fail(Diag::BadLaunch,
                      fmt::format("'{}' is {}, but '{}' has {} elements", param.name,
                                  NumberOf(values[i]), signature_.params[buffer].name, length));
      }
    }
    return {};
  }

  const ir::KernelSignature& signature_;
  std::span<const std::optional<Value>> given_;
  const LaunchShape& shape_;
};

}  // namespace

bool AreIntegers(ir::Type a, ir::Type b) {
  return a.is_scalar() && b.is_scalar() && ir::IsFixedInt(a.scalar) && ir::IsFixedInt(b.scalar);
}

IntegerRange RangeOf(ir::Scalar scalar) {
  if (scalar == ir::Scalar::Field) return {0, goldilocks::P - 1};
  const uint64_t all = UINT64_MAX >> (64 - 8 * ir::BytesOf(ir::Type::Of(scalar)));
  if (!ir::IsSigned(scalar)) return {0, all};
  return {-1 - static_cast<int64_t>(all >> 1), all >> 1};
}

bool FitsInteger(ir::Scalar from, uint64_t word, ir::Scalar to) {
  if (!ir::IsFixedInt(from) || (!ir::IsFixedInt(to) && to != ir::Scalar::Field)) return false;
  const IntegerRange range = RangeOf(to);
  if (ir::IsSigned(from) && static_cast<int64_t>(word) < 0)
    return static_cast<int64_t>(word) >= range.least;
  return word <= range.most;
}

Result<LaunchShape> ShapeOf(const LaunchConfig& config) {
  LaunchShape shape;
  shape.grid = {config.grid.x, config.grid.y, config.grid.z};
  shape.block = {config.block.x, config.block.y, config.block.z};
  const std::optional<int64_t> lanes[] = {config.lanes(),
                                          config.LanesOf(config.grid.y, config.block.y),
                                          config.LanesOf(config.grid.z, config.block.z)};
  for (size_t axis = 0; axis < 3; ++axis) {
    if (!lanes[axis])
      return Fail(Diag::BadLaunch, fmt::format("{} blocks of {} lanes are more than can be counted",
                                               *shape.grid[axis], shape.block[axis]));
    shape.lanes[axis] = *lanes[axis];
  }
  return shape;
}

Result<void> CheckShape(const LaunchShape& shape) {
  auto check = [](std::optional<int64_t> number, std::string_view what) -> Result<void> {
    if (number.value_or(0) >= 0) return {};
    return Fail(Diag::BadLaunch, fmt::format("a launch cannot have {} {}", *number, what));
  };
  TRY_VOID(check(shape.n, "lanes"));
  for (int64_t edge : shape.lanes) TRY_VOID(check(edge, "lanes"));
  for (std::optional<int64_t> edge : shape.grid) TRY_VOID(check(edge, "blocks"));
  for (int64_t edge : shape.block)
    if (edge < 1) return Fail(Diag::BadLaunch, "a block has at least one lane in each direction");
  return {};
}

Result<std::vector<Value>> CompleteLaunch(const ir::KernelSignature& signature,
                                          std::span<const std::optional<Value>> given,
                                          const LaunchShape& shape) {
  if (given.size() != signature.params.size())
    return Fail(Diag::WrongArgumentCount,
                fmt::format("{} takes {} arguments, {} given", signature.name,
                            signature.params.size(), given.size()));
  TRY_VOID(CheckShape(shape));
  return Launch(signature, given, shape).Complete();
}

}  // namespace frazil::exec
