#include "kernels/call.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "exec/meaning/interpreter.h"
#include "frontends/python/python.h"
#include "targets/native/native.h"
#include "targets/tiles/tile.h"

namespace frazil::kernels_test {
namespace {

constexpr size_t Fence = 256;  // bytes of canary on each side of a buffer
constexpr char Canary = 0x5C;

const exec::Target& TargetOf(Engine engine) {
  static const std::unique_ptr<exec::Target> targets[] = {exec::MakeInterpreterTarget(),
                                                          targets::tiles::MakeIsaTarget(),
                                                          targets::native::MakeNativeTarget()};
  return *targets[static_cast<size_t>(engine)];
}

std::string Stem(const std::string& path) { return std::filesystem::path(path).stem().string(); }

struct Library {
  std::vector<Line> manifest;
  std::map<std::string, Result<ir::Program>> kernels;  // by name

  Library() {
    const std::string folder = FRAZIL_KERNELS_DIR;
    std::ifstream file(folder + "/manifest.txt");
    for (std::string text; std::getline(file, text);) {
      std::istringstream words(text);
      Line line;
      if (text.starts_with('#') || !(words >> line.list >> line.name >> line.kernel)) continue;
      manifest.push_back(line);
    }
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
      if (entry.path().extension() == ".py") paths.push_back(entry.path().string());
    auto parsed = frontends::python::ParsePythonFiles(paths);
    std::vector<std::string> typed;
    for (size_t i = 0; i < paths.size(); ++i) {
      if (!parsed[i]) {
        kernels.emplace(Stem(paths[i]), std::unexpected(parsed[i].error()));
      } else {
        const bool is_typed = std::filesystem::path(paths[i]).parent_path().stem() == "typed";
        EXPECT_TRUE(is_typed || parsed[i]->size() == 1) << paths[i] << " holds one kernel";
        EXPECT_TRUE(is_typed || (*parsed[i])[0].name == Stem(paths[i]))
            << paths[i] << " is named after its kernel";
        for (auto& kernel : *parsed[i]) {
          if (is_typed) typed.push_back(kernel.name);
          EXPECT_NE(kernel.doc, "") << paths[i] << " says what it computes";
          EXPECT_TRUE(kernels.emplace(kernel.name, std::move(kernel.program)).second)
              << kernel.name << " is there twice";
        }
      }
    }
    EXPECT_FALSE(typed.empty());
    for (const std::string& name : typed)
      EXPECT_TRUE(kernels.contains(name.substr(0, name.rfind('_'))))
          << name << " is no kernel of stdlib/kernels with a type behind it";
  }
  static const Library& Get() {
    static const Library library;
    return library;
  }
};

// One buffer between canaries.
struct Guarded {
  Guarded(const std::string& contents, size_t shift)
      : size(contents.size()), bytes(contents.size() + 2 * Fence + 64 + shift) {
    std::fill(bytes.begin(), bytes.end(), std::byte{Canary});
    const auto address = reinterpret_cast<uintptr_t>(bytes.data()) + Fence;
    data = bytes.data() + Fence + (64 - address % 64) % 64 + shift;
    if (size > 0) std::memcpy(data, contents.data(), size);
  }
  bool IsIntact() const {
    for (const std::byte* at = bytes.data(); at < bytes.data() + bytes.size(); ++at)
      if ((at < data || at >= data + size) && *at != std::byte{Canary}) return false;
    return true;
  }
  size_t size;
  std::vector<std::byte> bytes;
  std::byte* data;
};

}  // namespace

const char* EngineName(Engine engine) {
  static constexpr const char* Names[] = {"interpreter", "tile", "native"};
  return Names[static_cast<size_t>(engine)];
}

const std::vector<Line>& Manifest() { return Library::Get().manifest; }

const ir::Program* KernelNamed(std::string_view name) {
  const std::string stem = Stem(std::string(name));
  const auto& kernels = Library::Get().kernels;
  const auto found = kernels.find(stem);
  if (found == kernels.end()) {
    ADD_FAILURE() << "there is no kernel " << name;
    return nullptr;
  }
  if (!found->second) {
    ADD_FAILURE() << found->second.error().ToString();
    return nullptr;
  }
  return &*found->second;
}

const ir::Program* KernelOfFile(const std::string& path) {
  static std::map<std::string, std::vector<frontends::python::Kernel>> files;
  if (!files.contains(path)) {
    auto parsed = frontends::python::ParsePython(path);
    if (!parsed) {
      ADD_FAILURE() << parsed.error().ToString();
      return nullptr;
    }
    files.emplace(path, std::move(*parsed));
  }
  return &files.at(path)[0].program;
}

exec::Callable* CallableOf(const ir::Program& program, Engine engine) {
  static std::map<std::pair<const ir::Program*, Engine>, std::unique_ptr<exec::Callable>> callables;
  std::unique_ptr<exec::Callable>& callable = callables[{&program, engine}];
  if (callable == nullptr) {
    const std::string refusal = TargetOf(engine).Refuses(program);
    if (!refusal.empty()) {
      ADD_FAILURE() << EngineName(engine) << ": " << refusal;
      return nullptr;
    }
    auto artifact = TargetOf(engine).Emit(program);
    if (!artifact) {
      ADD_FAILURE() << EngineName(engine) << ": " << artifact.error().ToString();
      return nullptr;
    }
    auto loaded = TargetOf(engine).Load(*artifact);
    if (!loaded) {
      ADD_FAILURE() << EngineName(engine) << ": " << loaded.error().ToString();
      return nullptr;
    }
    callable = std::move(*loaded);
  }
  return callable.get();
}

Call& Call::Add(ir::Type element, const void* bytes, size_t size, bool read_only) {
  Part part{element, true, read_only};
  if (size > 0) part.contents.assign(static_cast<const char*>(bytes), size);
  parts_.push_back(std::move(part));
  return *this;
}

Call& Call::Same(size_t argument) {
  parts_[argument].read_only = false;
  Part part{parts_[argument].type, true};
  part.same = argument;
  parts_.push_back(std::move(part));
  return *this;
}

Call& Call::AddScalar(ir::Type type, uint64_t word) {
  Part part{type};
  part.word = word;
  parts_.push_back(std::move(part));
  return *this;
}

exec::Outcome Call::Launch(Engine engine, size_t shift, bool& launched) {
  launched = false;
  exec::Callable* callable = program_ == nullptr ? nullptr : CallableOf(*program_, engine);
  if (callable == nullptr) return {};
  std::vector<std::unique_ptr<Guarded>> memory;
  std::vector<exec::Value> values;
  for (const Part& part : parts_) {
    memory.push_back(part.is_buffer && part.same == SIZE_MAX
                         ? std::make_unique<Guarded>(part.contents, shift)
                         : nullptr);
    if (!part.is_buffer) {
      values.push_back(exec::Value::Word(part.type, part.word));
    } else if (part.same != SIZE_MAX) {
      values.push_back(values[part.same]);
    } else {
      const auto length = static_cast<int64_t>(part.contents.size() / ir::BytesOf(part.type));
      values.push_back(exec::Value::Buffer(
          std::make_shared<exec::Memory>(part.type, length, memory.back()->data)));
    }
  }
  exec::RunContext context;
  context.limits.run_ms = 60'000;
  auto outcome = callable->Run(values, context);
  if (!outcome) {
    ADD_FAILURE() << EngineName(engine) << ": " << outcome.error().ToString();
    return {};
  }
  launched = true;
  intact_ = true;
  after_.assign(parts_.size(), "");
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    if (!part.is_buffer) continue;
    const Guarded& buffer = *memory[part.same != SIZE_MAX ? part.same : i];
    after_[i].assign(reinterpret_cast<const char*>(buffer.data), buffer.size);
    intact_ &= buffer.IsIntact();
    if (part.read_only) intact_ &= after_[i] == part.contents;
  }
  return std::move(*outcome);
}

