// A program that does not change any more, with the digest of its content: what an executor finds again without looking
// at the program. Copies are the same source; a program that was changed needs a new one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "ir/program.h"

namespace frazil::runtime {

class Source {
 public:
  // The digest is computed here, once. The program is checked when it is loaded.
  explicit Source(ir::Program program);
  // A file of any door, by its ending (.frz, .frzb, .py ..); FILE:NAME picks one of several. Shared libraries are refused,
  // whatever they promise.
  static Result<Source> Read(const std::string& path);

  const ir::Program& program() const { return data_->program; }
  const std::string& exact() const { return data_->exact; }
  // No other source of this process has it, nor had it.
  uint64_t id() const { return data_->id; }

 private:
  struct Data {
    ir::Program program;
    std::string exact;
    uint64_t id;
  };
  std::shared_ptr<const Data> data_;
};

}  // namespace frazil::runtime
