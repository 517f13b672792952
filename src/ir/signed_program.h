// A program with all that names it: canonical form, canonical bytes and text, both digests. Each is computed when it is first
// asked for, once, and shared by everybody who handles the program; nothing of it changes afterwards. Any thread.
#pragma once

#include <memory>
#include <string>

#include "base/system/fork.h"
#include "ir/program.h"

namespace frazil::ir {

class SignedProgram {
 public:
  explicit SignedProgram(std::shared_ptr<const Program> program) : program_(std::move(program)) {}
  static std::shared_ptr<const SignedProgram> Of(Program program);

  const Program& program() const { return *program_; }  // as given
  const std::shared_ptr<const Program>& shared() const { return program_; }
  const Program& canonical() const;
  const std::string& bytes() const;  // CanonicalBytes of the canonical form
  const std::string& text() const;   // of the canonical form
  const std::string& exact() const;
  const std::string& shape() const;

 private:
  // A value that is made by the first who wants it.
  template <typename T>
  struct Once {
    mutable ForkOnce once;
    mutable T value;
    template <typename Make>
    const T& Get(const Make& make) const {
      once.Call([&] { value = make(); });
      return value;
    }
  };

  std::shared_ptr<const Program> program_;
  Once<Program> canonical_;
  Once<std::string> bytes_, text_, exact_, shape_;
};

}  // namespace frazil::ir
