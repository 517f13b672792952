// match. A pattern is a list of tests of scalars and of bindings, so structs, nested or not, need nothing of their own.
// Arms become a chain of ifs; arms that test one U32 alone become a switch, and so do many arms on one Field.
#include <algorithm>
#include <map>
#include <optional>
#include <unordered_set>

#include <fmt/format.h>

#include "base/number/goldilocks.h"
#include "frontends/trident/body.h"
#include "frontends/trident/suggest.h"
#include "frontends/trident/walk.h"

namespace frazil::frontends::trident {

struct Body::Flat {
  std::map<size_t, uint64_t> tests;  // scalar of the value -> what it must be
  struct Binding {
    std::string name;
    TypeId type;
    size_t leaf;
    Location location;
  };
  std::vector<Binding> bindings;
};

namespace {

// Is there a value that the new row takes and none of the old ones does? Columns are scalars; a Bool has two values, all
// others have one that nobody names. Gives true when it runs out of steps: a match too large to judge needs a `_`.
struct Usefulness {
  const std::vector<bool>& is_bool;
  uint64_t steps = 100'000;

  using Row = const std::map<size_t, uint64_t>*;

  bool Useful(const std::vector<Row>& rows, const std::map<size_t, uint64_t>& row, size_t column) {
    if (steps == 0 || rows.empty()) return true;
    --steps;
    // Columns that no row tests decide nothing.
    while (column < is_bool.size() && !Tested(rows, column)) ++column;
    if (column >= is_bool.size()) return false;
    auto own = row.find(column);
    if (own != row.end()) return Useful(Taking(rows, column, own->second), row, column + 1);
    std::vector<uint64_t> named;
    for (Row other : rows)
      if (auto it = other->find(column); it != other->end()) named.push_back(it->second);
    std::sort(named.begin(), named.end());
    named.erase(std::unique(named.begin(), named.end()), named.end());
    for (uint64_t value : named)
      if (Useful(Taking(rows, column, value), row, column + 1)) return true;
    if (is_bool[column] && named.size() == 2) return false;
    return Useful(Taking(rows, column, std::nullopt), row, column + 1);
  }

