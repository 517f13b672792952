// Mutations with the same form go together: its right code is emitted and judged once, and what the judge learned about
// its inputs is what every mutation's process starts with.
#include "check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>

#include "process.h"

namespace frazil::mutants {
namespace {

using Clock = std::chrono::steady_clock;

// A judgment has 6 s in the engine; whoever takes longer has been ended there, and admitted nothing.
constexpr int SilentMs = 10'000;

struct Case {
  const Mutation* mutation;
  Witness witness;
  bool is_lower;  // of a lower level than the witness says: it may be answered rightly there
};

struct Group {
  Form form;
  std::vector<Case> cases;
};

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string_view NameOf(Judgment judgment) {
  switch (judgment) {
    case Judgment::Refuted: return "refuted";
    case Judgment::Unknown: return "unknown";
    case Judgment::Admitted: return "admitted";
  }
  return "";
}

// Lines: "begin FORM", "fault TEXT", "form SECONDS", "mutation NUMBER VERDICT SECONDS TEXT".
class GroupCheck {
 public:
  GroupCheck(const Group& group, std::shared_ptr<const ir::Program> program,
             const std::string& salt, const Tell& tell)
      : group_(group), program_(std::move(program)), salt_(salt), tell_(tell) {}

  void Run() {
    const auto start = Clock::now();
    const std::string name = group_.form.Print();
    tell_("begin " + name);
    Result<Code> image = Emit(*program_, group_.form, 0);
    if (!image) return Fault(fmt::format("{}: {}", name, image.error().ToString()));
    original_ = std::move(*image);
    const Result<Judged> judged = JudgeAsUsual(*program_, original_, notes_, salt_);
    if (!judged || judged->judgment != Judgment::Admitted)
      return Fault(fmt::format("{}: without a mutation it is not admitted: {}", name,
                               judged ? judged->detail : judged.error().ToString()));
    tell_(fmt::format("form {:.3f}", SecondsSince(start)));
    for (const Case& one : group_.cases) RunCase(one);
  }

 private:
  void Fault(const std::string& text) { tell_("fault " + text); }

  void RunCase(const Case& one) {
    const auto start = Clock::now();
    const int number = one.mutation->number;
    const Result<Answer> right = RightAnswer(*program_, one.witness, original_);
    if (!right) return Fault(fmt::format("{}: {}", number, right.error().ToString()));
    const Result<std::string> original = WrongAnswer(program_, one.witness, original_, *right);
    if (!original || !original->empty())
      return Fault(fmt::format("{}: without the mutation the witness is answered wrongly: {}",
                               number, original ? *original : original.error().ToString()));
    Judged judged;
    std::string wrong = Apart(one, *right, /*judges=*/true, judged);
    if (wrong == "?") wrong = Apart(one, *right, /*judges=*/false, judged);
    if (wrong.empty() && one.is_lower) return;
    if (wrong.empty())
      return Fault(fmt::format("{}: stale: its witness is answered rightly: {}", number,
                               one.mutation->witness));
    tell_(fmt::format("mutation {} {} {:.3f} {}", number, NameOf(judged.judgment),
                      SecondsSince(start), judged.detail));
  }

  // What is wrong about the mutant's answer, in a process of its own; "?": it ended before it was asked.
  std::string Apart(const Case& one, const Answer& right, bool judges, Judged& judged) {
    const ChildEnd end = RunChild(
        [&](const Tell& tell) {
          tell("emit");
          const Result<Code> image = Emit(*program_, group_.form, one.mutation->number);
          if (!image) return tell("none");
          if (judges) {
            tell("judge");
            const Result<Judged> verdict = JudgeAsUsual(*program_, *image, notes_, salt_);
            tell(verdict ? fmt::format("verdict {} {}", static_cast<int>(verdict->judgment),
                                       verdict->detail)
                         : "verdict 1 " + verdict.error().ToString());
          }
          tell("run");
          const Result<std::string> wrong = WrongAnswer(program_, one.witness, *image, right);
          tell("answer " + (wrong ? *wrong : wrong.error().ToString()));
        },
        SilentMs);
    for (const std::string& line : end.lines)
      if (line.starts_with("verdict "))
        judged = {static_cast<Judgment>(line[8] - '0'), line.substr(10)};
    const std::string last = end.lines.empty() ? "" : end.lines.back();
    if (last.starts_with("answer ")) return last.substr(7);
    if (last == "run") return end.fault;
    // The process that judged did not live: it admitted nothing.
    if (last == "judge") return judged = {Judgment::Refuted, end.fault}, "?";
    Fault(fmt::format("{}: the emitter fails: {}", one.mutation->number, end.fault));
    return "the emitter fails";
  }

