// The worker's loop, apart from what it does with a request: tests serve requests of their own with it.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "engine/worker/wire.h"
#include "engine/worker/worker.h"

namespace frazil::engine {

// The reply to a request; its id is filled in by the loop.
using RequestHandler = std::function<wire::Frame(const wire::Frame& request)>;

// Says hello, then answers until the other side is gone (0) or says what is no request (1). A request may use up
// `cpu_seconds` of the processor before the kernel ends the process; 0: no limit.
int ServeRequests(int socket, std::string_view toolchain, uint64_t cpu_seconds,
                  const RequestHandler& handler);

// What the handler of ServeWorker does, beside ImproveHere.
Result<ShadowReply> ShadowHere(const ShadowRequest& request);
// A form of this installation: what the sealed bytes say of themselves is what is asked for, their seal makes it true.
Result<verify::Verified<exec::CompiledForm>> OpenSealed(std::string_view sealed,
                                                        const verify::InstallKey& key,
                                                        const std::string& source_exact);

}  // namespace frazil::engine
