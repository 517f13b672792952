#include "frazil/tri/internal/gate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/sha256.h"
#include "exec/native/native_toolchain.h"
#include "frontends/tir/tir.h"
#include "ir/digest.h"
#include "ir/text/text.h"
#include "verify/tasm/judge.h"

namespace frazil::tri {
namespace {

namespace lowering = targets::tasm;

constexpr std::string_view Target = "tasm";
// The cheapest ones that are judged before the source's own lowering is: what defeats the judge in one mostly does in all.
constexpr size_t MostJudged = 2;
// So much less time for the next after one that could not be decided.
constexpr uint64_t LessTime = 4;

std::string_view CallingOf(const lowering::TasmOptions& how) {
  using verify::tasm::Calling;
  if (!how.callable) return Calling::Program;
  return how.first_on_top ? Calling::FirstOnTop : Calling::Function;
}

// All that decides how a program is lowered, besides the program: what of it is too long to be tried, the inputs it is
// measured on, and stack code that stands for it.
std::string ToolchainOf(const lowering::TasmOptions& how,
                        const machines::tir::Program* stack_code) {
  std::string build = exec::NativeToolchain();
  if (build.empty()) return build;
  build += fmt::format(", at most {} instructions", how.limits.program_insts);
  if (stack_code != nullptr)
    build += ", of stack code " + Sha256Hex(machines::tir::Print(*stack_code)).substr(0, 16);
  if (how.typical.empty()) return build;
  std::string text;
  const auto add = [&](const auto& words) { text += fmt::format("[{}]", fmt::join(words, ",")); };
  for (const mt::Inputs& inputs : how.typical) {
    add(inputs.input);
    add(inputs.secret);
    for (const mt::Digest& digest : inputs.digests) add(digest);
    std::vector<std::pair<uint64_t, uint64_t>> cells(inputs.ram.begin(), inputs.ram.end());
    std::ranges::sort(cells);
    for (const auto& [address, value] : cells) text += fmt::format("{}={};", address, value);
  }
  return fmt::format("{}, measured on {}", build, Sha256Hex(text).substr(0, 16));
}

// Digests know no names, and some of them matter here: of the parameter that is the machine's own RAM, of a function that
// others call by its label, and of all functions, whose names are the labels that people read.
std::string NamesThatMatter(const ir::Program& program, const lowering::TasmOptions& how) {
  const ir::Function& entry = program.entry_function();
  std::string text;
  for (uint32_t i = 0; i < entry.param_count(); ++i)
    if (const size_t value = entry.param(i).index;
        value < entry.value_names.size() && entry.value_names[value] == "ram")
      text += fmt::format(", its own RAM is parameter {}", i);
  if (how.callable) text += fmt::format(", called {}", entry.name);
  std::string labels;
  for (const ir::Function& function : program.functions) labels += function.name + "\n";
  return fmt::format("{}, labels {}", text, Sha256Hex(labels).substr(0, 16));
}

// One number of a cost, for the accounts.
double Rows(const exec::TableHeights& cost) {
  return static_cast<double>(cost.tallest != 0 ? cost.tallest : cost.words + cost.cycles);
}

std::string Print(const exec::TableHeights& cost) {
  return fmt::format("padded {}, tallest {}, {} rows in all", cost.padded, cost.tallest,
                     cost.words + cost.cycles);
}

// What became of each proposal: those that the admitted program consists of have won.
class Records {
 public:
  Records(const std::vector<lowering::Tried>& tried, const std::string& exact) {
    for (const lowering::Tried& one : tried) {
      engine::Attempt& attempt = attempts_.emplace_back();
      attempt.proposer = one.proposer;
      attempt.target = Target;
      attempt.source_exact = attempt.candidate_exact = exact;
      attempt.guard = "true";
      attempt.source_static = static_cast<double>(tried[0].words);
      attempt.candidate_static = static_cast<double>(one.words);
      if (one.before) attempt.cost_before = Rows(*one.before);
      if (one.cost) attempt.cost_after = Rows(*one.cost);
      names_.push_back(one.name);
      if (!one.refusal.empty()) {
        attempt.fate = engine::Fate::Refused;
        attempt.reason = fmt::format("not lowered: {}: {}", one.refusal, one.name);
      } else {
        attempt.reason = one.cost ? fmt::format("{}: {}", one.name, Print(*one.cost)) : one.name;
      }
    }
  }

