// The sanitizing run: lane by lane in order, every access entered in a shadow of its buffer. Two accesses to one element
// race if different lanes make them, one writes, not both are atomic, and no end of a parallel or barrier lies between:
// barriers are split into parallels of their own before, so that the end of a parallel is all there is.
//
// A lane is the path of iterations around it. Lanes of one inner parallel are in one phase; lanes of different
// iterations of the outer one never wait for each other, whatever their phases.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>
#include <tuple>

#include "ir/lower/lower.h"
#include "targets/isa/isa.h"
#include "targets/tiles/tile_maker.h"
#include "targets/tiles/tile_run.h"

namespace frazil::targets::tiles {
namespace {

constexpr size_t MostFindings = 100;

// Where in a run an access was made: the numbers of the parallels and of their iterations around it.
struct Moment {
  std::vector<int64_t> lane;    // iterations, outermost first
  std::vector<uint64_t> phase;  // which execution of a parallel each of them belongs to
  Location where;
  bool atomic = false;
};

// May they happen in either order? From outside in: the same iteration of the same parallel goes on inside; another
// iteration of the same parallel is unordered; another parallel came before.
bool Unordered(const Moment& a, const Moment& b) {
  for (size_t depth = 0; depth < a.lane.size() && depth < b.lane.size(); ++depth) {
    if (a.phase[depth] != b.phase[depth]) return false;
    if (a.lane[depth] != b.lane[depth]) return true;
  }
  return false;
}

struct Shadow {
  std::string name;
  bool is_scratch = false;
  struct Element {
    std::optional<Moment> write, read, other_read;  // two reads that are unordered
    bool written = false;
  };
  std::map<int64_t, Element> elements;
};

class Sanitizer final : public Watch {
 public:
  // Buffer parameters that are one buffer share a shadow.
  Sanitizer(const ir::Program& program, std::span<const exec::Value> arguments,
            std::vector<Finding>& findings)
      : findings_(findings) {
    const ir::Function& entry = program.entry_function();
    std::map<const std::byte*, size_t> seen;
    for (uint32_t i = 0; i < entry.param_count(); ++i) {
      if (!entry.param_type(i).is_buffer()) continue;
      const uint32_t value = entry.param(i).index;
      const bool named = value < entry.value_names.size() && !entry.value_names[value].empty();
      const auto [found, is_new] = seen.try_emplace(arguments[i].memory->data(), shadows_.size());
      if (is_new) {
        shadows_.emplace_back();
        shadows_.back().name = named ? entry.value_names[value] : fmt::format("p{}", i);
      }
      shadow_of_.push_back(found->second);
    }
  }

  void Touch(int32_t buffer, int64_t index, int64_t length, Access access,
             Location where) override {
    Shadow& shadow = shadows_[shadow_of_[static_cast<size_t>(buffer)]];
    const Moment now{lane_, phase_, where, access == Access::Atomic};
    if (index < 0 || index >= length) {
      Report(FindingKind::OutOfBounds, shadow, index, now, nullptr);
      return;
    }
    Shadow::Element& element = shadow.elements[index];
    if (shadow.is_scratch && !element.written && access != Access::Write)
      Report(FindingKind::Uninitialized, shadow, index, now, nullptr);
    const auto races = [&](const std::optional<Moment>& before) {
      return before && Unordered(*before, now) && !(before->atomic && now.atomic);
    };
    if (races(element.write))
      Report(FindingKind::Race, shadow, index, now, &*element.write);
    else if (access != Access::Read && races(element.read))
      Report(FindingKind::Race, shadow, index, now, &*element.read);
    else if (access != Access::Read && races(element.other_read))
      Report(FindingKind::Race, shadow, index, now, &*element.other_read);
    if (access != Access::Read) {
      element.written = true;
      element.write = now;
    }
    if (access != Access::Read) return;
    // Of reads that are unordered two suffice: a write is by another lane than one of them.
    if (element.read && Unordered(*element.read, now)) {
      element.other_read = now;
    } else {
      element.read = now;
      element.other_read.reset();
    }
  }

