// What is wrong with a command line: the word that is not understood, the nearest one that would be, and where to read on.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "base/nearest.h"
#include "cli.h"

namespace frazil::cli {
namespace {

std::vector<const CLI::App*> CommandsOf(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::string PathOf(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name()
                                     : PathOf(*app.get_parent()) + " " + app.get_name();
}

std::string DidYouMean(const std::string& nearest) {
  return nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest);
}

// Options of a command are also understood behind its sub-commands.
const CLI::Option* FindOption(const CLI::App* app, const std::string& name) {
  for (; app != nullptr; app = app->get_parent()) {
    if (const CLI::Option* option = app->get_option_no_throw(name)) return option;
  }
  return nullptr;
}

std::vector<std::string> OptionNames(const CLI::App* app) {
  std::vector<std::string> names;
  for (; app != nullptr; app = app->get_parent()) {
    for (const CLI::Option* option : app->get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> Names(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return names;
}

// The command that the words had reached when they stopped making sense, and what is wrong there; no sentence where the
// words are all known, and it is something else.
struct Place {
  const CLI::App* command;
  std::string sentence;
};

Place FindPlace(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  for (size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const std::string& word = words[i];
    if (word.starts_with("--")) {
      const std::string name = word.substr(0, word.find('='));
      const CLI::Option* option = FindOption(command, name);
      if (option == nullptr)
        return {command, fmt::format("{} has no option {}{}", PathOf(*command), name,
                                     DidYouMean(Nearest(name, OptionNames(command))))};
      if (option->get_items_expected_min() > 0 && word.size() == name.size()) ++i;
    } else if (const auto commands = CommandsOf(*command); !commands.empty()) {
      const auto found = std::ranges::find(commands, word, [](auto* c) { return c->get_name(); });
      if (found == commands.end())
        return {command, fmt::format("{} has no command '{}'{}", PathOf(*command), word,
                                     DidYouMean(Nearest(word, Names(commands))))};
      command = *found;
    }
  }
  if (const auto commands = CommandsOf(*command); !commands.empty())
    return {command, fmt::format("{} needs a command: {}", PathOf(*command),
                                 fmt::join(Names(commands), ", "))};
  return {command, ""};
}

}  // namespace

Error UsageError(const CLI::App& app, const std::vector<std::string>& words,
                 const std::string& complaint) {
  const Place place = FindPlace(app, words);
  Error error{Diag::BadUsage, place.sentence.empty() ? complaint : place.sentence};
  error.hint = fmt::format("see {} --help", PathOf(*place.command));
  return error;
}

namespace {

// What the option parser takes without a word: -5 for 2^64 - 5, since a number keeps a blank before it (ArgumentsOf), and
// the greatest number for one that is greater.
std::string WrongNumber(std::string_view text, bool counts) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  if (counts && text.starts_with('-')) return fmt::format("{} is less than 0", text);
  uint64_t count = 0;
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const std::errc error = counts ? std::from_chars(text.data(), end, count).ec
                                 : std::from_chars(text.data(), end, number).ec;
  return error == std::errc::result_out_of_range ? fmt::format("{} has more than 64 bits", text)
                                                 : std::string();
}

}  // namespace

void RefuseWrongNumbers(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    const bool counts = option->get_type_name().starts_with("UINT");
    if (counts || option->get_type_name().starts_with("INT"))
      option->check([counts](const std::string& text) { return WrongNumber(text, counts); });
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; }))
    RefuseWrongNumbers(*command);
}

CLI::Option* AtLeastOne(CLI::Option* option) {
  return option->check(CLI::Validator(
      [](std::string& text) {
        const std::string number = CLI::detail::trim_copy(text);
        return number.starts_with('-') || number == "0" ? fmt::format("{} is less than 1", number)
                                                        : std::string();
      },
      "POSITIVE"));
}

CLI::Option* OneOf(CLI::Option* option, const std::vector<std::string>& values) {
  // It only tells: whoever uses the value refuses others, with a better sentence.
  return option->check(CLI::Validator([](std::string&) { return std::string(); },
                                      fmt::format("{{{}}}", fmt::join(values, ","))));
}

std::vector<std::string> ValuesOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t open = type.find('{'), close = type.find('}');
  if (open == std::string::npos || close == std::string::npos) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

}  // namespace frazil::cli
