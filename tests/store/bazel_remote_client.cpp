// Two installations and a real server: what bazel_remote_test.sh runs against each way of starting it.
//   bazel_remote_client ADDRESS
#include <fmt/format.h>

#include <cstdio>

#include "store/test_store.h"

namespace frazil::store {
namespace {

int failures = 0;

void Expect(bool holds, const char* what) {
  if (holds) return;
  fmt::print(stderr, "failed: {}\n", what);
  ++failures;
}

std::unique_ptr<Store> OpenRemote(const std::string& directory, const std::string& address) {
  StoreOptions options;
  options.directory = directory;
  options.sync = false;
  options.remote = address;
  options.remote_timeout_ms = 5000;
  return Store::Open(options);
}

int Main(const std::string& address) {
  constexpr verify::Policy Any = {verify::Grade::None, verify::Grade::None};
  TempFolder one, other, same;
  auto writer = OpenRemote(one.path(), address);
  for (uint64_t i = 0; i < 50; ++i)
    Expect(writer->Put(KeyOf(i), SealedOf(FormOf(i, i == 49 ? 3'000'000 : 500), writer->key())),
           "an entry is kept");
  Expect(writer->stats().refused.empty(), "the server takes everything");
  for (const auto& [reason, count] : writer->stats().refused)
    fmt::print(stderr, "  {} {}\n", reason, count);

  auto reader = OpenRemote(other.path(), address);
  for (uint64_t i = 0; i < 50; ++i) {
    auto foreign = reader->FindForeign(KeyOf(i));
    Expect(foreign && foreign->candidate_exact == FormOf(i).candidate_exact,
           "another installation gets a proposal");
    Expect(!reader->FindVerified(KeyOf(i), Any), "and nothing to call");
  }
  Expect(reader->stats().remote_hits == 50, "each came over the net once");
  Expect(!reader->Find(KeyOf(1000)), "what was never kept is a miss");

  std::filesystem::copy(one / "key", same / "key");
  auto again = OpenRemote(same.path(), address);
  for (uint64_t i = 0; i < 50; ++i) {
    auto found = again->FindVerified(KeyOf(i), Any);
    Expect(found && (*found)->payload == FormOf(i, i == 49 ? 3'000'000 : 500).payload,
           "the same installation gets its own forms back");
  }
  Expect(again->stats().refused.empty(), "without a refusal");
  for (const auto& [reason, count] : again->stats().refused)
    fmt::print(stderr, "  {} {}\n", reason, count);
  fmt::print("{}: {} failures\n", address, failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace frazil::store

int main(int argc, char** argv) { return argc == 2 ? frazil::store::Main(argv[1]) : 2; }
