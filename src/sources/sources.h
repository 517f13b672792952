// Programs from files of every door, chosen by the name's ending: the one place that knows which ending is which language.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "ir/program.h"

namespace frazil::sources {

// .frz, .py, .json, .cir, .frzb, .tri, .tir
enum class Language : uint8_t { Text, Python, Json, Circuit, Module, Trident, Tir };
std::optional<Language> LanguageOf(std::string_view path);

// One program of a file; files of kernels may have several.
struct Source {
  std::string name;  // of its entry function
  std::string doc;   // what stands above it, or is its docstring
  ir::Program program;
};

// The file's name as the name of a function: "my-chain.cir" is my_chain.
std::string NameFromFile(const std::string& path);

// `text` is the file's content, but for Python the JSON that its tool made of it. Errors carry the file's name. A Trident
// text with several errors gives the first (trident.h gives all of them).
Result<std::vector<Source>> ParseSources(const std::string& path, Language language,
                                         std::string_view text, const Limits& limits = {});

struct ReadOptions {
  Limits limits = {};
  bool standard_input = false;  // "-" is a .frz text from there; else it is a file's name
};

// Every program of a file. An unknown ending is read as .frz text.
Result<std::vector<Source>> ReadSources(const std::string& path, const ReadOptions& options = {});
// FILE: every program of it, at least one. FILE:NAME: that one.
Result<std::vector<Source>> ReadNamed(const std::string& input, const ReadOptions& options = {});
// The FILE of either.
std::string PathOf(const std::string& input);
// One of them: FILE where there is one only, FILE:NAME else.
Result<ir::Program> ReadProgram(const std::string& input, const ReadOptions& options = {});
// The same, or, where there is no such file, from words. What is neither, but looks like a path, is a missing file.
Result<ir::Program> ReadProgramOrWords(const std::string& input, const ReadOptions& options = {});

}  // namespace frazil::sources
