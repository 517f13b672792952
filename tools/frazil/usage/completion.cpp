// frazil completion: a script for the shell, made from the commands and options themselves.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli.h"
#include "completion_scripts.h"

namespace frazil::cli {
void AddCompletion(CLI::App& app, Session& session) {
  CLI::App* command =
      AddCommand(app, "completion", "print a completion script for bash, zsh or fish",
                 "  source <(frazil completion bash)\n"
                 "  frazil completion fish > ~/.config/fish/completions/frazil.fish");
  auto shell = std::make_shared<std::string>();
  OneOf(command->add_option("shell", *shell, "which one")->required(), {"bash", "zsh", "fish"});
  SetBody(command, session, [&app, &session, shell]() -> Result<int> {
    std::string script;
    if (*shell == "bash")
      script = BashScript(app);
    else if (*shell == "zsh")
      script = "autoload -U +X bashcompinit && bashcompinit\n" + BashScript(app);
    else if (*shell == "fish")
      script = FishScript(app);
    else
      return Fail(Diag::BadUsage, fmt::format("'{}' is none of bash, zsh, fish", *shell));
    if (session.json)
      PrintJson({{"shell", *shell}, {"script", script}});
    else
      fmt::print("{}", script);
    return 0;
  });
}

}  // namespace frazil::cli
