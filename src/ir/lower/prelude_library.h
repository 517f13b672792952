// Functions of a prelude text, read one by one. The text is indexed once by its `func @name` and
// `data @name` lines; a function is parsed, with what it uses, when it is first asked for.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/system/fork.h"
#include "ir/program.h"

namespace frazil::ir {

class PreludeLibrary {
 public:
  // The text must outlive the library.
  explicit PreludeLibrary(std::string_view text);
  static const PreludeLibrary& Embedded();

  bool Has(std::string_view function) const { return functions_.contains(function); }
  // A program whose last function, and entry, is the one asked for. It is kept: the pointer stays
  // good. May be called from any thread.
  Result<const Program*> Load(std::string_view function) const;

 private:
  using Pieces = std::unordered_map<std::string_view, std::string_view>;
  std::string TextFor(std::string_view function) const;

  Pieces functions_;
  Pieces tables_;
  mutable ForkMutex mutex_;
  mutable std::unordered_map<std::string, std::unique_ptr<const Program>> loaded_;
};

// ExpandPrelude of ir/lower/lower.h with another prelude.
Result<Program> ExpandPreludeWith(const PreludeLibrary& library, const Program& program);

}  // namespace frazil::ir
