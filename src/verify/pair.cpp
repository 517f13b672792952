// What the judges share: programs made ready, limits of one run, blocks of lanes.
#include "verify/internal/pair.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/sha256.h"
#include "ir/digest.h"

namespace frazil::verify {

Result<Pair> MakePair(const ir::Program& source, const ir::Program& candidate,
                      const ir::Guard& guard) {
  auto prepare =
      [](const ir::Program& program) -> Result<std::shared_ptr<const exec::InterpreterProgram>> {
    return std::make_shared<const exec::InterpreterProgram>(
        TRY(exec::InterpreterProgram::Create(program)));
  };
  // A guard pins arguments: chosen after the points, it could pin them where the programs agree.
  const std::string pinned = guard.atoms.empty() ? "" : ir::PrintGuard(guard);
  return Pair{source,
              candidate,
              MakeInputSpace(source, candidate, guard),
              Sha256Hex(ir::ExactDigest(source) + ir::ExactDigest(candidate) + pinned),
              TRY(prepare(source)),
              TRY(prepare(candidate))};
}

Comparer Pair::MakeComparer(const Limits& limits) const {
  return Comparer(prepared_source, InterpreterRunner(prepared_candidate), limits);
}

Limits LimitsOfOneRun(const Limits& limits, uint64_t fuel, uint64_t left_ms) {
  Limits one = limits;
  one.fuel = std::min(limits.fuel, fuel);
  one.run_ms = std::min(limits.run_ms, std::max<uint64_t>(left_ms, 1));
  // A sample that needs more is better left out than paged in.
  one.memory_bytes = std::min<uint64_t>(limits.memory_bytes, 256u << 20);
  return one;
}

std::optional<BatchPair> MakeBatchPair(const Pair& pair, const Limits& limits) {
  if (!pair.space.scalars_only) return std::nullopt;
  Result<exec::BatchProgram> source = exec::BatchProgram::Create(pair.source, limits);
  if (!source || !source->lane_by_lane().empty()) return std::nullopt;
  Result<exec::BatchProgram> candidate = exec::BatchProgram::Create(pair.candidate, limits);
  if (!candidate || !candidate->lane_by_lane().empty()) return std::nullopt;
  BatchPair batch{
      std::move(*source), std::move(*candidate), {}, pair.source.entry_function().results};
  for (uint32_t i = 0; i < pair.source.entry_function().param_count(); ++i)
    batch.params.push_back(pair.source.entry_function().param_type(i));
  return batch;
}

BatchBlock::BatchBlock(const BatchPair& pair, size_t most_lanes)
    : pair_(pair),
      source_traps_(most_lanes),
      candidate_traps_(most_lanes),
      source_ops_(most_lanes),
      candidate_ops_(most_lanes) {
  for (ir::Type type : pair.params)
    inputs_.push_back(std::make_unique<std::byte[]>(most_lanes * ir::BytesOf(type)));
  for (ir::Type type : pair.results) {
    source_outputs_.push_back(std::make_unique<std::byte[]>(most_lanes * ir::BytesOf(type)));
    candidate_outputs_.push_back(std::make_unique<std::byte[]>(most_lanes * ir::BytesOf(type)));
  }
}

bool BatchBlock::LaneDiffers(size_t lane) const {
  if (source_traps_[lane] != candidate_traps_[lane]) return true;
  if (source_traps_[lane] != 0 && source_ops_[lane] != candidate_ops_[lane]) return true;
  for (size_t i = 0; i < pair_.results.size(); ++i) {
    const uint32_t bytes = ir::BytesOf(pair_.results[i]);
    if (std::memcmp(source_outputs_[i].get() + lane * bytes,
                    candidate_outputs_[i].get() + lane * bytes, bytes) != 0)
      return true;
  }
  return false;
}

BatchBlock::Report BatchBlock::Run(size_t lanes) {
  std::vector<const void*> inputs;
  std::vector<void*> source_outputs;
  std::vector<void*> candidate_outputs;
  for (const auto& array : inputs_) inputs.push_back(array.get());
  for (const auto& array : source_outputs_) source_outputs.push_back(array.get());
  for (const auto& array : candidate_outputs_) candidate_outputs.push_back(array.get());
  const auto source_traps = std::span(source_traps_).first(lanes);
  const auto candidate_traps = std::span(candidate_traps_).first(lanes);
  Report report;
  Result<void> ran = pair_.source.Run(lanes, inputs, source_outputs, source_traps,
                                      std::span(source_ops_).first(lanes));
  if (ran)
    ran = pair_.candidate.Run(lanes, inputs, candidate_outputs, candidate_traps,
                              std::span(candidate_ops_).first(lanes));
  if (!ran) {
    report.failure = ran.error().message;
    return report;
  }
  // Most blocks are equal and have no trap at a limit: that is seen by comparing memory.
  bool equal = std::ranges::equal(source_traps, candidate_traps);
  for (size_t i = 0; equal && i < pair_.results.size(); ++i)
    equal = std::memcmp(source_outputs_[i].get(), candidate_outputs_[i].get(),
                        lanes * ir::BytesOf(pair_.results[i])) == 0;
  const bool trapped = std::ranges::any_of(source_traps, [](uint8_t trap) { return trap != 0; });
  if (equal && !trapped) return report;
  for (size_t lane = 0; lane < lanes; ++lane) {
    bool limited = false;
    for (uint8_t code : {source_traps[lane], candidate_traps[lane]}) {
      if (code == 0 || !IsLimit(static_cast<ir::Trap>(code - 1))) continue;
      limited = true;
      if (report.limit.empty()) report.limit = LimitFlag(static_cast<ir::Trap>(code - 1));
    }
    report.undecided += limited ? 1 : 0;
    const bool source_ended =
        source_traps[lane] == 0 || !IsLimit(static_cast<ir::Trap>(source_traps[lane] - 1));
    if (limited && source_ended && !report.only_second) report.only_second = lane;
    if (!limited && !report.different && LaneDiffers(lane)) report.different = lane;
  }
  return report;
}

Verdict RefutedOr(const Pair& pair, const Limits& limits, const Input& input, uint64_t left_ms,
                  std::string_view judge) {
  std::optional<Refuted> refuted =
      MakeRefuted(pair.space, pair.MakeComparer(limits), input, limits, left_ms);
  if (refuted) return std::move(*refuted);
  return Unknown{
      fmt::format("the {} reports a difference that the interpreter does not confirm", judge)};
}

}  // namespace frazil::verify
