// Congruence closure after Downey, Sethi and Tarjan: a class knows the nodes that use it, and a merge looks at the
// users of the smaller class again. Small vectors and one hash table are enough for programs of some
// thousand values.
#include "verify/internal/terms.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "exec/meaning/scalar_ops.h"

namespace frazil::verify {
namespace {

bool Commutes(ir::Op op) { return ir::Info(op).law == ir::Law::Commutes; }

uint64_t Mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdu;
}

uint64_t TypeBits(ir::Type type) {
  return static_cast<uint64_t>(type.scalar) | static_cast<uint64_t>(type.form) << 8 |
         static_cast<uint64_t>(type.access) << 12 | static_cast<uint64_t>(type.limbs) << 16 |
         static_cast<uint64_t>(type.shape) << 32;
}

}  // namespace

bool IsScalarOp(ir::Op op) {
  const ir::OpInfo& info = ir::Info(op);
  return info.effect == ir::Effect::Pure && info.law != ir::Law::Prelude &&
         info.signature != "custom" && op != ir::Op::Const && op != ir::Op::Lookup;
}

TermId Terms::Find(TermId id) const {
  while (parent_[id] != id) {
    parent_[id] = parent_[parent_[id]];
    id = parent_[id];
  }
  return id;
}

TermId Terms::Add(Node node) {
  const TermId id = static_cast<TermId>(nodes_.size());
  parent_.push_back(id);
  size_.push_back(1);
  next_.push_back(id);
  constant_.push_back(node.kind == Kind::Constant ? id : None);
  users_.emplace_back();
  for (TermId child : node.children) {
    std::vector<TermId>& users = users_[Find(child)];
    if (users.empty() || users.back() != id) users.push_back(id);
  }
  nodes_.push_back(std::move(node));
  return id;
}

TermId Terms::Leaf(ir::Type type) {
  return Add({.kind = Kind::Leaf, .result = type, .words = {}, .children = {}});
}

TermId Terms::Constant(ir::Type type, std::span<const uint64_t> words) {
  Node node{.kind = Kind::Constant,
            .result = type,
            .words = {words.begin(), words.end()},
            .children = {}};
  const uint64_t hash = Hash(node);
  if (const TermId found = Lookup(node, hash); found != None) return found;
  const TermId id = Add(std::move(node));
  table_.emplace(hash, id);
  return id;
}

TermId Terms::Apply(ir::Op op, ir::Type type, ir::Type result, std::span<const uint64_t> words,
                    std::span<const TermId> children) {
  Node node{.kind = Kind::Apply,
            .op = op,
            .type = type,
            .result = result,
            .words = {words.begin(), words.end()},
            .children = {children.begin(), children.end()}};
  Canonical(node);
  const uint64_t hash = Hash(node);
  if (const TermId found = Lookup(node, hash); found != None) return found;
  const TermId id = Add(std::move(node));
  table_.emplace(hash, id);
  Fold(id);
  Drain();
  return id;
}

// Children as classes, in ascending order where the op commutes.
void Terms::Canonical(Node& node) const {
  for (TermId& child : node.children) child = Find(child);
  if (node.children.size() == 2 && Commutes(node.op)) std::ranges::sort(node.children);
}

uint64_t Terms::Hash(const Node& node) const {
  uint64_t hash = Mix(static_cast<uint64_t>(node.kind) << 8 | static_cast<uint64_t>(node.op),
                      TypeBits(node.type));
  hash = Mix(hash, TypeBits(node.result));
  for (uint64_t word : node.words) hash = Mix(hash, word);
  for (TermId child : node.children) hash = Mix(hash, child);
  return hash;
}

bool Terms::Congruent(const Node& a, const Node& b) const {
  if (a.kind != b.kind || a.op != b.op || a.type != b.type || a.result != b.result ||
      a.words != b.words || a.children.size() != b.children.size()) {
    return false;
  }
  auto same = [&](size_t i, size_t j) { return Find(a.children[i]) == Find(b.children[j]); };
  bool straight = true;
  for (size_t i = 0; i < a.children.size(); ++i) straight = straight && same(i, i);
  return straight || (a.children.size() == 2 && Commutes(a.op) && same(0, 1) && same(1, 0));
}

TermId Terms::Lookup(const Node& node, uint64_t hash) const {
  for (auto [at, end] = table_.equal_range(hash); at != end; ++at) {
    if (Congruent(nodes_[at->second], node)) return at->second;
  }
  return None;
}

std::optional<std::span<const uint64_t>> Terms::ConstantOf(TermId id) const {
  const TermId constant = constant_[Find(id)];
  if (constant == None) return std::nullopt;
  return std::span<const uint64_t>(nodes_[constant].words);
}

void Terms::Fold(TermId id) {
  const Node& node = nodes_[id];
  if (node.kind != Kind::Apply || !IsScalarOp(node.op)) return;
  if (node.op == ir::Op::Select) {
    if (const auto condition = ConstantOf(node.children[0])) {
      pending_.emplace_back(id, (*condition)[0] != 0 ? node.children[1] : node.children[2]);
      return;
    }
  }
  if (constant_[Find(id)] != None || node.children.empty() || !node.result.is_scalar()) return;
  std::array<exec::Words, 5> operands;
  if (node.children.size() > operands.size()) return;
  for (size_t i = 0; i < node.children.size(); ++i) {
    const auto words = ConstantOf(node.children[i]);
    if (!words) return;
    operands[i] = *words;
  }
  std::vector<uint64_t> result(ir::WordsOf(node.result));
  const exec::ScalarCall call{node.op, node.type, nodes_[Find(node.children[0])].result,
                              node.words};
  if (exec::EvalScalar(call, std::span(operands).first(node.children.size()), result))
    return;                                               // a trap has no value
  const TermId constant = Constant(node.result, result);  // may move nodes_
  pending_.emplace_back(id, constant);
}

void Terms::Merge(TermId a, TermId b) {
  pending_.emplace_back(a, b);
  Drain();
}

void Terms::Drain() {
  if (draining_) return;
  draining_ = true;
  while (!pending_.empty()) {
    const auto [a, b] = pending_.back();
    pending_.pop_back();
    MergeOne(a, b);
  }
  draining_ = false;
}

void Terms::MergeOne(TermId a, TermId b) {
  a = Find(a);
  b = Find(b);
  if (a == b) return;
  if (nodes_[a].result != nodes_[b].result) {
    conflict_ = true;
    return;
  }
  if (size_[a] < size_[b]) std::swap(a, b);
  ++merges_;
  parent_[b] = a;
  size_[a] += size_[b];
  std::swap(next_[a], next_[b]);
  if (constant_[b] != None) {
    if (constant_[a] != None && nodes_[constant_[a]].words != nodes_[constant_[b]].words)
      conflict_ = true;
    constant_[a] = constant_[b];
  }
  const std::vector<TermId> changed = std::move(users_[b]);
  users_[b].clear();
  for (TermId user : changed) {
    Node canonical = nodes_[user];
    Canonical(canonical);
    const uint64_t hash = Hash(canonical);
    if (const TermId found = Lookup(canonical, hash); found == None) {
      table_.emplace(hash, user);
    } else if (Find(found) != Find(user)) {
      pending_.emplace_back(found, user);
    }
    users_[a].push_back(user);
  }
  // A class that has become constant may fold those who use it, on both sides of the merge.
  if (constant_[a] != None) {
    const std::vector<TermId> users = users_[a];
    for (TermId user : users) Fold(user);
  }
}

}  // namespace frazil::verify
