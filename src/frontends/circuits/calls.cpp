// From the tree to what runs: transforms reach every class, quotations are carried out here, because a circuit has no
// branches and no loops: which generator a quotation holds back is known from the text alone.
#include <charconv>
#include <map>
#include <span>

#include <fmt/format.h>

#include "frontends/circuits/circuits.h"

namespace frazil::frontends::circuits {
namespace {

constexpr std::string_view CallKindNames[] = {
    "Mark",    "Copy",      "Swap",       "Merge",         "Split",
    "Quote",   "Evaluate",  "ReduceSum",  "ReduceMin",     "ReduceMax",
    "Softmax", "MarkRange", "QuoteRange", "EvaluateRange", "MergeRange"};

SlotId Moved(const Sigil& sigil, Transform transform) {
  const Transform own{0, sigil.twist, sigil.mirror};
  return SlotOf(Apply(transform, Apply(own, sigil.class_index)), sigil.page);
}

CallKind KindOf(const Operation& operation) {
  const bool range = operation.target == TargetKind::Range;
  switch (operation.generator) {
    case Generator::Mark: return range ? CallKind::MarkRange : CallKind::Mark;
    case Generator::Quote: return range ? CallKind::QuoteRange : CallKind::Quote;
    case Generator::Evaluate: return range ? CallKind::EvaluateRange : CallKind::Evaluate;
    case Generator::Merge: return range ? CallKind::MergeRange : CallKind::Merge;
    case Generator::Copy: return CallKind::Copy;
    case Generator::Swap: return CallKind::Swap;
    case Generator::Split: return CallKind::Split;
    case Generator::Softmax: return CallKind::Softmax;
    case Generator::Reduce: break;
  }
  return static_cast<CallKind>(static_cast<int>(CallKind::ReduceSum) + operation.variant);
}

Call CallOf(const Operation& operation, Transform transform) {
  Call call{KindOf(operation), operation.variant, {}, operation.number, operation.location};
  call.slots.push_back(Moved(operation.first, transform));
  switch (operation.target) {
    case TargetKind::Single: break;
    case TargetKind::Range:
      for (Sigil sigil = operation.first; sigil.class_index < operation.last;) {
        ++sigil.class_index;
        call.slots.push_back(Moved(sigil, transform));
      }
      break;
    case TargetKind::Triple:
      call.slots.push_back(operation.number ? call.slots[0] : Moved(operation.context, transform));
      [[fallthrough]];
    case TargetKind::Pair: call.slots.push_back(Moved(operation.second, transform)); break;
  }
  return call;
}

void Collect(std::span<const Sequence> branches, Transform transform, std::vector<Call>& calls) {
  for (const Sequence& sequence : branches) {
    for (const Term& term : sequence.items) {
      if (term.group.empty()) {
        calls.push_back(CallOf(term.operation, transform));
      } else {
        Collect(term.group, transform, calls);
      }
    }
  }
}

size_t Count(std::span<const Sequence> branches) {
  size_t count = 0;
  for (const Sequence& sequence : branches)
    for (const Term& term : sequence.items) count += term.group.empty() ? 1 : Count(term.group);
  return count;
}

// Runs a circuit on nothing but slots: which step happens when.
class Scheduler {
 public:
  explicit Scheduler(Transform transform) : transform_(transform) {}

  Result<void> Branches(std::span<const Sequence> branches) {
    const size_t begin = log_.size();
    std::vector<size_t> ends;
    for (const Sequence& sequence : branches) {
      for (const Term& term : sequence.items) {
        if (term.group.empty()) {
          Do(CallOf(term.operation, transform_));
        } else {
          TRY_VOID(Branches(term.group));
        }
      }
      ends.push_back(log_.size());
    }
    return ends.size() > 1 ? Independent(begin, ends) : Result<void>{};
  }

  std::vector<Step> Take() { return std::move(steps_); }

 private:
  struct Access {
    SlotId slot;
    bool writes;
    Location location;
  };

  void Do(const Call& call) {
    const auto step = [&](StepKind kind, SlotId source, SlotId context, SlotId destination) {
      Run({kind, call.variant, source, context, destination, call.number, call.location});
    };
    switch (call.kind) {
      case CallKind::Mark:
      case CallKind::MarkRange:
        for (SlotId slot : call.slots) step(StepKind::Mark, slot, slot, slot);
        return;
      case CallKind::Copy: return step(StepKind::Copy, call.slots[0], call.slots[0], call.slots[1]);
      case CallKind::Swap: return step(StepKind::Swap, call.slots[0], call.slots[0], call.slots[1]);
      case CallKind::Merge: {
        const bool unary = IsUnary(static_cast<MergeVariant>(call.variant));
        return step(StepKind::Merge, call.slots[0], call.slots[unary ? 0 : 1], call.slots[2]);
      }
      case CallKind::Split:
        return step(StepKind::Split, call.slots[0], call.slots[1], call.slots[2]);
      case CallKind::ReduceSum:
      case CallKind::ReduceMin:
      case CallKind::ReduceMax:
        return step(StepKind::Reduce, call.slots[0], call.slots[0], call.slots[1]);
      case CallKind::Softmax:
        return step(StepKind::Softmax, call.slots[0], call.slots[0], call.slots[1]);
      case CallKind::MergeRange: return MergeRange(call);
      case CallKind::Quote:
      case CallKind::QuoteRange:
        for (SlotId slot : call.slots) {
          log_.push_back({slot, true, call.location});
          quoted_.try_emplace(slot);
        }
        return;
      case CallKind::Evaluate:
      case CallKind::EvaluateRange:
        for (SlotId slot : call.slots) Evaluate(slot, call.location);
        return;
    }
  }

