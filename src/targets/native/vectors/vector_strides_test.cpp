// Elements at a small known distance, and one element that the last iteration decides.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "targets/native/vectors/test_vectors.h"

namespace frazil::targets::native {
namespace {

using namespace testing;

// z[i] = the sum of the elements stride * i + each offset.
std::string StridedText(std::string_view type, int64_t stride, const std::vector<int64_t>& offsets,
                        bool in_arm = false) {
  std::string loads;
  std::string sum;
  for (size_t k = 0; k < offsets.size(); ++k) {
    loads += fmt::format(
        "    %o{0} = const {1} : index\n    %j{0} = add %b, %o{0} : index\n    %x{0} = load %x, "
        "%j{0} : {2}\n",
        k, offsets[k], type);
    loads += k == 0 ? fmt::format("    %s0 = add %x0, %x0 : {}\n", type)
                    : fmt::format("    %s{0} = add %s{1}, %x{0} : {2}\n", k, k - 1, type);
  }
  sum = fmt::format("%s{}", offsets.size() - 1);
  std::string body = loads;
  if (in_arm)
    body = fmt::format(
        "    %h = lt %i, %m : index\n    %r = if %h -> ({0}) {{\n{1}    yield {2}\n    }} else "
        "{{\n    "
        "%q = load %x, %i : {0}\n    yield %q\n    }}\n",
        type, loads, sum);
  return fmt::format(R"(frz 1
func @main(%n: index, %m: index, %x: in buffer<{0}>, %z: out buffer<{0}>) {{
  %zero = const 0 : index
  %step = const {1} : index
  parallel %i = %zero to %n {{
    %b = mul %i, %step : index
{2}    store %z, %i, {3} : {0}
    yield
  }}
  return
}}
)",
                     type, stride, body, in_arm ? "%r" : sum);
}

std::string LlvmOf(const std::string& text) {
  NativeOptions options;
  options.level = exec::HostLevel();
  Result<std::string> llvm = EmitLlvm(Parse(text), options);
  return llvm ? *llvm : llvm.error().ToString();
}

TEST(VectorStrides, EveryTypeAndDistance) {
  const std::vector<std::vector<int64_t>> groups = {{0}, {1, 0}, {0, 1, 2}, {3, 0, 2}, {1}, {0, 5}};
  for (std::string_view type : {"u8", "i16", "f32", "f64"})
    for (int64_t stride : {2, 3, 4}) {
      const auto& offsets = groups[static_cast<size_t>(stride + type.size()) % groups.size()];
      for (const auto& used : {offsets, groups[static_cast<size_t>(stride - 2)]}) {
        const std::string text = StridedText(type, stride, used);
        SCOPED_TRACE(text);
        EXPECT_NE(LlvmOf(text).find("iterations at a time"), std::string::npos);
        Differential test(text);
        const int64_t most = *std::ranges::max_element(used);
        for (int64_t n : {1, 15, 17, 64, 65, 127, 200}) {
          const int64_t length = stride * (n - 1) + most + 1;
          test.Check({{length, n}, {Index(n), Index(0)}, {}, static_cast<uint64_t>(n)});
          test.Check({{length - 1, n}, {Index(n), Index(0)}, {}, static_cast<uint64_t>(n)});
        }
        test.Check({{400, 400}, {Index(90), Index(0)}, {-1, 0}, 3});
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
}

TEST(VectorStrides, InAnArm) {
  Differential test(StridedText("u8", 3, {0, 1, 2}, /*in_arm=*/true));
  for (int64_t n : {1, 16, 63, 64, 100, 200})
    for (int64_t m : {0, 1, 40, 200}) {
      test.Check({{3 * n, n}, {Index(n), Index(m)}, {}, 7});
      test.Check({{n, n}, {Index(n), Index(m)}, {}, 8});
    }
}

// What stands behind the last element that is wanted is not read: it may be no memory at all.
TEST(VectorStrides, NothingBehindTheEnd) {
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  auto* const room = static_cast<unsigned char*>(
      ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(room, MAP_FAILED);
  ASSERT_EQ(::mprotect(room + page, page, PROT_NONE), 0);
  for (size_t i = 0; i < page; ++i) room[i] = static_cast<unsigned char>(i * 7);
  for (std::string_view type : {"u8", "i16", "f32"})
    for (int64_t stride : {2, 3, 4})
      for (const std::vector<int64_t>& offsets : {std::vector<int64_t>{0}, {0, 1}}) {
        const ir::Program program = Parse(StridedText(type, stride, offsets));
        const ir::Type element = *ir::ParseType(type);
        for (exec::CpuLevel level : Levels()) {
          NativeOptions options;
          options.level = level;
          const auto target = MakeNativeTarget(options);
          auto artifact = target->Emit(program, {});
          ASSERT_TRUE(artifact.has_value());
          auto callable = target->Load(*artifact);
          ASSERT_TRUE(callable.has_value());
          for (int64_t n : {1, 15, 64, 100, 128, 130}) {
            const int64_t length = stride * (n - 1) + offsets.back() + 1;
            auto memory = std::make_shared<exec::Memory>(
                element, length, room + page - static_cast<size_t>(length) * ir::BytesOf(element));
            auto out = std::make_shared<exec::Memory>(element, n);
            auto expected = std::make_shared<exec::Memory>(element, n);
            std::vector<exec::Value> arguments = {Index(n), Index(0), exec::Value::Buffer(memory),
                                                  exec::Value::Buffer(out)};
            ASSERT_TRUE((*callable)->Run(arguments, {}).has_value());
            arguments.back() = exec::Value::Buffer(expected);
            ASSERT_TRUE(exec::Interpret(program, arguments).has_value());
            EXPECT_TRUE(exec::Value::Buffer(out) == exec::Value::Buffer(expected))
                << type << " " << stride << " " << n;
          }
        }
      }
  ::munmap(room, 2 * page);
}

// s[k] is what the last lane has whose number is a multiple of m, or all of them.
TEST(VectorStrides, TheLastLaneDecides) {
  const auto text = [](std::string_view type, bool always) {
    const std::string store = fmt::format("store %s, %k, %v : {}\n", type);
    return fmt::format(R"(frz 1
func @main(%n: index, %m: index, %k: index, %x: in buffer<{0}>, %z: buffer<{0}>, %s: buffer<{0}>) {{
  %zero = const 0 : index
  %one = const 1 : index
  parallel %i = %zero to %n {{
    %a = load %x, %i : {0}
    %v = add %a, %a : {0}
    store %z, %i, %a : {0}
    {1}
    yield
  }}
  return
}}
)",
                       type,
                       always ? store
                              : "%r = and %i, %m : index\n    %h = eq %r, %zero : index\n    if %h "
                                "{\n      " +
                                    store + "      yield\n    }");
  };
  for (std::string_view type : {"i32", "u8", "f64"})
    for (bool always : {false, true}) {
      Differential test(text(type, always));
      for (int64_t n : {0, 1, 15, 16, 64, 65, 100, 129, 300})
        for (int64_t m : {0, 1, 7, 64, 255}) {
          test.Check({{n, n, 3}, {Index(n), Index(m), Index(2)}, {}, 5});
          if (m == 7) {
            test.Check({{n, n, 2}, {Index(n), Index(m), Index(2)}, {}, 6});
            test.Check({{n, n, n}, {Index(n), Index(m), Index(1)}, {-1, -1, 1}, 7});
            test.Check({{n, n, n}, {Index(n), Index(m), Index(1)}, {-1, -1, 0}, 8});
          }
        }
    }
}

// Tests before a loop that runs one iteration at a time: counting in a table, and a running value.
TEST(TestedLoop, TablesAndRunningValues) {
  Differential count(R"(frz 1
func @main(%n: index, %x: in buffer<u8>, %z: buffer<u32>) {
  %zero = const 0 : index
  parallel %i = %zero to %n {
    %a = load %x, %i : u8
    %j = cast %a : index
    %one = const 1 : u32
    %old = atomic %z, %j, %one {kind = add} : u32
    yield
  }
  return
}
)");
  for (int64_t n : {0, 1, 7, 8, 9, 30, 64, 200})
    for (int64_t bins : {0, 100, 255, 256, 300}) {
      count.Check({{n, bins}, {Index(n)}, {}, 3});
      count.Check({{n, bins}, {Index(n + 1)}, {}, 4});
    }
  Differential running(R"(frz 1
func @main(%n: index, %x: in buffer<f32>, %z: buffer<f32>) -> (f32) {
  %zero = const 0 : index
  %start = const 1.5 : f32
  %s = for %i = %zero to %n step 1 carry (%acc = %start) {
    %a = load %x, %i : f32
    %next = add %acc, %a : f32
    store %z, %i, %next : f32
    yield %next
  }
  return %s
}
)");
  for (int64_t n : {-3, 0, 1, 7, 8, 9, 16, 30, 200})
    for (int64_t less : {0, 1}) {
      const int64_t length = std::max<int64_t>(n - less, 0);
      running.Check({{length, length + less}, {Index(n)}, {}, 3});
      running.Check({{length, length}, {Index(n)}, {-1, 0}, 4});
    }
}

}  // namespace
}  // namespace frazil::targets::native
