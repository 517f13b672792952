// A worker whose requests are orders to go wrong: WorkRequest::program holds a verb and a number. It starts and serves
// like the real one. FRAZIL_TEST_START makes it go wrong before its first request.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "engine/worker/wire.h"
#include "engine/worker/worker_process.h"
#include "engine/worker/worker_serve.h"
#include "ir/digest.h"
#include "ir/text/text.h"
#include "startup.h"
#include "verify/judge.h"

namespace {

using namespace frazil;
using engine::wire::Frame;
using engine::wire::Kind;

constexpr int Socket = engine::WorkerProcess::SocketAtWorker;

void SendRaw(std::string_view bytes) {
  [[maybe_unused]] const ssize_t sent = ::send(Socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

void Hang() {
  volatile uint64_t turns = 0;
  while (true) turns = turns + 1;
}

Frame Say(std::string text) {
  engine::WorkReply reply;
  reply.events.push_back({0, "", engine::Verb::Worker, "", std::move(text), {}});
  return {Kind::Improved, false, 0, engine::wire::EncodeWorkReply(reply)};
}

// The right reply, sent by hand with something wrong about it.
std::string RawReply(const Frame& request, const std::function<void(Frame&)>& spoil) {
  Frame reply = Say("spoiled");
  reply.id = request.id;
  spoil(reply);
  return engine::wire::EncodeHeader(reply) + reply.payload;
}

std::string OpenDescriptors() {
  std::string all;
  for (int fd = 0; fd < 4096; ++fd)
    if (::fcntl(fd, F_GETFD) >= 0) all += fmt::format("{}{}", all.empty() ? "" : " ", fd);
  return all;
}

std::string Signals() {
  sigset_t mask;
  ::sigprocmask(SIG_SETMASK, nullptr, &mask);
  int unusual = 0;
  for (int signal = 1; signal < 32; ++signal) {
    struct sigaction action{};
    ::sigaction(signal, nullptr, &action);
    unusual += (action.sa_handler == SIG_IGN) + (::sigismember(&mask, signal) == 1);
  }
  return fmt::format("{}", unusual);
}

std::string LimitsOfThis() {
  rlimit memory{};
  rlimit core{};
  rlimit cpu{};
  ::getrlimit(RLIMIT_AS, &memory);
  ::getrlimit(RLIMIT_CORE, &core);
  ::getrlimit(RLIMIT_CPU, &cpu);
  return fmt::format("memory {} core {} cpu {}", memory.rlim_cur, core.rlim_cur, cpu.rlim_cur);
}

void EatMemory() {
  std::vector<std::unique_ptr<char[]>> eaten;
  while (true) {
    eaten.emplace_back(new char[16 << 20]);
    for (size_t i = 0; i < (16u << 20); i += 4096) eaten.back()[i] = 1;
  }
}

using Order = std::function<Frame(const Frame& request, uint64_t number)>;

const std::map<std::string, Order>& Orders() {
  static const std::map<std::string, Order> orders = {
      {"pid", [](auto&, auto) { return Say(fmt::format("{}", ::getpid())); }},
      {"fds", [](auto&, auto) { return Say(OpenDescriptors()); }},
      {"signals", [](auto&, auto) { return Say(Signals()); }},
      {"limits", [](auto&, auto) { return Say(LimitsOfThis()); }},
      {"group", [](auto&, auto) { return Say(fmt::format("{}", ::getpgrp() == ::getpid())); }},
      {"long", [](auto&, auto n) { return Say(std::string(n, 'x')); }},
      {"sleep",
       [](auto&, auto n) {
         std::this_thread::sleep_for(std::chrono::milliseconds(n));
         return Say("slept");
       }},
      {"refuse",
       [](auto&, auto) {
         return Frame{
             Kind::Failed, false, 0,
             engine::wire::EncodeError({Diag::UnknownOp, "no such op", {3, 14}, "f", "h"})};
       }},
      {"last",
       [](auto&, auto) {
         Frame frame = Say("last words");
         frame.last = true;
         return frame;
       }},
      {"noise",
       [](auto&, auto) {
         fmt::print("to standard output\n");
         fmt::print(stderr, "to standard error\n");
         return Say("noisy");
       }},
      {"segv",
       [](auto&, auto) {
         ::raise(SIGSEGV);
         return Say("");
       }},
      {"abort",
       [](auto&, auto) {
         ::abort();
         return Say("");
       }},
      {"check",
       [](auto&, auto) {
         CHECK(false);
         return Say("");
       }},
      {"exit",
       [](auto&, auto n) {
         ::_exit(static_cast<int>(n));
         return Say("");
       }},
      {"hang",
       [](auto&, auto) {
         Hang();
         return Say("");
       }},
      {"throw", [](auto&, auto) -> Frame { throw std::bad_alloc(); }},
      {"memory",
       [](auto&, auto) {
         EatMemory();
         return Say("");
       }},
      {"deaf",  // closes its end and lives on
       [](auto&, auto) {
         ::shutdown(Socket, SHUT_RDWR);
         ::close(Socket);
         Hang();
         return Say("");
       }},
      {"noise-on-wire",
       [](auto&, auto) {
         SendRaw("one two three four five six seven eight nine ten");
         Hang();
         return Say("");
       }},
      {"nonsense-payload", [](auto&, auto) { return Frame{Kind::Improved, false, 0, "nonsense"}; }},
      {"nonsense-error", [](auto&, auto) { return Frame{Kind::Failed, false, 0, "nonsense"}; }},
      {"wrong-kind", [](auto&, auto) { return Frame{Kind::Hello, false, 0, ""}; }},
      {"wrong-id",
       [](auto& request, auto) {
         SendRaw(RawReply(request, [](Frame& reply) { ++reply.id; }));
         Hang();
         return Say("");
       }},
      {"half",
       [](auto& request, auto n) {
         SendRaw(RawReply(request, [](Frame&) {}).substr(0, n));
         ::_exit(0);
         return Say("");
       }},
      {"half-hang",
       [](auto& request, auto n) {
         SendRaw(RawReply(request, [](Frame&) {}).substr(0, n));
         Hang();
         return Say("");
       }},
      {"huge",  // promises more than any reply has
       [](auto& request, auto n) {
         std::string bytes = RawReply(request, [](Frame&) {});
         bytes.replace(16, 8, reinterpret_cast<const char*>(&n), 8);
         SendRaw(bytes);
         Hang();
         return Say("");
       }},
      {"twice",  // a reply that nobody asked for follows
       [](auto& request, auto) {
         SendRaw(RawReply(request, [](Frame&) {}));
         return Say("again");
       }},
  };
  return orders;
}

// FRAZIL_TEST_VOUCH: answers every program with a sealed form that nobody judged, and says that all is well.
Frame VouchFor(const engine::WorkRequest& request, const std::string& how) {
  engine::WorkReply reply;
  if (how == "refuted") {
    reply.events.push_back(
        {0, "", engine::Verb::Worker, "", fmt::format("{} banned", request.banned.size()), {}});
    if (request.banned.empty()) reply.refuted.push_back(std::string(64, 'a'));
    return {Kind::Improved, request.banned.empty(), 0, engine::wire::EncodeWorkReply(reply)};
  }
  exec::CompiledForm form;
  form.source_exact = ir::ExactDigest(*ir::ParseText(request.program));
  if (how == "program") form.source_exact = std::string(64, 'a');
  form.guard = "true";
  form.candidate = request.program;
  form.candidate_exact = form.source_exact;
  form.toolchain = how == "toolchain" ? "another" : "faulty";
  exec::NativeImage image;
  image.level = request.level;
  // mov rax, [rdi]; mov [rsi], rax; xor eax, eax; ret: the first argument is the answer.
  image.code = "\x48\x8b\x07\x48\x89\x06\x31\xc0\xc3";
  exec::PutImage(form, image);
  form.cost = exec::CallTime{1, 100};
  const verify::Evidence claimed{how == "evidence" ? verify::Grade::None : verify::Grade::Proved,
                                 "nobody", "", 0};
  verify::InstallKey key = request.key;
  if (how == "key") key[0] ^= 1;
  reply.sealed = verify::Seal(verify::Judge::Vouch(std::move(form), {claimed, claimed}), key);
  if (how == "nonsense") reply.sealed = "nonsense";
  return {Kind::Improved, false, 0, engine::wire::EncodeWorkReply(reply)};
}

// Honest, but it stays although it ran wrong code.
Frame Shadow(const Frame& request) {
  const auto decoded = engine::wire::DecodeShadowRequest(request.payload);
  const auto reply = engine::ShadowHere(*decoded);
  if (!reply) return {Kind::Failed, false, 0, engine::wire::EncodeError(reply.error())};
  return {Kind::Shadowed, false, 0, engine::wire::EncodeShadowReply(*reply)};
}

Frame Obey(const Frame& request) {
  if (request.kind == Kind::Shadow) return Shadow(request);
  const auto decoded = engine::wire::DecodeWorkRequest(request.payload);
  if (!decoded) return {Kind::Failed, false, 0, engine::wire::EncodeError(decoded.error())};
  if (const char* how = ::getenv("FRAZIL_TEST_VOUCH")) return VouchFor(*decoded, how);
  const std::string& text = decoded->program;
  const size_t space = std::min(text.find(' '), text.size());
  const auto order = Orders().find(text.substr(0, space));
  if (order == Orders().end()) return Say("unknown order");
  return order->second(request, std::strtoull(text.c_str() + space, nullptr, 10));
}

}  // namespace

int main(int argc, char** argv) {
  worker::StartOptions options;
  for (int i = 1; i < argc; ++i)
    if (!worker::ReadOption(argv[i], options)) return 64;
  if (!worker::IsWorkerSocket(Socket)) return 64;
  worker::TakeLimits(options);
  worker::DieWithParent(Socket);
  SetCheckHandler(
      [](const char*, int, const char*) { ::_exit(engine::WorkerProcess::BrokenInvariantStatus); });
  const char* start = ::getenv("FRAZIL_TEST_START");
  const std::string wrong = start == nullptr ? "" : start;
  if (wrong == "exit") ::_exit(9);
  if (wrong == "hang") Hang();
  if (wrong == "noise") SendRaw("this is not the beginning of a frame");
  if (wrong == "version") {
    std::string hello = engine::wire::EncodeHeader({Kind::Hello, false, 0, ""});
    hello[4] = 77;
    SendRaw(hello);
  }
  ::_exit(engine::ServeRequests(Socket, "faulty", options.cpu_seconds, Obey));
}
