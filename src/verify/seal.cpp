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

#include "base/bytes.h"
#include "base/sha256.h"
#include "exec/native/native_code.h"
#include "ir/lower/prelude.h"
#include "ir/program.h"
#include "verify/internal/sealed.h"
#include "verify/judge.h"
#include "verify/verified.h"

namespace frazil::verify {
namespace {

constexpr std::string_view Magic = "FRZSEAL\n";
constexpr uint32_t SchemaVersion = 4;
constexpr size_t MacBytes = 32;
constexpr size_t PreludeDigestChars = 64;

void WriteEvidence(ByteWriter& out, const Evidence& evidence) {
  out.Enum(evidence.grade);
  out.Text(evidence.judge);
  out.Text(evidence.detail);
  out.Number<uint64_t>(evidence.cases);
  out.Flag(evidence.bound.has_value());
  if (!evidence.bound) return;
  out.Double(evidence.bound->disagreement);
  out.Double(evidence.bound->confidence);
}

Evidence ReadEvidence(ByteReader& in) {
  Evidence evidence;
  evidence.grade = in.Enum(Grade::Proved);
  evidence.judge = in.Text();
  evidence.detail = in.Text();
  evidence.cases = in.Number<uint64_t>();
  if (!in.Flag()) return evidence;
  const double disagreement = in.Double();
  evidence.bound = Bound{disagreement, in.Double()};
  return evidence;
}

void WriteCost(ByteWriter& out, const exec::Cost& cost) {
  out.Number<uint8_t>(static_cast<uint8_t>(cost.index()));
  if (const auto* time = std::get_if<exec::CallTime>(&cost)) {
    out.Double(time->ns_per_call);
    out.Double(time->reference_ns);
  } else if (const auto* heights = std::get_if<exec::TableHeights>(&cost)) {
    for (const uint64_t number :
         {heights->padded, heights->tallest, heights->words, heights->cycles})
      out.Number<uint64_t>(number);
  } else {
    out.Number<uint64_t>(std::get<exec::Bytes>(cost).count);
  }
}

exec::Cost ReadCost(ByteReader& in) {
  switch (in.Below<uint8_t>(std::variant_size_v<exec::Cost>)) {
    case 0: {
      const double ns = in.Double();
      return exec::CallTime{ns, in.Double()};
    }
    case 1: {
      exec::TableHeights heights;
      for (uint64_t* number : {&heights.padded, &heights.tallest, &heights.words, &heights.cycles})
        *number = in.Number<uint64_t>();
      return heights;
    }
    default: return exec::Bytes{in.Number<uint64_t>()};
  }
}

// The texts of a form, in the order in which they stand in the bytes.
template <typename Form>
auto TextsOf(Form& form) {
  return std::array{&form.source_exact, &form.guard,       &form.candidate, &form.candidate_exact,
                    &form.source,       &form.certificate, &form.target,    &form.profile,
                    &form.calling,      &form.symbol,      &form.toolchain, &form.payload};
}

void WriteForm(ByteWriter& out, const exec::CompiledForm& form) {
  for (const std::string* text : TextsOf(form)) out.Text(*text);
  WriteCost(out, form.cost);
}

exec::CompiledForm ReadForm(ByteReader& in) {
  exec::CompiledForm form;
  for (std::string* text : TextsOf(form)) *text = in.Text();
  form.cost = ReadCost(in);
  return form;
}

// A form for a CPU level runs on that level and those above; any other profile is what it is.
bool Serves(const exec::CompiledForm& form, const std::string& profile) {
  if (form.target != "native") return form.profile == profile;
  const auto needs = exec::CpuLevelNamed(form.profile), has = exec::CpuLevelNamed(profile);
  return needs && has && *needs <= *has;
}

std::unexpected<Error> Refuse(std::string why) { return Fail(Diag::NotAdmitted, std::move(why)); }

}  // namespace

Result<Sealed> ReadSealed(std::string_view sealed) {
  if (sealed.size() < MacBytes) return Refuse("the bytes are no sealed form: they are too few");
  ByteReader header(sealed.substr(0, sealed.size() - MacBytes));
  if (header.Raw(Magic.size()) != Magic) return Refuse("the bytes are no sealed form");
  const auto schema = header.Number<uint32_t>();
  const auto ir_version = header.Number<uint32_t>();
  const auto abi = header.Number<uint32_t>();
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
  ByteReader body(header.View());
  if (!header.AtEnd()) return Refuse("the sealed form's length is not that of its bytes");
  Sealed result;
  result.form = ReadForm(body);
  result.evidence.meaning = ReadEvidence(body);
  result.evidence.lowering = ReadEvidence(body);
  if (!body.AtEnd()) return Refuse("the sealed form's fields do not fit its length");
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
  ByteWriter body;
  WriteForm(body, *form);
  WriteEvidence(body, form.evidence().meaning);
  WriteEvidence(body, form.evidence().lowering);
  ByteWriter out;
  out.Raw(Magic);
  out.Number<uint32_t>(SchemaVersion);
  out.Number<uint32_t>(ir::IrVersion);
  out.Number<uint32_t>(exec::NativeAbiVersion);
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
  if (expected.guard && form.guard != *expected.guard)
    return Refuse(fmt::format("the form's guard is '{}', not '{}'", form.guard, *expected.guard));
  if (form.target != expected.target)
    return Refuse(
        fmt::format("the form is for target '{}', not '{}'", form.target, expected.target));
  if (!expected.toolchain.empty() && form.toolchain != expected.toolchain)
    return Refuse(
        fmt::format("the form was made by '{}', not by '{}'", form.toolchain, expected.toolchain));
  if (form.calling != expected.calling)
    return Refuse(fmt::format("the form is called '{}', not '{}'", form.calling, expected.calling));
  if (!Serves(form, expected.profile))
    return Refuse(
        form.target == "native"
            ? "the form's code needs a higher CPU level than this machine has"
            : fmt::format("the form is for '{}', not for '{}'", form.profile, expected.profile));
  if (const std::string why = WhyNotEnough(read.evidence, expected.policy); !why.empty())
    return Refuse(why);
  return Judge::Vouch(std::move(read.form), std::move(read.evidence));
}

Result<exec::CompiledForm> ReadForeign(std::string_view sealed) {
  Sealed read = TRY(ReadSealed(sealed));
  // Machine code of strangers is nothing to keep: the program in it can be lowered again.
  read.form.payload.clear();
  return std::move(read.form);
}

}  // namespace frazil::verify
