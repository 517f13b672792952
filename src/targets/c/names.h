// C identifiers for what the IR names freely.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

namespace frazil::targets::c {

// Letters, digits and '_' only, not starting with a digit or '_', no "__": legal in C and C++ and never
// reserved by their rules. Keywords and names of the C library are left to NameScope. May be empty.
std::string Identifier(std::string_view name);

// Keywords of C and C++, names that the generated code itself uses, and macros of system headers.
bool IsTaken(std::string_view identifier);

// Names of one function: no name twice, none that is taken.
class NameScope {
 public:
  // The name itself if it is free, else with "_" or a number at its end.
  std::string Add(std::string_view wanted);
  bool Contains(const std::string& name) const { return used_.contains(name); }

 private:
  std::unordered_set<std::string> used_;
};

}  // namespace frazil::targets::c
