// Sealed bytes: RFC 4231, round trips, and every way in which bytes can be wrong.
#include <gtest/gtest.h>

#include "base/sha256.h"
#include "exec/native/native_code.h"
#include "verify/judge.h"

namespace frazil::verify {
namespace {

InstallKey KeyOf(uint8_t byte) {
  InstallKey key;
  key.fill(byte);
  return key;
}

exec::CompiledForm SomeForm() {
  exec::CompiledForm form;
  form.source_exact = std::string(64, 'a');
  form.guard = "arg0 == 5";
  form.candidate = "frz 1\n";
  form.candidate_exact = std::string(64, 'b');
  form.source = "frz 1\n\n";
  form.certificate = "term";
  form.toolchain = "llvm 22";
  exec::NativeImage image;
  image.level = exec::CpuLevel::Avx2;
  image.metered = true;
  image.entry_offset = 3;
  image.code = std::string("\x90\x90\x90\xc3\0\x01", 6);
  exec::PutImage(form, image);
  form.cost = exec::CallTime{1.5, 20.25};
  return form;
}

EvidencePair SomeEvidence() {
  return {{Grade::Proved, "digest", "equal canonical form", 0},
          {Grade::Sampled, "interpreter", "4,096 inputs", 4096}};
}

Expected WhatFits() {
  return {std::string(64, 'a'),           "arg0 == 5", "native", "", "avx512",
          {Grade::Proved, Grade::Sampled}};
}

std::string Sealed() { return Seal(Judge::Vouch(SomeForm(), SomeEvidence()), KeyOf(7)); }

// The MAC made right again after a change, as only the installation itself could do.
std::string Resealed(std::string sealed) {
  const size_t size = sealed.size() - 32;
  const auto mac = Hmac(KeyOf(7), std::string_view(sealed).substr(0, size));
  for (size_t i = 0; i < 32; ++i) sealed[size + i] = static_cast<char>(mac[i]);
  return sealed;
}

// RFC 4231 with keys that are shorter than 32 bytes: zeros at the end of a key do not change an HMAC.
std::string HmacHex(std::string_view key_bytes, std::string_view data) {
  InstallKey key{};
  std::copy(key_bytes.begin(), key_bytes.end(), key.begin());
  const auto mac = Hmac(key, data);
  return Hex({reinterpret_cast<const char*>(mac.data()), mac.size()});
}

TEST(Hmac, Rfc4231) {
  EXPECT_EQ(HmacHex(std::string(20, '\x0b'), "Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(HmacHex("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(HmacHex(std::string(20, '\xaa'), std::string(50, '\xdd')),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  std::string counting;
  for (char c = 1; c <= 25; ++c) counting += c;
  EXPECT_EQ(HmacHex(counting, std::string(50, '\xcd')),
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
}

TEST(Seal, RoundTrip) {
  const auto form = Readmit(Sealed(), KeyOf(7), WhatFits());
  ASSERT_TRUE(form.has_value()) << form.error().ToString();
  EXPECT_EQ(**form, SomeForm());
  EXPECT_EQ(form->evidence(), SomeEvidence());
}

TEST(Seal, EveryFlippedBitIsRefused) {
  const std::string sealed = Sealed();
  for (size_t i = 0; i < sealed.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = sealed;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      const auto form = Readmit(bad, KeyOf(7), WhatFits());
      ASSERT_FALSE(form.has_value()) << i << ":" << bit;
      ASSERT_EQ(form.error().diag, Diag::NotAdmitted);
    }
  }
}

TEST(Seal, EveryTruncationIsRefused) {
  const std::string sealed = Sealed();
  for (size_t size = 0; size < sealed.size(); ++size) {
    EXPECT_FALSE(Readmit(sealed.substr(0, size), KeyOf(7), WhatFits()).has_value()) << size;
    EXPECT_FALSE(ReadForeign(sealed.substr(0, size)).has_value()) << size;
  }
  EXPECT_FALSE(Readmit(sealed + "x", KeyOf(7), WhatFits()).has_value());
}

// Even with a right MAC the reader trusts no length: what it accepts is whole, what it refuses does no harm.
TEST(Seal, DamageUnderARightMacDoesNoHarm) {
  const std::string sealed = Sealed();
  size_t accepted = 0;
  for (size_t i = 0; i + 32 < sealed.size(); ++i) {
    for (int value : {0, 1, 0x7f, 0xff}) {
      std::string bad = sealed;
      bad[i] = static_cast<char>(value);
      bad = Resealed(bad);
      accepted += Readmit(bad, KeyOf(7), WhatFits()).has_value() ? 1 : 0;
      (void)ReadForeign(bad);
    }
    const std::string shorter = Resealed(sealed.substr(0, i + 32));
    EXPECT_FALSE(Readmit(shorter, KeyOf(7), WhatFits()).has_value());
  }
  EXPECT_GT(accepted, 0u);  // bytes of texts and of the code may be anything
}

TEST(Seal, AnotherKeyIsRefused) {
  const auto form = Readmit(Sealed(), KeyOf(8), WhatFits());
  ASSERT_FALSE(form.has_value());
  EXPECT_NE(form.error().message.find("not sealed by this installation"), std::string::npos);
}

TEST(Seal, EveryOtherExpectationIsRefused) {
  auto refused = [](auto change, std::string_view word) {
    Expected expected = WhatFits();
    change(expected);
    const auto form = Readmit(Sealed(), KeyOf(7), expected);
    ASSERT_FALSE(form.has_value()) << word;
    EXPECT_EQ(form.error().diag, Diag::NotAdmitted);
    EXPECT_NE(form.error().message.find(word), std::string::npos) << form.error().message;
  };
  refused([](Expected& e) { e.source_exact[0] = 'c'; }, "another program");
  refused([](Expected& e) { e.guard = "true"; }, "guard");
  refused([](Expected& e) { e.target = "wasm"; }, "target");
  refused([](Expected& e) { e.toolchain = "llvm 23"; }, "llvm 23");
  refused([](Expected& e) { e.profile = "baseline"; }, "CPU level");
  refused([](Expected& e) { e.profile = ""; }, "CPU level");
  refused([](Expected& e) { e.calling = "in pieces"; }, "in pieces");
  refused([](Expected& e) { e.policy.lowering = Grade::Proved; }, "policy");
}

TEST(Seal, FormsOfEveryTargetAndCost) {
  exec::CompiledForm form = SomeForm();
  form.target = "tasm";
  form.profile = "dot";
  form.calling = "callable";
  form.symbol = "fib";
  form.payload = "push 1\nhalt\n";
  EvidencePair evidence = SomeEvidence();
  evidence.meaning.bound = Bound{0.01, 0.99};
  for (const exec::Cost& cost : {exec::Cost(exec::TableHeights{256, 200, 12, 9}),
                                 exec::Cost(exec::Bytes{77}), exec::Cost(exec::CallTime{1, 2})}) {
    form.cost = cost;
    const std::string sealed = Seal(Judge::Vouch(form, evidence), KeyOf(7));
    Expected expected{form.source_exact, std::nullopt, "tasm", "", "dot", {}, "callable"};
    const auto back = Readmit(sealed, KeyOf(7), expected);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(**back, form);
    EXPECT_EQ(back->evidence(), evidence);
    // A profile that is no CPU level has nothing above it.
    expected.profile = "horner";
    EXPECT_FALSE(Readmit(sealed, KeyOf(7), expected));
  }
}

TEST(Seal, ForeignBytesAreAProposalWithoutCode) {
  std::string foreign = Sealed();
  foreign.back() = static_cast<char>(foreign.back() ^ 1);
  const auto form = ReadForeign(foreign);
  ASSERT_TRUE(form.has_value());
  EXPECT_EQ(form->candidate, SomeForm().candidate);
  EXPECT_EQ(form->guard, SomeForm().guard);
  EXPECT_TRUE(form->payload.empty());
}

TEST(Evidence, PoliciesAreComparedComponentwise) {
  const Policy policy{Grade::Proved, Grade::Sampled};
  auto pair = [](Grade meaning, Grade lowering) {
    return EvidencePair{{meaning, "", "", 0}, {lowering, "", "", 0}};
  };
  EXPECT_TRUE(Satisfies(pair(Grade::Proved, Grade::Sampled), policy));
  EXPECT_TRUE(Satisfies(pair(Grade::Exhaustive, Grade::Exhaustive), policy));
  EXPECT_FALSE(Satisfies(pair(Grade::Algebraic, Grade::Proved), policy));
  EXPECT_FALSE(Satisfies(pair(Grade::Proved, Grade::None), policy));
  EXPECT_TRUE(Satisfies(pair(Grade::Proved, Grade::Sampled), {Grade::Exhaustive, Grade::Sampled}));
}

}  // namespace
}  // namespace frazil::verify
