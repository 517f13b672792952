// One running frazil-oracle: lines in, lines out, with a deadline.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"

namespace frazil::oracle {

class Process {
 public:
  static Result<std::unique_ptr<Process>> Start(const std::string& program);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Sends a line and waits for the line that answers it. After an error the process is of no more use.
  Result<std::string> Exchange(const std::string& line, std::chrono::milliseconds timeout);

 private:
  Process(int socket, int pid) : socket_(socket), pid_(pid) {}
  std::string HowItEnded();

  int socket_;
  int pid_;
  std::string pending_;  // read, but past the end of the last answer
};

}  // namespace frazil::oracle
