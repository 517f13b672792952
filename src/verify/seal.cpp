// Verified forms as bytes, and back. Nothing of the bytes is looked at before their MAC is right, so whoever can write
// to a store but does not have the key can only cause a refusal. After it, the reader still checks every length: a
// bug of an older writer must not become a crash of a newer reader.
//
//   magic 8 | schema 4 | IR version 4 | native ABI 4 | prelude digest 64 | length of the body 8 | body | HMAC 32
//
// Numbers are little-endian. A string is its length (8 bytes) and its bytes. The MAC covers all that stands before it.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "base/sha256.h"
#include "ir/prelude.h"
#include "ir/program.h"
#include "verify/internal/sealed.h"
#include "verify/judge.h"
#include "verify/verified.h"

namespace frazil::verify {
namespace {

constexpr std::string_view Magic = "FRZSEAL\n";
constexpr uint32_t SchemaVersion = 3;
constexpr size_t MacBytes = 32;
constexpr size_t PreludeDigestChars = 64;

class Writer {
 public:
  void Number(uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) bytes_.push_back(static_cast<char>(value >> (8 * i)));
  }
  void Text(std::string_view text) {
    Number(text.size(), 8);
    bytes_ += text;
  }
  void Raw(std::string_view text) { bytes_ += text; }
  std::string Take() { return std::move(bytes_); }
  std::string& bytes() { return bytes_; }

 private:
  std::string bytes_;
};

// Reads what fits; the first thing that does not makes everything after it empty and ok() false.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  uint64_t Number(size_t bytes) {
    const std::string_view raw = Raw(bytes);
    uint64_t value = 0;
    for (size_t i = 0; i < raw.size(); ++i)
      value |= uint64_t{static_cast<uint8_t>(raw[i])} << (8 * i);
    return value;
  }
  bool Flag() {
    const uint64_t value = Number(1);
    ok_ = ok_ && value <= 1;
    return value == 1;
  }
  template <typename E>
  E Enum(E last) {
    const uint64_t value = Number(1);
    ok_ = ok_ && value <= static_cast<uint64_t>(last);
    return ok_ ? static_cast<E>(value) : E{};
  }
  double Double() { return std::bit_cast<double>(Number(8)); }
  std::string_view Raw(size_t count) {
    if (!ok_ || count > rest_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view raw = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return raw;
  }
  std::string Text() { return std::string(Raw(Number(8))); }
  bool ok() const { return ok_; }
  bool AtEnd() const { return ok_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

void WriteEvidence(Writer& out, const Evidence& evidence) {
  out.Number(static_cast<uint64_t>(evidence.grade), 1);
  out.Text(evidence.judge);
  out.Text(evidence.detail);
  out.Number(evidence.cases, 8);
}

Evidence ReadEvidence(Reader& in) {
  Evidence evidence;
  evidence.grade = in.Enum(Grade::Proved);
  evidence.judge = in.Text();
  evidence.detail = in.Text();
  evidence.cases = in.Number(8);
  return evidence;
}

void WriteForm(Writer& out, const exec::CompiledForm& form) {
  out.Text(form.source_exact);
  out.Text(form.guard);
  out.Text(form.candidate);
  out.Text(form.candidate_exact);
  out.Text(form.source);
  out.Text(form.certificate);
  out.Text(form.target);
  out.Text(form.toolchain);
  out.Number(static_cast<uint64_t>(form.image.level), 1);
  out.Number(form.image.metered ? 1 : 0, 1);
  out.Number(form.image.uses_run ? 1 : 0, 1);
  out.Number(form.image.tuned ? 1 : 0, 1);
  out.Number(form.image.stack.frame_bytes, 8);
  out.Number(form.image.stack.recursive ? 1 : 0, 1);
  out.Number(form.image.entry_offset, 4);
  out.Text(form.image.code);
  out.Number(form.image.thresholds.size(), 4);
  for (const exec::CodeThreshold& threshold : form.image.thresholds) {
    out.Number(threshold.offset, 4);
    out.Number(threshold.least, 8);
  }
  out.Number(std::bit_cast<uint64_t>(form.cost.ns_per_call), 8);
  out.Number(std::bit_cast<uint64_t>(form.cost.reference_ns), 8);
  out.Number(form.cost.code_bytes, 8);
}

exec::CompiledForm ReadForm(Reader& in) {
  exec::CompiledForm form;
  form.source_exact = in.Text();
  form.guard = in.Text();
  form.candidate = in.Text();
  form.candidate_exact = in.Text();
  form.source = in.Text();
  form.certificate = in.Text();
  form.target = in.Text();
  form.toolchain = in.Text();
  form.image.level = in.Enum(exec::CpuLevel::Avx512);
  form.image.metered = in.Flag();
  form.image.uses_run = in.Flag();
  form.image.tuned = in.Flag();
  form.image.stack.frame_bytes = in.Number(8);
  form.image.stack.recursive = in.Flag();
  form.image.entry_offset = static_cast<uint32_t>(in.Number(4));
  form.image.code = in.Text();
  for (uint64_t left = in.Number(4); left > 0 && in.ok(); --left) {
    const auto offset = static_cast<uint32_t>(in.Number(4));
    form.image.thresholds.push_back({offset, in.Number(8)});
  }
  form.cost.ns_per_call = in.Double();
  form.cost.reference_ns = in.Double();
  form.cost.code_bytes = in.Number(8);
  return form;
}

std::unexpected<Error> Refuse(std::string why) { return Fail(Diag::NotAdmitted, std::move(why)); }

}  // namespace

Result<Sealed> ReadSealed(std::string_view sealed) {
  if (sealed.size() < MacBytes) return Refuse("the bytes are no sealed form: they are too few");
  Reader header(sealed.substr(0, sealed.size() - MacBytes));
  if (header.Raw(Magic.size()) != Magic) return Refuse("the bytes are no sealed form");
  const uint64_t schema = header.Number(4);
  const uint64_t ir_version = header.Number(4);
  const uint64_t abi = header.Number(4);
  const std::string_view prelude = header.Raw(PreludeDigestChars);
  if (!header.ok()) return Refuse("the sealed form is cut off");
  if (schema != SchemaVersion)
    return Refuse(
        fmt::format("the sealed form has schema version {}, not {}", schema, SchemaVersion));
  if (ir_version != ir::IrVersion)
    return Refuse(
        fmt::format("the sealed form is for IR version {}, not {}", ir_version, ir::IrVersion));
  if (abi != exec::NativeAbiVersion)
    return Refuse(
        fmt::format("the sealed form is for native ABI {}, not {}", abi, exec::NativeAbiVersion));
  if (prelude != ir::PreludeDigest())
    return Refuse("the sealed form was made with another prelude");
  Reader body(header.Raw(header.Number(8)));
  if (!header.AtEnd()) return Refuse("the sealed form's length is not that of its bytes");
  Sealed result;
  result.form = ReadForm(body);
  result.evidence.meaning = ReadEvidence(body);
  result.evidence.lowering = ReadEvidence(body);
  if (!body.AtEnd()) return Refuse("the sealed form's fields do not fit its length");
  if (!result.form.image.code.empty() &&
      result.form.image.entry_offset >= result.form.image.code.size())
    return Refuse("the sealed form's entry lies outside of its code");
  return result;
}

std::array<uint8_t, 32> Hmac(const InstallKey& key, std::string_view bytes) {
  constexpr size_t BlockBytes = 64;
  // A key of 32 bytes is shorter than a block: filled up with zeros, never hashed.
  auto padded = [&](uint8_t pad) {
    std::array<char, BlockBytes> block;
    for (size_t i = 0; i < BlockBytes; ++i)
      block[i] = static_cast<char>((i < key.size() ? key[i] : 0) ^ pad);
    return block;
  };
  const auto inner_pad = padded(0x36);
  const auto outer_pad = padded(0x5c);
  Sha256 inner;
  inner.Update({inner_pad.data(), BlockBytes});
  inner.Update(bytes);
  const std::array<uint8_t, 32> digest = inner.Finish();
  Sha256 outer;
  outer.Update({outer_pad.data(), BlockBytes});
  outer.Update({reinterpret_cast<const char*>(digest.data()), digest.size()});
  return outer.Finish();
}

bool SameMac(std::string_view a, const std::array<uint8_t, 32>& b) {
  uint8_t difference = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < b.size() && i < a.size(); ++i)
    difference |= static_cast<uint8_t>(a[i]) ^ b[i];
  // Keeps a compiler from leaving the loop early.
  asm volatile("" : "+r"(difference));
  return difference == 0;
}

