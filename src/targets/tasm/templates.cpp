// The lowering that the goals are measured against: what a template compiler does, done right. It knows no last use that
// could be moved instead of copied, no order but the program's and no layout but "as it came". Frozen: it must not get better.
#include "targets/tasm/templates.h"

#include <utility>

#include "base/check.h"
#include "targets/tasm/lower_parts.h"
#include "targets/tasm/select.h"

namespace frazil::targets::tasm {
namespace {

using tir::Kind;
using Ops = std::vector<tir::Op>;

// Words on the stack that a copy can reach.
constexpr size_t Reachable = 15;

class FunctionTemplates {
 public:
  FunctionTemplates(const WordProgram& program, uint32_t function, uint64_t& next_slot,
                    std::vector<EmittedSite>& sites)
      : program_(program),
        f_(program.functions[function]),
        entry_(function == 0),
        next_slot_(next_slot),
        sites_(sites),
        uses_(f_.words.size()),
        slots_(f_.words.size()) {
    for (const WordNode& node : f_.nodes) {
      for (Word w : node.inputs) ++uses_[w];
    }
    for (const WordRegion& region : f_.regions) {
      for (Word w : region.yields) ++uses_[w];
    }
  }

  Ops Run() {
    const WordRegion& body = f_.regions[0];
    for (Word w : body.params) {
      if (!f_.is_const(w)) stack_.push_back(w);
    }
    StoreTop(stack_.size() > Reachable ? stack_.size() : 0);
    Nodes(body);
    if (entry_) return std::move(*out_);
    std::vector<uint64_t> results;
    for (size_t i = 0; i < body.yields.size(); ++i) results.push_back(next_slot_++);
    for (size_t i = 0; i < results.size(); ++i) {
      Load(body.yields[i]);
      Store(results[i]);
    }
    Drop(stack_.size());
    for (uint64_t slot : results) LoadSlot(slot);
    return std::move(*out_);
  }

 private:
  void Put(Kind kind, uint64_t number = 0) {
    tir::Op op;
    op.kind = kind;
    op.number = number;
    out_->push_back(std::move(op));
  }
  void LoadSlot(uint64_t slot) {
    Put(Kind::Push, slot);
    Put(Kind::ReadMem, 1);
    Put(Kind::Pop, 1);
  }
  // The top, which is then gone.
  void Store(uint64_t slot) {
    Put(Kind::Push, slot);
    Put(Kind::WriteMem, 1);
    Put(Kind::Pop, 1);
  }
  void Drop(size_t count) {
    stack_.resize(stack_.size() - count);
    for (; count > 5; count -= 5) Put(Kind::Pop, 5);
    if (count > 0) Put(Kind::Pop, count);
  }
  uint64_t SlotOf(Word w) {
    if (slots_[w] == 0) slots_[w] = next_slot_++;
    return slots_[w];
  }

  // A copy on top; `above` words are there that the stack does not know yet.
  void Load(Word w, size_t above = 0) {
    --uses_[w];
    if (f_.is_const(w)) return Put(Kind::Push, f_.const_of(w));
    for (size_t i = stack_.size(); i-- > 0;) {
      if (stack_[i] != w) continue;
      const size_t depth = stack_.size() - 1 - i + above;
      CHECK(depth <= Reachable);
      return Put(Kind::Dup, depth);
    }
    CHECK(slots_[w] != 0);
    LoadSlot(slots_[w]);
  }

  // The topmost words go to RAM.
  void StoreTop(size_t count) {
    for (; count > 0; --count) {
      const Word w = stack_.back();
      if (uses_[w] > 0) {
        Store(SlotOf(w));
        stack_.pop_back();
      } else {
        Drop(1);
      }
    }
  }

  // Makes room for so many words above what can be reached.
  void Room(size_t words) {
    if (words > Reachable) return StoreTop(stack_.size());
    while (stack_.size() + words > Reachable) {
      const Word oldest = stack_.front();
      if (stack_.size() > 1) Put(Kind::Pick, stack_.size() - 1);
      stack_.erase(stack_.begin());
      if (uses_[oldest] > 0 && slots_[oldest] == 0) {
        Store(SlotOf(oldest));
      } else {
        Put(Kind::Pop, 1);
      }
    }
  }

  void Nodes(const WordRegion& region) {
    for (uint32_t id : region.nodes) Node(f_.nodes[id]);
  }

  Location Place(const WordNode& node) {
    Location location{node.location.line, 0};
    if (node.site < 0) return location;
    const TrapSite& trap = program_.sites[static_cast<size_t>(node.site)].trap;
    size_t index = 0;
    while (index < sites_.size() &&
           !(sites_[index].kind == trap.kind && sites_[index].op == trap.op))
      ++index;
    if (index == sites_.size()) sites_.push_back(trap);
    location.column = SiteMark | static_cast<uint32_t>(index);
    return location;
  }

