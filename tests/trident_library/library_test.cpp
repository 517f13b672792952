// What we ship in Trident does what it says: the library's tests hold, every example gives the output of its run line, and
// no example gives it to a prover who knows something else.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/goldilocks.h"
#include "exec/interpreter.h"
#include "frontends/field/field.h"
#include "run_line.h"

namespace frazil::tests {
namespace {

namespace field = frontends::field;

std::optional<ir::Program> BuildOne(const field::Package& package, const std::string& function, bool contracts) {
  field::Options options;
  options.function = function;
  options.contracts = contracts;
  std::vector<Error> errors;
  Result<field::Built> built = field::Build(package, options, &errors);
  for (const Error& error : errors) ADD_FAILURE() << error.ToString();
  if (!built) return std::nullopt;
  for (const Error& warning : built->warnings) ADD_FAILURE() << "warning: " << warning.ToString();
  return std::move(built->program);
}

std::optional<field::Package> LoadOne(const std::string& text, const std::string& file, const std::string& beside) {
  std::vector<Error> errors;
  Result<field::Package> package = field::Load(text, file, field::DefaultLoader(beside), &errors);
  for (const Error& error : errors) ADD_FAILURE() << error.ToString();
  if (!package) return std::nullopt;
  for (const Error& warning : package->warnings) ADD_FAILURE() << "warning: " << warning.ToString();
  return std::move(*package);
}

TEST(Library, ItsTestsHold) {
  const field::Loader loader = field::DefaultLoader("");
  size_t count = 0;
  for (const std::string& name : field::StandardModules()) {
    const std::optional<field::Source> source = loader(name);
    ASSERT_TRUE(source.has_value());
    const std::optional<field::Package> package = LoadOne(source->text, source->file, "");
    if (!package) continue;
    for (const std::string& test : field::Tests(*package)) {
      const std::optional<ir::Program> program = BuildOne(*package, test, true);
      if (!program) continue;
      const Result<exec::Outcome> outcome = exec::Interpret(*program, {});
      ASSERT_TRUE(outcome.has_value()) << outcome.error().ToString();
      EXPECT_FALSE(outcome->trap.has_value()) << name << " " << test << ": " << outcome->trap->ToString();
      ++count;
    }
  }
  EXPECT_GE(count, 20u);
}

struct Example {
  std::string name;
  RunLine line;
  ir::Program program;
};

std::vector<Example> Examples() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(FRAZIL_TRIDENT_EXAMPLES)) {
    if (entry.path().extension() == ".tri") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<Example> examples;
  for (const auto& file : files) {
    std::ifstream in(file);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const field::ReadResult read = field::Read(text, file.string());
    EXPECT_EQ(field::Format(read.module), text) << file << " is not formatted";
    EXPECT_EQ(read.module.name.ToString(), file.stem().string());
    std::optional<RunLine> line = ReadRunLine(text);
    if (!line) {
      ADD_FAILURE() << file << " has no run line";
      continue;
    }
    const std::optional<field::Package> package = LoadOne(text, file.string(), file.string());
    if (!package) continue;
    std::optional<ir::Program> program = BuildOne(*package, "", true);
    if (program) examples.push_back({file.stem().string(), std::move(*line), std::move(*program)});
  }
  return examples;
}

Result<exec::Outcome> RunWith(const Example& example, const std::vector<exec::Value>& secret) {
  std::vector<exec::Value> arguments;
  if (example.program.entry_function().param_count() > 0) {
    auto memory = std::make_shared<exec::Memory>(ir::types::Field, 4096);
    for (const auto& [address, value] : example.line.ram)
      memory->Set(static_cast<int64_t>(address), std::span(&value, 1));
    arguments.push_back(exec::Value::Buffer(std::move(memory)));
  }
  exec::RunContext context;
  context.input = example.line.input;
  context.hints = secret;
  return exec::Interpret(example.program, arguments, context);
}

std::vector<uint64_t> Words(const exec::Outcome& outcome) {
  std::vector<uint64_t> words;
  for (const exec::Value& value : outcome.output) {
    for (const uint64_t word : value.scalar_words()) words.push_back(word);
  }
  return words;
}

TEST(Examples, GiveTheOutputOfTheirRunLine) {
  const std::vector<Example> examples = Examples();
  EXPECT_GE(examples.size(), 25u);
  for (const Example& example : examples) {
    const Result<exec::Outcome> outcome = RunWith(example, example.line.secret);
    ASSERT_TRUE(outcome.has_value()) << example.name << ": " << outcome.error().ToString();
    EXPECT_FALSE(outcome->trap.has_value()) << example.name << ": " << outcome->trap->ToString();
    EXPECT_EQ(Words(*outcome), example.line.output) << example.name;
  }
}

// A secret that is one larger must not lead to the same claim. A certificate of primality may exist twice.
TEST(Examples, BindTheirSecrets) {
  for (const Example& example : Examples()) {
    if (example.name == "primality") continue;
    const size_t step = std::max<size_t>(1, example.line.secret.size() / 6);
    for (size_t i = 0; i < example.line.secret.size(); i += step) {
      std::vector<exec::Value> secret = example.line.secret;
      std::vector<uint64_t> words(secret[i].scalar_words().begin(), secret[i].scalar_words().end());
      words[0] = goldilocks::Add(words[0], 1);
      secret[i] = exec::Value::Scalar(secret[i].type, words);
      const Result<exec::Outcome> outcome = RunWith(example, secret);
      ASSERT_TRUE(outcome.has_value()) << example.name << ": " << outcome.error().ToString();
      EXPECT_TRUE(outcome->trap.has_value() || Words(*outcome) != example.line.output)
          << example.name << ": secret " << i;
    }
  }
}

}  // namespace
}  // namespace frazil::tests
