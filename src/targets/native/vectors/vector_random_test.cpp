// Random loop bodies against the interpreter: ops of all kinds on one element type, branches that store or trap, shifted
// and identical buffers, casts through other types.
#include <fmt/format.h>

#include "targets/native/vectors/test_vectors.h"

namespace frazil::targets::native {
namespace {

using namespace testing;

class BodyWriter {
 public:
  BodyWriter(uint64_t seed, std::string_view type) : random_(seed), type_(type) {
    is_float_ = type == "f32" || type == "f64" || type == "f16" || type == "bf16";
  }

  std::string Program() {
    std::string body;
    for (int b = 0; b < 2; ++b) {
      body += fmt::format(
          "    %j{0} = add %i, %c{0} : index\n    %x{0} = load %in{0}, %j{0} : {1}\n", b, type_);
      values_.push_back(fmt::format("%x{}", b));
    }
    if (Pick(2) == 0) {
      body += fmt::format("    %old = load %out, %i : {}\n", type_);
      values_.push_back("%old");
    }
    body += Statements(4 + Pick(12), 4, 0);
    if (Pick(3) == 0) {
      body += fmt::format(
          "    %s = lt {}, {} : {}\n    if %s {{\n{}      store %out, %i, {} : {}\n      yield\n   "
          " }}\n",
          Value(), Value(), type_, Scoped(3, 6), last_, type_);
    } else {
      body += fmt::format("    store %out, %i, {} : {}\n", values_.back(), type_);
    }
    const bool is_for = Pick(3) == 0;
    return fmt::format(R"(frz 1
func @main(%n: index, %c0: index, %c1: index, %in0: in buffer<{0}>, %in1: in buffer<{0}>, %out: buffer<{0}>) {{
  %zero = const 0 : index
  %one = const 1 : index
  %five = const 5 : index
  {1} {{
{2}    yield
  }}
  return
}}
)",
                       type_, is_for ? "for %i = %zero to %n step 1" : "parallel %i = %zero to %n",
                       body);
  }

 private:
  uint64_t Pick(uint64_t n) { return random_() % n; }
  std::string Value() {
    return values_[values_.size() - 1 - Pick(std::min<uint64_t>(values_.size(), 5))];
  }
  std::string Fresh() { return fmt::format("%v{}", next_++); }

  // Statements whose values are visible only inside; `last_` is the youngest.
  std::string Scoped(uint64_t count, int indent) {
    std::vector<std::string> outside = values_;
    std::string text = Statements(count, indent, 1);
    last_ = values_.back();
    values_ = outside;
    return text;
  }

  std::string Statements(uint64_t count, int indent, int depth) {
    std::string text;
    const std::string margin(static_cast<size_t>(indent), ' ');
    for (uint64_t i = 0; i < count; ++i) {
      if (depth < 2 && Pick(7) == 0) {
        const std::string test = Fresh();
        const std::string result = Fresh();
        text += fmt::format("{}{} = le {}, {} : {}\n", margin, test, Value(), Value(), type_);
        std::string then_text = Scoped(1 + Pick(4), indent + 2);
        then_text += fmt::format("{}  yield {}\n", margin, last_);
        std::string else_text = Scoped(1 + Pick(2), indent + 2);
        else_text += fmt::format("{}  yield {}\n", margin, last_);
        text += fmt::format("{0}{1} = if {2} -> ({3}) {{\n{4}{0}}} else {{\n{5}{0}}}\n", margin,
                            result, test, type_, then_text, else_text);
        values_.push_back(result);
        continue;
      }
      if (depth < 2 && Pick(9) == 0) {
        text += Loop(margin, indent);
        continue;
      }
      text += Op(margin);
    }
    return text;
  }

  // A loop of 0 to 4 turns, by lane: counted, or until a value says so.
  std::string Loop(const std::string& margin, int indent) {
    const std::string bound = Fresh(), result = Fresh(), carried = Fresh(), count = Fresh(),
                      more = Fresh(), next = Fresh();
    const std::string init = Value(), limit = Value();
    std::string text = fmt::format("{}{} = rem.floor %i, %five : index\n", margin, bound);
    std::vector<std::string> outside = values_;
    values_.push_back(carried);
    if (Pick(2) == 0) {
      const std::string body = Scoped(1 + Pick(3), indent + 2);
      text += fmt::format(
          "{0}{1} = for {2} = {3} to {4} step {5} carry ({6} = {7}) {{\n{8}{0}  yield {9}\n{0}}}\n",
          margin, result, count, Pick(2) == 0 ? "%zero" : "%one", Pick(2) == 0 ? bound : "%five",
          1 + Pick(2), carried, init, body, last_);
    } else {
      const std::string test = Fresh(), both = Fresh();
      const std::string body = Scoped(1 + Pick(3), indent + 2);
      text += fmt::format(
          "{0}{1}, {2}.r = while ({3} = {4}, {2} = %zero) {{\n{0}  {5} = lt {2}, {6} : index\n{0}  "
          "{7} = ne {3}, {8} : {9}\n"
          "{0}  {10} = and {5}, {7} : bool\n{0}  condition {10}\n{0}}} do {{\n{11}{0}  {12} = add "
          "{2}, %one : index\n"
          "{0}  yield {13}, {12}\n{0}}}\n",
          margin, result, count, carried, init, more, bound, test, limit, type_, both, body, next,
          last_);
    }
    values_ = outside;
    values_.push_back(result);
    return text;
  }

