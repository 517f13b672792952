// Helpers of the tests of vector code: buffers at any address with canaries around them, and runs at every level
// against the interpreter.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "exec/meaning/after_trap.h"
#include "exec/meaning/interpreter.h"
#include "ir/text/test_text.h"
#include "ir/text/text.h"
#include "targets/native/native.h"

namespace frazil::targets::native::testing {

inline ir::Program Parse(std::string_view text) { return ir::Parsed(text); }

inline std::vector<exec::CpuLevel> Levels() {
  std::vector<exec::CpuLevel> levels;
  for (int i = 0; i <= static_cast<int>(exec::HostLevel()); ++i)
    levels.push_back(static_cast<exec::CpuLevel>(i));
  return levels;
}

// Elements between two zones of a known byte, at an address that no vector is aligned to.
class Guarded {
 public:
  Guarded(ir::Type element, int64_t length, size_t misalignment)
      : bytes_(2 * Zone + 64 + static_cast<size_t>(length) * ir::BytesOf(element), Canary) {
    const size_t address = reinterpret_cast<size_t>(bytes_.data()) + Zone;
    start_ = Zone + (64 - address % 64) % 64 + misalignment;
    memory_ = std::make_shared<exec::Memory>(element, length, bytes_.data() + start_);
  }
  const std::shared_ptr<exec::Memory>& memory() const { return memory_; }
  bool intact() const {
    const size_t end = start_ + memory_->size_bytes();
    for (size_t i = 0; i < bytes_.size(); ++i)
      if ((i < start_ || i >= end) && bytes_[i] != Canary) return false;
    return true;
  }

 private:
  static constexpr size_t Zone = 128;
  static constexpr unsigned char Canary = 0xa5;
  std::vector<unsigned char> bytes_;
  size_t start_ = 0;
  std::shared_ptr<exec::Memory> memory_;
};

// Numbers of all sizes, with the special ones among them: zeros, subnormals, infinities, NaNs with payloads.
inline void Fill(exec::Memory& memory, std::mt19937_64& random, bool plain = false) {
  const ir::Type type = memory.element();
  for (int64_t i = 0; i < memory.length(); ++i) {
    uint64_t word = random();
    const uint64_t choice = random() % 16;
    if (type.scalar == ir::Scalar::Bool) word &= 1;
    if (type.scalar == ir::Scalar::Field) word %= 0xffff'ffff'0000'0001u;
    if (type.scalar == ir::Scalar::F32) {
      const float value = static_cast<float>(static_cast<int64_t>(word)) * 0x1p-60f;
      const uint32_t special[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00001,
                                  0xffc12345, 0x7f800001, 1,          0x807fffff};
      uint32_t bits;
      std::memcpy(&bits, &value, 4);
      if (!plain && choice < std::size(special)) bits = special[choice];
      word = bits;
    } else if (type.scalar == ir::Scalar::F64) {
      const double value = static_cast<double>(static_cast<int64_t>(word)) * 0x1p-60;
      const uint64_t special[] = {
          0, 1ull << 63, 0x7ff0ull << 48, 0xfff0ull << 48, 0x7ff8000000000001u, 0xfff8123456789abcu,
          1};
      std::memcpy(&word, &value, 8);
      if (!plain && choice < std::size(special)) word = special[choice];
    } else if (ir::IsFixedInt(type.scalar) && choice < 5) {
      const uint64_t special[] = {0, 1, ~0ull, 1ull << (ir::BitsOf(type) - 1),
                                  (1ull << (ir::BitsOf(type) - 1)) - 1};
      word = special[choice];
    }
    if (ir::IsFixedInt(type.scalar) && ir::BitsOf(type) < 64) {
      const int cut = 64 - ir::BitsOf(type);
      word = ir::IsSigned(type.scalar)
                 ? static_cast<uint64_t>(static_cast<int64_t>(word << cut) >> cut)
                 : word << cut >> cut;
    }
    if (ir::Contains(ir::sets::Half, type.scalar)) word &= 0xffff;
    memory.Set(i, std::span(&word, 1));
  }
}

struct Case {
  std::vector<int64_t> lengths;           // of the buffers, in order
  std::vector<exec::Value> scalars = {};  // the parameters that are no buffers, in order
  std::vector<int> same_as = {};  // buffer i is the same memory as an earlier one; -1: its own
  uint64_t seed = 1;
  bool plain = false;
};

struct Compiled {
  std::string level;
  std::unique_ptr<exec::Target> target;
  std::unique_ptr<exec::Callable> callable;
};

// A program on the interpreter and as native code of every level; of the host's also in the form that comes first.
class Differential {
 public:
  explicit Differential(std::string_view text, bool metered = false) : program_(Parse(text)) {
    for (exec::CpuLevel level : Levels()) Add(level, metered, /*tuned=*/true);
    Add(exec::HostLevel(), metered, /*tuned=*/false);
  }

