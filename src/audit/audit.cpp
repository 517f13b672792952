#include "audit/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "audit/kernels.h"
#include "base/system/jobs.h"
#include "ir/digest.h"
#include "store/format.h"
#include "store/store.h"
#include "verify/audit.h"

namespace frazil::audit {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t MostFileBytes = uint64_t{1} << 31;
constexpr size_t KeyDigits = 12;
constexpr size_t BlockBytes = 1 << 20;

std::unexpected<Error> FailAt(const std::string& path, Error error) {
  error.file = path;
  return std::unexpected(std::move(error));
}

Result<std::string> ReadFile(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    return Fail(Diag::FileUnreadable, fmt::format("{} is not a file that can be read", path));
  const auto too_large = [&] {
    return FailAt(path,
                  {Diag::LimitReached, fmt::format("it is larger than {} bytes", MostFileBytes)});
  };
  if (const uintmax_t size = fs::file_size(path, error); !error && size > MostFileBytes)
    return too_large();
  std::ifstream file(path, std::ios::binary);
  std::string bytes;
  // Block by block: files that the system makes up say nothing of their size.
  while (file.good()) {
    if (bytes.size() > MostFileBytes) return too_large();
    const size_t have = bytes.size();
    bytes.resize(have + BlockBytes);
    // Not through its buffer, which throws where the system cannot read.
    file.read(bytes.data() + have, static_cast<std::streamsize>(BlockBytes));
    bytes.resize(have + static_cast<size_t>(file.gcount()));
  }
  if (!file.eof()) return FailAt(path, {Diag::FileUnreadable, "it cannot be read"});
  return bytes;
}

// Signals by which code that does what it should does not end.
bool IsCrash(int signal) {
  return signal == SIGSEGV || signal == SIGILL || signal == SIGBUS || signal == SIGFPE ||
         signal == SIGTRAP || signal == SIGABRT || signal == SIGSYS;
}

JobOptions JobLimits(const AuditOptions& options) {
  return {.limit_ms = options.entry_ms, .at_a_time = options.jobs, .what = "judging it"};
}

void Blame(Entry& entry, const JobResult& result) {
  entry.finding = IsCrash(result.signal) ? Finding::Refuted : Finding::NotChecked;
  entry.reason = result.reason.empty() ? "judging it gave no answer" : result.reason;
}

// A form in its bytes, and where it comes from.
struct SealedForm {
  std::string name, sealed, note;
  std::optional<store::StoreKey> key;
};

const ir::Program* FindSource(const std::vector<ir::Program>& sources, std::string_view exact) {
  for (const ir::Program& source : sources)
    if (ir::ExactDigest(source) == exact) return &source;
  return nullptr;
}

// Where a store keeps a form under another key than its own, a reader would be led astray but for Readmit.
std::string WrongKey(const store::StoreKey& key, const exec::CompiledForm& form) {
  if (key.source_exact != form.source_exact) return "it is kept for another program";
  if (key.guard != form.guard)
    return fmt::format("it is kept for another guard than '{}'", form.guard);
  if (key.target != form.target) return "it is kept for another target";
  if (key.toolchain != form.toolchain) return "it is kept for another toolchain";
  if (form.calling != key.calling) return "it is kept for another way to be called";
  if (form.target != "native" && form.profile != key.profile)
    return "it is kept for another profile";
  if (form.target == "native" &&
      exec::CpuLevelNamed(form.profile) > exec::CpuLevelNamed(key.profile))
    return "it is kept for a lower CPU level than its code needs";
  return {};
}

Entry AuditForm(const SealedForm& each, const AuditOptions& options) {
  Entry entry{each.name, "", {}, {}, Finding::NotChecked, "", each.note};
  verify::VerifyOptions verify;
  verify.limits = options.limits;
  // Read twice: the first time for the digest of its source alone.
  const Result<exec::CompiledForm> form = verify::ReadForeign(each.sealed);
  if (!form) {
    entry.reason = form.error().message;
    return entry;
  }
  std::optional<ir::Program> source;
  if (const ir::Program* found = FindSource(options.sources, form->source_exact)) source = *found;
  const Stopwatch watch;
  const Result<verify::Audited> audited = verify::Audit(each.sealed, source, verify);
  entry.judged_us = watch.Microseconds();
  if (!audited) {
    entry.reason = audited.error().message;
    return entry;
  }
  const exec::CompiledForm& claimed = audited->form;
  entry.form = claimed.profile;
  if (claimed.guard != "true") entry.form += fmt::format(" if {}", claimed.guard);
  entry.claimed = audited->claimed;
  std::string wrong = audited->false_claim;
  if (wrong.empty() && each.key) wrong = WrongKey(*each.key, claimed);
  if (wrong.empty()) {
    Decide(entry, audited->meaning, audited->lowering);
  } else {
    entry.finding = Finding::Disagrees;
    entry.reason = std::move(wrong);
  }
  return entry;
}

void AuditForms(const std::vector<SealedForm>& forms, const AuditOptions& options,
                AuditReport& report) {
  const std::vector<JobResult> results = RunJobs(forms.size(), JobLimits(options), [&](size_t i) {
    return PackEntries({AuditForm(forms[i], options)});
  });
  for (size_t i = 0; i < forms.size(); ++i) {
    if (results[i].done && UnpackEntries(results[i].bytes, report.entries)) continue;
    Entry& entry = report.entries.emplace_back();
    entry.name = forms[i].name;
    entry.note = forms[i].note;
    Blame(entry, results[i]);
  }
}

std::string NoteOf(const store::Store& store, std::string_view sealed) {
  return store.SealedHere(sealed) ? "sealed here" : "not sealed by this installation";
}

Result<AuditReport> AuditStore(const std::string& path, const AuditOptions& options) {
  store::StoreOptions open;
  open.directory = path;
  open.read_only = true;
  open.max_entry_bytes = options.limits.store_entry_bytes;
  const std::unique_ptr<store::Store> store = store::Store::Open(open);
  if (!store->usable()) return Fail(Diag::StoreUnusable, store->reason());
  if (!store::LooksLikeStore(path))
    return Fail(
        Diag::StoreUnusable,
        fmt::format("{} is no store: it holds other files, but neither cas/ nor ac/", path));
  AuditReport report;
  report.kind = "store";
  std::vector<SealedForm> forms;
  for (const store::Store::Entry& entry : store->List()) {
    // A build's finished work: its forms are judged where they are embedded.
    if (entry.key.target == "unit") continue;
    if (std::optional<std::string> sealed = store->Find(entry.key)) {
      std::string note = NoteOf(*store, *sealed);
      forms.push_back(
          {entry.key_digest.substr(0, KeyDigits), std::move(*sealed), std::move(note), entry.key});
    }
  }
  AuditForms(forms, options, report);
  for (const store::Store::AuditLine& line : store->Audit())
    report.entries.push_back(
        {line.path, "", {}, {}, Finding::NotChecked, "it cannot be read: " + line.problem, ""});
  if (report.entries.empty())
    return FailAt(path, {Diag::BadArtifact, "there is nothing to audit: no form is kept in it"});
  return report;
}

AuditReport AuditOneForm(const std::string& path, std::string sealed, const AuditOptions& options) {
  AuditReport report;
  report.kind = "sealed form";
  store::StoreOptions open;
  open.read_only = true;
  std::string note = NoteOf(*store::Store::Open(open), sealed);
  AuditForms({{fs::path(path).filename().string(), std::move(sealed), std::move(note), {}}},
             options, report);
  return report;
}

// One process for a kernel: what is interpreted serves all its forms. Where that ends badly each entry gets its own, so
// that code which crashes or does not return does not speak for the others.
void AuditKernels(const MemoryImage& image, const std::vector<EmbeddedKernel>& kernels,
                  const AuditOptions& options, AuditReport& report) {
  const std::vector<JobResult> results = RunJobs(kernels.size(), JobLimits(options), [&](size_t i) {
    return PackEntries(AuditKernel(image, kernels[i], options.sources, options.limits));
  });
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (results[i].done && UnpackEntries(results[i].bytes, report.entries)) continue;
    std::vector<Entry> claims = ClaimsOf(kernels[i], Finding::NotChecked, "");
    const std::vector<JobResult> alone =
        RunJobs(claims.size(), JobLimits(options), [&](size_t each) {
          return PackEntries(AuditKernel(image, kernels[i], options.sources, options.limits, each));
        });
    for (size_t each = 0; each < claims.size(); ++each) {
      std::vector<Entry> entries;
      if (alone[each].done && UnpackEntries(alone[each].bytes, entries) && each < entries.size()) {
        report.entries.push_back(std::move(entries[each]));
      } else {
        Blame(claims[each], alone[each]);
        report.entries.push_back(std::move(claims[each]));
      }
    }
  }
}