  void Node(const WordNode& node) {
    switch (node.op) {
      case WordOp::Const:
      case WordOp::Param: return;
      case WordOp::If: return If(node);
      case WordOp::Loop: return Loop(node);
      case WordOp::While: return While(node);
      default: break;
    }
    Room(std::max(node.inputs.size(), node.results.size()));
    // TIR has these the other way round than the machine.
    const bool reversed =
        node.op == WordOp::Lt || node.op == WordOp::Pow || node.op == WordOp::DivMod;
    for (size_t i = 0; i < node.inputs.size(); ++i)
      Load(node.inputs[reversed ? node.inputs.size() - 1 - i : i], i);
    tir::Op op = InstructionOf(program_, node);
    op.location = Place(node);
    if (op.kind == Kind::Assert && node.site >= 0)
      op.error_id = static_cast<int64_t>(op.location.column & ~SiteMark);
    out_->push_back(std::move(op));
    if (node.returned > 0) Put(Kind::Pop, node.returned);
    stack_.insert(stack_.end(), node.results.begin(), node.results.end());
    if (stack_.size() > Reachable) StoreTop(stack_.size());
  }

  // A region from an empty stack to an empty stack; its yields end in the slots, or on top if there are none.
  Ops Region(uint32_t id, const std::vector<uint64_t>& slots) {
    CHECK(stack_.empty());
    Ops inner;
    Ops* outer = std::exchange(out_, &inner);
    const WordRegion& region = f_.regions[id];
    Nodes(region);
    StoreTop(stack_.size());
    // All are read before one is written: a yield may be another's old value.
    for (Word w : region.yields) Load(w);
    for (size_t i = slots.size(); i > 0; --i) Store(slots[i - 1]);
    out_ = outer;
    return inner;
  }

  void If(const WordNode& node) {
    StoreTop(stack_.size());
    std::vector<uint64_t> slots;
    for (Word w : node.results) slots.push_back(SlotOf(w));
    Load(node.inputs[0]);
    tir::Op op;
    op.kind = Kind::IfElse;
    op.body = Region(node.regions[0], slots);
    op.other = Region(node.regions[1], slots);
    out_->push_back(std::move(op));
  }

  // Carried words lie in their slots; what the loop gives is what they hold at the end.
  std::vector<uint64_t> Carried(const WordNode& node, size_t first) {
    StoreTop(stack_.size());
    const std::vector<Word>& params = f_.regions[node.regions[0]].params;
    std::vector<uint64_t> slots;
    for (size_t i = 0; i < params.size(); ++i) {
      slots.push_back(SlotOf(params[i]));
      slots_[node.results[i]] = slots.back();
      Load(node.inputs[first + i]);
    }
    for (size_t i = slots.size(); i > 0; --i) Store(slots[i - 1]);
    return slots;
  }

  void Loop(const WordNode& node) {
    const std::vector<uint64_t> slots = Carried(node, 1);
    Load(node.inputs[0]);
    tir::Op op;
    op.kind = Kind::Loop;
    op.body = Region(node.regions[0], slots);
    out_->push_back(std::move(op));
    Put(Kind::Pop, 1);
  }

  void While(const WordNode& node) {
    const std::vector<uint64_t> slots = Carried(node, 0);
    tir::Op op;
    op.kind = Kind::While;
    op.body = Region(node.regions[0], {});
    op.other = Region(node.regions[1], slots);
    out_->push_back(std::move(op));
  }

  const WordProgram& program_;
  const WordFunction& f_;
  bool entry_;
  uint64_t& next_slot_;
  std::vector<EmittedSite>& sites_;
  std::vector<uint32_t> uses_;   // that are still to come in the text
  std::vector<uint64_t> slots_;  // 0: none
  std::vector<Word> stack_;      // top last
  Ops ops_;
  Ops* out_ = &ops_;
};

}  // namespace

Scheduled ScheduleByTemplates(const WordProgram& program) {
  Scheduled scheduled;
  uint64_t next_slot = SpillBase;
  tir::Op entry;
  entry.kind = Kind::Entry;
  entry.text = FunctionLabel(program, 0);
  scheduled.tir.ops.push_back(std::move(entry));
  for (uint32_t f = 0; f < program.functions.size(); ++f) {
    tir::Op start;
    start.kind = Kind::FnStart;
    start.text = FunctionLabel(program, f);
    scheduled.tir.ops.push_back(std::move(start));
    for (tir::Op& op : FunctionTemplates(program, f, next_slot, scheduled.sites).Run()) {
      scheduled.tir.ops.push_back(std::move(op));
    }
    tir::Op end;
    end.kind = Kind::FnEnd;
    scheduled.tir.ops.push_back(std::move(end));
  }
  return scheduled;
}

}  // namespace frazil::targets::tasm
