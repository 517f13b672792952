// Any bytes as a `.frzb` file, as they are and with a mended checksum: refused, or a module that prints and assembles to
// the same bytes, runs within its limits and means what its lifted program means.
#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/sha256.h"
#include "exec/meaning/interpreter.h"
#include "machines/simt/frzb.h"
#include "machines/simt/text.h"
#include "targets/isa/isa.h"
#include "targets/isa/lane_exact.h"

namespace {

using namespace frazil;
using machines::simt::FileHeader;
using machines::simt::Module;

std::string Mended(std::string bytes) {
  if (bytes.size() < sizeof(FileHeader)) return bytes;
  uint64_t size = bytes.size();
  std::memcpy(bytes.data(), machines::simt::Magic, 4);
  std::memcpy(bytes.data() + offsetof(FileHeader, size), &size, 8);
  Sha256 sha;
  sha.Update(std::string_view(bytes).substr(0, offsetof(FileHeader, checksum)));
  sha.Update(std::string_view(bytes).substr(sizeof(FileHeader)));
  std::array<uint8_t, 32> checksum = sha.Finish();
  std::memcpy(bytes.data() + offsetof(FileHeader, checksum), checksum.data(), 32);
  return bytes;
}

std::vector<exec::Value> ArgumentsOf(const Module& module) {
  std::vector<exec::Value> arguments;
  for (const machines::simt::ParamRow& row : module.params) {
    ir::Type type = ir::Type::Of(row.type);
    if (row.is_buffer)
      arguments.push_back(exec::Value::Buffer(std::make_shared<exec::Memory>(type, 8)));
    else
      arguments.push_back(exec::Value::Int(type, 5));
  }
  return arguments;
}

void Try(std::string_view bytes) {
  Result<Module> module = machines::simt::LoadModule(bytes);
  if (!module) {
    CHECK(module.error().diag == Diag::BadArtifact || module.error().diag == Diag::BadIsaProgram);
    return;
  }
  Result<Module> again = machines::simt::Assemble(machines::simt::Print(*module));
  CHECK(again.has_value() && again->bytes == bytes);
  exec::RunContext context;
  context.limits.fuel = 300;
  context.limits.memory_bytes = 1 << 20;
  targets::isa::LaunchShape launch;
  launch.block = {4, 1, 1};
  launch.shared_bytes = 24;
  std::vector<exec::Value> arguments = ArgumentsOf(*module);
  Result<exec::Outcome> outcome = targets::isa::RunLaneExact(*module, arguments, context, launch);
  CHECK(outcome.has_value());
  Result<ir::Program> lifted = targets::isa::Lift(*module);
  if (!lifted) return;
  std::vector<exec::Value> others = ArgumentsOf(*module);
  Result<exec::Outcome> meant = exec::Interpret(*lifted, others, context);
  CHECK(meant.has_value() && meant->trap == outcome->trap);
  // Both go in order, so that memory is the same after a trap, too.
  CHECK(meant->results == outcome->results && arguments == others);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  Try(bytes);
  Try(Mended(std::move(bytes)));
  return 0;
}
