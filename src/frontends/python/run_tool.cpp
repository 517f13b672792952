// Starts Python with the embedded tool and reads its lines. A text travels on standard input and its path as an argument,
// neither as code; -I keeps the user's environment and folder out of Python's search path, so that only its own `ast` is imported.
#include <fmt/format.h>

#include "base/system/file.h"
#include "base/system/process.h"
#include "frontends/python/json.h"
#include "frontends/python/python.h"
#include "python_tool.inc"

namespace frazil::frontends::python {
namespace {

// A command line has a limit; so has one start.
constexpr size_t TextsPerStart = 256;

Result<RunResult> RunTool(std::span<const PythonText> texts, const PythonOptions& options) {
  Command command{options.python,
                  {options.python, "-I", "-S", "-c", EmbeddedPythonTool, "--lines"}};
  std::string input;
  for (const PythonText& text : texts) {
    command.words.push_back(text.path);
    input += fmt::format("{}\n{}", text.bytes.size(), text.bytes);
  }
  SystemResult<RunResult> answer = RunCommand(
      command,
      {.input = input, .deadline = Deadline::After(std::chrono::milliseconds(options.timeout_ms))});
  if (answer) return std::move(*answer);
  return std::unexpected(
      Error{Diag::MissingTool,
            fmt::format("'{}' cannot be started: {}", options.python, answer.error().message()),
            {},
            {},
            "kernel sources need Python 3.9 or later; JSON does not"});
}

uint32_t NumberOf(const JsonNode& object, std::string_view name) {
  const JsonNode* node = object.Find(name);
  return node == nullptr
             ? 0
             : static_cast<uint32_t>(std::strtoul(std::string(node->text).c_str(), nullptr, 10));
}

// The first error with its place; the others follow in its message.
Error ErrorsOf(const JsonNode& list, const std::string& path) {
  Error first{Diag::BadKernel, "", {}, path, {}};
  bool is_first = true;
  for (const JsonNode& node : JsonChildren(list)) {
    Error error{Diag::BadKernel, "", {NumberOf(node, "line"), NumberOf(node, "column")}, path, {}};
    if (const JsonNode* message = node.Find("message")) error.message = message->text;
    if (const JsonNode* hint = node.Find("hint")) error.hint = hint->text;
    if (is_first) {
      first = std::move(error);
      is_first = false;
      continue;
    }
    if (!first.hint.empty()) first.message += fmt::format(" ({})", first.hint);
    first.hint.clear();
    first.message += "\n" + error.ToString();
  }
  return first;
}

// {"kernels": [...]} or {"errors": [...]}: the text of the former's array, which is JSON of its own.
Result<std::string> ReadLine(std::string_view line, const std::string& path, const Limits& limits) {
  constexpr std::string_view Opening = "{\"kernels\":";
  if (line.starts_with(Opening) && line.ends_with('}'))
    return std::string(line.substr(Opening.size(), line.size() - Opening.size() - 1));
  Result<JsonTree> json = JsonTree::Parse(line, limits);
  const JsonNode* errors = json ? json->root().Find("errors") : nullptr;
  if (errors == nullptr || errors->first == nullptr)
    return std::unexpected(
        Error{Diag::EngineFailed, "Python's answer is not understood", {}, path, {}});
  return std::unexpected(ErrorsOf(*errors, path));
}

void RunBatch(std::span<const PythonText> texts, const PythonOptions& options,
              std::vector<Result<std::string>>& out) {
  auto all_fail = [&](const Error& error, size_t done) {
    for (size_t i = done; i < texts.size(); ++i) {
      Error mine = error;
      mine.file = texts[i].path;
      out.push_back(std::unexpected(std::move(mine)));
    }
  };
  const Result<RunResult> answer = RunTool(texts, options);
  if (!answer) return all_fail(answer.error(), 0);
  std::string_view rest = answer->output;
  size_t done = 0;
  while (done < texts.size() && rest.find('\n') != std::string_view::npos) {
    size_t end = rest.find('\n');
    out.push_back(ReadLine(rest.substr(0, end), texts[done].path, options.limits));
    rest.remove_prefix(end + 1);
    ++done;
  }
  if (done == texts.size()) return;
  std::string why = answer->timed_out ? fmt::format("it took more than {} ms", options.timeout_ms)
                                      : answer->messages;
  if (why.size() > 1000) why = why.substr(why.size() - 1000);
  all_fail({Diag::EngineFailed, fmt::format("'{}' failed: {}", options.python, why), {}, {}, {}},
           done);
}

}  // namespace

std::string_view PythonTool() { return EmbeddedPythonTool; }

std::vector<Result<std::string>> PythonTextsToJson(std::span<const PythonText> texts,
                                                   const PythonOptions& options) {
  std::vector<Result<std::string>> out;
  for (size_t i = 0; i < texts.size(); i += TextsPerStart)
    RunBatch(texts.subspan(i, std::min(TextsPerStart, texts.size() - i)), options, out);
  return out;
}

std::vector<Result<std::string>> PythonFilesToJson(std::span<const std::string> paths,
                                                   const PythonOptions& options) {
  std::vector<Result<std::string>> files;
  std::vector<PythonText> texts;
  for (const std::string& path : paths) files.push_back(ReadFileBytes(path, options.limits));
  for (size_t i = 0; i < paths.size(); ++i)
    if (files[i]) texts.push_back({paths[i], *files[i]});
  std::vector<Result<std::string>> answers = PythonTextsToJson(texts, options);
  for (auto answer = answers.begin(); Result<std::string>& file : files)
    if (file) file = std::move(*answer++);
  return files;
}

Result<std::string> PythonToJson(const std::string& path, const PythonOptions& options) {
  return std::move(PythonFilesToJson(std::span(&path, 1), options)[0]);
}

std::vector<Result<std::vector<Kernel>>> ParsePythonFiles(std::span<const std::string> paths,
                                                          const PythonOptions& options) {
  std::vector<Result<std::vector<Kernel>>> out;
  std::vector<Result<std::string>> texts = PythonFilesToJson(paths, options);
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i])
      out.push_back(ParseJson(*texts[i], paths[i], options.limits));
    else
      out.push_back(std::unexpected(std::move(texts[i].error())));
  }
  return out;
}

Result<std::vector<Kernel>> ParsePython(const std::string& path, const PythonOptions& options) {
  return std::move(ParsePythonFiles(std::span(&path, 1), options)[0]);
}

}  // namespace frazil::frontends::python
