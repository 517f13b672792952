// What we ship in Trident does what it says: the library's tests hold, every example gives the output of its run line, and
// no example gives it to a prover who knows something else.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/number/goldilocks.h"
#include "exec/meaning/interpreter.h"
#include "frontends/trident/trident.h"
#include "run_line.h"

namespace frazil::tests {
namespace {

namespace trident = frontends::trident;

std::optional<ir::Program> BuildOne(const trident::Package& package, const std::string& function,
                                    bool contracts) {
  trident::Options options;
  options.function = function;
  options.contracts = contracts;
  std::vector<Error> errors;
  Result<trident::Built> built = trident::Build(package, options, &errors);
  for (const Error& error : errors) ADD_FAILURE() << error.ToString();
  if (!built) return std::nullopt;
  for (const Error& warning : built->warnings) ADD_FAILURE() << "warning: " << warning.ToString();
  return std::move(built->program);
}

std::optional<trident::Package> LoadOne(const std::string& text, const std::string& file,
                                        const std::string& beside) {
  std::vector<Error> errors;
  Result<trident::Package> package =
      trident::Load(text, file, trident::DefaultLoader(beside), &errors);
  for (const Error& error : errors) ADD_FAILURE() << error.ToString();
  if (!package) return std::nullopt;
  for (const Error& warning : package->warnings) ADD_FAILURE() << "warning: " << warning.ToString();
  return std::move(*package);
}

TEST(Library, ItsTestsHold) {
  const trident::Loader loader = trident::DefaultLoader("");
  size_t count = 0;
  for (const std::string& name : trident::StandardModules()) {
    const std::optional<trident::Source> source = loader(name);
    ASSERT_TRUE(source.has_value());
    const std::optional<trident::Package> package = LoadOne(source->text, source->file, "");
    if (!package) continue;
    for (const std::string& test : trident::Tests(*package)) {
      const std::optional<ir::Program> program = BuildOne(*package, test, true);
      if (!program) continue;
      const Result<exec::Outcome> outcome = exec::Interpret(*program, {});
      ASSERT_TRUE(outcome.has_value()) << outcome.error().ToString();
      EXPECT_FALSE(outcome->trap.has_value())
          << name << " " << test << ": " << outcome->trap->ToString();
      ++count;
    }
  }
  EXPECT_GE(count, 20u);
}

// What the library promises to end the program on, and beside it a neighbor that is fine.
TEST(Library, EndsTheProgramWhereItSays) {
  struct Row {
    const char* expression;
    std::vector<uint64_t> secret;
    bool fine;
  };
  const Row rows[] = {
      {"as_field(u32.sub(2, 2))", {}, true},
      {"as_field(u32.sub(1, 2))", {}, false},
      {"as_field(u32.shl(1, 31))", {}, true},
      {"as_field(u32.shl(1, 32))", {}, false},
      {"as_field(u32.sqrt(99))", {9}, true},
      {"as_field(u32.sqrt(99))", {8}, false},
      {"as_field(u32.sqrt(99))", {10}, false},
      {"as_field(u32.sqrt(99))", {goldilocks::P - 9}, false},
      {"field.sqrt(49)", {goldilocks::P - 7}, true},
      {"field.sqrt(49)", {8}, false},
      {"field.div(1, 0)", {}, false},
      {"field.from_bool(field.as_bool(2))", {}, false},
      {"field.from_bool(io.divine_bool())", {2}, false},
      {"field.from_bool(io.divine_bool())", {1}, true},
      {"low(bigint.add([4294967295, 0], [1, 0]))", {}, true},
      {"low(bigint.add([4294967295, 4294967295], [1, 0]))", {}, false},
      {"low(bigint.sub_checked([0, 1], [0, 2]))", {}, false},
      {"low(bigint.mul([65536, 65536], [65536, 0]))", {}, false},
      {"low(bigint.mul([65536, 0], [65536, 65535]))", {}, true},
      {"low(quotient())", {2, 0, 1, 0}, true},
      {"low(quotient())", {2, 0, 3, 0}, false},
      {"low(quotient())", {1, 0, 3, 0}, false},
      {"low(quotient())", {2147483650, 1, 1, 0}, false},
      {"bigint.to_field([0, 4294967295])", {}, true},
      {"bigint.to_field([1, 4294967295])", {}, false},
      {"nn.rescale(4611686018427387903, 31)", {}, true},
      {"nn.rescale(9223372036854775808, 8)", {}, false},
      {"nn.rescale(neg(4611686018427387905 + 128), 8)", {}, false},
      {"nn.rescale(1, 32)", {}, false},
      {"nn.rescale(1, 0)", {}, false},
  };
  for (const Row& row : rows) {
    const std::string text =
        std::string(
            "program p\nuse std.bigint\nuse std.field\nuse std.io\nuse std.nn\nuse std.u32\n") +
        "fn low(a: [U32; 2]) -> Field { as_field(a[0]) }\n"
        "fn quotient() -> [U32; 2] {\n  let (q, _) = bigint.divmod([5, 0], [2, 0])\n  q\n}\n"
        "fn main() { pub_write(" +
        row.expression + ") }\n";
    std::vector<Error> errors;
    const Result<trident::Package> package =
        trident::Load(text, "p.tri", trident::DefaultLoader(""), &errors);
    ASSERT_TRUE(package.has_value()) << package.error().ToString();
    const std::optional<ir::Program> program = BuildOne(*package, "", false);
    ASSERT_TRUE(program.has_value()) << row.expression;
    exec::RunContext context;
    for (const uint64_t word : row.secret)
      context.hints.push_back(exec::Value::Word(ir::types::Field, word));
    const Result<exec::Outcome> outcome = exec::Interpret(*program, {}, context);
    ASSERT_TRUE(outcome.has_value()) << outcome.error().ToString();
    EXPECT_EQ(!outcome->trap.has_value(), row.fine) << row.expression;
  }
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
    const trident::ReadResult read = trident::Read(text, file.string());
    EXPECT_EQ(trident::Format(read.module), text) << file << " is not formatted";
    EXPECT_EQ(read.module.name.ToString(), file.stem().string());
    std::optional<RunLine> line = ReadRunLine(text);
    if (!line) {
      ADD_FAILURE() << file << " has no run line";
      continue;
    }
    const std::optional<trident::Package> package = LoadOne(text, file.string(), file.string());
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
