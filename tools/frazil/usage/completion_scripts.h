// Scripts that complete the words of `frazil` in a shell, made from its commands and options.
#pragma once

#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace frazil::cli {

std::string BashScript(const CLI::App& app);
std::string FishScript(const CLI::App& app);

}  // namespace frazil::cli
