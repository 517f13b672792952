// What a client and its worker say to each other: frames (magic, version, kind, id, length) around payloads of fixed
// layout, little-endian. Both sides were built together, yet neither believes the other: every reader refuses what
// does not fit to the last byte (Diag::WorkerFailed) and never allocates more than the bytes it was given call for.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/worker/worker.h"
#include "exec/value.h"

namespace frazil::engine::wire {

constexpr uint32_t Magic = 0x575a5246;  // "FRZW"
constexpr uint16_t Version = 4;
constexpr size_t HeaderBytes = 24;
constexpr uint64_t MaxPayloadBytes = 192ull << 20;

enum class Kind : uint8_t {
  Hello = 1,     // worker: ready; payload: its toolchain
  Improve = 2,   // client: WorkRequest
  Improved = 3,  // worker: WorkReply
  Shadow = 4,    // client: ShadowRequest
  Shadowed = 5,  // worker: ShadowReply
  Failed = 6,    // worker: Error
};

struct Frame {
  Kind kind = Kind::Hello;
  bool last = false;  // the worker ends after this one: it no longer trusts itself
  uint64_t id = 0;    // a reply carries the id of its request
  std::string payload;
};

struct Header {
  Kind kind;
  bool last;
  uint64_t id;
  uint64_t payload_bytes;
};

std::string EncodeHeader(const Frame& frame);
Result<Header> DecodeHeader(std::string_view bytes);  // exactly HeaderBytes

std::string EncodeHello(std::string_view toolchain);
Result<std::string> DecodeHello(std::string_view payload);
std::string EncodeWorkRequest(const WorkRequest& request);
Result<WorkRequest> DecodeWorkRequest(std::string_view payload);
std::string EncodeWorkReply(const WorkReply& reply);
Result<WorkReply> DecodeWorkReply(std::string_view payload);
std::string EncodeShadowRequest(const ShadowRequest& request);
Result<ShadowRequest> DecodeShadowRequest(std::string_view payload);
std::string EncodeShadowReply(const ShadowReply& reply);
Result<ShadowReply> DecodeShadowReply(std::string_view payload);
std::string EncodeError(const Error& error);
// The error that was sent. A payload that is none is an error of its own.
Result<Error> DecodeError(std::string_view payload);

// Argument lists, with which arguments are one buffer. What is decoded owns its memory; words and contents are not
// looked at here but by exec::CheckLaunch, before anything runs.
std::string EncodeValues(std::span<const exec::Value> values);
Result<std::vector<exec::Value>> DecodeValues(std::string_view bytes);

}  // namespace frazil::engine::wire
