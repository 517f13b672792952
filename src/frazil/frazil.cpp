// The public door: types of C++ against types of the program, then words into a call site.
#include "frazil/frazil.h"

#include <fmt/format.h>

#include <cstdio>

#include "engine/engine.h"
#include "engine/fluid.h"
#include "ir/digest.h"
#include "ir/text.h"

namespace frazil {
namespace {

constexpr size_t MostResultWords = 4;
thread_local std::string last_error;

// The kind that an argument for a parameter must have; nothing for types without a C++ counterpart.
std::optional<uint8_t> CodeOf(ir::Type type) {
  static constexpr Kind Kinds[] = {Kind::I8, Kind::I16, Kind::I32, Kind::I64,
                                   Kind::U8, Kind::U16, Kind::U32, Kind::U64};
  const auto scalar = static_cast<size_t>(type.scalar);
  Kind kind;
  if (scalar < std::size(Kinds)) {
    kind = Kinds[scalar];
  } else if (type.scalar == ir::Scalar::F16 || type.scalar == ir::Scalar::BF16) {
    kind = Kind::U16;  // their bits
  } else if (type.scalar == ir::Scalar::F32) {
    kind = Kind::F32;
  } else if (type.scalar == ir::Scalar::F64) {
    kind = Kind::F64;
  } else if (type.scalar == ir::Scalar::Bool) {
    kind = Kind::Bool;
  } else if (type.scalar == ir::Scalar::Index) {
    kind = Kind::I64;
  } else if (type.scalar == ir::Scalar::Field) {
    kind = Kind::U64;
  } else {
    return std::nullopt;
  }
  return static_cast<uint8_t>(kind) | (type.is_buffer() ? static_cast<uint8_t>(Kind::Buffer) : 0);
}

bool Fits(ir::Type type, uint8_t code) {
  const std::optional<uint8_t> wanted = CodeOf(type);
  if (!wanted) return false;
  // A read-only view may only be read.
  const bool is_const = (code & 0x40) != 0;
  if (is_const && type.is_buffer() && type.access != ir::Access::In) return false;
  return (code & ~0x40) == *wanted;
}

}  // namespace

std::string Outcome::error() const {
  if (status_ == 0) return "";
  if (status_ < 0) return last_error;
  return std::string(ir::TrapName(static_cast<ir::Trap>(status_ - 1)));
}

bool Slot::CheckSignature(std::span<const uint8_t> codes, const void* identity) {
  const ir::Function& entry = site_->entry();
  if (codes.size() != entry.param_count()) {
    last_error = fmt::format("{} arguments are given where {} are needed", codes.size(),
                             entry.param_count());
    return false;
  }
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    if (Fits(entry.param_type(i), codes[i])) continue;
    last_error = fmt::format("argument {} does not fit its parameter, which is {}", i,
                             ir::ScalarOrBufferName(entry.param_type(i)));
    return false;
  }
  seen_ = identity;
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
