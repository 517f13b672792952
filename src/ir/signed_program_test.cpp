#include "ir/signed_program.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "ir/digest.h"
#include "ir/text/text.h"

namespace frazil::ir {
namespace {

constexpr char Text[] = R"(frz 1
func @main(%a: i64, %b: i64) -> (i64) {
  %unused = const 9 : i64
  %c = const 3 : i64
  %s = add %b, %a : i64
  %r = mul %s, %c : i64
  return %r
}
)";

TEST(SignedProgram, SaysWhatTheFunctionsSay) {
  const Program program = *ParseText(Text);
  const auto it = SignedProgram::Of(program);
  EXPECT_EQ(it->exact(), ExactDigest(program));
  EXPECT_EQ(it->shape(), ShapeDigest(program));
  EXPECT_EQ(it->text(), PrintText(Canonicalize(program)));
  EXPECT_EQ(it->bytes(), CanonicalBytes(Canonicalize(program)));
  EXPECT_EQ(PrintText(it->program()), PrintText(program));
  EXPECT_NE(it->shape(), it->exact());
}

// The same objects for everybody, whoever comes first.
TEST(SignedProgram, IsComputedOnce) {
  const auto it = SignedProgram::Of(*ParseText(Text));
  std::vector<const std::string*> exact(4), text(4);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < exact.size(); ++i) {
    threads.emplace_back([&, i] {
      exact[i] = &it->exact();
      text[i] = &it->text();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < exact.size(); ++i) {
    EXPECT_EQ(exact[i], &it->exact());
    EXPECT_EQ(text[i], &it->text());
  }
  EXPECT_EQ(it->exact().size(), 64u);
}

}  // namespace
}  // namespace frazil::ir
