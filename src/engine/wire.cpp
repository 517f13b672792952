// The messages, field by field. Each Decode reads the fields in the order in which Encode wrote them and then insists
// on the end; there is no optional field and no padding, so one byte more or less is a refusal.
#include "engine/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/wire_bytes.h"

namespace frazil::engine::wire {
namespace {

constexpr uint8_t GradeCount = static_cast<uint8_t>(verify::Grade::Proved) + 1;

std::unexpected<Error> Malformed(std::string_view what) {
  return Fail(Diag::WorkerFailed, fmt::format("a message is malformed: {}", what));
}

template <typename T>
Result<T> Finished(const Reader& reader, T value, std::string_view what) {
  if (!reader.at_end()) return Malformed(what);
  return value;
}

void PutKey(Writer& writer, const verify::InstallKey& key) {
  writer.PutRaw({reinterpret_cast<const char*>(key.data()), key.size()});
}

verify::InstallKey GetKey(Reader& reader) {
  verify::InstallKey key{};
  const std::string_view raw = reader.GetRaw(key.size());
  if (raw.size() == key.size()) std::memcpy(key.data(), raw.data(), key.size());
  return key;
}

void PutWordLists(Writer& writer, const std::vector<std::vector<uint64_t>>& lists) {
  writer.Put<uint64_t>(lists.size());
  for (const std::vector<uint64_t>& words : lists) {
    writer.Put<uint64_t>(words.size());
    for (const uint64_t word : words) writer.Put(word);
  }
}

std::vector<std::vector<uint64_t>> GetWordLists(Reader& reader) {
  std::vector<std::vector<uint64_t>> lists(reader.GetCount(8));
  for (std::vector<uint64_t>& words : lists) {
    words.resize(reader.GetCount(8));
    for (uint64_t& word : words) word = reader.Get<uint64_t>();
  }
  return lists;
}

// Milliseconds of a step: neither negative nor not a number.
double GetMilliseconds(Reader& reader) {
  const double ms = reader.Get<double>();
  if (!(ms >= 0) || std::isinf(ms)) reader.Refuse();
  return ms;
}

}  // namespace

std::string EncodeHeader(const Frame& frame) {
  Writer writer;
  writer.Put(Magic);
  writer.Put(Version);
  writer.Put(frame.kind);
  writer.Put<uint8_t>(frame.last);
  writer.Put(frame.id);
  writer.Put<uint64_t>(frame.payload.size());
  return writer.Take();
}

Result<Header> DecodeHeader(std::string_view bytes) {
  Reader reader(bytes);
  if (reader.Get<uint32_t>() != Magic) return Malformed("it does not start as one");
  const uint16_t version = reader.Get<uint16_t>();
  if (!reader.failed() && version != Version) {
    return Fail(
        Diag::WorkerFailed,
        fmt::format("the other side speaks version {} of the protocol, not {}", version, Version));
  }
  Header header{};
  header.kind = static_cast<Kind>(reader.GetBelow<uint8_t>(KindCount));
  header.last = reader.GetBool();
  header.id = reader.Get<uint64_t>();
  header.payload_bytes = reader.Get<uint64_t>();
  if (header.kind == Kind{} || header.payload_bytes > MaxPayloadBytes) reader.Refuse();
  return Finished(reader, header, "header");
}

std::string EncodeHello(std::string_view toolchain) {
  Writer writer;
  writer.PutBytes(toolchain);
  return writer.Take();
}

Result<std::string> DecodeHello(std::string_view payload) {
  Reader reader(payload);
  std::string toolchain = reader.GetString();
  return Finished(reader, std::move(toolchain), "hello");
}

std::string EncodeWorkRequest(const WorkRequest& request) {
  Writer writer;
  writer.PutBytes(request.program);
  writer.Put(request.level);
  writer.Put<uint64_t>(request.observed.calls);
  PutWordLists(writer, request.observed.constant_arguments);
  writer.Put<uint8_t>(request.specialize);
  writer.PutBytes(request.foreign_candidate);
  writer.PutBytes(request.foreign_guard);
  writer.Put<uint64_t>(request.banned.size());
  for (const std::string& digest : request.banned) writer.PutBytes(digest);
  writer.PutBytes(request.sample_arguments);
  writer.Put<uint8_t>(request.tuned);
  writer.PutBytes(request.in_use);
  writer.Put<uint8_t>(request.same_candidate);
  PutWordLists(writer, request.recent_call);
  writer.Put(request.policy.meaning);
  writer.Put(request.policy.lowering);
  PutKey(writer, request.key);
  writer.Put(request.timeout_ms);
  return writer.Take();
}

Result<WorkRequest> DecodeWorkRequest(std::string_view payload) {
  Reader reader(payload);
  WorkRequest request;
  request.program = reader.GetString();
  request.level = static_cast<exec::CpuLevel>(reader.GetBelow<uint8_t>(exec::CpuLevelCount));
  request.observed.calls = reader.Get<uint64_t>();
  request.observed.constant_arguments = GetWordLists(reader);
  request.specialize = reader.GetBool();
  request.foreign_candidate = reader.GetString();
  request.foreign_guard = reader.GetString();
  request.banned.resize(reader.GetCount(8));
  for (std::string& digest : request.banned) digest = reader.GetString();
  request.sample_arguments = reader.GetString();
  request.tuned = reader.GetBool();
  request.in_use = reader.GetString();
  request.same_candidate = reader.GetBool();
  request.recent_call = GetWordLists(reader);
  request.policy.meaning = static_cast<verify::Grade>(reader.GetBelow(GradeCount));
  request.policy.lowering = static_cast<verify::Grade>(reader.GetBelow(GradeCount));
  request.key = GetKey(reader);
  request.timeout_ms = reader.Get<uint64_t>();
  return Finished(reader, std::move(request), "request to improve");
}

std::string EncodeWorkReply(const WorkReply& reply) {
  Writer writer;
  writer.PutBytes(reply.sealed);
  writer.PutBytes(reply.log);
  writer.Put<uint64_t>(reply.refuted.size());
  for (const std::string& digest : reply.refuted) writer.PutBytes(digest);
  writer.Put(reply.compile_ms);
  writer.Put(reply.verify_ms);
  writer.Put(reply.price_ms);
  return writer.Take();
}

Result<WorkReply> DecodeWorkReply(std::string_view payload) {
  Reader reader(payload);
  WorkReply reply;
  reply.sealed = reader.GetString();
  reply.log = reader.GetString();
  reply.refuted.resize(reader.GetCount(8));
  for (std::string& digest : reply.refuted) digest = reader.GetString();
  reply.compile_ms = GetMilliseconds(reader);
  reply.verify_ms = GetMilliseconds(reader);
  reply.price_ms = GetMilliseconds(reader);
  // Who ran wrong code vouches for nothing.
  if (!reply.refuted.empty() && !reply.sealed.empty()) reader.Refuse();
  return Finished(reader, std::move(reply), "reply to improve");
}

std::string EncodeShadowRequest(const ShadowRequest& request) {
  Writer writer;
  writer.PutBytes(request.program);
  writer.PutBytes(request.sealed);
  writer.PutBytes(request.arguments);
  PutKey(writer, request.key);
  writer.Put(request.timeout_ms);
  return writer.Take();
}

Result<ShadowRequest> DecodeShadowRequest(std::string_view payload) {
  Reader reader(payload);
  ShadowRequest request;
  request.program = reader.GetString();
  request.sealed = reader.GetString();
  request.arguments = reader.GetString();
  request.key = GetKey(reader);
  request.timeout_ms = reader.Get<uint64_t>();
  return Finished(reader, std::move(request), "request to shadow");
}

std::string EncodeShadowReply(const ShadowReply& reply) {
  Writer writer;
  writer.Put<uint8_t>(reply.agreed);
  writer.PutBytes(reply.difference);
  return writer.Take();
}

Result<ShadowReply> DecodeShadowReply(std::string_view payload) {
  Reader reader(payload);
  ShadowReply reply;
  reply.agreed = reader.GetBool();
  reply.difference = reader.GetString();
  // Both at once would mean nothing.
  if (reply.agreed != reply.difference.empty()) reader.Refuse();
  return Finished(reader, std::move(reply), "reply to shadow");
}

// Diagnostics travel by their stable ids.
std::string EncodeError(const Error& error) {
  Writer writer;
  writer.PutBytes(DiagId(error.diag));
  writer.PutBytes(error.message);
  writer.Put(error.location.line);
  writer.Put(error.location.column);
  writer.PutBytes(error.file);
  writer.PutBytes(error.hint);
  return writer.Take();
}

Result<Error> DecodeError(std::string_view payload) {
  static constexpr Diag All[] = {
#define FRAZIL_DIAG(name, id, error_class, title) Diag::name,
#include "base/diagnostics.def"
#undef FRAZIL_DIAG
  };
  Reader reader(payload);
  const std::string_view id = reader.GetBytes();
  const Diag* diag =
      std::find_if(std::begin(All), std::end(All), [&](Diag d) { return id == DiagId(d); });
  if (diag == std::end(All)) return Malformed("error of no known kind");
  Error error{*diag, reader.GetString()};
  error.location.line = reader.Get<uint32_t>();
  error.location.column = reader.Get<uint32_t>();
  error.file = reader.GetString();
  error.hint = reader.GetString();
  return Finished(reader, std::move(error), "error");
}

}  // namespace frazil::engine::wire
