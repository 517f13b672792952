// The main() of a fuzz target outside the `fuzz` preset: runs every corpus file, then a fixed number of
// mutations of them, seeded by the commit (base/test_counts.h), without libFuzzer.
// An input that crashes the target is left in ./crash-input. Usage: fuzz_x [--runs N] [--seed S] PATH...
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "base/test_counts.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
// Present only in sanitized builds, where the sanitizer owns the signals.
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace {

using Random = std::mt19937_64;

const std::string* current_input = nullptr;

void SaveCurrentInput() {
  std::FILE* file = std::fopen("crash-input", "wb");
  if (file == nullptr || current_input == nullptr) return;
  std::fwrite(current_input->data(), 1, current_input->size(), file);
  std::fclose(file);
  std::fputs("the input is in ./crash-input\n", stderr);
}

void CatchCrashes() {
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(SaveCurrentInput);
    return;
  }
  for (int number : {SIGSEGV, SIGABRT, SIGILL, SIGTRAP, SIGFPE, SIGBUS}) {
    std::signal(number, [](int caught) {
      std::signal(caught, SIG_DFL);
      SaveCurrentInput();
      std::raise(caught);
    });
  }
}

void Run(const std::string& input) {
  current_input = &input;
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
}

// Folders are walked in name order: the same inputs in the same order on every machine.
std::vector<std::string> ReadCorpus(const std::vector<std::filesystem::path>& places) {
  std::vector<std::filesystem::path> files;
  for (const auto& place : places) {
    if (!std::filesystem::is_directory(place)) {
      files.push_back(place);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(place)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  std::vector<std::string> corpus;
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  return corpus;
}

size_t Below(Random& random, size_t bound) { return bound == 0 ? 0 : random() % bound; }

// One edit: flip a bit, set a byte, cut a piece, repeat a piece, or splice in a piece of another input.
void Mutate(std::string& input, const std::vector<std::string>& corpus, Random& random) {
  const size_t at = Below(random, input.size());
  const size_t length = 1 + Below(random, std::min<size_t>(64, input.size() - at));
  switch (random() % 5) {
    case 0:
      if (!input.empty()) input[at] = static_cast<char>(input[at] ^ (1 << (random() % 8)));
      break;
    case 1: input.insert(at, 1, static_cast<char>(random())); break;
    case 2: input.erase(at, length); break;
    case 3: input.insert(at, input.substr(at, length)); break;
    default: {
      const std::string& other = corpus[Below(random, corpus.size())];
      const size_t from = Below(random, other.size());
      input.insert(at, other.substr(from, 1 + Below(random, 256)));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t runs = 1000;
  uint64_t seed = 1;
  std::vector<std::filesystem::path> places;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--runs" && i + 1 < argc) {
      runs = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--seed" && i + 1 < argc) {
      seed = std::strtoull(argv[++i], nullptr, 10);
    } else {
      places.emplace_back(argument);
    }
  }
  runs *= frazil::TestScale();
  seed = frazil::TestSeed(seed);

  std::error_code error;
  std::erase_if(places, [&](const auto& place) { return !std::filesystem::exists(place, error); });
  std::vector<std::string> corpus = ReadCorpus(places);
  std::printf("seed %llu, %zu files, %llu mutations\n", static_cast<unsigned long long>(seed),
              corpus.size(), static_cast<unsigned long long>(runs));
  std::fflush(stdout);
  CatchCrashes();
  corpus.emplace_back();  // the empty input, always
  for (const std::string& input : corpus) Run(input);
  for (uint64_t run = 0; run < runs; ++run) {
    Random random(seed * 0x9e3779b97f4a7c15ULL + run);
    std::string input = corpus[Below(random, corpus.size())];
    for (uint64_t edits = 1 + random() % 4; edits > 0; --edits) Mutate(input, corpus, random);
    Run(input);
  }
  std::printf("%llu inputs, no crash\n", static_cast<unsigned long long>(runs + corpus.size()));
}
