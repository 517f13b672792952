#include "completion_scripts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "cli.h"

namespace frazil::cli {
namespace {

using Commands = std::vector<const CLI::App*>;

Commands CommandsOf(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// A command, the words that lead to it ("store ls"; none for frazil itself), and the options that it understands: its own
// and those of all above it.
struct Node {
  std::string path;
  const CLI::App* command;
  std::vector<const CLI::Option*> options;
};

void Collect(const CLI::App& app, std::string path, std::vector<const CLI::Option*> options,
             std::vector<Node>& nodes) {
  for (const CLI::Option* option : app.get_options()) options.push_back(option);
  nodes.push_back({path, &app, options});
  for (const CLI::App* command : CommandsOf(app))
    Collect(*command, path + (path.empty() ? "" : " ") + command->get_name(), options, nodes);
}

std::vector<Node> NodesOf(const CLI::App& app) {
  std::vector<Node> nodes;
  Collect(app, "", {}, nodes);
  return nodes;
}

// What may be written at the place of a command's first word that is no option.
std::vector<std::string> FirstWords(const Node& node) {
  std::vector<std::string> words;
  for (const CLI::App* command : CommandsOf(*node.command)) words.push_back(command->get_name());
  for (const CLI::Option* option : node.command->get_options()) {
    if (option->get_positional())
      for (const std::string& value : ValuesOf(*option)) words.push_back(value);
  }
  return words;
}

std::string FishQuoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text)
    quoted += c == '\'' || c == '\\' ? std::string{'\\', c} : std::string{c};
  return quoted + "'";
}

}  // namespace

// The words are walked to know the command; then the values of the option before the cursor, the options, the words that
// stand first, or files.
std::string BashScript(const CLI::App& app) {
  std::string paths, values, words;
  for (const Node& node : NodesOf(app)) {
    if (!node.path.empty()) paths += fmt::format("{}\"{}\"", paths.empty() ? "" : "|", node.path);
    std::string names;
    for (const CLI::Option* option : node.options) {
      for (const std::string& name : option->get_lnames()) {
        names += fmt::format(" --{}", name);
        if (const auto known = ValuesOf(*option); !known.empty())
          values += fmt::format("    \"{} --{}\") values=\"{}\" ;;\n", node.path, name,
                                fmt::join(known, " "));
      }
    }
    words += fmt::format("    \"{}\") options=\"{}\" first=\"{}\" ;;\n", node.path, names,
                         fmt::join(FirstWords(node), " "));
  }
  return fmt::format(
      R"(_frazil() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
  local path="" options="" first="" values="" i next
  for ((i = 1; i < COMP_CWORD; ++i)); do
    next="${{path:+$path }}${{COMP_WORDS[i]}}"
    case "$next" in
      {}) path=$next ;;
    esac
  done
  # --target=na comes as three words.
  if [[ $word == "=" ]]; then word=""; elif [[ $before == "=" ]]; then before="${{COMP_WORDS[COMP_CWORD-2]}}"; fi
  case "$path $before" in
{}  esac
  case "$path" in
{}  esac
  if [[ -n $values ]]; then
    COMPREPLY=($(compgen -W "$values" -- "$word"))
  elif [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif [[ -n $first ]]; then
    COMPREPLY=($(compgen -W "$first" -- "$word"))
  else
    COMPREPLY=()  # the shell's own: files
  fi
}}
complete -o default -F _frazil frazil
)",
      paths, values, words);
}

// Fish knows which words have been seen: a command is meant when all of its path was and none below it.
std::string FishScript(const CLI::App& app) {
  std::string script;
  for (const Node& node : NodesOf(app)) {
    std::string seen, below;
    for (const std::string& word : CLI::detail::split(node.path, ' '))
      if (!word.empty())
        seen += fmt::format("{}__fish_seen_subcommand_from {}", seen.empty() ? "" : "; and ", word);
    for (const CLI::App* command : CommandsOf(*node.command)) below += " " + command->get_name();
    std::string here = node.path.empty() ? "__fish_use_subcommand" : seen;
    if (!node.path.empty() && !below.empty())
      here += "; and not __fish_seen_subcommand_from" + below;
    for (const CLI::App* command : CommandsOf(*node.command))
      script += fmt::format("complete -c frazil -n {} -f -a {} -d {}\n", FishQuoted(here),
                            command->get_name(), FishQuoted(command->get_description()));
    for (const CLI::Option* option : node.command->get_options()) {
      const std::vector<std::string> values = ValuesOf(*option);
      if (option->get_positional() && !values.empty())
        script += fmt::format("complete -c frazil -n {} -f -a {}\n", FishQuoted(here),
                              FishQuoted(fmt::format("{}", fmt::join(values, " "))));
      for (const std::string& name : option->get_lnames())
        script += fmt::format(
            "complete -c frazil{} -l {}{} -d {}\n", seen.empty() ? "" : " -n " + FishQuoted(seen),
            name,
            values.empty() ? "" : " -x -a " + FishQuoted(fmt::format("{}", fmt::join(values, " "))),
            FishQuoted(option->get_description()));
    }
  }
  return script;
}

}  // namespace frazil::cli
