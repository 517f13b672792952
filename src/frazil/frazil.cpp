// The public door: types of C++ against types of the program, then words into a call site.
#include "frazil/frazil.h"

#include <fmt/format.h>

#include <stdexcept>

#include "engine/engine.h"
#include "engine/fluid.h"
#include "exec/kernel_launch.h"
#include "exec/launch.h"
#include "ir/element.h"
#include "ir/signed_program.h"
#include "ir/text/text.h"

namespace frazil {
namespace {

using internal::MostResultWords;

thread_local std::string last_error;

// As arguments name them, and as C++ does.
constexpr struct {
  std::string_view ours, cpp;
} Names[] = {{"i8", "int8_t"},  {"i16", "int16_t"},  {"i32", "int32_t"},  {"i64", "int64_t"},
             {"u8", "uint8_t"}, {"u16", "uint16_t"}, {"u32", "uint32_t"}, {"u64", "uint64_t"},
             {"f16", "F16"},    {"bf16", "BF16"},    {"f32", "float"},    {"f64", "double"},
             {"bool", "bool"},  {"index", "int64_t"}};
static_assert(std::size(Names) == KindCount);
using internal::IsBuffer, internal::IsConst;

// What a scalar or an element is in a call: an index is an i64, a field element a u64; nothing for types without a C++
// counterpart.
std::optional<Kind> CallKindOf(ir::Type type) {
  if (type.scalar == ir::Scalar::Index) return Kind::I64;
  if (type.scalar == ir::Scalar::Field) return Kind::U64;
  return ir::KindOf(type.scalar);
}
// Halves are also given, and always got, as their bits.
std::optional<Kind> BitsKindOf(ir::Type type) {
  const bool is_half = ir::Contains(ir::sets::Half, type.scalar);
  return is_half ? std::optional(Kind::U16) : CallKindOf(type);
}

constexpr uint8_t NoCode = 0x3f;  // no argument can be given for it

internal::Param ParamOf(ir::Type type) {
  internal::Param param;
  const auto code = [&](std::optional<Kind> kind) {
    if (!kind) return NoCode;
    return static_cast<uint8_t>(static_cast<uint8_t>(*kind) | (type.is_buffer() ? IsBuffer : 0));
  };
  param.code = code(CallKindOf(type));
  param.bits = code(BitsKindOf(type));
  param.is_integer =
      type.is_scalar() && (ir::IsFixedInt(type.scalar) || type.scalar == ir::Scalar::Field);
  if (type.is_buffer())
    param.most = static_cast<uint64_t>(exec::MostElements(ir::BytesOf(type.element())));
  if (!param.is_integer) return param;
  const exec::IntegerRange range = exec::RangeOf(type.scalar);
  param.least = range.least;
  param.most = range.most;
  return param;
}

bool IsNegative(uint8_t code, uint64_t word) {
  return code <= static_cast<uint8_t>(Kind::I64) && static_cast<int64_t>(word) < 0;
}

// Of exactly its type, which is looked at once for each list of argument types.
bool IsExact(const internal::Param& param, uint8_t code) {
  const int given = code & ~IsConst;
  return given == param.code || given == param.bits;
}

bool Fits(const internal::Param& param, uint8_t code, const uint64_t* words) {
  if (IsExact(param, code)) return (code & IsBuffer) == 0 || words[1] <= param.most;
  if (!param.is_integer || code > static_cast<uint8_t>(Kind::U64)) return false;
  return IsNegative(code, *words) ? static_cast<int64_t>(*words) >= param.least
                                  : *words <= param.most;
}

// Of an argument that does not fit.
std::string Misfit(ir::Type type, const internal::Param& param, uint8_t code,
                   const uint64_t* words) {
  const std::string wanted = ir::ScalarOrBufferName(type);
  if (IsExact(param, code) && (code & IsBuffer) != 0)
    return words[1] > param.most
               ? fmt::format(": no memory has {} elements", words[1])
               : fmt::format(" is read-only memory, but its parameter, {}, is written", wanted);
  if (!param.is_integer || code > static_cast<uint8_t>(Kind::U64))
    return fmt::format(" does not fit its parameter, which is {}", wanted);
  const bool is_negative = IsNegative(code, *words);
  return fmt::format(" is {}{}, which does not fit its parameter, {}", is_negative ? "-" : "",
                     is_negative ? 0 - *words : *words, wanted);
}

}  // namespace

std::string Outcome::error() const {
  if (status_ == 0) return "";
  if (status_ < 0) return last_error;
  return std::string(ir::TrapName(static_cast<ir::Trap>(status_ - 1)));
}

void Outcome::Misused(size_t i, Kind asked) const {
  const std::string call =
      fmt::format("frazil::Outcome::get<{}>({}): ", Names[static_cast<size_t>(asked)].cpp, i);
  if (status_ != 0) throw std::logic_error(call + "the call gave no results: " + error());
  if (i >= kinds_.count)
    throw std::logic_error(
        call + fmt::format("the program gives {} words of results, counted from 0", kinds_.count));
  throw std::logic_error(call +
                         fmt::format("it is {}", Names[static_cast<size_t>(kinds_.kinds[i])].ours));
}

Slot::Slot(std::shared_ptr<engine::Site> site) : site_(std::move(site)) {
  const ir::Function& entry = site_->entry();
  auto params = std::make_shared<std::vector<internal::Param>>();
  for (uint32_t i = 0; i < entry.param_count(); ++i)
    params->push_back(ParamOf(entry.param_type(i)));
  params_ = std::move(params);
  for (const ir::Type type : entry.results)
    for (uint32_t i = 0; i < ir::WordsOf(type); ++i)
      kinds_.kinds[kinds_.count++] = BitsKindOf(type).value_or(Kind::U64);
}

bool Slot::CheckArguments(std::span<const uint8_t> codes, const uint64_t* words,
                          const void* identity) {
  const ir::Function& entry = site_->entry();
  if (codes.size() != params_->size()) {
    last_error =
        fmt::format("{} arguments are given where {} are needed", codes.size(), params_->size());
    return false;
  }
  bool are_exact = true;
  for (uint32_t i = 0; i < codes.size(); ++i) {
    const internal::Param& param = (*params_)[i];
    // A read-only view may only be read.
    const bool may_be = (codes[i] & IsConst) == 0 || entry.param_type(i).access == ir::Access::In;
    if (!may_be || !Fits(param, codes[i], words)) {
      last_error =
          fmt::format("argument {}{}", i + 1, Misfit(entry.param_type(i), param, codes[i], words));
      return false;
    }
    are_exact &= IsExact(param, codes[i]);
    words += (codes[i] & IsBuffer) != 0 ? 2 : 1;
  }
  if (are_exact) seen_ = identity;
  return true;
}

int32_t Slot::CallWords(const uint64_t* arguments, uint64_t* results) {
  const int32_t status = site_->Call(arguments, results);
  if (status < 0) last_error = engine::InterpreterFluid::LastLaunchError();
  return status;
}

std::string Slot::state() const { return std::string(dispatch::StateName(site_->state())); }
std::string Slot::digest() const { return site_->exact(); }
void Slot::Freeze() { site_->Freeze(); }
void Slot::Unfreeze() { site_->Unfreeze(); }
void Slot::Ban() { site_->Ban(); }

std::string Slot::why() const {
  const engine::SiteReport report = site_->Report();
  return fmt::format("what     {}\nsince    {}\ntrust    {}\nsaved    {}\nreopens  {}\n",
                     report.what, report.since, report.trust, report.saved, report.reopen);
}

Result<Program> Program::Parse(std::string_view text) {
  Program program;
  program.program_ = ir::SignedProgram::Of(TRY(ir::ParseText(text)));
  return program;
}

std::string Program::digest() const {
  return static_cast<const ir::SignedProgram*>(program_.get())->exact();
}

Engine::Engine(const Options& options) {
  engine::EngineOptions engine_options;
  engine_options.store.directory = options.store;
  engine_options.use_store = options.use_store;
  engine_options.compile = options.compile;
  engine_options.hot_calls = options.hot_calls;
  engine_options.worker.program = options.worker;
  if (options.on_event) {
    engine_options.on_event = [tell = options.on_event](const engine::Event& event) {
      tell(fmt::format("{:9.2f} ms  {:<9} {}", event.ms, engine::VerbName(event.verb),
                       engine::Sentence(event)));
    };
  }
  engine_ = std::make_unique<engine::Engine>(std::move(engine_options));
}
Engine::~Engine() = default;

Result<Slot> Engine::Load(const Program& program) {
  std::shared_ptr<engine::Site> site =
      TRY(engine_->Load(std::static_pointer_cast<const ir::SignedProgram>(program.program_)));
  uint64_t words = 0;
  for (const ir::Type type : site->entry().results) words += ir::WordsOf(type);
  if (words > MostResultWords) {
    return Fail(Diag::Unsupported,
                fmt::format("A slot gives at most {} words of results, this program gives {}; "
                            "write the others to buffers.",
                            MostResultWords, words));
  }
  return Slot(std::move(site));
}

Result<Slot> Engine::Load(std::string_view text) { return Load(TRY(Program::Parse(text))); }
bool Engine::Settle(int milliseconds) {
  return engine_->Settle(std::chrono::milliseconds(milliseconds));
}

}  // namespace frazil