Result<AuditReport> AuditElf(std::string_view file, const AuditOptions& options) {
  const MemoryImage image = TRY(MemoryImage::Read(file));
  AuditReport report;
  report.kind = "program";
  const std::vector<EmbeddedKernel> kernels = FindKernels(image);
  if (kernels.empty()) return Fail(Diag::BadArtifact, "no kernels are embedded in it");
  AuditKernels(image, kernels, options, report);
  return report;
}

Result<AuditReport> AuditPath(const std::string& path, const AuditOptions& options) {
  std::error_code error;
  if (fs::is_directory(path, error)) return AuditStore(path, options);
  std::string bytes = TRY(ReadFile(path));
  if (MemoryImage::IsElf(bytes)) {
    Result<AuditReport> report = AuditElf(bytes, options);
    if (!report) return FailAt(path, std::move(report.error()));
    return report;
  }
  if (const auto framed = store::Unframe(store::Kind::Content, bytes))
    return AuditOneForm(path, std::string(*framed), options);
  // Whether it holds is seen below; this only tells what it wants to be.
  constexpr std::string_view SealMagic = "FRZSEAL\n";
  if (bytes.starts_with(SealMagic)) return AuditOneForm(path, std::move(bytes), options);
  if (bytes.starts_with("!<arch>"))
    return FailAt(path, {Diag::BadArtifact,
                         "it is an archive: audit its object files, or what was linked with it"});
  return FailAt(path, {Diag::BadArtifact,
                       "it is neither a sealed form nor the folder of a store nor an ELF file"});
}

}  // namespace

uint64_t AuditReport::Count(Finding finding) const {
  return static_cast<uint64_t>(
      std::ranges::count_if(entries, [&](const Entry& entry) { return entry.finding == finding; }));
}

Result<AuditReport> Audit(const std::string& path, const AuditOptions& options) {
  AuditReport report = TRY(AuditPath(path, options));
  for (Entry& entry : report.entries) MakePrintable(entry);
  return report;
}

}  // namespace frazil::audit
