// What a worker answers to each kind of request.
#include "engine/worker/worker_serve.h"
#include "exec/native/native_toolchain.h"

namespace frazil::engine {
namespace {

wire::Frame Failed(const Error& error) {
  return {wire::Kind::Failed, false, 0, wire::EncodeError(error)};
}

wire::Frame AnswerImprove(const wire::Frame& request, const exec::Target& native) {
  const Result<WorkRequest> decoded = wire::DecodeWorkRequest(request.payload);
  if (!decoded) return Failed(decoded.error());
  const Result<WorkReply> reply = ImproveHere(*decoded, native);
  wire::Frame frame =
      reply ? wire::Frame{wire::Kind::Improved, false, 0, wire::EncodeWorkReply(*reply)}
            : Failed(reply.error());
  frame.last = reply && !reply->refuted.empty();
  return frame;
}

wire::Frame AnswerShadow(const wire::Frame& request) {
  const Result<ShadowRequest> decoded = wire::DecodeShadowRequest(request.payload);
  if (!decoded) return Failed(decoded.error());
  const Result<ShadowReply> reply = ShadowHere(*decoded);
  if (!reply) return Failed(reply.error());
  // Code that gave a wrong answer may have written where it should not.
  return {wire::Kind::Shadowed, !reply->agreed, 0, wire::EncodeShadowReply(*reply)};
}

}  // namespace

int ServeWorker(int socket, const exec::Target& native, uint64_t cpu_seconds) {
  return ServeRequests(
      socket, exec::NativeToolchain(), cpu_seconds, [&](const wire::Frame& request) {
        switch (request.kind) {
          case wire::Kind::Improve: return AnswerImprove(request, native);
          case wire::Kind::Shadow: return AnswerShadow(request);
          default:
            return Failed({Diag::WorkerFailed, "the worker was asked what it does not know"});
        }
      });
}

}  // namespace frazil::engine
