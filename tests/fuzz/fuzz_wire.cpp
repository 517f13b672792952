// What a worker or its client may be told, on anything: refused, or read, written and read again the same. The first
// byte chooses the reader.
#include <string_view>

#include "base/check.h"
#include "engine/worker/wire.h"

namespace {

using namespace frazil;
using namespace frazil::engine;

// There is one way to write each message: what was read is what is written.
template <typename T, typename U>
void ReadAndWrite(std::string_view bytes, Result<T> (*decode)(std::string_view),
                  std::string (*encode)(U)) {
  const Result<T> message = decode(bytes);
  if (!message) {
    CHECK(message.error().diag == Diag::WorkerFailed);
    return;
  }
  CHECK(encode(*message) == bytes);
}

void ReadHeader(std::string_view bytes) {
  const Result<wire::Header> header = wire::DecodeHeader(bytes);
  if (!header || header->payload_bytes > 1 << 20) return;
  const wire::Frame frame{header->kind, header->last, header->id,
                          std::string(header->payload_bytes, ' ')};
  CHECK(wire::EncodeHeader(frame) == bytes);
}

// Memory that no value names is read and not written; the values are the same.
void ReadValues(std::string_view bytes) {
  const auto values = wire::DecodeValues(bytes);
  if (!values) return;
  const auto again = wire::DecodeValues(wire::EncodeValues(*values));
  CHECK(again.has_value() && *again == *values);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 8) {
    case 0: ReadHeader(bytes); break;
    case 1: ReadAndWrite(bytes, wire::DecodeHello, wire::EncodeHello); break;
    case 2: ReadAndWrite(bytes, wire::DecodeWorkRequest, wire::EncodeWorkRequest); break;
    case 3: ReadAndWrite(bytes, wire::DecodeWorkReply, wire::EncodeWorkReply); break;
    case 4: ReadAndWrite(bytes, wire::DecodeShadowRequest, wire::EncodeShadowRequest); break;
    case 5: ReadAndWrite(bytes, wire::DecodeShadowReply, wire::EncodeShadowReply); break;
    case 6: ReadAndWrite(bytes, wire::DecodeError, wire::EncodeError); break;
    default: ReadValues(bytes); break;
  }
  return 0;
}