  std::string Op(const std::string& margin) {
    static constexpr std::string_view Floats[] = {"add", "sub",     "mul",     "div",     "min",
                                                  "max", "minimum", "maximum", "copysign"};
    static constexpr std::string_view FloatUnary[] = {"neg",   "abs",     "sqrt",
                                                      "floor", "nearest", "trunc"};
    static constexpr std::string_view Integers[] = {"add", "sub", "mul", "mul.hi", "and", "or",
                                                    "xor", "shl", "shr", "rotl",   "min", "max"};
    static constexpr std::string_view Traps[] = {"div.trunc", "rem.floor", "add.checked",
                                                 "mul.checked", "div.checked"};
    static constexpr std::string_view IntegerUnary[] = {"neg", "not", "clz", "ctz", "popcnt"};
    static constexpr std::string_view Others[] = {"i8",  "u8",  "i16", "u16", "i32",  "u32",  "i64",
                                                  "u64", "f32", "f64", "f16", "bf16", "index"};
    const std::string result = Fresh();
    const uint64_t kind = Pick(10);
    std::string text;
    auto binary = [&](std::string_view op) {
      return fmt::format("{}{} = {} {}, {} : {}\n", margin, result, op, Value(), Value(), type_);
    };
    auto unary = [&](std::string_view op) {
      return fmt::format("{}{} = {} {} : {}\n", margin, result, op, Value(), type_);
    };
    if (kind == 0) {
      const std::string middle = Fresh();
      const std::string_view other = Others[Pick(std::size(Others))];
      text = fmt::format("{}{} = cast {} : {}\n{}{} = cast {} : {}\n", margin, middle, Value(),
                         other, margin, result, middle, type_);
    } else if (kind == 1) {
      const std::string test = Fresh();
      text = fmt::format("{}{} = {} {}, {} : {}\n{}{} = select {}, {}, {} : {}\n", margin, test,
                         Pick(2) == 0 ? "lt" : "ne", Value(), Value(), type_, margin, result, test,
                         Value(), Value(), type_);
    } else if (is_float_) {
      if (kind == 2)
        text = unary(FloatUnary[Pick(std::size(FloatUnary))]);
      else if (kind == 3 && (type_ == "f32" || type_ == "f64"))
        text = fmt::format("{}{} = fma {}, {}, {} : {}\n", margin, result, Value(), Value(),
                           Value(), type_);
      else
        text = binary(Floats[Pick(std::size(Floats))]);
    } else if (kind == 2) {
      text = unary(IntegerUnary[Pick(std::size(IntegerUnary))]);
    } else if (kind == 3 && Pick(4) == 0) {
      text = binary(Traps[Pick(std::size(Traps))]);
    } else {
      text = binary(Integers[Pick(std::size(Integers))]);
    }
    values_.push_back(result);
    return text;
  }

  std::mt19937_64 random_;
  std::string type_;
  bool is_float_ = false;
  std::vector<std::string> values_;
  std::string last_;
  uint64_t next_ = 0;
};

TEST(VectorRandom, Bodies) {
  static constexpr std::string_view Types[] = {"f32", "i32", "u8",  "f64",  "i64",
                                               "i16", "f16", "u32", "bf16", "index"};
  // More by hand: FRAZIL_VECTOR_BODIES=2000.
  const char* more = std::getenv("FRAZIL_VECTOR_BODIES");
  const uint64_t count = more != nullptr ? std::strtoull(more, nullptr, 10) : 20;
  for (uint64_t seed = 1; seed <= count; ++seed) {
    const std::string text = BodyWriter(seed, Types[seed % std::size(Types)]).Program();
    SCOPED_TRACE(text);
    Differential test(text);
    std::mt19937_64 random(seed);
    for (int64_t n : {0, 1, 15, 16, 33, 64, 127, 200}) {
      const int64_t c0 = static_cast<int64_t>(random() % 3);
      const int64_t c1 = static_cast<int64_t>(random() % 2);
      const int64_t length = n + 3 - (random() % 8 == 0 ? 3 : 0);
      Case c{{length, length, length},
             {Index(n), Index(c0), Index(c1)},
             {},
             random(),
             random() % 2 == 0};
      test.Check(c);
      if (random() % 3 == 0) {
        c.same_as = random() % 2 == 0 ? std::vector<int>{-1, -1, 0} : std::vector<int>{-1, 0, 0};
        test.Check(c);
      }
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace frazil::targets::native