  void Refused(const std::vector<size_t>& trail, const Gate::Answer& answer) {
    engine::Attempt& attempt = attempts_[trail.back()];
    attempt.fate = answer.is_refuted() ? engine::Fate::Refuted : engine::Fate::Refused;
    attempt.reason = fmt::format("{}: {}", answer.refusal, names_[trail.back()]);
  }
  // Whatever was built upon, only the source's own lowering as it stands is a win of the source.
  void Won(const std::vector<size_t>& trail) {
    for (const size_t one : trail)
      if (one != 0 || trail.size() == 1) attempts_[one].fate = engine::Fate::Won;
  }
  const std::vector<engine::Attempt>& attempts() const { return attempts_; }

 private:
  std::vector<engine::Attempt> attempts_;
  std::vector<std::string> names_;
};

// Where the program begins: the sentence is about all of it.
Error Refusal(const Source& source, const Program& program, const Gate::Answer& answer) {
  std::string sentence =
      answer.is_refuted()
          ? fmt::format(
                "the assembly does not do what the program says ({}); this is a bug in "
                "Frazil, and nothing is given out",
                verify::WhyNot(answer.lowering))
          : fmt::format("the assembly is not admitted, and nothing is given out: {}",
                        answer.refusal);
  Error error{Diag::NotProved, std::move(sentence), {}, source.file, ""};
  if (!answer.is_refuted())
    error.hint = "--no-verify gives it out as a proposal that nobody judged";
  if (!program.ir) return error;
  for (const ir::Inst& inst : program.ir->entry_function().insts) {
    if (inst.location.line == 0) continue;
    error.location = {inst.location.line, 1};
    break;
  }
  return error;
}

struct Candidate {
  const mt::Program* program;
  exec::TableHeights cost;
  std::vector<size_t> trail;
  bool is_source = false;
};

// The cheapest, and the source's own; what is not cheaper than that has lost.
std::vector<Candidate> Choose(const std::vector<lowering::LowerSearch::Found>& found,
                              const lowering::TasmOptions& how) {
  const auto cost = [&](const lowering::LowerSearch::Found& one) {
    return one.cost ? *one.cost : lowering::PriceOf(one.lowered.program, how);
  };
  const auto source = std::ranges::find_if(
      found, [](const auto& one) { return one.trail == std::vector<size_t>{0}; });
  const exec::TableHeights limit = cost(*source);
  std::vector<Candidate> chosen;
  for (const lowering::LowerSearch::Found& one : found) {
    if (chosen.size() == MostJudged || !(cost(one) < limit)) break;
    chosen.push_back({&one.lowered.program, cost(one), one.trail});
  }
  chosen.push_back({&source->lowered.program, limit, source->trail, true});
  return chosen;
}

}  // namespace

Gate::Gate(const ir::Program& program, const lowering::TasmOptions& how, const Options& options,
           const machines::tir::Program* stack_code)
    : verify_ms(options.limits.verify_ms),
      program_(program),
      how_(how),
      options_(options),
      policy_(verify::Policy::Default(program)) {
  key_.source_exact = ir::ExactDigest(program);
  key_.target = Target;
  key_.toolchain = ToolchainOf(how, stack_code);
  if (!key_.toolchain.empty()) key_.toolchain += NamesThatMatter(program, how);
  key_.profile = mt::ProfileName(how.profile);
  key_.calling = CallingOf(how);
  // What nobody can name is not kept.
  if (!options.use_store || key_.toolchain.empty()) return;
  store::StoreOptions open;
  open.directory = options.store;
  open.max_entry_bytes = options.limits.store_entry_bytes;
  store_ = store::Store::Open(open);
}

std::optional<Assembly> Gate::Find() {
  if (store_ == nullptr) return std::nullopt;
  const auto form = store_->FindVerified(key_, policy_);
  if (!form) return std::nullopt;
  const auto admitted = engine::Admit(*form, nullptr, policy_);
  if (!admitted) return std::nullopt;
  Result<Assembly> assembly = Assembly::Of(*admitted);
  if (!assembly) return std::nullopt;
  return std::move(*assembly);
}

Result<Gate::Answer> Gate::Ask(const mt::Program& assembly, const exec::TableHeights& cost,
                               const exec::TableHeights* other) {
  RegisterAssemblyJudge();
  const Step step(options_, "checking the lowering");
  exec::CompiledForm form;
  form.source_exact = form.candidate_exact = key_.source_exact;
  form.guard = key_.guard;
  form.candidate = ir::PrintText(program_);
  form.target = key_.target;
  form.profile = key_.profile;
  form.calling = key_.calling;
  form.toolchain = key_.toolchain;
  form.payload = mt::Print(assembly);
  form.cost = cost;
  verify::VerifyOptions verify;
  verify.limits = options_.limits;
  verify.limits.verify_ms = verify_ms;
  verify.typical = how_.typical;
  verify.typical.insert(verify.typical.end(), more_inputs.begin(), more_inputs.end());
  verify::Examined examined = TRY(
      verify::Examine(program_, {program_, {}, {}, "source"}, std::move(form), policy_, verify));
  Answer answer;
  answer.lowering = std::move(examined.lowering);
  answer.refusal = std::move(examined.refusal);
  if (!examined.form) return answer;
  const exec::Cost limit = other == nullptr ? exec::TableHeights{} : *other;
  auto admitted = engine::AdmitBelow(*examined.form, other == nullptr ? nullptr : &limit, policy_);
  if (admitted)
    answer.admitted = std::move(*admitted);
  else
    answer.refusal = std::move(admitted.error());
  return answer;
}

void Gate::Keep(const engine::Admitted& admitted) {
  if (store_ == nullptr || store_->Put(key_, verify::Seal(admitted.form(), store_->key()))) return;
  if (options_.notes == nullptr || store_->writable()) return;
  options_.notes->warnings.push_back(
      {Diag::StoreUnusable, "nothing was kept: " + store_->reason(), {}, "", ""});
}

void Gate::Record(const std::vector<engine::Attempt>& attempts) {
  if (store_ == nullptr) return;
  for (const engine::Attempt& attempt : attempts)
    store_->AppendAttempt(engine::PrintAttempt(attempt));
}

Result<Assembly> AdmitAssembly(const Source& source, Program& program, const mt::Inputs& given,
                               const Options& options) {
  // Stack code means what the door to the IR makes of it.
  std::optional<ir::Program> of_tir;
  if (!program.ir) {
    Result<ir::Program> read = frontends::tir::FromTir(program.lowered->tir);
    if (!read) {
      Error error = std::move(read.error());
      error.diag = Diag::NotProved;
      error.message = "its assembly cannot be judged: " + error.message;
      if (error.file.empty()) error.file = source.file;
      error.hint = "--no-verify gives it out as a proposal that nobody judged";
      return std::unexpected(std::move(error));
    }
    of_tir = std::move(*read);
  }
  Gate gate(of_tir ? *of_tir : *program.ir, program.how, options,
            of_tir ? &program.lowered->tir : nullptr);
  gate.more_inputs = {given};
  if (std::optional<Assembly> kept = gate.Find()) return std::move(*kept);

  std::vector<lowering::LowerSearch::Found> found;
  std::vector<lowering::Tried> tried(1);
  if (of_tir) {
    tried[0].proposer = "source";
    tried[0].name = "as it stands";
    tried[0].words = program.assembly.Words();
    found.push_back({*program.lowered, std::nullopt, {0}});
  } else {
    Result<lowering::LowerSearch> search = lowering::LowerSearch::Start(*program.ir, program.how);
    if (!search) {
      if (search.error().file.empty()) search.error().file = source.file;
      return std::unexpected(std::move(search.error()));
    }
    while (const mt::Program* next = search->Next())
      search->Tell(lowering::PriceOf(*next, program.how));
    tried = search->tried();
    found = search->TakeFound();
  }
  const std::vector<Candidate> candidates = Choose(found, program.how);
  Records records(tried, gate.exact());
  std::optional<Gate::Answer> first;
  for (const Candidate& candidate : candidates) {
    Gate::Answer answer = TRY(gate.Ask(*candidate.program, candidate.cost,
                                       candidate.is_source ? nullptr : &candidates.back().cost));
    if (!answer.admitted) {
      records.Refused(candidate.trail, answer);
      if (!answer.is_refuted()) gate.verify_ms /= LessTime;
      // What is wrong is worth more words than what nobody could decide.
      if (!first || (answer.is_refuted() && !first->is_refuted())) first = std::move(answer);
      continue;
    }
    records.Won(candidate.trail);
    gate.Record(records.attempts());
    if (!first) gate.Keep(*answer.admitted);
    if (first && options.notes != nullptr)
      options.notes->warnings.push_back({Diag::NotProved,
                                         "cheaper assembly was not admitted: " + first->refusal,
                                         {},
                                         source.file,
                                         "that one is what `tri run` and `tri prove` take; keep "
                                         "this one in a file (-o) to prove it"});
    return Assembly::Of(*answer.admitted);
  }
  gate.Record(records.attempts());
  return std::unexpected(Refusal(source, program, *first));
}

}  // namespace frazil::tri
