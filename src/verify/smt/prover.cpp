// Z3 as a verify::Prover. Each query runs in a child process: a solver that neither ends nor listens is killed at the
// time-out, one that takes all memory ends itself, and the caller's process never maps the library. The child answers
// with one line of text.
#include <cstdlib>

#include <fmt/format.h>

#include "base/system/jobs.h"
#include "exec/meaning/interpreter.h"
#include "verify/internal/big_int.h"
#include "verify/internal/observe.h"
#include "verify/smt/program_encoder.h"
#include "verify/smt/smt.h"

namespace frazil::verify::smt {
namespace {

// Bytes that the child may map.
constexpr uint64_t ChildBytes = uint64_t{4} << 30;

// What the child found, as text: "proved VERSION", "refuted v0 v1 ...", "unknown REASON".
class Query {
 public:
  Query(const Z3Api& api, const ir::Program& source, const ir::Program& candidate,
        const ir::Guard& guard)
      : api_(api),
        context_(api),
        encoder_(context_),
        source_(source),
        candidate_(candidate),
        guard_(guard) {}

  std::string Run() {
    const ir::Function& entry = source_.entry_function();
    for (uint32_t i = 0; i < entry.param_count(); ++i) {
      if (!Encoder::Knows(entry.param_type(i)))
        return fmt::format("unknown parameter {} is not encoded", i + 1);
      arguments_.push_back(encoder_.Variable(entry.param_type(i), fmt::format("arg{}", i)));
    }
    std::string why;
    Encoded a, b;
    if (!ProgramEncoder(context_, source_, why).Encode(arguments_, a) ||
        !ProgramEncoder(context_, candidate_, why).Encode(arguments_, b)) {
      return "unknown " + why;
    }
    Z3_ast differ = encoder_.False();
    for (size_t k = 0; k < a.results.size(); ++k) {
      differ = encoder_.Or(differ, encoder_.Not(encoder_.Equal(a.results[k], b.results[k])));
    }
    const uint64_t none = 0;
    const Z3_ast untrapped =
        encoder_.Equal(a.trap, encoder_.Constant(ir::types::U16, std::span(&none, 1)));
    Z3_ast claim =
        encoder_.Or(encoder_.Not(encoder_.Equal(a.trap, b.trap)), encoder_.And(untrapped, differ));
    for (const ir::GuardAtom& atom : guard_.atoms) claim = encoder_.And(claim, GuardAtom(atom));
    return Solve(claim);
  }

 private:
  // Atoms that are not about scalars are left out: the claim is then proved for more arguments than needed.
  Z3_ast GuardAtom(const ir::GuardAtom& atom) {
    if (atom.kind == ir::GuardKind::Equals) {
      return encoder_.Equal(arguments_[atom.arg], encoder_.Constant(atom.type, atom.low));
    }
    if (atom.kind != ir::GuardKind::Between) return encoder_.True();
    const Z3_ast low[] = {encoder_.Constant(atom.type, atom.low), arguments_[atom.arg]};
    const Z3_ast high[] = {arguments_[atom.arg], encoder_.Constant(atom.type, atom.high)};
    Encoder::Trapping trap;
    const Z3_ast from = encoder_.Apply(ir::Op::Le, atom.type, atom.type, low, trap);
    const Z3_ast to = encoder_.Apply(ir::Op::Le, atom.type, atom.type, high, trap);
    return from == nullptr || to == nullptr ? encoder_.True() : encoder_.And(from, to);
  }

  std::string Solve(Z3_ast claim) {
    Z3_context c = context_.get();
    Z3_solver solver = api_.mk_solver(c);
    api_.solver_inc_ref(c, solver);
    api_.solver_assert(c, solver, claim);
    const Z3_lbool answer = api_.solver_check(c, solver);
    if (answer == Z3_L_FALSE) return "proved " + Z3Version(api_);
    if (answer == Z3_L_UNDEF)
      return fmt::format("unknown z3: {}", api_.solver_get_reason_unknown(c, solver));
    std::string text = "refuted";
    Z3_model model = api_.solver_get_model(c, solver);
    api_.model_inc_ref(c, model);
    for (Z3_ast argument : arguments_) {
      Z3_ast value = nullptr;
      if (!api_.model_eval(c, model, argument, true, &value)) return "unknown z3 gave no model";
      const Z3_lbool truth = api_.get_bool_value(c, value);
      text += truth != Z3_L_UNDEF ? (truth == Z3_L_TRUE ? " 1" : " 0")
                                  : fmt::format(" {}", api_.get_numeral_string(c, value));
    }
    return text;
  }

