// Measured (words, an addition with other numbers each time, wasmtime): docs/benchmarks.md.
#include "exec/shape_runner.h"

#include <algorithm>

#include "ir/digest.h"
#include "ir/generalize.h"

namespace frazil::exec {

ShapeRunner::ShapeRunner(const Target& target, size_t most_shapes)
    : target_(target), most_shapes_(std::max<size_t>(1, most_shapes)) {}

Result<Outcome> ShapeRunner::Run(const ir::Program& program, std::span<const Value> arguments,
                                 const RunContext& context) {
  ir::Generalized shape = TRY(ir::Generalize(program));
  Callable* callable = TRY(Find(shape.program));
  std::vector<Value> all(arguments.begin(), arguments.end());
  for (const ir::Generalized::Constant& constant : shape.constants)
    all.push_back(Value::Scalar(constant.type, constant.words));
  return callable->Run(all, context);
}

Result<Callable*> ShapeRunner::Find(const ir::Program& generalized) {
  std::string key = ir::CanonicalBytes(generalized);
  auto found = entries_.find(key);
  if (found == entries_.end()) {
    std::unique_ptr<Callable> callable = TRY(target_.Load(TRY(target_.Emit(generalized))));
    if (entries_.size() >= most_shapes_)
      entries_.erase(std::min_element(
          entries_.begin(), entries_.end(),
          [](const auto& a, const auto& b) { return a.second.last_use < b.second.last_use; }));
    ++compiled_;
    found = entries_.emplace(std::move(key), Entry{std::move(callable)}).first;
  }
  found->second.last_use = ++clock_;
  return found->second.callable.get();
}

}  // namespace frazil::exec