  void Allocate(int32_t buffer, int64_t, Location where) override {
    if (static_cast<size_t>(buffer) >= shadow_of_.size())
      shadow_of_.resize(static_cast<size_t>(buffer) + 1);
    shadow_of_[static_cast<size_t>(buffer)] = shadows_.size();
    shadows_.emplace_back();
    shadows_.back().name =
        where.line != 0 ? fmt::format("scratch of line {}", where.line) : "scratch";
    shadows_.back().is_scratch = true;
  }

  void EnterParallel() override {
    lane_.push_back(0);
    phase_.push_back(++parallels_);
  }
  void StartIteration(int64_t i) override { lane_.back() = i; }
  void LeaveParallel() override {
    lane_.pop_back();
    phase_.pop_back();
  }

 private:
  void Report(FindingKind kind, const Shadow& shadow, int64_t element, const Moment& now,
              const Moment* before) {
    const Location other = before != nullptr ? before->where : Location{};
    if (findings_.size() >= MostFindings ||
        !reported_
             .insert(
                 {kind, shadow.name, now.where.line, now.where.column, other.line, other.column})
             .second)
      return;
    findings_.push_back({kind, shadow.name, element, now.where, other, now.lane,
                         before != nullptr ? before->lane : std::vector<int64_t>{}});
  }

  std::vector<Finding>& findings_;
  std::vector<Shadow> shadows_;
  std::vector<size_t> shadow_of_;  // by buffer number
  std::vector<int64_t> lane_;
  std::vector<uint64_t> phase_;
  uint64_t parallels_ = 0;
  std::set<std::tuple<FindingKind, std::string, uint32_t, uint32_t, uint32_t, uint32_t>> reported_;
};

std::string LaneName(const std::vector<int64_t>& lane) {
  return lane.empty() ? "outside of lanes" : fmt::format("lane {}", fmt::join(lane, ", "));
}

std::string At(Location where) {
  return where.line == 0 ? "" : fmt::format(" at line {}", where.line);
}

}  // namespace

std::string Finding::ToString() const {
  switch (kind) {
    case FindingKind::Race:
      return fmt::format("race on {}[{}]: {}{} and {}{}", buffer, element, LaneName(lane),
                         At(where), LaneName(other_lane), At(other));
    case FindingKind::OutOfBounds:
      return fmt::format("{}[{}] is outside of the buffer: {}{}", buffer, element, LaneName(lane),
                         At(where));
    case FindingKind::Uninitialized:
      return fmt::format("{}[{}] is read before anything was written there: {}{}", buffer, element,
                         LaneName(lane), At(where));
  }
  return {};
}

Result<SanitizedRun> Sanitize(const ir::Program& program, std::span<const exec::Value> arguments,
                              const exec::RunContext& context) {
  auto plan = TRY(Prepare(program));
  const TilePlan* serial = plan->Serial();
  if (serial == nullptr)
    return Fail(Diag::Unsupported,
                fmt::format("a sanitizing run cannot do this: {}", LaneByLane(*plan)));
  TRY_VOID(exec::CheckLaunch(program, arguments));
  SanitizedRun run;
  Sanitizer sanitizer(program, arguments, run.findings);
  std::vector<uint64_t> words, results(serial->functions[0].results.size() + 1);
  for (const exec::Value& argument : arguments) {
    const bool is_buffer = argument.type.is_buffer();
    words.push_back(is_buffer ? reinterpret_cast<uint64_t>(argument.memory->data())
                              : argument.word);
    if (is_buffer) words.push_back(static_cast<uint64_t>(argument.memory->length()));
  }
  SharedRun shared(serial, context, 1);
  TileArena& arena = TileArena::OfThread();
  const TileArena::Mark mark = arena.mark();
  Worker worker(shared, arena);
  worker.set_watch(&sanitizer);
  const bool ok = worker.RunEntry(words.data(), results.data());
  arena.Release(mark);
  if (!ok) {
    run.outcome.trap = worker.trap();
    return run;
  }
  const ir::Function& entry = program.entry_function();
  for (size_t i = 0; i < entry.results.size(); ++i)
    run.outcome.results.push_back(exec::Value::Word(entry.results[i], results[i]));
  return run;
}

Result<SanitizedRun> Sanitize(const machines::simt::Module& module,
                              std::span<const exec::Value> arguments,
                              const exec::RunContext& context) {
  return Sanitize(TRY(isa::Lift(module)), arguments, context);
}

}  // namespace frazil::targets::tiles
