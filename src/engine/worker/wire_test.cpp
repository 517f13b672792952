#include "engine/worker/wire.h"
#include "base/sha256.h"

#include <gtest/gtest.h>

#include <cmath>

#include "exec/random_arguments.h"
#include "generator/generator.h"

namespace frazil::engine::wire {
namespace {

WorkRequest Request() {
  WorkRequest request;
  request.program = "frz 1\n";
  request.level = exec::CpuLevel::Avx2;
  request.observed.calls = 1234;
  request.observed.constant_arguments = {{1, 2, 3}, {}, {UINT64_MAX}};
  request.specialize = true;
  request.foreign_candidate = std::string("a\0b", 3);
  request.foreign_guard = "arg0 == 5";
  request.banned = {"aa", "", "bb"};
  request.sample_arguments = "xyz";
  request.in_use = "form";
  request.same_candidate = true;
  request.observed.more = {{"shapes", "4x4"}, {"", std::string("\0", 1)}};
  request.policy = {verify::Grade::Exhaustive, verify::Grade::None, verify::Bound{0.25, 0.5}};
  for (size_t i = 0; i < request.key.size(); ++i) request.key[i] = static_cast<uint8_t>(7 * i);
  request.timeout_ms = 77;
  return request;
}

WorkReply Reply(double price_ms = 3.5) {
  WorkReply reply;
  reply.sealed = "sealed";
  reply.events = {{1.5, "", Verb::Lower, "passes", "avx2", {{Quantity::Bytes, 416}}},
                  {2, "", Verb::Refuse, "store", "no", {}}};
  reply.attempts = {{"optimize", "native", "aa", "bb", "true", Fate::Refused, "no", 3, 2, 1, 0.5}};
  reply.compile_ms = 1.5;
  reply.verify_ms = 2.5;
  reply.price_ms = price_ms;
  return reply;
}

TEST(Wire, MessagesComeBackWhole) {
  const std::string bytes = EncodeWorkRequest(Request());
  const Result<WorkRequest> request = DecodeWorkRequest(bytes);
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(EncodeWorkRequest(*request), bytes);
  EXPECT_EQ(request->observed.constant_arguments, Request().observed.constant_arguments);
  EXPECT_EQ(request->banned, Request().banned);
  EXPECT_EQ(request->key, Request().key);
  EXPECT_EQ(request->policy, Request().policy);
  EXPECT_EQ(request->observed.more, Request().observed.more);

  const Result<WorkReply> decoded = DecodeWorkReply(EncodeWorkReply(Reply()));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->sealed, "sealed");
  EXPECT_EQ(decoded->price_ms, 3.5);
  EXPECT_EQ(decoded->events, Reply().events);
  EXPECT_EQ(decoded->attempts, Reply().attempts);
  WorkReply wrong = Reply();
  wrong.refuted = {"aa", "bb"};
  EXPECT_FALSE(DecodeWorkReply(EncodeWorkReply(wrong))) << "who ran wrong code seals nothing";
  wrong.sealed = "";
  EXPECT_EQ(DecodeWorkReply(EncodeWorkReply(wrong))->refuted, wrong.refuted);

