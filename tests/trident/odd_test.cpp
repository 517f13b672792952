// Programs at the language's edges (odd/): each says in its first lines, `// run: input | secret -> output`, what comes out,
// with `trap` at the end where it stops. All runs of all files, everywhere; contracts hold. A secret of five numbers joined by
// colons is a digest.
#include <gtest/gtest.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/number/goldilocks.h"
#include "everywhere.h"

namespace frazil::tests::trident {
namespace {

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    while (text.starts_with(' ')) text.remove_prefix(1);
  }
  return parts;
}

uint64_t Number(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  EXPECT_TRUE(error == std::errc() && end == text.data() + text.size()) << text;
  return negative ? goldilocks::Neg(value) : value;
}

struct OddRun {
  Streams streams;
  Expected expected;
};

OddRun ReadRun(std::string_view line) {
  OddRun run;
  const size_t arrow = line.find("->"), bar = std::min(line.find('|'), arrow);
  for (const std::string_view word : Split(line.substr(0, bar), ','))
    run.streams.input.push_back(Number(word));
  const std::string_view secret =
      bar < arrow ? line.substr(bar + 1, arrow - bar - 1) : std::string_view();
  for (const std::string_view word : Split(secret, ',')) {
    const std::vector<std::string_view> parts = Split(word, ':');
    if (parts.size() == 1) {
      AddWord(Number(word), &run.streams);
      continue;
    }
    std::array<uint64_t, 5> digest{};
    EXPECT_EQ(parts.size(), digest.size()) << word;
    for (size_t i = 0; i < digest.size(); ++i) digest[i] = Number(parts[i]);
    AddDigest(digest, &run.streams);
  }
  for (const std::string_view word : Split(line.substr(arrow + 2), ',')) {
    if (word == "trap")
      run.expected.traps = true;
    else
      run.expected.output.push_back(Number(word));
  }
  return run;
}

TEST(OddPrograms, EveryRunEverywhere) {
  size_t runs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(FRAZIL_TRIDENT_ODD)) {
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const std::optional<ir::Program> program = BuildText(text.str(), true);
    ASSERT_TRUE(program) << entry.path();
    const Everywhere everywhere(*program);
    std::istringstream lines(text.str());
    const std::string_view start = "// run: ";
    size_t here = 0;
    for (std::string line; std::getline(lines, line) && line.starts_with(start); ++here) {
      SCOPED_TRACE(entry.path().filename().string() + " " + line);
      const OddRun run = ReadRun(std::string_view(line).substr(start.size()));
      everywhere.Expect(run.streams, run.expected);
    }
    EXPECT_GT(here, 0u) << entry.path();
    runs += here;
  }
  EXPECT_GE(runs, 200u);
}

}  // namespace
}  // namespace frazil::tests::trident
