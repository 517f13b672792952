// Every scalar op on every type it takes, over many edge values in one run, against the meaning of
// the op (exec/meaning/scalar_ops.h). Inputs that trap are left out here; tests/programs has the traps.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include "exec/meaning/scalar_ops.h"
#include "exec/random_arguments.h"
#include "targets/wasm/test_tools.h"

namespace frazil::targets::wasm {
namespace {

using exec::Memory;
using exec::Value;

std::vector<ir::Type> AllTypes() {
  std::vector<ir::Type> types;
  for (int i = 0; i < ir::ScalarCount; ++i) {
    ir::Type type = ir::Type::Of(static_cast<ir::Scalar>(i));
    if (type.scalar == ir::Scalar::Int) {
      for (uint32_t limbs : {1u, 2u, 3u, 7u}) types.push_back(ir::Type::Int(limbs));
    } else {
      types.push_back(type);
    }
  }
  return types;
}

std::string NameOf(ir::Type type) { return ir::ScalarOrBufferName(type); }

// out[i] = op(in0[i], in1[i], ...) for all i.
std::string LoopText(std::string_view mnemonic, ir::Type from, ir::Type to, ir::Type printed,
                     size_t operands) {
  std::string params, loads, names;
  for (size_t k = 0; k < operands; ++k) {
    params += fmt::format("%x{}: in buffer<{}>, ", k, NameOf(from));
    loads += fmt::format("    %v{0} = load %x{0}, %i : {1}\n", k, NameOf(from));
    names += fmt::format("{}%v{}", k == 0 ? "" : ", ", k);
  }
  return fmt::format(
      "func @main({}%out: out buffer<{}>) {{\n  %zero = const 0 : index\n  %n = length %out : {}\n"
      "  for %i = %zero to %n step 1 {{\n{}    %r = {} {} : {}\n    store %out, %i, %r : {}\n"
      "    yield\n  }}\n  return\n}}\n",
      params, NameOf(to), NameOf(to), loads, mnemonic, names, NameOf(printed), NameOf(to));
}

struct Tested {
  ir::Op op;
  ir::Type from, to, printed;
  size_t operands;
};

std::vector<uint64_t> WordsAt(const Memory& memory, int64_t i) {
  std::vector<uint64_t> words(ir::WordsOf(memory.element()));
  memory.Get(i, words);
  return words;
}

using Make = std::function<Value(size_t operand, uint64_t seed)>;

struct Case {
  std::vector<Value> operands;
  std::vector<uint64_t> expected;
};

// Inputs that do not trap, with what must come out; fewer where almost everything traps.
std::vector<Case> Collect(const Tested& tested, const Make& make, size_t count) {
  std::vector<Case> cases;
  for (uint64_t seed = 0; cases.size() < count && seed < 20 * count; ++seed) {
    Case one;
    std::vector<exec::Words> words;
    for (size_t k = 0; k < tested.operands; ++k) one.operands.push_back(make(k, seed));
    for (const Value& value : one.operands) words.push_back(value.scalar_words());
    one.expected.resize(ir::WordsOf(tested.to));
    exec::ScalarCall call{tested.op, tested.printed, tested.from};
    if (!exec::EvalScalar(call, words, one.expected)) cases.push_back(std::move(one));
  }
  return cases;
}

void Compare(const Tested& tested, const Make& make, size_t count) {
  std::string text = LoopText(ir::Info(tested.op).mnemonic, tested.from, tested.to, tested.printed,
                              tested.operands);
  std::vector<Case> cases = Collect(tested, make, count);
  ASSERT_FALSE(cases.empty()) << text;
  std::vector<Value> arguments;
  int64_t length = static_cast<int64_t>(cases.size());
  for (size_t k = 0; k < tested.operands; ++k) {
    auto memory = std::make_shared<Memory>(tested.from, length);
    for (int64_t i = 0; i < length; ++i)
      memory->Set(i, cases[static_cast<size_t>(i)].operands[k].scalar_words());
    arguments.push_back(Value::Buffer(memory));
  }
  auto out = std::make_shared<Memory>(tested.to, length);
  arguments.push_back(Value::Buffer(out));
  auto callable = Loaded(Parsed(text));
  ASSERT_NE(callable, nullptr) << text;
  Result<exec::Outcome> outcome = callable->Run(arguments, {});
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  ASSERT_FALSE(outcome->trap) << outcome->trap->ToString() << "\n" << text;
  int shown = 0;
  for (int64_t i = 0; i < length && shown < 3; ++i) {
    const Case& one = cases[static_cast<size_t>(i)];
    if (WordsAt(*out, i) == one.expected) continue;
    std::string operands;
    for (const Value& value : one.operands) operands += exec::PrintValue(value) + " ";
    ADD_FAILURE() << ir::Info(tested.op).mnemonic << " on " << NameOf(tested.from) << " to "
                  << NameOf(tested.to) << ": " << operands << "gives "
                  << exec::PrintValue(Value::Scalar(tested.to, WordsAt(*out, i))) << ", not "
                  << exec::PrintValue(Value::Scalar(tested.to, one.expected));
    ++shown;
  }
}

TEST(Scalar, EveryArithmeticOpOnEveryType) {
  int programs = 0;
  for (const ir::OpInfo& info : ir::AllOps()) {
    size_t operands = info.signature == "T->T"                                   ? 1
                      : info.signature == "T,T->T" || info.signature == "T,T->B" ? 2
                      : info.signature == "T,T,T->T"                             ? 3
                                                                                 : 0;
    if (operands == 0 || info.law == ir::Law::Prelude || info.effect != ir::Effect::Pure) continue;
    for (ir::Type type : AllTypes()) {
      if (!ir::Contains(info.types, type.scalar)) continue;
      ir::Type to = info.signature == "T,T->B" ? ir::types::Bool : type;
      Compare(
          {info.op, type, to, type, operands},
          [&](size_t k, uint64_t seed) { return exec::RandomScalar(type, seed * 31 + k); }, 400);
      ++programs;
    }
  }
  EXPECT_GT(programs, 300);
}

TEST(Scalar, EveryConversion) {
  int programs = 0;
  for (ir::Op op : {ir::Op::Cast, ir::Op::CastChecked, ir::Op::Bitcast})
    for (ir::Type from : AllTypes())
      for (ir::Type to : AllTypes()) {
        std::string text = LoopText(ir::Info(op).mnemonic, from, to, to, 1);
        if (!ir::ParseText("frz 1\n" + text)) continue;
        Compare(
            {op, from, to, to, 1},
            [&](size_t, uint64_t seed) { return exec::RandomScalar(from, seed * 7 + 1); }, 300);
        ++programs;
      }
  EXPECT_GT(programs, 300);
}

TEST(Scalar, EveryHalfThroughF32) {
  for (ir::Type half : {ir::types::F16, ir::types::BF16}) {
    auto all = [&](size_t, uint64_t seed) { return Value::Word(half, seed & 0xffff); };
    Compare({ir::Op::Cast, half, ir::types::F32, ir::types::F32, 1}, all, 65536);
    Compare({ir::Op::Sqrt, half, half, half, 1}, all, 65536);
    // All midpoints between neighbors, and what lies just beside them.
    auto near_midpoint = [&](size_t, uint64_t seed) {
      uint64_t bits = (seed / 3) & 0xffff;
      float value = 0;
      if (half == ir::types::BF16) {
        value = std::bit_cast<float>(static_cast<uint32_t>(bits << 16 | 0x8000));
      } else {
        double low = std::ldexp(static_cast<double>(bits & 0x3ff) + 0.5, -24);
        double normal = std::ldexp(1024.5 + static_cast<double>(bits & 0x3ff),
                                   static_cast<int>(bits >> 10 & 31) - 25);
        value = static_cast<float>((bits >> 10 & 31) == 0 ? low : normal);
        if (bits >> 15) value = -value;
      }
      uint32_t shifted = std::bit_cast<uint32_t>(value) + static_cast<uint32_t>(seed % 3) - 1;
      return Value::Word(ir::types::F32, shifted);
    };
    Compare({ir::Op::Cast, ir::types::F32, half, half, 1}, near_midpoint, 3 * 65536);
  }
}

// Products that almost cancel, results that are subnormal, exponents far apart.
TEST(Scalar, FusedMultiplyAdd) {
  std::mt19937_64 random(1);
  auto make64 = [&](size_t k, uint64_t seed) {
    static thread_local double a, b;
    auto any = [&] {
      uint64_t exponent = seed % 5 == 0 ? random() % 2047 : 1023 - 40 + random() % 80;
      if (seed % 5 == 1) exponent = random() % 60;
      uint64_t mantissa = random() >> 12;
      if (random() % 4 == 0) mantissa &= ~uint64_t{0} << (random() % 52);
      return std::bit_cast<double>(random() << 63 | exponent << 52 | mantissa);
    };
    double value = any();
    if (seed % 5 == 1 && k == 1) value = std::ldexp(value, 1000);
    if (k == 0) a = value;
    if (k == 1) b = value;
    if (k == 2 && seed % 3 == 0) {
      value = -(a * b);
      if (std::isfinite(value) && random() % 2 == 0)
        value = std::bit_cast<double>(std::bit_cast<uint64_t>(value) + random() % 3 - 1);
    }
    return Value::Word(ir::types::F64, std::bit_cast<uint64_t>(value));
  };
  Compare({ir::Op::Fma, ir::types::F64, ir::types::F64, ir::types::F64, 3}, make64, 200'000);
  auto make32 = [&](size_t k, uint64_t seed) {
    static thread_local float a, b;
    uint32_t exponent = seed % 4 == 0 ? static_cast<uint32_t>(random() % 255)
                                      : 107 + static_cast<uint32_t>(random() % 40);
    float value = std::bit_cast<float>(static_cast<uint32_t>(random() % 2) << 31 | exponent << 23 |
                                       static_cast<uint32_t>(random() & 0x7fffff));
    if (k == 0) a = value;
    if (k == 1) b = value;
    if (k == 2 && seed % 3 == 0) {
      value = -(a * b);
      if (std::isfinite(value) && random() % 2 == 0)
        value = std::bit_cast<float>(std::bit_cast<uint32_t>(value) +
                                     static_cast<uint32_t>(random() % 3) - 1);
    }
    return Value::Word(ir::types::F32, std::bit_cast<uint32_t>(value));
  };
  Compare({ir::Op::Fma, ir::types::F32, ir::types::F32, ir::types::F32, 3}, make32, 200'000);
}

}  // namespace
}  // namespace frazil::targets::wasm
