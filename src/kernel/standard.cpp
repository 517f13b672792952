// One object holds the words of a launch, on the stack; the embedded launch reads its tables and says what is wrong.
#include "kernel/standard.h"

#include <fmt/format.h>
#include <frazil_stdlib.hpp>

#include <limits>
#include <map>

#include "base/check.h"
#include "base/fork.h"
#include "embed/launch.h"
#include "exec/value.h"
#include "kernel/internal.h"
#include "kernel/isa_backend.h"
#include "machines/simt/module.h"
#include "targets/isa/isa.h"

namespace frazil::kernel::internal {
namespace {

Diag DiagOf(embed::LaunchError error) {
  if (error == embed::LaunchError::Trapped) return Diag::Trapped;
  if (error == embed::LaunchError::Overlap) return Diag::OverlappingBuffers;
  return Diag::BadLaunch;
}

// Where there is no machine code for this machine: the tile interpreter needs none.
Result<std::shared_ptr<Backend>> TileBackend() {
  static const Result<std::shared_ptr<Backend>> backend = MakeIsaBackend();
  return backend;
}

}  // namespace

const embed::ModuleData& StandardKernels() { return frazil_stdlib::kernels(); }

Result<const ir::Program*> StandardProgram(const embed::KernelData& kernel) {
  static ForkMutex mutex;
  static std::map<const embed::KernelData*, ir::Program> programs;
  const std::lock_guard lock(mutex);
  const auto found = programs.find(&kernel);
  if (found != programs.end()) return &found->second;
  const auto module = TRY(machines::simt::LoadModule(kernel.isa.bytes()));
  return &programs.emplace(&kernel, TRY(targets::isa::Lift(module))).first->second;
}

StandardCall::StandardCall(std::string_view kernel)
    : kernel_(StandardKernels().Find(kernel)), name_(kernel) {
  CHECK(kernel_ != nullptr);
}

void StandardCall::Use(Backend* backend) {
  if (backend != nullptr && backend->name() == "cpu") backend = nullptr;
  mixed_ |= has_memory_ && backend != backend_;
  backend_ = backend;
  has_memory_ = true;
}

void StandardCall::Memory(const float* data, size_t size) {
  words_[count_++] = reinterpret_cast<uint64_t>(data);
  words_[count_++] = size;
}

StandardCall& StandardCall::Add(ops::In view) {
  Use(view.backend());
  Memory(view.span().data(), view.size());
  return *this;
}

StandardCall& StandardCall::Add(ops::Out view) {
  Use(view.backend());
  Memory(view.span().data(), view.size());
  return *this;
}

StandardCall& StandardCall::AddCell(std::span<float> cell) {
  Memory(cell.data(), cell.size());
  return *this;
}

StandardCall& StandardCall::Add(float value) {
  words_[count_++] = embed::WordOf(value);
  return *this;
}

StandardCall& StandardCall::Add(size_t extent) {
  too_large_ |= extent > std::numeric_limits<uint32_t>::max();
  words_[count_++] = extent;
  return *this;
}

Result<void> StandardCall::Run() {
  if (mixed_)
    return Fail(Diag::BadLaunch, fmt::format("{}: its buffers belong to several backends", name_));
  if (too_large_)
    return Fail(Diag::BadLaunch, fmt::format("{}: a dimension is above 2^32 - 1", name_));
  CHECK(count_ == kernel_->word_count);
  if (backend_ != nullptr) return RunElsewhere();
  const embed::Status status = embed::Launch(*kernel_, words_, nullptr, embed::Extents::Given);
  if (status.ok()) return {};
  if (status.error() != embed::LaunchError::NoCode)
    return Fail(DiagOf(status.error()), status.ToString());
  const std::shared_ptr<Backend> tile = TRY(TileBackend());
  backend_ = tile.get();
  return RunElsewhere();
}

Result<void> StandardCall::RunElsewhere() {
  const ir::Program* program = TRY(StandardProgram(*kernel_));
  const std::shared_ptr<const LoadedKernel> loaded = TRY(backend_->LoadCached(*program));
  std::vector<std::optional<exec::Value>> values;
  const uint64_t* word = words_;
  for (const ir::KernelParam& param : loaded->signature().params) {
    if (param.type.is_buffer()) {
      auto* data = reinterpret_cast<void*>(word[0]);
      values.push_back(exec::Value::Buffer(std::make_shared<exec::Memory>(
          param.type.element(), static_cast<int64_t>(word[1]), data)));
      word += 2;
    } else {
      values.push_back(exec::Value::Word(param.type, *word++));
    }
  }
  return LaunchValues(*loaded, {}, values);
}

}  // namespace frazil::kernel::internal
