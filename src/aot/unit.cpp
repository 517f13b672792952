// Units as bytes, and as files that only this installation can have written. Nothing of a file is looked at before its
// MAC is right: whoever can write to the folder of a cache but does not have the key can only cause a miss.
//
//   magic 8 | the key it is kept under 64 | unit | HMAC 32, over all that stands before it
#include "aot/unit.h"

#include <array>

#include "aot/archive.h"
#include "aot/targets.h"
#include "exec/native/native_toolchain.h"

namespace frazil::aot {
namespace {

// The same install key seals forms: their magic is another one.
constexpr std::string_view Magic = "FRZUNIT6";
constexpr size_t MacBytes = 32;

// What a form in a certain place must be.
struct Place {
  const std::string& source_exact;
  std::string_view target;
  std::string_view profile = {};
  std::string_view calling = {};
  std::string guard = "true";
};

class UnitWriter : public ArchiveWriter {
 public:
  explicit UnitWriter(const verify::InstallKey& key) : key_(key) {}
  void Form(Code& code, const Place&) { Text(code.Seal(key_)); }

 private:
  const verify::InstallKey& key_;
};

class UnitReader : public ArchiveReader {
 public:
  UnitReader(std::string_view bytes, const verify::InstallKey& key)
      : ArchiveReader(bytes), key_(key) {}
  void Form(Code& code, const Place& place) {
    std::string sealed;
    Text(sealed);
    if (sealed.empty()) return;
    Result<Code> opened = Code::Open(sealed, key_,
                                     {place.source_exact,
                                      place.guard,
                                      std::string(place.target),
                                      exec::NativeToolchain(),
                                      std::string(place.profile),
                                      {},
                                      std::string(place.calling)});
    if (!opened) return Refuse();
    code = std::move(*opened);
  }

 private:
  const verify::InstallKey& key_;
};

}  // namespace

template <typename Archive>
static void Members(Archive& archive, Param& param) {
  Fields(archive, param.name, param.scalar, param.role, param.access);
}
template <typename Archive>
static void Members(Archive& archive, Refusal& refusal) {
  Fields(archive, refusal.target, refusal.reason);
}
template <typename Archive>
static void Members(Archive& archive, Traffic& traffic) {
  Fields(archive, traffic.bytes, traffic.more);
}
template <typename Archive>
static void Members(Archive& archive, FormReport& form) {
  Fields(archive, form.form, form.level, form.bytes, form.evidence);
}
template <typename Archive>
static void Members(Archive& archive, KernelReport& report) {
  Fields(archive, report.name, report.file, report.ops_before, report.ops_after,
         report.instructions, report.traffic_before, report.traffic_after, report.evidence,
         report.native_bytes, report.isa_bytes, report.in_pieces, report.ms, report.targets,
         report.refusals, report.meaning, report.forms, report.guard, report.guarded_meaning);
}
template <typename Archive>
static void Members(Archive& archive, engine::Attempt& attempt) {
  Fields(archive, attempt.proposer, attempt.target, attempt.source_exact, attempt.candidate_exact,
         attempt.guard, attempt.fate, attempt.reason, attempt.source_static,
         attempt.candidate_static, attempt.cost_before, attempt.cost_after);
}
template <typename Archive>
static void Members(Archive& archive, BuiltKernel& kernel) {
  Fields(archive, kernel.report, kernel.doc, kernel.params, kernel.results, kernel.digest,
         kernel.trips_digest, kernel.guard, kernel.guard_apart, kernel.guard_cover,
         kernel.guard_least);
  for (int i = 0; i < embed::CpuLevelCount; ++i) {
    const auto level = embed::CpuLevelName(static_cast<embed::CpuLevel>(i));
    const auto place = [&](std::string_view calling) {
      return Place{kernel.digest, "native", level, calling, kernel.guard};
    };
    archive.Form(kernel.plain[i], place(Calling::Plain));
    archive.Form(kernel.ranged[i], place(Calling::InPieces));
    archive.Form(kernel.whole[i], place(Calling::Whole));
  }
  archive.Form(kernel.trips,
               {kernel.trips_digest, "native", embed::CpuLevelName(embed::CpuLevel::Baseline)});
  archive.Form(kernel.isa, {kernel.digest, "isa"});
  archive.Form(kernel.ptx, {kernel.digest, "cuda"});
  archive.Form(kernel.wasm, {kernel.digest, "wasm"});
  archive.Form(kernel.c, {kernel.digest, "c"});
  Fields(archive, kernel.trips_word, kernel.plain_is_ranged, kernel.disjoint, kernel.at_most,
         kernel.covers, kernel.lengths, kernel.work, kernel.proposed_ptx, kernel.ptx_text,
         kernel.source, kernel.candidate, kernel.candidate_exact, kernel.certificate,
         kernel.attempts, kernel.refuted, kernel.guarded);
}
template <typename Archive>
static void Members(Archive& archive, Error& error) {
  Fields(archive, error.diag, error.message, error.location, error.file, error.hint);
}
template <typename Archive>
static void Members(Archive& archive, Unit& unit) {
  bool failed = unit.error.has_value();
  Field(archive, failed);
  if (failed) {
    if (!unit.error) unit.error.emplace(Error{Diag::Internal, ""});
    Field(archive, *unit.error);
  }
  Field(archive, unit.kernels);
}

std::string PackUnit(const Unit& unit, const verify::InstallKey& key) {
  UnitWriter writer(key);
  Unit copy = unit;
  Field(writer, copy);
  return writer.Take();
}

std::optional<Unit> UnpackUnit(std::string_view bytes, const verify::InstallKey& key) {
  UnitReader reader(bytes, key);
  Unit unit;
  Field(reader, unit);
  if (!reader.AtEnd()) return {};
  return unit;
}

std::string SealUnit(std::string_view packed, std::string_view unit_key,
                     const verify::InstallKey& key) {
  std::string bytes(Magic);
  bytes += unit_key;
  bytes += packed;
  const std::array<uint8_t, MacBytes> mac = verify::Hmac(key, bytes);
  bytes.append(reinterpret_cast<const char*>(mac.data()), mac.size());
  return bytes;
}

Result<Unit> OpenUnit(std::string_view sealed, std::string_view unit_key,
                      const verify::InstallKey& key) {
  const auto refuse = [](std::string why) { return Fail(Diag::NotAdmitted, std::move(why)); };
  if (!sealed.starts_with(Magic)) return refuse("it is no finished work of this version");
  if (sealed.size() < Magic.size() + unit_key.size() + MacBytes) return refuse("it is cut off");
  const std::string_view content = sealed.substr(0, sealed.size() - MacBytes);
  if (!verify::SameMac(sealed.substr(content.size()), verify::Hmac(key, content)))
    return refuse("it was not made by this installation, or was changed since");
  if (content.substr(Magic.size(), unit_key.size()) != unit_key)
    return refuse("it is of other kernels, options or tools");
  std::optional<Unit> unit = UnpackUnit(content.substr(Magic.size() + unit_key.size()), key);
  if (!unit) return refuse("its fields do not fit its length");
  return std::move(*unit);
}

uint32_t WordsOf(const Param& param) { return param.is_buffer() ? 2 : 1; }

uint32_t WordOfParam(const BuiltKernel& kernel, size_t param) {
  uint32_t word = 0;
  for (size_t i = 0; i < param; ++i) word += WordsOf(kernel.params[i]);
  return word;
}

}  // namespace frazil::aot
