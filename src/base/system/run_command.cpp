// A program's three streams. Writing to one that does not listen is an error code and no signal: its input is a socket.
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/system/process.h"

namespace frazil {
namespace {

std::unexpected<std::error_code> LastError() {
  return std::unexpected(std::error_code(errno, std::generic_category()));
}

// Sends what there is room for; closes the stream when there is no more, or nobody who reads.
void Feed(Fd& to, std::string_view& input) {
  while (to && !input.empty()) {
    const ssize_t sent = ::send(to.get(), input.data(), input.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      input.remove_prefix(static_cast<size_t>(sent));
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      break;
    }
  }
  to.Close();
}

}  // namespace

SystemResult<Pipe> MakePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return LastError();
  Pipe pipe{Fd(ends[0]), Fd(ends[1])};
  if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) return LastError();
  return pipe;
}

bool ReadAvailable(const Fd& fd, std::string& text, size_t most) {
  // Not without end: whoever writes as fast as this reads must not keep its caller from a deadline.
  constexpr int MostReads = 64;
  std::array<char, 65536> buffer;
  for (int reads = 0; reads < MostReads; ++reads) {
    const ssize_t size = ::read(fd.get(), buffer.data(), buffer.size());
    if (size > 0) {
      text.append(buffer.data(), std::min(static_cast<size_t>(size), most - text.size()));
    } else if (size == 0 || errno != EINTR) {
      return size < 0 && errno == EAGAIN;
    }
  }
  return true;
}

SystemResult<RunResult> RunCommand(const Command& command, const RunOptions& options) {
  SystemResult<Pipe> output = MakePipe();
  if (!output) return std::unexpected(output.error());
  SystemResult<Pipe> messages = MakePipe();
  if (!messages) return std::unexpected(messages.error());
  Fd feed, input;
  if (!options.input.empty()) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return LastError();
    feed = Fd(ends[0]);
    input = Fd(ends[1]);
  }
  SystemResult<Process> process =
      Process::Spawn(command, std::array{input.get(), output->write.get(), messages->write.get()});
  if (!process) return std::unexpected(process.error());
  for (Fd* end : {&input, &output->write, &messages->write}) end->Close();

  RunResult result;
  std::string_view rest = options.input;
  const auto read = [&](Fd& from, std::string& text) {
    if (from && !ReadAvailable(from, text, options.most_bytes)) from.Close();
  };
  for (;;) {
    // Asked before reading: all that it wrote is there then, whoever else holds its streams open.
    const bool ended = process->HasEnded();
    Feed(feed, rest);
    read(output->read, result.output);
    read(messages->read, result.messages);
    if (ended || (!output->read && !messages->read && !feed) || options.deadline.Passed()) break;
    std::array<pollfd, 4> polled = {
        pollfd{output->read.get(), POLLIN, 0}, pollfd{messages->read.get(), POLLIN, 0},
        pollfd{feed.get(), POLLOUT, 0}, pollfd{process->pidfd(), POLLIN, 0}};
    ::poll(polled.data(), polled.size(), process->PollMs(options.deadline));
  }
  result.timed_out = !process->WaitForEnd(options.deadline);
  process->Kill();
  result.ending = process->Reap().value_or(Ending{.is_known = false});
  return result;
}

}  // namespace frazil