  const ir::Program& program() const { return program_; }

  // Same results, same traps, same memory; canaries untouched.
  void Check(const Case& c) const {
    auto [expected_guards, expected_arguments] = Make(c, 0);
    Result<exec::Outcome> expected = exec::Interpret(program_, expected_arguments);
    ASSERT_TRUE(expected.has_value()) << expected.error().ToString();
    for (size_t l = 0; l < compiled_.size(); ++l) {
      auto [guards, arguments] = Make(c, (l + c.seed * 4) % 64 / 4 * 4 + (c.seed % 2));
      Result<exec::Outcome> actual = compiled_[l].callable->Run(arguments, {});
      ASSERT_TRUE(actual.has_value()) << actual.error().ToString();
      const std::string where =
          compiled_[l].level + " at lengths " + Lengths(c) + " seed " + std::to_string(c.seed);
      ASSERT_EQ(actual->trap.has_value(), expected->trap.has_value())
          << where << " "
          << (actual->trap     ? actual->trap->ToString()
              : expected->trap ? expected->trap->ToString()
                               : "");
      for (const auto& guard : guards) ASSERT_TRUE(guard->intact()) << where;
      if (expected->trap) {
        ASSERT_EQ(*actual->trap, *expected->trap)
            << where << actual->trap->ToString() << expected->trap->ToString();
        const auto before = Make(c, 0);
        const auto wrong = exec::WrongAfterTrap(*exec::InterpreterProgram::Create(program_),
                                                before.second, expected_arguments, arguments, {});
        ASSERT_FALSE(wrong) << where << " after " << expected->trap->ToString() << " argument "
                            << wrong->argument << ", element " << wrong->element;
        continue;
      }
      ASSERT_EQ(actual->results, expected->results) << where;
      for (size_t i = 0; i < arguments.size(); ++i)
        ASSERT_TRUE(arguments[i] == expected_arguments[i])
            << where << " argument " << i << "\n"
            << exec::PrintValue(arguments[i]) << "\n"
            << exec::PrintValue(expected_arguments[i]);
    }
  }

 private:
  void Add(exec::CpuLevel level, bool metered, bool tuned) {
    NativeOptions options;
    options.level = level;
    options.tuned = tuned;
    Compiled compiled{std::string(exec::CpuLevelName(level)), MakeNativeTarget(options), nullptr};
    if (!tuned) compiled.level += ", the first form,";
    exec::EmitOptions emit;
    emit.metered = metered;
    Result<exec::Artifact> artifact = compiled.target->Emit(program_, emit);
    EXPECT_TRUE(artifact.has_value()) << artifact.error().ToString();
    if (!artifact) return;
    Result<std::unique_ptr<exec::Callable>> callable = compiled.target->Load(*artifact);
    EXPECT_TRUE(callable.has_value()) << callable.error().ToString();
    if (!callable) return;
    compiled.callable = std::move(*callable);
    compiled_.push_back(std::move(compiled));
  }

  using Guards = std::vector<std::unique_ptr<Guarded>>;

  static std::string Lengths(const Case& c) {
    std::string text;
    for (int64_t length : c.lengths) text += std::to_string(length) + " ";
    return text;
  }

  std::pair<Guards, std::vector<exec::Value>> Make(const Case& c, size_t misalignment) const {
    Guards guards;
    std::vector<exec::Value> arguments;
    std::vector<std::shared_ptr<exec::Memory>> memories;
    std::mt19937_64 random(c.seed);
    size_t scalar = 0;
    const ir::Function& main = program_.entry_function();
    for (uint32_t i = 0; i < main.param_count(); ++i) {
      const ir::Type type = main.param_type(i);
      if (type.is_scalar()) {
        arguments.push_back(c.scalars.at(scalar++));
        continue;
      }
      const size_t b = memories.size();
      if (b < c.same_as.size() && c.same_as[b] >= 0) {
        memories.push_back(memories[static_cast<size_t>(c.same_as[b])]);
      } else {
        guards.push_back(std::make_unique<Guarded>(type.element(), c.lengths.at(b), misalignment));
        Fill(*guards.back()->memory(), random, c.plain);
        memories.push_back(guards.back()->memory());
      }
      arguments.push_back(exec::Value::Buffer(memories.back()));
    }
    return {std::move(guards), std::move(arguments)};
  }

  ir::Program program_;
  std::vector<Compiled> compiled_;
};

inline exec::Value Index(int64_t n) { return exec::Value::Int(ir::types::Index, n); }
inline exec::Value U32(int64_t n) { return exec::Value::Int(ir::types::U32, n); }

}  // namespace frazil::targets::native::testing
