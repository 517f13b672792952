// The embedded prelude and the index over it. Only the functions that a program needs are parsed:
// the whole text would cost more than everything else between a question and its answer.
#include "ir/lower/prelude.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "ir/lower/prelude_library.h"
#include "ir/text/text.h"
#include "prelude_text.inc"

namespace frazil::ir {
namespace {

constexpr std::string_view NameChars =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";

// The symbol that starts right after an '@'.
std::string_view NameAt(std::string_view text, size_t begin) {
  size_t end = text.find_first_not_of(NameChars, begin);
  return text.substr(begin, (end == std::string_view::npos ? text.size() : end) - begin);
}

// Calls `found` for every '@name' outside of comments, with whether it is a table.
template <typename Found>
void ForEachUse(std::string_view text, const Found& found) {
  for (size_t line = 0; line < text.size();) {
    size_t end = std::min(text.find('\n', line), text.size());
    std::string_view code = text.substr(line, end - line);
    code = code.substr(0, code.find("//"));
    for (size_t at = code.find('@'); at != std::string_view::npos; at = code.find('@', at + 1))
      found(NameAt(code, at + 1), code.substr(0, at).ends_with("lookup "));
    line = end + 1;
  }
}

}  // namespace

std::string_view PreludeText() { return {EmbeddedPrelude, sizeof(EmbeddedPrelude) - 1}; }

std::string_view PreludeDigest() { return EmbeddedPreludeDigest; }

std::string PreludeFunctionName(Op op, Type type) {
  Scalar scalar = Contains(sets::Half, type.scalar) ? Scalar::F32 : type.scalar;
  return fmt::format("{}.{}", Info(op).mnemonic, ScalarName(scalar));
}

Result<const Program*> LoadPrelude(Op op, Type type) {
  return PreludeLibrary::Embedded().Load(PreludeFunctionName(op, type));
}

const PreludeLibrary& PreludeLibrary::Embedded() {
  static const PreludeLibrary library(PreludeText());
  return library;
}

// A piece runs from its line to the next one that starts a piece or another file.
PreludeLibrary::PreludeLibrary(std::string_view text) {
  Pieces* pieces = nullptr;
  std::string_view name;
  size_t begin = 0;
  auto close = [&](size_t end) {
    if (pieces != nullptr) pieces->emplace(name, text.substr(begin, end - begin));
    pieces = nullptr;
  };
  for (size_t line = 0; line < text.size();) {
    std::string_view rest = text.substr(line);
    if (rest.starts_with("func @") || rest.starts_with("data @")) {
      close(line);
      pieces = rest.starts_with("func @") ? &functions_ : &tables_;
      name = NameAt(rest, 6);
      begin = line;
    } else if (rest.starts_with("frz ")) {
      close(line);
    }
    size_t end = text.find('\n', line);
    line = end == std::string_view::npos ? text.size() : end + 1;
  }
  close(text.size());
}

// The function asked for stands last: with no function named main, that makes it the entry.
std::string PreludeLibrary::TextFor(std::string_view function) const {
  std::vector<std::string_view> functions = {function};
  std::vector<std::string_view> tables;
  std::unordered_set<std::string_view> seen_functions = {function};
  std::unordered_set<std::string_view> seen_tables;
  for (size_t next = 0; next < functions.size(); ++next) {
    ForEachUse(functions_.at(functions[next]), [&](std::string_view name, bool is_table) {
      if (is_table && tables_.contains(name) && seen_tables.insert(name).second)
        tables.push_back(name);
      if (!is_table && functions_.contains(name) && seen_functions.insert(name).second)
        functions.push_back(name);
    });
  }
  std::string text = "frz 1\n";
  for (std::string_view table : tables) text += tables_.at(table);
  for (size_t i = functions.size(); i-- > 0;) text += functions_.at(functions[i]);
  return text;
}

Result<const Program*> PreludeLibrary::Load(std::string_view function) const {
  std::string name(function);
  std::lock_guard lock(mutex_);
  if (auto found = loaded_.find(name); found != loaded_.end()) return found->second.get();
  if (!Has(function))
    return Fail(Diag::Internal, fmt::format("the prelude has no function @{}", name));
  Result<Program> program = ParseText(TextFor(function));
  if (!program)
    return Fail(Diag::Internal,
                fmt::format("the prelude's @{}: {}", name, program.error().ToString()));
  auto owned = std::make_unique<const Program>(std::move(*program));
  return loaded_.emplace(std::move(name), std::move(owned)).first->second.get();
}

}  // namespace frazil::ir
