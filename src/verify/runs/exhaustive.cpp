// Every input under the guard, judged by the batch interpreter in blocks that threads take one by one. What the batch
// interpreter does not do (wide scalars, output, tensors inside) runs case by case, which only small counts allow.
#include <fmt/format.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "verify/internal/pair.h"

namespace frazil::verify {
namespace {

using exec::Value;

constexpr size_t BlockLanes = 1 << 15;
constexpr uint64_t MostCases = 1ull << 32;

// The digits of case `number`, the last parameter running fastest.
std::vector<uint64_t> DigitsOf(std::span<const Domain> domains, uint64_t number) {
  std::vector<uint64_t> digits(domains.size());
  for (size_t i = domains.size(); i-- > 0;) {
    const uint64_t count = *domains[i].Count();
    digits[i] = number % count;
    number /= count;
  }
  return digits;
}

Input CaseNumber(const InputSpace& space, uint64_t number) {
  Input input;
  const std::vector<uint64_t> digits = DigitsOf(space.domains, number);
  for (size_t i = 0; i < digits.size(); ++i) {
    const Domain& domain = space.domains[i];
    input.arguments.push_back(domain.one() ? Value::Scalar(domain.type(), *domain.one())
                                           : Value::Word(domain.type(), domain.At(digits[i])));
  }
  return input;
}

// Runs of the slower digits are filled, the fastest counts.
void WriteCases(const InputSpace& space, uint64_t first, size_t lanes, BatchBlock& block) {
  uint64_t stride = 1;  // cases for which a digit stays
  for (size_t i = space.domains.size(); i-- > 0;) {
    const Domain& domain = space.domains[i];
    const uint64_t count = *domain.Count();
    const uint32_t bytes = ir::BytesOf(domain.type());
    std::byte* out = block.input(i);
    for (size_t lane = 0; lane < lanes;) {
      const uint64_t number = first + lane;
      const uint64_t digit = number / stride % count;
      if (stride == 1) {
        const size_t run = static_cast<size_t>(std::min<uint64_t>(lanes - lane, count - digit));
        domain.Write(digit, run, out + lane * bytes);
        lane += run;
        continue;
      }
      const size_t run =
          static_cast<size_t>(std::min<uint64_t>(lanes - lane, stride - number % stride));
      const uint64_t word = domain.At(digit);
      for (size_t k = 0; k < run; ++k) PutElement(domain.type(), word, out + (lane + k) * bytes);
      lane += run;
    }
    stride *= count;
  }
}

class Sweep {
 public:
  Sweep(const Pair& pair, const VerifyOptions& options, const Deadline& deadline, uint64_t cases)
      : pair_(pair), options_(options), deadline_(deadline), cases_(cases) {}

  Verdict Run() {
    const Limits limits = LimitsOfOneRun(options_.limits, ExhaustiveFuel, deadline_.LeftMs());
    const std::optional<BatchPair> batch = MakeBatchPair(pair_, limits);
    if (!batch) return RunOneByOne(limits);
    const uint64_t blocks = (cases_ + BlockLanes - 1) / BlockLanes;
    const int threads = static_cast<int>(
        std::clamp<uint64_t>(static_cast<uint64_t>(std::max(options_.threads, 1)), 1, blocks));
    std::vector<std::thread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back([&] { Work(*batch); });
    Work(*batch);
    for (std::thread& thread : others) thread.join();
    if (different_)
      return RefutedOr(pair_, options_.limits, CaseNumber(pair_.space, *different_),
                       deadline_.LeftMs(), "batch interpreter");
    if (!stopped_.empty()) return Unknown::Limited(stopped_);
    return Done("batch interpreter");
  }

 private:
  Verdict Done(std::string_view judge) const {
    return Proved{{Grade::Exhaustive, std::string(judge), AllInputs(cases_), cases_}};
  }

  void Stop(std::string why) {
    const std::lock_guard lock(mutex_);
    if (stopped_.empty()) stopped_ = std::move(why);
    stop_ = true;
  }

  // The least case wins, so that the answer does not depend on the threads.
  void Found(uint64_t number) {
    const std::lock_guard lock(mutex_);
    if (!different_ || number < *different_) different_ = number;
    stop_ = true;
  }

  // Hopeless is better known soon: what is left of the time may help another judge.
  bool TooSlow(uint64_t done) const {
    const double spent = std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
    constexpr double Settled = 100;
    if (spent < Settled || done == 0) return false;
    const double needed = spent / static_cast<double>(done) * static_cast<double>(cases_ - done);
    return needed > 1.5 * static_cast<double>(deadline_.LeftMs()) + 100;
  }

  void Work(const BatchPair& batch) {
    BatchBlock block(batch, BlockLanes);
    while (!stop_) {
      const uint64_t first = next_.fetch_add(BlockLanes);
      if (first >= cases_) return;
      const size_t lanes = static_cast<size_t>(std::min<uint64_t>(BlockLanes, cases_ - first));
      WriteCases(pair_.space, first, lanes, block);
      const BatchBlock::Report report = block.Run(lanes);
      if (!report.failure.empty()) return Stop(report.failure);
      if (report.different) return Found(first + *report.different);
      if (report.undecided > 0)
        return Stop(fmt::format("limit reached: an input of {} ended at {}", Grouped(cases_),
                                report.limit));
      const uint64_t done = done_.fetch_add(lanes) + lanes;
      if (done < cases_ && (deadline_.Passed() || TooSlow(done)))
        return Stop(
            fmt::format("limit reached: {} inputs take longer than the time allowed (--verify-ms)",
                        Grouped(cases_)));
    }
  }

  Verdict RunOneByOne(const Limits& limits) {
    const Comparer comparer = pair_.MakeComparer(limits);
    for (uint64_t number = 0; number < cases_; ++number) {
      if ((number % 64 == 0 && number > 0) && (deadline_.Passed() || TooSlow(number)))
        return Unknown::Limited(
            fmt::format("limit reached: {} inputs take longer than the time allowed (--verify-ms)",
                        Grouped(cases_)));
      const Input input = CaseNumber(pair_.space, number);
      const Comparison comparison = comparer.Compare(input, deadline_.LeftMs());
      if (comparison.kind == Comparison::Kind::Undecided)
        return Unknown::Limited(fmt::format("limit reached: an input of {} ended at {}",
                                            Grouped(cases_), comparison.limit));
      if (comparison.kind == Comparison::Kind::Different)
        return RefutedOr(pair_, options_.limits, input, deadline_.LeftMs(), "interpreter");
    }
    return Done("interpreter");
  }

  const Pair& pair_;
  const VerifyOptions& options_;
  const Deadline& deadline_;
  const uint64_t cases_;
  const Clock::time_point start_ = Clock::now();
  std::atomic<uint64_t> next_ = 0;
  std::atomic<uint64_t> done_ = 0;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::optional<uint64_t> different_;
  std::string stopped_;
};

}  // namespace

Verdict ExhaustiveJudge(const Pair& pair, const VerifyOptions& options, const Deadline& deadline) {
  if (!pair.space.empty.empty()) return Unknown{pair.space.empty};
  const std::optional<uint64_t> cases = pair.space.Count();
  const uint64_t most = std::min(options.exhaustive_cases, MostCases);
  if (!cases) return Unknown{"the inputs cannot be counted"};
  if (*cases > most)
    return Unknown{fmt::format("limit reached: {} inputs are more than {} (--verify-cases)",
                               Grouped(*cases), Grouped(most))};
  return Sweep(pair, options, deadline, *cases).Run();
}

}  // namespace frazil::verify
