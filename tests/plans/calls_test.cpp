// From a program to a plan that answers as the interpreter does, with forms that are made once.
#include <gmock/gmock.h>

#include <filesystem>
#include <thread>

#include "engine/calls.h"
#include "exec/meaning/interpreter.h"
#include "exec/random_arguments.h"
#include "optimize/calls/cut.h"
#include "programs.h"
#include "targets/native/native.h"
#include "verify/plans/plans.h"
#include "verify/x86/x86.h"

namespace frazil::plans_test {
namespace {

using engine::FormBook;
using testing::HasSubstr;

// The improve loop in this process, and how often it was asked.
struct Compiler {
  int asked = 0;
  FormBook::Work Work() {
    return [this](const engine::WorkRequest& request) {
      ++asked;
      return engine::ImproveHere(request, *targets::native::MakeNativeTarget());
    };
  }
};

TEST(Calls, AnMlpIsAdmittedAndItsFormsServeOthers) {
  Compiler compiler;
  FormBook book(nullptr, "test", compiler.Work());
  for (const ir::Program& program : {Parse(Mlp(8, {16, 24, 8, 8})), Parse(Mlp(5, {32, 9, 33, 17})),
                                     Parse(Mlp(64, {64, 64, 64}))}) {
    const int before = compiler.asked;
    const auto source = ir::SignedProgram::Of(program);
    const auto calls = engine::MakeCalls(*source, book);
    ASSERT_TRUE(calls) << calls.error().message;
    std::printf("cut %.3f forms %.3f judge %.3f link %.3f ms, asked %d\n", calls->cut_ms,
                calls->forms_ms, calls->judge_ms, calls->link_ms, compiler.asked);
    std::printf("%s\n", verify::Describe(calls->admitted.form().evidence()).c_str());
    EXPECT_EQ(compiler.asked, before == 0 ? 3 : before) << "forms are made once";
  }
}

}  // namespace
}  // namespace frazil::plans_test