  static bool Tested(const std::vector<Row>& rows, size_t column) {
    for (Row row : rows)
      if (row->contains(column)) return true;
    return false;
  }
  // Rows that do not refuse this value there; nothing: a value that nobody names.
  static std::vector<Row> Taking(const std::vector<Row>& rows, size_t column,
                                 std::optional<uint64_t> value) {
    std::vector<Row> taking;
    for (Row row : rows) {
      auto it = row->find(column);
      if (it == row->end() || (value && it->second == *value)) taking.push_back(row);
    }
    return taking;
  }
};

}  // namespace

bool Body::Flatten(const Pattern& pattern, TypeId type, size_t leaf, Flat* flat) {
  const std::string name = Name(type);
  switch (pattern.kind) {
    case Pattern::Kind::Wildcard: return true;
    case Pattern::Kind::Bind:
      flat->bindings.push_back({pattern.name, type, leaf, pattern.location});
      return true;
    case Pattern::Kind::Bool:
      if (type == TypeTable::Bool) {
        flat->tests[leaf] = pattern.number;
        return true;
      }
      Complain(Diag::BadMatch, pattern.location,
               fmt::format("`true` and `false` match a Bool, not {}", name));
      return false;
    case Pattern::Kind::Integer:
      if ((type == TypeTable::Field && pattern.number < goldilocks::P) ||
          (type == TypeTable::U32 && pattern.number >> 32 == 0)) {
        flat->tests[leaf] = pattern.number;
        return true;
      }
      Complain(Diag::BadMatch, pattern.location, fmt::format("a number cannot match {}", name),
               type == TypeTable::Bool                              ? "use `true` or `false`"
               : type == TypeTable::U32 || type == TypeTable::Field ? "it is too large"
                                                                    : "");
      return false;
    case Pattern::Kind::Struct: break;
  }
  const TypeInfo info = all_.types[type];
  if (info.kind != TypeKind::Struct || info.decl->name != pattern.name) {
    Complain(Diag::BadMatch, pattern.location,
             fmt::format("pattern '{}' cannot match {}", pattern.name, name));
    return false;
  }
  bool fine = true;
  std::vector<bool> seen(info.parts.size());
  for (const auto& [field, inner] : pattern.fields) {
    size_t i = 0, at = leaf;
    for (; i < info.parts.size() && info.decl->members[i].name != field; ++i)
      at += all_.types[info.parts[i]].leaves.size();
    if (i == info.parts.size()) {
      std::vector<std::string_view> known;
      for (const MemberDecl& member : info.decl->members) known.push_back(member.name);
      Complain(Diag::UnknownName, inner.location,
               fmt::format("struct '{}' has no field '{}'", info.decl->name, field),
               Suggest(field, known));
      fine = false;
      continue;
    }
    if (seen[i])
      Complain(Diag::BadMatch, inner.location,
               fmt::format("field '{}' stands twice in the pattern", field));
    if (info.module != module_ && !info.decl->members[i].is_pub)
      Complain(Diag::PrivateItem, inner.location,
               fmt::format("field '{}' of struct '{}' is private", field, info.decl->name));
    seen[i] = true;
    fine = Flatten(inner, info.parts[i], at, flat) && fine;
  }
  for (size_t i = 0; i < seen.size(); ++i)
    if (!seen[i]) {
      Complain(Diag::BadMatch, pattern.location,
               fmt::format("the pattern leaves out field '{}'", info.decl->members[i].name),
               fmt::format("say that it does not matter: {}: _", info.decl->members[i].name));
      fine = false;
    }
  return fine;
}

void Body::CheckArms(const Stmt& stmt, TypeId type, const std::vector<Flat>& flats) {
  std::vector<bool> is_bool;
  for (ir::Type leaf : all_.types[type].leaves) is_bool.push_back(leaf == ir::types::Bool);
  std::vector<Usefulness::Row> rows;
  std::unordered_set<uint64_t>
      named;  // by arms that test one number: thousands of them are no table of thousands squared
  bool one_number = is_bool.size() == 1 && !is_bool[0];
  for (size_t i = 0; i < flats.size(); ++i) {
    one_number = one_number && !flats[i].tests.empty();
    const bool useful = one_number ? named.insert(flats[i].tests.begin()->second).second
                                   : Usefulness{is_bool}.Useful(rows, flats[i].tests, 0);
    if (!useful)
      Complain(Diag::BadMatch, stmt.arms[i].pattern.location,
               "this arm is never reached: the ones before it match all of it",
               "remove it, or move it up");
    rows.push_back(&flats[i].tests);
  }
  if (Usefulness{is_bool}.Useful(rows, {}, 0))
    Complain(Diag::BadMatch, stmt.location, "match does not cover every value",
             "add an arm `_ => { ... }`");
}

ir::Values Body::Arm(const Stmt& stmt, const Value& value, const Flat& flat, size_t i,
                     const Exit& exit, const After& after) {
  const size_t scope = OpenScope();
  for (const Flat::Binding& binding : flat.bindings) {
    const auto begin = value.leaves.begin() + static_cast<ptrdiff_t>(binding.leaf);
    ir::Values leaves(begin,
                      begin + static_cast<ptrdiff_t>(all_.types[binding.type].leaves.size()));
    Variable& variable =
        Bind(binding.name, binding.type, false, binding.location, {}, "bound by a pattern");
    variable.in_memory = all_.types[binding.type].has_array &&
                         all_.facts(instance_.decl).in_memory.contains(binding.name);
    if (variable.in_memory) {
      ir::Values buffers = NewBuffers(binding.type);
      StoreAll(binding.type, buffers, leaves);
      leaves = std::move(buffers);
    }
    variables_[bound_.back()].leaves = std::move(leaves);
  }
  // The bindings end before what follows the match begins.
  After close;
  if (after)
    close = [&] {
      CloseScope(scope);
      return after();
    };
  ir::Values values = RunBlock(*stmt.arms[i].body, exit, close);
  CloseScope(scope);
  return values;
}

ir::Values Body::Arms(const Stmt& stmt, const Value& value, const std::vector<Flat>& flats,
                      size_t i, const Exit& exit, const After& after) {
  if (i + 1 >= flats.size() || flats[i].tests.empty())
    return Arm(stmt, value, flats[i], i, exit, after);
  ir::ValueId holds;
  for (const auto& [leaf, word] : flats[i].tests) {
    ir::ValueId scalar = value.leaves[leaf];
    const ir::Type type = builder_.TypeOf(scalar);
    ir::ValueId one = type != ir::types::Bool
                          ? builder_.Binary(ir::Op::Eq, scalar, ConstWord(type, word))
                      : word != 0 ? scalar
                                  : builder_.Unary(ir::Op::Not, scalar);
    holds = holds.valid() ? builder_.Binary(ir::Op::And, holds, one) : one;
  }
  return EmitIf(
      holds, exit.types, [&] { return Arm(stmt, value, flats[i], i, exit, after); },
      [&] { return Arms(stmt, value, flats, i + 1, exit, after); });
}

ir::Values Body::SwitchArms(const Stmt& stmt, const Value& value, const std::vector<Flat>& flats,
                            const Exit& exit, const After& after) {
  std::vector<int64_t> cases;
  size_t i = 0;
  for (; i < flats.size() && !flats[i].tests.empty(); ++i)
    cases.push_back(static_cast<int64_t>(flats[i].tests.begin()->second));
  ir::ValueId selector = value.leaves[0];
  if (value.type == TypeTable::Field)
    selector = builder_.Cast(ir::Op::Cast, selector, ir::types::U64);
  // Some targets test one case after the other, each inside of the one before: so many at a time stay within every limit
  // on nesting. A group tells whether one of its cases was it; if none was, the next group is asked.
  constexpr size_t GroupCases = 64;
  const std::function<ir::Values(size_t)> from = [&](size_t first) {
    const size_t left = cases.size() - first;
    if (left <= GroupCases)
      return builder_.Switch(
          selector, std::span(cases).subspan(first), exit.types, [&](uint32_t k) {
            const size_t i = first + k;
            return Region([&] { return Arm(stmt, value, flats[i], i, exit, after); });
          });
    std::vector<ir::Type> types = {ir::types::Bool};
    types.insert(types.end(), exit.types.begin(), exit.types.end());
    const ir::Values values = builder_.Switch(
        selector, std::span(cases).subspan(first, GroupCases), types, [&](uint32_t k) {
          return Region([&] {
            const size_t i = first + k;
            const bool other = k == GroupCases;
            ir::Values arm = other ? Zeros(exit.types) : Arm(stmt, value, flats[i], i, exit, after);
            arm.insert(arm.begin(), ConstWord(ir::types::Bool, other ? 0 : 1));
            return arm;
          });
        });
    return EmitIf(
        values[0], exit.types, [&] { return ir::Values(values.begin() + 1, values.end()); },
        [&] { return from(first + GroupCases); });
  };
  return from(0);
}

ir::Values Body::GenMatch(const Stmt& stmt, const Exit& exit, const After& after) {
  Value value = Gen(*stmt.value);
  if (stmt.arms.empty()) Complain(Diag::BadMatch, stmt.location, "match has no arms");
  std::vector<Flat> flats(stmt.arms.size());
  bool fine = !value.is_error() && !stmt.arms.empty();
  if (fine)
    for (size_t i = 0; i < flats.size(); ++i)
      fine = Flatten(stmt.arms[i].pattern, value.type, 0, &flats[i]) && fine;
  const uint32_t errors = all_.error_count();
  if (fine) CheckArms(stmt, value.type, flats);
  At(stmt.location);
  if (!fine || errors != all_.error_count()) {
    // Bodies are still checked, as if each stood alone.
    for (const MatchArm& arm : stmt.arms)
      if (fine || arm.pattern.kind != Pattern::Kind::Struct)
        Region([&] { return RunBlock(*arm.body, exit); });
    return after ? after() : Return(exit, Zero(instance_.result));
  }
  constexpr size_t ManyArms = 16;
  const bool number = value.type == TypeTable::U32 || value.type == TypeTable::Field;
  if (number && flats.size() > (value.type == TypeTable::U32 ? 2 : ManyArms))
    return SwitchArms(stmt, value, flats, exit, after);
  return Arms(stmt, value, flats, 0, exit, after);
}

}  // namespace frazil::frontends::trident
