// The public door: types of C++ against types of the program, then words into a call site.
#include "frazil/frazil.h"

#include <fmt/format.h>

#include <cstdio>
#include <stdexcept>

#include "engine/engine.h"
#include "engine/fluid.h"
#include "exec/kernel_launch.h"
#include "exec/launch.h"
#include "ir/digest.h"
#include "ir/text.h"

namespace frazil {
namespace {

using internal::MostResultWords;

thread_local std::string last_error;

// As arguments name them, and as C++ does.
constexpr struct {
  std::string_view ours, cpp;
} Names[] = {{"i8", "int8_t"},  {"i16", "int16_t"},  {"i32", "int32_t"},  {"i64", "int64_t"},
             {"u8", "uint8_t"}, {"u16", "uint16_t"}, {"u32", "uint32_t"}, {"u64", "uint64_t"},
             {"f32", "float"},  {"f64", "double"},   {"bool", "bool"}};
constexpr uint8_t IsConst = 0x40, IsBuffer = static_cast<uint8_t>(Kind::Buffer);

// The kind of a scalar or of an element; nothing for types without a C++ counterpart.
std::optional<Kind> KindOf(ir::Type type) {
  switch (type.scalar) {
    case ir::Scalar::F16:
    case ir::Scalar::BF16: return Kind::U16;  // their bits
    case ir::Scalar::F32: return Kind::F32;
    case ir::Scalar::F64: return Kind::F64;
    case ir::Scalar::Bool: return Kind::Bool;
    case ir::Scalar::Index: return Kind::I64;
    case ir::Scalar::Field: return Kind::U64;
    default: break;
  }
  static_assert(static_cast<int>(ir::Scalar::U64) == static_cast<int>(Kind::U64));
  if (type.scalar <= ir::Scalar::U64) return static_cast<Kind>(type.scalar);
  return std::nullopt;
}

constexpr uint8_t NoCode = 0x3f;  // no argument can be given for it

internal::Param ParamOf(ir::Type type) {
  internal::Param param;
  const std::optional<Kind> kind = KindOf(type);
  param.code =
      kind ? static_cast<uint8_t>(static_cast<uint8_t>(*kind) | (type.is_buffer() ? IsBuffer : 0))
           : NoCode;
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

bool Fits(const internal::Param& param, uint8_t code, const uint64_t* words) {
  if ((code & ~IsConst) == param.code && (code & IsBuffer) != 0) return words[1] <= param.most;
  if (code == param.code) return true;
  if (!param.is_integer || code > static_cast<uint8_t>(Kind::U64)) return false;
  return IsNegative(code, *words) ? static_cast<int64_t>(*words) >= param.least
                                  : *words <= param.most;
}

// Of an argument that does not fit.
std::string Misfit(ir::Type type, const internal::Param& param, uint8_t code,
                   const uint64_t* words) {
  const std::string wanted = ir::ScalarOrBufferName(type);
  if ((code & ~IsConst) == param.code && (code & IsBuffer) != 0)
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
      kinds_.kinds[kinds_.count++] = KindOf(type).value_or(Kind::U64);
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
    are_exact &= (codes[i] & ~IsConst) == param.code;
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
  program.program_ = std::make_shared<const ir::Program>(TRY(ir::ParseText(text)));
  return program;
}

Result<Program> Program::Read(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr)
    return Fail(Diag::FileUnreadable, fmt::format("'{}' cannot be opened.", path));
  std::string text;
  char part[1 << 16];
  for (size_t n; (n = std::fread(part, 1, sizeof part, file)) > 0;) text.append(part, n);
  const bool bad = std::ferror(file) != 0;
  std::fclose(file);
  if (bad) return Fail(Diag::FileUnreadable, fmt::format("'{}' cannot be read.", path));
  Result<Program> program = Parse(text);
  if (!program) program.error().file = path;
  return program;
}

std::string Program::digest() const {
  return ir::ExactDigest(*static_cast<const ir::Program*>(program_.get()));
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
      tell(fmt::format("{:9.2f} ms  {:<9} {}", event.ms, event.verb, event.sentence));
    };
  }
  engine_ = std::make_unique<engine::Engine>(std::move(engine_options));
}
Engine::~Engine() = default;

Result<Slot> Engine::Load(const Program& program) {
  std::shared_ptr<engine::Site> site =
      TRY(engine_->Load(*static_cast<const ir::Program*>(program.program_.get())));
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
