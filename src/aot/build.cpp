// The whole way, top to bottom. Work is kept by the digest of everything it depends on; output files are written only if
// their content changed, so that nothing that depends on them is built again for nothing.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>

#include "aot/aot.h"
#include "aot/compile.h"
#include "aot/generate.h"
#include "aot/unit.h"
#include "base/sha256.h"
#include "base/system/jobs.h"
#include "exec/native/native_code.h"
#include "exec/native/native_toolchain.h"
#include "frontends/python/python.h"
#include "sources/sources.h"
#include "store/store.h"

namespace frazil::aot {
namespace {

namespace fs = std::filesystem;

// How often a file is compiled whose code turns out wrong, each time without what was refuted.
constexpr int MostRounds = 4;

struct File {
  std::string path;
  sources::Language language = sources::Language::Text;
  std::string content;
  std::string text;  // what the reader reads: for Python its JSON
  std::string key;
  std::optional<Unit> unit;
  bool cached = false;
};

Result<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  if (!file.good() && !file.eof())
    return Fail(Diag::FileUnreadable, fmt::format("{} cannot be read", path));
  return bytes;
}

Result<sources::Language> LanguageOfKernels(const std::string& path) {
  using enum sources::Language;
  const std::optional<sources::Language> language = sources::LanguageOf(path);
  if (language == Python || language == Json || language == Circuit || language == Text)
    return *language;
  return Fail(Diag::BadUsage,
              fmt::format("{}: kernels are read from .py, .json, .cir and .frz files", path));
}

// A program whose entry is called `main` is called like its file.
Result<std::vector<SourceKernel>> KernelsOf(const File& file, const Limits& limits) {
  std::vector<SourceKernel> kernels =
      TRY(sources::ParseSources(file.path, file.language, file.text, limits));
  for (SourceKernel& kernel : kernels)
    if (kernel.name == "main") kernel.name = sources::NameFromFile(file.path);
  if (!kernels.empty()) return kernels;
  Error error{Diag::BadKernel, "there is no kernel in this file"};
  error.file = file.path;
  return std::unexpected(std::move(error));
}

// All or nothing: whoever reads it sees the old content or the new one.
Result<void> WriteFile(const std::string& path, std::string_view bytes) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  std::error_code error;
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.flush();
    if (!file.good()) {
      fs::remove(temporary, error);
      return Fail(Diag::FileUnwritable, fmt::format("{} cannot be written", path));
    }
  }
  fs::rename(temporary, path, error);
  if (error)
    return Fail(Diag::FileUnwritable,
                fmt::format("{} cannot be written: {}", path, error.message()));
  return {};
}

