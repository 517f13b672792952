// Kernels with a form under a guard, launched with buffers that are apart, the same, overlapping or too short: every launch
// gives what the interpreter gives, whichever form ran. (Decision 18.)
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include "embed_kernels.hpp"
#include "exec/meaning/interpreter_program.h"
#include "frontends/circuits/circuits.h"
#include "ir/text/text.h"

namespace frazil::embed {
namespace {

using exec::Value;

constexpr size_t Room = 160;  // elements of one place for a buffer
constexpr size_t Places = 6;
using Storage = std::array<uint32_t, Room * Places>;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Where {
  size_t begin, length;
};

struct Kernel {
  const KernelData* data;
  exec::InterpreterProgram program;
  ir::Type element;
};

Kernel Load(const std::string& name, const std::string& path, ir::Type element) {
  const bool is_circuit = path.ends_with(".cir");
  Result<ir::Program> program = is_circuit ? frontends::circuits::ParseCircuit(ReadFile(path), {})
                                           : ir::ParseText(ReadFile(path));
  EXPECT_TRUE(program) << program.error().ToString();
  return {embed_kernels::kernels().Find(name), *exec::InterpreterProgram::Create(*program),
          element};
}

struct Counts {
  int usual = 0, fallback = 0, same = 0, refused = 0, trapped = 0;
};

// One launch with these buffers, by the descriptor and by a sequence, against the interpreter.
void Compare(const Kernel& kernel, const std::vector<Where>& buffers, int64_t n,
             const Storage& start, Counts& counts) {
  Storage expected = start, found = start, again = start;
  std::vector<Value> values;
  std::vector<uint64_t> words, again_words;
  for (const Where& where : buffers) {
    const auto at = [&](Storage& storage) { return storage.data() + where.begin; };
    values.push_back(Value::Buffer(std::make_shared<exec::Memory>(
        kernel.element, static_cast<int64_t>(where.length), at(expected))));
    words.insert(words.end(), {reinterpret_cast<uint64_t>(at(found)), where.length});
    again_words.insert(again_words.end(), {reinterpret_cast<uint64_t>(at(again)), where.length});
  }
  values.push_back(Value::Int(ir::types::Index, n));
  words.push_back(static_cast<uint64_t>(n));
  again_words.push_back(static_cast<uint64_t>(n));
  const Result<exec::Outcome> outcome = kernel.program.Run(values, {});
  const Status status = Launch(*kernel.data, words.data(), nullptr, Extents::Given);
  Sequence sequence;
  Status recorded = sequence.Add(Bind(*kernel.data, again_words.data(), Extents::Given));
  if (recorded.ok()) recorded = sequence.Run();
  EXPECT_EQ(status.error(), recorded.error());
  if (!outcome) {
    // Overlapping in part: refused before anything runs, by both.
    EXPECT_EQ(status.error(), LaunchError::Overlap);
    EXPECT_TRUE(found == start && again == start);
    ++counts.refused;
    return;
  }
  if (status.error() == LaunchError::TooShort) {
    // The interpreter runs until it traps; a launch says it beforehand.
    ASSERT_TRUE(outcome->trap);
    EXPECT_EQ(outcome->trap->kind, ir::Trap::OutOfBounds);
    EXPECT_TRUE(found == start && again == start);
    ++counts.refused;
    return;
  }
  if (outcome->trap) {
    ASSERT_EQ(status.error(), LaunchError::Trapped);
    EXPECT_EQ(static_cast<int>(status.trap()), static_cast<int>(outcome->trap->kind));
    EXPECT_EQ(status.index(), outcome->trap->index);
    EXPECT_EQ(recorded.index(), outcome->trap->index);
    // Its iterations and those of the passes before are specified, later ones are not.
    for (const Where& where : buffers)
      for (size_t i = 0; i < where.length && static_cast<int64_t>(i) < status.index(); ++i)
        EXPECT_EQ(found[where.begin + i], expected[where.begin + i]);
    ++counts.trapped;
    return;
  }
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(std::memcmp(&found, &expected, sizeof found), 0);
  EXPECT_EQ(std::memcmp(&again, &expected, sizeof again), 0);
  ++(&FormFor(*kernel.data, words.data()) == kernel.data ? counts.fallback : counts.usual);
}

Counts CompareRandom(const Kernel& kernel, int launches) {
  std::mt19937 random(7);
  const auto below = [&](size_t n) { return random() % n; };
  Counts counts;
  const size_t buffer_count = (kernel.data->word_count - 1) / 2;
  for (int launch = 0; launch < launches; ++launch) {
    Storage start;
    for (uint32_t& word : start)
      word = kernel.element == ir::types::F32
                 ? std::bit_cast<uint32_t>(static_cast<float>(below(2001)) / 64 - 15)
                 : static_cast<uint32_t>(below(9)) - 4;
    const size_t length = below(8) == 0 ? below(3) : below(Room);
    std::vector<Where> buffers;
    for (size_t i = 0; i < buffer_count; ++i) {
      Where where{i * Room, length};
      const size_t kind = below(10);
      if (kind == 0 && length > 0) where.length -= 1 + below(length);  // shorter
      if (kind == 1) where.length = std::min(Room, length + below(9));
      if (kind == 2 && i > 0) where = buffers[below(i)];  // the same, or at least at one place
      if (kind == 3 && i > 0) where = {buffers[below(i)].begin + 1 + below(5), length};
      buffers.push_back(where);
    }
    const size_t kind = below(12);
    const auto n = kind == 0   ? int64_t{0}
                   : kind == 1 ? -1 - static_cast<int64_t>(below(4))
                   : kind == 2 ? INT64_MIN
                   : kind == 3 ? static_cast<int64_t>(below(length + 1))
                               : static_cast<int64_t>(length);
    Compare(kernel, buffers, n, start, counts);
    if (testing::Test::HasFailure()) break;
  }
  return counts;
}

TEST(EmbedGuards, EveryLaunchIsTheInterpreters) {
  const std::string kernels = FRAZIL_EMBED_KERNELS, examples = FRAZIL_EXAMPLES;
  for (const Kernel& kernel : {Load("chain", examples + "/chain.cir", ir::types::F32),
                               Load("four", kernels + "/four.cir", ir::types::F32),
                               Load("three", kernels + "/three.cir", ir::types::F32)}) {
    ASSERT_NE(kernel.data, nullptr);
    SCOPED_TRACE(kernel.data->name.get());
    ASSERT_NE(kernel.data->guarded.get(), nullptr) << "the normal form is embedded";
    const Counts counts = CompareRandom(kernel, 3000);
    EXPECT_GT(counts.usual, 300);
    EXPECT_GT(counts.fallback, 50) << "buffers that are one";
    EXPECT_GT(counts.refused, 300);
  }
}

// What a launch lets through and the guard does not: buffers that are shorter than the pass.
TEST(EmbedGuards, ShortBuffersTakeTheFormForAllArguments) {
  const Kernel kernel =
      Load("where", std::string(FRAZIL_EMBED_KERNELS) + "/where.frz", ir::types::I32);
  ASSERT_NE(kernel.data, nullptr);
  ASSERT_NE(kernel.data->guarded.get(), nullptr);
  const Counts counts = CompareRandom(kernel, 5000);
  EXPECT_GT(counts.usual, 300);
  EXPECT_GT(counts.fallback, 100);
  EXPECT_GT(counts.trapped, 50);
  // Short, and nothing is stored behind its end.
  std::vector<int32_t> a = {1, 2, -3, -4}, b(4), c(2);
  ASSERT_TRUE(embed_kernels::where(a, b, c, 4));
  EXPECT_EQ(c, (std::vector<int32_t>{2, 4}));
  EXPECT_EQ(b, (std::vector<int32_t>{2, 4, -6, -8}));
}

// The functions that programs call test the guard in line.
TEST(EmbedGuards, FunctionsTestItInLine) {
  for (const size_t n : {size_t{1}, size_t{100}, size_t{300'000}}) {
    std::vector<float> x(n), y(n, 5), z(n, 7);
    for (size_t i = 0; i < n; ++i) x[i] = static_cast<float>(i % 101) - 50;
    ASSERT_TRUE(embed_kernels::four(x, y, z));
    EXPECT_EQ(y, x);
    EXPECT_EQ(z, std::vector<float>(n, 7));
    // copy x -> x, mark z, copy x -> x, mark z, with z = x: the marks cancel. With y = z they do not.
    const std::vector<float> before = x;
    ASSERT_TRUE(embed_kernels::four(x, y, x));
    EXPECT_EQ(x, before);
    ASSERT_TRUE(embed_kernels::four(x, z, z));
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(z[i], -x[i]) << "the last mark is of the last copy";
  }
}

// The form under a guard is no kernel of its own: whoever launches it is refused where its guard does not hold.
TEST(EmbedGuards, AFormUnderAGuardIsNotLaunchedWithoutIt) {
  const KernelData* four = embed_kernels::kernels().Find("four");
  ASSERT_NE(four, nullptr);
  const KernelData* form = four->guarded.get();
  ASSERT_NE(form, nullptr);
  EXPECT_EQ(form->guarded.get(), nullptr);
  for (const Rel<KernelData>* each = embed_kernels::kernels().kernels.get();
       each != embed_kernels::kernels().kernels.get() + embed_kernels::kernels().size; ++each)
    EXPECT_NE(each->get(), form);
  std::vector<float> x(8, 1), y(8, 2);
  const auto at = [](std::vector<float>& v) { return reinterpret_cast<uint64_t>(v.data()); };
  const uint64_t apart[] = {at(x), 8, at(y), 4, at(y) + 16, 4, 4};
  EXPECT_TRUE(Launch(*form, apart, nullptr, Extents::Given).ok());
  const uint64_t same[] = {at(x), 8, at(y), 8, at(y), 8, 8};
  EXPECT_EQ(Launch(*form, same, nullptr, Extents::Given).error(), LaunchError::NoCode);
  EXPECT_TRUE(Launch(*four, same, nullptr, Extents::Given).ok());
}

}  // namespace
}  // namespace frazil::embed
