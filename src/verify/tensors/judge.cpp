// Programs over tensors: each element of each result is a term over elements of the parameters and index expressions
// (forms.h), what may trap is a list of terms (traps.h). Both are made of each program with one table, so that equal is the
// same number.
//
// Why equal numbers are a proof:
//   results  a form is a function of the parameters' bits and of the indices in it, and each rule that makes one keeps that
//            function wherever the indices are within their sizes and nothing before has trapped
//   traps    the same list in the same order: the first of it that traps is the same one, of the same kind and op
//   limits   a candidate may not make a tensor of a negative size where its source does not, nor a tensor or a fold larger than
//            each of its source's; otherwise fuel, memory and depth may differ
#include "verify/tensors/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "verify/tensors/evaluator.h"
#include "verify/tensors/traps.h"

namespace frazil::verify {
namespace {

using namespace ir::names;
using tensors::Evaluator;
using tensors::FormId;
using tensors::Need;
using tensors::Traps;
using tensors::World;

constexpr size_t MostInsts = 4000;

bool HasBuffers(const Function& f) {
  for (uint32_t i = 0; i < f.param_count(); ++i)
    if (f.param_type(i).is_buffer()) return true;
  return false;
}

bool HasTensors(const ir::Program& program) {
  return std::ranges::any_of(program.functions, [](const Function& f) {
    return std::ranges::any_of(f.values, [](const auto& value) { return value.type.is_tensor(); });
  });
}

size_t InstsOf(const ir::Program& program) {
  size_t count = 0;
  for (const Function& f : program.functions) count += f.insts.size();
  return count;
}

bool SameShapes(const Function& f, const Function& g) {
  if (f.results.size() != g.results.size() || f.param_count() != g.param_count()) return false;
  const auto same = [&](Type a, Type b) {
    return a.form == b.form && a.element() == b.element() &&
           (!a.is_tensor() || f.shape(a) == g.shape(b));
  };
  for (uint32_t i = 0; i < f.param_count(); ++i)
    if (!same(f.param_type(i), g.param_type(i))) return false;
  return std::ranges::equal(f.results, g.results, same);
}

// What both programs start from.
void SetParams(World& world, const Function& entry, const ir::Guard& guard) {
  for (const ir::GuardAtom& atom : guard.atoms)
    if (atom.kind == ir::GuardKind::Equals && entry.param_type(atom.arg).is_scalar())
      world.known[atom.arg] = world.forms.Constant(atom.type, atom.low);
  // No tensor has a negative size: such arguments are refused.
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    if (!entry.param_type(i).is_tensor()) continue;
    for (const ir::Dim dim : entry.shape(entry.param_type(i)))
      if (dim.is_symbol() && !world.known.contains(dim.param()))
        world.bounds.SetSize(world.forms.Param(dim.param()));
  }
}

// Each tensor of a negative size that the second makes, the first makes too, and not later.
bool NeedsNoMore(const Traps& source, const Traps& candidate) {
  return std::ranges::all_of(candidate.needs(), [&](const Need& need) {
    return std::ranges::any_of(source.needs(), [&](const Need& other) {
      return other.is_certain && other.size == need.size && other.traps <= need.traps;
    });
  });
}

// The sizes that are symbols, in order, and the product of the others; nothing if it does not fit.
std::optional<std::pair<std::vector<FormId>, int64_t>> AmountOf(const tensors::Forms& forms,
                                                                const std::vector<FormId>& sizes) {
  std::pair<std::vector<FormId>, int64_t> amount = {{}, 1};
  for (const FormId size : sizes) {
    const std::optional<int64_t> number = forms.NumberOf(size);
    if (!number)
      amount.first.push_back(size);
    else if (__builtin_mul_overflow(amount.second, std::max<int64_t>(*number, 1), &amount.second))
      return std::nullopt;
  }
  std::ranges::sort(amount.first);
  return amount;
}

// Each tensor and each fold of the second is no larger than one of the first, or one of its parameters: limits may differ, but
// what ends shall end.
bool IsNoLarger(const World& world, const std::set<std::vector<FormId>>& source,
                const std::set<std::vector<FormId>>& candidate) {
  return std::ranges::all_of(candidate, [&](const std::vector<FormId>& sizes) {
    if (source.contains(sizes)) return true;
    const auto own = AmountOf(world.forms, sizes);
    return own && std::ranges::any_of(source, [&](const std::vector<FormId>& other) {
             const auto amount = AmountOf(world.forms, other);
             return amount && own->second <= amount->second &&
                    std::ranges::includes(amount->first, own->first);
           });
  });
}

FormId ResultOf(Evaluator& evaluator, uint32_t result, std::span<const FormId> at) {
  const Function& f = evaluator.function(evaluator.entry());
  const ValueId value = f.operand(f.inst(f.region(f.body).insts.back()), result);
  if (f.type(value).is_scalar()) return evaluator.Value(evaluator.entry(), value);
  return evaluator.Element(evaluator.entry(), value, at);
}

}  // namespace

Verdict TensorFormJudge(const ir::Program& source, const ir::Program& candidate,
                        const ir::Guard& guard) {
  const Function& entry = source.entry_function();
  if (HasBuffers(entry) || HasBuffers(candidate.entry_function()))
    return Unknown{"a parameter is a buffer"};
  if (!HasTensors(source) && !HasTensors(candidate)) return Unknown{"there are no tensors"};
  if (!SameShapes(entry, candidate.entry_function())) return Unknown{"the signatures differ"};
  if (InstsOf(source) > MostInsts || InstsOf(candidate) > MostInsts)
    return Unknown{"the programs are too long for a normal form"};
  World world;
  SetParams(world, entry, guard);
  Evaluator a(source, world), b(candidate, world);
  Traps a_traps(a, world), b_traps(b, world);
  a_traps.Read();
  if (a.failure().empty()) b_traps.Read();
  const auto failure = [&]() -> std::string {
    if (world.forms.is_exhausted()) return "the programs are too large for a normal form";
    return a.failure().empty() ? b.failure() : a.failure();
  };
  if (std::string why = failure(); !why.empty()) return Unknown{std::move(why)};
  if (a_traps.list() != b_traps.list()) return Unknown{"what may trap differs"};
  if (!NeedsNoMore(a_traps, b_traps))
    return Unknown{"the second program may make a tensor of a negative size"};
  std::set<std::vector<FormId>> shapes = a_traps.shapes();
  for (uint32_t i = 0; i < entry.param_count(); ++i)
    if (entry.param_type(i).is_tensor()) shapes.insert(a.SizesOf(a.entry(), entry.param_type(i)));
  if (!IsNoLarger(world, shapes, b_traps.shapes()))
    return Unknown{"the second program makes a larger tensor than the first"};
  for (uint32_t i = 0; i < entry.results.size(); ++i) {
    std::vector<FormId> at;
    if (entry.results[i].is_tensor())
      for (const FormId size : a.SizesOf(a.entry(), entry.results[i]))
        at.push_back(world.forms.Open(size));
    const FormId x = ResultOf(a, i, at);
    const FormId y = a.failure().empty() ? ResultOf(b, i, at) : x;
    for (const FormId index : at) world.forms.Close(index);
    if (std::string why = failure(); !why.empty()) return Unknown{std::move(why)};
    if (x != y) return Unknown{fmt::format("the forms of result {} differ", i + 1)};
  }
  return Proved{{Grade::Proved, "normal form",
                 fmt::format("equal elements of {} result{}, {} terms", entry.results.size(),
                             entry.results.size() == 1 ? "" : "s", world.forms.size()),
                 0}};
}

}  // namespace frazil::verify