std::string KeyOf(const File& file, const BuildOptions& options, const std::string& toolchain) {
  Sha256 hash;
  const auto add = [&](std::string_view part) {
    const uint64_t size = part.size();
    hash.Update(std::string_view(reinterpret_cast<const char*>(&size), sizeof size));
    hash.Update(part);
  };
  add("frazil unit 3");
  add(toolchain);
  add(fs::path(file.path).filename().string());
  add(file.content);
  if (file.language == sources::Language::Python) add(frontends::python::PythonTool());
  for (const Target target : options.targets) add(TargetName(target));
  add(exec::CpuLevelName(exec::HostLevel()));
  add(std::string_view(reinterpret_cast<const char*>(&options.limits), sizeof options.limits));
  const auto digest = hash.Finish();
  return Hex(std::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

class Building {
 public:
  Building(std::span<const std::string> files, const BuildOptions& options) : options_(options) {
    for (const std::string& path : files) files_.emplace_back().path = path;
    store::StoreOptions open;
    open.directory = options.cache;
    store_ = store::Store::Open(open);
  }

  Result<Report> Run() {
    const auto start = std::chrono::steady_clock::now();
    if (!IsNamespaceName(options_.name))
      return Fail(Diag::BadUsage,
                  fmt::format("'{}' cannot be the name of a C++ namespace", options_.name));
    if (files_.empty()) return Fail(Diag::BadUsage, "no kernels were given");
    TRY_VOID(MakeFolder());
    TRY_VOID(ReadAll());
    FindCached();
    CallPython();
    CompileRest();
    Collect();
    if (report_.errors.empty()) TRY_VOID(WriteAll());
    report_.ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return std::move(report_);
  }

 private:
  Result<void> MakeFolder() {
    std::error_code error;
    fs::create_directories(options_.out, error);
    if (error)
      return Fail(Diag::FileUnwritable,
                  fmt::format("{} cannot be made: {}", options_.out, error.message()));
    return {};
  }

  Result<void> ReadAll() {
    for (File& file : files_) {
      file.language = TRY(LanguageOfKernels(file.path));
      std::error_code error;
      if (!fs::is_regular_file(file.path, error))
        return Fail(Diag::FileUnreadable,
                    fmt::format("{} is not a file that can be read", file.path));
      if (fs::file_size(file.path, error) > options_.limits.source_bytes)
        return Fail(Diag::LimitReached, fmt::format("{} is larger than {} bytes", file.path,
                                                    options_.limits.source_bytes));
      file.content = TRY(ReadFile(file.path));
      file.key = KeyOf(file, options_, toolchain_);
    }
    return {};
  }

  // Where no store can be kept, its key is one of this process, and what it seals is made again next time.
  store::StoreKey StoreKeyOf(const File& file) const {
    return {file.key, "true", "unit", toolchain_,
            std::string(exec::CpuLevelName(exec::HostLevel()))};
  }

  Result<Unit> OpenKept(const File& file, const std::string& bytes) {
    Unit unit = TRY(OpenUnit(bytes, file.key, store_->key()));
    for (const BuiltKernel& kernel : unit.kernels)
      if (IsBanned(kernel))
        return Fail(Diag::NotAdmitted,
                    fmt::format("what {} was made of has been caught being wrong since",
                                kernel.report.name));
    return unit;
  }

  bool IsBanned(const BuiltKernel& kernel) const {
    return store_->IsBanned(kernel.candidate_exact) ||
           std::ranges::any_of(kernel.guarded,
                               [&](const BuiltKernel& guarded) { return IsBanned(guarded); });
  }

  void FindCached() {
    for (File& file : files_) {
      const std::optional<std::string> bytes = store_->Find(StoreKeyOf(file));
      if (!bytes) continue;
      Result<Unit> unit = OpenKept(file, *bytes);
      file.cached = unit.has_value();
      if (unit)
        file.unit = std::move(*unit);
      else
        report_.discarded.push_back(
            fmt::format("finished work on {} is not used: {}", file.path, unit.error().message));
    }
  }

  // One start of Python for all files that need it, on what was read for their keys: by now there may be something else in
  // them.
  void CallPython() {
    std::vector<File*> wanted;
    std::vector<frontends::python::PythonText> texts;
    for (File& file : files_) {
      if (file.unit) continue;
      if (file.language == sources::Language::Python) {
        wanted.push_back(&file);
        texts.push_back({file.path, file.content});
      } else {
        file.text = file.content;
      }
    }
    if (wanted.empty()) return;
    frontends::python::PythonOptions python;
    python.python = options_.python;
    python.limits = options_.limits;
    std::vector<Result<std::string>> answers = frontends::python::PythonTextsToJson(texts, python);
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (answers[i]) {
        wanted[i]->text = std::move(*answers[i]);
      } else {
        wanted[i]->unit.emplace().error = std::move(answers[i].error());
      }
    }
  }

  Unit Compile(const File& file) const {
    Unit unit;
    Result<std::vector<SourceKernel>> kernels = KernelsOf(file, options_.limits);
    if (!kernels) {
      unit.error = std::move(kernels.error());
      return unit;
    }
    for (const SourceKernel& kernel : *kernels) {
      unit.kernels.push_back(CompileKernel(kernel, options_, *store_, banned_));
      unit.kernels.back().report.file = file.path;
      // Nothing more is run where wrong code has run.
      if (!unit.kernels.back().refuted.empty()) break;
    }
    return unit;
  }

  void CompileRest() {
    std::vector<File*> rest;
    for (File& file : files_)
      if (!file.unit) rest.push_back(&file);
    for (int round = 0; round < MostRounds && !rest.empty(); ++round) rest = CompileOnce(rest);
    for (File* file : rest)
      Blame(*file, Diag::WorkerFailed, "its code was wrong each time, whatever it was made of");
  }

  static void Blame(File& file, Diag diag, std::string why) {
    Error error{diag, std::move(why)};
    error.file = file.path;
    file.unit.emplace().error = std::move(error);
  }

  // Gives those whose code was wrong: they are compiled again, by another process and without what was refuted.
  std::vector<File*> CompileOnce(const std::vector<File*>& files) {
    // The jobs seal what they admit: they need the key before they are forked.
    const verify::InstallKey& key = store_->key();
    const std::vector<JobResult> results =
        RunJobs(files.size(), {.limit_ms = options_.limits.build_ms, .at_a_time = options_.jobs},
                [&](size_t i) { return PackUnit(Compile(*files[i]), key); });
    std::vector<File*> again;
    for (size_t i = 0; i < files.size(); ++i) {
      File& file = *files[i];
      if (results[i].done) file.unit = UnpackUnit(results[i].bytes, key);
      if (results[i].timed_out) {
        Blame(file, Diag::LimitReached, results[i].reason + " to compile (--build-ms)");
      } else if (!file.unit) {
        Blame(file, Diag::WorkerFailed,
              results[i].reason.empty() ? "its compilation gave no answer" : results[i].reason);
      } else if (TakeRefuted(file)) {
        file.unit.reset();
        again.push_back(&file);
      } else if (!file.unit->error) {
        for (const BuiltKernel& kernel : file.unit->kernels)
          for (const engine::Attempt& attempt : kernel.attempts)
            store_->AppendAttempt(engine::PrintAttempt(attempt));
        // A unit that cannot be kept is only slower next time.
        (void)store_->Put(StoreKeyOf(file), SealUnit(results[i].bytes, file.key, key));
      }
    }
    return again;
  }

  // Whether some code of the file was wrong.
  bool TakeRefuted(const File& file) {
    const size_t before = banned_.size();
    for (const BuiltKernel& kernel : file.unit->kernels)
      std::ranges::copy(kernel.refuted, std::back_inserter(banned_));
    return banned_.size() > before;
  }

  void Collect() {
    for (File& file : files_) {
      if (file.unit->error) {
        report_.errors.push_back(*file.unit->error);
        continue;
      }
      for (BuiltKernel& kernel : file.unit->kernels) {
        kernel.report.cached = file.cached;
        kernel.report.file = file.path;
        TakeNames(kernel, file);
        report_.kernels.push_back(kernel.report);
        kernels_.push_back(std::move(kernel));
      }
    }
  }

  // A kernel has two functions in the header; no other one may have their names.
  void TakeNames(const BuiltKernel& kernel, const File& file) {
    for (const std::string_view ending : {std::string_view(), BindEnding}) {
      const std::string name = FunctionName(kernel) + std::string(ending);
      const auto [place, is_new] =
          names_.emplace(name, fmt::format("kernel '{}' of {}", kernel.report.name, file.path));
      if (is_new) continue;
      Error error{Diag::Redefined, fmt::format("kernel '{}' needs a function {}, and so does {}",
                                               kernel.report.name, name, place->second)};
      error.file = file.path;
      report_.errors.push_back(std::move(error));
      return;
    }
  }

  Result<void> Write(const std::string& name, std::string_view bytes) {
    const std::string path = (fs::path(options_.out) / name).string();
    report_.outputs.push_back(path);
    const Result<std::string> old = ReadFile(path);
    if (old && *old == bytes && fs::exists(path)) return {};
    TRY_VOID(WriteFile(path, bytes));
    report_.written.push_back(path);
    return {};
  }

  Result<void> WriteAll() {
    TRY_VOID(Write(options_.name + ".hpp", GenerateHeader(options_.name, kernels_)));
    TRY_VOID(
        Write(options_.name + ".cpp", GenerateSource(options_.name, kernels_, options_.programs)));
    for (const BuiltKernel& kernel : kernels_) {
      const std::string& name = kernel.report.name;
      if (!kernel.isa.empty()) TRY_VOID(Write(name + ".frzb", kernel.isa.bytes()));
      if (!kernel.ptx_bytes().empty()) TRY_VOID(Write(name + ".ptx", kernel.ptx_text));
      if (!kernel.wasm.empty()) TRY_VOID(Write(name + ".wasm", kernel.wasm.bytes()));
      if (!kernel.c.empty()) TRY_VOID(Write(name + ".h", kernel.c.bytes()));
    }
    return options_.depfile.empty() ? Result<void>() : WriteDepfile();
  }

  Result<void> WriteDepfile() const {
    const auto escape = [](const std::string& path) {
      std::string escaped;
      for (const char c : path) {
        if (c == ' ' || c == '#') escaped += '\\';
        if (c == '$') escaped += '$';
        escaped += c;
      }
      return escaped;
    };
    std::string text = escape((fs::path(options_.out) / (options_.name + ".cpp")).string()) + ":";
    for (const File& file : files_) text += " " + escape(file.path);
    return WriteFile(options_.depfile, text + "\n");
  }

  const BuildOptions& options_;
  std::vector<File> files_;
  const std::string toolchain_ = exec::NativeToolchain();
  std::unique_ptr<store::Store> store_;
  std::vector<std::string> banned_;  // by this build: code of theirs was wrong
  std::vector<BuiltKernel> kernels_;
  std::map<std::string, std::string> names_;  // of functions in the header: whose they are
  Report report_;
};

}  // namespace

Result<Report> Build(std::span<const std::string> files, const BuildOptions& options) {
  return Building(files, options).Run();
}

}  // namespace frazil::aot
