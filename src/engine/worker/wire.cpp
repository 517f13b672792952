// The messages, field by field. Each Decode reads the fields in the order in which Encode wrote them and then insists
// on the end; there is no optional field and no padding, so one byte more or less is a refusal.
#include "engine/worker/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/bytes.h"

namespace frazil::engine::wire {
namespace {

std::unexpected<Error> Malformed(std::string_view what) {
  return Fail(Diag::WorkerFailed, fmt::format("a message is malformed: {}", what));
}

template <typename T>
Result<T> Finished(const ByteReader& reader, T value, std::string_view what) {
  if (!reader.AtEnd()) return Malformed(what);
  return value;
}

void WriteWordLists(ByteWriter& writer, const std::vector<std::vector<uint64_t>>& lists) {
  writer.Each(lists, [&](const std::vector<uint64_t>& words) {
    writer.Each(words, [&](uint64_t word) { writer.Number<uint64_t>(word); });
  });
}

std::vector<std::vector<uint64_t>> ReadWordLists(ByteReader& reader) {
  return reader.Each(8, [&] { return reader.Each(8, [&] { return reader.Number<uint64_t>(); }); });
}

void WriteTexts(ByteWriter& writer, const std::vector<std::string>& texts) {
  writer.Each(texts, [&](const std::string& text) { writer.Text(text); });
}

std::vector<std::string> ReadTexts(ByteReader& reader) {
  return reader.Each(8, [&] { return reader.Text(); });
}

// Milliseconds of a step: neither negative nor not a number.
double ReadMilliseconds(ByteReader& reader) {
  const double ms = reader.Double();
  if (!(ms >= 0) || std::isinf(ms)) reader.Refuse();
  return ms;
}

void WriteNotes(ByteWriter& writer, const std::map<std::string, std::string>& notes) {
  writer.Each(notes, [&](const auto& note) {
    writer.Text(note.first);
    writer.Text(note.second);
  });
}

std::map<std::string, std::string> ReadNotes(ByteReader& reader) {
  std::map<std::string, std::string> notes;
  for (uint64_t left = reader.Count(16); left > 0 && reader.ok(); --left) {
    std::string name = reader.Text();
    // Twice would be once on the way back.
    if (!notes.emplace(std::move(name), reader.Text()).second) reader.Refuse();
  }
  return notes;
}

void WriteBound(ByteWriter& writer, const std::optional<verify::Bound>& bound) {
  writer.Flag(bound.has_value());
  writer.Double(bound ? bound->disagreement : 0);
  writer.Double(bound ? bound->confidence : 0);
}

std::optional<verify::Bound> ReadBound(ByteReader& reader) {
  const bool has = reader.Flag();
  const double disagreement = reader.Double();
  const double confidence = reader.Double();
  // Written so that a NaN is refused.
  if (!(disagreement >= 0 && disagreement <= 1 && confidence >= 0 && confidence <= 1))
    reader.Refuse();
  if (!has) return std::nullopt;
  return verify::Bound{disagreement, confidence};
}

constexpr uint64_t EventBytes = 8 + 1 + 3 * 8 + 8;
void WriteEvent(ByteWriter& writer, const Event& event) {
  writer.Double(event.ms);
  writer.Enum(event.verb);
  writer.Text(event.site);
  writer.Text(event.who);
  writer.Text(event.detail);
  writer.Each(event.numbers, [&](const auto& number) {
    writer.Enum(number.first);
    writer.Double(number.second);
  });
}

Event ReadEvent(ByteReader& reader) {
  Event event;
  event.ms = reader.Double();
  event.verb = reader.Enum(LastVerb);
  event.site = reader.Text();
  event.who = reader.Text();
  event.detail = reader.Text();
  event.numbers = reader.Each(9, [&] {
    const Quantity quantity = reader.Enum(LastQuantity);
    return std::pair(quantity, reader.Double());
  });
  return event;
}

constexpr uint64_t AttemptBytes = 6 * 8 + 1 + 4 * 8;
void WriteAttempt(ByteWriter& writer, const Attempt& attempt) {
  for (const std::string* text : {&attempt.proposer, &attempt.target, &attempt.source_exact,
                                  &attempt.candidate_exact, &attempt.guard, &attempt.reason})
    writer.Text(*text);
  writer.Enum(attempt.fate);
  for (const double number :
       {attempt.source_static, attempt.candidate_static, attempt.cost_before, attempt.cost_after})
    writer.Double(number);
}

Attempt ReadAttempt(ByteReader& reader) {
  Attempt attempt;
  for (std::string* text : {&attempt.proposer, &attempt.target, &attempt.source_exact,
                            &attempt.candidate_exact, &attempt.guard, &attempt.reason})
    *text = reader.Text();
  attempt.fate = reader.Enum(LastFate);
  for (double* number : {&attempt.source_static, &attempt.candidate_static, &attempt.cost_before,
                         &attempt.cost_after})
    *number = reader.Double();
  return attempt;
}

}  // namespace

std::string EncodeHeader(const Frame& frame) {
  ByteWriter writer;
  writer.Number<uint32_t>(Magic);
  writer.Number<uint16_t>(Version);
  writer.Enum(frame.kind);
  writer.Flag(frame.last);
  writer.Number<uint64_t>(frame.id);
  writer.Number<uint64_t>(frame.payload.size());
  return writer.Take();
}

Result<Header> DecodeHeader(std::string_view bytes) {
  ByteReader reader(bytes);
  if (reader.Number<uint32_t>() != Magic) return Malformed("it does not start as one");
  const uint16_t version = reader.Number<uint16_t>();
  if (reader.ok() && version != Version) {
    return Fail(
        Diag::WorkerFailed,
        fmt::format("the other side speaks version {} of the protocol, not {}", version, Version));
  }
  Header header{};
  header.kind = reader.Enum(Kind::Failed);
  header.last = reader.Flag();
  header.id = reader.Number<uint64_t>();
  header.payload_bytes = reader.Number<uint64_t>();
  if (header.kind == Kind{} || header.payload_bytes > MaxPayloadBytes) reader.Refuse();
  return Finished(reader, header, "header");
}

std::string EncodeHello(std::string_view toolchain) {
  ByteWriter writer;
  writer.Text(toolchain);
  return writer.Take();
}

Result<std::string> DecodeHello(std::string_view payload) {
  ByteReader reader(payload);
  std::string toolchain = reader.Text();
  return Finished(reader, std::move(toolchain), "hello");
}

std::string EncodeWorkRequest(const WorkRequest& request) {
  ByteWriter writer;
  writer.Text(request.program);
  writer.Enum(request.level);
  writer.Number<uint64_t>(request.observed.calls);
  WriteWordLists(writer, request.observed.constant_arguments);
  WriteNotes(writer, request.observed.more);
  writer.Flag(request.specialize);
  writer.Text(request.foreign_candidate);
  writer.Text(request.foreign_guard);
  WriteTexts(writer, request.banned);
  writer.Text(request.sample_arguments);
  writer.Flag(request.tuned);
  writer.Text(request.in_use);
  writer.Flag(request.same_candidate);
  WriteWordLists(writer, request.recent_call);
  writer.Enum(request.policy.meaning);
  writer.Enum(request.policy.lowering);
  WriteBound(writer, request.policy.meaning_bound);
  writer.Fixed(request.key);
  writer.Number<uint64_t>(request.timeout_ms);
  return writer.Take();
}

Result<WorkRequest> DecodeWorkRequest(std::string_view payload) {
  ByteReader reader(payload);
  WorkRequest request;
  request.program = reader.Text();
  request.level = reader.Enum(exec::CpuLevel::Avx512);
  request.observed.calls = reader.Number<uint64_t>();
  request.observed.constant_arguments = ReadWordLists(reader);
  request.observed.more = ReadNotes(reader);
  request.specialize = reader.Flag();
  request.foreign_candidate = reader.Text();
  request.foreign_guard = reader.Text();
  request.banned = ReadTexts(reader);
  request.sample_arguments = reader.Text();
  request.tuned = reader.Flag();
  request.in_use = reader.Text();
  request.same_candidate = reader.Flag();
  request.recent_call = ReadWordLists(reader);
  request.policy.meaning = reader.Enum(verify::Grade::Proved);
  request.policy.lowering = reader.Enum(verify::Grade::Proved);
  request.policy.meaning_bound = ReadBound(reader);
  request.key = reader.Fixed<verify::InstallKey>();
  request.timeout_ms = reader.Number<uint64_t>();
  return Finished(reader, std::move(request), "request to improve");
}

std::string EncodeWorkReply(const WorkReply& reply) {
  ByteWriter writer;
  writer.Text(reply.sealed);
  writer.Each(reply.events, [&](const Event& event) { WriteEvent(writer, event); });
  writer.Each(reply.attempts, [&](const Attempt& attempt) { WriteAttempt(writer, attempt); });
  WriteTexts(writer, reply.refuted);
  writer.Double(reply.compile_ms);
  writer.Double(reply.verify_ms);
  writer.Double(reply.price_ms);
  return writer.Take();
}

Result<WorkReply> DecodeWorkReply(std::string_view payload) {
  ByteReader reader(payload);
  WorkReply reply;
  reply.sealed = reader.Text();
  reply.events = reader.Each(EventBytes, [&] { return ReadEvent(reader); });
  reply.attempts = reader.Each(AttemptBytes, [&] { return ReadAttempt(reader); });
  reply.refuted = ReadTexts(reader);
  reply.compile_ms = ReadMilliseconds(reader);
  reply.verify_ms = ReadMilliseconds(reader);
  reply.price_ms = ReadMilliseconds(reader);
  // Who ran wrong code vouches for nothing.
  if (!reply.refuted.empty() && !reply.sealed.empty()) reader.Refuse();
  return Finished(reader, std::move(reply), "reply to improve");
}

std::string EncodeShadowRequest(const ShadowRequest& request) {
  ByteWriter writer;
  writer.Text(request.program);
  writer.Text(request.sealed);
  writer.Text(request.arguments);
  writer.Fixed(request.key);
  writer.Number<uint64_t>(request.timeout_ms);
  return writer.Take();
}

Result<ShadowRequest> DecodeShadowRequest(std::string_view payload) {
  ByteReader reader(payload);
  ShadowRequest request;
  request.program = reader.Text();
  request.sealed = reader.Text();
  request.arguments = reader.Text();
  request.key = reader.Fixed<verify::InstallKey>();
  request.timeout_ms = reader.Number<uint64_t>();
  return Finished(reader, std::move(request), "request to shadow");
}

std::string EncodeShadowReply(const ShadowReply& reply) {
  ByteWriter writer;
  writer.Flag(reply.agreed);
  writer.Text(reply.difference);
  return writer.Take();
}

Result<ShadowReply> DecodeShadowReply(std::string_view payload) {
  ByteReader reader(payload);
  ShadowReply reply;
  reply.agreed = reader.Flag();
  reply.difference = reader.Text();
  // Both at once would mean nothing.
  if (reply.agreed != reply.difference.empty()) reader.Refuse();
  return Finished(reader, std::move(reply), "reply to shadow");
}

// Diagnostics travel by their stable ids.
std::string EncodeError(const Error& error) {
  ByteWriter writer;
  writer.Text(DiagId(error.diag));
  writer.Text(error.message);
  writer.Number<uint32_t>(error.location.line);
  writer.Number<uint32_t>(error.location.column);
  writer.Text(error.file);
  writer.Text(error.hint);
  return writer.Take();
}

Result<Error> DecodeError(std::string_view payload) {
  static constexpr Diag All[] = {
#define FRAZIL_DIAG(name, id, error_class, title) Diag::name,
#include "base/diagnostics.def"
#undef FRAZIL_DIAG
  };
  ByteReader reader(payload);
  const std::string_view id = reader.View();
  const Diag* diag =
      std::find_if(std::begin(All), std::end(All), [&](Diag d) { return id == DiagId(d); });
  if (diag == std::end(All)) return Malformed("error of no known kind");
  Error error{*diag, reader.Text()};
  error.location.line = reader.Number<uint32_t>();
  error.location.column = reader.Number<uint32_t>();
  error.file = reader.Text();
  error.hint = reader.Text();
  return Finished(reader, std::move(error), "error");
}

}  // namespace frazil::engine::wire
