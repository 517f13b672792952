// Equal means: outputs, cycles, the whole final stack and all nine heights of runs that finish; kind, place, cycle,
// error id and the outputs so far of runs that crash. Run and Trace must agree with each other as well.
#include "compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace frazil::tests {

namespace tasm = machines::tasm;

namespace {

std::string DescribeEnd(const tasm::RunResult& run) {
  if (!run.crash) return fmt::format("finished after {} cycles", run.cycles);
  return fmt::format("{} at instruction {}, cycle {}, error id {}",
                     tasm::CrashName(run.crash->kind), run.crash->instruction, run.crash->cycle,
                     run.crash->error_id);
}

bool SameEnd(const tasm::RunResult& a, const tasm::RunResult& b) {
  if (a.crash.has_value() != b.crash.has_value() || a.cycles != b.cycles) return false;
  if (!a.crash) return true;
  if (a.crash->kind != b.crash->kind || a.crash->cycle != b.crash->cycle) return false;
  if (a.crash->kind == tasm::CrashKind::Cycles)
    return true;  // whose place a limit has is nobody's business
  return a.crash->instruction == b.crash->instruction && a.crash->error_id == b.crash->error_id;
}

std::string RunDifference(const tasm::RunResult& theirs, const tasm::RunResult& ours) {
  if (!SameEnd(theirs, ours))
    return fmt::format("end: theirs {} ({}), ours {}", DescribeEnd(theirs),
                       theirs.crash ? theirs.crash->sentence : "", DescribeEnd(ours));
  if (theirs.output != ours.output)
    return fmt::format("output: theirs {}, ours {}", fmt::join(theirs.output, ","),
                       fmt::join(ours.output, ","));
  if (!theirs.crash && theirs.stack != ours.stack)
    return fmt::format("stack: theirs {}, ours {}", fmt::join(theirs.stack, ","),
                       fmt::join(ours.stack, ","));
  return {};
}

// "1,2,3" or "a=b,..." split at commas and blanks.
Result<std::vector<uint64_t>> Numbers(std::string_view text, std::string_view file) {
  std::vector<uint64_t> numbers;
  while (true) {
    const size_t start = text.find_first_not_of(" ,=\t\r");
    if (start == std::string_view::npos) return numbers;
    text.remove_prefix(start);
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc())
      return std::unexpected(
          Error{Diag::WrongArgument, fmt::format("not a number: {}", text), {}, std::string(file)});
    numbers.push_back(number);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
  }
}

}  // namespace

std::string Difference(const oracle::Job& job, const oracle::Answer& theirs,
                       const tasm::TraceResult& ours) {
  if (std::string text = RunDifference(theirs.run, ours.run); !text.empty())
    return "Trace: " + text;
  const tasm::RunResult plain = tasm::Run(job.program, job.inputs, {.cycles = job.cycles});
  if (std::string text = RunDifference(theirs.run, plain); !text.empty()) return "Run: " + text;
  if (!theirs.profile) return {};
  for (int i = 0; i < tasm::TableCount; ++i)
    if (theirs.profile->heights[i] != ours.profile.heights[i])
      return fmt::format("height of table {}: theirs {}, ours {}",
                         tasm::TableName(static_cast<tasm::Table>(i)), theirs.profile->heights[i],
                         ours.profile.heights[i]);
  return {};
}

Result<void> CompareAll(oracle::Session& session, std::span<const oracle::Job> jobs,
                        std::span<const std::string> names, Comparison& comparison) {
  const std::vector<Result<oracle::Answer>> answers = TRY(session.TraceAll(jobs));
  for (size_t i = 0; i < jobs.size(); ++i) {
    ++comparison.programs;
    const std::string name = names.empty() ? fmt::format("program {}", i) : names[i];
    if (!answers[i]) {
      comparison.differences.push_back(
          fmt::format("{}: {}\n{}", name, answers[i].error().message, DescribeJob(jobs[i])));
      continue;
    }
    const tasm::TraceResult ours =
        tasm::Trace(jobs[i].program, jobs[i].inputs, {.cycles = jobs[i].cycles}, i % 2 == 0);
    const std::string difference = Difference(jobs[i], *answers[i], ours);
    if (!difference.empty())
      comparison.differences.push_back(
          fmt::format("{}: {}\n{}", name, difference, DescribeJob(jobs[i])));
    comparison.cycles += answers[i]->run.cycles;
    if (answers[i]->run.crash) {
      ++comparison.crashes[answers[i]->run.crash->kind];
      continue;
    }
    ++comparison.finished;
    std::set<tasm::Opcode> used;
    for (const tasm::Instruction& instruction : jobs[i].program.code) used.insert(instruction.op);
    for (const tasm::Opcode op : used) ++comparison.instructions[op];
  }
  return {};
}

std::string DescribeJob(const oracle::Job& job) {
  std::string text = fmt::format("// cycles: {}\n", job.cycles);
  if (!job.inputs.input.empty())
    text += fmt::format("// input: {}\n", fmt::join(job.inputs.input, ","));
  if (!job.inputs.secret.empty())
    text += fmt::format("// secret: {}\n", fmt::join(job.inputs.secret, ","));
  for (const tasm::Digest& digest : job.inputs.digests)
    text += fmt::format("// digest: {}\n", fmt::join(digest, ","));
  for (const auto& [address, value] : job.inputs.ram)
    text += fmt::format("// ram: {}={}\n", address, value);
  tasm::Program program = job.program;
  // Damaged programs have lost their labels; the text needs one at each aim.
  if (program.labels.empty()) {
    std::set<uint64_t> aims;
    for (const tasm::Instruction& instruction : program.code)
      if (instruction.op == tasm::Opcode::Call) aims.insert(instruction.argument);
    for (const uint64_t aim : aims)
      program.labels.push_back({fmt::format("at{}", aim), static_cast<uint32_t>(aim)});
  }
  return text + tasm::Print(program);
}

Result<oracle::Job> ReadJob(std::string_view text, std::string_view file) {
  oracle::Job job;
  job.program = TRY(tasm::Parse(text, tasm::Profile::Dot, file));
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    const auto take = [&](std::string_view head) {
      if (!line.starts_with(head)) return false;
      line.remove_prefix(head.size());
      return true;
    };
    if (!take("// ")) continue;
    if (take("cycles:")) {
      const std::vector<uint64_t> numbers = TRY(Numbers(line, file));
      if (!numbers.empty()) job.cycles = numbers[0];
    } else if (take("input:")) {
      const std::vector<uint64_t> numbers = TRY(Numbers(line, file));
      job.inputs.input.insert(job.inputs.input.end(), numbers.begin(), numbers.end());
    } else if (take("secret:")) {
      const std::vector<uint64_t> numbers = TRY(Numbers(line, file));
      job.inputs.secret.insert(job.inputs.secret.end(), numbers.begin(), numbers.end());
    } else if (take("digest:")) {
      const std::vector<uint64_t> n = TRY(Numbers(line, file));
      if (n.size() == 5) job.inputs.digests.push_back({n[0], n[1], n[2], n[3], n[4]});
    } else if (take("ram:")) {
      const std::vector<uint64_t> numbers = TRY(Numbers(line, file));
      for (size_t i = 0; i + 1 < numbers.size(); i += 2)
        job.inputs.ram[numbers[i]] = numbers[i + 1];
    }
  }
  return job;
}

}  // namespace frazil::tests
