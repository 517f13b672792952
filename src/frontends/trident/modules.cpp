// A program and all it uses, each module once, what is used before what uses it. The walk keeps its own stack: how deep
// modules use each other is the user's business.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "frontends/trident/suggest.h"
#include "frontends/trident/trident.h"
#include "frontends/trident/unused_imports.h"

namespace frazil::frontends::trident {
namespace {

constexpr size_t MostModules = 10'000;

class Importer {
 public:
  Importer(const Loader& loader, std::vector<Error>* errors, const Limits& limits)
      : loader_(loader), errors_(errors), limits_(limits) {}

  Package Run(std::string_view text, std::string_view file) {
    Open(text, std::string(file), {});
    while (!open_.empty()) {
      Entry& top = open_.back();
      if (top.next < top.module->uses.size())
        Follow(top);
      else
        Close();
    }
    return std::move(package_);
  }

 private:
  struct Entry {
    std::unique_ptr<Module> module;
    size_t next = 0;  // of its uses
    std::string name;
  };

  void Complain(const Module& module, Location location, Diag diag, std::string message,
                std::string hint = {}) {
    errors_->push_back({diag, std::move(message), location, module.file, std::move(hint)});
  }

  void Open(std::string_view text, std::string file, std::string name) {
    ReadResult read = Read(text, file, limits_);
    std::ranges::move(read.errors, std::back_inserter(*errors_));
    std::ranges::move(read.warnings, std::back_inserter(package_.warnings));
    auto module = std::make_unique<Module>(std::move(read.module));
    CheckUses(*module);
    open_.push_back({std::move(module), 0, std::move(name)});
  }

  void CheckUses(const Module& module) {
    std::unordered_set<std::string> seen;
    for (const Path& use : module.uses) {
      if (!seen.insert(use.ToString()).second)
        Complain(module, use.location, Diag::Redefined,
                 fmt::format("'{}' is used twice", use.ToString()));
    }
  }

  void Follow(Entry& top) {
    const Path use = top.module->uses[top.next++];
    const std::string name = use.ToString();
    if (done_.contains(name)) return;
    const auto again =
        std::ranges::find_if(open_, [&](const Entry& entry) { return entry.name == name; });
    if (again != open_.end()) {
      std::string circle;
      for (auto it = again; it != open_.end(); ++it) circle += it->name + " -> ";
      Complain(*top.module, use.location, Diag::ModuleCycle,
               fmt::format("modules use each other in a circle: {}{}", circle, name),
               "move what both need into a third module");
      return;
    }
    if (done_.size() + open_.size() > MostModules) {
      Complain(*top.module, use.location, Diag::LimitReached,
               fmt::format("more than {} modules", MostModules));
      done_.insert(name);
      return;
    }
    const std::optional<Source> source = loader_ ? loader_(name) : std::nullopt;
    if (!source) {
      done_.insert(name);  // said once
      Missing(*top.module, use);
      return;
    }
    const Module& user = *top.module;  // stays where it is when open_ grows
    Open(source->text, source->file, name);
    CheckHeader(user, use, *open_.back().module);
  }

  void Missing(const Module& module, const Path& use) {
    const std::vector<std::string> names = StandardModules();
    std::vector<std::string_view> known(names.begin(), names.end());
    std::string hint = Suggest(use.ToString(), known);
    if (hint.empty()) {
      for (const std::string_view name : known) {  // the right name in the wrong place
        if (name.ends_with("." + use.parts.back())) hint = fmt::format("did you mean '{}'?", name);
      }
    }
    std::string path = use.ToString();
    std::ranges::replace(path, '.', '/');
    if (hint.empty())
      hint = fmt::format(
          "it would be the file {}.tri beside the program or in a folder that is searched", path);
    Complain(module, use.location, Diag::UnknownModule,
             fmt::format("there is no module '{}'", use.ToString()), hint);
  }

  // A file may give its name in full or only the last part; from here on it has the one by which it is used.
  void CheckHeader(const Module& user, const Path& use, Module& module) {
    if (module.name.parts.empty()) return;  // its own error has been said
    if (module.is_program) {
      Complain(user, use.location, Diag::UnknownModule,
               fmt::format("'{}' is a program", use.ToString()),
               "only modules can be used: begin the file with 'module'");
    } else if (module.name.parts.back() != use.parts.back() ||
               (module.name.parts.size() > 1 && module.name.parts != use.parts)) {
      Complain(module, module.name.location, Diag::UnknownModule,
               fmt::format("the file is used as '{}' but calls itself '{}'", use.ToString(),
                           module.name.ToString()),
               "the name follows from where the file lies");
    }
    const Location location = module.name.location;
    module.name = use;
    module.name.location = location;
  }

  void Close() {
    WarnUnusedImports(*open_.back().module, &package_.warnings);
    if (!open_.back().name.empty()) done_.insert(open_.back().name);
    package_.modules.push_back(std::move(open_.back().module));
    open_.pop_back();
  }

  const Loader& loader_;
  std::vector<Error>* errors_;
  const Limits& limits_;
  Package package_;
  std::vector<Entry> open_;
  std::unordered_set<std::string> done_;
};

}  // namespace

Result<Package> Load(std::string_view text, std::string_view file, const Loader& loader,
                     std::vector<Error>* errors, const Limits& limits) {
  std::vector<Error> own;
  if (errors == nullptr) errors = &own;
  const size_t before = errors->size();
  Package package = Importer(loader, errors, limits).Run(text, file);
  if (errors->size() > before) return std::unexpected((*errors)[before]);
  return package;
}

}  // namespace frazil::frontends::trident