std::string Seal(const Verified<exec::CompiledForm>& form, const InstallKey& key) {
  Writer body;
  WriteForm(body, *form);
  WriteEvidence(body, form.evidence().meaning);
  WriteEvidence(body, form.evidence().lowering);
  Writer out;
  out.Raw(Magic);
  out.Number(SchemaVersion, 4);
  out.Number(ir::IrVersion, 4);
  out.Number(exec::NativeAbiVersion, 4);
  out.Raw(ir::PreludeDigest());
  out.Text(body.Take());
  const std::array<uint8_t, MacBytes> mac = Hmac(key, out.bytes());
  out.Raw({reinterpret_cast<const char*>(mac.data()), mac.size()});
  return out.Take();
}

Result<Verified<exec::CompiledForm>> Readmit(std::string_view sealed, const InstallKey& key,
                                             const Expected& expected) {
  if (sealed.size() < MacBytes) return Refuse("the bytes are no sealed form: they are too few");
  const std::string_view signed_part = sealed.substr(0, sealed.size() - MacBytes);
  if (!SameMac(sealed.substr(signed_part.size()), Hmac(key, signed_part)))
    return Refuse("the form was not sealed by this installation, or was changed since");
  Sealed read = TRY(ReadSealed(sealed));
  const exec::CompiledForm& form = read.form;
  if (form.source_exact != expected.source_exact) return Refuse("the form is for another program");
  if (form.guard != expected.guard)
    return Refuse(fmt::format("the form's guard is '{}', not '{}'", form.guard, expected.guard));
  if (form.target != expected.target)
    return Refuse(
        fmt::format("the form is for target '{}', not '{}'", form.target, expected.target));
  if (!expected.toolchain.empty() && form.toolchain != expected.toolchain)
    return Refuse(
        fmt::format("the form was made by '{}', not by '{}'", form.toolchain, expected.toolchain));
  if (form.image.level > expected.level)
    return Refuse("the form's code needs a higher CPU level than this machine has");
  if (!Satisfies(read.evidence, expected.policy))
    return Refuse(
        fmt::format("the form's evidence ({}, {}) is less than the policy asks for ({}, {})",
                    GradeName(read.evidence.meaning.grade), GradeName(read.evidence.lowering.grade),
                    GradeName(expected.policy.meaning), GradeName(expected.policy.lowering)));
  return Judge::Vouch(std::move(read.form), std::move(read.evidence));
}

Result<exec::CompiledForm> ReadForeign(std::string_view sealed) {
  Sealed read = TRY(ReadSealed(sealed));
  // Machine code of strangers is nothing to keep: the program in it can be lowered again.
  read.form.image = {};
  return std::move(read.form);
}

}  // namespace frazil::verify