  const Group& group_;
  std::shared_ptr<const ir::Program> program_;
  const std::string& salt_;
  const Tell& tell_;
  Code original_;
  Notes notes_;
};

struct Row {
  int mutants = 0, refuted = 0, unknown = 0, survived = 0;
  double seconds = 0;
};

void PrintTable(const std::map<std::string, Row>& rows) {
  fmt::print("{:<16} {:>8} {:>8} {:>8} {:>9} {:>8}\n", "class", "mutants", "refuted", "unknown",
             "survived", "seconds");
  for (const auto& [kind, row] : rows)
    fmt::print("{:<16} {:>8} {:>8} {:>8} {:>9} {:>8.1f}\n", kind, row.mutants, row.refuted,
               row.unknown, row.survived, row.seconds);
}

// How long code is looked for is a matter of time: on a busy machine a few forms more are not admitted.
constexpr int MostUnlisted = 8;

// What is known to go wrong, a word and the rest of a line: "survivor 17", "form name level kind".
std::set<std::string> ReadKnown(const std::string& path) {
  std::set<std::string> known;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#') known.insert(line);
  return known;
}

std::vector<Group> GroupsOf(const std::vector<Mutation>& mutations, int only, int& faults) {
  std::map<std::string, Group> groups;
  for (const Mutation& mutation : mutations) {
    if (only != 0 && mutation.number != only) continue;
    const Result<Witness> witness = ParseWitness(mutation.witness);
    if (!witness || mutation.witness.empty()) {
      fmt::print("FAIL {}: {}\n", mutation.number,
                 witness ? "it has no witness" : witness.error().ToString());
      ++faults;
      continue;
    }
    // A machine without the instructions cannot run the code, but most slips are made at the levels below too.
    Witness here = *witness;
    const bool is_lower = !here.form.CanRunHere();
    if (is_lower) here.form.level = exec::HostLevel();
    Group& group = groups[here.form.Print()];
    group.form = here.form;
    group.cases.push_back({&mutation, std::move(here), is_lower});
  }
  std::vector<Group> list;
  for (auto& [name, group] : groups) list.push_back(std::move(group));
  // The longest first, so that no process ends long before the others.
  std::ranges::sort(list, std::greater(), [](const Group& group) { return group.cases.size(); });
  return list;
}

}  // namespace

int Check(const std::vector<Mutation>& mutations, const Programs& programs,
          const CheckOptions& options) {
  const auto start = Clock::now();
  int faults = 0;
  std::vector<Group> groups = GroupsOf(mutations, options.only, faults);
  std::vector<Group> mine;
  for (size_t i = options.share; i < groups.size(); i += options.shares)
    mine.push_back(std::move(groups[i]));
  const std::vector<std::string> lines =
      RunAll(mine.size(), options.processes, [&](size_t i, const Tell& tell) {
        const auto program = programs.Find(mine[i].form.program);
        if (!program) return tell("fault " + program.error().ToString());
        GroupCheck(mine[i], *program, options.salt, tell).Run();
      });
  std::map<int, const Mutation*> by_number;
  for (const Mutation& mutation : mutations) by_number[mutation.number] = &mutation;
  std::map<std::string, Row> rows;
  Row all;
  double right_seconds = 0;
  std::map<int, std::string> survivors;
  const std::set<std::string> known = ReadKnown(options.known);
  int known_faults = 0, known_survivors = 0, unlisted = 0;
  for (const std::string& line : lines) {
    int number = 0;
    double seconds = 0;
    char verdict[16] = {};
    if (line.starts_with("fault ")) {
      const std::string form = "form " + line.substr(6, line.find(": without a mutation") - 6);
      const bool is_late = line.contains("--verify-ms") ||
                           (line.ends_with(" did)") && line.contains(" never ran ("));
      const bool is_known = known.contains(form) || (is_late && unlisted++ < MostUnlisted);
      fmt::print("{} {}\n", is_known ? "known:" : "FAIL", line.substr(6));
      ++(is_known ? known_faults : faults);
    } else if (std::sscanf(line.c_str(), "form %lf", &seconds) == 1) {
      right_seconds += seconds;
    } else if (std::sscanf(line.c_str(), "mutation %d %15s %lf", &number, verdict, &seconds) == 3) {
      const Mutation& mutation = *by_number.at(number);
      for (Row* row : {&rows[mutation.kind], &all}) {
        row->mutants += 1;
        row->seconds += seconds;
        (verdict[0] == 'r' ? row->refuted : verdict[0] == 'u' ? row->unknown : row->survived) += 1;
      }
      if (verdict[0] == 'a') survivors[number] = line;
    }
  }
  for (const auto& [number, line] : survivors) {
    const Mutation& mutation = *by_number.at(number);
    const bool is_known = known.contains(fmt::format("survivor {}", number));
    known_survivors += is_known ? 1 : 0;
    fmt::print("{} {} {} in {}\n  - {}\n  + {}\n  = {}\n  {}\n",
               is_known ? "known survivor" : "SURVIVED", number, mutation.kind, mutation.file,
               mutation.old_text, mutation.new_text, mutation.witness, line);
  }
  rows["in all"] = all;
  if (options.table) PrintTable(rows);
  fmt::print(
      "{} mutants in {} forms: {} refuted, {} unknown, {} survived ({} known); {} faults, {} forms "
      "known not to be admitted; {:.1f} s "
      "({:.1f} s of processes for forms as they are, {:.1f} s for mutants)\n",
      all.mutants, mine.size(), all.refuted, all.unknown, all.survived, known_survivors, faults,
      known_faults, SecondsSince(start), right_seconds, all.seconds);
  return faults + all.survived - known_survivors;
}

}  // namespace frazil::mutants