  const Error error{Diag::NotDominated, "m", {1, 2}, "f", "h"};
  EXPECT_EQ(DecodeError(EncodeError(error))->ToString(), error.ToString());
}

// A library and a worker of two installations may meet: whoever changes a message raises the version, or one takes the
// other's words for malformed ones.
TEST(Wire, MessagesAndVersionChangeTogether) {
  const std::string messages = EncodeWorkRequest(Request()) + EncodeWorkReply(Reply()) +
                               EncodeShadowRequest({"p", "s", "a", {}, 5}) +
                               EncodeShadowReply({false, "different"}) + EncodeHello("llvm") +
                               EncodeHeader({Kind::Failed, true, 9, "abc"});
  EXPECT_EQ(Version, 4);
  EXPECT_EQ(Sha256Hex(messages).substr(0, 16), "e4a7c07e2fbe0bcd")
      << "raise wire::Version, then note both here";
}

// Every message, cut short anywhere or with one byte more, is refused.
TEST(Wire, NoByteMayBeMissingOrTooMany) {
  const auto check = [](const std::string& bytes, const auto& decode) {
    ASSERT_TRUE(decode(bytes).has_value());
    for (size_t size = 0; size < bytes.size(); ++size)
      EXPECT_FALSE(decode(std::string_view(bytes).substr(0, size)).has_value()) << size;
    EXPECT_FALSE(decode(bytes + '\0').has_value());
  };
  check(EncodeWorkRequest(Request()), DecodeWorkRequest);
  check(EncodeWorkReply(Reply()), DecodeWorkReply);
  check(EncodeShadowRequest({"p", "s", "a", {}, 5}), DecodeShadowRequest);
  check(EncodeShadowReply({false, "different"}), DecodeShadowReply);
  check(EncodeError({Diag::Internal, "m"}), DecodeError);
  check(EncodeHello("llvm"), DecodeHello);
  check(EncodeHeader({Kind::Failed, true, 9, "abc"}), DecodeHeader);
}

TEST(Wire, RefusesWhatMeansNothing) {
  EXPECT_FALSE(DecodeShadowReply(EncodeShadowReply({true, "and yet different"})).has_value());
  EXPECT_FALSE(DecodeShadowReply(EncodeShadowReply({false, ""})).has_value());
  for (const double ms : {-1.0, static_cast<double>(NAN), static_cast<double>(INFINITY)})
    EXPECT_FALSE(DecodeWorkReply(EncodeWorkReply(Reply(ms))).has_value());
  std::string header = EncodeHeader({Kind::Hello, false, 0, ""});
  header[6] = 0;
  EXPECT_FALSE(DecodeHeader(header).has_value());
  header[6] = static_cast<char>(Kind::Failed) + 1;
  EXPECT_FALSE(DecodeHeader(header).has_value());
  header[6] = 1;
  header[7] = 2;
  EXPECT_FALSE(DecodeHeader(header).has_value());
}

TEST(Wire, ValuesOfAllKindsComeBack) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    generator::GeneratorOptions options;
    options.seed = seed;
    options.size = 4;
    const ir::Program program = generator::Generate(options);
    const std::vector<exec::Value> values = exec::RandomArguments(program, seed);
    const auto again = DecodeValues(EncodeValues(values));
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(*again, values);
    for (size_t i = 0; i < values.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        EXPECT_EQ(values[i].memory && values[i].memory == values[j].memory,
                  (*again)[i].memory && (*again)[i].memory == (*again)[j].memory)
            << "arguments " << j << " and " << i << ", seed " << seed;
      }
    }
  }
}

TEST(Wire, BorrowedMemoryThatIsOneBufferStaysOne) {
  std::vector<float> data = {1, 2, 3};
  const auto borrow = [&] {
    return std::make_shared<exec::Memory>(ir::types::F32, 3, data.data());
  };
  const std::vector<exec::Value> values = {exec::Value::Buffer(borrow()),
                                           exec::Value::Buffer(borrow())};
  const auto again = DecodeValues(EncodeValues(values));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ((*again)[0].memory, (*again)[1].memory);
  EXPECT_NE((*again)[0].memory->data(), reinterpret_cast<std::byte*>(data.data()));
}

TEST(Wire, ValuesCutShortAreRefused) {
  auto memory = std::make_shared<exec::Memory>(ir::types::U16, 6);
  const std::vector<exec::Value> values = {
      exec::Value::Buffer(memory),
      exec::Value::Tensor(std::make_shared<exec::Memory>(ir::types::F64, 6), {2, 3}),
      exec::Value::Int(ir::Type::Int(3), -1), exec::Value::Int(ir::types::Bool, 1)};
  const std::string bytes = EncodeValues(values);
  EXPECT_EQ(*DecodeValues(bytes), values);
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(DecodeValues(std::string_view(bytes).substr(0, size)).has_value()) << size;
  EXPECT_FALSE(DecodeValues(bytes + 'x').has_value());
}

}  // namespace
}  // namespace frazil::engine::wire
