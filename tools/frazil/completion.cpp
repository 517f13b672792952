// frazil completion: a script for the shell, made from the commands and options themselves.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli.h"

namespace frazil::cli {
namespace {

std::string LongOptions(const CLI::App& app) {
  std::string names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names += " --" + name;
  return names;
}

std::string Bash(const CLI::App& app) {
  std::string commands;
  std::string cases;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    commands += " " + command->get_name();
    cases += fmt::format("    {}) words=\"{}{}\" ;;\n", command->get_name(), LongOptions(*command),
                         LongOptions(app));
  }
  return fmt::format(
      "_frazil() {{\n  local words=\"{}{}\"\n  case \"${{COMP_WORDS[1]}}\" in\n{}  esac\n"
      "  if [[ \"${{COMP_WORDS[COMP_CWORD]}}\" == -* || $COMP_CWORD -eq 1 ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$words\" -- \"${{COMP_WORDS[COMP_CWORD]}}\"))\n"
      "  else\n    COMPREPLY=($(compgen -f -- \"${{COMP_WORDS[COMP_CWORD]}}\"))\n  fi\n}}\n"
      "complete -F _frazil frazil\n",
      commands, LongOptions(app), cases);
}

std::string Fish(const CLI::App& app) {
  std::string script;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    script += fmt::format("complete -c frazil -n __fish_use_subcommand -a {} -d '{}'\n",
                          command->get_name(), command->get_description());
    for (const CLI::Option* option : command->get_options())
      for (const std::string& name : option->get_lnames())
        script +=
            fmt::format("complete -c frazil -n '__fish_seen_subcommand_from {}' -l {} -d '{}'\n",
                        command->get_name(), name, option->get_description());
  }
  return script;
}

}  // namespace

void AddCompletion(CLI::App& app, Session& session) {
  CLI::App* command =
      AddCommand(app, "completion", "print a completion script for bash, zsh or fish",
                 "  source <(frazil completion bash)\n"
                 "  frazil completion fish > ~/.config/fish/completions/frazil.fish");
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")->required();
  SetBody(command, session, [&app, &session, shell]() -> Result<int> {
    std::string script;
    if (*shell == "bash")
      script = Bash(app);
    else if (*shell == "zsh")
      script = "autoload -U +X bashcompinit && bashcompinit\n" + Bash(app);
    else if (*shell == "fish")
      script = Fish(app);
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
