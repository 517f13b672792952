// Work in a process of its own, which tells its news line by line: a crash or an endless loop costs nothing else.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace frazil::mutants {

using Tell = std::function<void(const std::string& line)>;

struct ChildEnd {
  std::vector<std::string> lines;
  std::string fault;  // "signal 11", "no end in 5000 ms"; empty: it ended by itself
};

// `silent_ms`: how long it may be without a line.
ChildEnd RunChild(const std::function<void(const Tell&)>& work, int silent_ms);

// Once, at the start: whoever crashes dies of it. Not in each process: WASM's engine has handlers of its own by then, and
// traps are signals to it.
void LetCrash();

// Does the work of all numbers below `count`, in some processes at a time; gives all their lines.
std::vector<std::string> RunAll(size_t count, size_t processes,
                                const std::function<void(size_t number, const Tell&)>& work);

}  // namespace frazil::mutants