  // One operand: each slot by itself. Two: every slot but the last is merged into the last, in ascending order, so that
  // no slot but the last changes and floats are added in an order that the text shows.
  void MergeRange(const Call& call) {
    const auto merge = [&](SlotId source, SlotId context) {
      Run({StepKind::Merge, call.variant, source, context, context, {}, call.location});
    };
    if (IsUnary(static_cast<MergeVariant>(call.variant))) {
      for (SlotId slot : call.slots) merge(slot, slot);
      return;
    }
    for (size_t i = 0; i + 1 < call.slots.size(); ++i) merge(call.slots[i], call.slots.back());
  }

  void Evaluate(SlotId slot, Location location) {
    log_.push_back({slot, true, location});
    const auto found = quoted_.find(slot);
    if (found == quoted_.end()) return;
    const std::vector<Step> held = std::move(found->second);
    quoted_.erase(found);
    for (const Step& step : held) Run(step);
  }

  void Run(const Step& step) {
    const SlotId written[] = {step.kind == StepKind::Swap ? step.source : step.destination,
                              step.destination};
    for (SlotId slot : written) {
      const auto found = quoted_.find(slot);
      if (found == quoted_.end()) continue;
      log_.push_back({slot, true, step.location});
      found->second.push_back(step);
      return;
    }
    log_.push_back({step.destination, true, step.location});
    log_.push_back({step.source, step.kind == StepKind::Swap, step.location});
    log_.push_back({step.context, false, step.location});
    steps_.push_back(step);
  }

  // What a branch writes, no other may touch.
  Result<void> Independent(size_t begin, std::span<const size_t> ends) {
    std::map<SlotId, bool> touched;  // by the branches before: written?
    for (size_t end : ends) {
      for (size_t i = begin; i < end; ++i) {
        const auto found = touched.find(log_[i].slot);
        if (found != touched.end() && (found->second || log_[i].writes))
          return Fail(
              Diag::BadCircuit,
              fmt::format("branches of '||' depend on their order: this one {} {}, another {} it",
                          log_[i].writes ? "writes" : "reads", SlotName(log_[i].slot),
                          found->second ? "writes" : "reads"),
              log_[i].location);
      }
      for (; begin < end; ++begin) touched[log_[begin].slot] |= log_[begin].writes;
    }
    return {};
  }

  Transform transform_;
  std::vector<Step> steps_;
  std::map<SlotId, std::vector<Step>> quoted_;  // by quoted slot: what waits
  std::vector<Access> log_;
};

}  // namespace

std::string_view CallKindName(CallKind kind) { return CallKindNames[static_cast<size_t>(kind)]; }

std::string SlotName(SlotId slot) {
  const int class_index = slot / (PageCount + 1), page = slot % (PageCount + 1) - 1;
  return page < 0 ? fmt::format("c{:02}", class_index)
                  : fmt::format("c{:02}_p{}", class_index, page);
}

std::optional<SlotId> SlotNamed(std::string_view name) {
  int class_index = 0, page = -1;
  if (name.size() < 3 || name[0] != 'c') return std::nullopt;
  std::from_chars(name.data() + 1, name.data() + 3, class_index);
  if (name.size() > 5) std::from_chars(name.data() + 5, name.data() + name.size(), page);
  if (class_index < 0 || class_index >= ClassCount || page < -1 || page >= PageCount)
    return std::nullopt;
  const SlotId slot = SlotOf(static_cast<uint8_t>(class_index), page);
  return SlotName(slot) == name ? std::optional(slot) : std::nullopt;  // only the one spelling
}

std::vector<Call> CallsOf(const Phrase& phrase) {
  std::vector<Call> calls;
  Collect(phrase.branches, phrase.transform, calls);
  return calls;
}

Result<std::vector<Step>> StepsOf(const Phrase& phrase) {
  Scheduler scheduler(phrase.transform);
  TRY_VOID(scheduler.Branches(phrase.branches));
  return scheduler.Take();
}

size_t CountOps(const Phrase& phrase) { return Count(phrase.branches); }

Result<void> SetVariant(CircuitOptions& options, std::string_view name) {
  if (const std::optional<uint8_t> merge = VariantNamed(Generator::Merge, name)) {
    options.merge = static_cast<MergeVariant>(*merge);
  } else if (const std::optional<uint8_t> split = VariantNamed(Generator::Split, name)) {
    options.split = static_cast<SplitVariant>(*split);
  } else {
    return Fail(Diag::BadCircuit,
                fmt::format("'{}' is a variant of neither merge nor split", name));
  }
  return {};
}

}  // namespace frazil::frontends::circuits
