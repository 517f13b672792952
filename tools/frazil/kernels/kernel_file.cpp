#include "kernel_file.h"

#include "machines/simt/text.h"

namespace frazil::cli {

Result<registry::LoadedKernel> LoadKernelFile(const std::string& file, const std::string& target,
                                              const exec::LaunchShape& shape,
                                              const Limits& limits) {
  const bool is_file = file.ends_with(".frzb"), is_text = file.ends_with(".isa");
  if (!is_file && !is_text)
    return registry::LoadKernel(TRY(ReadProgram(file, limits)), target, limits);
  Result<machines::simt::Module> module =
      is_file ? machines::simt::Map(file) : machines::simt::Assemble(TRY(ReadFile(file, limits)));
  if (!module) {
    module.error().file = file;
    return std::unexpected(std::move(module.error()));
  }
  return registry::LoadKernel(*module, file, target, shape, limits);
}

}  // namespace frazil::cli
