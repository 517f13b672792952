// What a stored form costs before it may be called: its MAC and its strict reader, 4 KB of it; and SHA-256 with and
// without the CPU's instructions.
#include "base/check.h"
#include "base/sha256.h"
#include "base/sha256_blocks.h"
#include "exec/native/native_code.h"
#include "harness.h"
#include "verify/judge.h"

namespace frazil::bench {

FRAZIL_FIGURE(readmit) {
  verify::InstallKey key;
  key.fill(42);
  exec::CompiledForm form;
  form.source_exact = std::string(64, 'a');
  form.guard = "true";
  form.candidate = std::string(1200, 'x');
  form.candidate_exact = std::string(64, 'b');
  form.target = "native";
  form.toolchain = "llvm 22";
  exec::NativeImage image;
  image.code = std::string(2400, '\x90');
  exec::PutImage(form, image);
  const verify::EvidencePair evidence{
      {verify::Grade::Proved, "digest", "equal canonical form", 0},
      {verify::Grade::Sampled, "interpreter", "4,096 inputs", 4096}};
  const std::string sealed = verify::Seal(verify::Judge::Vouch(form, evidence), key);
  const verify::Expected expected{form.source_exact, "true", "native", "", "avx512", {}};
  constexpr int Many = 200;
  const std::string block(4096, 'z');
  const std::vector<Times> times = Interleave(
      {[&] {
         for (int i = 0; i < Many; ++i) CHECK(verify::Readmit(sealed, key, expected).has_value());
       },
       [&] {
         Sha256State state{};
         for (int i = 0; i < Many; ++i)
           Sha256BlocksPlain(state, reinterpret_cast<const uint8_t*>(block.data()),
                             block.size() / 64);
         Keep(state[0]);
       },
       [&] {
         Sha256State state{};
         for (int i = 0; i < Many; ++i)
           HostHasSha() ? Sha256BlocksX86(state, reinterpret_cast<const uint8_t*>(block.data()),
                                          block.size() / 64)
                        : Sha256BlocksPlain(state, reinterpret_cast<const uint8_t*>(block.data()),
                                            block.size() / 64);
         Keep(state[0]);
       }},
      15);
  const double readmit_us = times[0].median_s / Many * 1e6;
  Report({"verify", "readmit a sealed form of 4 KB", readmit_us, "us", "", 0, "<= 25 us",
          readmit_us <= 25});
  Report({"base", "SHA-256 of 4 KB", times[2].median_s / Many * 1e6, "us", "plain form",
          times[1].median_s / Many * 1e6, "-", std::nullopt, "no goal"});
}

}  // namespace frazil::bench