  const Z3Api& api_;
  Context context_;
  Encoder encoder_;
  const ir::Program& source_;
  const ir::Program& candidate_;
  const ir::Guard& guard_;
  std::vector<Z3_ast> arguments_;
};

BigInt ParseDecimal(std::string_view digits) {
  BigInt value = 0;
  for (char digit : digits) value = value * 10 + BigInt(digit - '0');
  return value;
}

// The words of a value whose bits are this number.
std::vector<uint64_t> WordsOfBits(const BigInt& bits, ir::Type type) {
  const int width = type.scalar == ir::Scalar::Int ? 64 * type.limbs : ir::BitsOf(type);
  BigInt value = bits;
  if (ir::IsSigned(type.scalar) && bits >= BigInt::PowerOfTwo(static_cast<uint32_t>(width - 1))) {
    value = bits - BigInt::PowerOfTwo(static_cast<uint32_t>(width));
  }
  return value.ToWords(ir::WordsOf(type));
}

class Z3Prover : public Prover {
 public:
  explicit Z3Prover(std::string library) : library_(std::move(library)) {}
  std::string_view name() const override { return "z3"; }

  Verdict Prove(const ir::Program& source, const ir::Program& candidate, const ir::Guard& guard,
                const Limits& limits) const override {
    const auto ask = [&](size_t) -> std::string {
      const Result<Z3Api> api = OpenZ3(library_);
      if (!api) return "unknown " + api.error().message;
      return Query(*api, source, candidate, guard).Run();
    };
    const JobResult job =
        RunJobs(1, {.limit_ms = limits.smt_ms, .memory_bytes = ChildBytes, .what = "z3"}, ask)[0];
    if (job.timed_out) return Unknown{fmt::format("z3: time-out after {} ms", limits.smt_ms)};
    if (!job.done) return Unknown{job.reason};
    const std::string& answer = job.bytes;
    const size_t space = answer.find(' ');
    const std::string kind = answer.substr(0, space);
    const std::string rest = space == std::string::npos ? "" : answer.substr(space + 1);
    if (kind == "proved") {
      const Proved proved{{Grade::Proved, "z3 " + rest, "no input on which they differ", 0}};
      const ir::Candidate asked{
          .program = candidate, .guard = guard, .certificate = {}, .origin = {}};
      Observe(ProgramQuestion{source, asked}, proved);
      return proved;
    }
    if (kind == "refuted") return Reproduce(source, candidate, limits, rest);
    if (kind == "unknown") return Unknown{rest};
    return Unknown{"z3 ended without an answer"};
  }

 private:
  // A model counts only if the interpreter sees the difference.
  static Verdict Reproduce(const ir::Program& source, const ir::Program& candidate,
                           const Limits& limits, std::string_view model) {
    const ir::Function& entry = source.entry_function();
    ProgramCall call;
    for (uint32_t i = 0; i < entry.param_count(); ++i) {
      const size_t space = model.find(' ');
      const std::vector<uint64_t> words =
          WordsOfBits(ParseDecimal(model.substr(0, space)), entry.param_type(i));
      model = space == std::string_view::npos ? std::string_view{} : model.substr(space + 1);
      call.arguments.push_back(exec::Value::Scalar(entry.param_type(i), words));
    }
    call.context.limits = limits;
    Result<exec::Outcome> a = exec::Interpret(source, call.arguments, call.context);
    Result<exec::Outcome> b = exec::Interpret(candidate, call.arguments, call.context);
    if (!a || !b) return Unknown{"z3's model cannot be run"};
    if (a->trap == b->trap && (a->trap || a->results == b->results))
      return Unknown{"z3's model does not reproduce"};
    std::string difference = Difference(*a, *b);
    call.source = std::move(*a);
    call.candidate = std::move(*b);
    return Refuted{std::move(call), std::move(difference)};
  }
  static std::string Difference(const exec::Outcome& a, const exec::Outcome& b) {
    auto end = [](const exec::Outcome& o) {
      return o.trap ? o.trap->ToString() : std::string("no trap");
    };
    if (a.trap || b.trap) return fmt::format("{} against {}", end(a), end(b));
    for (size_t k = 0; k < a.results.size(); ++k) {
      if (a.results[k] == b.results[k]) continue;
      return fmt::format("result {}: {} against {}", k + 1, exec::PrintValue(a.results[k]),
                         exec::PrintValue(b.results[k]));
    }
    return "the results differ";
  }

  std::string library_;
};

}  // namespace

std::shared_ptr<const Prover> MakeZ3Prover(std::string library) {
  if (library.empty()) {
    const char* chosen = std::getenv("FRAZIL_Z3");
    library = chosen != nullptr ? chosen : "libz3.so.4";
  }
  return std::make_shared<Z3Prover>(std::move(library));
}

void RegisterZ3() { RegisterProver(MakeZ3Prover()); }

}  // namespace frazil::verify::smt
