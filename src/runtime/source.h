// A program that does not change any more, with the digest of its content: what an executor finds again without looking
// at the program. Copies are the same source; a program that was changed needs a new one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "embed/kernel.h"
#include "exec/target.h"
#include "ir/program.h"

namespace frazil::runtime {

// What a loaded kernel is found by: launches bind buffers and lanes by names, which no digest knows.
std::string KernelKey(const ir::Program& program, std::string_view exact);

class Source {
 public:
  // The digest is computed here, once. The program is checked when it is loaded. `proposals`: artifacts that somebody made
  // of it, each for its target; they are believed as little as any, and judged where they are about to run.
  explicit Source(ir::Program program, std::vector<exec::Artifact> proposals = {});
  // A kernel that was embedded (frazil build --embed), with its PTX as a proposal where it has some.
  static Result<Source> Embedded(const embed::KernelData& kernel);
  // A file of any door, by its ending (.frz, .frzb, .py ..); FILE:NAME picks one of several. Shared libraries are refused,
  // whatever they promise.
  static Result<Source> Read(const std::string& path);

  const ir::Program& program() const { return data_->program; }
  const std::string& exact() const { return data_->exact; }
  // The program and what was proposed with it: what kernels of it are kept under. `exact` where nothing was.
  const std::string& key() const { return data_->key; }
  const exec::Artifact* ProposalFor(std::string_view target) const;  // null: there is none
  // No other source of this process has it, nor had it.
  uint64_t id() const { return data_->id; }

 private:
  struct Data {
    ir::Program program;
    std::string exact;
    std::string key;
    uint64_t id;
    std::vector<exec::Artifact> proposals;
  };
  std::shared_ptr<const Data> data_;
};

}  // namespace frazil::runtime
