// What concerns the text of Trident programs alone: errors, layout, tests.
#include "frazil/tri/internal/program.h"
#include "frontends/trident/trident.h"
#include "registry/targets.h"

namespace frazil::tri {
namespace {

namespace trident = frontends::trident;

constexpr int64_t TestRamWords = 65'536;

Result<trident::Package> LoadPackage(const std::string& file,
                                     const std::vector<std::string>& search, const Options& options,
                                     std::vector<Error>& errors) {
  const std::string text = TRY(ReadText(file, options));
  Result<trident::Package> package =
      trident::Load(text, file, trident::DefaultLoader(file, search), &errors, options.limits);
  if (!package && errors.empty()) errors.push_back(package.error());
  return package;
}

// Each test is a program of its own; contracts hold in tests.
Result<std::optional<std::string>> RunTest(const trident::Package& package, const std::string& name,
                                           const exec::Target& target, const Options& options) {
  std::vector<Error> errors;
  trident::Options build;
  build.function = name;
  build.contracts = true;
  build.limits = options.limits;
  Result<trident::Built> built = trident::Build(package, build, &errors);
  if (!errors.empty()) return std::unexpected(errors.front());
  if (!built) return std::unexpected(built.error());
  std::vector<exec::Value> arguments;
  const ir::Function& entry = built->program.entry_function();
  for (uint32_t i = 0; i < entry.param_count(); ++i)
    arguments.push_back(
        exec::Value::Buffer(std::make_shared<exec::Memory>(ir::types::Field, TestRamWords)));
  exec::RunContext context;
  context.limits = options.limits;
  const exec::Outcome outcome = TRY(registry::RunOn(target, built->program, arguments, context));
  if (!outcome.trap) return std::nullopt;
  return outcome.trap->ToString();
}

}  // namespace

Result<Notes> Check(const std::string& file, const std::vector<std::string>& search,
                    const Options& options) {
  Notes notes;
  const Result<trident::Package> package = LoadPackage(file, search, options, notes.errors);
  if (!package && notes.errors.empty()) return std::unexpected(package.error());
  if (!notes.errors.empty()) return notes;
  trident::Options build;
  build.limits = options.limits;
  // Modules have no `main` to build: everything is typed, nothing is built.
  Result<std::vector<Error>> checked = trident::CheckAll(*package, build, &notes.errors);
  if (checked) notes.warnings = std::move(*checked);
  if (!checked && notes.errors.empty()) notes.errors.push_back(checked.error());
  return notes;
}

Result<Formatted> Format(const std::string& file, const Options& options) {
  const std::string text = TRY(ReadText(file, options));
  trident::ReadResult read = trident::Read(text, file, options.limits);
  if (!read.errors.empty()) return std::unexpected(TakeErrors(options, std::move(read.errors)));
  Formatted formatted;
  formatted.text = trident::Format(read.module);
  formatted.changed = formatted.text != text;
  return formatted;
}

Result<void> Test(const std::string& file, const std::vector<std::string>& search,
                  std::string_view filter, const exec::Target& target,
                  const std::function<void(const TestResult&)>& on_result, const Options& options) {
  std::vector<Error> errors;
  const Result<trident::Package> package = LoadPackage(file, search, options, errors);
  if (!errors.empty()) return std::unexpected(TakeErrors(options, std::move(errors)));
  if (!package) return std::unexpected(package.error());
  for (const std::string& name : trident::Tests(*package)) {
    if (!name.contains(filter)) continue;
    on_result({name, TRY(RunTest(*package, name, target, options))});
  }
  return {};
}

}  // namespace frazil::tri