bool Call::Run(Engine engine, size_t shift) {
  bool launched = false;
  const exec::Outcome outcome = Launch(engine, shift, launched);
  if (!launched) return false;
  if (outcome.trap) {
    ADD_FAILURE() << program_->entry_function().name << " on " << EngineName(engine) << ": "
                  << outcome.trap->ToString();
    return false;
  }
  EXPECT_TRUE(intact_) << program_->entry_function().name << " on " << EngineName(engine)
                       << " wrote where it must not";
  return intact_;
}

std::string Call::Trap(Engine engine) {
  bool launched = false;
  const exec::Outcome outcome = Launch(engine, 0, launched);
  EXPECT_TRUE(!launched || intact_);
  return outcome.trap ? outcome.trap->ToString() : "";
}

bool Call::RunEverywhere(bool all) {
  if (all) {
    if (!Run(Engine::Interpreter)) return false;
    const std::vector<std::string> meant = after_;
    for (const Engine engine : {Engine::Tile, Engine::Native}) {
      if (!Run(engine)) return false;
      for (size_t i = 0; i < meant.size(); ++i) {
        if (meant[i] == after_[i]) continue;
        size_t at = 0;
        while (meant[i][at] == after_[i][at]) ++at;
        ADD_FAILURE() << program_->entry_function().name << ": " << EngineName(engine)
                      << " differs from the interpreter in argument " << i << " at byte " << at;
        return false;
      }
    }
  }
  // Once more where no vector is aligned.
  return Run(Engine::Native, parts_.empty() ? 0 : 4) && Run(Engine::Native);
}

}  // namespace frazil::kernels_test
